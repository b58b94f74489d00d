/* Names and numbers as text for terminals, Markdown and HTML. */
#ifndef THRONG_CORE_TEXT_FORMAT_H
#define THRONG_CORE_TEXT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum th_output_format {
    TH_OUTPUT_TEXT = 0, /* for a terminal: lines of at most TH_TEXT_COLUMNS, but for words and tables that are longer */
    TH_OUTPUT_MARKDOWN, /* GitHub Flavored Markdown, readable as plain text */
    TH_OUTPUT_CSV,      /* tables only: RFC 4180 */
    TH_OUTPUT_HTML,     /* a fragment of a page */
    TH_OUTPUT_WIDE,     /* text with all columns, and lines of any length */
} th_output_format;

enum { TH_TEXT_COLUMNS = 100 };

/* Bytes of a control character at the beginning of a UTF-8 text, including those that change the direction of text or
 * have no width; 0 if it is another character. */
size_t th_control_length(const char *text);

/* Copies the text, maybe to its own place, with control characters replaced, because names come from files and
 * terminals interpret them. Truncates to `size`, which is above 0, here and below. Returns out. */
char *th_printable(const char *text, char *out, size_t size);

/* The number of code points of the text. */
uint32_t th_utf8_length(const char *text);

/* Copies the text, to another place. If it has more than `most` code points, at least 1, replaces its middle by an
 * ellipsis. Truncates to `size`. Returns out. */
char *th_ellipsize(const char *text, uint32_t most, char *out, size_t size);

/* Copies the text, to another place, with a backslash before Markdown markup. out: room for twice the text. Returns
 * out. */
char *th_markdown_escape(const char *text, char *out);

/* Writes the text, escaped for an element or an attribute of HTML, and printable but for newlines. */
void th_html_escape(const char *text, FILE *file);

/* Reads a whole number from low to high. Accepts digits only: strtoull would accept spaces, signs and what follows. */
bool th_read_whole(const char *text, double low, double high, uint64_t *out);

/* Appends to the text in out, which is shorter than `size`. Truncates to `size`. */
__attribute__((format(printf, 3, 4))) void th_append(char *out, size_t size, const char *format, ...);

/* Writes a line of up to 1023 bytes, made printable; in Markdown and HTML a paragraph. TH_OUTPUT_TEXT breaks it between
 * words, and indents what follows. */
__attribute__((format(printf, 3, 4))) void th_write_line(FILE *file, th_output_format format, const char *line, ...);

/* A number with separators: 1234567 is "1,234,567". */
typedef struct th_digits {
    char text[28];
} th_digits;
th_digits th_digits_from(uint64_t value);

/* Plural ending: "" for 1, otherwise "s". */
const char *th_plural(uint64_t count);

#endif

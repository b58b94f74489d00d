/* Text for people: what a terminal or a pull request shows of names and numbers. */
#ifndef THRONG_CORE_TEXT_FORMAT_H
#define THRONG_CORE_TEXT_FORMAT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum th_format {
    TH_FORMAT_TEXT = 0, /* for a terminal */
    TH_FORMAT_MARKDOWN, /* as GitHub Flavored Markdown has it, and fit to be read as it is */
    TH_FORMAT_CSV,      /* tables only: RFC 4180 */
    TH_FORMAT_HTML,     /* a part of a page, which is XML as well */
} th_format;

/* The text with control characters replaced, cut to fit: names come out of files, and a terminal obeys them. Returns
 * out. */
char *th_printable(const char *text, char *out, size_t size);

/* How many letters the text has: code points. */
uint32_t th_letters(const char *text);

/* The text in `most` letters: an ellipsis in place of its middle where it has more, for beginning and end tell names
 * apart. Cut to fit. Returns out. */
char *th_shortened(const char *text, uint32_t most, char *out, size_t size);

/* The text with a backslash before what Markdown would take for markup. out: room for twice the text. Returns out. */
char *th_markdown(const char *text, char *out);

/* Writes the text, for HTML and XML, inside of an element or of an attribute. Bytes that are no UTF-8, and characters
 * that XML does not allow, become U+FFFD. */
void th_write_html(const char *text, FILE *file);

/* Adds to the text in out, cut to fit. */
__attribute__((format(printf, 3, 4))) void th_append(char *out, size_t size, const char *format, ...);

/* A line of its own, up to 1023 bytes, made printable; in Markdown and HTML a paragraph. */
__attribute__((format(printf, 3, 4))) void th_write_line(FILE *file, th_format format, const char *line, ...);

/* 1234567 as "1,234,567". */
typedef struct th_digits {
    char text[28];
} th_digits;
th_digits th_digits_from(uint64_t value);

/* The ending of a noun that is counted: "" for 1, else "s". */
const char *th_plural(uint64_t count);

#endif

/* JSON on top of jansson.
 *
 * Code that builds a document need not check for memory at each step. A NULL value makes the container that it is added
 * to NULL, so the finished document is NULL if any step failed. json_pack() does the same. */
#ifndef THRONG_CORE_JSON_H
#define THRONG_CORE_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

json_t *th_json_real(double value);            /* null if not finite, because JSON has no NaN */
json_t *th_json_count(uint64_t value);         /* an integer */
json_t *th_json_hash(uint64_t hash);           /* 16 hex digits as text, because JavaScript would round the number */
json_t *th_json_text(const char *text);        /* null for NULL; bytes that are not UTF-8 become U+FFFD */
json_t *th_json_text_if_any(const char *text); /* the same, and null for an empty text */
json_t *th_json_reals(const double *values, size_t count);

/* These take ownership of all their json_t arguments, which are different. They return the first one, or NULL on
 * failure. */
json_t *th_json_append(json_t *array, json_t *value);

/* Appends a formatted text of up to 1023 bytes, made printable (text_format.h), to the array *texts. */
__attribute__((format(printf, 2, 3))) void th_json_append_format(json_t **texts, const char *format, ...);
json_t *th_json_merge(json_t *object, json_t *more);
json_t *th_json_set(json_t *object, const char *name, json_t *value);

/* As json_dumpf, and control characters (text_format.h) are escaped. False: out of memory, or the stream failed. */
bool th_json_put(const json_t *value, size_t flags, FILE *file);

/* The same on a line of text, which the caller frees; NULL: out of memory. digits: as below. */
char *th_json_line(const json_t *value, int digits);

/* Writes the document and a newline. Containers of scalars only stay on one line, others are indented. digits: of real
 * numbers, 1 to 17; 17 preserve a double. Returns false when out of memory or when the stream failed. */
bool th_json_write(const json_t *document, int digits, FILE *file);

#endif

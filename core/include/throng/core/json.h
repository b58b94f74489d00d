/* JSON on top of jansson.
 *
 * Building never checks for memory at each step: a NULL poisons whatever it is put into, so the finished document is
 * NULL when anything went wrong on the way. json_pack() behaves like this by itself. */
#ifndef THRONG_CORE_JSON_H
#define THRONG_CORE_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

json_t *th_json_real(double value);            /* null for what is not finite: JSON knows no NaN */
json_t *th_json_count(uint64_t value);         /* an integer */
json_t *th_json_hash(uint64_t hash);           /* 16 hex digits as text: JavaScript would round the number */
json_t *th_json_text(const char *text);        /* null for NULL; bytes that are no UTF-8 become U+FFFD */
json_t *th_json_text_if_any(const char *text); /* likewise, and null for an empty one */
json_t *th_json_reals(const double *values, size_t count);

/* Take ownership of all that is JSON; return the first, or NULL. */
json_t *th_json_append(json_t *array, json_t *value);

/* A text of up to 1023 bytes behind those of the array, made printable (text_format.h). */
__attribute__((format(printf, 2, 3))) void th_json_say(json_t **texts, const char *format, ...);
json_t *th_json_merge(json_t *object, json_t *more);
json_t *th_json_set(json_t *object, const char *name, json_t *value);

/* Writes a document and a newline. What holds only plain values stays on one line; anything else is indented.
 * digits: of a real, 17 give back the same double. False when memory or the stream failed. */
bool th_json_write(const json_t *document, int digits, FILE *file);

#endif

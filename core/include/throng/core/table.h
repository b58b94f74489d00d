/* A table of texts, and the four ways to write it: for people, for pull requests, for browsers, and for other programs.
 */
#ifndef THRONG_CORE_TABLE_H
#define THRONG_CORE_TABLE_H

#include <throng/core/text_format.h>

#include <jansson.h>
#include <stdbool.h>

typedef struct th_table th_table;

/* columns: headings separated by '|', each with '<' (left) or '>' (right) in front: "<clip|>seconds|>keys". At most
 * 128. NULL when memory is out; the other functions take that as a table without rows. */
th_table *th_table_create(const char *columns);
void th_table_destroy(th_table *table);

/* Adds the next cell, of up to 511 bytes; rows fill from left to right. Made printable. */
__attribute__((format(printf, 2, 3))) void th_table_cell(th_table *table, const char *format, ...);

/* A row for each object of an array, a column for each name that any of them has, in the order of their coming. Texts
 * and numbers; true and false become 1 and 0; null, and what is missing, no text. NULL when memory is out. */
th_table *th_table_from_objects(const json_t *objects);

/* Columns are as wide as they need to be, but for CSV. A row without text is a blank line in a text, and left out
 * elsewhere. False when memory was out. */
bool th_table_write(const th_table *table, th_format format, FILE *file);
bool th_table_print(const th_table *table, FILE *file); /* as text */

#endif

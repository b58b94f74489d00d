/* A table of texts, written as text, Markdown, HTML or CSV. */
#ifndef THRONG_CORE_TABLE_H
#define THRONG_CORE_TABLE_H

#include <core/text_format.h>

#include <jansson.h>
#include <stdbool.h>

typedef struct th_table th_table;

/* columns: headings separated by '|', each with '<' (left) or '>' (right) in front: "<clip|>seconds|>keys". One with
 * '+' behind that, ">+MAD", is left out of TH_OUTPUT_TEXT, where lines are short. At most 128. Returns NULL when out of
 * memory. The functions below accept NULL: they add nothing, and writing fails. */
th_table *th_table_create(const char *columns);
void th_table_destroy(th_table *table);

/* Adds the next cell, of up to 511 bytes, made printable. Rows fill from left to right, and must be full before the
 * table is written. */
__attribute__((format(printf, 2, 3))) void th_table_cell(th_table *table, const char *format, ...);

/* Adds a row without text. */
void th_table_gap(th_table *table);

/* Makes a row of each object of an array, and a column of each name in them, in order of first appearance. Texts and
 * numbers are kept, true and false become 1 and 0, null and missing values an empty cell. The array must not be empty;
 * NULL stands for one that ran out of memory. Returns NULL when out of memory, or for more than 128 names. */
th_table *th_table_from_objects(const json_t *objects);

/* Pads columns to their width, except in CSV. A row without text is a blank line in TH_OUTPUT_TEXT and left out in the
 * other formats. Returns false for NULL and if memory ran out while the table was filled. */
bool th_table_write(const th_table *table, th_output_format format, FILE *file);
/* Writes text below an earlier table of the same columns, so that both are one: with its widths, and without headings
 * unless a column has become wider. widths: zero before the first table; widths->columns may be raised. */
typedef struct th_table_widths {
    int columns[128];
    bool has_heading;
} th_table_widths;
bool th_table_write_more(const th_table *table, th_output_format format, th_table_widths *widths, FILE *file);

#endif

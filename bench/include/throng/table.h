/* A table for people: columns as wide as they need to be. */
#ifndef THRONG_TABLE_H
#define THRONG_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct th_table th_table;

/* columns: headings separated by '|', each with '<' (left) or '>' (right) in front: "<clip|>seconds|>keys".
 * NULL when memory is out; the other functions take that as a table without rows. */
th_table *th_table_create(const char *columns);
void th_table_destroy(th_table *table);

/* Adds the next cell; rows fill from left to right. Control characters become '?': names come out of files, and a
 * terminal obeys them. */
__attribute__((format(printf, 2, 3))) void th_table_cell(th_table *table, const char *format, ...);

/* A row for each, two spaces between columns, two in front. False when memory was out. */
bool th_table_print(const th_table *table, FILE *file);

/* The text with control characters replaced, cut to fit. Returns out. */
char *th_printable(const char *text, char *out, size_t size);

/* 1234567 as "1,234,567". */
typedef struct th_digits {
    char text[28];
} th_digits;
th_digits th_digits_from(uint64_t value);

/* The ending of a noun that is counted: "" for 1, else "s". */
const char *th_plural(uint64_t count);

#endif

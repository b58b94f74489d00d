/* The figures of a result. Each is one row of an array: its name in JSON and CSV, its column in tables for people, and
 * its value. JSON, CSV, text, Markdown and pages are all written from these arrays. Private to bench. */
#ifndef TH_BENCH_REPORT_FIGURES_H
#define TH_BENCH_REPORT_FIGURES_H

#include <core/json.h>
#include <core/table.h>

typedef struct th_value {
    enum {
        TH_VALUE_ABSENT = 0,
        TH_VALUE_NULL,
        TH_VALUE_REAL,
        TH_VALUE_COUNT,
        TH_VALUE_DIGITS,
        TH_VALUE_HASH,
        TH_VALUE_FLAG,
        TH_VALUE_TEXT,
        TH_VALUE_JSON,
    } kind;
    bool is_share;
    double real, unit;
    uint64_t count;
    const char *text, *format; /* borrowed */
    json_t *json;              /* borrowed */
} th_value;

/* Formats are those of printf, for one double. In place of digits '*' means two below 10, otherwise none: "%.*f %%". A
 * number that is not finite is null in JSON and a dash in tables. NUMBER: only for JSON. SCALED: the column shows value
 * / unit; SHARE: percent. DIGITS: a count that the column shows as "1,234". A text of NULL is null. */
#define TH_REAL(value, format) TH_SCALED(value, 1, format)
#define TH_NUMBER(value)       TH_SCALED(value, 1, "")
#define TH_SCALED(value, per, printed)                                                                                 \
    ((th_value){.kind = TH_VALUE_REAL, .real = (value), .unit = (per), .format = (printed)})
#define TH_SHARE(value, printed)                                                                                       \
    ((th_value){.kind = TH_VALUE_REAL, .real = (value), .is_share = true, .format = (printed)})
#define TH_COUNT(value)  ((th_value){.kind = TH_VALUE_COUNT, .count = (value)})
#define TH_DIGITS(value) ((th_value){.kind = TH_VALUE_DIGITS, .real = (double)(value)})
#define TH_HASH(value)   ((th_value){.kind = TH_VALUE_HASH, .count = (value)})
#define TH_FLAG(value)   ((th_value){.kind = TH_VALUE_FLAG, .count = (value)})
#define TH_TEXT(value)   ((th_value){.kind = TH_VALUE_TEXT, .text = (value)})
#define TH_JSON(value)   ((th_value){.kind = TH_VALUE_JSON, .json = (value)}) /* only for JSON */

/* What is not known is null; what is not given is not in JSON at all. Both are a dash in tables. */
#define TH_IF_KNOWN(is_known, value) ((is_known) ? (value) : (th_value){.kind = TH_VALUE_NULL})
#define TH_IF_GIVEN(is_given, value) ((is_given) ? (value) : (th_value){.kind = TH_VALUE_ABSENT})

typedef struct th_figure {
    const char *name;   /* in JSON and CSV; NULL: only in tables */
    const char *column; /* its heading, with '<' or '>', and '+', in front as in table.h; NULL: only in JSON */
    th_value value;
    unsigned views; /* of sheets that have one: the views that show it */
} th_figure;

/* Figures without views: in JSON and tables, only in JSON, only in tables. */
#define TH_FIGURE(name, column, value) ((th_figure){name, column, value, 0})
#define TH_FIELD(name, value)          TH_FIGURE(name, NULL, value)
#define TH_COLUMN(column, value)       TH_FIGURE(NULL, column, value)

/* Records with the same figures: a table, or JSON objects. */
typedef struct th_sheet {
    unsigned view;   /* a bit: figures without it are left out; 0: all figures */
    json_t *objects; /* an array, NULL when memory is out; of a table NULL */
    th_table *table; /* NULL before the first record */
    bool is_table;
    uint32_t count; /* of records */
} th_sheet;

th_sheet th_sheet_json(unsigned view);
th_sheet th_sheet_table(unsigned view);

/* Adds a record. */
void th_sheet_add(th_sheet *sheet, const th_figure *figures, size_t count);

/* The only JSON object; ends the sheet. */
json_t *th_sheet_object(th_sheet *sheet);

/* Writes the table and ends the sheet. Without records nothing is written. False when memory is out. more: as
 * th_table_write_more. */
bool th_sheet_write_more(th_sheet *sheet, th_format format, th_table_widths *widths, FILE *file);
bool th_sheet_write(th_sheet *sheet, th_format format, FILE *file);

#endif

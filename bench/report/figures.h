/* The figures of a result. Each is one row of an array: its name in JSON and CSV, its column in tables for people, and
 * its value. JSON, CSV, text, Markdown and pages are all written from these arrays. Private to bench. */
#ifndef TH_BENCH_REPORT_FIGURES_H
#define TH_BENCH_REPORT_FIGURES_H

#include <throng/core/json.h>
#include <throng/core/table.h>

typedef struct th_value {
    enum {
        TH_VALUE_ABSENT = 0, /* not in JSON; a dash in tables */
        TH_VALUE_NULL,       /* null in JSON; a dash in tables */
        TH_VALUE_REAL,
        TH_VALUE_COUNT,
        TH_VALUE_DIGITS,
        TH_VALUE_HASH,
        TH_VALUE_FLAG,
        TH_VALUE_TEXT,
    } kind;
    double real, shown; /* in JSON; in the unit of the column */
    uint64_t count;
    const char *text, *format; /* borrowed; a text of NULL is null */
} th_value;

/* Formats are those of printf, for one double. In place of digits '*' means two below 10, otherwise none: "%.*f %%". A
 * number that is not finite is null, and a dash. number: only for JSON. share: the column shows percent. scaled: the
 * column shows value / unit. */
th_value th_as_number(double value);
th_value th_as_real(double value, const char *format);
th_value th_as_scaled(double value, double unit, const char *format);
th_value th_as_share(double value, const char *format);
th_value th_as_count(uint64_t value);
th_value th_as_digits(double value); /* a count that tables show as "1,234" */
th_value th_as_hash(uint64_t value);
th_value th_as_flag(bool value);
th_value th_as_text(const char *text);

/* What is not known is null; what does not apply is absent. */
th_value th_if_known(bool is_known, th_value value);
th_value th_if_applies(bool applies, th_value value);

typedef struct th_figure {
    const char *name;   /* in JSON and CSV; NULL: only in tables */
    const char *column; /* its heading, with '<' or '>' in front as in table.h; NULL: only in JSON */
    th_value value;
    unsigned views; /* of sheets that have one: the views that show it */
} th_figure;

/* Figures without views: in JSON and tables, only in JSON, only in tables. */
#define TH_FIGURE(name, column, value)                                                                                 \
    {                                                                                                                  \
        name, column, value, 0                                                                                         \
    }
#define TH_FIELD(name, value)                                                                                          \
    {                                                                                                                  \
        name, NULL, value, 0                                                                                           \
    }
#define TH_COLUMN(column, value)                                                                                       \
    {                                                                                                                  \
        NULL, column, value, 0                                                                                         \
    }

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

/* Writes the table and ends the sheet. Without records nothing is written. False when memory is out. */
bool th_sheet_write(th_sheet *sheet, th_format format, FILE *file);

#endif

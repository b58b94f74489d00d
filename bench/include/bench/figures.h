/* The figures of a result. Each is one row of an array: its name in JSON and CSV, its column in tables for people, its
 * value, and where the mean of several processes goes. JSON, CSV, text, Markdown and pages are all written from these
 * arrays. */
#ifndef THRONG_BENCH_FIGURES_H
#define THRONG_BENCH_FIGURES_H

#include <bench/fit.h>
#include <bench/stats.h>
#include <core/json.h>
#include <core/table.h>

#include <assert.h>

/* ---- values ---- */

/* "94 % [90, 97]", "1.2 % [1.1, 1.3]", "94 % [no interval]", "-" where it is unknown. */
typedef struct th_share_text {
    char text[48];
} th_share_text;

th_share_text th_share_text_of(const th_estimate *share);

typedef enum th_value_kind {
    TH_VALUE_ABSENT = 0,
    TH_VALUE_NULL,
    TH_VALUE_REAL,
    TH_VALUE_REALS,
    TH_VALUE_INTERVALS,
    TH_VALUE_ESTIMATE,
    TH_VALUE_COUNT,
    TH_VALUE_INDEX,
    TH_VALUE_DIGITS,
    TH_VALUE_HASH,
    TH_VALUE_FLAG,
    TH_VALUE_TEXT,
    TH_VALUE_JSON,
} th_value_kind;

typedef struct th_value {
    th_value_kind kind;
    bool is_share;
    double real, unit, json_unit;
    uint64_t count;
    th_estimate estimate;
    const char *text, *format; /* borrowed, as all pointers */
    const double *reals;
    const th_interval *intervals;
    const char *(*name)(uint32_t index);
    json_t *json;
    double *mean;
    th_interval *interval;
} th_value;

/* Formats are those of printf, for one double. In place of digits '*' means two below 10, otherwise none: "%.*f %%". A
 * number that is not finite is null in JSON and a dash in tables. NUMBER: only for JSON, which shows value / per.
 * SCALED: the column shows value / per; SHARE: percent. REALS, INTERVALS: only for JSON, an object with a field for
 * each; without a name the only interval. ESTIMATE: an object in JSON, as th_share_text in columns. DIGITS: a count
 * that the column shows as "1,234". INDEX: UINT32_MAX is none, -1 in JSON and a dash in tables. A text of NULL is null.
 */
#define TH_REAL(value, format)    TH_SCALED(value, 1, format)
#define TH_NUMBER(value)          TH_NUMBER_PER(value, 1)
#define TH_NUMBER_PER(value, per) ((th_value){.kind = TH_VALUE_REAL, .real = (value), .json_unit = (per), .format = ""})
#define TH_SCALED(value, per, printed)                                                                                 \
    ((th_value){.kind = TH_VALUE_REAL, .real = (value), .unit = (per), .json_unit = 1, .format = (printed)})
#define TH_SHARE(value, printed)                                                                                       \
    ((th_value){.kind = TH_VALUE_REAL, .real = (value), .json_unit = 1, .is_share = true, .format = (printed)})
#define TH_REALS(namer, values, number)                                                                                \
    ((th_value){.kind = TH_VALUE_REALS, .name = (namer), .reals = (values), .count = (number)})
#define TH_INTERVALS(namer, values, number)                                                                            \
    ((th_value){.kind = TH_VALUE_INTERVALS, .name = (namer), .intervals = (values), .count = (number)})
#define TH_INTERVAL(value) TH_INTERVALS(NULL, value, 1)
#define TH_ESTIMATE(value) ((th_value){.kind = TH_VALUE_ESTIMATE, .estimate = (value)})
#define TH_COUNT(value)    ((th_value){.kind = TH_VALUE_COUNT, .count = (value)})
#define TH_INDEX(value)    ((th_value){.kind = TH_VALUE_INDEX, .count = (value)})
#define TH_DIGITS(value)   ((th_value){.kind = TH_VALUE_DIGITS, .real = (double)(value)})
#define TH_HASH(value)     ((th_value){.kind = TH_VALUE_HASH, .count = (value)})
#define TH_FLAG(value)     ((th_value){.kind = TH_VALUE_FLAG, .count = (value)})
#define TH_TEXT(value)     ((th_value){.kind = TH_VALUE_TEXT, .text = (value)})
#define TH_JSON(value)     ((th_value){.kind = TH_VALUE_JSON, .json = (value)}) /* only for JSON */

/* What is not known is null; what is not given is not in JSON at all. Both are a dash in tables. */
#define TH_IF_KNOWN(is_known, value) ((is_known) ? (value) : (th_value){.kind = TH_VALUE_NULL})
#define TH_IF_GIVEN(is_given, value) ((is_given) ? (value) : (th_value){.kind = TH_VALUE_ABSENT})

/* A value that becomes the mean of several processes: where it is, or the REALS are, and their intervals; NULL: none. A
 * figure without a name is no field of theirs, but follows from their samples. `mean` lies in the point, and rows show
 * a figure with a name, as other processes are read from there. */
static inline th_value th_mean(th_value value, double *mean, th_interval *interval)
{
    assert(value.kind == TH_VALUE_REAL || value.kind == TH_VALUE_REALS);
    value.mean = mean;
    value.interval = interval;
    return value;
}

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

/* ---- sheets ---- */

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
#define TH_SHEET_ADD(sheet, figures) th_sheet_add((sheet), (figures), sizeof(figures) / sizeof *(figures))

/* The only JSON object; ends the sheet. */
json_t *th_sheet_object(th_sheet *sheet);

/* One record, all of it, as a JSON object. */
json_t *th_figures_json(const th_figure *figures, size_t count);

/* Writes the table and ends the sheet. Without records nothing is written. False when memory is out. more: as
 * th_table_write_more. */
bool th_sheet_write_more(th_sheet *sheet, th_output_format format, th_table_widths *widths, FILE *file);
bool th_sheet_write(th_sheet *sheet, th_output_format format, FILE *file);

#endif

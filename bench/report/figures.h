/* The figures of a result. Each is one row of an array: its name in JSON and CSV, its column in tables for people, its
 * value, and where the mean of several processes goes. JSON, CSV, text, Markdown and pages are all written from these
 * arrays. Private to bench. */
#ifndef TH_BENCH_REPORT_FIGURES_H
#define TH_BENCH_REPORT_FIGURES_H

#include <bench/scale.h>
#include <bench/stress.h>
#include <core/json.h>
#include <core/table.h>

/* ---- values ---- */

/* "94 % [90, 97]", "1.2 % [1.1, 1.3]", "94 % [no interval]", "-" where it is unknown. */
typedef struct th_share_text {
    char text[48];
} th_share_text;

th_share_text th_share_text_of(const th_estimate *share);

typedef struct th_value {
    enum {
        TH_VALUE_ABSENT = 0,
        TH_VALUE_NULL,
        TH_VALUE_REAL,
        TH_VALUE_REALS,
        TH_VALUE_INTERVALS,
        TH_VALUE_ESTIMATE,
        TH_VALUE_COUNT,
        TH_VALUE_DIGITS,
        TH_VALUE_HASH,
        TH_VALUE_FLAG,
        TH_VALUE_TEXT,
        TH_VALUE_JSON,
    } kind;
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
 * that the column shows as "1,234". A text of NULL is null. */
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
#define TH_DIGITS(value)   ((th_value){.kind = TH_VALUE_DIGITS, .real = (double)(value)})
#define TH_HASH(value)     ((th_value){.kind = TH_VALUE_HASH, .count = (value)})
#define TH_FLAG(value)     ((th_value){.kind = TH_VALUE_FLAG, .count = (value)})
#define TH_TEXT(value)     ((th_value){.kind = TH_VALUE_TEXT, .text = (value)})
#define TH_JSON(value)     ((th_value){.kind = TH_VALUE_JSON, .json = (value)}) /* only for JSON */

/* What is not known is null; what is not given is not in JSON at all. Both are a dash in tables. */
#define TH_IF_KNOWN(is_known, value) ((is_known) ? (value) : (th_value){.kind = TH_VALUE_NULL})
#define TH_IF_GIVEN(is_given, value) ((is_given) ? (value) : (th_value){.kind = TH_VALUE_ABSENT})

/* A value that becomes the mean of several processes: where it is, or the REALS are, and their intervals; NULL: none. A
 * figure without a name is no field of theirs, but follows from their samples. */
static inline th_value th_mean(th_value value, double *mean, th_interval *interval)
{
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

/* The only JSON object; ends the sheet. */
json_t *th_sheet_object(th_sheet *sheet);

/* One record, all of it, as a JSON object. */
json_t *th_figures_json(const th_figure *figures, size_t count);

/* Writes the table and ends the sheet. Without records nothing is written. False when memory is out. more: as
 * th_table_write_more. */
bool th_sheet_write_more(th_sheet *sheet, th_format format, th_table_widths *widths, FILE *file);
bool th_sheet_write(th_sheet *sheet, th_format format, FILE *file);

/* ---- entries ---- */

typedef enum th_row_view {
    TH_ROW_JSON = 1,      /* each JSON row of the entry: a repetition or a statistic */
    TH_ROW_CSV = 2,       /* its only row */
    TH_ROW_POSE = 4,      /* tables of bench: poses, the tutorial method and the memory floor */
    TH_ROW_VARIATION = 8, /* other ways to play the crowd */
    TH_ROW_JOB = 16,
    TH_ROW_FRAME = 32,
    TH_ROW_ERROR = 64, /* settings and their error on screen */
    TH_ROW_DRY = 128,  /* the table of a dry run */
} th_row_view;

/* Adds the entry to a sheet of a view. ns: the time of an iteration in TH_ROW_JSON; else ignored. */
void th_row_add(th_sheet *sheet, const th_report *report, const th_row *row, double ns);

/* A field of th_row.own; NaN if it is no number or missing. */
double th_row_own(const th_row *row, const char *name);

/* The time to write the palette entry of a bone and nothing else, the faster of two ways; NaN: unknown. */
double th_row_memory_floor_ns(const th_report *report, const th_row *row);

/* Whether another program was measured, which timed itself. */
bool th_row_is_external(const th_row *row);

/* The median of each process, of several. Without memory, or where a time is 0, there are none. th_samples_fini. */
th_samples th_row_medians(const th_row *row);

/* How well the median is known, at TH_CONFIDENCE. With several processes the interval of their medians
 * (th_log_interval), which holds for another process of the same program on that machine. With one, that of its
 * repetitions (th_median_interval), which holds for this process only. NaN for no samples. */
th_interval th_row_interval(const th_row *row);

/* Half its width, relative to the median; NaN where the samples are too few to tell. */
double th_row_ci_half_width(const th_row *row);

/* What scatters in the interval: "process" or "repetition". */
const char *th_row_interval_unit(const th_row *row);

/* ---- points ---- */

enum { TH_SCALE_MAX_FIGURES = 48 };

/* The figures of a point, which is that of the experiment or the same of another process. */
typedef struct th_scale_figures {
    th_figure all[TH_SCALE_MAX_FIGURES];
    uint32_t count;
    char threads[16], palette_sum[40]; /* texts of some */
} th_scale_figures;

void th_scale_figures_of(const th_scale *scale, const th_scale_curve *curve, uint32_t index, th_scale_point *point,
                         bool is_table, th_scale_figures *out);

/* th_row.own of a point of a scaling experiment and of a stress test. NULL when memory is out. */
json_t *th_scale_own_json(const th_scale *scale, const th_scale_curve *curve, uint32_t point);
json_t *th_stress_own_json(const th_stress *stress, uint32_t point);

/* Writes stress->headline, about one of its points, from this and the report. point: NULL if the palettes of all are
 * wrong. */
void th_stress_write_headline(th_stress *stress, const th_stress_point *point);

/* ---- what reports share ---- */

/* Prints what was animated and on what machine, to stand above the tables. */
void th_report_print_conditions(const th_report *report, th_format format, FILE *file);

/* Appends th_report.picture to a line; prints it, or nothing for NULL. */
void th_report_add_picture(const json_t *picture, char *line, size_t size);
void th_report_print_picture(const json_t *picture, th_format format, FILE *file);

/* Prints which palettes were right, after a dry run, which has no times. False when memory is out. */
bool th_report_print_dry_run(const th_report *report, th_format format, FILE *file);

/* What was counted in additional frames: a blank line, entries that have counters, and what is missing of them; nothing
 * where there are none. False when memory is out. */
bool th_report_print_counters(const th_report *report, th_format format, FILE *file);

/* Prints th_report_warnings, to stand below the tables. */
void th_report_print_warnings(const th_report *report, th_format format, FILE *file);

/* "PREFIX: TEXT" for each text of an array. */
void th_print_texts(const json_t *texts, const char *prefix, th_format format, FILE *file);

/* The end of a paragraph: a blank line in text, nothing in other formats. */
void th_print_gap(th_format format, FILE *file);

/* Writes objects as CSV (th_table_from_objects), and releases them. False when memory is out. */
bool th_write_csv(json_t *objects, FILE *file);

#endif

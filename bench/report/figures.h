/* What reports show of entries and of points, as figures (bench/figures.h). Private to reports. */
#ifndef TH_BENCH_REPORT_FIGURES_H
#define TH_BENCH_REPORT_FIGURES_H

#include <bench/figures.h>
#include <bench/scale.h>
#include <bench/stress.h>

/* ---- entries ---- */

typedef enum th_row_view {
    TH_ROW_JSON = 1,      /* each JSON row of the entry, a repetition or a statistic: only ns differs between them */
    TH_ROW_CSV = 2,       /* its only row */
    TH_ROW_POSE = 4,      /* tables of bench: poses, the tutorial method and the memory floor */
    TH_ROW_VARIATION = 8, /* other ways to play the crowd */
    TH_ROW_JOB = 16,
    TH_ROW_FRAME = 32,
    TH_ROW_ERROR = 64, /* settings and their error on screen */
    TH_ROW_DRY = 128,  /* the table of a dry run */
    TH_ROW_LOAD = 256, /* what comes before frames */
} th_row_view;

/* Adds the entry to a sheet of a view. ns: the time of an iteration in TH_ROW_JSON; else ignored. */
void th_row_add(th_sheet *sheet, const th_report *report, const th_row *row, double ns);

/* A field of th_row.own; NaN if it is no number or missing. */
double th_row_own(const th_row *row, const char *name);

/* The time to write the palette entry of a bone and nothing else, the faster of two ways; NaN: unknown, or the row is
 * below it, which cannot be. */
double th_row_memory_floor_ns(const th_report *report, const th_row *row);

bool th_row_is_below_floor(const th_report *report, const th_row *row);

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
    th_scale_point shown;              /* the point without what cannot be */
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
void th_report_print_conditions(const th_report *report, th_output_format format, FILE *file);

/* Appends th_report.picture to a line; prints it, or nothing for NULL. */
void th_report_add_picture(const json_t *picture, char *line, size_t size);
void th_report_print_picture(const json_t *picture, th_output_format format, FILE *file);

/* Prints which palettes were right, after a dry run, which has no times. False when memory is out. */
bool th_report_print_dry_run(const th_report *report, th_output_format format, FILE *file);

/* What was counted in additional frames: a blank line, entries that have counters, and what is missing of them; nothing
 * where there are none. False when memory is out. */
bool th_report_print_counters(const th_report *report, th_output_format format, FILE *file);

/* Prints th_report_warnings, to stand below the tables. */
void th_report_print_warnings(const th_report *report, th_output_format format, FILE *file);

/* "PREFIX: TEXT" for each text of an array. */
void th_print_texts(const json_t *texts, const char *prefix, th_output_format format, FILE *file);

/* The end of a paragraph: a blank line in text, nothing in other formats. */
void th_print_gap(th_output_format format, FILE *file);

/* Writes objects as CSV (th_table_from_objects), and releases them. False when memory is out. */
bool th_write_csv(json_t *objects, FILE *file);

#endif

/* SVG plots inside a page, each a figure with a heading. Private to bench.
 *
 * Drawings are TH_PLOT_WIDTH units wide, so that text is readable at 400 pixels. Colours are classes of the page's
 * style (page.css); attributes give fallbacks for readers without styles. Values that an axis cannot show (not finite,
 * or not above 0 on a logarithmic axis) are not drawn. Texts are escaped, and truncated where there is no room. Titles
 * are tooltips. */
#ifndef TH_BENCH_REPORT_PLOT_H
#define TH_BENCH_REPORT_PLOT_H

#include "axis.h"

#include <throng/bench/stats.h>

#include <stdio.h>

#define TH_PLOT_WIDTH 420.0

/* Distinguishable with colour vision deficiency, and by the shapes of their points. */
typedef enum th_ink {
    TH_INK_BLUE = 0,
    TH_INK_VERMILION,
    TH_INK_GREEN,
    TH_INK_PURPLE,
    TH_INK_OCHRE,
    TH_INK_SKY,
    TH_INK_GREY,
    TH_INK_COUNT,
} th_ink;

/* An entry of the legend. */
typedef struct th_key {
    const char *text;
    th_ink ink;
    bool is_line; /* a dashed line and no points */
} th_key;

typedef struct th_plot_desc {
    const char *title;             /* above it */
    const char *note;              /* what the plot shows, in a sentence; NULL: none */
    const char *x_title, *y_title; /* y_title: NULL: none */
    /* Not yet finalized; extended to show all marks. Zero: linear, from 0. */
    th_axis x, y;
    /* Names instead of values: rows from the top, in the order given, row i from i to i + 1; columns from the left.
     * NULL: an axis. */
    const char *const *rows, *const *columns;
    uint32_t row_count, column_count;
    double row_height; /* 0: the height of a line of text */
    bool is_tall;      /* without rows: taller, with room for the labels of many points */
    const th_key *keys;
    uint32_t key_count;
} th_plot_desc;

enum { TH_PLOT_MAX_LABELS = 256 };

typedef struct th_plot {
    const th_plot_desc *desc;
    FILE *file;
    enum { TH_PLOT_BEGIN = 0, TH_PLOT_MEASURE, TH_PLOT_DRAW } pass;
    th_axis x, y; /* of the passes that draw: finalized, with drawing positions */
    /* The boxes of labels and points, to avoid overlaps. */
    struct th_plot_label {
        double left, top, right, bottom;
    } labels[TH_PLOT_MAX_LABELS];
    uint32_t label_count;
} th_plot;

/* Draws marks:
 *
 *     th_plot plot = th_plot_begin(&desc, file);
 *     while (th_plot_next(&plot))
 *         th_plot_point(&plot, ...);
 *
 * The body runs twice: once extends the axes to show all marks, then it draws. */
th_plot th_plot_begin(const th_plot_desc *desc, FILE *file);
bool th_plot_next(th_plot *plot);

/* ---- marks ---- */

/* Bands, rules, labels, cells and dashed lines do not extend the axes. */

/* A line through all points, with gaps where one cannot be shown. is_dashed: not measured. */
void th_plot_line(th_plot *plot, th_ink ink, bool is_dashed, const double *x, const double *y, uint32_t count);

/* A point with the shape of its ink. is_hollow: it does not count. */
__attribute__((format(printf, 6, 7))) void th_plot_point(th_plot *plot, th_ink ink, bool is_hollow, double x, double y,
                                                         const char *title, ...);

/* An error bar: vertical at x, or horizontal at y. */
void th_plot_interval_y(th_plot *plot, th_ink ink, double x, th_interval y);
void th_plot_interval_x(th_plot *plot, th_ink ink, th_interval x, double y);

/* A rectangle between two corners. */
__attribute__((format(printf, 7, 8))) void th_plot_bar(th_plot *plot, th_ink ink, double x0, double x1, double y0,
                                                       double y1, const char *title, ...);

/* The same, in the background. */
void th_plot_band(th_plot *plot, double x0, double x1, double y0, double y1);

/* A labelled line across the drawing. Not drawn where the value is beyond the axis. */
void th_plot_rule_x(th_plot *plot, double x, const char *name);
void th_plot_rule_y(th_plot *plot, double y, const char *name);

/* A label beside the point that overlaps no label and no earlier point; not drawn where there is no room. */
void th_plot_label(th_plot *plot, double x, double y, const char *text);

/* A cell of a heat map: share of the maximum, 0 to 1, and its text. Ignored when the plot has no such row and
 * column. */
__attribute__((format(printf, 6, 7))) void th_plot_cell(th_plot *plot, uint32_t row, uint32_t column, double share,
                                                        const char *text, const char *title, ...);

#endif

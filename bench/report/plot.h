/* Plots as SVG inside of a page, each a figure with a heading. Private to bench.
 *
 * Drawings are TH_PLOT_WIDTH units wide, for text that is readable at 400 pixels. Colours come from the page's style
 * (page.css), by classes; beside them stand attributes that do for a reader that shows no style. Values that an axis
 * cannot show (not finite; not above 0 on a logarithmic one) are not drawn. Texts are escaped, and cut where there is
 * no room; titles are what a mouse that rests on a mark shows. */
#ifndef TH_BENCH_REPORT_PLOT_H
#define TH_BENCH_REPORT_PLOT_H

#include "axis.h"

#include <throng/bench/stats.h>

#include <stdio.h>

#define TH_PLOT_WIDTH 420.0

/* Those with a number are told apart by people who see colours differently, and by the shapes of their points. */
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

/* A line in the legend. */
typedef struct th_key {
    const char *text;
    th_ink ink;
    bool is_line; /* a dashed line and no points */
} th_key;

typedef struct th_plot_desc {
    const char *title; /* above it */
    const char *note;  /* what to see, in a sentence; NULL: none */
    const char *x_title, *y_title;
    th_axis x, y; /* not yet settled */
    /* Names instead of values: rows from the top, in the order given, row i from i to i + 1; columns likewise from the
     * left. NULL: an axis. */
    const char *const *rows, *const *columns;
    uint32_t row_count, column_count;
    double row_height; /* 0: as a line of text takes */
    bool is_tall;      /* without rows: room for the names of many points */
    const th_key *keys;
    uint32_t key_count;
} th_plot_desc;

enum { TH_PLOT_MAX_LABELS = 256 };

typedef struct th_plot {
    FILE *file;
    th_axis x, y; /* settled and in place */
    /* Where labels and points are, so that no label covers any. */
    struct th_plot_label {
        double left, top, right, bottom;
    } labels[TH_PLOT_MAX_LABELS];
    uint32_t label_count;
} th_plot;

void th_plot_begin(th_plot *plot, const th_plot_desc *desc, FILE *file);
void th_plot_end(th_plot *plot);

/* ---- marks ---- */

/* Through all points, with gaps where one cannot be shown. is_dashed: what is not measured. */
void th_plot_line(th_plot *plot, th_ink ink, bool is_dashed, const double *x, const double *y, uint32_t count);

/* A point of the shape that goes with the ink; hollow for what does not count. */
__attribute__((format(printf, 6, 7))) void th_plot_point(th_plot *plot, th_ink ink, bool is_hollow, double x, double y,
                                                         const char *title, ...);

/* From one value to another, with ends: up and down at x, or left and right at y. */
void th_plot_interval_y(th_plot *plot, th_ink ink, double x, th_interval y);
void th_plot_interval_x(th_plot *plot, th_ink ink, th_interval x, double y);

/* A rectangle between two corners. */
__attribute__((format(printf, 7, 8))) void th_plot_bar(th_plot *plot, th_ink ink, double x0, double x1, double y0,
                                                       double y1, const char *title, ...);

/* Likewise, in the background. */
void th_plot_band(th_plot *plot, double x0, double x1, double y0, double y1);

/* A line across the drawing, with its name. Nothing where the value is beyond the axis. */
void th_plot_rule_x(th_plot *plot, double x, const char *name);
void th_plot_rule_y(th_plot *plot, double y, const char *name);

/* A text beside the point, where neither another nor a point drawn before is; nothing where there is no room. */
void th_plot_label(th_plot *plot, double x, double y, const char *text);

/* A cell of a map of rows and columns, if it is one: how much of the most there is, 0 to 1, and as text. */
__attribute__((format(printf, 6, 7))) void th_plot_cell(th_plot *plot, uint32_t row, uint32_t column, double share,
                                                        const char *text, const char *title, ...);

#endif

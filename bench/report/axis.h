/* An axis of a plot: its range of values, their positions in the drawing, and its ticks. Private to bench. */
#ifndef TH_BENCH_REPORT_AXIS_H
#define TH_BENCH_REPORT_AXIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TH_AXIS_MIN_TICKS = 6, TH_AXIS_MAX_TICKS = 64 };

typedef struct th_axis {
    /* Values at its ends. Once finalized: finite, low < high; above 0 on a logarithmic axis. */
    double low, high;
    double from, to; /* positions of these in the drawing */
    bool is_log;
    /* Least distance between ticks, and least tick of a logarithmic axis; 0: any; 1 for counts. */
    double least_step;
} th_axis;

/* An empty axis. */
th_axis th_axis_linear(void);
th_axis th_axis_log(void);

/* Whether it can show the value at all: finite, and above 0 on a logarithmic axis. */
bool th_axis_takes(const th_axis *axis, double value);

/* Extends the axis to show this value, if it can. */
void th_axis_include(th_axis *axis, double value);

/* Widens the axis by `margin` of its length on either side, but not beyond 0, and gives it a length above 0. An axis
 * without values goes from 0 to 1, a logarithmic one from 1 to 10. */
void th_axis_finalize(th_axis *axis, double margin);

/* Position of the value in the drawing; the axis must be finalized. NaN for a value that it cannot show. */
double th_axis_at(const th_axis *axis, double value);

/* The smallest of 1, 2 and 5 times powers of ten that is at least the value, which is above 0. */
double th_axis_step(double value);

/* Ticks in ascending order; the axis must be finalized. They lie within its ends and are multiples of a step of 1, 2 or
 * 5 times a power of ten; on a long logarithmic axis, numbers of that form. At least 2 ticks unless that would violate
 * least_step, and at most `most`, which must be TH_AXIS_MIN_TICKS or more. */
uint32_t th_axis_ticks(const th_axis *axis, uint32_t most, double out[TH_AXIS_MAX_TICKS]);

/* Formats a tick: "0.25", "250", "25k", "2.5M", "1e-6". Returns out. */
char *th_axis_label(double value, char *out, size_t size);

#endif

/* An axis of a plot: which values it shows, where each lies in the drawing, and which of them are marked. Private to
 * bench. */
#ifndef TH_BENCH_REPORT_AXIS_H
#define TH_BENCH_REPORT_AXIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TH_AXIS_MIN_TICKS = 6, TH_AXIS_MAX_TICKS = 64 };

typedef struct th_axis {
    double low, high; /* values at its ends, once it is settled: finite, low < high; above 0 where it is logarithmic */
    double from, to;  /* where these lie in the drawing */
    bool is_log;
    double least_step; /* between ticks, and of a logarithmic axis the least tick; 0: any. 1 where things are counted */
} th_axis;

/* Shows nothing yet. */
th_axis th_axis_linear(void);
th_axis th_axis_log(void);

/* Whether it can show the value at all: finite, and above 0 on a logarithmic axis. */
bool th_axis_takes(const th_axis *axis, double value);

/* Shall show this value, unless it cannot. */
void th_axis_include(th_axis *axis, double value);

/* Widens it by `margin` of its length on either side, but not beyond 0, and to something that has a length. An axis
 * without values goes from 0 to 1, a logarithmic one from 1 to 10. */
void th_axis_finalize(th_axis *axis, double margin);

/* Where the value lies in the drawing, of a settled axis. NaN for what it cannot show. */
double th_axis_at(const th_axis *axis, double value);

/* The smallest of 1, 2 and 5 times powers of ten that is at least the value, which is above 0. */
double th_axis_step(double value);

/* Values to mark, rising, of a settled axis: within its ends; multiples of a step that is 1, 2 or 5 times a power of
 * ten, or, where a logarithmic one is long enough, such numbers themselves. At least 2 of them unless that would break
 * the least step, and no more than `most`, which is TH_AXIS_MIN_TICKS or more. */
uint32_t th_axis_ticks(const th_axis *axis, uint32_t most, double out[TH_AXIS_MAX_TICKS]);

/* How a tick is written: "0.25", "250", "25k", "2.5M", "1e-6". Returns out. */
char *th_axis_label(double value, char *out, size_t size);

#endif

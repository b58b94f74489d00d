/* A roofline: the arithmetic of each kernel, by how many bytes it needs for that, under what this core can do at most
 * (S. Williams, A. Waterman, D. Patterson, Roofline: An Insightful Visual Performance Model, 2009). From the pose/ and
 * the ceiling/ entries of a report. Private to bench.
 *
 * Bytes are those that cannot be avoided: keys that are read and palettes that are written. What a kernel keeps in the
 * first-level cache meanwhile is not counted, so that nothing can be above its roof. */
#ifndef TH_BENCH_REPORT_ROOFLINE_H
#define TH_BENCH_REPORT_ROOFLINE_H

#include <bench/report.h>

enum { TH_ROOFLINE_MAX_POINTS = 32, TH_ROOFLINE_LEVELS = 4 };

typedef struct th_roofline_point {
    const th_row *row;
    double flops_per_bone, reads_per_bone, writes_per_bone; /* operations; bytes */
    double rate;                                            /* operations a second */
    double roof; /* the most that is possible: by arithmetic, or by bandwidth */
    bool is_bandwidth;
    uint32_t level; /* whose bandwidth it is */
} th_roofline_point;

typedef struct th_roofline {
    th_roofline_point points[TH_ROOFLINE_MAX_POINTS];
    uint32_t count;                                             /* 0: the report has no poses or no ceilings */
    double read[TH_ROOFLINE_LEVELS], write[TH_ROOFLINE_LEVELS]; /* bytes a second; NaN: not measured */
} th_roofline;

th_roofline th_roofline_of(const th_report *report);

/* The most operations a second on this instruction set; NaN: not measured. */
double th_roofline_peak(const th_report *report, const char *isa);

/* Tables of ceilings and of kernels; nothing without them. False when memory is out. */
bool th_roofline_print(const th_report *report, th_format format, FILE *file);

#endif

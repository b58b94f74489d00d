/* The figures of jobs/ entries as functions of times; no pool and no clock. Private to bench. */
#ifndef TH_BENCH_SUITES_JOBS_FIGURES_H
#define TH_BENCH_SUITES_JOBS_FIGURES_H

#include <stdint.h>

typedef struct th_jobs_times {
    double ns, p90_ns;             /* of a call: median over the repetitions, 90th percentile of single calls */
    double baseline_ns;            /* median of the shape's baseline; NaN for none */
    uint32_t threads, usable_cpus; /* where there are more threads than CPUs, the CPUs count */
    uint32_t chunks;               /* in a call */
    uint64_t idle_ns, idle_cpu_ns; /* while the caller slept: wall time, and CPU time of the process */
} th_jobs_times;

typedef struct th_jobs_figures {
    double speed_up;          /* baseline / time */
    double efficiency;        /* speed-up / CPUs; 1 is ideal */
    double efficiency_at_p90; /* the same for p90_ns */
    double overhead_ns;       /* time beyond that of an ideal schedule, baseline / CPUs */
    double chunk_ns;          /* time beyond the baseline, for each chunk */
    double idle_cores;        /* CPUs in use while the caller slept */
} th_jobs_figures;

th_jobs_figures th_jobs_figures_of(const th_jobs_times *times);

#endif

/* What workers do while they pose, counted by the processor and the system.
 *
 * The first counters are of the processor, in user mode, from perf_event_open(2); many virtual machines have none, and
 * many containers forbid them. The others every Linux has. */
#ifndef THRONG_BENCH_COUNTERS_H
#define THRONG_BENCH_COUNTERS_H

typedef enum th_counter {
    TH_COUNTER_CYCLES = 0,
    TH_COUNTER_INSTRUCTIONS,
    TH_COUNTER_L1_MISSES,  /* reads that missed the L1 data cache */
    TH_COUNTER_LLC_MISSES, /* reads that missed the last cache */
    TH_COUNTER_CPU_NS,     /* CPU time of the thread */
    TH_COUNTER_PAGE_FAULTS,
    TH_COUNTER_CONTEXT_SWITCHES,
    TH_COUNTER_COUNT,
} th_counter;

#define TH_COUNTER_PROCESSOR_COUNT TH_COUNTER_CPU_NS /* those before are of the processor */

/* "cycles", "instructions", "l1_misses", "llc_misses", "cpu_ns", "page_faults", "context_switches". */
const char *th_counter_name(th_counter counter);

/* Of one frame, all workers together. NaN: not counted here. */
typedef struct th_counters {
    double values[TH_COUNTER_COUNT];
} th_counters;

#endif

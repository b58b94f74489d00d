/* Where parallel time goes, in the factors of the POP Centre of Excellence (https://pop-coe.eu, "POP standard metrics
 * for parallel performance analysis"). Each is 1 where nothing is lost, and they multiply:
 *
 *     global = parallel efficiency x computation scaling
 *     parallel efficiency = load balance x communication, communication = serialisation x transfer
 *     computation scaling = instructions x IPC x frequency
 *
 * Useful time is work in calls on all threads, and what the caller does outside of calls. */
#ifndef THRONG_BENCH_POP_H
#define THRONG_BENCH_POP_H

#include <bench/stats.h>

typedef enum th_pop_factor {
    TH_POP_GLOBAL = 0,
    TH_POP_PARALLEL,      /* useful time / (threads x time) */
    TH_POP_LOAD_BALANCE,  /* mean work in calls / that of the busiest worker, over all frames */
    TH_POP_COMMUNICATION, /* serialisation x transfer */
    /* The rest: a part outside of calls, on one thread, or another worker than the busiest is the last of a frame. */
    TH_POP_SERIALISATION,
    TH_POP_TRANSFER,    /* what is left of the time without the busiest worker's waits for work: waking and stealing */
    TH_POP_COMPUTATION, /* useful time a character at the first point / at this one */
    /* Where counted, instructions a character at the first point / at this one. Otherwise 1 by construction: the same
     * code on the same characters. */
    TH_POP_INSTRUCTIONS,
    /* Shared caches, memory and cores. Where counted, instructions a cycle at this point / at the first; otherwise the
     * rest, and NaN where the frequency is unknown. */
    TH_POP_IPC,
    /* Where cycles are counted, the rest. Otherwise the speed of the caller's core beside the frames over that at the
     * first point, or NaN. */
    TH_POP_FREQUENCY,
    TH_POP_COUNT,
} th_pop_factor;

/* "global_efficiency", "parallel_efficiency", "load_balance", "communication_efficiency", "serialisation_efficiency",
 * "transfer_efficiency", "computation_scaling", "instruction_scaling", "ipc_scaling", "frequency_scaling". */
const char *th_pop_factor_name(th_pop_factor factor);

typedef struct th_pop {
    double values[TH_POP_COUNT]; /* all 0: not measured */
    /* Of resampled rounds, or of several processes, at TH_CONFIDENCE. NaN: fewer than two, or not known. In resamples
     * the busiest worker is that of all rounds: work that varies without favouring one leaves 1 inside of the interval.
     */
    th_interval intervals[TH_POP_COUNT];
} th_pop;

/* The smallest factor that is no product of others: what to look at first. Computation scaling where its factors are
 * unknown. TH_POP_GLOBAL: not measured. */
th_pop_factor th_pop_weakest(const th_pop *pop);

#endif

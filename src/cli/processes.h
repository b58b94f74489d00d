/* Repeats a measurement in several processes, one after the other. Each has another memory layout, which changes the
 * time that the same code takes. */
#ifndef TH_CLI_PROCESSES_H
#define TH_CLI_PROCESSES_H

#include "options.h"

#include <throng/bench/measure.h>

/* The number of processes that the options request, including this one. */
uint32_t th_processes_count(const th_options *options);

/* The length of a repetition; 0: the default. With several processes it is shorter: some of many short repetitions are
 * not preempted, and processes are compared by those (compare.h). */
double th_processes_repetition_ms(const th_options *options);

/* Runs this program with the same options for the other processes, and merges their results into the report, which
 * holds this one's. Returns an exit code; prints an error when it is not TH_EXIT_GOOD. */
int th_processes_add(const th_options *options, th_report *report);

#endif

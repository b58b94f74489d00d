/* A measurement in several processes, one after the other: each has its memory elsewhere, which changes what the same
 * code takes. */
#ifndef TH_CLI_PROCESSES_H
#define TH_CLI_PROCESSES_H

#include "options.h"

#include <throng/bench/measure.h>

/* How many are asked for, this one among them. */
uint32_t th_processes_count(const th_options *options);

/* What a repetition is to take; 0: as always. With several processes less: among many short repetitions there are some
 * that nothing preempted, which is what processes are compared by (compare.h). */
double th_processes_repetition_ms(const th_options *options);

/* Runs this program for the others with the same options, and adds what they measured to the report, which has what
 * this one measured. Returns an exit code; complains when it is not TH_EXIT_GOOD. */
int th_processes_add(const th_options *options, th_report *report);

#endif

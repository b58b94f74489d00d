/* Repeats a measurement in several processes, one after the other. Each has another memory layout, which changes the
 * time that the same code takes. */
#ifndef TH_CLI_PROCESSES_H
#define TH_CLI_PROCESSES_H

#include "run.h"

#include <throng/bench/measure.h>

#define TH_PROCESSES_REPETITION_MS 1.0

/* Decides on the number of processes, including this one. wanted: 0: several when the result is saved, to be compared,
 * unless the repetitions are given. With several, the repetitions become TH_PROCESSES_REPETITION_MS long unless their
 * length is given. That is shorter than usual: some of many short repetitions are not preempted, and processes are
 * compared by those (compare.h). */
uint32_t th_processes_plan(uint32_t wanted, bool is_saved, th_measure_desc *measure);

/* Runs this program with the same options for the other processes, and merges their results into the report, which
 * holds this one's. Returns an exit code; prints an error when it is not TH_EXIT_GOOD. */
int th_processes_add(const th_run *run, uint32_t count, th_report *report);

#endif

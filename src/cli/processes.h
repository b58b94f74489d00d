/* Repeats a measurement in several processes, one after the other. Each has another memory layout, which changes the
 * time that the same code takes. */
#ifndef TH_CLI_PROCESSES_H
#define TH_CLI_PROCESSES_H

#include <cli/run.h>

#include <bench/measure.h>
#include <bench/result_file.h>

#define TH_PROCESSES_REPETITION_MS 1.0

/* Decides on the number of processes, including this one. wanted: 0: several when the result is saved, to be compared,
 * unless the repetitions are given. With several, the repetitions become TH_PROCESSES_REPETITION_MS long unless their
 * length is given. That is shorter than usual: some of many short repetitions are not preempted, and processes are
 * compared by those (compare.h). */
uint32_t th_processes_plan(uint32_t wanted, bool is_saved, th_measure_desc *measure);

/* Measures in one process: runs `PROGRAM bench` with repetitions of TH_PROCESSES_REPETITION_MS and the run's process
 * words, and reads its result. program: a path, or a name to look up in PATH; NULL: this program, with the run's
 * command. Only bench gets that length of repetitions. TH_ERR_ENVIRONMENT when there is no result, or TH_ERR_INPUT if a
 * program is given. */
th_result th_processes_measure(const char *program, const th_run *run, th_result_file **out, th_error *err);

/* Merges another process's result into this one's. */
typedef th_result th_processes_merge(void *result, const th_result_file *other, th_error *err);

/* Runs this program's command with the same options for the other processes, and merges their results into this one's,
 * which has the report. Returns an exit code; prints an error when it is not TH_EXIT_GOOD. */
int th_processes_add(const th_run *run, uint32_t count, th_processes_merge *merge, void *result, th_report *report);

#endif

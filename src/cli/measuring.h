/* While something is measured: its progress, what interrupts it, the options that say how long it goes on, and further
 * processes that measure the same. */
#ifndef TH_CLI_MEASURING_H
#define TH_CLI_MEASURING_H

#include <cli/run.h>

#include <bench/measure.h>
#include <bench/result_file.h>

#include <signal.h>
#include <stdbool.h>

/* ---- progress ----
 *
 * On standard error: on a terminal a line that replaces itself, in a log a line every ten seconds. From one thread. */

/* "on" in THRONG_PROGRESS stands for a terminal, as does any other text; with "off" nothing is shown. */
bool th_progress_wanted(void);

/* The time from now on says how much is left. */
void th_progress_begin(void);

/* Shows the text, unless the last one is too new. */
__attribute__((format(printf, 1, 2))) void th_progress_show(const char *format, ...);

/* The same of a film of so many frames. */
void th_progress_frames(uint32_t done, uint32_t count);

/* Clears the line. */
void th_progress_end(void);

/* ---- interruption ----
 *
 * By Ctrl-C and SIGTERM: the first ends the measurement, whose result so far is kept; the second ends the program at
 * once. */

/* Handles both signals from now on. Returns th_measure_desc.stop. Main thread, which files are written on: a file that
 * is being replaced is never cut short, because th_file_replace blocks signals. */
const volatile sig_atomic_t *th_interrupt_begin(void);

bool th_interrupt_is_requested(void);

/* The exit code of an interrupted command: 130 or 143. */
int th_interrupt_code(void);

/* ---- the options ---- */

/* Completes the measuring options, with progress on a terminal. measure: as the options say. Prints an error and
 * returns an exit code when they contradict each other. */
int th_measure_options_complete(const th_run *run, th_measure_desc *measure);

/* The seed of what is checked: THRONG_CHECK_SEED, or entropy. */
uint64_t th_check_seed(void);

/* ---- several processes ----
 *
 * Repeat a measurement, one after the other. Each has another memory layout, which changes the time that the same code
 * takes. */

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

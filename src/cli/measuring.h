/* While something is measured: its progress, what interrupts it, and the options that say how long it goes on. */
#ifndef TH_CLI_MEASURING_H
#define TH_CLI_MEASURING_H

#include <cli/run.h>

#include <bench/measure.h>

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* ---- progress ----
 *
 * On standard error: on a terminal a line that replaces itself, in a log a line every ten seconds. From one thread. */

/* "on" in THRONG_PROGRESS stands for a terminal, as does any other text; with "off" nothing is shown. */
bool th_progress_wanted(void);

/* The time from now on counts for th_progress_left. */
void th_progress_begin(void);

/* ", about 3 min left", when this share of the work is done; "" while too little is. Static storage. */
const char *th_progress_left(double done);

/* Shows the text, unless the last one is too new. */
__attribute__((format(printf, 1, 2))) void th_progress_show(const char *format, ...);

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

/* Waits for a child of a process group of its own, as th_subprocess_wait. Kills it when a signal comes. */
int th_interrupt_wait(pid_t child);

/* ---- the options ---- */

/* Completes the measuring options, with progress on a terminal. measure: as the options say. Prints an error and
 * returns an exit code when they contradict each other. */
int th_measure_options_complete(const th_run *run, th_measure_desc *measure);

#endif

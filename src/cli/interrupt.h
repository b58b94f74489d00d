/* Ctrl-C and SIGTERM while something is measured: the first ends the measurement, whose result so far is kept; the
 * second ends the program at once. */
#ifndef TH_CLI_INTERRUPT_H
#define TH_CLI_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* Handles both signals from now on. Returns th_measure_desc.stop. Main thread, which files are written on: a file that
 * is being replaced is never cut short, because th_file_replace blocks signals. */
const volatile sig_atomic_t *th_interrupt_begin(void);

bool th_interrupt_is_requested(void);

/* The exit code of an interrupted command: 130 or 143. */
int th_interrupt_code(void);

/* Waits for a child of a process group of its own, as th_subprocess_wait. Kills it when a signal comes. */
int th_interrupt_wait(pid_t child);

#endif

/* A progress line on the terminal. One at a time, from one thread. */
#ifndef TH_CLI_PROGRESS_H
#define TH_CLI_PROGRESS_H

#include <stdbool.h>

/* True if standard error is a terminal or THRONG_PROGRESS is set; false for logs. */
bool th_progress_wanted(void);

/* Replaces the current line, unless it is too new to have been read. */
__attribute__((format(printf, 1, 2))) void th_progress_show(const char *format, ...);

/* Clears the line. */
void th_progress_end(void);

#endif

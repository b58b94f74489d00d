/* A progress line on the terminal. One at a time, from one thread. */
#ifndef TH_CLI_PROGRESS_H
#define TH_CLI_PROGRESS_H

#include <stdbool.h>

/* True if standard error is a terminal or THRONG_PROGRESS is set; false for logs. */
bool th_progress_wanted(void);

/* Whether enough time has passed for the next update. */
bool th_progress_is_due(void);

/* Replaces the current line. */
__attribute__((format(printf, 1, 2))) void th_progress_show(const char *format, ...);

/* Clears the line. */
void th_progress_end(void);

#endif

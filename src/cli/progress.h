/* A line on a terminal that says how far long work has come. One at a time, and one thread. */
#ifndef TH_CLI_PROGRESS_H
#define TH_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef void th_progress_fn(void *ctx, uint32_t done, uint32_t total);

/* Whether somebody reads standard error as it comes: a terminal, or whoever has set THRONG_PROGRESS. A log does not. */
bool th_progress_wanted(void);

/* Of frames. NULL where it is not wanted. */
th_progress_fn *th_progress(void);

/* Whether the line is old enough for another one. */
bool th_progress_is_due(void);

/* Instead of the line that is there. */
__attribute__((format(printf, 1, 2))) void th_progress_show(const char *format, ...);

/* Leaves no trace of the line. */
void th_progress_end(void);

#endif

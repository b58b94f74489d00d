/* A line on a terminal that says how far long work has come. */
#ifndef TH_PROGRESS_H
#define TH_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef void th_progress_fn(void *ctx, uint32_t done, uint32_t total);

/* Whether somebody reads standard error as it comes: a terminal, or whoever has set THRONG_PROGRESS. A log does not. */
bool th_progress_wanted(void);

/* NULL where it is not wanted. */
th_progress_fn *th_progress(void);

#endif

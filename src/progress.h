/* A line on a terminal that says how far long work has come. */
#ifndef TH_PROGRESS_H
#define TH_PROGRESS_H

#include <stdint.h>

typedef void th_progress_fn(void *ctx, uint32_t done, uint32_t total);

/* NULL when standard error is no terminal: a pipe or a log wants no such line, unless THRONG_PROGRESS is set. */
th_progress_fn *th_progress(void);

#endif

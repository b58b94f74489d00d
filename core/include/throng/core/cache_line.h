/* Memory in whole cache lines, so that no two writers share one. */
#ifndef THRONG_CORE_CACHE_LINE_H
#define THRONG_CORE_CACHE_LINE_H

#include <stddef.h>
#include <stdlib.h>

enum { TH_LINE = 64 };

static inline size_t th_line_round(size_t bytes)
{
    return (bytes + TH_LINE - 1) / TH_LINE * TH_LINE;
}

/* Aligned to a line, at least one long: aligned_alloc may return NULL for nothing. NULL when memory is out; the caller
 * frees it with free(). */
static inline void *th_line_alloc(size_t bytes)
{
    return aligned_alloc(TH_LINE, bytes ? th_line_round(bytes) : TH_LINE);
}

#endif

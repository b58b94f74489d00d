/* Memory in whole cache lines, so that two writers never share a line. */
#ifndef THRONG_CORE_CACHE_LINE_H
#define THRONG_CORE_CACHE_LINE_H

#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { TH_CACHE_LINE = 64, TH_HUGE_PAGE = 1 << 21 };

static inline size_t th_cache_line_round(size_t bytes)
{
    return (bytes + TH_CACHE_LINE - 1) / TH_CACHE_LINE * TH_CACHE_LINE;
}

/* Allocates `bytes` rounded up to whole lines, at least one line, because aligned_alloc may return NULL for 0 bytes.
 * Aligned to a line. The caller releases it with free(). Returns NULL when out of memory. */
static inline void *th_cache_line_alloc(size_t bytes)
{
    return aligned_alloc(TH_CACHE_LINE, th_cache_line_round(bytes ? bytes : 1));
}

/* The same in huge pages, where the system has them and it fills one: to get small ones can take longer than to use
 * them. */
static inline void *th_huge_page_alloc(size_t bytes)
{
    if (bytes < TH_HUGE_PAGE)
        return th_cache_line_alloc(bytes);
    bytes = (bytes + TH_HUGE_PAGE - 1) / TH_HUGE_PAGE * TH_HUGE_PAGE;
    void *memory = aligned_alloc(TH_HUGE_PAGE, bytes);
#ifdef MADV_HUGEPAGE
    if (memory)
        madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return memory;
}

#endif

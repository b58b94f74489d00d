#include "time_series.h"

#include <assert.h>
#include <math.h>
#include <string.h>

th_second th_second_of(const th_second_counts *c)
{
    assert(c->begin_ns < c->end_ns && c->ticks);
    const th_histogram *ticks = c->ticks;
    const double span_s = (double)(c->end_ns - c->begin_ns) * 1e-9;
    return (th_second){
        .end_s = (double)c->end_ns * 1e-9,
        .span_s = span_s,
        .ticks = ticks->total,
        .missed = c->missed,
        .characters = c->characters,
        .mean_s = ticks->total ? (double)ticks->sum_ns / (double)ticks->total * 1e-9 : 0,
        .p50_s = th_histogram_quantile(ticks, 0.5) * 1e-9,
        .p90_s = th_histogram_quantile(ticks, 0.9) * 1e-9,
        .p99_s = th_histogram_quantile(ticks, 0.99) * 1e-9,
        .max_s = (double)ticks->max_ns * 1e-9,
        .max_start_delay_s = (double)c->max_start_delay_ns * 1e-9,
        .busy = fmin(1, c->busy_s / span_s / (double)c->workers), /* workers may have become fewer meanwhile */
        .paused = c->paused,
    };
}

void th_time_series_add(th_time_series *t, const th_second *second)
{
    const uint64_t count = atomic_load_explicit(&t->count, memory_order_relaxed);
    uint64_t words[TH_SECOND_WORDS];
    memcpy(words, second, sizeof words);
    for (uint32_t w = 0; w < TH_SECOND_WORDS; w++)
        atomic_store_explicit(&t->words[count % TH_TIME_SERIES_SECONDS][w], words[w], memory_order_release);
    atomic_store_explicit(&t->count, count + 1, memory_order_release);
}

uint32_t th_time_series_read(th_time_series *t, th_second *out, uint32_t most)
{
    const uint64_t count = atomic_load_explicit(&t->count, memory_order_acquire);
    /* One slot is skipped, because the writer may be writing it. */
    const uint64_t there = count < TH_TIME_SERIES_SECONDS ? count : TH_TIME_SERIES_SECONDS - 1;
    const uint64_t first = count - (most < there ? most : there);
    for (uint64_t s = first; s < count; s++) {
        uint64_t words[TH_SECOND_WORDS];
        for (uint32_t w = 0; w < TH_SECOND_WORDS; w++)
            words[w] = atomic_load_explicit(&t->words[s % TH_TIME_SERIES_SECONDS][w], memory_order_acquire);
        memcpy(&out[s - first], words, sizeof words);
    }
    /* During the read, the oldest slots may have been overwritten. */
    const uint64_t now = atomic_load_explicit(&t->count, memory_order_relaxed);
    const uint64_t oldest = now < TH_TIME_SERIES_SECONDS ? 0 : now - TH_TIME_SERIES_SECONDS + 1;
    const uint64_t gone = oldest <= first ? 0 : oldest < count ? oldest - first : count - first;
    memmove(out, out + gone, (size_t)(count - first - gone) * sizeof *out);
    return (uint32_t)(count - first - gone);
}

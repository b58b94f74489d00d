/* A histogram of times with 32 buckets per octave, so that the error of a quantile is at most 3 % at any size (as in G.
 * Tene's HdrHistogram). From 1 us to 67 s. */
#ifndef THRONG_BENCH_HISTOGRAM_H
#define THRONG_BENCH_HISTOGRAM_H

#include <stdint.h>

#define TH_HISTOGRAM_OCTAVES    26u
#define TH_HISTOGRAM_SUBBUCKETS 32u /* per octave; below 32 us there is a bucket per microsecond */
#define TH_HISTOGRAM_BUCKETS    ((TH_HISTOGRAM_OCTAVES - 4) * TH_HISTOGRAM_SUBBUCKETS)

/* All zero: empty. */
typedef struct th_histogram {
    uint64_t counts[TH_HISTOGRAM_BUCKETS];
    uint64_t total;
    uint64_t sum_ns, max_ns;
} th_histogram;

/* One thread adds; others may th_histogram_read meanwhile. */
void th_histogram_add(th_histogram *histogram, uint64_t ns);

/* Copies a histogram that another thread may be adding to. The copy may have that time in one field and not in another;
 * its total is the sum of its counts. Counts never decrease from one copy to the next. */
void th_histogram_read(const th_histogram *histogram, th_histogram *out);

/* later - earlier, of the same histogram at two moments. max_ns: the end of the highest non-empty bucket, at most that
 * of `later`. */
void th_histogram_difference(const th_histogram *later, const th_histogram *earlier, th_histogram *out);

/* The time in ns that a fraction `part` (above 0, up to 1) does not exceed: nearest rank, linear interpolation within a
 * bucket, at most max_ns. 0 if empty. */
double th_histogram_quantile(const th_histogram *histogram, double part);

/* The number of times below 2^octave us; octave: 0 to TH_HISTOGRAM_OCTAVES. Exact, because buckets end there. */
uint64_t th_histogram_below(const th_histogram *histogram, uint32_t octave);

#endif

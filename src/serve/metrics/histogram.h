/* A histogram of times with sixteen buckets per octave, so that the error of a quantile is at most 3 % at any size (as
 * in G. Tene's HdrHistogram). From 1 us to 67 s. */
#ifndef TH_SERVE_METRICS_HISTOGRAM_H
#define TH_SERVE_METRICS_HISTOGRAM_H

#include <stdatomic.h>
#include <stdint.h>

#define TH_HISTOGRAM_OCTAVES    26u
#define TH_HISTOGRAM_SUBBUCKETS 16u /* per octave; below 16 us there is a bucket per microsecond */
#define TH_HISTOGRAM_BUCKETS    ((TH_HISTOGRAM_OCTAVES - 3) * TH_HISTOGRAM_SUBBUCKETS)

/* All zero: empty. */
typedef struct th_histogram {
    uint64_t counts[TH_HISTOGRAM_BUCKETS];
    uint64_t total;
    uint64_t sum_ns, max_ns;
} th_histogram;

void th_histogram_add(th_histogram *histogram, uint64_t ns);

/* later - earlier, of the same histogram at two moments. max_ns: the end of the highest non-empty bucket, at most that
 * of `later`. */
void th_histogram_difference(const th_histogram *later, const th_histogram *earlier, th_histogram *out);

/* The time in ns that a fraction `part` (above 0, up to 1) does not exceed: nearest rank, linear interpolation within a
 * bucket, at most max_ns. 0 if empty. */
double th_histogram_quantile(const th_histogram *histogram, double part);

/* The number of times below 2^octave us; octave: 4 to TH_HISTOGRAM_OCTAVES. Exact, because buckets end there. */
uint64_t th_histogram_below(const th_histogram *histogram, uint32_t octave);

/* The same for one writer and several readers. A reader may see a concurrent tick in one number and not in another.
 * Counts never decrease. */
typedef struct th_atomic_histogram {
    _Atomic uint64_t counts[TH_HISTOGRAM_BUCKETS];
    _Atomic uint64_t sum_ns, max_ns;
} th_atomic_histogram;

void th_atomic_histogram_add(th_atomic_histogram *atomic_histogram, uint64_t ns);
void th_atomic_histogram_read(th_atomic_histogram *atomic_histogram, th_histogram *out);

#endif

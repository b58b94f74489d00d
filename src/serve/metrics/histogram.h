/* Times counted in buckets whose width grows with the time: sixteen to every doubling, so that a quantile is off by
 * 3 % at most, whatever its size (as in G. Tene's HdrHistogram). From 1 us to 67 s. */
#ifndef TH_SERVE_METRICS_HISTOGRAM_H
#define TH_SERVE_METRICS_HISTOGRAM_H

#include <stdatomic.h>
#include <stdint.h>

#define TH_HISTOGRAM_OCTAVES    26u
#define TH_HISTOGRAM_SUBBUCKETS 16u /* of an octave; the first octaves, up to 16 us, have a bucket for each us */
#define TH_HISTOGRAM_BUCKETS    ((TH_HISTOGRAM_OCTAVES - 3) * TH_HISTOGRAM_SUBBUCKETS)

/* All zero: nothing counted. */
typedef struct th_histogram {
    uint64_t counts[TH_HISTOGRAM_BUCKETS];
    uint64_t total;
    uint64_t sum_ns, max_ns;
} th_histogram;

void th_histogram_add(th_histogram *histogram, uint64_t ns);

/* later - earlier, of the same histogram at two moments. max_ns: the end of the highest bucket with a count, at most
 * that of `later`. */
void th_histogram_difference(const th_histogram *later, const th_histogram *earlier, th_histogram *out);

/* The time in ns that a `part` (above 0, up to 1) do not exceed: the nearest rank, straight lines inside a bucket,
 * never above max_ns. 0 for none. */
double th_histogram_quantile(const th_histogram *histogram, double part);

/* How many took less than 2^octave us; octave: 4 to TH_HISTOGRAM_OCTAVES. Exact: buckets end there. */
uint64_t th_histogram_below(const th_histogram *histogram, uint32_t octave);

/* The same for one thread that counts and others that read. A reader may miss the tick that is being counted in one
 * number and have it in another; counts never go back. */
typedef struct th_atomic_histogram {
    _Atomic uint64_t counts[TH_HISTOGRAM_BUCKETS];
    _Atomic uint64_t sum_ns, max_ns;
} th_atomic_histogram;

void th_atomic_histogram_add(th_atomic_histogram *atomic_histogram, uint64_t ns);
void th_atomic_histogram_read(th_atomic_histogram *atomic_histogram, th_histogram *out);

#endif

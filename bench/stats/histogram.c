#include <bench/histogram.h>

#include <assert.h>
#include <math.h>

/* Buckets 0 to 31 are whole microseconds. Then every octave o, [2^o, 2^(o+1)) us, from 5 on has 32. */
static uint32_t bucket_of(uint64_t ns)
{
    const uint64_t us = ns / 1000;
    if (us < TH_HISTOGRAM_SUBBUCKETS)
        return (uint32_t)us;
    const uint32_t octave = 63u - (uint32_t)__builtin_clzll(us);
    if (octave >= TH_HISTOGRAM_OCTAVES)
        return TH_HISTOGRAM_BUCKETS - 1;
    const uint32_t part = (uint32_t)(us >> (octave - 5)) - TH_HISTOGRAM_SUBBUCKETS;
    return (octave - 4) * TH_HISTOGRAM_SUBBUCKETS + part;
}

static double bucket_begin_ns(uint32_t bucket)
{
    if (bucket < TH_HISTOGRAM_SUBBUCKETS)
        return bucket * 1e3;
    const uint32_t octave = bucket / TH_HISTOGRAM_SUBBUCKETS + 4, part = bucket % TH_HISTOGRAM_SUBBUCKETS;
    return ldexp(TH_HISTOGRAM_SUBBUCKETS + part, (int)octave - 5) * 1e3;
}

/* There is one writer, so a load and a store replace an atomic addition. */
static void raise_by(uint64_t *word, uint64_t more)
{
    __atomic_store_n(word, *word + more, __ATOMIC_RELAXED);
}

void th_histogram_add(th_histogram *h, uint64_t ns)
{
    assert(h);
    raise_by(&h->counts[bucket_of(ns)], 1);
    raise_by(&h->total, 1);
    raise_by(&h->sum_ns, ns);
    if (ns > h->max_ns)
        raise_by(&h->max_ns, ns - h->max_ns);
}

void th_histogram_read(const th_histogram *h, th_histogram *out)
{
    assert(h && out);
    out->total = 0;
    for (uint32_t b = 0; b < TH_HISTOGRAM_BUCKETS; b++) {
        out->counts[b] = __atomic_load_n(&h->counts[b], __ATOMIC_RELAXED);
        out->total += out->counts[b];
    }
    out->sum_ns = __atomic_load_n(&h->sum_ns, __ATOMIC_RELAXED);
    out->max_ns = __atomic_load_n(&h->max_ns, __ATOMIC_RELAXED);
}

void th_histogram_difference(const th_histogram *later, const th_histogram *earlier, th_histogram *out)
{
    assert(later && earlier && out);
    *out = (th_histogram){.sum_ns = later->sum_ns - earlier->sum_ns};
    for (uint32_t b = 0; b < TH_HISTOGRAM_BUCKETS; b++) {
        out->counts[b] = later->counts[b] - earlier->counts[b];
        out->total += out->counts[b];
        if (out->counts[b])
            out->max_ns = (uint64_t)bucket_begin_ns(b + 1);
    }
    if (out->max_ns > later->max_ns)
        out->max_ns = later->max_ns;
}

double th_histogram_quantile(const th_histogram *h, double part)
{
    assert(h && part > 0 && part <= 1);
    if (h->total == 0)
        return 0;
    const uint64_t rank = (uint64_t)fmax(1, ceil(part * (double)h->total));
    uint64_t before = 0;
    uint32_t b = 0;
    while (before + h->counts[b] < rank)
        before += h->counts[b++];
    const double begin = bucket_begin_ns(b), width = bucket_begin_ns(b + 1) - begin;
    return fmin(begin + width * (double)(rank - before) / (double)h->counts[b], (double)h->max_ns);
}

uint64_t th_histogram_below(const th_histogram *h, uint32_t octave)
{
    assert(h && octave <= TH_HISTOGRAM_OCTAVES);
    const uint32_t end = octave < TH_HISTOGRAM_OCTAVES ? bucket_of(1000ull << octave) : TH_HISTOGRAM_BUCKETS;
    uint64_t sum = 0;
    for (uint32_t b = 0; b < end; b++)
        sum += h->counts[b];
    return sum;
}

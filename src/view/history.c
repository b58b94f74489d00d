#include "history.h"

#include <throng/bench/stats.h>

#include <math.h>

#define SHORTEST_MS 0.001
#define RATIO       1.01

const char *th_frame_part_name(th_frame_part part)
{
    static const char *const names[] = {"evaluate", "wait", "draw", "present"};
    return names[part];
}

/* Bucket b counts times of at most SHORTEST_MS * RATIO^b. */
static uint32_t bucket_of(double ms)
{
    const double b = ceil(log(ms / SHORTEST_MS) / log(RATIO));
    return b > 0 ? (uint32_t)fmin(b, TH_HISTORY_BUCKETS - 1) : 0;
}

static double total(const th_history *h, uint32_t frame)
{
    double ms = 0;
    for (uint32_t part = 0; part < TH_FRAME_PARTS; part++)
        ms += (double)h->ms[part][frame];
    return ms;
}

void th_history_add(th_history *h, const float ms[TH_FRAME_PARTS])
{
    for (uint32_t part = 0; part < TH_FRAME_PARTS; part++) {
        h->ms[part][h->next] = ms[part];
        h->sum_ms[part] += (double)ms[part];
    }
    h->buckets[bucket_of(total(h, h->next))]++;
    h->next = (h->next + 1) % TH_HISTORY_FRAMES;
    h->count++;
}

static uint32_t kept(const th_history *h)
{
    return h->count < TH_HISTORY_FRAMES ? (uint32_t)h->count : TH_HISTORY_FRAMES;
}

double th_history_mean(const th_history *h, th_frame_part part)
{
    double sum = 0;
    for (uint32_t k = 0; k < kept(h); k++)
        sum += (double)h->ms[part][k];
    return h->count ? sum / kept(h) : 0;
}

double th_history_last(const th_history *h, double part)
{
    double totals[TH_HISTORY_FRAMES];
    const uint32_t count = kept(h);
    for (uint32_t k = 0; k < count; k++)
        totals[k] = total(h, k);
    return count ? th_quantile(totals, count, part) : 0;
}

double th_history_all(const th_history *h, double part)
{
    const double rank = part * (double)h->count;
    uint64_t passed = 0;
    for (uint32_t b = 0; b < TH_HISTORY_BUCKETS; b++) {
        passed += h->buckets[b];
        if (passed > 0 && (double)passed >= rank)
            return SHORTEST_MS * pow(RATIO, b);
    }
    return 0;
}

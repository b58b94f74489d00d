#include "history.h"

#include <bench/stats.h>

#include <assert.h>
#include <math.h>

#define MOST_NS 1e18 /* longer than a run */

const char *th_frame_part_name(th_frame_part part)
{
    assert(part < TH_FRAME_PARTS);
    static const char *const names[] = {"evaluate", "wait", "draw", "present"};
    return names[part];
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
    th_histogram_add(&h->all, (uint64_t)fmin(total(h, h->next) * 1e6, MOST_NS));
    h->next = (h->next + 1) % TH_HISTORY_FRAMES;
}

static uint32_t kept(const th_history *h)
{
    return h->all.total < TH_HISTORY_FRAMES ? (uint32_t)h->all.total : TH_HISTORY_FRAMES;
}

double th_history_mean(const th_history *h, th_frame_part part)
{
    assert(part < TH_FRAME_PARTS);
    double sum = 0;
    for (uint32_t k = 0; k < kept(h); k++)
        sum += (double)h->ms[part][k];
    return h->all.total ? sum / kept(h) : 0;
}

double th_history_last(const th_history *h, double part)
{
    assert(part > 0 && part <= 1);
    double totals[TH_HISTORY_FRAMES];
    const uint32_t count = kept(h);
    for (uint32_t k = 0; k < count; k++)
        totals[k] = total(h, k);
    return count ? th_quantile(totals, count, part) : 0;
}

double th_history_all(const th_history *h, double part)
{
    assert(part > 0 && part <= 1);
    return th_histogram_quantile(&h->all, part) * 1e-6;
}

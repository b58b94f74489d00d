#include "calibrated_work.h"

#include <core/clock.h>

#include <assert.h>
#include <stdlib.h>

/* A linear congruential generator (Knuth's MMIX constants). Each step depends on the one before and takes about four
 * cycles. */
uint64_t th_work_steps(uint64_t x, uint32_t steps)
{
    for (uint32_t i = 0; i < steps; i++)
        x = x * 6364136223846793005u + 1442695040888963407u;
    return x;
}

void th_work_do(const th_work *work, uint32_t begin, uint32_t end, uint64_t *sum)
{
    assert(work && sum);
    assert(begin <= end && end <= work->count);
    uint64_t total = *sum;
    for (uint32_t i = begin; i < end; i++)
        total += th_work_steps(i + 1 + (total & work->nothing), work->steps[i]);
    *sum = total;
}

/* The fastest of several tries: what makes a try slower is interference. */
double th_work_calibrate(void)
{
    enum { TRIES = 50, STEPS = 100000 };
    uint64_t least_ns = UINT64_MAX, x = 0;
    for (int i = 0; i < TRIES; i++) {
        const uint64_t start = th_clock_ns();
        x = th_work_steps(x, STEPS);
        const uint64_t ns = th_clock_ns() - start;
        least_ns = ns < least_ns ? ns : least_ns;
    }
    volatile uint64_t used = x;
    (void)used;
    return STEPS * 1000.0 / (double)least_ns;
}

static double cost_of(th_costs costs, uint32_t item, uint32_t count)
{
    const double place = (item + 0.5) / count;
    switch (costs) {
    case TH_COSTS_ASCENDING:
        return place;
    case TH_COSTS_DESCENDING:
        return 1 - place;
    case TH_COSTS_TAIL:
        return place < 15.0 / 16 ? 1 : 8;
    case TH_COSTS_RANDOM:
        return 1 / (1 - place * 15 / 16);
    case TH_COSTS_EVEN:
        break;
    }
    return 1;
}

th_work *th_work_create(uint32_t count, uint32_t item_ns, th_costs costs, double steps_per_us)
{
    assert(steps_per_us > 0);
    th_work *work = malloc(sizeof *work + count * sizeof *work->steps);
    if (!work)
        return NULL;
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += cost_of(costs, i, count);
    const double steps_per_cost = steps_per_us * item_ns / 1000 * count / sum;
    for (uint32_t i = 0; i < count; i++)
        work->steps[i] = (uint32_t)(cost_of(costs, i, count) * steps_per_cost + 0.5);
    uint64_t state = 1;
    for (uint32_t i = count; costs == TH_COSTS_RANDOM && i > 1; i--) { /* shuffles them */
        state = th_work_steps(state, 1);
        const uint32_t other = (uint32_t)((state >> 33) % i), last = work->steps[i - 1];
        work->steps[i - 1] = work->steps[other];
        work->steps[other] = last;
    }
    work->count = count;
    work->checksum = work->nothing = 0;
    th_work_do(work, 0, count, &work->checksum);
    return work;
}

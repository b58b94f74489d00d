#include <bench/validate_run.h>

#include <core/clock.h>

#include <assert.h>
#include <math.h>
#include <stdio.h>

/* Long enough for the clock, and few: the fastest is the floor. */
enum { FILLS = 7, FILLED_BYTES = 1 << 20 };

/* What the clock of the core may have gained since the fills. */
#define NOISE 0.1

static double fill_ns(const th_crowd *crowd, void *palette)
{
    const uint32_t times = (uint32_t)(FILLED_BYTES / (th_crowd_palette_bytes(crowd) + 1)) + 1;
    double least = HUGE_VAL;
    for (int i = 0; i < FILLS; i++) {
        const uint64_t begin = th_clock_ns();
        for (uint32_t t = 0; t < times; t++)
            th_crowd_fill(crowd, 0, th_crowd_batch_count(crowd), (float)t, palette);
        least = fmin(least, (double)(th_clock_ns() - begin) / times);
    }
    return least;
}

void th_validate_floor(th_crowd *crowd, void *palette, th_row *row)
{
    assert(crowd && palette && row && row->threads > 0);
    const th_writes writes = th_crowd_writes(crowd);
    if (row->failure[0] || row->real_ns.count == 0)
        return;
    double floor_ns = HUGE_VAL;
    for (int way = 0; way < 2; way++) {
        th_crowd_set_writes(crowd, way ? TH_WRITES_STREAMED : TH_WRITES_CACHED);
        floor_ns = fmin(floor_ns, fill_ns(crowd, palette) / row->threads);
    }
    th_crowd_set_writes(crowd, writes);
    const double high_ns = th_median_interval(&row->real_ns).high;
    if (high_ns < floor_ns * (1 - NOISE))
        snprintf(row->failure, sizeof row->failure,
                 "a frame takes %.3g us, but writing its palettes and nothing else takes %.3g us: it cannot have posed "
                 "all of them",
                 high_ns / 1e3, floor_ns / 1e3);
}

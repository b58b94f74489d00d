#include "scale_figures.h"

#include "worker_counters.h"

#include <assert.h>
#include <math.h>

double th_scale_frames(const th_scale_counts *c)
{
    return (double)c->iterations * c->frame_ns->count;
}

double th_scale_work_ns(const th_scale_counts *c)
{
    return (double)th_workers_total(c->workers, c->threads).busy_ns / th_scale_frames(c);
}

static double wall_ns(const th_scale_counts *c)
{
    double sum = 0;
    for (uint32_t r = 0; r < c->frame_ns->count; r++)
        sum += c->frame_ns->values[r] * c->iterations;
    return sum;
}

static double imbalance(const th_scale_counts *c)
{
    double most = 0, sum = 0;
    for (uint32_t w = 0; w < c->threads; w++) {
        const double busy = (double)c->workers[w].busy_ns;
        most = fmax(most, busy);
        sum += busy;
    }
    return sum > 0 ? most * c->threads / sum - 1 : 0;
}

th_scale_point th_scale_point_of(const th_scale_counts *c, const th_scale_counts *first, uint32_t usable_cpus)
{
    assert(c->threads > 0 && first->threads > 0 && usable_cpus > 0);
    const double ratio = (double)c->threads / first->threads;
    const double growth = (double)c->characters / (double)first->characters;
    const th_stats frame = th_samples_stats(c->frame_ns);
    const th_worker_stats total = th_workers_total(c->workers, c->threads);
    const double in_calls = (double)(total.busy_ns + total.idle_ns);
    th_scale_point point = {
        .threads = c->threads,
        .characters = (uint32_t)c->characters,
        .oversubscribed = c->threads > usable_cpus,
        .frame_ns = frame.median,
        .relative_mad = th_stats_relative_mad(&frame),
        .speed_up = growth * th_samples_stats(first->frame_ns).median / frame.median,
        .busy = (double)total.busy_ns / in_calls,
        .idle_at_end = (double)total.idle_at_end_ns / in_calls,
        .serial = fmax(0, 1 - in_calls / c->threads / wall_ns(c)),
        .imbalance = imbalance(c),
        .work_ns = th_scale_work_ns(c),
    };
    point.efficiency = point.speed_up / ratio;
    point.karp_flatt = growth == 1 ? th_fit_karp_flatt(point.speed_up, ratio) : (double)NAN;
    return point;
}

double th_scale_bytes_per_s(uint64_t bytes, const th_samples *pass_ns)
{
    return (double)bytes / th_samples_stats(pass_ns).median * 1e9;
}

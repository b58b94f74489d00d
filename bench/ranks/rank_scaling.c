#include <bench/rank_scaling.h>

#include "scaling/scale_figures.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

uint32_t th_rank_counts(uint32_t ranks, uint32_t out[TH_RANKS_MAX])
{
    assert(ranks > 0 && ranks <= TH_RANKS_MAX && out);
    uint32_t count = 0;
    for (uint32_t r = 1; r < ranks; r = ranks <= 8 ? r + 1 : 2 * r)
        out[count++] = r;
    out[count++] = ranks;
    return count;
}

static bool init_point(th_rank_point *point, uint32_t ranks, uint32_t frames)
{
    point->ranks = ranks;
    point->shares = calloc(ranks, sizeof *point->shares);
    point->poses_ns = calloc((size_t)ranks * frames, sizeof *point->poses_ns);
    bool has_room = point->shares && point->poses_ns;
    for (int s = 0; s < TH_RANK_STAGE_COUNT; s++)
        has_room = th_samples_init(&point->stages[s], frames) && has_room;
    return has_room;
}

th_result th_rank_scaling_init(th_rank_scaling *s, const uint32_t *counts, th_error *err)
{
    assert(s && counts && s->point_count > 0 && s->ranks > 0 && s->ranks <= TH_RANKS_MAX && s->rounds * s->frames > 0);
    if (th_report_init(&s->report, 0, 0, err) != TH_OK)
        return TH_ERR_MEMORY;
    s->points = calloc(s->point_count, sizeof *s->points);
    s->hosts = calloc(s->ranks, sizeof *s->hosts);
    bool has_room = s->points && s->hosts;
    for (uint32_t p = 0; has_room && p < s->point_count; p++)
        has_room = init_point(&s->points[p], counts[p], s->rounds * s->frames);
    return has_room ? TH_OK : th_fail(err, TH_ERR_MEMORY, "no memory for the frames of %u ranks", s->ranks);
}

void th_rank_scaling_fini(th_rank_scaling *s)
{
    for (uint32_t p = 0; s->points && p < s->point_count; p++) {
        for (int stage = 0; stage < TH_RANK_STAGE_COUNT; stage++)
            th_samples_fini(&s->points[p].stages[stage]);
        free(s->points[p].poses_ns);
        free(s->points[p].shares);
    }
    free(s->points);
    free(s->hosts);
    th_report_fini(&s->report);
    *s = (th_rank_scaling){0};
}

void th_rank_scaling_describe(th_rank_scaling *s, const th_scene *scene, const th_scene_desc *desc, uint32_t characters)
{
    assert(s && scene && desc && !s->report.scene);
    th_scene_desc all = *desc;
    all.instance_count = characters;
    s->report.scene = th_scene_json(scene, &all);
}

/* ---- figures ---- */

static void set_shares(th_rank_point *point, uint32_t frames, th_samples *samples)
{
    for (uint32_t r = 0; r < point->ranks; r++) {
        samples->count = 0;
        for (uint32_t f = 0; f < frames; f++)
            th_samples_add(samples, point->poses_ns[(size_t)f * point->ranks + r]);
        const th_stats stats = th_samples_stats(samples);
        th_rank_share *share = &point->shares[r];
        share->mean_ns = stats.mean;
        share->median_ns = stats.median;
        share->p99_ns = stats.p99;
        share->max_ns = stats.max;
    }
}

/* Where another rank is the slowest in each frame, frames are slower than any rank. */
static double slowest_of(const th_rank_point *point, uint32_t frames, th_samples *samples)
{
    samples->count = 0;
    for (uint32_t f = 0; f < frames; f++) {
        double most = 0;
        for (uint32_t r = 0; r < point->ranks; r++)
            most = fmax(most, point->poses_ns[(size_t)f * point->ranks + r]);
        th_samples_add(samples, most);
    }
    return th_samples_stats(samples).median;
}

/* The factors of POP with ranks for workers: useful time is poses, and what the same barrier takes without them is
 * waiting for messages. */
static th_scale_counts counts_of(const th_rank_point *p, th_worker_stats *workers)
{
    const double frame_ns = th_samples_stats(&p->stages[TH_RANK_POSES]).mean;
    const th_samples *barriers = &p->stages[TH_RANK_BARE_BARRIER];
    const double barrier_ns = barriers->count > 0 ? th_samples_stats(barriers).median : 0;
    for (uint32_t r = 0; r < p->ranks; r++) {
        const double idle_ns = fmax(0, frame_ns - p->shares[r].mean_ns);
        workers[r] = (th_worker_stats){.busy_ns = (uint64_t)p->shares[r].mean_ns,
                                       .idle_ns = (uint64_t)idle_ns,
                                       .idle_at_end_ns = (uint64_t)fmax(0, idle_ns - barrier_ns)};
    }
    return (th_scale_counts){.workers = workers,
                             .iterations = 1,
                             .threads = p->ranks,
                             .characters = p->characters,
                             .busiest = th_workers_busiest(workers, p->ranks)};
}

/* The frame's time as the counters have it, without what is lost to whole nanoseconds. */
static double time_of(const th_worker_stats *worker)
{
    return (double)(worker->busy_ns + worker->idle_ns);
}

static th_pop pop_of(const th_rank_point *p, const th_rank_point *first)
{
    static th_worker_stats workers[TH_RANKS_MAX], base[TH_RANKS_MAX];
    th_scale_counts counts = counts_of(p, workers), of_first = counts_of(first, base);
    double times[2][6] = {{time_of(workers)}, {time_of(base)}};
    const th_samples frame = {times[0], 1, 1}, first_frame = {times[1], 1, 1};
    counts.frame_ns = &frame;
    of_first.frame_ns = &first_frame;
    th_pop pop = th_pop_of(&counts, &of_first);
    if (p->stages[TH_RANK_BARE_BARRIER].count == 0) /* then waits and messages cannot be told apart */
        pop.values[TH_POP_SERIALISATION] = pop.values[TH_POP_TRANSFER] = (double)NAN;
    return pop;
}

static void analyze(const th_rank_scaling *s, th_rank_point *p, uint32_t frames, th_samples *samples)
{
    const th_rank_point *first = &s->points[0];
    for (int stage = 0; stage < TH_RANK_STAGE_COUNT; stage++)
        p->stages[stage].count = p->stages[stage].count < frames ? p->stages[stage].count : frames;
    const th_stats times = th_samples_stats(&p->stages[TH_RANK_POSES]);
    set_shares(p, frames, samples);
    p->slowest_ns = slowest_of(p, frames, samples);
    p->frame_ns = times.median;
    p->p99_ns = times.p99;
    p->bones_per_s = (double)p->bones / p->frame_ns * 1e9;
    p->grind_ns = p->frame_ns * p->ranks * s->threads / (double)p->bones;
    p->speed_up = (p->characters / p->frame_ns) / (first->characters / first->frame_ns);
    p->efficiency = p->speed_up * first->ranks / p->ranks;
    p->pop = pop_of(p, first);
}

bool th_rank_scaling_analyze(th_rank_scaling *s)
{
    assert(s && s->rounds_done <= s->rounds);
    const uint32_t frames = s->rounds_done * s->frames;
    th_samples samples;
    if (!th_samples_init(&samples, frames + 1))
        return false;
    for (uint32_t i = 0; i < s->point_count && frames > 0; i++)
        analyze(s, &s->points[i], frames, &samples);
    th_samples_fini(&samples);
    return true;
}

bool th_rank_scaling_misses_budget(const th_rank_scaling *s)
{
    assert(s);
    return s->budget_ns > 0 && s->rounds_done > 0 && s->points[s->point_count - 1].p99_ns > s->budget_ns;
}

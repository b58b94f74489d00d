#include <bench/rank_scaling.h>

#include "scaling/scale_figures.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

uint32_t th_rank_counts(uint32_t ranks, uint32_t out[TH_RANKS_MAX])
{
    assert(ranks > 0 && ranks <= TH_RANKS_MAX && out);
    uint32_t count = 0;
    for (uint32_t r = 1; r < ranks; r = ranks <= 8 ? r + 1 : 2 * r)
        out[count++] = r;
    out[count++] = ranks;
    return count;
}

void th_rank_split(const th_spawn *instances, uint32_t count, const uint32_t *costs, uint32_t ranks, uint32_t *bounds)
{
    assert((instances || count == 0) && costs && ranks > 0 && bounds);
    uint64_t total = 0, before = 0;
    uint32_t rank = 1;
    for (uint32_t i = 0; i < count; i++)
        total += costs[instances[i].model];
    bounds[0] = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t cost = costs[instances[i].model];
        /* A block ends before the character whose middle lies beyond the block's part of the cost. */
        while (rank < ranks && (2 * before + cost) * ranks > 2 * total * rank)
            bounds[rank++] = i;
        before += cost;
    }
    while (rank <= ranks)
        bounds[rank++] = count;
}

th_result th_rank_scaling_init(th_rank_scaling *s, const uint32_t *counts, th_error *err)
{
    assert(s && counts && s->point_count > 0 && s->ranks > 0 && s->ranks <= TH_RANKS_MAX && s->rounds * s->frames > 0);
    if (th_report_init(&s->report, 0, 0, err) != TH_OK)
        return TH_ERR_MEMORY;
    const uint32_t frames = s->rounds * s->frames;
    s->arena = th_arena_create();
    s->points = th_arena_new(s->arena, th_rank_point, s->point_count);
    s->hosts = th_arena_alloc(s->arena, s->ranks, sizeof *s->hosts);
    bool has_room = s->points;
    for (uint32_t p = 0; has_room && p < s->point_count; p++) {
        th_rank_point *point = &s->points[p];
        point->ranks = counts[p];
        point->shares = th_arena_new(s->arena, th_rank_share, counts[p]);
        point->poses_ns = th_arena_new(s->arena, double, (size_t)counts[p] * frames);
        for (int stage = 0; stage < TH_RANK_STAGE_COUNT; stage++)
            has_room = th_samples_init(&point->stages[stage], frames) && has_room;
    }
    has_room = has_room && !th_arena_failed(s->arena);
    return has_room ? TH_OK : th_fail(err, TH_ERR_MEMORY, "no memory for the frames of %u ranks", s->ranks);
}

void th_rank_scaling_fini(th_rank_scaling *s)
{
    for (uint32_t p = 0; s->points && p < s->point_count; p++)
        for (int stage = 0; stage < TH_RANK_STAGE_COUNT; stage++)
            th_samples_fini(&s->points[p].stages[stage]);
    th_arena_destroy(s->arena);
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
    for (uint32_t r = 0; r < p->ranks; r++) {
        samples->count = 0;
        for (uint32_t f = 0; f < frames; f++)
            th_samples_add(samples, p->poses_ns[(size_t)f * p->ranks + r]);
        const th_stats stats = th_samples_stats(samples);
        th_rank_share *share = &p->shares[r];
        share->mean_ns = stats.mean;
        share->median_ns = stats.median;
        share->p99_ns = stats.p99;
        share->max_ns = stats.max;
    }
    /* Where another rank is the slowest in each frame, frames are slower than any rank. */
    samples->count = 0;
    for (uint32_t f = 0; f < frames; f++) {
        double most = 0;
        for (uint32_t r = 0; r < p->ranks; r++)
            most = fmax(most, p->poses_ns[(size_t)f * p->ranks + r]);
        th_samples_add(samples, most);
    }
    p->slowest_ns = th_samples_stats(samples).median;
    p->frame_ns = times.median;
    p->p99_ns = times.p99;
    p->bones_per_s = (double)p->bones / p->frame_ns * 1e9;
    p->grind_ns = p->frame_ns * p->ranks * s->threads / (double)p->bones;
    p->speed_up = (p->characters / p->frame_ns) / (first->characters / first->frame_ns);
    p->efficiency = p->speed_up * first->ranks / p->ranks;
    p->pop = pop_of(p, first);
    if (p->efficiency > TH_REPORT_MAX_EFFICIENCY) /* it cannot be: the first point was disturbed */
        p->speed_up = p->efficiency = p->pop.values[TH_POP_COMPUTATION] = (double)NAN;
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

#include "scaling_config.h"

#include "worker_counters.h"

#include <bench/interference.h>
#include <core/clock.h>
#include <core/json.h>

#include <assert.h>
#include <stdlib.h>

/* ---- creating ---- */

static th_result count_workers(th_scaling_config *l, th_error *err)
{
    const uint32_t threads = th_jobs_threads(l->jobs);
    assert(l->round_capacity > 0);
    l->sums = calloc(threads, sizeof *l->sums);
    l->rounds = calloc(l->round_capacity, th_jobs_threads(l->jobs) * sizeof *l->rounds);
    return l->sums && l->rounds ? TH_OK
                                : th_fail(err, TH_ERR_MEMORY, "no memory for the counters of %u threads", threads);
}

th_result th_scaling_config_whole(th_scaling_config *l, const th_frame_desc *desc, th_error *err)
{
    const th_result result = count_workers(l, err);
    return result == TH_OK ? th_frame_create(desc, &l->frame, err) : result;
}

th_result th_scaling_config_part(th_scaling_config *l, const th_ablated_frame_desc *desc, th_error *err)
{
    const th_result result = count_workers(l, err);
    return result == TH_OK ? th_ablated_frame_create(desc, &l->ablated, err) : result;
}

void th_scaling_config_fini(th_scaling_config *l)
{
    th_frame_destroy(l->frame);
    th_ablated_frame_destroy(l->ablated);
    json_decref(l->counters_json);
    free(l->sums);
    free(l->rounds);
}

/* ---- running ---- */

static double time_of(uint64_t frame)
{
    return (double)frame / TH_FRAME_RATE;
}

void th_scaling_config_plan(th_scaling_config *l, uint64_t frame)
{
    if (l->shared)
        th_shared_crowd_plan(l->shared, l->jobs, time_of(frame));
}

void th_scaling_config_pose(th_scaling_config *l, uint64_t frame)
{
    if (l->frame)
        th_frame_animate(l->frame, time_of(frame), l->palette);
    else
        th_ablated_frame_run(l->ablated, time_of(frame), l->palette);
}

void th_scaling_config_run(void *config, uint64_t frame)
{
    th_scaling_config_plan(config, frame);
    th_scaling_config_pose(config, frame);
}

void th_scaling_config_begin(void *config)
{
    th_scaling_config *l = config;
    if (l->waits_quiescent)
        th_wait_quiescent();
    th_jobs_frame_begin(l->jobs);
    th_scaling_config_run(l, 0);
    th_jobs_stats_reset(l->jobs);
}

void th_scaling_config_end(void *config)
{
    th_scaling_config *l = config;
    assert(l->round_count < l->round_capacity);
    th_workers_add(l->jobs, l->sums);
    th_workers_add(l->jobs, &l->rounds[(size_t)l->round_count++ * th_jobs_threads(l->jobs)]);
    th_jobs_frame_end(l->jobs);
}

/* ---- counting ---- */

bool th_scaling_config_count(th_scaling_config *l, th_worker_counts *counts)
{
    const th_counted_frames frames = {counts, l->frame, th_scaling_config_run, l};
    assert(l->frame && !l->counters_json);
    if (l->waits_quiescent)
        th_wait_quiescent();
    th_jobs_frame_begin(l->jobs);
    th_counted_frames_run(&frames, &l->counters, &l->counters_json);
    th_jobs_frame_end(l->jobs);
    return l->counters_json != NULL;
}

/* ---- tracing ---- */

void th_scaling_config_trace(th_scaling_config *l, const th_row *row, th_tracer *tracer)
{
    if (l->waits_quiescent)
        th_wait_quiescent();
    th_jobs_frame_begin(l->jobs);
    th_scaling_config_run(l, 0);
    th_trace_frames(tracer, row, l->jobs, th_scaling_config_run, l);
    th_jobs_frame_end(l->jobs);
}

/* ---- results ---- */

th_scale_counts th_scaling_config_counts(const th_scaling_config *l, const th_row *row)
{
    return (th_scale_counts){.workers = l->sums,
                             .frame_ns = &row->real_ns,
                             .iterations = row->iterations,
                             .threads = row->threads,
                             .characters = row->characters,
                             .core_clock_ns = &row->core_clock_ns,
                             .counters = l->counters_json ? &l->counters : NULL,
                             .busiest = th_workers_busiest(l->sums, row->threads)};
}

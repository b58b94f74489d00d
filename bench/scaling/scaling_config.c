#include "scaling_config.h"

#include "measure/package_energy.h"
#include "measure/trace_frames.h"
#include "measure/wait_quiescent.h"
#include "worker_counters.h"

#include <throng/core/clock.h>
#include <throng/core/json.h>

#include <assert.h>
#include <stdlib.h>

/* Long enough for the energy counters, which change once a millisecond. */
enum { COUNTED_NS = 50000000, LEAST_COUNTED_FRAMES = 16 };

/* ---- creating ---- */

static th_result count_workers(th_scaling_config *l, th_error *err)
{
    const uint32_t threads = th_jobs_threads(l->jobs);
    assert(l->round_capacity > 0);
    l->sums = calloc(threads, sizeof *l->sums);
    l->rounds = calloc(l->round_capacity, sizeof *l->rounds);
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

static th_stage_times stages_of(const th_scaling_config *l)
{
    return l->frame ? th_frame_stage_times(l->frame) : (th_stage_times){0};
}

void th_scaling_config_begin(void *config)
{
    th_scaling_config *l = config;
    if (l->waits_quiescent)
        th_wait_quiescent();
    th_jobs_frame_begin(l->jobs);
    th_scaling_config_run(l, 0);
    l->before = stages_of(l);
    th_jobs_stats_reset(l->jobs);
}

void th_scaling_config_end(void *config)
{
    th_scaling_config *l = config;
    const th_stage_times now = stages_of(l);
    l->stages.sample_ns += now.sample_ns - l->before.sample_ns;
    l->stages.resolve_ns += now.resolve_ns - l->before.resolve_ns;
    assert(l->round_count < l->round_capacity);
    th_workers_add(l->jobs, l->sums);
    th_workers_add_total(l->jobs, &l->rounds[l->round_count++]);
    th_jobs_frame_end(l->jobs);
}

/* ---- counting ---- */

static th_counters per_frame(th_counters sums, uint64_t frames)
{
    for (int i = 0; i < TH_COUNTER_COUNT; i++)
        sums.values[i] /= (double)frames;
    return sums;
}

static json_t *by_worker_json(const th_chunk_counters *counters, uint32_t threads, uint64_t frames)
{
    json_t *array = json_array();
    for (uint32_t w = 0; w < threads; w++)
        for (int s = 0; s < TH_FRAME_STAGE_COUNT; s++) {
            const th_frame_stage stage = (th_frame_stage)s;
            const th_counters c = per_frame(th_chunk_counters_get(counters, w, stage), frames);
            json_t *json = json_pack("{s:i, s:s}", "worker", (int)w, "stage", th_frame_stage_name(stage));
            for (int i = 0; i < TH_COUNTER_ENERGY_J; i++)
                json = th_json_set(json, th_counter_name((th_counter)i), th_json_real(c.values[i]));
            if (c.values[TH_COUNTER_CPU_NS] > 0) /* the worker had chunks of the stage */
                array = th_json_append(array, json);
            else
                json_decref(json);
        }
    return array;
}

/* The first frame opens the counters. */
bool th_scaling_config_count(th_scaling_config *l, th_chunk_counters *counters)
{
    const th_frame_observer observer = th_chunk_counters_observer(counters);
    uint64_t frames = 0;
    assert(l->frame && !l->counters_json);
    if (l->waits_quiescent)
        th_wait_quiescent();
    th_jobs_frame_begin(l->jobs);
    th_frame_observe(l->frame, &observer);
    th_scaling_config_run(l, 0);
    th_chunk_counters_reset(counters);
    const th_energy_mark before = th_energy_read(TH_POWERCAP);
    const uint64_t begin_ns = th_clock_ns();
    while (frames < LEAST_COUNTED_FRAMES || th_clock_ns() - begin_ns < COUNTED_NS)
        th_scaling_config_run(l, ++frames);
    const th_energy_mark after = th_energy_read(TH_POWERCAP);
    th_frame_observe(l->frame, NULL);
    th_jobs_frame_end(l->jobs);
    th_counters sums = th_chunk_counters_get(counters, TH_NO_INDEX, TH_FRAME_STAGE_COUNT);
    sums.values[TH_COUNTER_ENERGY_J] = th_energy_between(&before, &after);
    l->counters = per_frame(sums, frames);
    l->counters_json = by_worker_json(counters, th_jobs_threads(l->jobs), frames);
    return l->counters_json != NULL;
}

/* ---- tracing ---- */

typedef struct traced {
    th_scaling_config *config;
    th_tracer *tracer;
    th_chunk_counters *counters; /* NULL: none */
} traced;

static void run_traced(void *ctx, uint64_t frame)
{
    const traced *t = ctx;
    if (t->counters)
        th_chunk_counters_reset(t->counters);
    th_scaling_config_run(t->config, frame);
    const th_counters c =
        t->counters ? th_chunk_counters_get(t->counters, TH_NO_INDEX, TH_FRAME_STAGE_COUNT) : (th_counters){{0}};
    for (int i = 0; t->counters && i < TH_COUNTER_COUNT; i++)
        th_tracer_count(t->tracer, th_counter_name((th_counter)i), c.values[i]);
}

void th_scaling_config_trace(th_scaling_config *l, const th_row *row, th_tracer *tracer, th_chunk_counters *counters)
{
    traced t = {l, tracer, l->frame ? counters : NULL};
    if (l->waits_quiescent)
        th_wait_quiescent();
    th_jobs_frame_begin(l->jobs);
    th_scaling_config_run(l, 0);
    if (t.counters) {
        const th_frame_observer observer = th_chunk_counters_observer(counters);
        th_frame_observe(l->frame, &observer);
    }
    if (l->frame)
        th_frame_trace(l->frame, tracer);
    th_trace_frames(tracer, row, l->jobs, run_traced, &t);
    if (l->frame) {
        th_frame_trace(l->frame, NULL);
        th_frame_observe(l->frame, NULL);
    }
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
                             .counters = l->counters_json ? &l->counters : NULL};
}

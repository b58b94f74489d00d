#include "ablation.h"

#include <core/cache_line.h>

#include <assert.h>
#include <stdlib.h>

const char *th_ablation_name(th_ablation ablation)
{
    assert(ablation < TH_ABLATION_COUNT);
    static const char *const names[] = {"no_palette_write", "no_hierarchy", "sampling", "write", "empty"};
    _Static_assert(sizeof names / sizeof *names == TH_ABLATION_COUNT, "a name for each");
    return names[ablation];
}

/* ---- batch crowds ---- */

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

th_result th_batch_crowds_init(th_batch_crowds *batch_crowds, const th_scene *scene, const th_crowd *whole,
                               th_error *err)
{
    enum { BATCH = 16 };
    th_batch_crowds *p = batch_crowds;
    const uint32_t count = th_crowd_batch_count(whole);
    *p = (th_batch_crowds){.crowds = calloc((size_t)count + 1, sizeof *p->crowds)};
    th_spawn *of_model = calloc((size_t)scene->instance_count + 1, sizeof *of_model);
    th_result result = TH_OK;
    if (!p->crowds || !of_model)
        result = th_fail(err, TH_ERR_MEMORY, "no memory for %u batch_crowds of a crowd", count);

    /* The instances of a compiled model are consecutive in the whole crowd, BATCH of them to a batch; a last one of
     * fewer is part of that before. */
    for (uint32_t model = 0; model < scene->compiled_model_count && result == TH_OK; model++) {
        uint32_t instances = 0;
        for (uint32_t i = 0; i < scene->instance_count; i++)
            if (scene->instances[i].model == model)
                of_model[instances++] = scene->instances[i];
        for (uint32_t first = 0, size; first < instances && result == TH_OK; first += size) {
            size = instances - first < 2 * BATCH ? instances - first : BATCH;
            const th_crowd_desc desc = {
                .compiled_models = scene->compiled_models,
                .compiled_model_count = scene->compiled_model_count,
                .isa = th_crowd_isa(whole),
                .format = th_crowd_format(whole),
            };
            result = th_crowd_create_with(&desc, of_model + first, size, &p->crowds[p->count], err);
            if (result != TH_OK)
                break;
            const th_crowd *batch_crowd = p->crowds[p->count++];
            assert(th_crowd_batch_count(batch_crowd) == 1);
            p->palette_bytes = larger(p->palette_bytes, th_crowd_palette_bytes(batch_crowd));
            p->pose_bytes = larger(p->pose_bytes, th_crowd_pose_bytes(batch_crowd));
            p->scratch_bytes = larger(p->scratch_bytes, th_crowd_scratch_bytes(batch_crowd));
        }
    }
    free(of_model);
    assert(result != TH_OK || p->count == count);
    return result;
}

void th_batch_crowds_fini(th_batch_crowds *batch_crowds)
{
    for (uint32_t i = 0; i < batch_crowds->count; i++)
        th_crowd_destroy(batch_crowds->crowds[i]);
    free(batch_crowds->crowds);
    *batch_crowds = (th_batch_crowds){0};
}

/* ---- chunks ---- */

struct th_ablated_frame {
    th_ablated_frame_desc desc;
    double time_s; /* arguments of this frame, read by the workers */
    void *palette;
    size_t stride, output_bytes; /* of a worker's memory; and the part for output that is not written out */
    unsigned char *memory;       /* of all workers: for each, output, then scratch */
    uint32_t partition[];        /* [threads] */
};

static void *output_of(const th_ablated_frame *a, uint32_t worker)
{
    return a->memory + worker * a->stride;
}

static void sample(const th_ablated_frame *a, uint32_t batch, uint32_t worker)
{
    th_crowd_sample(a->desc.batch_crowds->crowds[batch], 0, 1, a->time_s, output_of(a, worker));
}

static int pose_unwritten(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    const th_ablated_frame *a = ctx;
    unsigned char *output = output_of(a, worker);
    for (uint32_t i = begin; i < end; i++)
        th_crowd_pose(a->desc.batch_crowds->crowds[i], 0, 1, a->time_s, output, output + a->output_bytes);
    return 0;
}

static int sample_and_fill(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    const th_ablated_frame *a = ctx;
    for (uint32_t i = begin; i < end; i++) {
        sample(a, i, worker);
        th_crowd_fill(a->desc.crowd, i, i + 1, (float)a->time_s, a->palette);
    }
    return 0;
}

static int sample_only(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    for (uint32_t i = begin; i < end; i++)
        sample(ctx, i, worker);
    return 0;
}

static int fill_only(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    const th_ablated_frame *a = ctx;
    (void)worker;
    th_crowd_fill(a->desc.crowd, begin, end, (float)a->time_s, a->palette);
    return 0;
}

static int do_nothing(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    (void)begin, (void)end, (void)worker, (void)ctx;
    return 0;
}

/* ---- frames ---- */

th_result th_ablated_frame_create(const th_ablated_frame_desc *desc, th_ablated_frame **out, th_error *err)
{
    assert(desc->crowd && desc->batch_crowds && desc->jobs && out);
    assert(desc->ablation < TH_ABLATION_COUNT);
    const th_batch_crowds *p = desc->batch_crowds;
    const uint32_t threads = th_jobs_threads(desc->jobs), count = p->count;
    uint32_t *costs = calloc((size_t)count + 1, sizeof *costs);
    th_ablated_frame *a = *out = calloc(1, sizeof *a + threads * sizeof *a->partition);
    if (!a || !costs) {
        free(costs);
        return th_fail(err, TH_ERR_MEMORY, "no memory for a part of a frame on %u threads", threads);
    }
    a->desc = *desc;
    a->output_bytes = th_cache_line_round(larger(p->palette_bytes, p->pose_bytes));
    a->stride = a->output_bytes + th_cache_line_round(p->scratch_bytes);
    a->memory = th_cache_line_alloc(threads * a->stride);
    for (uint32_t i = 0; i < count; i++)
        costs[i] = th_crowd_batch_cost(desc->crowd, i);
    th_jobs_partition(threads, count, desc->grain, costs, a->partition);
    free(costs);
    return a->memory ? TH_OK : th_fail(err, TH_ERR_MEMORY, "no memory for a part of a frame on %u threads", threads);
}

void th_ablated_frame_destroy(th_ablated_frame *ablated)
{
    if (!ablated)
        return;
    free(ablated->memory);
    free(ablated);
}

void th_ablated_frame_run(th_ablated_frame *ablated, double time_s, void *palette)
{
    static th_jobs_fn *const parts[] = {pose_unwritten, sample_and_fill, sample_only, fill_only, do_nothing};
    _Static_assert(sizeof parts / sizeof *parts == TH_ABLATION_COUNT, "a function for each");
    ablated->time_s = time_s;
    ablated->palette = palette;
    const th_job job = {
        .fn = parts[ablated->desc.ablation],
        .ctx = ablated,
        .count = ablated->desc.batch_crowds->count,
        .grain = ablated->desc.grain,
        .partition = ablated->partition,
    };
    th_jobs_run(ablated->desc.jobs, &job);
}

const void *th_ablated_frame_output(const th_ablated_frame *ablated)
{
    return output_of(ablated, 0);
}

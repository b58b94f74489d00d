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

/* ---- chunks ---- */

struct th_ablated_frame {
    th_ablated_frame_desc desc;
    double time_s; /* arguments of this frame, read by the workers */
    void *palette;
    size_t stride, palettes_bytes; /* of a worker's memory; and of the palettes of a batch there, before the scratch */
    unsigned char *memory;
    uint32_t partition[]; /* [threads] */
};

static int pose_unwritten(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    const th_ablated_frame *a = ctx;
    unsigned char *palettes = a->memory + worker * a->stride;
    for (uint32_t i = begin; i < end; i++)
        th_crowd_pose_apart(a->desc.crowd, i, a->time_s, palettes, palettes + a->palettes_bytes);
    return 0;
}

static int sample_only(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    const th_ablated_frame *a = ctx;
    th_crowd_sample(a->desc.crowd, begin, end, a->time_s, a->memory + worker * a->stride + a->palettes_bytes);
    return 0;
}

static int fill_only(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    const th_ablated_frame *a = ctx;
    (void)worker;
    th_crowd_fill(a->desc.crowd, begin, end, (float)a->time_s, a->palette);
    return 0;
}

/* Batch by batch, as a frame does it. */
static int sample_and_fill(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    for (uint32_t i = begin; i < end; i++) {
        sample_only(i, i + 1, worker, ctx);
        fill_only(i, i + 1, worker, ctx);
    }
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
    assert(desc->crowd && desc->jobs && out);
    assert(desc->ablation < TH_ABLATION_COUNT);
    const uint32_t threads = th_jobs_threads(desc->jobs), count = th_crowd_batch_count(desc->crowd);
    uint32_t *costs = calloc((size_t)count + 1, sizeof *costs);
    th_ablated_frame *a = *out = calloc(1, sizeof *a + threads * sizeof *a->partition);
    if (!a || !costs) {
        free(costs);
        return th_fail(err, TH_ERR_MEMORY, "no memory for a part of a frame on %u threads", threads);
    }
    a->desc = *desc;
    a->palettes_bytes = th_crowd_batch_bytes(desc->crowd);
    a->stride = a->palettes_bytes + th_cache_line_round(th_crowd_scratch_bytes(desc->crowd));
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
        .count = th_crowd_batch_count(ablated->desc.crowd),
        .grain = ablated->desc.grain,
        .partition = ablated->partition,
    };
    th_jobs_run(ablated->desc.jobs, &job);
}

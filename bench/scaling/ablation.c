#include "ablation.h"

#include <throng/core/cache_line.h>

#include <assert.h>
#include <stdlib.h>

const char *th_ablation_name(th_ablation ablation)
{
    static const char *const names[] = {"no_palette_write", "no_hierarchy", "sampling", "write", "empty"};
    _Static_assert(sizeof names / sizeof *names == TH_ABLATION_COUNT, "a name for each");
    return names[ablation];
}

/* ---- pieces ---- */

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static th_result cut(th_pieces *p, const th_scene *scene, const th_crowd *whole, const th_instance *instances,
                     uint32_t count, th_error *err)
{
    const th_crowd_desc desc = {
        .rigs = scene->rigs,
        .rig_count = scene->rig_count,
        .instances = instances,
        .instance_count = count,
        .isa = th_crowd_isa(whole),
        .palette = th_crowd_palette(whole),
    };
    const th_result result = th_crowd_create(&desc, &p->crowds[p->count], err);
    if (result != TH_OK)
        return result;
    const th_crowd *piece = p->crowds[p->count++];
    assert(th_crowd_batch_count(piece) == 1);
    p->palette_bytes = larger(p->palette_bytes, th_crowd_palette_bytes(piece));
    p->pose_bytes = larger(p->pose_bytes, th_crowd_pose_bytes(piece));
    p->scratch_bytes = larger(p->scratch_bytes, th_crowd_scratch_bytes(piece));
    return TH_OK;
}

/* The instances of a rig follow each other in the whole crowd, as many to a batch as th_crowd_batch_count says. */
static th_result cut_rig(th_pieces *p, const th_scene *scene, const th_crowd *whole, uint32_t rig, th_instance *of_rig,
                         th_error *err)
{
    enum { BATCH = 16 };
    uint32_t count = 0;
    th_result result = TH_OK;
    for (uint32_t i = 0; i < scene->instance_count; i++)
        if (scene->instances[i].rig == rig)
            of_rig[count++] = scene->instances[i];
    for (uint32_t first = 0, size; first < count && result == TH_OK; first += size) {
        size = count - first < 2 * BATCH ? count - first : BATCH;
        result = cut(p, scene, whole, of_rig + first, size, err);
    }
    return result;
}

th_result th_pieces_init(th_pieces *pieces, const th_scene *scene, const th_crowd *whole, th_error *err)
{
    const uint32_t count = th_crowd_batch_count(whole);
    *pieces = (th_pieces){.crowds = calloc((size_t)count + 1, sizeof *pieces->crowds)};
    th_instance *of_rig = calloc((size_t)scene->instance_count + 1, sizeof *of_rig);
    th_result result = TH_OK;
    if (!pieces->crowds || !of_rig)
        result = th_fail(err, TH_ERR_MEMORY, "no memory for %u pieces of a crowd", count);
    for (uint32_t rig = 0; rig < scene->rig_count && result == TH_OK; rig++)
        result = cut_rig(pieces, scene, whole, rig, of_rig, err);
    free(of_rig);
    assert(result != TH_OK || pieces->count == count);
    return result;
}

void th_pieces_fini(th_pieces *pieces)
{
    for (uint32_t i = 0; i < pieces->count; i++)
        th_crowd_destroy(pieces->crowds[i]);
    free(pieces->crowds);
    *pieces = (th_pieces){0};
}

/* ---- chunks ---- */

struct th_ablated {
    th_ablated_desc desc;
    double time_s; /* this frame's arguments, for the workers to read */
    void *palette;
    uint32_t *costs, *shares;
    size_t stride, kept_bytes; /* of a worker's memory; of that, what it keeps instead of writing it out */
    unsigned char *memory;     /* of all workers: what they keep, then scratch */
};

static void *kept_by(const th_ablated *a, uint32_t worker)
{
    return a->memory + worker * a->stride;
}

static void sample(const th_ablated *a, uint32_t batch, uint32_t worker)
{
    th_crowd_sample(a->desc.pieces->crowds[batch], 0, 1, a->time_s, kept_by(a, worker));
}

static void fill(const th_ablated *a, uint32_t begin, uint32_t end)
{
    th_crowd_fill(a->desc.crowd, begin, end, (float)a->time_s, a->palette);
}

static int pose_unwritten(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    const th_ablated *a = ctx;
    unsigned char *kept = kept_by(a, worker);
    for (uint32_t i = begin; i < end; i++)
        th_crowd_update(a->desc.pieces->crowds[i], 0, 1, a->time_s, kept, kept + a->kept_bytes);
    return 0;
}

static int sample_and_fill(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    for (uint32_t i = begin; i < end; i++) {
        sample(ctx, i, worker);
        fill(ctx, i, i + 1);
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
    (void)worker;
    fill(ctx, begin, end);
    return 0;
}

static int do_nothing(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    (void)begin, (void)end, (void)worker, (void)ctx;
    return 0;
}

/* ---- frames ---- */

th_result th_ablated_create(const th_ablated_desc *desc, th_ablated **out, th_error *err)
{
    const th_pieces *p = desc->pieces;
    const uint32_t threads = th_jobs_threads(desc->jobs), count = p->count;
    th_ablated *a = *out = calloc(1, sizeof *a);
    if (!a)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a part of a frame");
    a->desc = *desc;
    a->kept_bytes = th_line_round(larger(p->palette_bytes, p->pose_bytes));
    a->stride = a->kept_bytes + th_line_round(p->scratch_bytes);
    a->memory = th_line_alloc(threads * a->stride);
    a->costs = calloc((size_t)count + 1, sizeof *a->costs);
    a->shares = calloc(threads, sizeof *a->shares);
    if (!a->memory || !a->costs || !a->shares)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a part of a frame on %u threads", threads);
    for (uint32_t i = 0; i < count; i++)
        a->costs[i] = th_crowd_batch_cost(desc->crowd, i);
    th_jobs_share(threads, count, desc->grain, a->costs, a->shares);
    return TH_OK;
}

void th_ablated_destroy(th_ablated *ablated)
{
    if (!ablated)
        return;
    free(ablated->memory);
    free(ablated->costs);
    free(ablated->shares);
    free(ablated);
}

void th_ablated_run(th_ablated *ablated, double time_s, void *palette)
{
    static th_jobs_fn *const parts[] = {pose_unwritten, sample_and_fill, sample_only, fill_only, do_nothing};
    _Static_assert(sizeof parts / sizeof *parts == TH_ABLATION_COUNT, "a function for each");
    ablated->time_s = time_s;
    ablated->palette = palette;
    const th_job job = {
        .fn = parts[ablated->desc.ablation],
        .ctx = ablated,
        .count = ablated->desc.pieces->count,
        .grain = ablated->desc.grain,
        .shares = ablated->shares,
    };
    th_jobs_run(ablated->desc.jobs, &job);
}

const void *th_ablated_kept(const th_ablated *ablated)
{
    return kept_by(ablated, 0);
}

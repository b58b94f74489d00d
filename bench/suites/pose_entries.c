/* The pose/ and limit/ entries: every kernel, and its baselines. */
#include "pose_benchmark.h"

#include <throng/runtime/frame.h>

#include <stdio.h>
#include <stdlib.h>

/* Interpolates as the file says, whatever was requested. */
static void as_authored(const th_entry *entry, const th_fixture *fixture, th_scene_desc *desc)
{
    (void)entry, (void)fixture;
    desc->compile.sampling = TH_SAMPLING_EXACT;
    desc->compile.interpolation = TH_INTERPOLATION_AUTHORED;
}

/* ---- the tutorial method ---- */

static void run_tutorial(void *subject, uint64_t frame)
{
    th_pose_benchmark *p = subject;
    const th_scene *scene = p->shared->scene;
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        const th_instance *instance = &scene->instances[i];
        float *palette = (float *)((char *)p->palette + th_crowd_palette_offset(p->crowd, i));
        th_tutorial_palette(p->tutorials[instance->model], instance->clip,
                            th_scene_clip_time(scene, i, p->time_s(frame)), palette);
    }
}

static th_result create_tutorial(th_entry *entry, const th_bench_desc *desc, const th_fixture *fixture, th_row *row,
                                 th_error *err)
{
    (void)desc;
    th_result result = th_pose_benchmark_init(entry, fixture, row, err);
    if (result != TH_OK)
        return result;
    th_pose_benchmark *p = entry->subject;
    const th_scene *scene = p->shared->scene;
    p->tutorials = calloc(scene->compiled_model_count, sizeof(th_tutorial *));
    if (!p->tutorials)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %s", entry->name);
    for (uint32_t r = 0; r < scene->compiled_model_count; r++) {
        result = th_tutorial_create(th_compiled_model_source(scene->compiled_models[r]), &p->tutorials[r], err);
        if (result != TH_OK)
            return result;
    }
    return th_pose_benchmark_validate(entry, fixture, row, err);
}

/* ---- the memory floor ---- */

static void run_fill(void *subject, uint64_t frame)
{
    th_pose_benchmark *p = subject;
    th_crowd_fill(p->crowd, 0, th_crowd_batch_count(p->crowd), (float)frame, p->palette);
}

static th_result create_fill(th_entry *entry, th_writes writes, const th_fixture *fixture, th_row *row, th_error *err)
{
    const th_result result = th_pose_benchmark_init(entry, fixture, row, err);
    if (result == TH_OK)
        th_crowd_set_writes(((th_pose_benchmark *)entry->subject)->crowd, writes);
    return result;
}

static th_result create_cached_fill(th_entry *entry, const th_bench_desc *desc, const th_fixture *fixture, th_row *row,
                                    th_error *err)
{
    (void)desc;
    return create_fill(entry, TH_WRITES_CACHED, fixture, row, err);
}

static th_result create_streamed_fill(th_entry *entry, const th_bench_desc *desc, const th_fixture *fixture,
                                      th_row *row, th_error *err)
{
    (void)desc;
    return create_fill(entry, TH_WRITES_STREAMED, fixture, row, err);
}

/* ---- the entries ---- */

static const th_entry baselines[] = {
    {"pose/exact", .set_scene = as_authored, .create = th_pose_benchmark_create, .run = th_pose_benchmark_run},
    {"pose/tutorial", .set_scene = as_authored, .create = create_tutorial, .run = run_tutorial},
    {"limit/write_cached", .set_scene = as_authored, .create = create_cached_fill, .run = run_fill},
    {"limit/write_streamed", .set_scene = as_authored, .create = create_streamed_fill, .run = run_fill},
};

uint32_t th_pose_entries(th_entry *entries)
{
    const uint32_t variants = (TH_ISA_COUNT - TH_ISA_SCALAR) * TH_PALETTE_COUNT;
    uint32_t count = 0;
    for (uint32_t v = 0; v < variants; v++) {
        const th_isa isa = (th_isa)(TH_ISA_SCALAR + v / TH_PALETTE_COUNT);
        const th_palette palette = (th_palette)(v % TH_PALETTE_COUNT);
        if (!th_isa_available(isa))
            continue;
        th_entry *e = &entries[count++];
        *e = (th_entry){
            .isa = isa,
            .palette = palette,
            .set_scene = th_pose_benchmark_keep_scene,
            .create = th_pose_benchmark_create,
            .before = th_pose_benchmark_begin,
            .run = th_pose_benchmark_run,
            .destroy = th_pose_benchmark_destroy,
        };
        snprintf(e->name, sizeof e->name, "pose/%s/%s", th_isa_name(isa), th_palette_name(palette));
    }
    for (size_t i = 0; i < sizeof baselines / sizeof *baselines; i++) {
        entries[count] = baselines[i];
        entries[count].before = th_pose_benchmark_begin;
        entries[count++].destroy = th_pose_benchmark_destroy;
    }
    return count;
}

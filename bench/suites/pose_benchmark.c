#include "pose_benchmark.h"

#include "layer_mix.h"
#include "shared_crowd.h"

#include <anim/ceilings.h>
#include <bench/validate_run.h>
#include <core/json.h>
#include <throng/core/cache_line.h>
#include <throng/runtime/frame.h>

#include <stdio.h>
#include <stdlib.h>

/* ---- running ---- */

static double time_of(uint64_t frame)
{
    return (double)frame / TH_FRAME_RATE;
}

void th_pose_benchmark_run(void *subject, uint64_t frame)
{
    th_pose_benchmark *p = subject;
    th_crowd_update(p->crowd, 0, th_crowd_batch_count(p->crowd), p->time_s(frame), p->palette, p->scratch);
}

void th_pose_benchmark_begin(void *subject)
{
    th_pose_benchmark *p = subject;
    p->run(p, 0);
}

/* ---- checking ---- */

static uint64_t key_bytes(const th_scene *scene)
{
    uint64_t bytes = 0;
    for (uint32_t r = 0; r < scene->compiled_model_count; r++)
        for (uint32_t c = 0; c < th_compiled_model_source(scene->compiled_models[r])->clip_count; c++)
            bytes += th_compiled_model_clip_report(scene->compiled_models[r], c)->bytes;
    return bytes;
}

/* Characters that play from authored keys, requested or as a fallback: they cost many times as much. */
static uint64_t exact_characters(const th_scene *scene)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        const th_instance *instance = &scene->instances[i];
        count += th_scene_clip(scene, i) &&
                 !th_compiled_model_clip_report(scene->compiled_models[instance->model], instance->clip)->compiled;
    }
    return count;
}

static th_validate_run_desc validation_of(th_pose_benchmark *p)
{
    return (th_validate_run_desc){.scene = p->shared->scene,
                                  .crowd = p->crowd,
                                  .palette = p->palette,
                                  .run = p->run,
                                  .ctx = p,
                                  .time_s = p->time_s,
                                  .layers = p->layers_at};
}

/* For th_entry.check. */
static void check_left(void *subject, uint64_t frame)
{
    th_pose_benchmark *p = subject;
    const th_validate_run_desc validation = validation_of(p);
    th_error err;
    if (th_validate_left(&validation, frame, p->row, &err) != TH_OK && !p->row->failure[0])
        snprintf(p->row->failure, sizeof p->row->failure, "%.200s", err.text);
}

/* For th_entry.summarize. */
static void check_floor(const th_entry *entry, const th_row *baseline, th_row *row)
{
    const th_pose_benchmark *p = entry->subject;
    (void)baseline;
    th_validate_floor(p->crowd, p->palette, row);
}

th_result th_pose_benchmark_validate(th_entry *entry, const th_fixture *fixture, th_row *row, th_error *err)
{
    th_pose_benchmark *p = entry->subject;
    const th_scene *scene = p->shared->scene;
    th_validate_run_desc validation = validation_of(p);
    entry->check = check_left;
    entry->summarize = check_floor;
    th_result result = TH_OK;
    if (p->shared->desc.compile.sampling == TH_SAMPLING_COMPILED && entry->palette == TH_PALETTE_F32 && !p->layers_at)
        result = th_fixture_reference(fixture, p->shared, p->time_s(TH_VALIDATE_FRAME), &validation.reference, err);
    const th_crowd_work work = th_crowd_count_work(p->crowd);
    row->own = json_pack("{s:o, s:o, s:o}", "key_bytes", th_json_count(key_bytes(scene)), "exact_characters",
                         th_json_count(exact_characters(scene)), "palette_bytes", th_json_count(work.palette_bytes));
    if (!p->mix) {
        row->own = th_json_set(row->own, "flops", th_json_count(work.flops));
        row->own = th_json_set(row->own, "key_bytes_read", th_json_count(work.key_bytes));
    }
    return result == TH_OK ? th_validate_run(&validation, row, err) : result;
}

/* ---- creating ---- */

void th_pose_benchmark_keep_scene(const th_entry *entry, const th_fixture *fixture, th_scene_desc *desc)
{
    (void)entry, (void)fixture, (void)desc;
}

void th_pose_benchmark_destroy(void *subject)
{
    th_pose_benchmark *p = subject;
    for (uint32_t r = 0; p->tutorials && r < p->shared->scene->compiled_model_count; r++)
        th_tutorial_destroy(p->tutorials[r]);
    free(p->tutorials);
    th_frame_destroy(p->frame);
    if (p->sharing)
        th_shared_crowd_fini(p->sharing);
    free(p->sharing);
    th_jobs_destroy(p->jobs);
    th_layer_mix_destroy(p->mix);
    free(p->scratch);
    th_crowd_destroy(p->crowd);
    free(p);
}

/* Otherwise the row says which model cannot have such palettes. */
static bool can_have(const th_scene *scene, th_palette palette, th_row *row)
{
    for (uint32_t m = 0; m < scene->compiled_model_count; m++) {
        const char *obstacle = th_compiled_model_obstacle(scene->compiled_models[m], palette);
        if (!obstacle)
            continue;
        row->skipped = true;
        snprintf(row->failure, sizeof row->failure, "%.60s: %.150s",
                 th_compiled_model_source(scene->compiled_models[m])->name, obstacle);
        return false;
    }
    return true;
}

static th_frame *frame_of(void *subject)
{
    const th_pose_benchmark *p = subject;
    return p->frame;
}

th_result th_pose_benchmark_init(th_entry *entry, const th_fixture *fixture, th_row *row, th_error *err)
{
    th_pose_benchmark *p = calloc(1, sizeof *p);
    if (!p)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %s", entry->name);
    entry->subject = p;
    entry->frame = frame_of;
    p->shared = entry->shared;
    p->row = row;
    p->palette = fixture->palette;
    p->run = entry->run;
    p->time_s = time_of;
    if (!can_have(p->shared->scene, entry->palette, row))
        return TH_OK;
    const th_result result = th_scene_crowd(p->shared->scene, entry->isa, entry->palette, &p->crowd, err);
    if (result != TH_OK)
        return result;
    p->scratch = th_cache_line_alloc(th_crowd_scratch_bytes(p->crowd));
    if (!p->scratch)
        return th_fail(err, TH_ERR_MEMORY, "no memory for the scratch of one thread");
    row->time_unit = "us";
    row->threads = 1;
    row->characters = p->shared->scene->instance_count;
    row->bones = th_crowd_bone_count(p->crowd);
    return TH_OK;
}

th_result th_pose_benchmark_create(th_entry *entry, const th_bench_desc *desc, const th_fixture *fixture, th_row *row,
                                   th_error *err)
{
    (void)desc;
    const th_result result = th_pose_benchmark_init(entry, fixture, row, err);
    return result == TH_OK && !row->skipped ? th_pose_benchmark_validate(entry, fixture, row, err) : result;
}

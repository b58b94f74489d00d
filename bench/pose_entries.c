#include "entry.h"

#include <throng/frame.h>
#include <throng/line.h>
#include <throng/trial.h>
#include <throng/tutorial.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One crowd, one way to pose it. */
typedef struct poser {
    const th_scene *scene;
    th_crowd *crowd;
    void *palette, *scratch;
    th_tutorial **tutorials; /* one for each rig; only for pose/tutorial */
} poser;

/* ---- running ---- */

static void run_kernel(void *subject, uint64_t frame)
{
    poser *p = subject;
    double time_s = (double)frame / TH_FRAME_RATE;
    th_crowd_update(p->crowd, 0, th_crowd_batch_count(p->crowd), time_s, p->palette, p->scratch);
}

static void run_tutorial(void *subject, uint64_t frame)
{
    poser *p = subject;
    double time_s = (double)frame / TH_FRAME_RATE;
    for (uint32_t i = 0; i < p->scene->instance_count; i++) {
        const th_instance *instance = &p->scene->instances[i];
        float *palette = (float *)((char *)p->palette + th_crowd_palette_offset(p->crowd, i));
        th_tutorial_palette(p->tutorials[instance->rig], instance->clip, th_scene_clip_time(p->scene, i, time_s),
                            palette);
    }
}

static void run_fill(void *subject, uint64_t frame)
{
    poser *p = subject;
    th_crowd_fill(p->crowd, 0, th_crowd_batch_count(p->crowd), (float)frame, p->palette);
}

/* ---- checking ---- */

static th_result check_poses(const th_entry *entry, const th_stage *stage, th_row *row, th_error *err)
{
    const poser *p = entry->subject;
    const th_trial trial = {
        .scene = p->scene,
        .crowd = p->crowd,
        .palette = p->palette,
        .run = entry->run,
        .ctx = entry->subject,
        .reference = p->scene == stage->compiled && entry->palette == TH_PALETTE_F32 ? stage->reference : NULL,
    };
    return th_trial_run(&trial, row, err);
}

/* ---- making ---- */

static void destroy_poser(void *subject)
{
    poser *p = subject;
    for (uint32_t r = 0; p->tutorials && r < p->scene->rig_count; r++)
        th_tutorial_destroy(p->tutorials[r]);
    free(p->tutorials);
    free(p->scratch);
    th_crowd_destroy(p->crowd);
    free(p);
}

static th_result create_poser(th_entry *entry, const th_scene *scene, const th_stage *stage, th_row *row, th_error *err)
{
    poser *p = calloc(1, sizeof *p);
    if (!p)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %s", entry->name);
    entry->subject = p;
    p->scene = scene;
    p->palette = stage->palette;
    th_result result = th_scene_crowd(scene, entry->isa, entry->palette, &p->crowd, err);
    if (result != TH_OK)
        return result;
    p->scratch = th_line_alloc(th_crowd_scratch_bytes(p->crowd));
    if (!p->scratch)
        return th_fail(err, TH_ERR_MEMORY, "no memory for the scratch of one thread");
    row->time_unit = "us";
    row->threads = 1;
    row->characters = scene->instance_count;
    row->joints = th_crowd_joint_count(p->crowd);
    return TH_OK;
}

static th_result create_kernel(th_entry *entry, const th_bench_desc *desc, const th_stage *stage, th_row *row,
                               th_error *err)
{
    (void)desc;
    th_result result = create_poser(entry, stage->compiled, stage, row, err);
    return result == TH_OK ? check_poses(entry, stage, row, err) : result;
}

static th_result create_exact(th_entry *entry, const th_bench_desc *desc, const th_stage *stage, th_row *row,
                              th_error *err)
{
    (void)desc;
    th_result result = create_poser(entry, stage->exact, stage, row, err);
    return result == TH_OK ? check_poses(entry, stage, row, err) : result;
}

static th_result create_tutorial(th_entry *entry, const th_bench_desc *desc, const th_stage *stage, th_row *row,
                                 th_error *err)
{
    (void)desc;
    th_result result = create_poser(entry, stage->exact, stage, row, err);
    if (result != TH_OK)
        return result;
    poser *p = entry->subject;
    p->tutorials = calloc(p->scene->rig_count, sizeof(th_tutorial *));
    if (!p->tutorials)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %s", entry->name);
    for (uint32_t r = 0; r < p->scene->rig_count; r++) {
        result = th_tutorial_create(th_rig_model(p->scene->rigs[r]), &p->tutorials[r], err);
        if (result != TH_OK)
            return result;
    }
    return check_poses(entry, stage, row, err);
}

static th_result create_fill(th_entry *entry, const th_bench_desc *desc, const th_stage *stage, th_row *row,
                             th_error *err)
{
    (void)desc;
    return create_poser(entry, stage->compiled, stage, row, err);
}

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
            .isa = isa, .palette = palette, .create = create_kernel, .run = run_kernel, .destroy = destroy_poser};
        snprintf(e->name, sizeof e->name, "pose/%s/%s", th_isa_name(isa), th_palette_name(palette));
    }
    entries[count++] = (th_entry){"pose/exact", .create = create_exact, .run = run_kernel, .destroy = destroy_poser};
    entries[count++] =
        (th_entry){"pose/tutorial", .create = create_tutorial, .run = run_tutorial, .destroy = destroy_poser};
    entries[count++] =
        (th_entry){"limit/palette_write", .create = create_fill, .run = run_fill, .destroy = destroy_poser};
    return count;
}

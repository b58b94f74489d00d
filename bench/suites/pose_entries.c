/* The entries about poses: every kernel, and what they are held against. */
#include "pose_benchmark.h"

#include <throng/runtime/frame.h>

#include <stdio.h>
#include <stdlib.h>

/* As the file says, whatever is asked for. */
static void cast_authored(const th_entry *entry, const th_stage *stage, th_scene_desc *desc)
{
    (void)entry, (void)stage;
    desc->rig.sampling = TH_SAMPLING_EXACT;
    desc->rig.interpolation = TH_INTERPOLATION_AUTHORED;
}

/* ---- the tutorials' way ---- */

static void run_tutorial(void *subject, uint64_t frame)
{
    th_poser *p = subject;
    const th_scene *scene = p->set->scene;
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        const th_instance *instance = &scene->instances[i];
        float *palette = (float *)((char *)p->palette + th_crowd_palette_offset(p->crowd, i));
        th_tutorial_palette(p->tutorials[instance->rig], instance->clip, th_scene_clip_time(scene, i, p->time_s(frame)),
                            palette);
    }
}

static th_result create_tutorial(th_entry *entry, const th_bench_desc *desc, const th_stage *stage, th_row *row,
                                 th_error *err)
{
    (void)desc;
    th_result result = th_poser_init(entry, stage, row, err);
    if (result != TH_OK)
        return result;
    th_poser *p = entry->subject;
    const th_scene *scene = p->set->scene;
    p->tutorials = calloc(scene->rig_count, sizeof(th_tutorial *));
    if (!p->tutorials)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %s", entry->name);
    for (uint32_t r = 0; r < scene->rig_count; r++) {
        result = th_tutorial_create(th_rig_model(scene->rigs[r]), &p->tutorials[r], err);
        if (result != TH_OK)
            return result;
    }
    return th_poser_check(entry, stage, row, err);
}

/* ---- the floor ---- */

static void run_fill(void *subject, uint64_t frame)
{
    th_poser *p = subject;
    th_crowd_fill(p->crowd, 0, th_crowd_batch_count(p->crowd), (float)frame, p->palette);
}

static th_result create_fill(th_entry *entry, const th_bench_desc *desc, const th_stage *stage, th_row *row,
                             th_error *err)
{
    (void)desc;
    return th_poser_init(entry, stage, row, err);
}

/* ---- the entries ---- */

static const th_entry yardsticks[] = {
    {"pose/exact", .cast = cast_authored, .create = th_poser_create, .run = th_poser_run},
    {"pose/tutorial", .cast = cast_authored, .create = create_tutorial, .run = run_tutorial},
    {"limit/palette_write", .cast = cast_authored, .create = create_fill, .run = run_fill},
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
            .cast = th_poser_as_asked,
            .create = th_poser_create,
            .before = th_poser_begin,
            .run = th_poser_run,
            .destroy = th_poser_destroy,
        };
        snprintf(e->name, sizeof e->name, "pose/%s/%s", th_isa_name(isa), th_palette_name(palette));
    }
    for (size_t i = 0; i < sizeof yardsticks / sizeof *yardsticks; i++) {
        entries[count] = yardsticks[i];
        entries[count].before = th_poser_begin;
        entries[count++].destroy = th_poser_destroy;
    }
    return count;
}

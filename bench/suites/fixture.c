#include "fixture.h"

#include <throng/core/cache_line.h>
#include <throng/runtime/frame.h>

#include <assert.h>
#include <stdlib.h>

th_result th_stage_init(th_stage *stage, const th_scene_desc *asked, th_error *err)
{
    *stage = (th_stage){.asked = *asked};
    stage->asked.rig.sampling = TH_SAMPLING_COMPILED;
    stage->asked.rigs = NULL;
    stage->first_clips = calloc((size_t)asked->model_count + 1, sizeof *stage->first_clips);
    return stage->first_clips ? TH_OK : th_fail(err, TH_ERR_MEMORY, "no memory for a stage");
}

void th_stage_fini(th_stage *stage)
{
    th_stage_clear(stage);
    for (int s = 0; s <= TH_SAMPLING_EXACT; s++)
        for (int i = 0; i < TH_INTERPOLATION_COUNT; i++)
            th_scene_destroy(stage->casts[s][i]);
    free(stage->first_clips);
}

/* ---- sets ---- */

static th_result find_cast(th_stage *stage, const th_scene_desc *desc, const th_scene **out, th_error *err)
{
    th_scene **cast = &stage->casts[desc->rig.sampling][desc->rig.interpolation];
    th_scene_desc nobody = *desc;
    nobody.instance_count = 0;
    const th_result result = *cast ? TH_OK : th_scene_create(&nobody, cast, err);
    *out = *cast;
    return result;
}

static th_set *find_set(th_stage *stage, const th_scene_desc *desc)
{
    for (uint32_t i = 0; i < stage->set_count; i++) {
        const th_scene_desc *d = &stage->sets[i].desc;
        if (d->rig.sampling == desc->rig.sampling && d->rig.interpolation == desc->rig.interpolation &&
            d->instance_count == desc->instance_count && d->clips == desc->clips)
            return &stage->sets[i];
    }
    return NULL;
}

static th_result create_set(th_stage *stage, const th_scene_desc *desc, th_set *set, th_error *err)
{
    const th_scene *cast;
    *set = (th_set){.desc = *desc};
    th_result result = find_cast(stage, desc, &cast, err);
    if (result != TH_OK)
        return result;
    th_scene_desc borrowing = *desc;
    borrowing.rigs = cast->rigs;
    result = th_scene_create(&borrowing, &set->scene, err);
    if (result == TH_OK)
        result = th_scene_crowd(set->scene, TH_ISA_SCALAR, TH_PALETTE_F32, &set->plain, err);
    return result;
}

th_result th_stage_add(th_stage *stage, const th_scene_desc *desc, const th_set **out, th_error *err)
{
    *out = find_set(stage, desc);
    if (*out)
        return TH_OK;
    assert(stage->set_count < TH_STAGE_MAX_SETS);
    th_set *set = &stage->sets[stage->set_count++];
    *out = set;
    return create_set(stage, desc, set, err);
}

/* ---- palettes ---- */

th_result th_stage_furnish(th_stage *stage, th_error *err)
{
    const th_crowd *largest = NULL;
    for (uint32_t i = 0; i < stage->set_count; i++) {
        const th_crowd *crowd = stage->sets[i].plain;
        if (!largest || th_crowd_palette_bytes(crowd) > th_crowd_palette_bytes(largest))
            largest = crowd;
    }
    if (!largest)
        return TH_OK;
    const th_result result = th_palette_create(largest, &stage->palette, err);
    return result == TH_OK ? th_palette_create(largest, &stage->reference, err) : result;
}

void th_stage_clear(th_stage *stage)
{
    for (uint32_t i = 0; i < stage->set_count; i++) {
        th_crowd_destroy(stage->sets[i].plain);
        th_scene_destroy(stage->sets[i].scene);
    }
    free(stage->palette);
    free(stage->reference);
    stage->set_count = 0;
    stage->palette = stage->reference = NULL;
}

th_result th_stage_reference(const th_stage *stage, const th_set *set, double time_s, const void **out, th_error *err)
{
    void *scratch = th_line_alloc(th_crowd_scratch_bytes(set->plain));
    if (!scratch)
        return th_fail(err, TH_ERR_MEMORY, "no memory for the scratch of one thread");
    th_crowd_update(set->plain, 0, th_crowd_batch_count(set->plain), time_s, stage->reference, scratch);
    free(scratch);
    *out = stage->reference;
    return TH_OK;
}

#include "fixture.h"

#include <anim/synthetic.h>
#include <core/cache_line.h>
#include <runtime/frame.h>
#include <throng/throng.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>

const uint32_t th_fixture_weights[TH_FIXTURE_MORPHS] = {0, 16, 64};

static uint32_t mask_count(const th_scene_desc *requested)
{
    return requested->model_count < TH_MAX_MASKS ? requested->model_count : TH_MAX_MASKS;
}

/* A mask for each model: about half of its joints, those below one of them. Any of the models may be compiled with all
 * of them: each has weights for as many joints as the largest model has. One block; NULL if out of memory. */
static th_mask *create_half_masks(const th_model *const *models, uint32_t count)
{
    size_t most = 0;
    for (uint32_t m = 0; m < count; m++)
        most = models[m]->joint_count > most ? models[m]->joint_count : most;
    th_mask *masks = calloc(1, count * (sizeof *masks + most * sizeof(float)) + 1);
    float *weights = masks ? (float *)(void *)(masks + count) : NULL;
    for (uint32_t m = 0; masks && m < count; m++, weights += most) {
        const th_model *model = models[m];
        const float half = (float)model->joint_count / 2;
        uint32_t best = 0;
        masks[m] = (th_mask){"half", weights};
        /* Meanwhile weights are how many joints there are below each, and itself. */
        for (uint32_t j = model->joint_count; j-- > 0;) {
            weights[j] += 1;
            if (model->joints[j].parent != TH_NO_INDEX)
                weights[model->joints[j].parent] += weights[j];
        }
        for (uint32_t j = 1; j < model->joint_count; j++)
            best = fabsf(weights[j] - half) < fabsf(weights[best] - half) ? j : best;
        if (model->joint_count > 0)
            th_mask_from_joint(model, best, weights);
    }
    return masks;
}

th_result th_fixture_init(th_fixture *fixture, const th_scene_desc *requested, th_error *err)
{
    *fixture = (th_fixture){.requested = *requested};
    fixture->requested.compile.sampling = TH_SAMPLING_COMPILED;
    fixture->requested.compiled_models = NULL;
    fixture->first_clips = calloc((size_t)requested->model_count + 1, sizeof *fixture->first_clips);
    fixture->masks = create_half_masks(requested->models, mask_count(requested));
    if (!fixture->first_clips || !fixture->masks)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a fixture");
    th_result result = th_human_create(&fixture->human, err);
    for (int i = 0; i < TH_FIXTURE_MORPHS && result == TH_OK; i++) {
        th_synthetic_desc desc = TH_SYNTHETIC_DEFAULT;
        desc.joints = 52; /* as many as the human has */
        desc.weights = th_fixture_weights[i];
        result = th_synthetic_create(&desc, &fixture->morphs[i], err);
    }
    return result;
}

void th_fixture_fini(th_fixture *fixture)
{
    th_fixture_clear(fixture);
    for (int s = 0; s <= TH_SAMPLING_EXACT; s++)
        for (int i = 0; i < TH_INTERPOLATION_COUNT; i++)
            th_scene_destroy(fixture->base_scenes[s][i]);
    for (int i = 0; i < TH_FIXTURE_MORPHS; i++)
        th_model_destroy(fixture->morphs[i]);
    th_model_destroy(fixture->human);
    for (uint32_t m = 0; fixture->joint_lods && m < fixture->requested.model_count; m++)
        th_joint_lod_destroy(fixture->joint_lods[m]);
    free(fixture->joint_lods);
    free(fixture->level_models);
    free(fixture->masks);
    free(fixture->first_clips);
}

th_result th_fixture_find_levels(th_fixture *fixture, th_error *err)
{
    const uint32_t count = fixture->requested.model_count;
    if (fixture->joint_lods)
        return TH_OK;
    fixture->joint_lods = calloc(count + 1u, sizeof *fixture->joint_lods);
    fixture->level_models = calloc((size_t)count * TH_LOD_LEVELS + 1, sizeof *fixture->level_models);
    if (!fixture->joint_lods || !fixture->level_models)
        return th_fail(err, TH_ERR_MEMORY, "no memory for joint levels");
    for (uint32_t m = 0; m < count; m++) {
        const th_result result = th_joint_lod_create(fixture->requested.models[m], &fixture->joint_lods[m], err);
        if (result != TH_OK)
            return result;
        for (uint32_t l = 0; l < TH_LOD_LEVELS; l++)
            fixture->level_models[l * count + m] = fixture->joint_lods[m]->levels[l].model;
    }
    return TH_OK;
}

/* ---- shared scenes ---- */

th_result th_fixture_add(th_fixture *fixture, const th_scene_desc *desc, const th_shared_scene **out, th_error *err)
{
    const th_compiled_model_desc *compile = &desc->compile;
    for (uint32_t i = 0; i < fixture->shared_count; i++) {
        const th_scene_desc *d = &fixture->shared_scenes[i].desc;
        *out = &fixture->shared_scenes[i];
        if (d->compile.sampling == compile->sampling && d->compile.interpolation == compile->interpolation &&
            d->instance_count == desc->instance_count && d->clips == desc->clips && d->models == desc->models)
            return TH_OK;
    }
    assert(fixture->shared_count < TH_FIXTURE_MAX_SCENES);
    th_shared_scene *shared = &fixture->shared_scenes[fixture->shared_count++];
    th_scene_desc shared_desc = *desc;
    th_result result = TH_OK;
    *shared = (th_shared_scene){.desc = *desc};
    *out = shared;
    if (desc->models == fixture->requested.models) {
        th_scene **base = &fixture->base_scenes[compile->sampling][compile->interpolation];
        th_scene_desc empty = *desc;
        empty.instance_count = 0;
        empty.compile.masks = fixture->masks;
        empty.compile.mask_count = mask_count(&fixture->requested);
        result = *base ? TH_OK : th_scene_create(&empty, base, err);
        if (result != TH_OK)
            return result;
        shared_desc.compiled_models = (*base)->compiled_models;
    }
    result = th_scene_create(&shared_desc, &shared->scene, err);
    if (result == TH_OK)
        result = th_scene_crowd(shared->scene, TH_ISA_SCALAR, TH_FORMAT_F32, &shared->plain, err);
    return result;
}

/* ---- palettes ---- */

th_result th_fixture_allocate(th_fixture *fixture, th_error *err)
{
    const th_crowd *largest = NULL;
    for (uint32_t i = 0; i < fixture->shared_count; i++) {
        const th_crowd *crowd = fixture->shared_scenes[i].plain;
        if (!largest || th_crowd_palette_bytes(crowd) > th_crowd_palette_bytes(largest))
            largest = crowd;
    }
    if (!largest)
        return TH_OK;
    const th_result result = th_palettes_create(largest, &fixture->palette, err);
    return result == TH_OK ? th_palettes_create(largest, &fixture->reference, err) : result;
}

void th_fixture_clear(th_fixture *fixture)
{
    for (uint32_t i = 0; i < fixture->shared_count; i++) {
        th_crowd_destroy(fixture->shared_scenes[i].plain);
        th_scene_destroy(fixture->shared_scenes[i].scene);
    }
    th_palettes_destroy(fixture->palette);
    th_palettes_destroy(fixture->reference);
    fixture->shared_count = 0;
    fixture->palette = fixture->reference = NULL;
}

th_result th_fixture_reference(const th_fixture *fixture, const th_shared_scene *shared, double time_s,
                               const void **out, th_error *err)
{
    assert(fixture->reference && shared->plain);
    void *scratch = th_cache_line_alloc(th_crowd_scratch_bytes(shared->plain));
    if (!scratch)
        return th_fail(err, TH_ERR_MEMORY, "no memory for the scratch of one thread");
    th_crowd_pose(shared->plain, 0, th_crowd_batch_count(shared->plain), time_s, fixture->reference, scratch);
    free(scratch);
    *out = fixture->reference;
    return TH_OK;
}

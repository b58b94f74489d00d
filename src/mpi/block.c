#include "block.h"

#include <bench/validate.h>
#include <bench/validate_run.h>

#include <assert.h>
#include <string.h>

static th_scene_desc scene_of(const th_mpi_block_desc *desc, const th_instance *instances, uint32_t count)
{
    th_scene_desc scene = desc->scene;
    scene.compiled_models = desc->whole->compiled_models;
    scene.instances = instances;
    scene.instance_count = count;
    return scene;
}

th_result th_mpi_block_init(th_mpi_block *b, const th_mpi_block_desc *desc, th_error *err)
{
    assert(desc->first + desc->count <= desc->whole->instance_count);
    const th_scene_desc scene = scene_of(desc, desc->whole->instances + desc->first, desc->count);
    *b = (th_mpi_block){.first = desc->first, .count = desc->count};
    th_result result = th_scene_create(&scene, &b->scene, err);
    if (result == TH_OK)
        result = th_scene_crowd(b->scene, desc->isa, desc->palette, &b->crowd, err);
    if (result == TH_OK)
        result = th_frame_create(&(th_frame_desc){.crowd = b->crowd, .jobs = desc->jobs}, &b->frame, err);
    return result;
}

void th_mpi_block_fini(th_mpi_block *b)
{
    th_frame_destroy(b->frame);
    th_crowd_destroy(b->crowd);
    th_scene_destroy(b->scene);
    *b = (th_mpi_block){0};
}

#define CHECKED_S (TH_VALIDATE_FRAME / TH_FRAME_RATE)

void th_mpi_block_pose(const th_mpi_block *b, void *palette)
{
    memset(palette, 0xff, th_crowd_palette_bytes(b->crowd));
    th_frame_animate(b->frame, CHECKED_S, palette);
}

th_result th_mpi_block_validate(const th_mpi_block *b, const void *palette, th_error *err)
{
    enum { SAMPLE = 100 };
    const th_validation_desc desc = {.scene = b->scene,
                                     .crowd = b->crowd,
                                     .palette = palette,
                                     .time_s = CHECKED_S,
                                     .sample = SAMPLE,
                                     .seed = b->first};
    th_validation found = {0};
    const th_result result = th_validate_palettes(&desc, &found, err);
    if (result != TH_OK || found.excess <= 1)
        return result;
    const th_model *model = th_scene_model(b->scene, found.instance);
    return th_fail(err, TH_ERR_INPUT,
                   "joint %s of character %u is %g units off the double-precision reference; %g are "
                   "allowed",
                   model->joints[found.joint].name, b->first + found.instance, found.excess * found.allowed,
                   found.allowed);
}

/* Of a batch whose characters have this model alone. */
static th_result cost_of(const th_mpi_block_desc *desc, uint32_t model, uint32_t *out, th_error *err)
{
    enum { BATCH = 16 };
    th_instance instances[BATCH];
    th_scene *scene;
    th_crowd *crowd = NULL;
    for (int i = 0; i < BATCH; i++)
        instances[i] = (th_instance){.model = model, .clip = TH_NO_INDEX, .speed = 1};
    const th_scene_desc alike = scene_of(desc, instances, BATCH);
    th_result result = th_scene_create(&alike, &scene, err);
    if (result != TH_OK)
        return result;
    result = th_scene_crowd(scene, desc->isa, desc->palette, &crowd, err);
    if (result == TH_OK)
        *out = th_crowd_batch_cost(crowd, 0) + 1; /* a model without a joint costs something, too */
    th_crowd_destroy(crowd);
    th_scene_destroy(scene);
    return result;
}

th_result th_mpi_model_costs(const th_mpi_block_desc *desc, uint32_t *costs, th_error *err)
{
    th_result result = TH_OK;
    for (uint32_t m = 0; m < desc->whole->compiled_model_count && result == TH_OK; m++)
        result = cost_of(desc, m, &costs[m], err);
    return result;
}

#include "parts.h"

#include <throng/core/arena.h>

#include <assert.h>

static bool add_material(th_model *model)
{
    th_material *material = th_arena_new(model->arena, th_material, 1);
    if (!material)
        return false;
    /* White: the colours are in the appearances. Here and there the surface is open: at silhouettes a back shows. */
    *material =
        (th_material){.name = TH_HUMAN_NAME, .base_color = {1, 1, 1, 1}, .texture = TH_NO_INDEX, .double_sided = true};
    model->materials = material;
    model->material_count = 1;
    return true;
}

th_result th_human_create(th_model **out, th_error *err)
{
    assert(out);
    *out = NULL;
    th_arena *arena = th_arena_create();
    th_model *model = arena ? th_arena_new(arena, th_model, 1) : NULL;
    if (!model)
        goto no_memory;
    *model = (th_model){.name = TH_HUMAN_NAME, .arena = arena};
    if (!th_human_add_skeleton(model) || !add_material(model) || !th_human_add_mesh(model) ||
        !th_human_add_appearances(model) || !th_human_add_clips(model))
        goto no_memory;
    model->size = th_model_measure(model);
    if (model->size == 0)
        goto no_memory;

    th_result result = th_model_check(model, err);
    if (result == TH_OK)
        *out = model;
    else
        th_model_free(model);
    return result;

no_memory:
    th_arena_destroy(arena);
    return th_fail(err, TH_ERR_MEMORY, "there is no memory left for the embedded character");
}

#include "parts.h"

#include <assert.h>
#include <stdlib.h>

static bool possible(const th_synthetic_desc *d)
{
    const bool tree = d->shape == TH_SYNTHETIC_TREE;
    return d->shape < TH_SYNTHETIC_SHAPE_COUNT && d->joints >= 1 && d->joints <= TH_SYNTHETIC_MAX_JOINTS &&
           d->clips >= 1 && d->clips <= TH_SYNTHETIC_MAX_CLIPS && d->keys >= TH_SYNTHETIC_MIN_KEYS &&
           d->keys <= TH_SYNTHETIC_MAX_KEYS && d->rate >= 1 && d->rate <= TH_SYNTHETIC_MAX_RATE && d->moving <= 100 &&
           d->weights <= TH_SYNTHETIC_MAX_WEIGHTS && th_synthetic_work(d) <= TH_SYNTHETIC_MAX_WORK &&
           d->depth <= (tree ? d->joints : 0) && (d->depth != 1 || d->joints == 1);
}

static bool build(th_model *model, const th_synthetic_desc *desc)
{
    assert(possible(desc));
    th_synthetic_bone *bones = calloc(desc->joints, sizeof *bones);
    if (!bones)
        return false;
    th_synthetic_lay_bones(desc, bones);
    bool built = th_synthetic_add_skeleton(model, bones, desc->joints) &&
                 (desc->no_mesh || th_synthetic_add_mesh(model, bones)) && th_synthetic_add_weights(model, desc) &&
                 th_synthetic_add_clips(model, bones, desc);
    free(bones);
    return built;
}

th_result th_synthetic_create(const th_synthetic_desc *desc, th_model **out, th_error *err)
{
    assert(desc && out);
    const char *name = desc->name ? desc->name : TH_SYNTHETIC_NAME;
    *out = NULL;
    if (!possible(desc))
        return th_fail(err, TH_ERR_LIMIT, "%s: beyond what such a model can be", name);
    th_arena *arena = th_arena_create();
    th_model *model = arena ? th_arena_new(arena, th_model, 1) : NULL;
    if (model)
        *model = (th_model){.name = th_arena_string(arena, name), .arena = arena};
    if (!model || !model->name || !build(model, desc) || (model->size = th_model_measure(model)) == 0) {
        th_arena_destroy(arena);
        return th_fail(err, TH_ERR_MEMORY, "there is no memory left for %s", name);
    }
    th_result result = th_model_check(model, err);
    if (result == TH_OK)
        *out = model;
    else
        th_model_free(model);
    return result;
}

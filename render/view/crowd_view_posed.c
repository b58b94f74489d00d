/* The models that characters of a crowd view are posed and drawn as: their own, and those of their joint levels. With
 * joint_lod they have at a level of detail of the mesh the joint level of the same error limit; a budget chooses. */
#include "crowd_view_parts.h"

#include <runtime/parallel.h>

#include <stdlib.h>

/* ---- which ---- */

static void add_levels(th_crowd_view *crowd_view, uint32_t model)
{
    const th_joint_lod *lod = crowd_view->joint_lods[model];
    uint32_t *as = crowd_view->posed_as[model];
    as[0] = model;
    for (uint32_t l = 1; l < TH_RENDER_MESH_LODS; l++) {
        as[l] = as[l - 1];
        if (!lod || lod->levels[l].model == lod->levels[l - 1].model)
            continue;
        as[l] = crowd_view->posed_count++;
        crowd_view->posed_models[as[l]] = (th_posed_model){lod->levels[l].model, model};
    }
}

th_result th_crowd_view_find_posed(th_crowd_view *crowd_view, th_error *err)
{
    const th_crowd_view_desc *d = &crowd_view->desc;
    if (crowd_view->posed_models)
        return TH_OK;
    crowd_view->joint_lods = calloc((size_t)d->model_count + 1, sizeof *crowd_view->joint_lods);
    crowd_view->posed_as = calloc((size_t)d->model_count + 1, sizeof *crowd_view->posed_as);
    crowd_view->posed_models = calloc((size_t)d->model_count * TH_LOD_LEVELS + 1, sizeof *crowd_view->posed_models);
    if (!crowd_view->joint_lods || !crowd_view->posed_as || !crowd_view->posed_models)
        return th_fail(err, TH_ERR_MEMORY, "no memory for the joint levels of %u models", d->model_count);
    crowd_view->posed_count = d->model_count;
    for (uint32_t m = 0; m < d->model_count; m++) {
        crowd_view->posed_models[m] = (th_posed_model){d->models[m], m};
        if (th_crowd_view_has_joint_levels(d)) {
            const th_result result = th_joint_lod_create(d->models[m], &crowd_view->joint_lods[m], err);
            if (result != TH_OK)
                return result;
        }
        add_levels(crowd_view, m);
    }
    return TH_OK;
}

/* ---- compiling ---- */

/* Layers of a character name masks of its own model. */
static th_result compile(th_crowd_view *crowd_view, uint32_t index, th_error *err)
{
    const th_posed_model *posed = &crowd_view->posed_models[index];
    th_compiled_model_desc desc = crowd_view->desc.compile;
    desc.model = posed->model;
    desc.parallel = th_parallel_run;
    desc.parallel_ctx = &crowd_view->desc.jobs;
    desc.in_place = th_behaviour_needs_repertoire(crowd_view->desc.behaviour);
    if (index < crowd_view->desc.model_count) {
        desc.repertoire = desc.in_place;
    } else {
        const th_repertoire *own = th_compiled_model_repertoire(crowd_view->compiled_models[posed->of]);
        desc.in_place_as = crowd_view->compiled_models[posed->of];
        desc.masks = own ? own->masks : desc.masks;
        desc.mask_count = own ? own->mask_count : desc.mask_count;
    }
    return th_compiled_model_create(&desc, &crowd_view->compiled_models[index], err);
}

th_result th_crowd_view_compile(th_crowd_view *crowd_view, th_error *err)
{
    const th_crowd_view_desc *d = &crowd_view->desc;
    if (crowd_view->compiled_models)
        return TH_OK;
    crowd_view->compiled_models = calloc((size_t)crowd_view->posed_count + 1, sizeof *crowd_view->compiled_models);
    if (!crowd_view->compiled_models)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %u compiled models", crowd_view->posed_count);
    for (uint32_t r = 0; r < crowd_view->posed_count; r++) {
        const bool borrows = d->compiled_models && r < d->model_count;
        if (borrows)
            crowd_view->compiled_models[r] = (th_compiled_model *)d->compiled_models[r];
        const th_result result = borrows ? TH_OK : compile(crowd_view, r, err);
        if (result != TH_OK)
            return result;
    }
    return TH_OK;
}

/* ---- meshes ---- */

th_result th_crowd_view_make_meshes(th_crowd_view *crowd_view, th_error *err)
{
    if (crowd_view->meshes)
        return TH_OK;
    crowd_view->meshes = calloc((size_t)crowd_view->posed_count + 1, sizeof *crowd_view->meshes);
    th_result result =
        crowd_view->meshes ? TH_OK : th_fail(err, TH_ERR_MEMORY, "no memory for %u meshes", crowd_view->posed_count);
    for (uint32_t r = 0; r < crowd_view->posed_count && result == TH_OK; r++) {
        const th_posed_model *posed = &crowd_view->posed_models[r];
        const th_render_mesh *base = posed->of == r ? NULL : crowd_view->meshes[posed->of];
        result = th_render_mesh_create(posed->model, base, &crowd_view->meshes[r], err);
    }
    return result;
}

/* ---- releasing ---- */

void th_crowd_view_release_posed(th_crowd_view *crowd_view, const th_crowd_view *successor)
{
    const th_crowd_view_desc *d = &crowd_view->desc;
    if (crowd_view->compiled_models && crowd_view->compiled_models != successor->compiled_models) {
        for (uint32_t r = d->compiled_models ? d->model_count : 0; r < crowd_view->posed_count; r++)
            th_compiled_model_destroy(crowd_view->compiled_models[r]);
        free(crowd_view->compiled_models);
    }
    if (crowd_view->meshes && crowd_view->meshes != successor->meshes) {
        for (uint32_t r = crowd_view->posed_count; r-- > 0;) /* levels have the images of their model's */
            th_render_mesh_destroy(crowd_view->meshes[r]);
        free(crowd_view->meshes);
    }
    if (crowd_view->posed_models && crowd_view->posed_models == successor->posed_models)
        return;
    for (uint32_t m = 0; crowd_view->joint_lods && m < d->model_count; m++)
        th_joint_lod_destroy(crowd_view->joint_lods[m]);
    free(crowd_view->joint_lods);
    free(crowd_view->posed_as);
    free(crowd_view->posed_models);
}

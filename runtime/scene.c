#include <throng/runtime/scene.h>

#include <stdlib.h>
#include <string.h>

/* Clips differ from model to model, so each model's instances are dealt from a deal of their own. An instance depends
 * on the seed and its index alone, which is why the pieces fit together. */
static th_result deal_instances(th_scene *scene, const th_scene_desc *desc, th_error *err)
{
    uint32_t count = desc->instance_count;
    scene->instance_count = count;
    scene->instances = calloc((size_t)count + 1, sizeof *scene->instances);
    th_instance *deal = calloc((size_t)count + 1, sizeof *deal);
    if (!scene->instances || !deal) {
        free(deal);
        return th_fail(err, TH_ERR_MEMORY, "no memory for %u characters", count);
    }
    if (desc->instances)
        memcpy(scene->instances, desc->instances, count * sizeof *scene->instances);
    for (uint32_t r = 0; !desc->instances && r < scene->rig_count; r++) {
        uint32_t clip = desc->clips ? desc->clips[r] : TH_NO_INDEX;
        th_instances_scatter(scene->rigs, scene->rig_count, clip, desc->seed, deal, count);
        for (uint32_t i = 0; i < count; i++)
            if (deal[i].rig == r)
                scene->instances[i] = deal[i];
    }
    free(deal);
    return TH_OK;
}

static th_result create_rigs(th_scene *scene, const th_scene_desc *desc, th_error *err)
{
    scene->rigs = calloc((size_t)desc->model_count + 1, sizeof *scene->rigs);
    if (!scene->rigs)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %u rigs", desc->model_count);
    scene->borrows_rigs = desc->rigs != NULL;
    for (uint32_t m = 0; m < desc->model_count; m++) {
        if (desc->rigs) {
            scene->rigs[scene->rig_count++] = desc->rigs[m];
            continue;
        }
        th_rig *rig;
        th_rig_desc rig_desc = desc->rig;
        rig_desc.model = desc->models[m];
        th_result result = th_rig_create(&rig_desc, &rig, err);
        if (result != TH_OK)
            return result;
        scene->rigs[scene->rig_count++] = rig;
    }
    return TH_OK;
}

th_result th_scene_create(const th_scene_desc *desc, th_scene **out, th_error *err)
{
    *out = NULL;
    th_scene *scene = calloc(1, sizeof *scene);
    if (!scene)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a scene");
    th_result result = create_rigs(scene, desc, err);
    if (result == TH_OK)
        result = deal_instances(scene, desc, err);
    if (result == TH_OK)
        *out = scene;
    else
        th_scene_destroy(scene);
    return result;
}

void th_scene_destroy(th_scene *scene)
{
    if (!scene)
        return;
    for (uint32_t r = 0; !scene->borrows_rigs && r < scene->rig_count; r++)
        th_rig_destroy((th_rig *)scene->rigs[r]);
    free(scene->rigs);
    free(scene->instances);
    free(scene);
}

th_result th_scene_crowd(const th_scene *scene, th_isa isa, th_palette palette, th_crowd **out, th_error *err)
{
    th_crowd_desc desc = {
        .rigs = scene->rigs,
        .rig_count = scene->rig_count,
        .instances = scene->instances,
        .instance_count = scene->instance_count,
        .isa = isa,
        .palette = palette,
    };
    return th_crowd_create(&desc, out, err);
}

const th_model *th_scene_model(const th_scene *scene, uint32_t instance)
{
    return th_rig_model(scene->rigs[scene->instances[instance].rig]);
}

const th_clip *th_scene_clip(const th_scene *scene, uint32_t instance)
{
    const th_model *model = th_scene_model(scene, instance);
    uint32_t clip = scene->instances[instance].clip;
    return clip < model->clip_count ? &model->clips[clip] : NULL;
}

double th_scene_clip_time(const th_scene *scene, uint32_t instance, double time_s)
{
    const th_instance *i = &scene->instances[instance];
    return i->phase_s + i->speed * time_s;
}

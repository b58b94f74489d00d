#include <runtime/parallel.h>
#include <runtime/scene.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Models have different clips, so each model's instances come from a scattered crowd of its own. An instance depends
 * only on the seed and its index, so the parts match. */
static th_result scatter_instances(th_scene *scene, const th_scene_desc *desc, th_error *err)
{
    uint32_t count = desc->instance_count;
    assert(count == 0 || scene->compiled_model_count > 0);
    scene->instance_count = count;
    scene->instances = calloc((size_t)count + 1, sizeof *scene->instances);
    th_spawn *scattered = calloc((size_t)count + 1, sizeof *scattered);
    if (!scene->instances || !scattered) {
        free(scattered);
        return th_fail(err, TH_ERR_MEMORY, "no memory for %u characters", count);
    }
    if (desc->instances)
        memcpy(scene->instances, desc->instances, count * sizeof *scene->instances);
    for (uint32_t r = 0; !desc->instances && r < scene->compiled_model_count; r++) {
        uint32_t clip = desc->clips ? desc->clips[r] : TH_NO_INDEX;
        th_spawns_scatter(scene->compiled_models, scene->compiled_model_count, clip, desc->seed, scattered, count);
        for (uint32_t i = 0; i < count; i++)
            if (scattered[i].model == r)
                scene->instances[i] = scattered[i];
    }
    free(scattered);
    return TH_OK;
}

static th_result create_compiled_models(th_scene *scene, const th_scene_desc *desc, th_error *err)
{
    assert(desc->models || desc->compiled_models || desc->model_count == 0);
    scene->compiled_models = calloc((size_t)desc->model_count + 1, sizeof *scene->compiled_models);
    if (!scene->compiled_models)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %u compiled models", desc->model_count);
    scene->borrows_compiled_models = desc->compiled_models != NULL;
    for (uint32_t m = 0; m < desc->model_count; m++) {
        if (desc->compiled_models) {
            scene->compiled_models[scene->compiled_model_count++] = desc->compiled_models[m];
            continue;
        }
        th_compiled_model *compiled;
        th_compiled_model_desc compiled_desc = desc->compile;
        compiled_desc.in_place = th_behaviour_needs_repertoire(desc->behaviour);
        compiled_desc.model = desc->models[m];
        if (!compiled_desc.parallel)
            compiled_desc.parallel = th_parallel_run;
        th_result result = th_compiled_model_create_with(
            &compiled_desc, &(th_compiled_more){.repertoire = compiled_desc.in_place}, &compiled, err);
        if (result != TH_OK)
            return result;
        scene->compiled_models[scene->compiled_model_count++] = compiled;
    }
    return TH_OK;
}

static th_result create_behaviour(th_scene *scene, const th_scene_desc *desc, th_error *err)
{
    scene->borrows_routines = desc->routines != NULL;
    scene->routines = calloc((size_t)scene->compiled_model_count + 1, sizeof *scene->routines);
    if (!scene->routines)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %u routines", scene->compiled_model_count);
    for (uint32_t m = 0; m < scene->compiled_model_count; m++) {
        const th_routines_desc routines = {
            .compiled = scene->compiled_models[m], .kind = desc->behaviour, .seed = desc->seed};
        th_routines *made = NULL;
        const th_result result = desc->routines ? TH_OK : th_routines_create(&routines, &made, err);
        if (result != TH_OK)
            return result;
        scene->routines[m] = desc->routines ? desc->routines[m] : made;
    }
    const th_behaviour_desc behaviour = {scene->routines, scene->instances, scene->instance_count, desc->seed,
                                         desc->blend};
    return th_behaviour_create(&behaviour, &scene->behaviour, err);
}

th_result th_scene_create(const th_scene_desc *desc, th_scene **out, th_error *err)
{
    assert(desc && out);
    assert(desc->model_count > 0 || desc->instance_count == 0);
    *out = NULL;
    th_scene *scene = calloc(1, sizeof *scene);
    if (!scene)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a scene");
    th_result result = create_compiled_models(scene, desc, err);
    if (result == TH_OK)
        result = scatter_instances(scene, desc, err);
    if (result == TH_OK && desc->behaviour != TH_BEHAVIOUR_NONE)
        result = create_behaviour(scene, desc, err);
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
    th_behaviour_destroy(scene->behaviour);
    for (uint32_t r = 0; scene->routines && !scene->borrows_routines && r < scene->compiled_model_count; r++)
        th_routines_destroy((th_routines *)scene->routines[r]);
    free(scene->routines);
    for (uint32_t r = 0; !scene->borrows_compiled_models && r < scene->compiled_model_count; r++)
        th_compiled_model_destroy((th_compiled_model *)scene->compiled_models[r]);
    free(scene->compiled_models);
    free(scene->instances);
    free(scene);
}

th_result th_scene_crowd(const th_scene *scene, th_isa isa, th_format palette, th_crowd **out, th_error *err)
{
    assert(scene && out);
    const th_crowd_desc desc = {
        .compiled_models = scene->compiled_models,
        .compiled_model_count = scene->compiled_model_count,
        .isa = isa,
        .format = palette,
    };
    return th_crowd_create_with(&desc, scene->instances, scene->instance_count, out, err);
}

const th_model *th_scene_model(const th_scene *scene, uint32_t instance)
{
    assert(scene && instance < scene->instance_count);
    assert(scene->instances[instance].model < scene->compiled_model_count);
    return th_compiled_model_source(scene->compiled_models[scene->instances[instance].model]);
}

const th_clip *th_scene_clip(const th_scene *scene, uint32_t instance)
{
    assert(scene && instance < scene->instance_count);
    const th_model *model = th_scene_model(scene, instance);
    uint32_t clip = scene->instances[instance].clip;
    return clip < model->clip_count ? &model->clips[clip] : NULL;
}

double th_scene_clip_time(const th_scene *scene, uint32_t instance, double time_s)
{
    assert(scene && instance < scene->instance_count);
    const th_spawn *i = &scene->instances[instance];
    return i->phase_s + i->speed * time_s;
}

#include "shared_crowd.h"

#include <bench/validate.h>

#include <stdlib.h>
#include <string.h>

static bool behaves(const th_scene *scene, uint32_t model)
{
    return scene->behaviour && scene->routines[model];
}

th_result th_shared_crowd_init(th_shared_crowd *s, const th_scene *scene, th_crowd *crowd, double share_hz,
                               th_error *err)
{
    const size_t count = scene->instance_count, models = scene->compiled_model_count;
    *s = (th_shared_crowd){.scene = scene, .arena = th_arena_create()};
    s->list = th_arena_new(s->arena, uint32_t, count);
    s->groups = th_arena_new(s->arena, th_draw_list, models);
    s->layers = th_arena_new(s->arena, th_layer, count * TH_BEHAVIOUR_LAYERS);
    s->counts = th_arena_new(s->arena, uint8_t, count);
    if (th_arena_failed(s->arena))
        return th_fail(err, TH_ERR_MEMORY, "no memory to share the poses of %zu characters", count);
    s->table = (th_crowd_layers){s->layers, s->counts, TH_BEHAVIOUR_LAYERS};
    uint32_t listed = 0;
    for (uint32_t m = 0; m < models; m++) {
        th_draw_list *group = &s->groups[m];
        *group = (th_draw_list){.posed_as = m, .first = listed, .shares = !behaves(scene, m)};
        for (uint32_t i = 0; i < count; i++)
            if (scene->instances[i].model == m)
                s->list[listed++] = i;
        group->count = listed - group->first;
        s->apart += group->shares ? 0 : group->count;
    }
    const th_pose_plan_desc desc = {
        .crowd = crowd, .rates = {{share_hz}, share_hz > 0}, .most_lists = (uint32_t)models};
    return th_pose_plan_create(&desc, &s->plan, err);
}

void th_shared_crowd_fini(th_shared_crowd *s)
{
    th_pose_plan_destroy(s->plan);
    th_arena_destroy(s->arena);
    *s = (th_shared_crowd){0};
}

void th_shared_crowd_plan(th_shared_crowd *s, th_jobs *jobs, double time_s)
{
    th_pose_plan_make(s->plan, jobs, time_s, s->list, s->groups, s->scene->compiled_model_count);
}

th_result th_shared_crowd_evaluated(const th_shared_crowd *s, const th_scene_desc *desc, double time_s, th_scene **out,
                                    th_error *err)
{
    const th_sharing *sharing = th_pose_plan_readers(s->plan).sharing;
    uint8_t *seen = calloc((size_t)th_sharing_key_count(sharing) + 1, 1); /* a key is of one model */
    th_spawn *instances = calloc((size_t)s->scene->instance_count + 1, sizeof *instances);
    th_scene_desc evaluated = *desc;
    evaluated.instances = instances;
    evaluated.instance_count = 0;
    evaluated.compiled_models = s->scene->compiled_models;
    for (uint32_t k = 0; seen && instances && k < s->scene->instance_count; k++) {
        const th_spawn *instance = &s->scene->instances[s->list[k]];
        if (s->groups[instance->model].shares) {
            uint32_t key;
            th_sharing_keys(sharing, instance->model, 0, &s->list[k], 1, time_s, &key);
            if (seen[key])
                continue;
            seen[key] = 1;
        }
        instances[evaluated.instance_count++] = *instance;
    }
    const th_result result =
        seen && instances ? th_scene_create(&evaluated, out, err)
                          : th_fail(err, TH_ERR_MEMORY, "no memory for the characters whose poses are evaluated");
    free(seen);
    free(instances);
    return result;
}

const th_crowd_layers *th_shared_crowd_layers(th_shared_crowd *s, const th_crowd_layers *played, double time_s)
{
    const th_sharing *sharing = th_pose_plan_readers(s->plan).sharing;
    for (uint32_t i = 0; i < s->scene->instance_count; i++) {
        const uint32_t model = s->scene->instances[i].model;
        th_layer *layers = s->layers + (size_t)i * TH_BEHAVIOUR_LAYERS;
        if (behaves(s->scene, model)) {
            s->counts[i] = played->counts[i];
            memcpy(layers, played->layers + (size_t)i * played->stride, played->counts[i] * sizeof *layers);
            continue;
        }
        uint32_t key;
        th_sharing_keys(sharing, model, 0, &i, 1, time_s, &key);
        const th_shared_pose pose = th_sharing_pose(sharing, key);
        const bool is_clip = pose.clip < th_scene_model(s->scene, i)->clip_count;
        s->counts[i] = 1;
        *layers = (th_layer){
            .ratio = pose.ratio, .weight = 1, .clip = is_clip ? (uint16_t)pose.clip : TH_REST_CLIP, .mask = TH_NO_MASK};
    }
    return &s->table;
}

th_result th_shared_crowd_measure(th_shared_crowd *s, const th_crowd *crowd, const void *palette,
                                  const th_crowd_layers *played, double time_s, th_error *err)
{
    const th_validation_desc desc = {.scene = s->scene,
                                     .crowd = crowd,
                                     .palette = palette,
                                     .time_s = time_s,
                                     .sample = TH_VALIDATE_SAMPLE,
                                     .seed = 1,
                                     .layers = played};
    th_validation found = {0};
    const th_result result = th_validate_palettes(&desc, &found, err);
    s->error = found.max_error > s->error ? found.max_error : s->error;
    return result;
}

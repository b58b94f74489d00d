#include "shared_crowd.h"

#include <bench/validate.h>
#include <bench/validate_run.h>

#include <stdlib.h>
#include <string.h>

static bool behaves(const th_scene *scene, uint32_t model)
{
    return scene->behaviour && scene->routines[model];
}

static void list_all(th_shared_crowd *s)
{
    const th_scene *scene = s->scene;
    uint32_t listed = 0;
    for (uint32_t m = 0; m < scene->compiled_model_count; m++) {
        s->groups[m] = (th_pose_group){.model = m, .first = listed, .shares = !behaves(scene, m)};
        for (uint32_t i = 0; i < scene->instance_count; i++)
            if (scene->instances[i].model == m)
                s->list[listed++] = i;
        s->groups[m].count = listed - s->groups[m].first;
        s->apart += s->groups[m].shares ? 0 : s->groups[m].count;
    }
}

th_result th_shared_crowd_init(th_shared_crowd *s, const th_scene *scene, th_crowd *crowd, double share_hz,
                               th_error *err)
{
    const size_t count = scene->instance_count, models = scene->compiled_model_count;
    *s = (th_shared_crowd){.scene = scene};
    s->list = calloc(count + 1, sizeof *s->list);
    s->groups = calloc(models + 1, sizeof *s->groups);
    s->layers = calloc(count * TH_BEHAVIOUR_LAYERS + 1, sizeof *s->layers);
    s->counts = calloc(count + 1, 1);
    if (!s->list || !s->groups || !s->layers || !s->counts)
        return th_fail(err, TH_ERR_MEMORY, "no memory to share the poses of %zu characters", count);
    s->table = (th_crowd_layers){s->layers, s->counts, TH_BEHAVIOUR_LAYERS};
    list_all(s);
    const th_pose_plan_desc desc = {
        .crowd = crowd, .rates = {{share_hz}, share_hz > 0}, .most_groups = (uint32_t)models};
    return th_pose_plan_create(&desc, &s->plan, err);
}

void th_shared_crowd_fini(th_shared_crowd *s)
{
    th_pose_plan_destroy(s->plan);
    free(s->list);
    free(s->groups);
    free(s->layers);
    free(s->counts);
    *s = (th_shared_crowd){0};
}

void th_shared_crowd_plan(th_shared_crowd *s, th_jobs *jobs, double time_s)
{
    th_pose_plan_make(s->plan, jobs, time_s, s->list, s->groups, s->scene->compiled_model_count);
}

/* Keys of one model are numbers of their own. */
static uint32_t add_evaluated(const th_shared_crowd *s, const th_pose_group *group, double time_s, uint8_t *seen,
                              th_instance *out)
{
    const th_sharing *sharing = th_pose_plan_sharing(s->plan);
    uint32_t count = 0;
    for (uint32_t k = group->first; k < group->first + group->count; k++) {
        uint32_t key;
        if (group->shares) {
            th_sharing_keys(sharing, group->model, 0, &s->list[k], 1, time_s, &key);
            if (seen[key])
                continue;
            seen[key] = 1;
        }
        out[count++] = s->scene->instances[s->list[k]];
    }
    return count;
}

th_result th_shared_crowd_evaluated(const th_shared_crowd *s, const th_scene_desc *desc, double time_s, th_scene **out,
                                    th_error *err)
{
    const uint32_t models = s->scene->compiled_model_count;
    uint8_t *seen = calloc((size_t)th_sharing_key_count(th_pose_plan_sharing(s->plan)) + 1, 1);
    th_instance *instances = calloc((size_t)s->scene->instance_count + 1, sizeof *instances);
    th_scene_desc evaluated = *desc;
    th_result result = TH_OK;
    evaluated.instances = instances;
    evaluated.instance_count = 0;
    evaluated.compiled_models = s->scene->compiled_models;
    if (!seen || !instances)
        result = th_fail(err, TH_ERR_MEMORY, "no memory for the characters whose poses are evaluated");
    for (uint32_t m = 0; m < models && result == TH_OK; m++)
        evaluated.instance_count += add_evaluated(s, &s->groups[m], time_s, seen, instances + evaluated.instance_count);
    if (result == TH_OK)
        result = th_scene_create(&evaluated, out, err);
    free(seen);
    free(instances);
    return result;
}

static uint32_t shared_layer(const th_shared_crowd *s, uint32_t instance, double time_s, th_layer *out)
{
    const th_sharing *sharing = th_pose_plan_sharing(s->plan);
    const th_model *model = th_scene_model(s->scene, instance);
    uint32_t key;
    th_sharing_keys(sharing, s->scene->instances[instance].model, 0, &instance, 1, time_s, &key);
    const th_shared_pose pose = th_sharing_pose(sharing, key);
    *out = (th_layer){.ratio = pose.ratio,
                      .weight = 1,
                      .clip = pose.clip < model->clip_count ? (uint16_t)pose.clip : TH_REST_CLIP,
                      .mask = TH_NO_MASK};
    return 1;
}

const th_crowd_layers *th_shared_crowd_layers(th_shared_crowd *s, const th_crowd_layers *played, double time_s)
{
    for (uint32_t i = 0; i < s->scene->instance_count; i++) {
        th_layer *layers = s->layers + (size_t)i * TH_BEHAVIOUR_LAYERS;
        if (!behaves(s->scene, s->scene->instances[i].model)) {
            s->counts[i] = (uint8_t)shared_layer(s, i, time_s, layers);
            continue;
        }
        s->counts[i] = played->counts[i];
        memcpy(layers, played->layers + (size_t)i * played->stride, played->counts[i] * sizeof *layers);
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

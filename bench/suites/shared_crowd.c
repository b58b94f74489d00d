#include "shared_crowd.h"

#include <bench/validate.h>

#include <math.h>
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
    *s = (th_shared_crowd){.scene = scene, .share_hz = share_hz, .arena = th_arena_create()};
    s->list = th_arena_new(s->arena, uint32_t, count);
    s->groups = th_arena_new(s->arena, th_draw_list, models);
    s->layers = th_arena_new(s->arena, th_layer, count * TH_BEHAVIOUR_LAYERS);
    s->counts = th_arena_new(s->arena, uint8_t, count);
    s->shown = th_arena_new(s->arena, uint64_t, count);
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

/* Nearer than this to the edge of a step rounding may decide. */
#define EDGE 1e-6

/* The step of an instance's clip at time_s, of how many. At an edge the one that was taken, if it is one of the two. */
static double step_of(const th_shared_crowd *s, uint32_t i, double time_s, double *steps)
{
    const th_sharing *sharing = th_pose_plan_readers(s->plan).sharing;
    const th_clip *clip = th_scene_clip(s->scene, i);
    const double length_s = clip ? clip->duration_ticks / clip->ticks_per_second : 0;
    *steps = fmax(1, round(length_s * s->share_hz));
    if (!(length_s > 0))
        return 0;
    const double loops = th_scene_clip_time(s->scene, i, time_s) / length_s, at = (loops - floor(loops)) * *steps;
    const double after = fmod(round(at), *steps), before = after > 0 ? after - 1 : *steps - 1;
    if (fabs(at - round(at)) > EDGE)
        return floor(at);
    uint32_t key;
    th_sharing_keys(sharing, s->scene->instances[i].model, 0, &i, 1, time_s, &key);
    return fabs(th_sharing_pose(sharing, key).ratio * *steps - 0.5 - before) < 0.1 ? before : after;
}

static int compare_shown(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* How many different poses instances show. */
static uint32_t count_shown(const th_shared_crowd *s, double time_s)
{
    const uint32_t count = s->scene->instance_count;
    double steps;
    for (uint32_t i = 0; i < count; i++) {
        const th_spawn *spawn = &s->scene->instances[i];
        const bool shares = s->share_hz > 0 && !behaves(s->scene, spawn->model);
        const uint64_t clip = th_scene_clip(s->scene, i) ? spawn->clip : UINT16_MAX;
        const uint64_t step = shares ? (uint64_t)step_of(s, i, time_s, &steps) : i;
        s->shown[i] = (uint64_t)spawn->model << 48 | clip << 32 | step;
    }
    qsort(s->shown, count, sizeof *s->shown, compare_shown);
    uint32_t shown = count > 0;
    for (uint32_t i = 1; i < count; i++)
        shown += s->shown[i] != s->shown[i - 1];
    return shown;
}

const th_crowd_layers *th_shared_crowd_layers(th_shared_crowd *s, const th_crowd_layers *played, double time_s)
{
    double steps;
    for (uint32_t i = 0; i < s->scene->instance_count; i++) {
        const uint32_t model = s->scene->instances[i].model;
        th_layer *layers = s->layers + (size_t)i * TH_BEHAVIOUR_LAYERS;
        if (behaves(s->scene, model)) {
            s->counts[i] = played->counts[i];
            memcpy(layers, played->layers + (size_t)i * played->stride, played->counts[i] * sizeof *layers);
            continue;
        }
        const double step = step_of(s, i, time_s, &steps);
        const bool is_clip = th_scene_clip(s->scene, i) != NULL;
        s->counts[i] = 1;
        *layers = (th_layer){.ratio = (step + 0.5) / steps,
                             .weight = 1,
                             .clip = is_clip ? (uint16_t)s->scene->instances[i].clip : TH_REST_CLIP,
                             .mask = TH_NO_MASK};
    }
    return &s->table;
}

th_result th_shared_crowd_measure(th_shared_crowd *s, const th_crowd *crowd, const void *palette,
                                  const th_crowd_layers *played, double time_s, th_row *row, th_error *err)
{
    th_validation_desc desc = {.scene = s->scene,
                               .crowd = crowd,
                               .palette = palette,
                               .time_s = time_s,
                               .sample = TH_VALIDATE_SAMPLE,
                               .seed = 1,
                               .layers = played};
    th_validation found = {0}, ruled = {0};
    th_result result = th_validate_palettes(&desc, &found, err);
    s->error = fmax(s->error, found.max_error);
    desc.layers = s->share_hz > 0 ? th_shared_crowd_layers(s, played, time_s) : played;
    desc.sample = TH_VALIDATE_LEFT;
    desc.seed = th_draws_next(&row->draws);
    if (result == TH_OK)
        result = th_validate_palettes(&desc, &ruled, err);
    const uint32_t shown = count_shown(s, time_s), evaluated = th_pose_plan_counts(s->plan).evaluated;
    if (!row->failure[0] && ruled.excess > 1)
        th_row_fail(row, "at %g s character %u is %g units off the pose that it should share; %g are allowed", time_s,
                    ruled.instance, ruled.excess * ruled.allowed, ruled.allowed);
    else if (!row->failure[0] && shown != evaluated)
        th_row_fail(row, "at %g s %u poses are said to be evaluated; characters show %u", time_s, evaluated, shown);
    return result;
}

#include "crowd_view_parts.h"
#include "tint.h"

#include <core/build_checks.h>
#include <core/random.h>
#include <runtime/parallel.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Keeps random numbers apart from the crowd's of the same seed. */
#define STAY_SALT 0x73746179u

/* ---- the crowd ---- */

static const th_appearances *appearances_of(const th_crowd_view *crowd_view, uint32_t instance)
{
    return &crowd_view->desc.models[crowd_view->scene->instances[instance].model]->appearances;
}

/* Gives those to whom the mix gave a clip that walks one that stays in place, if their model has any. */
static void keep_in_place(const th_crowd_view *crowd_view)
{
    const th_scene *scene = crowd_view->scene;
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        th_instance *instance = &scene->instances[i];
        const uint32_t model = instance->model, clips = crowd_view->desc.models[model]->clip_count;
        const th_locomotion *of = &crowd_view->locomotions[crowd_view->first_locomotion[model]];
        uint32_t standing = 0;
        for (uint32_t c = 0; c < clips; c++)
            standing += of[c].speed == 0;
        if (standing == 0 || instance->clip >= clips || of[instance->clip].speed == 0 ||
            crowd_view->desc.clips[model] != TH_NO_INDEX)
            continue;
        uint32_t which = (uint32_t)(th_random_unit(crowd_view->desc.seed ^ STAY_SALT, i) * standing);
        uint32_t clip = 0;
        while (of[clip].speed != 0 || which-- > 0)
            clip++;
        instance->clip = clip;
    }
}

static th_result make_scene(th_crowd_view *crowd_view, th_error *err)
{
    if (crowd_view->scene)
        return TH_OK;
    const th_scene_desc desc = {
        .models = crowd_view->desc.models,
        .model_count = crowd_view->desc.model_count,
        .clips = crowd_view->desc.clips,
        .instance_count = crowd_view->desc.count,
        .seed = crowd_view->desc.seed,
        .compile = crowd_view->desc.compile,
        .compiled_models = (const th_compiled_model *const *)crowd_view->compiled_models,
        .instances = crowd_view->desc.instances,
    };
    th_result result = th_scene_create(&desc, &crowd_view->scene, err);
    if (result != TH_OK)
        return result;
    const th_scene *scene = crowd_view->scene;
    if (th_layout_is_for_standing(crowd_view->desc.layout) && !crowd_view->desc.instances)
        keep_in_place(crowd_view);
    crowd_view->motions = calloc((size_t)scene->instance_count + 1, sizeof *crowd_view->motions);
    if (!crowd_view->motions)
        return th_fail(err, TH_ERR_MEMORY, "no memory for the transforms of %u characters", scene->instance_count);
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        const th_instance *instance = &scene->instances[i];
        const th_appearances *appearances = appearances_of(crowd_view, i);
        crowd_view->motions[i] = (th_instance_motion){
            .locomotion = th_crowd_view_locomotion_of(crowd_view, instance),
            .phase_s = instance->phase_s,
            .speed = instance->speed,
            .stature = appearances->count > 0
                           ? appearances->statures[th_appearances_pick(appearances, crowd_view->desc.seed, i)]
                           : 1};
    }
    return TH_OK;
}

static void make_layout(th_crowd_view *crowd_view)
{
    const th_layout_desc desc = {
        .kind = crowd_view->desc.layout,
        .seed = crowd_view->desc.seed,
        .locomotions = crowd_view->locomotions,
        .locomotion_count = crowd_view->locomotion_count,
        .motions = crowd_view->motions,
        .count = crowd_view->scene->instance_count,
        .scale_spread = 0.06F,
    };
    crowd_view->layout = th_layout_make(&desc);
}

/* In a street everyone keeps the pace of a lane. */
static th_result make_behaviour(th_crowd_view *crowd_view, th_error *err)
{
    const th_scene *scene = crowd_view->scene;
    if (crowd_view->behaviour || !crowd_view->routines)
        return TH_OK;
    th_instance *instances = calloc((size_t)scene->instance_count + 1, sizeof *instances);
    if (!instances)
        return th_fail(err, TH_ERR_MEMORY, "no memory for the behaviour of %u characters", scene->instance_count);
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        instances[i] = scene->instances[i];
        instances[i].speed = th_layout_routine_speed(&crowd_view->layout, i);
    }
    const th_behaviour_desc desc = {(const th_routines *const *)crowd_view->routines, instances, scene->instance_count,
                                    crowd_view->desc.seed, crowd_view->desc.blend};
    const th_result result = th_behaviour_create(&desc, &crowd_view->behaviour, err);
    free(instances);
    return result;
}

static th_result make_cull(th_crowd_view *crowd_view, th_error *err)
{
    if (crowd_view->cull)
        return TH_OK;
    const uint32_t kinds = crowd_view->locomotion_count, count = crowd_view->scene->instance_count;
    th_cull_kind *kind = calloc((size_t)kinds + 1, sizeof *kind);
    uint32_t *of_instance = calloc((size_t)count + 1, sizeof *of_instance);
    th_result result = kind && of_instance ? TH_OK : th_fail(err, TH_ERR_MEMORY, "no memory for %u characters", count);
    if (result == TH_OK) {
        for (uint32_t r = 0, k = 0; r < crowd_view->desc.model_count; r++)
            for (uint32_t c = 0; c < th_crowd_view_locomotion_count(crowd_view, r); c++, k++)
                kind[k] = (th_cull_kind){crowd_view->locomotions[k].sphere, r};
        for (uint32_t i = 0; i < count; i++)
            of_instance[i] = crowd_view->motions[i].locomotion;
        const th_cull_desc desc = {.kinds = kind,
                                   .kind_count = kinds,
                                   .instance_kinds = of_instance,
                                   .instance_count = count,
                                   .mesh_count = crowd_view->desc.model_count,
                                   .lod_count = TH_RENDER_MESH_LODS};
        result = th_cull_create(&desc, &crowd_view->cull, err);
    }
    free(kind);
    free(of_instance);
    return result;
}

/* Instances of a model with appearances differ by these; others are tinted. */
static th_gpu_instance gpu_instance_of(const th_crowd_view *crowd_view, const th_instance_transform *at,
                                       uint32_t instance)
{
    const th_appearances *appearances = appearances_of(crowd_view, instance);
    th_gpu_instance out = {.position = {at->position[0], at->position[1], at->position[2]},
                           .scale = at->scale,
                           .heading = {cosf(at->heading_rad), sinf(at->heading_rad)},
                           .appearance = th_appearances_pick(appearances, crowd_view->desc.seed, instance) &
                                         (TH_MAX_APPEARANCES - 1)};
    if (appearances->count == 0)
        memcpy(out.tint, th_tint_instance(instance).rgba, sizeof out.tint);
    return out;
}

/* Computes once what a frame needs of each character's transform. */
static th_result make_places(th_crowd_view *crowd_view, th_error *err)
{
    const uint32_t count = crowd_view->scene->instance_count;
    const bool is_still = th_layout_is_still(&crowd_view->layout);
    if (crowd_view->gpu_instances)
        return TH_OK;
    crowd_view->gpu_instances = calloc((size_t)count + 1, sizeof *crowd_view->gpu_instances);
    crowd_view->walks = is_still ? NULL : calloc((size_t)count + 1, sizeof *crowd_view->walks);
    crowd_view->weaves =
        is_still || !crowd_view->behaviour ? NULL : calloc((size_t)count + 1, sizeof *crowd_view->weaves);
    if (!crowd_view->gpu_instances || (!crowd_view->walks && !is_still) ||
        (!crowd_view->weaves && !is_still && crowd_view->behaviour))
        return th_fail(err, TH_ERR_MEMORY, "no memory for the transforms of %u characters", count);
    for (uint32_t i = 0; i < count; i++) {
        th_instance_transform at;
        th_layout_place(&crowd_view->layout, i, i + 1, 0, &at);
        th_cull_move(crowd_view->cull, i, i + 1, &at);
        crowd_view->gpu_instances[i] = gpu_instance_of(crowd_view, &at, i);
        if (!is_still)
            crowd_view->walks[i] = th_layout_walk(&crowd_view->layout, i);
        if (crowd_view->weaves)
            crowd_view->weaves[i] = th_layout_weave(&crowd_view->layout, i);
    }
    return TH_OK;
}

static th_result make_crowd(th_crowd_view *crowd_view, th_error *err)
{
    if (crowd_view->crowd)
        return TH_OK;
    const th_crowd_desc desc = {
        .compiled_models = (const th_compiled_model *const *)crowd_view->compiled_models,
        .compiled_model_count = crowd_view->posed_count,
        .instances = crowd_view->scene->instances,
        .instance_count = crowd_view->scene->instance_count,
        .isa = crowd_view->desc.isa,
        .palette = crowd_view->desc.palette,
    };
    return th_crowd_create(&desc, &crowd_view->crowd, err);
}

/* ---- between two frames ---- */

static th_result make_threads(th_crowd_view *crowd_view, th_error *err)
{
    if (crowd_view->jobs)
        return TH_OK;
    return th_threads_create(&crowd_view->desc.jobs, &crowd_view->jobs, err);
}

static th_result make_frame(th_crowd_view *crowd_view, th_error *err)
{
    if (crowd_view->frame)
        return TH_OK;
    th_crowd_set_active(crowd_view->crowd, NULL,
                        crowd_view->scene->instance_count); /* th_frame_create allocates for the active ones */
    const th_frame_desc desc = {
        .crowd = crowd_view->crowd, .jobs = crowd_view->jobs, .behaviour = crowd_view->behaviour, .workers = true};
    return th_frame_create(&desc, &crowd_view->frame, err);
}

/* Fails with TH_ERR_INPUT, and says why, if only the CPU can pose. */
static th_result check_evaluator(const th_crowd_view *crowd_view, th_error *err)
{
    if (crowd_view->behaviour)
        return th_fail(err, TH_ERR_INPUT, "the characters have a behaviour, which blends clips");
    if (crowd_view->desc.look == TH_LOOK_WORKERS)
        return th_fail(err, TH_ERR_INPUT, "--look workers shows which thread posed");
    if (crowd_view->desc.look == TH_LOOK_ERROR || crowd_view->desc.error_every == 1)
        return th_fail(err, TH_ERR_INPUT, "the error on screen is measured in each frame");
    if (th_crowd_view_most_hold(&crowd_view->desc) > 1 && crowd_view->desc.error_every > 0)
        return th_fail(err, TH_ERR_INPUT, "the error on screen needs poses that are held");
    if (crowd_view->means)
        return th_fail(err, TH_ERR_INPUT, "--animation-budget limits what the CPU poses");
    uint32_t of[TH_CROWD_VIEW_MAX_MODELS * TH_LOD_LEVELS];
    for (uint32_t p = 0; p < crowd_view->posed_count; p++)
        of[p] = crowd_view->posed_models[p].of;
    return th_crowd_check_device(crowd_view->crowd, of, err);
}

static th_result create_evaluator(th_crowd_view *crowd_view, const th_gl *gl, th_error *err)
{
    const th_result result = check_evaluator(crowd_view, err);
    if (result != TH_OK) {
        crowd_view->evaluator = NULL; /* it is the base's */
        return result;
    }
    if (crowd_view->evaluator)
        return TH_OK;
    /* AUTO measures all characters, not those of the last picture. */
    th_crowd_set_active(crowd_view->crowd, NULL, crowd_view->scene->instance_count);
    const th_gpu_evaluator_desc desc = {
        .gl = gl,
        .compiled_models = (const th_compiled_model *const *)crowd_view->compiled_models,
        .compiled_model_count = crowd_view->posed_count,
        .palette = th_crowd_palette(crowd_view->crowd),
        .mapping = crowd_view->desc.gpu_mapping,
        .crowd = crowd_view->crowd,
    };
    return th_gpu_evaluator_create(&desc, &crowd_view->evaluator, err);
}

/* What the GPU cannot pose the CPU does. */
static th_result make_evaluator(th_crowd_view *crowd_view, th_gl *gl, th_error *err)
{
    const bool is_auto = crowd_view->desc.evaluator == TH_EVALUATOR_AUTO;
    if (crowd_view->desc.evaluator == TH_EVALUATOR_CPU || (is_auto && th_gl_get_info(gl)->software))
        return TH_OK;
    th_error why;
    const th_result result = create_evaluator(crowd_view, gl, &why);
    if (result == TH_OK)
        return TH_OK;
    if (result != TH_ERR_INPUT && !is_auto)
        return th_fail(err, result, "%s", why.text);
    th_fail(&crowd_view->fallback, result, "the CPU poses, not the GPU: %s", why.text);
    return TH_OK;
}

/* Frames make it as large as the characters that they see need. What llvmpipe writes cannot be protected from it. */
static th_result make_ring(th_crowd_view *crowd_view, th_gl *gl, th_error *err)
{
    const bool guard = TH_BUILD_CHECKS && crowd_view->desc.evaluator == TH_EVALUATOR_CPU;
    const th_ring_desc desc = {
        .upload = crowd_view->desc.upload, .held = th_crowd_view_most_hold(&crowd_view->desc) - 1, .guard = guard};
    th_result result = crowd_view->ring ? TH_OK : th_ring_create(gl, &desc, &crowd_view->ring, err);
    if (result == TH_OK)
        th_crowd_set_writes(crowd_view->crowd,
                            th_ring_write_combined(crowd_view->ring) ? TH_WRITES_STREAMED : TH_WRITES_CACHED);
    return result;
}

double th_crowd_view_unit(const th_crowd_view *crowd_view)
{
    return crowd_view->desc.models[0]->size / 1.8;
}

/* Whose ground is drawn, and what stands on it. */
static th_layout_kind surroundings_of(const th_crowd_view_desc *desc)
{
    return desc->surroundings && th_surroundings_has(desc->layout) ? desc->layout : TH_LAYOUT_GRID;
}

static th_result make_surroundings(th_crowd_view *crowd_view, th_error *err)
{
    if (crowd_view->surroundings || surroundings_of(&crowd_view->desc) == TH_LAYOUT_GRID)
        return TH_OK;
    return th_surroundings_create(&crowd_view->layout, th_crowd_view_unit(crowd_view), &crowd_view->surroundings, err);
}

static th_result make_renderer(th_crowd_view *crowd_view, th_gl *gl, th_error *err)
{
    if (crowd_view->renderer)
        return TH_OK;
    const th_crowd_renderer_desc desc = {
        .gl = gl,
        .meshes = (const th_render_mesh *const *)crowd_view->meshes,
        .mesh_count = crowd_view->posed_count,
        .palette = th_crowd_palette(crowd_view->crowd),
        .fetch = crowd_view->desc.fetch,
        .shadow_pixels = crowd_view->desc.shadow_pixels,
        .ground = surroundings_of(&crowd_view->desc),
    };
    return th_crowd_renderer_create(&desc, &crowd_view->renderer, err);
}

_Static_assert(TH_POSE_MAX_HOLD <= TH_RING_MAX_HELD + 1, "the ring keeps what is held");

uint32_t th_crowd_view_most_hold(const th_crowd_view_desc *desc)
{
    if (th_budget_is_set(&desc->budget))
        return TH_BUDGET_MOST_HOLD;
    return desc->hold > 1 ? desc->hold : 1;
}

bool th_crowd_view_has_joint_levels(const th_crowd_view_desc *desc)
{
    return desc->joint_lod || th_budget_is_set(&desc->budget);
}

/* Fails with TH_ERR_INPUT, and says why, if only the CPU can cull. */
static th_result check_culling(const th_crowd_view *crowd_view, th_error *err)
{
    if (crowd_view->desc.joint_lod)
        return th_fail(err, TH_ERR_INPUT, "levels of detail have joints of their own");
    if (crowd_view->desc.share_hz > 0)
        return th_fail(err, TH_ERR_INPUT, "characters share poses (--share)");
    if (crowd_view->desc.hold > 1)
        return th_fail(err, TH_ERR_INPUT, "poses are held");
    if (crowd_view->desc.error_every > 0)
        return th_fail(err, TH_ERR_INPUT, "the error on screen is measured in some frames");
    return TH_OK;
}

static th_result create_culling(th_crowd_view *crowd_view, const th_gl *gl, th_error *err)
{
    const th_result result = check_culling(crowd_view, err);
    if (result != TH_OK) {
        crowd_view->gpu_cull = NULL; /* it is the base's */
        return result;
    }
    const th_gpu_cull_desc desc = {
        .gl = gl,
        .renderer = crowd_view->renderer,
        .evaluator = crowd_view->evaluator,
        .crowd = crowd_view->crowd,
        .cull = crowd_view->cull,
        .gpu_instances = crowd_view->gpu_instances,
        .walks = crowd_view->walks,
        .street_length = (double)crowd_view->layout.length,
    };
    if (crowd_view->gpu_cull)
        return TH_OK;
    th_crowd_set_active(crowd_view->crowd, NULL, crowd_view->scene->instance_count);
    return th_gpu_cull_create(&desc, &crowd_view->gpu_cull, err);
}

/* Where the GPU poses, it culls as well, unless only the CPU can. Call after make_renderer. */
static th_result make_culling(th_crowd_view *crowd_view, const th_gl *gl, th_error *err)
{
    if (!crowd_view->evaluator) {
        crowd_view->gpu_cull = NULL;
        return TH_OK;
    }
    th_error why;
    const th_result result = create_culling(crowd_view, gl, &why);
    if (result == TH_OK)
        return TH_OK;
    if (result != TH_ERR_INPUT && crowd_view->desc.evaluator != TH_EVALUATOR_AUTO)
        return th_fail(err, result, "%s", why.text);
    th_fail(&crowd_view->fallback, result, "the CPU culls, not the GPU: %s", why.text);
    return TH_OK;
}

static th_result make_draws(th_crowd_view *crowd_view, th_error *err)
{
    crowd_view->group_count = 2 * crowd_view->desc.model_count * TH_RENDER_MESH_LODS;
    crowd_view->draws =
        calloc((size_t)crowd_view->group_count * th_crowd_view_most_hold(&crowd_view->desc), sizeof *crowd_view->draws);
    crowd_view->pose_groups = calloc(crowd_view->group_count, sizeof *crowd_view->pose_groups);
    return crowd_view->draws && crowd_view->pose_groups
               ? TH_OK
               : th_fail(err, TH_ERR_MEMORY, "no memory for %u draws", crowd_view->group_count);
}

/* How fast the fastest instance of a model walks in its own clip's time, in model sizes per second. Clips with root
 * motion are left out: their joints walk along. */
static double walking_speed(const th_crowd_view *crowd_view, uint32_t model)
{
    const th_locomotion *first = &crowd_view->locomotions[crowd_view->first_locomotion[model]];
    const uint32_t count = th_crowd_view_locomotion_count(crowd_view, model);
    float most = 0;
    for (uint32_t k = 0; k < count; k++)
        most = first[k].loop_s > 0 ? most : fmaxf(most, fabsf(first[k].speed));
    return (double)most / crowd_view->desc.models[model]->size;
}

/* What a model has to offer to a budget. */
static bool find_means(const th_crowd_view *crowd_view, uint32_t m, th_budget_means *out)
{
    static const double rates_hz[] = TH_BUDGET_RATES_HZ;
    const th_model *model = crowd_view->desc.models[m];
    const th_scene *scene = crowd_view->scene;
    double fastest = 0, instances = 0;
    for (uint32_t i = 0; i < scene->instance_count; i++)
        if (scene->instances[i].model == m) {
            fastest = fmax(fastest, fabs(th_layout_routine_speed(&crowd_view->layout, i)));
            instances++;
        }
    out->level_count = TH_LOD_LEVELS;
    for (uint32_t l = 0; l < TH_LOD_LEVELS; l++) {
        out->errors[l] = crowd_view->joint_lods[m]->levels[l].error / model->size;
        out->bones[l] = crowd_view->joint_lods[m]->levels[l].model->bone_count;
    }
    for (uint32_t r = 0; r < TH_BUDGET_RATES; r++) {
        double poses = 1; /* at rest */
        for (uint32_t c = 0; c < model->clip_count; c++)
            poses += 1 + model->clips[c].duration_ticks / model->clips[c].ticks_per_second * rates_hz[r];
        const bool behaves = crowd_view->routines && crowd_view->routines[m];
        out->poses[r] = behaves ? 1 : fmin(1, poses / instances);
    }
    const th_model *posed = th_compiled_model_source(crowd_view->compiled_models[m]); /* its gaits may be in place */
    const bool measured = th_budget_motion(posed, &out->motion);
    out->speed = (out->motion + walking_speed(crowd_view, m)) * fastest;
    return measured;
}

static th_result make_means(th_crowd_view *crowd_view, th_error *err)
{
    const uint32_t count = crowd_view->desc.model_count;
    crowd_view->last_s = (double)NAN;
    if (!th_budget_is_set(&crowd_view->desc.budget))
        return TH_OK;
    crowd_view->means = calloc((size_t)count + 1, sizeof *crowd_view->means);
    bool ok = crowd_view->means;
    for (uint32_t m = 0; ok && m < count; m++)
        ok = find_means(crowd_view, m, &crowd_view->means[m]);
    return ok ? TH_OK : th_fail(err, TH_ERR_MEMORY, "no memory to measure how fast %u models move", count);
}

static th_sharing_rates rates_of(const th_crowd_view_desc *desc)
{
    static const double budget_hz[] = TH_BUDGET_RATES_HZ;
    th_sharing_rates rates = {{desc->share_hz}, desc->share_hz > 0};
    if (!th_budget_is_set(&desc->budget))
        return rates;
    memcpy(rates.hz, budget_hz, sizeof budget_hz);
    rates.count = sizeof budget_hz / sizeof *budget_hz;
    return rates;
}

/* Call after make_draws and make_renderer. */
static th_result make_plan(th_crowd_view *crowd_view, th_error *err)
{
    const uint32_t hold = th_crowd_view_most_hold(&crowd_view->desc);
    const bool holds = hold > 1;
    const th_pose_plan_desc desc = {.crowd = crowd_view->crowd,
                                    .rates = rates_of(&crowd_view->desc),
                                    .most_bytes = th_crowd_renderer_most_shared_bytes(crowd_view->renderer),
                                    .most_groups = crowd_view->group_count,
                                    .most_hold = holds ? hold : 0};
    if (holds)
        crowd_view->held_at = calloc((size_t)crowd_view->scene->instance_count + 1, sizeof *crowd_view->held_at);
    if (holds && !crowd_view->held_at)
        return th_fail(err, TH_ERR_MEMORY, "no memory to hold the poses of %u characters",
                       crowd_view->scene->instance_count);
    return th_pose_plan_create(&desc, &crowd_view->plan, err);
}

/* Nothing of it is shared with another crowd view: it is made in little time, and measures few frames. */
static th_result make_error(th_crowd_view *crowd_view, th_error *err)
{
    const uint32_t every = crowd_view->desc.look == TH_LOOK_ERROR ? 1 : crowd_view->desc.error_every;
    if (every == 0)
        return TH_OK;
    crowd_view->visible_px = calloc((size_t)crowd_view->scene->instance_count + 1, sizeof *crowd_view->visible_px);
    if (!crowd_view->visible_px)
        return th_fail(err, TH_ERR_MEMORY, "no memory for the error on screen of %u characters",
                       crowd_view->scene->instance_count);
    const th_screen_error_desc desc = {.scene = crowd_view->scene,
                                       .posed_models = crowd_view->posed_models,
                                       .posed_count = crowd_view->posed_count,
                                       .behaviour = crowd_view->behaviour,
                                       .jobs = crowd_view->jobs,
                                       .isa = crowd_view->desc.isa,
                                       .every = every,
                                       .kept = th_crowd_view_most_hold(&crowd_view->desc)};
    return th_screen_error_create(&desc, &crowd_view->error, err);
}

/* What the frames of the base have taught of the costs. It goes on drawing until here. */
static void take_budget(th_crowd_view *crowd_view)
{
    if (crowd_view->budget_base)
        crowd_view->budget = crowd_view->budget_base->budget;
    crowd_view->budget_base = NULL;
}

/* ---- all ---- */

/* Shares the parts of the base that depend on nothing that changed. */
static void share(th_crowd_view *crowd_view, const th_crowd_view *base)
{
    assert(crowd_view->desc.model_count == base->desc.model_count);
    assert(memcmp(crowd_view->desc.models, base->desc.models, sizeof base->desc.models) == 0);
    const th_crowd_view_desc *a = &crowd_view->desc, *b = &base->desc;
    const bool behaviour = a->behaviour == b->behaviour;
    const bool levels = th_crowd_view_has_joint_levels(a) == th_crowd_view_has_joint_levels(b);
    const bool compiled_models = levels && behaviour && a->compile.interpolation == b->compile.interpolation &&
                                 a->compile.sampling == b->compile.sampling && a->compile.keys == b->compile.keys &&
                                 a->compile.bound_m == b->compile.bound_m;
    const bool routines = compiled_models && a->seed == b->seed;
    const bool locomotions = a->behaviour == TH_BEHAVIOUR_NONE
                                 ? behaviour && a->compile.interpolation == b->compile.interpolation
                                 : routines;
    const bool scene = compiled_models && a->count == b->count && a->seed == b->seed &&
                       th_layout_is_for_standing(a->layout) == th_layout_is_for_standing(b->layout) &&
                       (a->behaviour == TH_BEHAVIOUR_BLEND || memcmp(a->clips, b->clips, sizeof a->clips) == 0);
    const bool places = scene && a->layout == b->layout;
    const bool crowd = scene && a->isa == b->isa && a->palette == b->palette;
    const bool jobs = a->jobs.threads == b->jobs.threads && a->jobs.scheduler == b->jobs.scheduler &&
                      a->jobs.placement == b->jobs.placement;
    crowd_view->joint_lods = levels ? base->joint_lods : NULL;
    crowd_view->posed_models = levels ? base->posed_models : NULL;
    crowd_view->posed_count = levels ? base->posed_count : 0;
    crowd_view->posed_as = levels ? base->posed_as : NULL;
    const bool costs = crowd && jobs && a->budget.ms == b->budget.ms && a->budget.bones == b->budget.bones;
    crowd_view->budget_base = costs ? base : NULL;
    crowd_view->meshes = levels ? base->meshes : NULL;
    crowd_view->first_locomotion = locomotions ? base->first_locomotion : NULL;
    crowd_view->locomotions = locomotions ? base->locomotions : NULL;
    crowd_view->locomotion_count = base->locomotion_count;
    crowd_view->compiled_models = compiled_models ? base->compiled_models : NULL;
    crowd_view->routines = routines ? base->routines : NULL;
    crowd_view->scene = scene ? base->scene : NULL;
    crowd_view->motions = scene ? base->motions : NULL;
    crowd_view->behaviour = places ? base->behaviour : NULL;
    crowd_view->walks = places ? base->walks : NULL;
    crowd_view->weaves = places ? base->weaves : NULL;
    crowd_view->gpu_instances = places ? base->gpu_instances : NULL;
    crowd_view->cull = places ? base->cull : NULL;
    crowd_view->crowd = crowd ? base->crowd : NULL;
    crowd_view->jobs = jobs ? base->jobs : NULL;
    crowd_view->frame = crowd && jobs && (places || a->behaviour == TH_BEHAVIOUR_NONE) ? base->frame : NULL;
    crowd_view->evaluator =
        crowd && a->evaluator == b->evaluator && a->gpu_mapping == b->gpu_mapping ? base->evaluator : NULL;
    const bool ring = a->upload == b->upload && a->evaluator == b->evaluator &&
                      th_crowd_view_most_hold(a) == th_crowd_view_most_hold(b);
    crowd_view->ring = ring ? base->ring : NULL;
    const bool palette = a->palette == b->palette && (crowd || a->palette != TH_PALETTE_AUTO);
    const bool ground = surroundings_of(a) == surroundings_of(b);
    crowd_view->surroundings = places && ground ? base->surroundings : NULL;
    crowd_view->renderer = palette && levels && ground && a->fetch == b->fetch && a->shadow_pixels == b->shadow_pixels
                               ? base->renderer
                               : NULL;
    crowd_view->gpu_cull =
        places && crowd_view->evaluator && crowd_view->ring && crowd_view->renderer ? base->gpu_cull : NULL;
}

th_result th_crowd_view_prepare(const th_crowd_view_desc *desc, const th_crowd_view *base, th_crowd_view **out,
                                th_error *err)
{
    assert(desc && out);
    assert(desc->model_count > 0 && desc->model_count <= TH_CROWD_VIEW_MAX_MODELS);
    assert((unsigned)desc->layout < TH_LAYOUT_COUNT && (unsigned)desc->look < TH_LOOK_COUNT);
    assert(desc->count > 0 && desc->zoom > 0 && desc->hold <= TH_POSE_MAX_HOLD);
    *out = NULL;
    if (desc->count > TH_GPU_INSTANCE_PALETTES)
        return th_fail(err, TH_ERR_LIMIT, "%u characters; at most %u can be drawn", desc->count,
                       TH_GPU_INSTANCE_PALETTES);
    th_crowd_view *crowd_view = calloc(1, sizeof *crowd_view);
    if (!crowd_view)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a crowd view");
    crowd_view->desc = *desc;
    if (base)
        share(crowd_view, base);
    th_result result = th_crowd_view_find_posed(crowd_view, err);
    if (result == TH_OK)
        result = th_crowd_view_compile(crowd_view, err);
    if (result == TH_OK)
        result = th_crowd_view_make_meshes(crowd_view, err);
    if (result == TH_OK)
        result = th_crowd_view_make_routines(crowd_view, err);
    if (result == TH_OK)
        result = th_crowd_view_make_locomotions(crowd_view, err);
    if (result == TH_OK)
        result = make_scene(crowd_view, err);
    if (result == TH_OK)
        result = make_cull(crowd_view, err);
    if (result == TH_OK)
        make_layout(crowd_view);
    if (result == TH_OK)
        result = make_behaviour(crowd_view, err);
    if (result == TH_OK)
        result = make_places(crowd_view, err);
    if (result == TH_OK)
        result = make_crowd(crowd_view, err);
    if (result == TH_OK)
        result = make_means(crowd_view, err);
    if (result == TH_OK)
        *out = crowd_view;
    else
        th_crowd_view_release(crowd_view, base);
    return result;
}

th_result th_crowd_view_complete(th_crowd_view *crowd_view, th_gl *gl, th_error *err)
{
    assert(crowd_view && gl);
    assert(crowd_view->scene && crowd_view->crowd && !crowd_view->draws); /* prepared, and not yet complete */
    take_budget(crowd_view);
    th_result result = make_threads(crowd_view, err);
    if (result == TH_OK)
        result = make_frame(crowd_view, err);
    if (result == TH_OK)
        result = make_draws(crowd_view, err);
    if (result == TH_OK)
        result = make_error(crowd_view, err);
    if (result == TH_OK)
        result = make_evaluator(crowd_view, gl, err);
    if (result == TH_OK)
        result = make_ring(crowd_view, gl, err);
    if (result == TH_OK)
        result = make_surroundings(crowd_view, err);
    if (result == TH_OK)
        result = make_renderer(crowd_view, gl, err);
    if (result == TH_OK)
        result = make_culling(crowd_view, gl, err);
    if (result == TH_OK)
        result = make_plan(crowd_view, err);
    return result;
}

th_palette th_palette_for(th_palette palette, const th_gl *gl)
{
    assert(gl);
    return palette == TH_PALETTE_AUTO && th_gl_get_info(gl)->software ? TH_PALETTE_F32 : palette;
}

th_result th_crowd_view_create(const th_crowd_view_desc *desc, th_gl *gl, th_crowd_view **out, th_error *err)
{
    assert(desc && gl && out);
    th_crowd_view_desc resolved = *desc;
    resolved.palette = th_palette_for(desc->palette, gl);
    th_result result = th_crowd_view_prepare(&resolved, NULL, out, err);
    if (result == TH_OK)
        result = th_crowd_view_complete(*out, gl, err);
    if (result != TH_OK) {
        th_crowd_view_destroy(*out);
        *out = NULL;
    }
    return result;
}

/* The part, or NULL if the successor shares it. */
static void *own(void *part, const void *successors)
{
    return part != successors ? part : NULL;
}

static void release_routines(th_crowd_view *crowd_view, const th_crowd_view *successor)
{
    th_routines **routines = own(crowd_view->routines, successor->routines);
    for (uint32_t r = 0; routines && r < crowd_view->desc.model_count; r++)
        th_routines_destroy(routines[r]);
    free(routines);
    free(own(crowd_view->first_locomotion, successor->first_locomotion));
    free(own(crowd_view->locomotions, successor->locomotions));
}

void th_crowd_view_release(th_crowd_view *crowd_view, const th_crowd_view *successor)
{
    assert(crowd_view != successor || !crowd_view);
    static const th_crowd_view empty;
    if (!crowd_view)
        return;
    if (!successor)
        successor = &empty;
    th_screen_error_destroy(crowd_view->error);
    free(crowd_view->visible_px);
    th_gpu_cull_destroy(own(crowd_view->gpu_cull, successor->gpu_cull));
    th_crowd_renderer_destroy(own(crowd_view->renderer, successor->renderer));
    th_surroundings_destroy(own(crowd_view->surroundings, successor->surroundings));
    th_ring_destroy(own(crowd_view->ring, successor->ring));
    th_gpu_evaluator_destroy(own(crowd_view->evaluator, successor->evaluator));
    th_frame_destroy(own(crowd_view->frame, successor->frame));
    th_jobs_destroy(own(crowd_view->jobs, successor->jobs));
    th_pose_plan_destroy(crowd_view->plan);
    th_crowd_destroy(own(crowd_view->crowd, successor->crowd));
    th_cull_destroy(own(crowd_view->cull, successor->cull));
    th_scene_destroy(own(crowd_view->scene, successor->scene));
    th_behaviour_destroy(own(crowd_view->behaviour, successor->behaviour));
    free(own(crowd_view->motions, successor->motions));
    free(own(crowd_view->walks, successor->walks));
    free(own(crowd_view->weaves, successor->weaves));
    free(own(crowd_view->gpu_instances, successor->gpu_instances));
    release_routines(crowd_view, successor);
    th_crowd_view_release_posed(crowd_view, successor);
    free(crowd_view->draws);
    free(crowd_view->pose_groups);
    free(crowd_view->means);
    free(crowd_view->held_at);
    free(crowd_view);
}

void th_crowd_view_destroy(th_crowd_view *crowd_view)
{
    th_crowd_view_release(crowd_view, NULL);
}

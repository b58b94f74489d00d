/* What a crowd view is made of: first what needs no context and takes long (th_crowd_view_prepare), then what is made
 * between two frames (th_crowd_view_complete). A part that is there already is one that the base shares. */
#include "crowd_view_parts.h"
#include "tint.h"

#include <anim/bounds.h>
#include <anim/clip_choice.h>
#include <core/build_checks.h>
#include <core/random.h>
#include <runtime/parallel.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Keeps random numbers apart from the crowd's of the same seed. */
#define IDLE_SALT 0x69646C65u
#define IDLE      0.7 /* of those who stand in a street or a plaza */
#define STAY_SALT 0x73746179u
#define LOOSENESS 0.12F /* of a crowd that need not be comparable */

/* A blend of poses may reach a little farther than each of them. A guess, not a bound: a character beyond it may vanish
 * at the edge of the picture. */
#define BLEND_REACH 1.05F

_Static_assert(TH_CROWD_VIEW_MAX_HOLD == TH_POSE_MAX_HOLD && TH_POSE_MAX_HOLD <= TH_RING_MAX_HELD + 1,
               "the ring keeps what is held");
_Static_assert(TH_CROWD_VIEW_MAX_COUNT == TH_GPU_INSTANCE_PALETTES, "a palette for each");

uint32_t th_crowd_view_most_hold(const th_crowd_view_desc *desc)
{
    if (th_budget_is_set(&desc->budget))
        return TH_BUDGET_MOST_HOLD;
    return desc->hold > 1 ? desc->hold : 1;
}

/* Whether characters may be posed with fewer joints. */
static bool has_joint_levels(const th_crowd_view_desc *desc)
{
    return desc->joint_lod || th_budget_is_set(&desc->budget);
}

/* Whose ground is drawn, and what stands on it. */
static th_layout_kind surroundings_of(const th_crowd_view_desc *desc)
{
    return desc->surroundings && th_surroundings_has(desc->layout) ? desc->layout : TH_LAYOUT_GRID;
}

bool th_crowd_view_is_close(const th_crowd_view_desc *desc)
{
    return !(desc->zoom > 0) || surroundings_of(desc) != TH_LAYOUT_GRID;
}

/* Whether most of those who stand in a mix are idle: in scenes where nothing happens to cheer at. */
static bool mostly_idle(const th_crowd_view_desc *desc)
{
    return surroundings_of(desc) == TH_LAYOUT_STREET || surroundings_of(desc) == TH_LAYOUT_PLAZA;
}

/* ---- models ----
 *
 * Characters are posed and drawn as their own models, or as those of their joint levels. With joint_lod they have at a
 * level of detail of the mesh the joint level of the same error limit; a budget chooses. */

/* Finds and compiles them, unless the desc does; then makes meshes and routines. */
static th_result make_models(th_crowd_view *v, th_error *err)
{
    const th_crowd_view_desc *d = &v->desc;
    const bool is_found = v->posed_count > 0, compiles = !v->compiled_models[0], has_meshes = v->meshes[0],
               behaves = v->plays.kind != TH_BEHAVIOUR_NONE;
    th_result result = TH_OK;
    v->posed_count = is_found ? v->posed_count : d->model_count;
    for (uint32_t m = 0; m < d->model_count && !is_found; m++) {
        uint32_t *as = v->posed_as[m];
        v->posed_models[m] = (th_posed_model){d->models[m], m, 0};
        if (has_joint_levels(d))
            result = th_joint_lod_create(d->models[m], &v->joint_lods[m], err);
        if (result != TH_OK)
            return result;
        const th_joint_lod *lod = v->joint_lods[m];
        as[0] = m;
        for (uint32_t l = 1; l < TH_RENDER_MESH_LODS; l++) {
            as[l] = as[l - 1];
            if (!lod || lod->levels[l].model == lod->levels[l - 1].model)
                continue;
            as[l] = v->posed_count++;
            v->posed_models[as[l]] = (th_posed_model){lod->levels[l].model, m, l};
        }
    }
    for (uint32_t p = 0; p < v->posed_count && compiles && result == TH_OK; p++) {
        const th_posed_model *posed = &v->posed_models[p];
        th_compiled_model_desc desc = d->compile;
        if (d->compiled_models && p < d->model_count) {
            v->compiled_models[p] = (th_compiled_model *)d->compiled_models[p];
            continue;
        }
        desc.model = posed->model;
        desc.parallel = th_parallel_run;
        desc.parallel_ctx = &v->desc.jobs;
        desc.in_place = th_behaviour_needs_repertoire(v->plays.kind);
        th_compiled_more more = {0};
        if (p < d->model_count) {
            more.repertoire = desc.in_place;
        } else { /* layers of a character name masks of its own model */
            const th_repertoire *own = th_compiled_model_repertoire(v->compiled_models[posed->of]);
            more.in_place_as = v->compiled_models[posed->of];
            desc.masks = own ? own->masks : desc.masks;
            desc.mask_count = own ? own->mask_count : desc.mask_count;
        }
        result = th_compiled_model_create_with(&desc, &more, &v->compiled_models[p], err);
    }
    for (uint32_t p = 0; p < v->posed_count && !has_meshes && result == TH_OK; p++) {
        const th_posed_model *posed = &v->posed_models[p];
        result = th_render_mesh_create(posed->model, posed->of == p ? NULL : v->meshes[posed->of], &v->meshes[p], err);
    }
    for (uint32_t m = 0; m < d->model_count && behaves && result == TH_OK; m++) {
        if (v->routines[m])
            continue;
        const th_routines_desc desc = {.compiled = v->compiled_models[m], .kind = v->plays.kind, .seed = d->seed};
        result = th_routines_create(&desc, &v->routines[m], err);
    }
    return result;
}

/* ---- the ways in which they move: one for each clip, one for the rest pose, and one for the routines ---- */

static th_sphere sphere_of(const th_bounds_sphere *s)
{
    return (th_sphere){{(float)s->centre[0], (float)s->centre[1], (float)s->centre[2]}, (float)s->radius};
}

/* A sphere around two. */
static th_sphere enclose(th_sphere a, th_sphere b)
{
    const float x = b.centre[0] - a.centre[0], y = b.centre[1] - a.centre[1], z = b.centre[2] - a.centre[2];
    const float apart = sqrtf(x * x + y * y + z * z), radius = (apart + a.radius + b.radius) / 2;
    if (apart + b.radius <= a.radius)
        return a;
    if (apart + a.radius <= b.radius)
        return b;
    const float part = (radius - a.radius) / apart;
    return (th_sphere){{a.centre[0] + part * x, a.centre[1] + part * y, a.centre[2] + part * z}, radius};
}

static uint32_t locomotions_of(const th_crowd_view *v, uint32_t model)
{
    return v->desc.models[model]->clip_count + 1 + (v->routines[model] ? 1 : 0);
}

static th_result make_locomotions(th_crowd_view *v, th_error *err)
{
    const th_crowd_view_desc *d = &v->desc;
    v->locomotion_count = 0;
    for (uint32_t m = 0; m < d->model_count; m++) {
        v->first_locomotion[m] = v->locomotion_count;
        v->locomotion_count += locomotions_of(v, m);
    }
    if (v->locomotions)
        return TH_OK;
    v->locomotions = calloc((size_t)v->locomotion_count + 1, sizeof *v->locomotions);
    if (!v->locomotions)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %u clips", v->locomotion_count);
    for (uint32_t m = 0; m < d->model_count; m++) {
        const th_model *model = th_compiled_model_source(v->compiled_models[m]);
        th_locomotion *locomotions = &v->locomotions[v->first_locomotion[m]];
        /* Models may use very different units, so all are scaled to the size of the first. */
        const double ratio = d->models[m]->size / d->models[0]->size;
        const float scale = ratio > 10 || ratio < 0.1 ? (float)(1 / ratio) : 1;
        for (uint32_t c = 0; c <= model->clip_count; c++) {
            th_bounds bounds;
            th_root_motion motion;
            const uint32_t clip = c < model->clip_count ? c : TH_NO_INDEX;
            th_result result = th_model_bounds(model, clip, d->compile.interpolation, &bounds, err);
            if (result == TH_OK)
                result = th_clip_root_motion(model, clip, d->compile.interpolation, &motion, err);
            if (result != TH_OK)
                return result;
            locomotions[c] = (th_locomotion){
                .sphere = sphere_of(&bounds.all),
                .reach = (float)bounds.reach,
                .lowest_y = (float)bounds.lowest_y,
                .scale = scale,
                .speed = (float)motion.speed,
                .facing_rad = (float)motion.heading_rad,
                .loop_s = motion.loop_s,
                .suits_crowds = c < model->clip_count && th_clip_suits_crowds(&model->clips[c]),
            };
            for (uint32_t p = 0; p < TH_BOUNDS_PARTS; p++)
                locomotions[c].parts[p] = sphere_of(&bounds.parts[p]);
        }
        if (!v->routines[m])
            continue;

        /* That of the routines is one of all clips, because a routine may play any of them. */
        const th_repertoire *repertoire = th_compiled_model_repertoire(v->compiled_models[m]);
        th_locomotion all = locomotions[0];
        for (uint32_t c = 1; c < model->clip_count; c++) {
            all.sphere = enclose(all.sphere, locomotions[c].sphere);
            all.reach = fmaxf(all.reach, locomotions[c].reach);
        }
        all.sphere.radius *= BLEND_REACH;
        all.speed = (float)th_routines_get_extent(v->routines[m]).speed;
        all.deviation = (float)th_routines_get_extent(v->routines[m]).deviation;
        all.loop_s = 0;
        if (repertoire && repertoire->gait_count > 0) {
            const th_locomotion *gait = &locomotions[repertoire->gaits[0].clip];
            all.lowest_y = gait->lowest_y;
            all.facing_rad = gait->facing_rad;
        }
        locomotions[model->clip_count + 1] = all;
    }
    return TH_OK;
}

/* ---- who there is, and where ---- */

static const th_appearances *appearances_of(const th_crowd_view *v, uint32_t instance)
{
    return &v->desc.models[v->scene->instances[instance].model]->appearances;
}

/* Whether a mix may have it. Where all stand, it stays in place. */
static bool suits(const th_crowd_view *v, uint32_t model, uint32_t clip)
{
    const th_locomotion *of = &v->locomotions[v->first_locomotion[model] + clip];
    return of->suits_crowds && !(th_layout_is_for_standing(v->desc.layout) && of->speed != 0);
}

/* The clip that is called idle, by the shortest such name; TH_NO_INDEX if none that stands is. */
static uint32_t idle_of(const th_crowd_view *v, uint32_t model)
{
    const th_model *of = v->desc.models[model];
    uint32_t idle = TH_NO_INDEX;
    for (uint32_t c = 0; c < of->clip_count; c++)
        if (suits(v, model, c) && v->locomotions[v->first_locomotion[model] + c].speed == 0 &&
            strcasestr(of->clips[c].name, "idle") &&
            (idle == TH_NO_INDEX || strlen(of->clips[c].name) < strlen(of->clips[idle].name)))
            idle = c;
    return idle;
}

static th_result make_scene(th_crowd_view *v, th_error *err)
{
    const th_crowd_view_desc *d = &v->desc;
    const th_scene_desc desc = {
        .models = d->models,
        .model_count = d->model_count,
        .clips = d->clips,
        .instance_count = d->count,
        .seed = d->seed,
        .compile = d->compile,
        .compiled_models = (const th_compiled_model *const *)v->compiled_models,
        .instances = v->plays.instances,
    };
    th_result result = th_scene_create(&desc, &v->scene, err);
    if (result != TH_OK)
        return result;
    const th_scene *scene = v->scene;
    v->motions = calloc((size_t)scene->instance_count + 1, sizeof *v->motions);
    if (!v->motions)
        return th_fail(err, TH_ERR_MEMORY, "no memory for the transforms of %u characters", scene->instance_count);
    uint32_t idle[TH_CROWD_VIEW_MAX_MODELS];
    for (uint32_t m = 0; m < d->model_count; m++)
        idle[m] = mostly_idle(d) ? idle_of(v, m) : TH_NO_INDEX;
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        th_spawn *instance = &scene->instances[i];
        const uint32_t clips = d->models[instance->model]->clip_count;

        /* Who got a clip from the mix that does not suit gets one that does, if the model has any. */
        const bool is_mixed = d->clips[instance->model] == TH_NO_INDEX && !v->plays.instances;
        uint32_t suitable = 0;
        for (uint32_t c = 0; c < clips && is_mixed; c++)
            suitable += suits(v, instance->model, c);
        if (suitable > 0 && instance->clip < clips && !suits(v, instance->model, instance->clip)) {
            uint32_t which = (uint32_t)(th_random_unit(d->seed ^ STAY_SALT, i) * suitable);
            instance->clip = 0;
            while (!suits(v, instance->model, instance->clip) || which-- > 0)
                instance->clip++;
        }
        const bool stands =
            instance->clip < clips && v->locomotions[v->first_locomotion[instance->model] + instance->clip].speed == 0;
        if (is_mixed && stands && idle[instance->model] != TH_NO_INDEX && th_random_unit(d->seed ^ IDLE_SALT, i) < IDLE)
            instance->clip = idle[instance->model];
        const uint32_t way = v->routines[instance->model] ? clips + 1 : instance->clip < clips ? instance->clip : clips;
        const th_appearances *appearances = appearances_of(v, i);
        v->motions[i] = (th_instance_motion){
            .locomotion = v->first_locomotion[instance->model] + way,
            .phase_s = instance->phase_s,
            .speed = instance->speed,
            .stature =
                appearances->count > 0 ? appearances->statures[th_appearances_pick(appearances, d->seed, i)] : 1};
    }
    return TH_OK;
}

/* The cull, and what a frame needs of each character's transform, in its memory. */
static th_result make_places(th_crowd_view *v, th_error *err)
{
    const uint32_t count = v->scene->instance_count;
    th_arena *memory = th_arena_create();
    th_cull_kind *kinds = th_arena_new(memory, th_cull_kind, v->locomotion_count);
    uint32_t *of_instances = th_arena_new(memory, uint32_t, count);
    th_result result = TH_OK;
    if (th_arena_failed(memory))
        result = th_fail(err, TH_ERR_MEMORY, "no memory for %u characters", count);
    if (result == TH_OK) {
        for (uint32_t m = 0, k = 0; m < v->desc.model_count; m++)
            for (uint32_t c = 0; c < locomotions_of(v, m); c++, k++)
                kinds[k] = (th_cull_kind){v->locomotions[k].sphere, m};
        for (uint32_t i = 0; i < count; i++)
            of_instances[i] = v->motions[i].locomotion;
        const th_cull_desc desc = {.kinds = kinds,
                                   .kind_count = v->locomotion_count,
                                   .instance_kinds = of_instances,
                                   .instance_count = count,
                                   .model_count = v->desc.model_count,
                                   .lod_count = TH_RENDER_MESH_LODS};
        result = th_cull_create(&desc, &v->cull, err);
    }
    th_arena_destroy(memory);
    if (result != TH_OK)
        return result;

    memory = v->cull->arena;
    const bool is_still = v->layout.desc.kind != TH_LAYOUT_STREET;
    v->gpu_instances = th_arena_new(memory, th_gpu_instance, count);
    v->walks = is_still ? NULL : th_arena_new(memory, th_walk, count);
    v->weaves = is_still || !v->behaviour ? NULL : th_arena_new(memory, th_weave, count);
    if (th_arena_failed(memory))
        return th_fail(err, TH_ERR_MEMORY, "no memory for the transforms of %u characters", count);
    for (uint32_t i = 0; i < count; i++) {
        const th_appearances *appearances = appearances_of(v, i);
        th_instance_transform at;
        th_layout_place(&v->layout, i, i + 1, 0, &at);
        th_cull_move(v->cull, i, i + 1, &at);
        v->gpu_instances[i] = (th_gpu_instance){.position = {at.position[0], at.position[1], at.position[2]},
                                                .scale = at.scale,
                                                .heading = {cosf(at.heading_rad), sinf(at.heading_rad)},
                                                .appearance = th_appearances_pick(appearances, v->desc.seed, i) &
                                                              (TH_MAX_APPEARANCES - 1)};
        if (appearances->count == 0) /* they would differ by these */
            memcpy(v->gpu_instances[i].tint, th_tint_instance(i).rgba, sizeof v->gpu_instances[i].tint);
        if (v->walks)
            v->walks[i] = th_layout_walk(&v->layout, i);
        if (v->weaves)
            v->weaves[i] = th_layout_weave(&v->layout, i);
    }
    return TH_OK;
}

/* What a model has to offer to a budget. False: no memory. */
static bool find_means(const th_crowd_view *v, uint32_t m, th_budget_means *out)
{
    static const double rates_hz[] = TH_BUDGET_RATES_HZ;
    const th_model *model = v->desc.models[m];
    const th_scene *scene = v->scene;
    double fastest = 0, instances = 0;
    for (uint32_t i = 0; i < scene->instance_count; i++)
        if (scene->instances[i].model == m) {
            fastest = fmax(fastest, fabs(th_layout_routine_speed(&v->layout, i)));
            instances++;
        }
    out->level_count = TH_LOD_LEVELS;
    for (uint32_t l = 0; l < TH_LOD_LEVELS; l++) {
        out->errors[l] = v->joint_lods[m]->levels[l].error / model->size;
        out->bones[l] = v->joint_lods[m]->levels[l].model->bone_count;
    }
    for (uint32_t r = 0; r < TH_BUDGET_RATES; r++) {
        double poses = 1; /* at rest */
        for (uint32_t c = 0; c < model->clip_count; c++)
            poses += 1 + model->clips[c].duration_ticks / model->clips[c].ticks_per_second * rates_hz[r];
        out->poses[r] = v->routines[m] ? 1 : fmin(1, poses / instances);
    }
    /* How fast the fastest instance walks in its own clip's time, in model sizes per second. Clips with root motion are
     * left out: their joints walk along. */
    float walking = 0;
    for (uint32_t c = 0; c < locomotions_of(v, m); c++) {
        const th_locomotion *locomotion = &v->locomotions[v->first_locomotion[m] + c];
        walking = locomotion->loop_s > 0 ? walking : fmaxf(walking, fabsf(locomotion->speed));
    }
    const th_model *posed = th_compiled_model_source(v->compiled_models[m]); /* its gaits may be in place */
    const bool measured = th_budget_motion(posed, &out->motion);
    out->speed = (out->motion + (double)walking / model->size) * fastest;
    return measured;
}

/* ---- sharing ---- */

/* Shares the parts of the base that depend on nothing that changed. */
static void share(th_crowd_view *v, const th_crowd_view *base)
{
    const th_crowd_view_desc *a = &v->desc, *b = &base->desc;
    assert(a->model_count == b->model_count && memcmp(a->models, b->models, sizeof a->models) == 0);
    const th_behaviour_kind kind = v->plays.kind;
    const bool behaviour = kind == base->plays.kind;
    const bool levels = has_joint_levels(a) == has_joint_levels(b);
    const bool compiled_models = levels && behaviour && a->compile.interpolation == b->compile.interpolation &&
                                 a->compile.sampling == b->compile.sampling && a->compile.keys == b->compile.keys &&
                                 a->compile.bound_m == b->compile.bound_m;
    const bool routines = compiled_models && a->seed == b->seed;
    const bool locomotions =
        kind == TH_BEHAVIOUR_NONE ? behaviour && a->compile.interpolation == b->compile.interpolation : routines;
    const bool scene = compiled_models && a->count == b->count && a->seed == b->seed &&
                       th_layout_is_for_standing(a->layout) == th_layout_is_for_standing(b->layout) &&
                       mostly_idle(a) == mostly_idle(b) &&
                       (kind == TH_BEHAVIOUR_BLEND || memcmp(a->clips, b->clips, sizeof a->clips) == 0);
    const bool places = scene && a->layout == b->layout && th_crowd_view_is_close(a) == th_crowd_view_is_close(b);
    const bool crowd = scene && a->isa == b->isa && a->palette == b->palette;
    const bool jobs = a->jobs.threads == b->jobs.threads && a->jobs.scheduler == b->jobs.scheduler &&
                      a->jobs.placement == b->jobs.placement;
    const bool costs = crowd && jobs && a->budget.ms == b->budget.ms && a->budget.bones == b->budget.bones;
    const bool evaluator = crowd && a->evaluator == b->evaluator && a->gpu_mapping == b->gpu_mapping;
    const bool ring = a->upload == b->upload && a->evaluator == b->evaluator &&
                      th_crowd_view_most_hold(a) == th_crowd_view_most_hold(b);
    const bool palette = a->palette == b->palette && (crowd || a->palette != TH_FORMAT_AUTO);
    const bool ground = surroundings_of(a) == surroundings_of(b);
    const bool renderer = palette && levels && ground && a->fetch == b->fetch && a->shadow_pixels == b->shadow_pixels;
    if (levels) {
        v->posed_count = base->posed_count;
        memcpy(v->posed_models, base->posed_models, sizeof v->posed_models);
        memcpy(v->posed_as, base->posed_as, sizeof v->posed_as);
        memcpy(v->joint_lods, base->joint_lods, sizeof v->joint_lods);
        memcpy(v->meshes, base->meshes, sizeof v->meshes);
    }
    if (compiled_models)
        memcpy(v->compiled_models, base->compiled_models, sizeof v->compiled_models);
    if (routines)
        memcpy(v->routines, base->routines, sizeof v->routines);
    v->locomotions = locomotions ? base->locomotions : NULL;
    v->scene = scene ? base->scene : NULL;
    v->motions = scene ? base->motions : NULL;
    v->behaviour = places ? base->behaviour : NULL;
    v->cull = places ? base->cull : NULL;
    v->walks = places ? base->walks : NULL;
    v->weaves = places ? base->weaves : NULL;
    v->gpu_instances = places ? base->gpu_instances : NULL;
    v->crowd = crowd ? base->crowd : NULL;
    v->budget_base = costs ? base : NULL;
    v->jobs = jobs ? base->jobs : NULL;
    v->frame = crowd && jobs && (places || kind == TH_BEHAVIOUR_NONE) ? base->frame : NULL;
    v->evaluator = evaluator ? base->evaluator : NULL;
    v->ring = ring ? base->ring : NULL;
    v->surroundings = places && ground ? base->surroundings : NULL;
    v->renderer = renderer ? base->renderer : NULL;
    v->gpu_cull = places && v->evaluator && v->ring && v->renderer ? base->gpu_cull : NULL;
}

/* The part, or NULL if the successor shares it. */
static void *own(void *part, const void *successors)
{
    return part != successors ? part : NULL;
}

void th_crowd_view_release(th_crowd_view *v, const th_crowd_view *successor)
{
    assert(v != successor || !v);
    static th_crowd_view empty; /* not const: so it takes no room in the file */
    if (!v)
        return;
    const th_crowd_view *next = successor ? successor : &empty;
    th_screen_error_destroy(v->error);
    th_gpu_cull_destroy(own(v->gpu_cull, next->gpu_cull));
    th_crowd_renderer_destroy(own(v->renderer, next->renderer));
    th_surroundings_destroy(own(v->surroundings, next->surroundings));
    th_ring_destroy(own(v->ring, next->ring));
    th_gpu_evaluator_destroy(own(v->evaluator, next->evaluator));
    th_frame_destroy(own(v->frame, next->frame));
    th_jobs_destroy(own(v->jobs, next->jobs));
    th_pose_plan_destroy(v->plan);
    th_crowd_destroy(own(v->crowd, next->crowd));
    th_cull_destroy(own(v->cull, next->cull));
    th_scene_destroy(own(v->scene, next->scene));
    th_behaviour_destroy(own(v->behaviour, next->behaviour));
    free(own(v->motions, next->motions));
    free(own(v->locomotions, next->locomotions));
    for (uint32_t m = 0; m < v->desc.model_count; m++)
        th_routines_destroy(own(v->routines[m], next->routines[m]));
    for (uint32_t p = v->desc.compiled_models ? v->desc.model_count : 0; p < v->posed_count; p++)
        th_compiled_model_destroy(own(v->compiled_models[p], next->compiled_models[p]));
    for (uint32_t p = v->posed_count; p-- > 0;) /* levels have the images of their model's */
        th_render_mesh_destroy(own(v->meshes[p], next->meshes[p]));
    for (uint32_t m = 0; m < v->desc.model_count; m++)
        th_joint_lod_destroy(own(v->joint_lods[m], next->joint_lods[m]));
    th_arena_destroy(v->arena);
}

void th_crowd_view_destroy(th_crowd_view *v)
{
    th_crowd_view_release(v, NULL);
}

/* ---- preparing ---- */

static th_result prepare(th_crowd_view *v, th_error *err)
{
    const th_crowd_view_desc *d = &v->desc;
    th_result result = make_models(v, err);
    if (result == TH_OK)
        result = make_locomotions(v, err);
    if (result == TH_OK && !v->scene)
        result = make_scene(v, err);
    if (result != TH_OK)
        return result;
    v->layout = th_layout_make(&(th_layout_desc){.kind = d->layout,
                                                 .seed = d->seed,
                                                 .locomotions = v->locomotions,
                                                 .locomotion_count = v->locomotion_count,
                                                 .motions = v->motions,
                                                 .count = v->scene->instance_count,
                                                 .spacing = th_crowd_view_spacing(v),
                                                 .looseness = th_crowd_view_is_close(d) ? LOOSENESS : 0,
                                                 .scale_spread = 0.06F});
    if (!v->behaviour && v->plays.kind != TH_BEHAVIOUR_NONE) {
        const uint32_t count = v->scene->instance_count;
        th_spawn *instances = calloc((size_t)count + 1, sizeof *instances);
        if (!instances)
            return th_fail(err, TH_ERR_MEMORY, "no memory for the behaviour of %u characters", count);
        for (uint32_t i = 0; i < count; i++) { /* in a street everyone keeps the pace of a lane */
            instances[i] = v->scene->instances[i];
            instances[i].speed = th_layout_routine_speed(&v->layout, i);
        }
        const th_behaviour_desc desc = {(const th_routines *const *)v->routines, instances, count, d->seed,
                                        v->plays.blend};
        result = th_behaviour_create(&desc, &v->behaviour, err);
        free(instances);
    }
    if (result == TH_OK && !v->cull)
        result = make_places(v, err);
    if (result == TH_OK && !v->crowd) {
        const th_crowd_desc desc = {.compiled_models = (const th_compiled_model *const *)v->compiled_models,
                                    .compiled_model_count = v->posed_count,
                                    .isa = d->isa,
                                    .format = d->palette};
        result = th_crowd_create_with(&desc, v->scene->instances, v->scene->instance_count, &v->crowd, err);
    }
    if (result != TH_OK)
        return result;

    /* What is never shared. */
    const uint32_t hold = th_crowd_view_most_hold(d), count = v->scene->instance_count;
    v->draws = th_arena_new(v->arena, th_draw, (size_t)v->cull->draw_list_count * hold);
    v->held_at = hold > 1 ? th_arena_new(v->arena, th_gpu_instance, count) : NULL;
    v->visible_px = th_arena_new(v->arena, float, d->look == TH_LOOK_ERROR || d->error_every > 0 ? count : 0);
    v->means = th_budget_is_set(&d->budget) ? th_arena_new(v->arena, th_budget_means, d->model_count) : NULL;
    if (th_arena_failed(v->arena))
        return th_fail(err, TH_ERR_MEMORY, "no memory for the frames of %u characters", count);
    for (uint32_t m = 0; v->means && m < d->model_count; m++)
        if (!find_means(v, m, &v->means[m]))
            return th_fail(err, TH_ERR_MEMORY, "no memory to measure how fast %u models move", d->model_count);
    return TH_OK;
}

/* Those that describe models, crowds and threads are checked where these are created. */
static const char *wrong_field(const th_crowd_view_desc *d)
{
    const double finite = d->share_hz + d->budget.ms + d->start_s + d->yaw_deg + d->pitch_deg + d->zoom;
    if (d->model_count == 0 || d->model_count > TH_CROWD_VIEW_MAX_MODELS)
        return "model_count";
    for (uint32_t m = 0; m < d->model_count; m++)
        if (d->compiled_models ? !d->compiled_models[m] : !d->models[m])
            return "models";
    return d->count == 0                                                                         ? "count"
           : (unsigned)d->compile.interpolation >= TH_INTERPOLATION_COUNT                        ? "compile"
           : (unsigned)d->isa >= TH_ISA_COUNT || (unsigned)d->palette > TH_FORMAT_AUTO           ? "isa or palette"
           : (unsigned)d->layout >= TH_LAYOUT_COUNT                                              ? "layout"
           : (unsigned)d->look >= TH_LOOK_COUNT                                                  ? "look"
           : (unsigned)d->upload >= TH_RING_UPLOAD_COUNT || (unsigned)d->fetch >= TH_FETCH_COUNT ? "upload or fetch"
           : (unsigned)d->evaluator >= TH_EVALUATOR_COUNT                                        ? "evaluator"
           : (unsigned)d->gpu_mapping >= TH_GPU_MAPPING_COUNT                                    ? "gpu_mapping"
           : d->hold > TH_CROWD_VIEW_MAX_HOLD                                                    ? "hold"
           : !isfinite(finite) || d->share_hz < 0 || d->budget.ms < 0 || d->zoom < 0
               ? "share_hz, budget, start_s, yaw_deg, pitch_deg or zoom"
           : !th_reserved_is_zero(d->reserved) ? "reserved"
                                               : NULL;
}

th_result th_crowd_view_prepare(const th_crowd_view_desc *desc, const th_crowd_behaviour *behaviour,
                                const th_crowd_view *base, th_crowd_view **out, th_error *err)
{
    assert(desc && out);
    *out = NULL;
    if (!TH_VALID(!wrong_field(desc)))
        return th_fail(err, TH_ERR_USAGE, "th_crowd_view_desc.%s is not valid", wrong_field(desc));
    if (desc->count > TH_CROWD_VIEW_MAX_COUNT)
        return th_fail(err, TH_ERR_LIMIT, "%u characters; at most %u can be drawn", desc->count,
                       TH_CROWD_VIEW_MAX_COUNT);
    th_arena *arena = th_arena_create();
    th_crowd_view *v = th_arena_new(arena, th_crowd_view, 1);
    if (!v) {
        th_arena_destroy(arena);
        return th_fail(err, TH_ERR_MEMORY, "no memory for a crowd view");
    }
    v->arena = arena;
    v->desc = *desc;
    for (uint32_t m = 0; m < desc->model_count && desc->compiled_models; m++)
        v->desc.models[m] = th_compiled_model_source(desc->compiled_models[m]);
    v->plays = behaviour ? *behaviour : (th_crowd_behaviour){0};
    v->unit = v->desc.models[0]->size / 1.8;
    v->last_s = (double)NAN;
    if (base)
        share(v, base);
    const th_result result = prepare(v, err);
    if (result == TH_OK)
        *out = v;
    else
        th_crowd_view_release(v, base);
    return result;
}

/* ---- completing ---- */

/* What the GPU cannot do the CPU does, which the fallback then says; or the GPU is asked for, and what it lacks is no
 * matter of input: an error. */
static th_result fall_back(th_crowd_view *v, const char *what, th_result result, const th_error *why, th_error *err)
{
    if (result == TH_OK)
        return TH_OK;
    if (result != TH_ERR_INPUT && v->desc.evaluator != TH_EVALUATOR_AUTO)
        return th_fail(err, result, "%s", why->text);
    th_fail(&v->fallback, result, "the CPU %s, not the GPU: %s", what, why->text);
    return TH_OK;
}

static th_result make_evaluator(th_crowd_view *v, const th_gl *gl, th_error *err)
{
    const th_crowd_view_desc *d = &v->desc;
    th_error why = {0};
    if (d->evaluator == TH_EVALUATOR_CPU || (d->evaluator == TH_EVALUATOR_AUTO && th_gl_get_info(gl)->software))
        return TH_OK;
    const char *const needs_cpu =
        v->behaviour                                           ? "the characters have a behaviour, which blends clips"
        : d->look == TH_LOOK_WORKERS                           ? "--look workers shows which thread posed"
        : d->look == TH_LOOK_ERROR || d->error_every == 1      ? "the error on screen is measured in each frame"
        : th_crowd_view_most_hold(d) > 1 && d->error_every > 0 ? "the error on screen needs poses that are held"
        : v->means                                             ? "--animation-budget limits what the CPU poses"
                                                               : NULL;
    uint32_t of[TH_CROWD_VIEW_MAX_POSED];
    for (uint32_t p = 0; p < v->posed_count; p++)
        of[p] = v->posed_models[p].of;
    th_result result =
        needs_cpu ? th_fail(&why, TH_ERR_INPUT, "%s", needs_cpu) : th_crowd_check_device(v->crowd, of, &why);
    if (result != TH_OK)
        v->evaluator = NULL; /* it is the base's */
    if (result == TH_OK && !v->evaluator) {
        /* AUTO measures all characters, not those of the last picture. */
        th_crowd_set_active(v->crowd, NULL, v->scene->instance_count);
        const th_gpu_evaluator_desc desc = {
            .gl = gl,
            .compiled_models = (const th_compiled_model *const *)v->compiled_models,
            .compiled_model_count = v->posed_count,
            .palette = th_crowd_format(v->crowd),
            .mapping = d->gpu_mapping,
            .crowd = v->crowd,
        };
        result = th_gpu_evaluator_create(&desc, &v->evaluator, &why);
    }
    return fall_back(v, "poses", result, &why, err);
}

/* Where the GPU poses, it culls as well, unless only the CPU can. */
static th_result make_culling(th_crowd_view *v, const th_gl *gl, th_error *err)
{
    const th_crowd_view_desc *d = &v->desc;
    th_error why = {0};
    const char *const needs_cpu = d->joint_lod         ? "levels of detail have joints of their own"
                                  : d->share_hz > 0    ? "characters share poses (--share)"
                                  : d->hold > 1        ? "poses are held"
                                  : d->error_every > 0 ? "the error on screen is measured in some frames"
                                                       : NULL;
    th_result result = v->evaluator && needs_cpu ? th_fail(&why, TH_ERR_INPUT, "%s", needs_cpu) : TH_OK;
    if (!v->evaluator || result != TH_OK)
        v->gpu_cull = NULL; /* it is the base's */
    if (v->evaluator && result == TH_OK && !v->gpu_cull) {
        th_crowd_set_active(v->crowd, NULL, v->scene->instance_count);
        result = th_gpu_cull_create(v, gl, &v->gpu_cull, &why);
    }
    return fall_back(v, "culls", result, &why, err);
}

th_result th_crowd_view_complete(th_crowd_view *v, th_gl *gl, th_error *err)
{
    assert(v && gl && v->scene && v->crowd && !v->plan); /* prepared, and not yet complete */
    const th_crowd_view_desc *d = &v->desc;
    const uint32_t hold = th_crowd_view_most_hold(d);
    if (v->budget_base) /* what its frames have taught of the costs. It goes on drawing until here */
        v->budget = v->budget_base->budget;
    v->budget_base = NULL;

    /* What poses. Of the measurement nothing is shared: it is made in little time, and measures few frames. */
    th_result result = v->jobs ? TH_OK : th_jobs_create(&d->jobs, &v->jobs, err);
    if (result == TH_OK && !v->frame) {
        th_crowd_set_active(v->crowd, NULL,
                            v->scene->instance_count); /* th_frame_create allocates for the active ones */
        const th_frame_desc desc = {.crowd = v->crowd, .jobs = v->jobs};
        result = th_frame_create_with(&desc, v->behaviour, &v->frame, err);
    }
    if (result == TH_OK && (d->look == TH_LOOK_ERROR || d->error_every > 0))
        result = th_screen_error_create(v, &v->error, err);
    if (result == TH_OK)
        result = make_evaluator(v, gl, err);

    /* Where it goes. Frames make the ring as large as the characters that they see need. What llvmpipe writes cannot be
     * protected from it. */
    if (result == TH_OK && !v->ring) {
        const bool guard = TH_BUILD_CHECKS && d->evaluator == TH_EVALUATOR_CPU;
        result =
            th_ring_create(gl, &(th_ring_desc){.upload = d->upload, .held = hold - 1, .guard = guard}, &v->ring, err);
    }
    if (result == TH_OK)
        th_crowd_set_writes(v->crowd, th_ring_get_info(v->ring).write_combined ? TH_WRITES_STREAMED : TH_WRITES_CACHED);

    /* What draws. */
    if (result == TH_OK && !v->surroundings && surroundings_of(d) != TH_LAYOUT_GRID)
        result = th_surroundings_create(&v->layout, v->unit, &v->surroundings, err);
    if (result == TH_OK && !v->renderer) {
        const th_crowd_renderer_desc desc = {
            .gl = gl,
            .meshes = (const th_render_mesh *const *)v->meshes,
            .mesh_count = v->posed_count,
            .palette = th_crowd_format(v->crowd),
            .fetch = d->fetch,
            .shadow_pixels = d->shadow_pixels,
            .ground = surroundings_of(d),
        };
        result = th_crowd_renderer_create(&desc, &v->renderer, err);
    }
    if (result == TH_OK)
        result = make_culling(v, gl, err);
    if (result != TH_OK)
        return result;

    th_pose_plan_desc desc = {.crowd = v->crowd,
                              .rates = {{d->share_hz}, d->share_hz > 0},
                              .most_bytes = th_crowd_renderer_most_shared_bytes(v->renderer),
                              .most_lists = v->cull->draw_list_count,
                              .most_hold = hold > 1 ? hold : 0};
    if (v->means)
        desc.rates = (th_sharing_rates){TH_BUDGET_RATES_HZ, TH_BUDGET_RATES};
    return th_pose_plan_create(&desc, &v->plan, err);
}

th_format th_palette_for(th_format palette, const th_gl *gl)
{
    assert(gl);
    return palette == TH_FORMAT_AUTO && th_gl_get_info(gl)->software ? TH_FORMAT_F32 : palette;
}

th_result th_crowd_view_build(const th_crowd_view_desc *desc, const th_crowd_behaviour *behaviour,
                              const th_crowd_view *base, th_gl *gl, th_crowd_view **out, th_error *err)
{
    assert(desc && gl && out);
    th_crowd_view_desc resolved = *desc;
    resolved.palette = th_palette_for(desc->palette, gl);
    th_result result = th_crowd_view_prepare(&resolved, behaviour, base, out, err);
    if (result == TH_OK)
        result = th_crowd_view_complete(*out, gl, err);
    if (result != TH_OK) {
        th_crowd_view_release(*out, base);
        *out = NULL;
    }
    return result;
}

th_result th_crowd_view_create(const th_crowd_view_desc *desc, th_gl *gl, th_crowd_view **out, th_error *err)
{
    if (!TH_VALID(desc && gl && out))
        return th_fail(err, TH_ERR_USAGE, "a crowd view needs a desc, a context and a place");
    return th_crowd_view_build(desc, NULL, NULL, gl, out, err);
}

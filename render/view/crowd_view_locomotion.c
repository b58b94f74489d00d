/* The ways in which the characters of a crowd view move: one for each clip of a model, one for its rest pose, and one
 * for its routines. */
#include "crowd_view_parts.h"

#include <throng/anim/bounds.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* ---- routines ---- */

th_result th_crowd_view_make_routines(th_crowd_view *crowd_view, th_error *err)
{
    const th_crowd_view_desc *d = &crowd_view->desc;
    if (crowd_view->routines || d->behaviour == TH_BEHAVIOUR_NONE)
        return TH_OK;
    crowd_view->routines = calloc((size_t)d->model_count + 1, sizeof *crowd_view->routines);
    th_result result =
        crowd_view->routines ? TH_OK : th_fail(err, TH_ERR_MEMORY, "no memory for %u routines", d->model_count);
    for (uint32_t m = 0; m < d->model_count && result == TH_OK; m++) {
        const th_routines_desc desc = {
            .compiled = crowd_view->compiled_models[m], .kind = d->behaviour, .seed = d->seed};
        result = th_routines_create(&desc, &crowd_view->routines[m], err);
    }
    return result;
}

static bool has_routines(const th_crowd_view *crowd_view, uint32_t model)
{
    return crowd_view->routines && crowd_view->routines[model];
}

/* ---- clips ---- */

static th_sphere sphere_of(const th_bounds_sphere *s)
{
    return (th_sphere){{(float)s->centre[0], (float)s->centre[1], (float)s->centre[2]}, (float)s->radius};
}

static th_result make_locomotion(th_interpolation interpolation, const th_model *model, uint32_t clip, float scale,
                                 th_locomotion *out, th_error *err)
{
    th_bounds bounds;
    th_root_motion root_motion;
    const uint32_t which = clip < model->clip_count ? clip : TH_NO_INDEX;
    th_result result = th_model_bounds(model, which, interpolation, &bounds, err);
    if (result == TH_OK)
        result = th_clip_root_motion(model, which, interpolation, &root_motion, err);
    if (result != TH_OK)
        return result;
    *out = (th_locomotion){
        .sphere = sphere_of(&bounds.all),
        .reach = (float)bounds.reach,
        .lowest_y = (float)bounds.lowest_y,
        .scale = scale,
        .speed = (float)root_motion.speed,
        .facing_rad = (float)root_motion.heading_rad,
        .loop_s = root_motion.loop_s,
    };
    for (uint32_t p = 0; p < TH_BOUNDS_PARTS; p++)
        out->parts[p] = sphere_of(&bounds.parts[p]);
    return TH_OK;
}

/* Models may use very different units, so all are scaled to the size of the first. */
static float scale_of(const th_crowd_view *crowd_view, uint32_t model)
{
    const double ratio = crowd_view->desc.models[model]->size / crowd_view->desc.models[0]->size;
    return ratio > 10 || ratio < 0.1 ? (float)(1 / ratio) : 1;
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

/* A blend of poses may reach a little farther than each of them. */
#define BLEND_REACH 1.05F

/* All clips, because a routine may play any of them. clips: their locomotions. */
static th_locomotion of_routines(const th_crowd_view *crowd_view, uint32_t model, const th_locomotion *clips)
{
    const th_repertoire *repertoire = th_compiled_model_repertoire(crowd_view->compiled_models[model]);
    const th_routines *routines = crowd_view->routines[model];
    th_locomotion all = clips[0];
    for (uint32_t c = 1; c < crowd_view->desc.models[model]->clip_count; c++) {
        all.sphere = enclose(all.sphere, clips[c].sphere);
        all.reach = fmaxf(all.reach, clips[c].reach);
    }
    all.sphere.radius *= BLEND_REACH;
    all.speed = (float)th_routines_speed(routines);
    all.deviation = (float)th_routines_deviation(routines);
    all.loop_s = 0;
    if (repertoire && repertoire->gait_count > 0) {
        const th_locomotion *gait = &clips[repertoire->gaits[0].clip];
        all.lowest_y = gait->lowest_y;
        all.facing_rad = gait->facing_rad;
    }
    return all;
}

uint32_t th_crowd_view_locomotion_count(const th_crowd_view *crowd_view, uint32_t model)
{
    return crowd_view->desc.models[model]->clip_count + 1 + has_routines(crowd_view, model);
}

uint32_t th_crowd_view_locomotion_of(const th_crowd_view *crowd_view, const th_instance *instance)
{
    const uint32_t clips = crowd_view->desc.models[instance->model]->clip_count;
    const uint32_t own = instance->clip < clips ? instance->clip : clips;
    return crowd_view->first_locomotion[instance->model] +
           (has_routines(crowd_view, instance->model) ? clips + 1 : own);
}

static th_result make_of_model(th_crowd_view *crowd_view, uint32_t m, th_error *err)
{
    const th_model *model = th_compiled_model_source(crowd_view->compiled_models[m]);
    th_locomotion *locomotions = &crowd_view->locomotions[crowd_view->first_locomotion[m]];
    for (uint32_t c = 0; c <= model->clip_count; c++) {
        const th_result result = make_locomotion(crowd_view->desc.compile.interpolation, model, c,
                                                 scale_of(crowd_view, m), &locomotions[c], err);
        if (result != TH_OK)
            return result;
    }
    if (has_routines(crowd_view, m))
        locomotions[model->clip_count + 1] = of_routines(crowd_view, m, locomotions);
    return TH_OK;
}

th_result th_crowd_view_make_locomotions(th_crowd_view *crowd_view, th_error *err)
{
    if (crowd_view->locomotions)
        return TH_OK;
    const uint32_t models = crowd_view->desc.model_count;
    crowd_view->locomotion_count = 0;
    crowd_view->first_locomotion = calloc((size_t)models + 1, sizeof *crowd_view->first_locomotion);
    for (uint32_t r = 0; crowd_view->first_locomotion && r < models; r++) {
        crowd_view->first_locomotion[r] = crowd_view->locomotion_count;
        crowd_view->locomotion_count += th_crowd_view_locomotion_count(crowd_view, r);
    }
    crowd_view->locomotions = calloc((size_t)crowd_view->locomotion_count + 1, sizeof *crowd_view->locomotions);
    if (!crowd_view->first_locomotion || !crowd_view->locomotions)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %u clips", crowd_view->locomotion_count);
    th_result result = TH_OK;
    for (uint32_t r = 0; r < models && result == TH_OK; r++)
        result = make_of_model(crowd_view, r, err);
    return result;
}

#include "frame_check.h"

#include <bench/sight.h>
#include <bench/validate.h>
#include <core/text_format.h>
#include <runtime/animation_budget.h>

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 64 }; /* palettes of a frame */

#define STEP_ROUNDING 1e-9 /* of a clip's duration: on which side of a step it is */

#define WRONG(err, shown, format, ...)                                                                                 \
    (th_fail(err, TH_ERR_INPUT, "frame %llu: " format, (unsigned long long)(shown)->frame, __VA_ARGS__), false)

void th_shown_next(th_shown *s, uint64_t frame, double time_s)
{
    memmove(s->moments_s + 1, s->moments_s, sizeof s->moments_s - sizeof *s->moments_s);
    s->moments_s[0] = time_s;
    s->frame = frame;
}

/* ---- who is drawn ---- */

static th_sight_view view_of(const th_shown *s)
{
    th_cull_light light = {0};
    th_sight_view view = {.near_z = s->camera.near_z, .far_z = s->camera.far_z, .height_px = (float)s->size.height};
    view.has_shadows = th_crowd_view_light(s->crowd_view, &light);
    view.ground = light.ground;
    th_camera_clip(&s->camera, (float)s->size.width / (float)s->size.height, view.clip_from_scene);
    th_camera_eye(&s->camera, view.eye);
    memcpy(view.to_light, light.to_light, sizeof view.to_light);
    memcpy(view.map, light.map.plane, sizeof view.map);
    return view;
}

static int by_place(const void *a, const void *b)
{
    const th_gpu_instance *p = &((const th_drawn *)a)->at, *q = &((const th_drawn *)b)->at;
    return memcmp(p, q, offsetof(th_gpu_instance, tint));
}

/* Who is drawn there and is nobody yet; TH_NO_INDEX: nobody is. drawn: by place. */
static uint32_t find(const th_shown *s, uint32_t i, uint32_t ago, const th_drawn *drawn, const uint32_t *who,
                     uint32_t count, th_sphere *sphere)
{
    th_instance_transform at;
    th_crowd_view_place(s->crowd_view, i, s->moments_s[ago], &at, sphere);
    const th_drawn there = {.at = {.position = {at.position[0], at.position[1], at.position[2]},
                                   .scale = at.scale,
                                   .heading = {cosf(at.heading_rad), sinf(at.heading_rad)}}};
    const th_drawn *found = bsearch(&there, drawn, count, sizeof *drawn, by_place);
    return found && who[found - drawn] == TH_NO_INDEX ? (uint32_t)(found - drawn) : TH_NO_INDEX;
}

/* Who each of the drawn is, who[k], and what the reference says of it, sights[k]. */
static bool find_drawn(const th_shown *s, const th_drawn *drawn, uint32_t count, uint32_t *who, th_sight *sights,
                       th_error *err)
{
    const th_sight_view view = view_of(s);
    memset(who, 0xff, count * sizeof *who);
    for (uint32_t i = 0; i < s->asked.count; i++) {
        th_sphere sphere, held;
        uint32_t k = find(s, i, 0, drawn, who, count, &sphere);
        const th_sight sight = th_sight_of(&view, sphere.centre, sphere.radius);
        const bool is_shown = sight.may_be_seen || sight.may_cast;
        for (uint32_t ago = 1; is_shown && k == TH_NO_INDEX && ago < th_crowd_view_most_hold(&s->asked); ago++)
            k = find(s, i, ago, drawn, who, count, &held);
        if (k == TH_NO_INDEX && (sight.must_be_seen || sight.must_cast))
            return WRONG(err, s, "character %u is %sin sight, but is not drawn where it stands", i,
                         sight.must_be_seen ? "" : "by its shadow ");
        if (k == TH_NO_INDEX)
            continue;
        who[k] = i;
        sights[k] = sight;
        if (drawn[k].shadow_only ? !sight.may_cast : !sight.may_be_seen)
            return WRONG(err, s, "character %u is drawn %s", i,
                         drawn[k].shadow_only ? "for its shadow alone, but is in sight" : "and is out of sight");
        if (drawn[k].finest > sight.coarsest || drawn[k].coarsest < sight.finest)
            return WRONG(err, s, "character %u is drawn at level of detail %d; its size asks for %u", i,
                         (int)drawn[k].finest, sight.finest);
    }
    for (uint32_t k = 0; k < count; k++)
        if (who[k] == TH_NO_INDEX)
            return WRONG(err, s, "at (%g, %g) somebody is drawn, where nobody in sight stands",
                         (double)drawn[k].at.position[0], (double)drawn[k].at.position[2]);
    return true;
}

static int by_palette(const void *a, const void *b)
{
    const th_ring_binding *p = &((const th_drawn *)a)->palette, *q = &((const th_drawn *)b)->palette;
    const int buffer = (p->buffer > q->buffer) - (p->buffer < q->buffer);
    return buffer ? buffer : (p->offset > q->offset) - (p->offset < q->offset);
}

static bool agree(const th_shown *s, const char *what, uint64_t said, uint64_t got, th_error *err)
{
    return said == got || WRONG(err, s, "%llu %s are counted; the draw calls have %llu", (unsigned long long)said, what,
                                (unsigned long long)got);
}

/* What the statistics say against what is drawn. drawn: by palette. */
static bool check_counts(const th_shown *s, const th_drawn *drawn, uint32_t count, th_error *err)
{
    const th_crowd_view_stats stats = th_crowd_view_get_stats(s->crowd_view);
    const th_posed_model *posed_models = th_crowd_view_get_parts(s->crowd_view).posed_models;
    uint64_t visible = 0, palettes = 0, bones = 0;
    for (uint32_t k = 0; k < count; k++) {
        const bool is_other = k == 0 || by_palette(&drawn[k - 1], &drawn[k]) != 0;
        visible += !drawn[k].shadow_only;
        palettes += is_other;
        bones += is_other ? posed_models[drawn[k].mesh].model->bone_count : 0;
    }
    return agree(s, "characters in the picture", stats.visible, visible, err) &&
           agree(s, "characters", stats.listed, count, err) &&
           agree(s, "palettes, of this frame or held", stats.evaluated + stats.held, palettes, err) &&
           agree(s, "characters who share", stats.shared, count - palettes, err) &&
           (stats.held > 0 || agree(s, "bones", stats.bones, bones, err));
}

/* ---- palettes ---- */

/* A character alone, in a scene of the model that it is posed as. */
typedef struct posed {
    th_scene *scene;
    th_crowd *crowd;
    void *palette;
    const th_behaviour *behaviour;
    uint32_t instance;
    th_validation nearest;
} posed;

/* Keeps the nearest. clip_s: time in its clip, if it has no behaviour. */
static th_result compare(posed *p, double time_s, double clip_s, th_error *err)
{
    th_layer layers[TH_BEHAVIOUR_LAYERS];
    uint8_t count = 0;
    const th_crowd_layers played = {layers, &count, TH_BEHAVIOUR_LAYERS};
    th_validation found = {0};
    if (p->behaviour)
        count = (uint8_t)th_behaviour_layers(p->behaviour, p->instance, time_s, layers);
    p->scene->instances[0].phase_s = clip_s;
    const th_validation_desc desc = {.scene = p->scene,
                                     .crowd = p->crowd,
                                     .palette = p->palette,
                                     .sample = 1,
                                     .layers = p->behaviour ? &played : NULL};
    const th_result result = th_validate_palettes(&desc, &found, err);
    if (result == TH_OK && found.excess <= p->nearest.excess)
        p->nearest = found;
    return result;
}

/* The middle of the step of a clip in which a moment is. Each clip has a whole number of steps. */
static double shared_s(const th_clip *clip, double clip_s, double hz, int side)
{
    if (!clip || !(clip->duration_ticks > 0))
        return clip_s;
    const double duration_s = clip->duration_ticks / clip->ticks_per_second;
    const double steps = fmax(1, round(duration_s * hz));
    const double part = th_clip_ticks(clip, clip_s) / clip->duration_ticks + side * STEP_ROUNDING;
    return (fmin(fmax(floor(part * steps), 0), steps - 1) + 0.5) / steps * duration_s;
}

/* Of the moments at which the options allow the pose to be, the one at which it is nearest. */
static th_result find_nearest(const th_shown *s, posed *p, bool is_far, const th_spawn *own, th_error *err)
{
    static const double budget_hz[] = TH_BUDGET_RATES_HZ;
    const bool has_budget = th_budget_is_set(&s->asked.budget), may_save = has_budget || is_far;
    const double *rates = has_budget ? budget_hz : &s->asked.share_hz;
    const uint32_t rate_count = has_budget ? TH_BUDGET_RATES : s->asked.share_hz > 0;
    const uint32_t hold = may_save ? th_crowd_view_most_hold(&s->asked) : 1;
    th_result result = TH_OK;
    for (uint32_t ago = 0; ago < hold && p->nearest.excess > 1 && result == TH_OK; ago++)
        result = compare(p, s->moments_s[ago], own->phase_s + own->speed * s->moments_s[ago], err);
    for (uint32_t n = 0; n < 2 * rate_count && may_save && p->nearest.excess > 1 && result == TH_OK; n++) {
        const double clip_s = own->phase_s + own->speed * s->moments_s[0];
        result = compare(p, s->moments_s[0], shared_s(th_scene_clip(p->scene, 0), clip_s, rates[n / 2], n % 2 ? 1 : -1),
                         err);
    }
    return result;
}

static bool check_palette(const th_shown *s, const th_drawn *drawn, uint32_t i, const th_sight *sight, th_error *err)
{
    const th_crowd_view_parts parts = th_crowd_view_get_parts(s->crowd_view);
    const th_posed_model *as = &parts.posed_models[drawn->mesh];
    const th_spawn own = parts.scene->instances[i], alone = {.clip = own.clip};
    const uint32_t coarsest = th_budget_is_set(&s->asked.budget) ? TH_RENDER_MESH_LODS
                              : s->asked.joint_lod               ? sight->coarsest
                                                                 : 0;
    if (as->of != own.model || as->level > coarsest)
        return WRONG(err, s, "character %u is posed as joint level %u of model %u; it is of model %u, at level %u", i,
                     as->level, as->of, own.model, coarsest);
    posed p = {.behaviour = parts.behaviour, .instance = i, .nearest = {.excess = HUGE_VAL}};
    const th_scene_desc desc = {.compiled_models = &parts.compiled_models[drawn->mesh],
                                .model_count = 1,
                                .instances = &alone,
                                .instance_count = 1};
    th_result result = th_scene_create(&desc, &p.scene, err);
    if (result == TH_OK)
        result = th_scene_crowd(p.scene, TH_ISA_SCALAR, parts.palette, &p.crowd, err);
    if (result == TH_OK)
        result = th_palettes_create(p.crowd, &p.palette, err);
    if (result == TH_OK) {
        th_gpu_read_buffer(drawn->palette, th_crowd_palette_bytes(p.crowd), p.palette);
        result = find_nearest(s, &p, sight->coarsest >= s->asked.far_lod, &own, err);
    }
    bool ok = result == TH_OK;
    if (ok && p.nearest.excess > 1)
        ok = WRONG(err, s,
                   "joint %s of character %u (%s) is drawn %g units off the double-precision reference at each moment "
                   "that the options allow; %g are allowed",
                   as->model->joints[p.nearest.joint].name, i, as->model->name, p.nearest.excess * p.nearest.allowed,
                   p.nearest.allowed);
    th_palettes_destroy(p.palette);
    th_crowd_destroy(p.crowd);
    th_scene_destroy(p.scene);
    return ok;
}

bool th_shown_check(const th_shown *s, th_draws *draws, th_error *err)
{
    th_drawn *drawn;
    uint32_t count;
    th_crowd_view_await_stats(s->crowd_view);
    bool ok = th_crowd_renderer_read(th_crowd_view_get_parts(s->crowd_view).renderer, &drawn, &count, err) == TH_OK;
    uint32_t *who = calloc((size_t)count + 1, sizeof *who);
    th_sight *sights = calloc((size_t)count + 1, sizeof *sights);
    if (ok && !(ok = who && sights))
        th_fail(err, TH_ERR_MEMORY, "no memory to check who is drawn");
    if (ok)
        qsort(drawn, count, sizeof *drawn, by_palette);
    ok = ok && check_counts(s, drawn, count, err);
    if (ok)
        qsort(drawn, count, sizeof *drawn, by_place);
    ok = ok && find_drawn(s, drawn, count, who, sights, err);
    const uint32_t checked = count < SAMPLE ? count : SAMPLE;
    for (uint32_t n = 0; n < checked && ok; n++) { /* one of each of as many parts */
        const uint64_t first = (uint64_t)n * count / checked, end = (n + (uint64_t)1) * count / checked;
        const uint64_t k = first + th_draws_next(draws) % (end - first);
        ok = check_palette(s, &drawn[k], who[k], &sights[k], err);
    }
    free(drawn);
    free(who);
    free(sights);
    if (!ok)
        th_append(err->text, sizeof err->text, " (THRONG_CHECK_SEED=%llu checks the same)",
                  (unsigned long long)draws->seed);
    return ok;
}

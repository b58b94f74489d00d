#include "crowd_view_parts.h"
#include "tint.h"

#include <throng/anim/playback.h>
#include <throng/render/camera_fit.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI     3.14159265358979
#define DEGREE (PI / 180)
#define FULL   0.94F /* part of the picture that the crowd may fill */
#define GROUND 24    /* extent of the ground, in radii of the crowd */

/* The largest error of a level of detail in pixels of the picture, from the finest to the coarsest level, and in texels
 * of the shadow map. At the same largest error a coarse level is off at more places than a fine one. Shadows are moved
 * away from the light by one to three texels, so an error of one lets no surface shadow itself. */
#define FINEST_PIXELS   1.25
#define COARSEST_PIXELS 0.4
#define SHADOW_TEXELS   1.0

/* A late afternoon sun in the south-east. */
static const float to_sun[3] = {0.46F, 0.62F, 0.64F};

/* ---- what the camera sees ---- */

th_camera th_crowd_view_camera(const th_crowd_view *crowd_view, float aspect, double shown_s)
{
    assert(crowd_view && aspect > 0 && shown_s >= 0);
    const th_crowd_view_desc *d = &crowd_view->desc;
    assert(d->zoom > 0 && crowd_view->scene->instance_count > 0);
    th_camera camera = th_camera_look_at((float[3]){0, 0, 1}, (float[3]){0, 0, 0});
    th_camera_orbit(&camera, (float)(d->yaw_deg * DEGREE), (float)(d->pitch_deg * DEGREE));
    th_camera_fit now = th_camera_fit_begin(&camera, aspect, FULL), ever = now;
    for (uint32_t i = 0; i < crowd_view->scene->instance_count; i++) {
        th_sphere spheres[TH_BOUNDS_PARTS];
        const uint32_t count = th_layout_reach(&crowd_view->layout, i, d->start_s, shown_s, spheres);
        const th_sphere first = th_layout_sphere(&crowd_view->layout, i, d->start_s);
        th_camera_fit_add(&now, first.centre, first.radius);
        th_camera_fit_add(&ever, first.centre, first.radius);
        for (uint32_t s = 0; s < count; s++)
            th_camera_fit_add(&ever, spheres[s].centre, spheres[s].radius);
    }
    camera = th_camera_fit_end(&now, &ever);
    th_camera_zoom(&camera, (float)(1 / d->zoom));
    th_crowd_view_fit_depth(crowd_view, &camera);
    return camera;
}

void th_crowd_view_fit_depth(const th_crowd_view *crowd_view, th_camera *camera)
{
    assert(crowd_view && camera);
    const th_sphere all = th_layout_bounds(&crowd_view->layout);
    th_camera_fit_depth(camera, all.centre, GROUND * all.radius);
}

/* Sizes in pixels below which a level is fine enough. A sphere's diameter stands for the model's size. */
static void set_levels(th_cull_view *view)
{
    for (uint32_t lod = 1; lod < TH_RENDER_MESH_LODS; lod++) {
        const double coarseness = (lod - 1) / (TH_RENDER_MESH_LODS - 2.0);
        const double pixels = FINEST_PIXELS + (COARSEST_PIXELS - FINEST_PIXELS) * coarseness;
        view->lod_px[lod - 1] = (float)(pixels / th_render_mesh_lod_limit(lod));
    }
}

/* Arguments of the jobs below. */
typedef struct cull_args {
    th_crowd_view *crowd_view;
    double time_s;
    th_cull_view view;
    th_cull_light sun;
    uint32_t lists; /* without shadows there is no list of casters */
} cull_args;

/* Places the characters of some blocks, and classifies them for both lists. */
static int cull_blocks(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    assert(begin < end);
    const cull_args *l = ctx;
    th_crowd_view *crowd_view = l->crowd_view;
    const uint32_t count = crowd_view->scene->instance_count, first = begin * TH_CULL_BLOCK,
                   behind = end * TH_CULL_BLOCK;
    const uint32_t last = behind < count ? behind : count;
    (void)worker;
    if (!crowd_view->is_static) {
        th_layout_place(&crowd_view->layout, first, last, l->time_s, crowd_view->transforms + first);
        th_cull_move(crowd_view->cull, first, last, crowd_view->transforms + first);
    }
    th_cull_classify(crowd_view->cull, TH_LIST_VISIBLE, &l->view, begin, end);
    if (l->lists > TH_LIST_CASTERS)
        th_cull_classify_casters(crowd_view->cull, TH_LIST_CASTERS, TH_LIST_VISIBLE, &l->view, &l->sun, begin, end);
    return 0;
}

static int scatter_blocks(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    const cull_args *l = ctx;
    (void)worker;
    for (uint32_t list = 0; list < l->lists; list++)
        th_cull_scatter(l->crowd_view->cull, list, begin, end);
    return 0;
}

/* Places all characters and lists those to pose. Returns the number of lists. */
static uint32_t cull_characters(th_crowd_view *crowd_view, double time_s, const th_camera *camera, float aspect,
                                float height)
{
    const th_view *view = &crowd_view->view;
    cull_args l = {.crowd_view = crowd_view, .time_s = time_s, .sun.ground = view->ground_height};
    const uint32_t blocks = th_cull_block_count(crowd_view->cull);
    th_camera_frustum(camera, aspect, &l.view.frustum);
    th_camera_eye(camera, l.view.eye);
    set_levels(&l.view);
    l.view.pixels = th_camera_pixels(camera, height);
    memcpy(l.sun.to_light, view->to_sun, sizeof l.sun.to_light);
    l.lists =
        th_crowd_renderer_shadow_frustum(crowd_view->renderer, view, &l.sun.map) ? TH_LIST_COUNT : TH_LIST_CASTERS;
    th_jobs_for(crowd_view->jobs, blocks, 4, cull_blocks, &l);
    crowd_view->is_static = th_layout_is_still(&crowd_view->layout);
    for (uint32_t list = 0; list < l.lists; list++)
        th_cull_sum(crowd_view->cull, list);
    th_jobs_for(crowd_view->jobs, blocks, 4, scatter_blocks, &l);
    crowd_view->stats.posed = 0;
    for (uint32_t list = 0; list < l.lists; list++) {
        const uint32_t count = th_cull_visible_count(crowd_view->cull, list);
        assert(crowd_view->stats.posed + count <= crowd_view->scene->instance_count); /* a character is in one list */
        memcpy(crowd_view->posed + crowd_view->stats.posed, th_cull_list(crowd_view->cull, list),
               count * sizeof *crowd_view->posed);
        crowd_view->stats.posed += count;
    }
    crowd_view->stats.visible = th_cull_visible_count(crowd_view->cull, TH_LIST_VISIBLE);
    th_crowd_set_active(crowd_view->crowd, crowd_view->posed, crowd_view->stats.posed);
    return l.lists;
}

/* ---- a frame ---- */

const char *th_look_name(th_look look)
{
    assert((unsigned)look < TH_LOOK_COUNT);
    static const char *const names[] = {"natural", "lod", "skeleton", "workers"};
    _Static_assert(sizeof names / sizeof *names == TH_LOOK_COUNT, "a name for each look");
    return names[look];
}

/* The worker that posed a character is known only after posing. */
static th_tint tint_of(const th_crowd_view *crowd_view, uint32_t instance, uint32_t lod)
{
    switch (crowd_view->desc.look) {
    case TH_LOOK_LOD:
        return th_tint_lod(lod);
    case TH_LOOK_WORKERS:
        return th_tint_worker(th_frame_worker(crowd_view->frame, instance));
    default:
        return th_tint_instance(instance);
    }
}

static void write_instances(const th_crowd_view *crowd_view, uint32_t first, uint32_t count, uint32_t lod,
                            th_gpu_instance *out)
{
    for (uint32_t k = first; k < first + count; k++) {
        const th_instance_transform *at = &crowd_view->transforms[crowd_view->posed[k]];
        th_gpu_instance gpu_instance = {.position = {at->position[0], at->position[1], at->position[2]},
                                        .scale = at->scale,
                                        .heading = {cosf(at->heading_rad), sinf(at->heading_rad)}};
        memcpy(gpu_instance.tint, tint_of(crowd_view, crowd_view->posed[k], lod).rgba, sizeof gpu_instance.tint);
        out[k] = gpu_instance; /* one whole store: the slot may be write-combined */
    }
}

/* The coarsest level whose error is below a texel of the shadow map. */
static uint32_t shadow_lod(const th_crowd_view *crowd_view, uint32_t model)
{
    if (crowd_view->desc.shadow_pixels == 0)
        return 0;
    const th_locomotion *locomotion = &crowd_view->locomotions[crowd_view->first_locomotion[model]];
    const double texel = 2 * (double)crowd_view->view.shadow_radius / crowd_view->desc.shadow_pixels;
    const double size = crowd_view->desc.models[model]->size * (double)locomotion->scale;
    uint32_t lod = 0;
    while (lod + 1 < TH_RENDER_MESH_LODS && th_render_mesh_lod_limit(lod + 1) * size <= SHADOW_TEXELS * texel)
        lod++;
    return lod;
}

/* Prepares the draws of one model in one list, by level of detail. Its palettes begin at *offset. */
static th_draw *prepare_model(th_crowd_view *crowd_view, uint32_t list, uint32_t model, size_t *offset, char *slot,
                              th_draw *draw)
{
    const th_cull_group *group = th_cull_groups(crowd_view->cull, list) + model * TH_RENDER_MESH_LODS;
    const size_t stride = th_crowd_palettes(crowd_view->crowd, model).stride;
    for (uint32_t lod = 0; lod < TH_RENDER_MESH_LODS; lod++, group++) {
        const uint32_t first = (list == TH_LIST_VISIBLE ? 0 : crowd_view->stats.visible) + group->first;
        assert(first + group->count <= crowd_view->stats.posed);
        assert(group->mesh == model && group->lod == lod);
        *draw++ = (th_draw){
            .mesh = model,
            .lod = lod,
            .shadow_lod = shadow_lod(crowd_view, model),
            .count = group->count,
            .palette_offset = *offset,
            .palette_stride = stride,
            .instance_offset = crowd_view->instances_offset + first * sizeof(th_gpu_instance),
            .shadow_only = list == TH_LIST_CASTERS,
        };
        *offset += group->count * stride;
        crowd_view->stats.posed_by_lod[lod] += group->count;
        crowd_view->stats.visible_by_lod[lod] += list == TH_LIST_VISIBLE ? group->count : 0;
        write_instances(crowd_view, first, group->count, lod,
                        (th_gpu_instance *)(void *)(slot + crowd_view->instances_offset));
    }
    return draw;
}

/* Prepares a draw for each model, list and level of detail. A model's palettes lie in the order in which its instances
 * were posed: visible ones first, then by level. */
static void prepare_draws(th_crowd_view *crowd_view, uint32_t lists, char *slot)
{
    th_draw *draw = crowd_view->draws;
    memset(crowd_view->stats.visible_by_lod, 0, sizeof crowd_view->stats.visible_by_lod);
    memset(crowd_view->stats.posed_by_lod, 0, sizeof crowd_view->stats.posed_by_lod);
    for (uint32_t r = 0; r < crowd_view->desc.model_count; r++) {
        size_t offset = th_crowd_palettes(crowd_view->crowd, r).offset;
        for (uint32_t list = 0; list < lists; list++)
            draw = prepare_model(crowd_view, list, r, &offset, slot, draw);
    }
    assert(draw - crowd_view->draws <= (ptrdiff_t)lists * crowd_view->desc.model_count * TH_RENDER_MESH_LODS);
    crowd_view->draw_count = (uint32_t)(draw - crowd_view->draws);
}

static th_view view_of(const th_crowd_view *crowd_view, const th_camera *camera, float aspect)
{
    const th_sphere all = th_layout_bounds(&crowd_view->layout);
    const float near = fminf(all.radius, 2 * camera->distance);
    const float clear = fmaxf(all.radius, camera->distance / 4); /* fog starts behind the crowd */
    th_view view = {
        .to_sun = {to_sun[0], to_sun[1], to_sun[2]},
        .shadow_radius = near,
        .ground_cell = 0.6F * (float)crowd_view->desc.models[0]->size,
        .ground_reach = GROUND * all.radius,
        .fog_density = 0.012F / (clear * clear),
        .plain = crowd_view->desc.look == TH_LOOK_LOD || crowd_view->desc.look == TH_LOOK_WORKERS,
        .skeletons = crowd_view->desc.look == TH_LOOK_SKELETON,
    };
    memcpy(view.shadow_center, near < all.radius ? camera->target : all.centre, sizeof view.shadow_center);
    th_camera_clip(camera, aspect, view.clip_from_world);
    th_camera_eye(camera, view.eye);
    return view;
}

void th_crowd_view_trace(th_crowd_view *crowd_view, th_tracer *tracer)
{
    assert(crowd_view);
    crowd_view->tracer = tracer;
}

static void trace_counters(const th_crowd_view *crowd_view)
{
    th_tracer_count(crowd_view->tracer, "characters visible", crowd_view->stats.visible);
    th_tracer_count(crowd_view->tracer, "ns per bone",
                    (double)crowd_view->stats.pose_ns / (double)th_crowd_bone_count(crowd_view->crowd));
}

/* Waits for the ring while the workers sleep. Between th_jobs_frame_begin and th_jobs_frame_end they would spin. */
bool th_crowd_view_pose(th_crowd_view *crowd_view, double time_s, const th_camera *camera, uint32_t width,
                        uint32_t height)
{
    assert(crowd_view && camera && width > 0 && height > 0);
    assert(crowd_view->renderer); /* th_crowd_view_complete has succeeded */
    const uint64_t begin = th_tracer_begin(crowd_view->tracer, "wait");
    const float aspect = (float)width / (float)height;
    char *slot = th_ring_begin(crowd_view->ring);
    const uint64_t waited = th_tracer_next(crowd_view->tracer, "cull");
    th_jobs_frame_begin(crowd_view->jobs);
    crowd_view->view = view_of(crowd_view, camera, aspect);
    const uint32_t lists = cull_characters(crowd_view, time_s, camera, aspect, (float)height);
    const uint64_t culled = th_tracer_next(crowd_view->tracer, "pose");
    if (slot) {
        th_frame_animate(crowd_view->frame, time_s, slot);
        prepare_draws(crowd_view, lists, slot);
    }
    th_jobs_frame_end(crowd_view->jobs);
    const bool kept = slot && th_ring_end(crowd_view->ring);
    crowd_view->stats.wait_ns = waited - begin;
    crowd_view->stats.cull_ns = culled - waited;
    crowd_view->stats.pose_ns = th_tracer_end(crowd_view->tracer) - culled;
    crowd_view->stats.draw_ns = 0;
    trace_counters(crowd_view);
    return kept;
}

static void draw(th_crowd_view *crowd_view, const th_target *target)
{
    const uint64_t begin = th_tracer_begin(crowd_view->tracer, "draw");
    th_crowd_renderer_draw(crowd_view->renderer, target, &crowd_view->view, crowd_view->ring, crowd_view->draws,
                           crowd_view->draw_count);
    th_ring_fence(crowd_view->ring);
    crowd_view->stats.draw_ns = th_tracer_end(crowd_view->tracer) - begin;
}

/* A driver may lose mapped data, for instance when the screen mode changes. OpenGL then asks to write it again, so this
 * tries twice. */
bool th_crowd_view_frame(th_crowd_view *crowd_view, double time_s, const th_camera *camera, const th_target *target,
                         uint32_t width, uint32_t height)
{
    assert(crowd_view && camera && target && width > 0 && height > 0);
    const bool kept = th_crowd_view_pose(crowd_view, time_s, camera, width, height) ||
                      th_crowd_view_pose(crowd_view, time_s, camera, width, height);
    if (kept)
        draw(crowd_view, target);
    return kept;
}

void th_crowd_view_redraw(th_crowd_view *crowd_view, const th_target *target)
{
    assert(crowd_view && target);
    const uint64_t begin = th_tracer_begin(crowd_view->tracer, "wait");
    th_ring_reuse(crowd_view->ring);
    crowd_view->stats.cull_ns = crowd_view->stats.pose_ns = 0;
    crowd_view->stats.wait_ns = th_tracer_end(crowd_view->tracer) - begin;
    draw(crowd_view, target);
}

th_crowd_view_stats th_crowd_view_get_stats(const th_crowd_view *crowd_view)
{
    assert(crowd_view);
    return crowd_view->stats;
}

const th_crowd_renderer *th_crowd_view_renderer(const th_crowd_view *crowd_view)
{
    assert(crowd_view);
    return crowd_view->renderer;
}

const th_ring *th_crowd_view_ring(const th_crowd_view *crowd_view)
{
    assert(crowd_view);
    return crowd_view->ring;
}

const th_crowd *th_crowd_view_crowd(const th_crowd_view *crowd_view)
{
    assert(crowd_view);
    return crowd_view->crowd;
}

const th_scene *th_crowd_view_scene(const th_crowd_view *crowd_view)
{
    assert(crowd_view);
    return crowd_view->scene;
}

th_jobs *th_crowd_view_jobs(const th_crowd_view *crowd_view)
{
    assert(crowd_view);
    return crowd_view->jobs;
}

/* ---- following a character ---- */

/* Distance that root motion has moved the model from where the layout placed it, in model units. */
static float moved(const th_locomotion *locomotion, const th_instance_motion *motion, double time_s)
{
    if (!(locomotion->loop_s > 0))
        return 0;
    const th_playback playback = th_playback_of(locomotion->loop_s, motion->phase_s, motion->speed);
    return (float)(th_playback_ratio(playback, time_s) * locomotion->loop_s * (double)locomotion->speed);
}

th_follow_target th_crowd_view_follow_target(const th_crowd_view *crowd_view, uint32_t instance, double time_s)
{
    assert(crowd_view && instance < crowd_view->scene->instance_count);
    const th_instance_motion *motion = &crowd_view->motions[instance];
    const th_locomotion *locomotion = &crowd_view->locomotions[motion->locomotion];
    th_instance_transform at;
    th_layout_place(&crowd_view->layout, instance, instance + 1, time_s, &at);
    const float heading_rad = at.heading_rad + locomotion->facing_rad,
                far = at.scale * moved(locomotion, motion, time_s);
    const float height = at.scale * (float)crowd_view->desc.models[crowd_view->scene->instances[instance].model]->size;
    return (th_follow_target){
        .centre = {at.position[0] + far * sinf(heading_rad), height / 2, at.position[2] + far * cosf(heading_rad)},
        .heading_rad = heading_rad,
        .height = height};
}

static bool walks(const th_crowd_view *crowd_view, uint32_t instance)
{
    const th_instance_motion *motion = &crowd_view->motions[instance];
    return crowd_view->locomotions[motion->locomotion].speed > 0 && motion->speed > 0;
}

uint32_t th_crowd_view_next_walker(const th_crowd_view *crowd_view, uint32_t instance, bool before)
{
    assert(crowd_view && crowd_view->scene->instance_count > 0);
    const uint32_t count = crowd_view->scene->instance_count, step = before ? count - 1 : 1;
    uint32_t next = instance % count;
    for (uint32_t k = 0; k < count; k++) {
        next = (uint32_t)(((uint64_t)next + step) % count);
        if (walks(crowd_view, next))
            return next;
    }
    return (uint32_t)(((uint64_t)instance + step) % count);
}

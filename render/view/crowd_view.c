#include "crowd_view_parts.h"
#include "tint.h"

#include <core/clock.h>
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

/* Reach of the shadow at a character's feet, in sizes of its model. */
#define FOOTPRINT 0.25F

/* The largest error of a level of detail in pixels of the picture, from the finest to the coarsest level, and in texels
 * of the shadow map. At the same largest error a coarse level is off at more places than a fine one. Shadows are moved
 * away from the light by one to three texels, so an error of one lets no surface shadow itself. */
#define FINEST_PIXELS   1.25
#define COARSEST_PIXELS 0.4
#define SHADOW_TEXELS   1.0

#define FRAME_S (1.0 / 60) /* from one frame to the next, as long as nothing else is known */

/* A late afternoon sun in the south-east. */
static const float to_sun[3] = {0.46F, 0.62F, 0.64F};

/* ---- what the camera sees ---- */

void th_crowd_view_desc_set_scene(th_crowd_view_desc *desc, th_layout_kind kind)
{
    static const double degrees[TH_LAYOUT_COUNT][2] = {[TH_LAYOUT_GRID] = {25, 18},
                                                       [TH_LAYOUT_RING] = {25, 18},
                                                       [TH_LAYOUT_STREET] = {14, 7},
                                                       [TH_LAYOUT_PLAZA] = {28, 8},
                                                       [TH_LAYOUT_STADIUM] = {64, 11}};
    assert(desc && (unsigned)kind < TH_LAYOUT_COUNT);
    desc->layout = kind;
    desc->surroundings = true;
    desc->yaw_deg = degrees[kind][0];
    desc->pitch_deg = degrees[kind][1];
    desc->zoom = 1;
}

th_camera th_crowd_view_camera(const th_crowd_view *crowd_view, float aspect, double shown_s)
{
    assert(crowd_view && aspect > 0 && shown_s >= 0);
    const th_crowd_view_desc *d = &crowd_view->desc;
    assert(d->zoom > 0 && crowd_view->scene->instance_count > 0);
    th_camera camera = th_camera_look_at((float[3]){0, 0, 1}, (float[3]){0, 0, 0});
    th_camera_orbit(&camera, (float)(d->yaw_deg * DEGREE), (float)(d->pitch_deg * DEGREE));
    if (crowd_view->surroundings) {
        th_surroundings_frame(&crowd_view->layout, th_crowd_view_unit(crowd_view), d->zoom, &camera);
        th_crowd_view_fit_depth(crowd_view, &camera);
        return camera;
    }
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

/* ---- the stages of a frame ----
 *
 * Each stage is a job: over blocks of all characters, or over ranges of the list of those to pose. Between the jobs the
 * caller only adds up counts of blocks and of groups. So no time of the caller alone grows with the crowd. */

enum { BLOCKS = 2, LISTED = 128, SOUGHT = 8 }; /* in a chunk */

typedef struct stage {
    th_crowd_view *crowd_view;
    double time_s;
    th_cull_view seen;
    th_cull_light sun;
    bool has_shadows;
    th_gpu_instance *gpu_instances; /* in the slot, in the order of the list */
    const th_camera *camera;
    uint32_t width, height;
    const float *error_px;     /* in the order of the list; NULL: not measured */
    th_device_cursor *cursors; /* in the slot behind them, in the order of palettes; NULL: the CPU poses */
} stage;

static stage stage_of(th_crowd_view *crowd_view, double time_s, const th_camera *camera, uint32_t width,
                      uint32_t height)
{
    const float aspect = (float)width / (float)height;
    const th_view *view = &crowd_view->view;
    stage s = {.crowd_view = crowd_view,
               .time_s = time_s,
               .seen.pixels = th_camera_pixels(camera, (float)height),
               .sun.ground = view->ground_height,
               .camera = camera,
               .width = width,
               .height = height};
    th_camera_frustum(camera, aspect, &s.seen.frustum);
    th_camera_eye(camera, s.seen.eye);
    set_levels(&s.seen);
    memcpy(s.sun.to_light, view->to_sun, sizeof s.sun.to_light);
    s.has_shadows = th_crowd_renderer_shadow_frustum(crowd_view->renderer, view, &s.sun.map);
    return s;
}

/* Z of an instance if it walked straight: where the mean speed of its routine leads, and from there to where it is. */
static float walked_straight(const th_crowd_view *crowd_view, uint32_t instance, double time_s)
{
    const th_walk *walk = &crowd_view->walks[instance];
    const double walk_time_s = th_behaviour_walk_time(crowd_view->behaviour, instance, time_s);
    const double ahead = th_behaviour_strayed(crowd_view->behaviour, instance, time_s);
    float z;
    th_layout_walk_to(&crowd_view->layout, walk, 1, walk_time_s, &z);
    return z + (float)((walk->rate < 0 ? -1 : 1) * ahead * (double)crowd_view->gpu_instances[instance].scale);
}

static void follow_behaviour(const th_crowd_view *crowd_view, uint32_t begin, uint32_t end, double time_s)
{
    float *z = th_cull_z(crowd_view->cull);
    for (uint32_t i = begin; i < end; i++) {
        th_gpu_instance *out = &crowd_view->gpu_instances[i];
        th_instance_transform at = {.position = {0, out->position[1], 0}, .scale = out->scale};
        z[i] = walked_straight(crowd_view, i, time_s);
        if (!(crowd_view->weaves[i].wave > 0))
            continue;
        th_layout_weave_to(&crowd_view->weaves[i], (double)z[i], &at);
        th_cull_move(crowd_view->cull, i, i + 1, &at);
        out->position[0] = at.position[0];
        out->heading[0] = cosf(at.heading_rad);
        out->heading[1] = sinf(at.heading_rad);
    }
}

static int classify_blocks(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    const stage *s = ctx;
    const th_crowd_view *crowd_view = s->crowd_view;
    th_cull *cull = crowd_view->cull;
    const uint32_t first = th_cull_block_begin(cull, begin), last = th_cull_block_begin(cull, end);
    (void)worker;
    if (crowd_view->walks && crowd_view->behaviour)
        follow_behaviour(crowd_view, first, last, s->time_s);
    else if (crowd_view->walks)
        th_layout_walk_to(&crowd_view->layout, crowd_view->walks + first, last - first, s->time_s,
                          th_cull_z(cull) + first);
    th_cull_classify(cull, &s->seen, s->has_shadows ? &s->sun : NULL, begin, end);
    return 0;
}

static int scatter_blocks(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    const stage *s = ctx;
    (void)worker;
    th_cull_scatter(s->crowd_view->cull, begin, end);
    return 0;
}

static void count_listed_models(const th_crowd_view *crowd_view, uint32_t counts[TH_CROWD_VIEW_MAX_MODELS])
{
    const th_cull_group *group = th_cull_groups(crowd_view->cull);
    memset(counts, 0, TH_CROWD_VIEW_MAX_MODELS * sizeof *counts);
    for (uint32_t g = 0; g < crowd_view->group_count; g++)
        counts[group[g].mesh] += group[g].count;
}

/* The finest level with the joints of a posed model. */
static uint32_t joint_level(const th_crowd_view *crowd_view, uint32_t posed_model)
{
    uint32_t level = 0;
    while (crowd_view->posed_as[crowd_view->posed_models[posed_model].of][level] != posed_model)
        level++;
    return level;
}

/* Counts who is listed. */
static void count_listed(th_crowd_view *crowd_view)
{
    const th_cull_group *group = th_cull_groups(crowd_view->cull);
    th_crowd_view_stats *stats = &crowd_view->stats;
    memset(stats->visible_by_lod, 0, sizeof stats->visible_by_lod);
    memset(stats->listed_by_lod, 0, sizeof stats->listed_by_lod);
    for (uint32_t g = 0; g < crowd_view->group_count; g++, group++) {
        stats->listed_by_lod[group->lod] += group->count;
        stats->visible_by_lod[group->lod] += group->shadow_only ? 0 : group->count;
    }
    stats->listed = th_cull_listed_count(crowd_view->cull);
    stats->visible = th_cull_visible_count(crowd_view->cull);
}

/* From the last frame to this one, which says how much is lost by holding. Where nothing is to depend on the last, so
 * long that nobody holds. */
static double frame_s(const stage *s)
{
    const double last_s = s->crowd_view->last_s;
    if (s->crowd_view->is_repeatable)
        return 1e9;
    return isnan(last_s) ? FRAME_S : fabs(s->time_s - last_s);
}

/* How characters of a group are posed, if they have no behaviour. Nobody at level 0 is taken to be larger than four
 * times the size at which it begins. */
static th_budget_way way_of(const stage *s, const th_cull_group *group)
{
    const th_crowd_view *crowd_view = s->crowd_view;
    const th_crowd_view_desc *d = &crowd_view->desc;
    const bool is_far = group->lod >= d->far_lod;
    if (!crowd_view->means)
        return (th_budget_way){group->lod, is_far && d->share_hz > 0 ? 0 : TH_NO_INDEX,
                               is_far && d->hold > 1 ? d->hold : 1};
    const double size_px = group->lod > 0 ? (double)s->seen.lod_px[group->lod - 1] : 4 * (double)s->seen.lod_px[0];
    return th_budget_choose(crowd_view->budget.tolerance, &crowd_view->means[group->mesh], size_px, frame_s(s));
}

/* Decides which palettes to evaluate. */
static void make_plan(const stage *s)
{
    th_crowd_view *crowd_view = s->crowd_view;
    const th_cull_group *group = th_cull_groups(crowd_view->cull);
    crowd_view->stats.apart = 0;
    for (uint32_t g = 0; g < crowd_view->group_count; g++, group++) {
        const th_budget_way way = way_of(s, group);
        const bool behaves = crowd_view->behaviour && crowd_view->routines[group->mesh];
        crowd_view->pose_groups[g] = (th_pose_group){.model = crowd_view->posed_as[group->mesh][way.level],
                                                     .first = group->first,
                                                     .count = group->count,
                                                     .shares = way.rate != TH_NO_INDEX && !behaves,
                                                     .rate = way.rate,
                                                     .hold = crowd_view->is_repeatable ? 1 : way.hold};
        crowd_view->stats.apart += way.rate != TH_NO_INDEX && behaves ? group->count : 0;
    }
    th_pose_plan_make(crowd_view->plan, crowd_view->jobs, s->time_s, th_cull_list(crowd_view->cull),
                      crowd_view->pose_groups, crowd_view->group_count);
}

/* Takes over what the GPU counted. counts: [group], of an earlier frame. */
static void take_counts(th_crowd_view *crowd_view, const uint32_t *counts)
{
    th_crowd_view_stats *stats = &crowd_view->stats;
    const th_cull_group *group = th_cull_groups(crowd_view->cull);
    stats->listed = stats->visible = 0;
    stats->bones = stats->palette_bytes = 0;
    memset(stats->visible_by_lod, 0, sizeof stats->visible_by_lod);
    memset(stats->listed_by_lod, 0, sizeof stats->listed_by_lod);
    for (uint32_t g = 0; g < crowd_view->group_count; g++, group++) {
        const uint32_t visible = group->shadow_only ? 0 : counts[g];
        stats->listed += counts[g];
        stats->visible += visible;
        stats->listed_by_lod[group->lod] += counts[g];
        stats->visible_by_lod[group->lod] += visible;
        stats->bones += (uint64_t)counts[g] * crowd_view->desc.models[group->mesh]->bone_count;
        stats->palette_bytes += counts[g] * th_crowd_palettes(crowd_view->crowd, group->mesh).stride;
    }
    stats->listed_by_joint_level[0] = stats->evaluated = stats->listed;
}

/* Whether anyone is posed otherwise than by itself, with all joints, in each frame. */
static bool saves(const th_crowd_view *crowd_view)
{
    const th_cull_group *group = th_cull_groups(crowd_view->cull);
    bool any = false;
    for (uint32_t g = 0; g < crowd_view->group_count; g++, group++) {
        const th_pose_group *posed = &crowd_view->pose_groups[g];
        const bool shares = th_pose_plan_group(crowd_view->plan, g).are_shared;
        any |= group->count > 0 && (shares || posed->hold > 1 || posed->model != group->mesh);
    }
    return any;
}

static void count_joint_levels(th_crowd_view *crowd_view)
{
    uint32_t *counts = crowd_view->stats.listed_by_joint_level;
    memset(counts, 0, sizeof crowd_view->stats.listed_by_joint_level);
    for (uint32_t g = 0; g < crowd_view->group_count; g++)
        counts[joint_level(crowd_view, crowd_view->pose_groups[g].model)] += crowd_view->pose_groups[g].count;
}

/* Decides so that the budget holds, if there is one. */
static void plan_poses(const stage *s)
{
    th_crowd_view *crowd_view = s->crowd_view;
    th_crowd_view_stats *stats = &crowd_view->stats;
    const th_budget_desc *limit = &crowd_view->desc.budget;
    const bool has_budget = crowd_view->means && !crowd_view->is_repeatable;
    const uint64_t allowed = has_budget ? th_budget_bones(&crowd_view->budget, limit->ms * 1e6, limit->bones) : 0;
    if (has_budget)
        th_budget_begin(&crowd_view->budget);
    if (crowd_view->held_at)
        th_pose_plan_begin(crowd_view->plan, th_ring_frame(crowd_view->ring));
    do
        make_plan(s);
    while (has_budget && th_budget_exceeded(&crowd_view->budget, th_crowd_bone_count(crowd_view->crowd), allowed));
    stats->tolerance_px = saves(crowd_view) ? th_budget_tolerance_px(crowd_view->budget.tolerance) : 0;
    count_joint_levels(crowd_view);
    const th_pose_counts counts = th_pose_plan_counts(crowd_view->plan);
    stats->evaluated = counts.evaluated;
    stats->shared = counts.shared;
    stats->held = counts.held;
    stats->bones = th_crowd_bone_count(crowd_view->crowd);
    stats->palette_bytes = th_crowd_palette_bytes(crowd_view->crowd);
}

/* Lists the characters to draw: by model, then visible ones first, then by level. */
static void list_characters(stage *s)
{
    th_crowd_view *crowd_view = s->crowd_view;
    const uint32_t blocks = th_cull_block_count(crowd_view->cull);
    th_jobs_for(crowd_view->jobs, blocks, BLOCKS, classify_blocks, s);
    th_cull_sum(crowd_view->cull);
    count_listed(crowd_view);
    th_jobs_for(crowd_view->jobs, blocks, BLOCKS, scatter_blocks, s);
    plan_poses(s);
}

/* ---- a frame ---- */

const char *th_look_name(th_look look)
{
    assert((unsigned)look < TH_LOOK_COUNT);
    static const char *const names[] = {"natural", "lod", "skeleton", "workers", "error"};
    _Static_assert(sizeof names / sizeof *names == TH_LOOK_COUNT, "a name for each look");
    return names[look];
}

/* k: in the list. is_held: posed in another frame. */
static void tint(const stage *s, uint32_t k, uint32_t lod, bool is_held, th_gpu_instance *out)
{
    const th_crowd_view *crowd_view = s->crowd_view;
    th_tint tint;
    switch (crowd_view->desc.look) {
    case TH_LOOK_LOD:
        tint = th_tint_lod(lod);
        break;
    case TH_LOOK_WORKERS:
        if (is_held)
            return;
        tint = th_tint_worker(th_frame_worker(crowd_view->frame, th_cull_list(crowd_view->cull)[k]));
        break;
    case TH_LOOK_ERROR:
        tint = th_tint_error(s->error_px ? s->error_px[k] : 0);
        break;
    default:
        return;
    }
    memcpy(out->tint, tint.rgba, sizeof out->tint);
}

/* The worker that posed a character, and its error, are known only after posing. */
static int write_listed(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    const stage *s = ctx;
    const th_crowd_view *crowd_view = s->crowd_view;
    const uint32_t *list = th_cull_list(crowd_view->cull);
    const float *z = th_cull_z(crowd_view->cull);
    const th_cull_group *groups = th_cull_groups(crowd_view->cull), *group = groups;
    const uint32_t *palettes = th_pose_plan_palettes(crowd_view->plan);
    const th_pose_place *places = th_pose_plan_places(crowd_view->plan);
    th_pose_palettes of_group = th_pose_plan_group(crowd_view->plan, 0);
    (void)worker;
    for (uint32_t k = begin; k < end; k++) {
        while (k - group->first >= group->count)
            of_group = th_pose_plan_group(crowd_view->plan, (uint32_t)(++group - groups));
        const th_pose_place place = of_group.are_held ? places[k] : (th_pose_place){.at = k};
        th_gpu_instance gpu_instance = crowd_view->gpu_instances[list[k]];
        gpu_instance.position[2] = z[list[k]];
        if (place.frames_ago > 0)
            gpu_instance = crowd_view->held_at[list[k]];
        else if (crowd_view->held_at && !of_group.are_shared)
            crowd_view->held_at[list[k]] = gpu_instance;
        const uint32_t palette = of_group.are_shared ? palettes[k] - of_group.first : place.palette;
        assert(palette < TH_GPU_INSTANCE_PALETTES);
        gpu_instance.palette = palette & (TH_GPU_INSTANCE_PALETTES - 1);
        tint(s, k, group->lod, place.frames_ago > 0, &gpu_instance);
        s->gpu_instances[place.at] = gpu_instance; /* one whole store: the slot may be write-combined */
    }
    return 0;
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

/* Prepares the draws of a group whose poses are held: one for each frame in which they were posed. */
static void prepare_held(th_crowd_view *crowd_view, uint32_t g, th_draw draw)
{
    const uint32_t most = th_crowd_view_most_hold(&crowd_view->desc);
    for (draw.frames_ago = 0; draw.frames_ago < most; draw.frames_ago++) {
        const th_pose_part part = th_pose_plan_part(crowd_view->plan, g, draw.frames_ago);
        draw.instance_offset += draw.count * sizeof(th_gpu_instance);
        draw.mesh = part.model;
        draw.count = part.count;
        draw.shared = part.range.count;
        draw.palette_offset = part.range.offset;
        draw.palette_stride = part.range.stride;
        if (part.count > 0)
            crowd_view->draws[crowd_view->draw_count++] = draw;
    }
}

/* 0: they do not stand on the ground. */
static float footprint(const th_crowd_view *crowd_view, uint32_t model)
{
    const bool on_ground = crowd_view->desc.layout != TH_LAYOUT_STADIUM;
    return on_ground ? FOOTPRINT * (float)crowd_view->desc.models[model]->size : 0;
}

/* Prepares a draw for each group. */
static void prepare_draws(th_crowd_view *crowd_view)
{
    const th_cull_group *groups = th_cull_groups(crowd_view->cull);
    const size_t instances = th_crowd_palette_bytes(crowd_view->crowd);
    crowd_view->draw_count = 0;
    for (uint32_t g = 0; g < crowd_view->group_count; g++) {
        const th_cull_group *group = &groups[g];
        const th_pose_palettes palettes = th_pose_plan_group(crowd_view->plan, g);
        th_draw draw = {
            .mesh = crowd_view->pose_groups[g].model,
            .lod = group->lod,
            .shadow_lod = shadow_lod(crowd_view, group->mesh),
            .shared = palettes.are_shared ? palettes.range.count : 0,
            .palette_offset = palettes.range.offset,
            .palette_stride = palettes.range.stride,
            .instance_offset = instances + group->first * sizeof(th_gpu_instance),
            .footprint = footprint(crowd_view, group->mesh),
            .shadow_only = group->shadow_only,
        };
        if (palettes.are_held) {
            prepare_held(crowd_view, g, draw);
            continue;
        }
        draw.count = group->count;
        crowd_view->draws[crowd_view->draw_count++] = draw;
    }
}

/* ---- the error on screen ---- */

static int by_size(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

th_screen_error_stats th_screen_error_stats_of(float *px, uint32_t count)
{
    assert(px || count == 0);
    if (count == 0)
        return (th_screen_error_stats){0};
    qsort(px, count, sizeof *px, by_size);
    const uint64_t last = count - 1u, half = (count + 1u) / 2 - 1, most = ((uint64_t)count * 99 + 99) / 100 - 1;
    return (th_screen_error_stats){count, px[half], px[most], px[last]};
}

static void keep_errors(th_crowd_view *crowd_view, const float *px)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < crowd_view->stats.listed; k++)
        if (px[k] >= 0)
            crowd_view->visible_px[count++] = px[k];
    crowd_view->stats.error = th_screen_error_stats_of(crowd_view->visible_px, count);
}

/* Measures the palettes, which lie in memory that can be read. */
static void measure_error(stage *s, const void *palettes)
{
    th_crowd_view *crowd_view = s->crowd_view;
    const uint64_t begin = th_tracer_begin(crowd_view->tracer, "error");
    const th_screen_error_frame frame = {.crowd = crowd_view->crowd,
                                         .palettes = palettes,
                                         .cull = crowd_view->cull,
                                         .groups = crowd_view->pose_groups,
                                         .plan = crowd_view->plan,
                                         .held_at = crowd_view->held_at,
                                         .gpu_instances = crowd_view->gpu_instances,
                                         .time_s = s->time_s,
                                         .camera = s->camera,
                                         .width = s->width,
                                         .height = s->height};
    th_screen_error_measure(crowd_view->error, &frame);
    s->error_px = th_screen_error_px(crowd_view->error);
    keep_errors(crowd_view, s->error_px);
    crowd_view->stats.error_ns = th_tracer_end(crowd_view->tracer) - begin;
}

/* ---- posing ---- */

static size_t cursors_offset(const th_crowd_view *crowd_view)
{
    return th_crowd_palette_bytes(crowd_view->crowd) +
           th_cache_line_round(crowd_view->stats.listed * sizeof(th_gpu_instance));
}

/* Of a frame. */
static size_t slot_bytes(const th_crowd_view *crowd_view)
{
    const size_t cursors = crowd_view->evaluator ? crowd_view->stats.evaluated * sizeof(th_device_cursor) : 0;
    return cursors_offset(crowd_view) + cursors;
}

static int seek_batches(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    const stage *s = ctx;
    (void)worker;
    th_crowd_seek(s->crowd_view->crowd, begin, end, s->time_s, s->cursors);
    return 0;
}

/* Poses the listed characters, and takes the time for the budget. */
static void evaluate(const stage *s, void *palettes)
{
    th_crowd_view *crowd_view = s->crowd_view;
    const uint64_t begin = th_clock_ns();
    th_frame_animate(crowd_view->frame, s->time_s, palettes);
    crowd_view->stats.evaluate_ns = th_clock_ns() - begin;
    if (crowd_view->means && !crowd_view->is_repeatable)
        th_budget_end(&crowd_view->budget, crowd_view->stats.bones, (double)crowd_view->stats.evaluate_ns);
}

/* Memory to pose the listed characters into: the slot, or for a frame whose palettes are read again memory of the
 * measurement. NULL: there is none. */
static void *palette_memory(const th_crowd_view *crowd_view, bool is_read, char *slot)
{
    if (!is_read)
        return slot;
    uint32_t counts[TH_CROWD_VIEW_MAX_MODELS];
    count_listed_models(crowd_view, counts);
    return th_screen_error_reserve(crowd_view->error, th_ring_frame(crowd_view->ring),
                                   th_crowd_palette_bytes(crowd_view->crowd), counts);
}

/* For the GPU: where in their clips the listed characters are. */
static void write_cursors(stage *s, char *slot)
{
    const th_crowd_view *crowd_view = s->crowd_view;
    s->cursors = (th_device_cursor *)(void *)(slot + cursors_offset(crowd_view));
    th_jobs_for(crowd_view->jobs, th_crowd_batch_count(crowd_view->crowd), SOUGHT, seek_batches, s);
}

/* Poses the listed characters, and writes where they stand behind their palettes. A frame that is measured is posed by
 * the CPU, because what the GPU writes cannot be read at once. So are frames before it of which poses may be held.
 * False when out of memory; then nothing of the frame is kept. */
static bool pose_characters(stage *s, char *slot)
{
    th_crowd_view *crowd_view = s->crowd_view;
    const bool is_measured = th_screen_error_next(crowd_view->error);
    const bool is_read = is_measured || (crowd_view->error && crowd_view->held_at);
    void *palettes = palette_memory(crowd_view, is_read, slot);
    crowd_view->stats.error_ns = crowd_view->stats.evaluate_ns = 0;
    if (!palettes)
        return false;
    s->gpu_instances = (th_gpu_instance *)(void *)(slot + th_crowd_palette_bytes(crowd_view->crowd));
    if (crowd_view->held_at)
        th_pose_plan_keep(crowd_view->plan, crowd_view->jobs, th_ring_frame(crowd_view->ring));
    if (!is_read && crowd_view->evaluator)
        write_cursors(s, slot);
    else
        evaluate(s, palettes);
    if (is_measured)
        measure_error(s, palettes);
    if (is_read)
        memcpy(slot, palettes, th_crowd_palette_bytes(crowd_view->crowd));
    th_tracer_begin(crowd_view->tracer, "instances");
    th_jobs_for(crowd_view->jobs, crowd_view->stats.listed, LISTED, write_listed, s);
    th_tracer_end(crowd_view->tracer);
    prepare_draws(crowd_view);
    return true;
}

/* The GPU writes the palettes into the slot, in front of what the CPU has written. */
static void dispatch(const th_crowd_view *crowd_view)
{
    const th_ring_binding slot = th_ring_get_binding(crowd_view->ring);
    const th_ring_binding cursors = {slot.buffer, slot.offset + cursors_offset(crowd_view)};
    th_gpu_evaluator_pose(crowd_view->evaluator, crowd_view->crowd, slot, cursors);
}

static th_view view_of(const th_crowd_view *crowd_view, const th_camera *camera, float aspect)
{
    const th_sphere all = th_layout_bounds(&crowd_view->layout);
    const float near = fminf(all.radius, (crowd_view->surroundings ? 4 : 2) * camera->distance); /* houses are high */
    const float clear = fmaxf(all.radius, camera->distance / 4); /* fog starts behind the crowd */
    th_view view = {
        .to_sun = {to_sun[0], to_sun[1], to_sun[2]},
        .shadow_radius = near,
        .ground_cell = 0.6F * (float)crowd_view->desc.models[0]->size,
        .ground_reach = GROUND * all.radius,
        .surroundings = crowd_view->surroundings,
        .fog_density = 0.012F / (clear * clear),
        .plain = crowd_view->desc.look == TH_LOOK_LOD || crowd_view->desc.look == TH_LOOK_WORKERS ||
                 crowd_view->desc.look == TH_LOOK_ERROR,
        .skeletons = crowd_view->desc.look == TH_LOOK_SKELETON,
    };
    memcpy(view.shadow_center, near < all.radius ? camera->target : all.centre, sizeof view.shadow_center);
    th_camera_clip(camera, aspect, view.clip_from_world);
    th_camera_eye(camera, view.eye);
    return view;
}

void th_crowd_view_be_repeatable(th_crowd_view *crowd_view, bool is_repeatable)
{
    assert(crowd_view);
    crowd_view->is_repeatable = is_repeatable;
}

void th_crowd_view_trace(th_crowd_view *crowd_view, th_tracer *tracer)
{
    assert(crowd_view);
    crowd_view->tracer = tracer;
}

static void trace_counters(const th_crowd_view *crowd_view)
{
    th_tracer_count(crowd_view->tracer, "characters visible", crowd_view->stats.visible);
    th_tracer_count(crowd_view->tracer, "palettes evaluated", crowd_view->stats.evaluated);
    th_tracer_count(crowd_view->tracer, "characters sharing", crowd_view->stats.shared);
    if (crowd_view->held_at)
        th_tracer_count(crowd_view->tracer, "poses held", crowd_view->stats.held);
    if (crowd_view->means)
        th_tracer_count(crowd_view->tracer, "tolerance px", crowd_view->stats.tolerance_px);
    if (!crowd_view->gpu_cull)
        th_tracer_count(crowd_view->tracer, "ns per bone",
                        (double)crowd_view->stats.pose_ns / (double)crowd_view->stats.bones);
}

/* Tells the GPU what has changed: camera and time. False when the driver cannot map the slot, or lost it. */
static bool write_constants(const stage *s, void *slot)
{
    th_crowd_view *crowd_view = s->crowd_view;
    for (uint32_t m = 0; m < crowd_view->desc.model_count; m++)
        crowd_view->gpu_models[m] = (th_gpu_cull_model){shadow_lod(crowd_view, m), footprint(crowd_view, m)};
    const th_gpu_cull_frame frame = {.time_s = s->time_s,
                                     .visible = &s->seen,
                                     .light = s->has_shadows ? &s->sun : NULL,
                                     .models = crowd_view->gpu_models,
                                     .tints_levels = crowd_view->desc.look == TH_LOOK_LOD};
    if (slot)
        slot = th_ring_reserve(crowd_view->ring, th_gpu_cull_frame_bytes(crowd_view->gpu_cull));
    if (slot) {
        th_gpu_cull_write(crowd_view->gpu_cull, &frame, slot);
        th_ring_wrote(crowd_view->ring, 0, th_gpu_cull_frame_bytes(crowd_view->gpu_cull));
    }
    return slot && th_ring_end(crowd_view->ring);
}

/* The GPU culls and poses. Nothing here takes time for each character. */
static bool pose_on_gpu(th_crowd_view *crowd_view, double time_s, const th_camera *camera, uint32_t width,
                        uint32_t height)
{
    const uint64_t begin = th_tracer_begin(crowd_view->tracer, "wait");
    void *slot = th_ring_begin(crowd_view->ring);
    const uint64_t waited = th_tracer_next(crowd_view->tracer, "cull");
    const uint32_t *counts = th_gpu_cull_old_counts(crowd_view->gpu_cull);
    if (counts)
        take_counts(crowd_view, counts);
    crowd_view->view = view_of(crowd_view, camera, (float)width / (float)height);
    const stage s = stage_of(crowd_view, time_s, camera, width, height);
    const bool kept = write_constants(&s, slot);
    if (kept)
        th_gpu_cull_run(crowd_view->gpu_cull, th_ring_get_binding(crowd_view->ring));
    const uint64_t culled = th_tracer_next(crowd_view->tracer, "pose");
    if (kept)
        th_gpu_cull_pose(crowd_view->gpu_cull);
    crowd_view->stats.wait_ns = waited - begin;
    crowd_view->stats.cull_ns = culled - waited;
    crowd_view->stats.pose_ns = th_tracer_end(crowd_view->tracer) - culled;
    crowd_view->stats.draw_ns = 0;
    trace_counters(crowd_view);
    return kept;
}

/* A slot of the size that the plan needs. Where the ring has to grow, poses that were held are lost, and another plan
 * is made. NULL: there is no memory. */
static char *reserve(stage *s)
{
    th_crowd_view *crowd_view = s->crowd_view;
    const uint32_t frame = th_ring_frame(crowd_view->ring);
    char *slot = th_ring_reserve(crowd_view->ring, slot_bytes(crowd_view));
    if (!slot || crowd_view->stats.held == 0 || th_ring_frame(crowd_view->ring) == frame)
        return slot;
    plan_poses(s);
    return th_ring_reserve(crowd_view->ring, slot_bytes(crowd_view));
}

/* Waits for the ring while the workers sleep. Between th_jobs_frame_begin and th_jobs_frame_end they would spin. */
bool th_crowd_view_pose(th_crowd_view *crowd_view, double time_s, const th_camera *camera, uint32_t width,
                        uint32_t height)
{
    assert(crowd_view && camera && width > 0 && height > 0);
    assert(crowd_view->renderer); /* th_crowd_view_complete has succeeded */
    if (crowd_view->gpu_cull)
        return pose_on_gpu(crowd_view, time_s, camera, width, height);
    const uint64_t begin = th_tracer_begin(crowd_view->tracer, "wait");
    const float aspect = (float)width / (float)height;
    char *slot = th_ring_begin(crowd_view->ring);
    const uint64_t waited = th_tracer_next(crowd_view->tracer, "cull");
    th_jobs_frame_begin(crowd_view->jobs);
    crowd_view->view = view_of(crowd_view, camera, aspect);
    stage s = stage_of(crowd_view, time_s, camera, width, height);
    list_characters(&s);
    if (slot)
        slot = reserve(&s);
    const uint64_t culled = th_tracer_next(crowd_view->tracer, "pose");
    const bool posed = slot && pose_characters(&s, slot);
    th_jobs_frame_end(crowd_view->jobs);
    if (slot)
        th_ring_wrote(crowd_view->ring, s.cursors ? th_crowd_palette_bytes(crowd_view->crowd) : 0,
                      slot_bytes(crowd_view));
    const bool kept = slot && th_ring_end(crowd_view->ring) && posed;
    if (kept && s.cursors)
        dispatch(crowd_view);
    crowd_view->stats.wait_ns = waited - begin;
    crowd_view->stats.cull_ns = culled - waited;
    crowd_view->stats.pose_ns = th_tracer_end(crowd_view->tracer) - culled - crowd_view->stats.error_ns;
    crowd_view->stats.draw_ns = 0;
    crowd_view->last_s = time_s;
    trace_counters(crowd_view);
    return kept;
}

static void draw(th_crowd_view *crowd_view, const th_target *target)
{
    const uint64_t begin = th_tracer_begin(crowd_view->tracer, "draw");
    if (crowd_view->gpu_cull)
        th_crowd_renderer_draw_indirect(crowd_view->renderer, target, &crowd_view->view,
                                        th_gpu_cull_draws(crowd_view->gpu_cull, crowd_view->gpu_models));
    else
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
    assert(crowd_view && target && !crowd_view->held_at);
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

void th_crowd_view_await_stats(th_crowd_view *crowd_view)
{
    assert(crowd_view);
    const uint32_t *counts = crowd_view->gpu_cull ? th_gpu_cull_counts(crowd_view->gpu_cull) : NULL;
    if (counts)
        take_counts(crowd_view, counts);
}

const float *th_crowd_view_errors(const th_crowd_view *crowd_view)
{
    assert(crowd_view);
    return crowd_view->visible_px;
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

th_evaluator th_crowd_view_evaluator(const th_crowd_view *crowd_view)
{
    assert(crowd_view);
    return crowd_view->evaluator ? TH_EVALUATOR_GPU : TH_EVALUATOR_CPU;
}

th_evaluator th_crowd_view_culling(const th_crowd_view *crowd_view)
{
    assert(crowd_view);
    return crowd_view->gpu_cull ? TH_EVALUATOR_GPU : TH_EVALUATOR_CPU;
}

th_gpu_mapping_choice th_crowd_view_gpu_mapping(const th_crowd_view *crowd_view)
{
    assert(crowd_view);
    return crowd_view->evaluator ? th_gpu_evaluator_choice(crowd_view->evaluator) : (th_gpu_mapping_choice){0};
}

const char *th_crowd_view_fallback(const th_crowd_view *crowd_view)
{
    assert(crowd_view);
    return crowd_view->fallback.text;
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

void th_crowd_view_set_blend(th_crowd_view *crowd_view, const th_blend *blend, double time_s)
{
    assert(crowd_view && blend);
    crowd_view->desc.blend = *blend;
    if (crowd_view->behaviour)
        th_behaviour_set_blend(crowd_view->behaviour, blend, time_s);
}

void th_crowd_view_restore_blends(th_crowd_view *crowd_view, const th_blend_state *states)
{
    assert(crowd_view && states);
    for (uint32_t m = 0; crowd_view->behaviour && m < crowd_view->desc.model_count; m++)
        th_behaviour_restore_blend(crowd_view->behaviour, m, &states[m]);
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

/* Where a behaviour has led an instance. Otherwise where the layout places it. */
static th_instance_transform place(const th_crowd_view *crowd_view, uint32_t instance, double time_s)
{
    th_instance_transform at;
    th_layout_place(&crowd_view->layout, instance, instance + 1, time_s, &at);
    if (!crowd_view->behaviour || !crowd_view->walks)
        return at;
    at.position[2] = walked_straight(crowd_view, instance, time_s);
    if (crowd_view->weaves[instance].wave > 0)
        th_layout_weave_to(&crowd_view->weaves[instance], (double)at.position[2], &at);
    return at;
}

th_follow_target th_crowd_view_follow_target(const th_crowd_view *crowd_view, uint32_t instance, double time_s)
{
    assert(crowd_view && instance < crowd_view->scene->instance_count);
    const th_instance_motion *motion = &crowd_view->motions[instance];
    const th_locomotion *locomotion = &crowd_view->locomotions[motion->locomotion];
    const th_instance_transform at = place(crowd_view, instance, time_s);
    const float heading_rad = at.heading_rad + locomotion->facing_rad,
                far = at.scale * moved(locomotion, motion, time_s);
    const float height = at.scale * (float)crowd_view->desc.models[crowd_view->scene->instances[instance].model]->size,
                floor = at.position[1] + locomotion->lowest_y * at.scale;
    return (th_follow_target){.centre = {at.position[0] + far * sinf(heading_rad), floor + height / 2,
                                         at.position[2] + far * cosf(heading_rad)},
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

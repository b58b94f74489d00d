#include "crowd_view_parts.h"
#include "tint.h"

#include <anim/playback.h>
#include <core/clock.h>
#include <render/camera.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI     3.14159265358979
#define DEGREE (PI / 180)
#define FULL   0.94F /* part of the picture that the crowd may fill */
#define GROUND 24    /* extent of the ground, in radii of the crowd; */
#define HAZE   6     /* fog begins at so many distances of what is looked at, or behind the crowd */
#define SEEN   400   /* in a scene, which may be a long street, at most in so many metres */

/* A camera at the corner of so many, at this height in theirs; and how steeply it looks at what is ahead, at least */
enum { CROWD = 36, SAMPLE = 256 };
#define EYE        1.6F /* for 100; higher above more */
#define CORNER     1.7F
#define LEAST_SINE 0.05F
#define STEEP_DEG  40 /* from where on it is to see all */

#define FAR_REACHING 0.75F /* this share of the characters of a model hardly ever touch each other */

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

/* How far it is clear; fog hides what is a few times as far. */
static float clear_of(const th_crowd_view *v)
{
    const float radius = th_layout_bounds(&v->layout).radius;
    return v->surroundings ? fminf(radius, SEEN * (float)v->unit) : radius;
}

void th_crowd_view_desc_set_scene(th_crowd_view_desc *desc, th_layout_kind kind)
{
    static const double degrees[TH_LAYOUT_COUNT][2] = {[TH_LAYOUT_GRID] = {-24, 14},
                                                       [TH_LAYOUT_RING] = {25, 18},
                                                       [TH_LAYOUT_STREET] = {14, 7},
                                                       [TH_LAYOUT_PLAZA] = {28, 8},
                                                       [TH_LAYOUT_STADIUM] = {64, 11}};
    if (!TH_VALID(desc && (unsigned)kind < TH_LAYOUT_COUNT))
        return;
    desc->layout = kind;
    desc->surroundings = true;
    desc->yaw_deg = degrees[kind][0];
    desc->pitch_deg = degrees[kind][1];
    desc->zoom = kind == TH_LAYOUT_GRID ? 0 : 1;
}

static int ascending(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* A camera of the desc's angles. */
static th_camera turned(const th_crowd_view *v)
{
    th_camera camera = th_camera_look_at((float[3]){0, 0, 1}, (float[3]){0, 0, 0});
    th_camera_orbit(&camera, (float)(v->desc.yaw_deg * DEGREE), (float)(v->desc.pitch_deg * DEGREE));
    return camera;
}

/* What this share of a sample of the characters, of one model or all, have at most. */
static float usual(const th_crowd_view *v, uint32_t model, float (*of)(const th_crowd_view *v, uint32_t instance),
                   float share)
{
    float values[SAMPLE];
    const uint32_t count = v->scene->instance_count, sample = count < SAMPLE ? count : SAMPLE;
    uint32_t found = 0;
    for (uint32_t n = 0; n < sample; n++) {
        const uint32_t i = (uint32_t)((uint64_t)n * count / sample);
        if (model == TH_NO_INDEX || v->scene->instances[i].model == model)
            values[found++] = of(v, i);
    }
    qsort(values, found, sizeof *values, ascending);
    return found > 0 ? values[(uint32_t)(share * (float)found)] : 0;
}

static float top_of(const th_crowd_view *v, uint32_t instance)
{
    const th_sphere sphere = th_layout_sphere(&v->layout, instance, v->desc.start_s);
    return sphere.centre[1] + sphere.radius;
}

static float reach_of(const th_crowd_view *v, uint32_t instance)
{
    const th_locomotion *locomotion = &v->locomotions[v->motions[instance].locomotion];
    return locomotion->reach * locomotion->scale;
}

float th_crowd_view_spacing(const th_crowd_view *v)
{
    float widest = 0;
    if (!th_crowd_view_is_close(&v->desc))
        return 0;
    for (uint32_t m = 0; m < v->desc.model_count; m++)
        widest = fmaxf(widest, usual(v, m, reach_of, FAR_REACHING));
    return 2 * widest;
}

/* Where somebody would stand who takes a picture of a crowd: above the heads at its near corner, so that it goes on
 * beyond the picture on all sides. */
static th_camera stand_at_corner(const th_crowd_view *v)
{
    const float height = usual(v, TH_NO_INDEX, top_of, 0.5F), more = log10f((float)v->scene->instance_count / 100),
                eye_y = EYE * height * (1 + 0.2F * fmaxf(more, 0));
    const float outermost = th_layout_grid_half(&v->layout) / v->layout.desc.spacing; /* row */
    const float half = (outermost - (outermost < 6 ? 0 : 1)) * v->layout.desc.spacing;
    const float outside = outermost < 10 ? 1 : 1 + v->layout.desc.spacing / half; /* of half, by a row */
    float right[3], up[3], forward[3];
    th_camera camera = turned(v);
    th_camera_axes(&camera, right, up, forward);
    const float eye[3] = {half * fminf(fmaxf(CORNER * sinf(camera.yaw_rad), -outside), outside), eye_y,
                          half * fminf(fmaxf(CORNER * cosf(camera.yaw_rad), -outside), outside)};
    camera.distance = (eye_y - height / 2) / fmaxf(sinf(camera.pitch_rad), LEAST_SINE);
    for (int i = 0; i < 3; i++)
        camera.target[i] = eye[i] + camera.distance * forward[i];
    th_crowd_view_fit_depth(v, &camera);
    return camera;
}

th_camera th_crowd_view_camera(const th_crowd_view *v, float aspect, double shown_s)
{
    if (!TH_VALID(v && aspect > 0 && shown_s >= 0))
        return (th_camera){0};
    const bool is_grid = v->layout.desc.kind == TH_LAYOUT_GRID && !v->surroundings;
    return is_grid && !(v->desc.zoom > 0) && v->desc.pitch_deg < STEEP_DEG && v->scene->instance_count >= CROWD
               ? stand_at_corner(v)
               : th_crowd_view_see_all(v, aspect, shown_s);
}

th_camera th_crowd_view_see_all(const th_crowd_view *v, float aspect, double shown_s)
{
    assert(v && aspect > 0 && shown_s >= 0);
    const th_crowd_view_desc *d = &v->desc;
    const double zoom = d->zoom > 0 ? d->zoom : 1;
    th_camera camera = turned(v);
    if (v->surroundings) {
        th_surroundings_frame(&v->layout, v->unit, zoom, &camera);
        th_crowd_view_fit_depth(v, &camera);
        return camera;
    }
    th_camera_fit now = th_camera_fit_begin(&camera, aspect, FULL), ever = now;
    for (uint32_t i = 0; i < v->scene->instance_count; i++) {
        th_sphere spheres[TH_BOUNDS_PARTS];
        const uint32_t count = th_layout_reach(&v->layout, i, d->start_s, shown_s, spheres);
        const th_sphere first = th_layout_sphere(&v->layout, i, d->start_s);
        th_camera_fit_add(&now, first.centre, first.radius);
        th_camera_fit_add(&ever, first.centre, first.radius);
        for (uint32_t s = 0; s < count; s++)
            th_camera_fit_add(&ever, spheres[s].centre, spheres[s].radius);
    }
    camera = th_camera_fit_end(&now, &ever);
    th_camera_zoom(&camera, (float)(1 / zoom));
    th_crowd_view_fit_depth(v, &camera);
    return camera;
}

void th_crowd_view_fit_depth(const th_crowd_view *v, th_camera *camera)
{
    if (!TH_VALID(v && camera))
        return;
    const th_sphere all = th_layout_bounds(&v->layout);
    th_camera_fit_depth(camera, all.centre, fmaxf(GROUND * clear_of(v), all.radius));
}

/* ---- the stages of a frame ----
 *
 * Each stage is a job: over blocks of all characters, or over ranges of the list of those to pose. Between the jobs the
 * caller only adds up counts of blocks and of draw lists. So no time of the caller alone grows with the crowd. */

enum { BLOCKS = 2, LISTED = 128, SOUGHT = 8 }; /* in a chunk */

typedef struct stage {
    th_crowd_view *crowd_view;
    double time_s;
    th_cull_view seen;
    th_cull_light sun;
    bool has_shadows;
    size_t bytes, instances_at,
        cursors_at;                 /* of the slot: behind the palettes instances, then, if the GPU poses, cursors */
    th_gpu_instance *gpu_instances; /* in the slot, in the order of the list */
    const float *error_px;          /* in the order of the list; NULL: not measured */
    th_device_cursor *cursors;      /* in the slot, in the order of palettes; NULL: the CPU poses */
} stage;

/* What is seen, by the camera and by the sun, and how models are drawn. */
static stage begin_stages(th_crowd_view *v, double time_s, const th_camera *camera, uint32_t width, uint32_t height)
{
    const th_crowd_view_desc *d = &v->desc;
    const th_sphere all = th_layout_bounds(&v->layout);
    const float aspect = (float)width / (float)height;
    const float near = fminf(all.radius, (v->surroundings ? 4 : 2) * camera->distance); /* houses are high */
    const float clear = fmaxf(fminf(clear_of(v), HAZE * camera->distance), camera->distance / 4);
    v->view = (th_view){
        .to_sun = {to_sun[0], to_sun[1], to_sun[2]},
        .shadow_radius = near,
        .ground_cell = 0.6F * (float)d->models[0]->size,
        .ground_reach = fmaxf(GROUND * clear_of(v), all.radius),
        .surroundings = v->surroundings,
        .fog_density = 0.012F / (clear * clear),
        .plain = d->look == TH_LOOK_LOD || d->look == TH_LOOK_WORKERS || d->look == TH_LOOK_ERROR,
        .skeletons = d->look == TH_LOOK_SKELETON,
    };
    memcpy(v->view.shadow_center, near < all.radius ? camera->target : all.centre, sizeof v->view.shadow_center);
    th_camera_clip(camera, aspect, v->view.clip_from_world);
    th_camera_eye(camera, v->view.eye);

    stage s = {.crowd_view = v,
               .time_s = time_s,
               .seen.pixels = th_camera_pixels(camera, (float)height),
               .sun.ground = v->view.ground_height};
    th_camera_frustum(camera, aspect, &s.seen.frustum);
    memcpy(s.seen.eye, v->view.eye, sizeof s.seen.eye);
    memcpy(s.sun.to_light, to_sun, sizeof s.sun.to_light);
    s.has_shadows = th_crowd_renderer_shadow_frustum(v->renderer, &v->view, &s.sun.map);

    /* Sizes in pixels below which a level is fine enough. A sphere's diameter stands for the model's size. */
    for (uint32_t lod = 1; lod < TH_RENDER_MESH_LODS; lod++) {
        const double coarseness = (lod - 1) / (TH_RENDER_MESH_LODS - 2.0);
        const double pixels = FINEST_PIXELS + (COARSEST_PIXELS - FINEST_PIXELS) * coarseness;
        s.seen.lod_px[lod - 1] = (float)(pixels / th_render_mesh_lod_limit(lod));
    }

    /* In the shadow map the coarsest level whose error is below a texel of it. */
    for (uint32_t m = 0; m < d->model_count; m++) {
        th_draw_model *model = &v->draw_models[m];
        const double texel = d->shadow_pixels > 0 ? 2 * (double)near / d->shadow_pixels : 0;
        const double size = d->models[m]->size * (double)v->locomotions[v->first_locomotion[m]].scale;
        *model = (th_draw_model){0, d->layout == TH_LAYOUT_STADIUM ? 0 : FOOTPRINT * (float)d->models[m]->size};
        while (texel > 0 && model->shadow_lod + 1 < TH_RENDER_MESH_LODS &&
               th_render_mesh_lod_limit(model->shadow_lod + 1) * size <= SHADOW_TEXELS * texel)
            model->shadow_lod++;
    }
    return s;
}

/* In the picture; skeletons have none. */
static void count_triangles(th_crowd_view *v, uint32_t mesh, uint32_t lod, uint32_t count)
{
    const th_render_mesh *of = v->meshes[mesh];
    for (uint32_t p = 0; p < of->part_count && !v->view.skeletons; p++) {
        const th_render_mesh_lod *lods = of->parts[p].lods;
        v->stats.triangles += (uint64_t)count * (lods[lod < of->lod_count ? lod : of->lod_count - 1].index_count / 3);
        v->stats.finest_triangles += (uint64_t)count * (lods[0].index_count / 3);
    }
}

/* Counts who is listed, as the GPU counted them in an earlier frame, or the CPU in this one. counts: [draw list]; NULL:
 * their own. */
static void count_listed(th_crowd_view *v, const uint32_t *counts)
{
    th_crowd_view_stats *stats = &v->stats;
    stats->listed = stats->visible = 0;
    memset(stats->visible_by_lod, 0, sizeof stats->visible_by_lod);
    memset(stats->listed_by_lod, 0, sizeof stats->listed_by_lod);
    for (uint32_t l = 0; l < v->cull->draw_list_count; l++) {
        const th_draw_list *list = &v->cull->draw_lists[l];
        const uint32_t listed = counts ? counts[l] : list->count, visible = list->shadow_only ? 0 : listed;
        stats->listed += listed;
        stats->visible += visible;
        stats->listed_by_lod[list->lod] += listed;
        stats->visible_by_lod[list->lod] += visible;
    }
}

/* Takes over what the GPU counted, if it has. */
static void take_counts(th_crowd_view *v, const uint32_t *counts)
{
    th_crowd_view_stats *stats = &v->stats;
    if (!counts)
        return;
    count_listed(v, counts);
    stats->bones = stats->palette_bytes = stats->triangles = stats->finest_triangles = 0;
    for (uint32_t l = 0; l < v->cull->draw_list_count; l++) {
        const uint32_t model = v->cull->draw_lists[l].own;
        if (!v->cull->draw_lists[l].shadow_only)
            count_triangles(v, model, v->cull->draw_lists[l].lod, counts[l]);
        stats->bones += (uint64_t)counts[l] * v->desc.models[model]->bone_count;
        stats->palette_bytes += counts[l] * th_crowd_palettes(v->crowd, model).stride;
    }
    stats->listed_by_joint_level[0] = stats->evaluated = stats->listed;
}

static void end_stages(th_crowd_view *v, uint64_t begin, uint64_t waited, uint64_t culled)
{
    th_crowd_view_stats *stats = &v->stats;
    stats->wait_ns = waited - begin;
    stats->cull_ns = culled - waited;
    stats->pose_ns = th_tracer_end(v->tracer) - culled - stats->error_ns;
    stats->draw_ns = 0;
    th_tracer_count(v->tracer, "characters visible", stats->visible);
    th_tracer_count(v->tracer, "palettes evaluated", stats->evaluated);
    th_tracer_count(v->tracer, "characters sharing", stats->shared);
    if (v->held_at)
        th_tracer_count(v->tracer, "poses held", stats->held);
    if (v->means)
        th_tracer_count(v->tracer, "tolerance px", stats->tolerance_px);
    if (!v->gpu_cull)
        th_tracer_count(v->tracer, "ns per bone", (double)stats->pose_ns / (double)stats->bones);
}

/* ---- who is drawn ---- */

/* Z of an instance if it walked straight: where the mean speed of its routine leads, and from there to where it is. */
static float walked_straight(const th_crowd_view *v, uint32_t instance, double time_s)
{
    const th_walk *walk = &v->walks[instance];
    const double walk_time_s = th_behaviour_walk_time(v->behaviour, instance, time_s);
    const double ahead = th_behaviour_strayed(v->behaviour, instance, time_s);
    float z;
    th_layout_walk_to(&v->layout, walk, 1, walk_time_s, &z);
    return z + (float)((walk->rate < 0 ? -1 : 1) * ahead * (double)v->gpu_instances[instance].scale);
}

static int classify_blocks(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    const stage *s = ctx;
    const th_crowd_view *v = s->crowd_view;
    th_cull *cull = v->cull;
    const uint32_t first = th_cull_block_begin(cull, begin), last = th_cull_block_begin(cull, end);
    (void)worker;
    if (v->walks && !v->behaviour)
        th_layout_walk_to(&v->layout, v->walks + first, last - first, s->time_s, cull->z + first);
    for (uint32_t i = first; v->walks && v->behaviour && i < last; i++) {
        th_gpu_instance *out = &v->gpu_instances[i];
        th_instance_transform at = {.position = {0, out->position[1], 0}, .scale = out->scale};
        cull->z[i] = walked_straight(v, i, s->time_s);
        if (!(v->weaves[i].wave > 0))
            continue;
        th_layout_weave_to(&v->weaves[i], (double)cull->z[i], &at);
        th_cull_move(cull, i, i + 1, &at);
        out->position[0] = at.position[0];
        out->heading[0] = cosf(at.heading_rad);
        out->heading[1] = sinf(at.heading_rad);
    }
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

/* ---- which palettes ---- */

/* Decides which to evaluate, so that the budget holds, if there is one; and where in the slot all will lie. */
static void plan_poses(stage *s)
{
    th_crowd_view *v = s->crowd_view;
    th_crowd_view_stats *stats = &v->stats;
    const th_crowd_view_desc *d = &v->desc;
    const th_cull *cull = v->cull;
    const bool has_budget = v->means;
    const uint64_t allowed = has_budget ? th_budget_bones(&v->budget, d->budget.ms * 1e6, d->budget.bones) : 0;
    /* From the last frame to this one, which says how much is lost by holding. */
    const double frame_s = isnan(v->last_s) ? FRAME_S : fabs(s->time_s - v->last_s);
    if (has_budget)
        th_budget_begin(&v->budget);
    if (v->held_at)
        th_pose_plan_begin(v->plan, th_ring_get_info(v->ring).frame);
    do {
        stats->apart = 0;
        for (uint32_t l = 0; l < cull->draw_list_count; l++) {
            th_draw_list *list = &cull->draw_lists[l];
            const bool is_far = list->lod >= d->far_lod, behaves = v->behaviour && v->routines[list->own];
            th_budget_way way = {list->lod, is_far && d->share_hz > 0 ? 0 : TH_NO_INDEX,
                                 is_far && d->hold > 1 ? d->hold : 1};
            if (v->means) { /* nobody at level 0 is taken to be larger than four times the size at which it begins */
                const double size_px =
                    list->lod > 0 ? (double)s->seen.lod_px[list->lod - 1] : 4 * (double)s->seen.lod_px[0];
                way = th_budget_choose(v->budget.tolerance, &v->means[list->own], size_px, frame_s);
            }
            list->posed_as = v->posed_as[list->own][way.level];
            list->shares = way.rate != TH_NO_INDEX && !behaves;
            list->rate = way.rate;
            list->hold = way.hold;
            stats->apart += way.rate != TH_NO_INDEX && behaves ? list->count : 0;
        }
        th_pose_plan_make(v->plan, v->jobs, s->time_s, cull->list, cull->draw_lists, cull->draw_list_count);
    } while (has_budget && th_budget_exceeded(&v->budget, th_crowd_bone_count(v->crowd), allowed));

    bool saves = false; /* anyone is posed otherwise than by itself, with all joints, in each frame */
    memset(stats->listed_by_joint_level, 0, sizeof stats->listed_by_joint_level);
    for (uint32_t l = 0; l < cull->draw_list_count; l++) {
        const th_draw_list *list = &cull->draw_lists[l];
        const bool shares = th_pose_plan_list(v->plan, l).are_shared;
        saves |= list->count > 0 && (shares || list->hold > 1 || list->posed_as != list->own);
        stats->listed_by_joint_level[v->posed_models[list->posed_as].level] += list->count;
    }
    const th_pose_counts counts = th_pose_plan_counts(v->plan);
    v->tolerances_px[th_ring_get_info(v->ring).frame % TH_POSE_MAX_HOLD] =
        saves ? th_budget_tolerance_px(v->budget.tolerance) : 0;
    stats->tolerance_px = 0;
    for (uint32_t n = 0; n < TH_POSE_MAX_HOLD; n++)
        stats->tolerance_px = fmax(stats->tolerance_px, v->tolerances_px[n]);
    stats->evaluated = counts.evaluated;
    stats->shared = counts.shared;
    stats->held = counts.held;
    stats->bones = th_crowd_bone_count(v->crowd);
    stats->palette_bytes = th_crowd_palette_bytes(v->crowd);
    s->instances_at = stats->palette_bytes;
    s->cursors_at = s->instances_at + th_cache_line_round(stats->listed * sizeof(th_gpu_instance));
    s->bytes = s->cursors_at + (v->evaluator ? stats->evaluated * sizeof(th_device_cursor) : 0);
}

static int seek_batches(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    const stage *s = ctx;
    (void)worker;
    th_crowd_cursors(s->crowd_view->crowd, begin, end, s->time_s, s->cursors);
    return 0;
}

/* ---- instances and draws ---- */

const char *th_look_name(th_look look)
{
    assert((unsigned)look < TH_LOOK_COUNT);
    static const char *const names[] = {"natural", "lod", "skeleton", "workers", "error"};
    _Static_assert(sizeof names / sizeof *names == TH_LOOK_COUNT, "a name for each look");
    return names[look];
}

/* The worker that posed a character, and its error, are known only after posing. */
static int write_listed(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    const stage *s = ctx;
    const th_crowd_view *v = s->crowd_view;
    const th_look look = v->desc.look;
    const uint32_t *instances = v->cull->list;
    const th_draw_list *list = v->cull->draw_lists;
    const uint32_t *palettes = th_pose_plan_readers(v->plan).palettes;
    const th_pose_place *places = th_pose_plan_readers(v->plan).places;
    th_pose_palettes of_list = th_pose_plan_list(v->plan, 0);
    (void)worker;
    for (uint32_t k = begin; k < end; k++) {
        while (k - list->first >= list->count)
            of_list = th_pose_plan_list(v->plan, (uint32_t)(++list - v->cull->draw_lists));
        const th_pose_place place = of_list.are_held ? places[k] : (th_pose_place){.at = k};
        const bool is_held = place.frames_ago > 0; /* posed in another frame */
        th_gpu_instance gpu_instance = v->gpu_instances[instances[k]];
        gpu_instance.position[2] = v->cull->z[instances[k]];
        if (is_held)
            gpu_instance = v->held_at[instances[k]];
        else if (v->held_at && !of_list.are_shared)
            v->held_at[instances[k]] = gpu_instance;
        const uint32_t palette = of_list.are_shared ? palettes[k] - of_list.first : place.palette;
        assert(palette < TH_GPU_INSTANCE_PALETTES);
        gpu_instance.palette = palette & (TH_GPU_INSTANCE_PALETTES - 1);
        th_tint tint;
        memcpy(tint.rgba, gpu_instance.tint, sizeof tint.rgba);
        if (look == TH_LOOK_LOD)
            tint = th_tint_lod(list->lod);
        else if (look == TH_LOOK_WORKERS && !is_held)
            tint = th_tint_worker(th_frame_worker(v->frame, instances[k]));
        else if (look == TH_LOOK_ERROR)
            tint = th_tint_error(s->error_px ? s->error_px[k] : 0);
        memcpy(gpu_instance.tint, tint.rgba, sizeof gpu_instance.tint);
        s->gpu_instances[place.at] = gpu_instance; /* one whole store: the slot may be write-combined */
    }
    return 0;
}

/* A draw for each list; where poses are held, for each frame in which they were posed. */
static void prepare_draws(const stage *s)
{
    th_crowd_view *v = s->crowd_view;
    const uint32_t most_hold = th_crowd_view_most_hold(&v->desc);
    v->draw_count = 0;
    for (uint32_t l = 0; l < v->cull->draw_list_count; l++) {
        const th_draw_list *list = &v->cull->draw_lists[l];
        const th_pose_palettes palettes = th_pose_plan_list(v->plan, l);
        th_draw draw = {
            .mesh = list->posed_as,
            .lod = list->lod,
            .shadow_lod = v->draw_models[list->own].shadow_lod,
            .count = palettes.are_held ? 0 : list->count,
            .shared = palettes.are_shared ? palettes.range.count : 0,
            .palette_offset = palettes.range.offset,
            .palette_stride = palettes.range.stride,
            .instance_offset = s->instances_at + list->first * sizeof(th_gpu_instance),
            .footprint = v->draw_models[list->own].footprint,
            .shadow_only = list->shadow_only,
        };
        if (!palettes.are_held) {
            v->draws[v->draw_count++] = draw;
            continue;
        }
        for (; draw.frames_ago < most_hold; draw.frames_ago++) {
            const th_pose_part part = th_pose_plan_part(v->plan, l, draw.frames_ago);
            draw.instance_offset += draw.count * sizeof(th_gpu_instance);
            draw.mesh = part.model;
            draw.count = part.count;
            draw.shared = part.range.count;
            draw.palette_offset = part.range.offset;
            draw.palette_stride = part.range.stride;
            if (part.count > 0)
                v->draws[v->draw_count++] = draw;
        }
    }
    v->stats.triangles = v->stats.finest_triangles = 0;
    for (const th_draw *draw = v->draws; draw < v->draws + v->draw_count; draw++)
        if (!draw->shadow_only)
            count_triangles(v, draw->mesh, draw->lod, draw->count);
}

/* ---- a frame ---- */

void th_crowd_view_trace(th_crowd_view *v, th_tracer *tracer)
{
    assert(v);
    v->tracer = tracer;
}

bool th_crowd_view_pose(th_crowd_view *v, double time_s, const th_camera *camera, uint32_t width, uint32_t height)
{
    assert(v && camera && width > 0 && height > 0);
    assert(v->renderer); /* th_crowd_view_complete has succeeded */

    /* Waits for the ring while the workers sleep. Between th_jobs_frame_begin and th_jobs_frame_end they would spin. */
    const uint64_t begin = th_tracer_begin(v->tracer, "wait");
    char *slot = th_ring_begin(v->ring);
    const uint64_t waited = th_tracer_next(v->tracer, "cull");
    if (v->gpu_cull)
        take_counts(v, th_gpu_cull_old_counts(v->gpu_cull));
    else
        th_jobs_frame_begin(v->jobs);
    stage s = begin_stages(v, time_s, camera, width, height);

    /* The GPU culls and poses: it is told what has changed, camera and time. Nothing here takes time for each
     * character. Nothing is kept when the driver cannot map the slot, or lost it. */
    if (v->gpu_cull) {
        const size_t bytes = th_gpu_cull_frame_bytes(v->gpu_cull);
        const th_gpu_cull_frame frame = {.time_s = time_s,
                                         .visible = &s.seen,
                                         .light = s.has_shadows ? &s.sun : NULL,
                                         .models = v->draw_models,
                                         .tints_levels = v->desc.look == TH_LOOK_LOD};
        slot = slot ? th_ring_reserve(v->ring, bytes) : NULL;
        if (slot) {
            th_gpu_cull_write(v->gpu_cull, &frame, slot);
            th_ring_wrote(v->ring, 0, bytes);
        }
        const bool is_kept = slot && th_ring_end(v->ring);
        if (is_kept)
            th_gpu_cull_run(v->gpu_cull, th_ring_get_binding(v->ring));
        const uint64_t culled = th_tracer_next(v->tracer, "pose");
        if (is_kept)
            th_gpu_cull_pose(v->gpu_cull);
        end_stages(v, begin, waited, culled);
        return is_kept;
    }

    /* Lists the characters to draw: by model, then visible ones first, then by level. */
    th_jobs_for(v->jobs, v->cull->block_count, BLOCKS, classify_blocks, &s);
    th_cull_sum(v->cull);
    count_listed(v, NULL);
    th_jobs_for(v->jobs, v->cull->block_count, BLOCKS, scatter_blocks, &s);

    /* Plans their poses. Where the ring has to grow for them, poses that were held are lost, and another plan is made.
     */
    const uint32_t number = th_ring_get_info(v->ring).frame;
    plan_poses(&s);
    if (slot)
        slot = th_ring_reserve(v->ring, s.bytes);
    if (slot && v->stats.held > 0 && th_ring_get_info(v->ring).frame != number) {
        plan_poses(&s);
        slot = th_ring_reserve(v->ring, s.bytes);
    }
    const uint64_t culled = th_tracer_next(v->tracer, "pose");
    v->stats.error_ns = v->stats.evaluate_ns = 0;

    /* A frame that is measured is posed by the CPU into memory of the measurement, because neither the slot nor what
     * the GPU writes can be read at once. So are frames before it of which poses may be held. */
    const bool is_measured = slot && th_screen_error_next(v->error);
    const bool is_read = is_measured || (v->error && v->held_at);
    void *palettes = slot;
    if (slot && is_read)
        palettes = th_screen_error_reserve(v);

    /* Poses the listed characters, or says for the GPU where in their clips they are, and writes where they stand
     * behind their palettes. Out of memory nothing of the frame is kept. */
    if (palettes) {
        s.gpu_instances = (th_gpu_instance *)(void *)(slot + s.instances_at);
        if (v->held_at)
            th_pose_plan_keep(v->plan, v->jobs, th_ring_get_info(v->ring).frame);
        if (!is_read && v->evaluator) {
            s.cursors = (th_device_cursor *)(void *)(slot + s.cursors_at);
            th_jobs_for(v->jobs, th_crowd_batch_count(v->crowd), SOUGHT, seek_batches, &s);
        } else {
            const uint64_t evaluate = th_clock_ns();
            th_frame_run(v->frame, time_s, palettes);
            v->stats.evaluate_ns = th_clock_ns() - evaluate;
            if (v->means)
                th_budget_end(&v->budget, v->stats.bones, (double)v->stats.evaluate_ns);
        }
        if (is_measured)
            s.error_px = th_screen_error_measure(v, time_s, camera, width, height);
        if (is_read)
            memcpy(slot, palettes, v->stats.palette_bytes);
        th_tracer_begin(v->tracer, "instances");
        th_jobs_for(v->jobs, v->stats.listed, LISTED, write_listed, &s);
        th_tracer_end(v->tracer);
        prepare_draws(&s);
    }
    th_jobs_frame_end(v->jobs);

    /* The GPU writes the palettes into the slot, in front of what the CPU has written. */
    if (slot)
        th_ring_wrote(v->ring, s.cursors ? s.instances_at : 0, s.bytes);
    const bool kept = slot && th_ring_end(v->ring) && palettes;
    if (kept && s.cursors) {
        const th_ring_binding at = th_ring_get_binding(v->ring);
        th_gpu_evaluator_pose(v->evaluator, v->crowd, at, (th_ring_binding){at.buffer, at.offset + s.cursors_at});
    }
    end_stages(v, begin, waited, culled);
    v->last_s = time_s;
    return kept;
}

void th_crowd_view_draw(th_crowd_view *v, const th_target *target)
{
    assert(v && target);
    const uint64_t begin = th_tracer_begin(v->tracer, "draw");
    if (v->gpu_cull)
        th_crowd_renderer_draw_indirect(v->renderer, target, &v->view, th_gpu_cull_draws(v->gpu_cull, v->draw_models));
    else
        th_crowd_renderer_draw(v->renderer, target, &v->view, v->ring, v->draws, v->draw_count);
    th_ring_fence(v->ring);
    v->stats.draw_calls = th_crowd_renderer_draw_calls(v->renderer);
    v->stats.draw_ns = th_tracer_end(v->tracer) - begin;
}

/* A driver may lose mapped data, for instance when the screen mode changes. OpenGL then asks to write it again, so this
 * tries twice. */
bool th_crowd_view_frame(th_crowd_view *v, double time_s, const th_camera *camera, const th_target *target)
{
    if (!TH_VALID(v && isfinite(time_s) && th_camera_is_valid(camera) && target))
        return false;
    uint32_t width, height;
    th_target_size(target, &width, &height);
    const bool kept =
        th_crowd_view_pose(v, time_s, camera, width, height) || th_crowd_view_pose(v, time_s, camera, width, height);
    if (kept)
        th_crowd_view_draw(v, target);
    return kept;
}

void th_crowd_view_redraw(th_crowd_view *v, const th_target *target)
{
    assert(v && target && !v->held_at);
    const uint64_t begin = th_tracer_begin(v->tracer, "wait");
    th_ring_reuse(v->ring);
    v->stats.cull_ns = v->stats.pose_ns = 0;
    v->stats.wait_ns = th_tracer_end(v->tracer) - begin;
    th_crowd_view_draw(v, target);
}

/* ---- what others may know ---- */

th_crowd_view_stats th_crowd_view_get_stats(const th_crowd_view *v)
{
    return TH_VALID(v) ? v->stats : (th_crowd_view_stats){0};
}

void th_crowd_view_await_stats(th_crowd_view *v)
{
    if (TH_VALID(v))
        take_counts(v, v->gpu_cull ? th_gpu_cull_counts(v->gpu_cull) : NULL);
}

const char *th_crowd_view_fallback(const th_crowd_view *v)
{
    return TH_VALID(v) ? v->fallback.text : "";
}

th_crowd_view_parts th_crowd_view_get_parts(const th_crowd_view *v)
{
    assert(v);
    th_crowd_view_parts parts = {
        .scene = v->scene,
        .meshes = (const th_render_mesh *const *)v->meshes,
        .crowd = v->crowd,
        .renderer = v->renderer,
        .posed_models = v->posed_models,
        .compiled_models = (const th_compiled_model *const *)v->compiled_models,
        .jobs = v->jobs,
        .palette = th_crowd_format(v->crowd),
        .evaluator = v->evaluator ? TH_EVALUATOR_GPU : TH_EVALUATOR_CPU,
        .culling = v->gpu_cull ? TH_EVALUATOR_GPU : TH_EVALUATOR_CPU,
        .gpu_mapping = v->evaluator ? th_gpu_evaluator_choice(v->evaluator) : (th_gpu_mapping_choice){0},
        .behaviour = v->behaviour,
        .errors = v->visible_px,
    };
    if (v->renderer) {
        parts.fetch = th_crowd_renderer_get_fetch(v->renderer);
        parts.upload = th_ring_get_info(v->ring).upload;
        parts.ring_bytes = th_ring_get_info(v->ring).bytes;
    }
    return parts;
}

void th_crowd_view_set_blend(th_crowd_view *v, const th_blend *blend, double time_s)
{
    assert(v && blend);
    v->plays.blend = *blend;
    if (v->behaviour)
        th_behaviour_set_blend(v->behaviour, blend, time_s);
}

void th_crowd_view_restore_blends(th_crowd_view *v, const th_blend_state *states)
{
    assert(v && states);
    for (uint32_t m = 0; v->behaviour && m < v->desc.model_count; m++)
        th_behaviour_restore_blend(v->behaviour, m, &states[m]);
}

void th_crowd_view_place(const th_crowd_view *v, uint32_t instance, double time_s, th_instance_transform *at,
                         th_sphere *sphere)
{
    assert(v && instance < v->scene->instance_count && at && sphere);
    const th_sphere *of = &v->locomotions[v->motions[instance].locomotion].sphere;
    th_layout_place(&v->layout, instance, instance + 1, time_s, at);
    if (v->behaviour && v->walks) { /* where that has led it */
        at->position[2] = walked_straight(v, instance, time_s);
        if (v->weaves[instance].wave > 0)
            th_layout_weave_to(&v->weaves[instance], (double)at->position[2], at);
    }
    *sphere = (th_sphere){{at->position[0], at->position[1] + at->scale * of->centre[1], at->position[2]},
                          at->scale * (of->radius + hypotf(of->centre[0], of->centre[2]))};
}

bool th_crowd_view_light(const th_crowd_view *v, th_cull_light *out)
{
    assert(v && v->renderer && out);
    memcpy(out->to_light, v->view.to_sun, sizeof out->to_light);
    out->ground = v->view.ground_height;
    return th_crowd_renderer_shadow_frustum(v->renderer, &v->view, &out->map);
}

/* ---- following a character ---- */

th_follow_target th_crowd_view_follow_target(const th_crowd_view *v, uint32_t instance, double time_s)
{
    assert(v && instance < v->scene->instance_count);
    const th_instance_motion *motion = &v->motions[instance];
    const th_locomotion *locomotion = &v->locomotions[motion->locomotion];
    th_instance_transform at;
    th_sphere sphere;
    th_crowd_view_place(v, instance, time_s, &at, &sphere);
    float far = 0; /* that root motion has moved the model from where the layout placed it */
    if (locomotion->loop_s > 0) {
        const th_playback playback = th_playback_of(locomotion->loop_s, motion->phase_s, motion->speed);
        const double walked = th_playback_ratio(playback, time_s) * locomotion->loop_s * (double)locomotion->speed;
        far = at.scale * (float)walked;
    }
    const float heading_rad = at.heading_rad + locomotion->facing_rad,
                height = at.scale * (float)v->desc.models[v->scene->instances[instance].model]->size,
                floor = at.position[1] + locomotion->lowest_y * at.scale;
    return (th_follow_target){.centre = {at.position[0] + far * sinf(heading_rad), floor + height / 2,
                                         at.position[2] + far * cosf(heading_rad)},
                              .heading_rad = heading_rad,
                              .height = height};
}

uint32_t th_crowd_view_next_walker(const th_crowd_view *v, uint32_t instance, bool before)
{
    assert(v && v->scene->instance_count > 0);
    const uint32_t count = v->scene->instance_count, step = before ? count - 1 : 1;
    uint32_t next = instance % count;
    for (uint32_t k = 0; k < count; k++) {
        next = (uint32_t)(((uint64_t)next + step) % count);
        const th_instance_motion *motion = &v->motions[next];
        if (v->locomotions[motion->locomotion].speed > 0 && motion->speed > 0)
            return next;
    }
    return (uint32_t)(((uint64_t)instance + step) % count);
}

#include "crowd_view_parts.h"
#include "tint.h"

#include <throng/anim/playback.h>
#include <throng/render/camera_fit.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI     3.14159265358979
#define DEGREE (PI / 180)
#define FULL   0.94F /* of the picture: what the crowd may take */
#define GROUND 24    /* how far the ground reaches, in radii of the crowd */

/* From the south-east and above, late in the afternoon. */
static const float to_sun[3] = {0.46F, 0.62F, 0.64F};

/* ---- what the camera sees ---- */

th_camera th_show_camera(const th_show *show, float aspect)
{
    const th_show_desc *d = &show->desc;
    th_camera camera = th_camera_look_at((float[3]){0, 0, 1}, (float[3]){0, 0, 0});
    th_camera_orbit(&camera, (float)(d->yaw_deg * DEGREE), (float)(d->pitch_deg * DEGREE));
    th_framing now = th_framing_begin(&camera, aspect, FULL), ever = now;
    for (uint32_t i = 0; i < show->scene->instance_count; i++) {
        th_sphere spheres[3];
        const uint32_t count = th_layout_reach(&show->layout, i, d->start_s, spheres);
        th_framing_add(&now, spheres[0].centre, spheres[0].radius);
        for (uint32_t s = 0; s < count; s++)
            th_framing_add(&ever, spheres[s].centre, spheres[s].radius);
    }
    camera = th_framing_end(&now, &ever);
    th_camera_zoom(&camera, (float)(1 / d->zoom));
    th_show_fit_depth(show, &camera);
    return camera;
}

void th_show_fit_depth(const th_show *show, th_camera *camera)
{
    const th_sphere all = th_layout_bounds(&show->layout);
    th_camera_fit_depth(camera, all.centre, GROUND * all.radius);
}

/* The arguments of the jobs below. */
typedef struct looking {
    th_show *show;
    double time_s;
    th_cull_view view;
    th_cull_light sun;
    uint32_t lists; /* without shadows there are no casters */
} looking;

/* Places the characters of some blocks, and sees which of them are seen, and whose shadows. */
static int look_at_blocks(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    const looking *l = ctx;
    th_show *show = l->show;
    const uint32_t count = show->scene->instance_count, first = begin * TH_CULL_BLOCK, behind = end * TH_CULL_BLOCK;
    const uint32_t last = behind < count ? behind : count;
    (void)worker;
    if (!show->placed) {
        th_layout_place(&show->layout, first, last, l->time_s, show->places + first);
        th_cull_move(show->cull, first, last, show->places + first);
    }
    th_cull_classify(show->cull, TH_SHOW_SEEN, &l->view, begin, end);
    if (l->lists > TH_SHOW_CASTERS)
        th_cull_classify_casters(show->cull, TH_SHOW_CASTERS, TH_SHOW_SEEN, &l->view, &l->sun, begin, end);
    return 0;
}

static int scatter_blocks(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    const looking *l = ctx;
    (void)worker;
    for (uint32_t list = 0; list < l->lists; list++)
        th_cull_scatter(l->show->cull, list, begin, end);
    return 0;
}

/* Everybody's place, and the lists of those who are to be posed. Returns how many lists there are. */
static uint32_t look(th_show *show, double time_s, const th_camera *camera, float aspect, float height)
{
    const th_view *view = &show->view;
    looking l = {.show = show, .time_s = time_s, .view.lod_px = {180, 80, 32}, .sun.ground = view->ground_height};
    const uint32_t blocks = th_cull_block_count(show->cull);
    th_camera_frustum(camera, aspect, &l.view.frustum);
    th_camera_eye(camera, l.view.eye);
    l.view.pixels = th_camera_pixels(camera, height);
    memcpy(l.sun.to_light, view->to_sun, sizeof l.sun.to_light);
    l.lists = th_painter_shadow_frustum(show->painter, view, &l.sun.map) ? TH_SHOW_LISTS : TH_SHOW_CASTERS;
    th_jobs_for(show->jobs, blocks, 4, look_at_blocks, &l);
    show->placed = th_layout_is_still(&show->layout);
    for (uint32_t list = 0; list < l.lists; list++)
        th_cull_sum(show->cull, list);
    th_jobs_for(show->jobs, blocks, 4, scatter_blocks, &l);
    show->stats.posed = 0;
    for (uint32_t list = 0; list < l.lists; list++) {
        const uint32_t count = th_cull_seen_count(show->cull, list);
        memcpy(show->posed + show->stats.posed, th_cull_list(show->cull, list), count * sizeof *show->posed);
        show->stats.posed += count;
    }
    show->stats.shown = th_cull_seen_count(show->cull, TH_SHOW_SEEN);
    th_crowd_show(show->crowd, show->posed, show->stats.posed);
    return l.lists;
}

/* ---- a frame ---- */

const char *th_look_name(th_look look)
{
    static const char *const names[] = {"natural", "lod", "skeleton", "workers"};
    _Static_assert(sizeof names / sizeof *names == TH_LOOK_COUNT, "a name for each look");
    return names[look];
}

/* Who posed somebody is known once he is posed. */
static th_tint tint_of(const th_show *show, uint32_t instance, uint32_t lod)
{
    switch (show->desc.look) {
    case TH_LOOK_LOD:
        return th_tint_lod(lod);
    case TH_LOOK_WORKERS:
        return th_tint_worker(th_frame_worker(show->frame, instance));
    default:
        return th_tint_instance(instance);
    }
}

static void write_stands(const th_show *show, uint32_t first, uint32_t count, uint32_t lod, th_stand *out)
{
    for (uint32_t k = first; k < first + count; k++) {
        const th_location *at = &show->places[show->posed[k]];
        th_stand stand = {.position = {at->position[0], at->position[1], at->position[2]},
                          .scale = at->scale,
                          .heading = {cosf(at->heading_rad), sinf(at->heading_rad)}};
        memcpy(stand.tint, tint_of(show, show->posed[k], lod).rgba, sizeof stand.tint);
        out[k] = stand; /* at once: the slot may be write-combined */
    }
}

/* The draws of a rig in one list, a level of detail after the other; its palettes begin at *offset. */
static th_draw *prepare_rig(th_show *show, uint32_t list, uint32_t rig, size_t *offset, char *slot, th_draw *draw)
{
    const th_cull_group *group = th_cull_groups(show->cull, list) + rig * TH_FIGURE_LODS;
    const size_t stride = th_crowd_palettes(show->crowd, rig).stride;
    for (uint32_t lod = 0; lod < TH_FIGURE_LODS; lod++, group++) {
        const uint32_t first = (list == TH_SHOW_SEEN ? 0 : show->stats.shown) + group->first;
        *draw++ = (th_draw){
            .figure = rig,
            .lod = lod,
            .count = group->count,
            .palette_offset = *offset,
            .palette_stride = stride,
            .stand_offset = show->stands_offset + first * sizeof(th_stand),
            .shadow_only = list == TH_SHOW_CASTERS,
        };
        *offset += group->count * stride;
        show->stats.posed_by_lod[lod] += group->count;
        show->stats.by_lod[lod] += list == TH_SHOW_SEEN ? group->count : 0;
        write_stands(show, first, group->count, lod, (th_stand *)(void *)(slot + show->stands_offset));
    }
    return draw;
}

/* A draw for each rig, list and level of detail. The palettes of a rig lie in the order in which its instances were
 * posed: seen or not, then by level. */
static void prepare_draws(th_show *show, uint32_t lists, char *slot)
{
    th_draw *draw = show->draws;
    memset(show->stats.by_lod, 0, sizeof show->stats.by_lod);
    memset(show->stats.posed_by_lod, 0, sizeof show->stats.posed_by_lod);
    for (uint32_t r = 0; r < show->desc.model_count; r++) {
        size_t offset = th_crowd_palettes(show->crowd, r).offset;
        for (uint32_t list = 0; list < lists; list++)
            draw = prepare_rig(show, list, r, &offset, slot, draw);
    }
    show->draw_count = (uint32_t)(draw - show->draws);
}

static th_view view_of(const th_show *show, const th_camera *camera, float aspect)
{
    const th_sphere all = th_layout_bounds(&show->layout);
    const float near = fminf(all.radius, 2 * camera->distance);
    const float clear = fmaxf(all.radius, camera->distance / 4); /* haze is for what is beyond the crowd */
    th_view view = {
        .to_sun = {to_sun[0], to_sun[1], to_sun[2]},
        .shadow_radius = near,
        .ground_cell = 0.6F * (float)show->desc.models[0]->size,
        .ground_reach = GROUND * all.radius,
        .fog_density = 0.012F / (clear * clear),
        .plain = show->desc.look == TH_LOOK_LOD || show->desc.look == TH_LOOK_WORKERS,
        .skeletons = show->desc.look == TH_LOOK_SKELETON,
    };
    memcpy(view.shadow_center, near < all.radius ? camera->target : all.centre, sizeof view.shadow_center);
    th_camera_clip(camera, aspect, view.clip_from_world);
    th_camera_eye(camera, view.eye);
    return view;
}

void th_show_trace(th_show *show, th_tracer *tracer)
{
    show->tracer = tracer;
}

static void trace_counters(const th_show *show)
{
    th_tracer_count(show->tracer, "characters shown", show->stats.shown);
    th_tracer_count(show->tracer, "ns a joint",
                    (double)show->stats.pose_ns / (double)th_crowd_joint_count(show->crowd));
}

/* Waits first, while workers sleep: between th_jobs_frame_begin and _end they would spin. */
bool th_show_pose(th_show *show, double time_s, const th_camera *camera, uint32_t width, uint32_t height)
{
    const uint64_t begin = th_tracer_begin(show->tracer, "wait");
    const float aspect = (float)width / (float)height;
    char *slot = th_ring_begin(show->ring);
    const uint64_t waited = th_tracer_next(show->tracer, "place");
    th_jobs_frame_begin(show->jobs);
    show->view = view_of(show, camera, aspect);
    const uint32_t lists = look(show, time_s, camera, aspect, (float)height);
    const uint64_t placed = th_tracer_next(show->tracer, "pose");
    if (slot) {
        th_frame_animate(show->frame, time_s, slot);
        prepare_draws(show, lists, slot);
    }
    th_jobs_frame_end(show->jobs);
    const bool kept = slot && th_ring_end(show->ring);
    show->stats.wait_ns = waited - begin;
    show->stats.place_ns = placed - waited;
    show->stats.pose_ns = th_tracer_end(show->tracer) - placed;
    show->stats.draw_ns = 0;
    trace_counters(show);
    return kept;
}

static void draw(th_show *show, const th_target *target)
{
    const uint64_t begin = th_tracer_begin(show->tracer, "draw");
    th_painter_draw(show->painter, target, &show->view, show->ring, show->draws, show->draw_count);
    th_ring_fence(show->ring);
    show->stats.draw_ns = th_tracer_end(show->tracer) - begin;
}

/* A driver may lose what is mapped when the screen's mode changes, say; once more is what OpenGL asks for then. */
bool th_show_frame(th_show *show, double time_s, const th_camera *camera, const th_target *target, uint32_t width,
                   uint32_t height)
{
    const bool kept =
        th_show_pose(show, time_s, camera, width, height) || th_show_pose(show, time_s, camera, width, height);
    if (kept)
        draw(show, target);
    return kept;
}

void th_show_again(th_show *show, const th_target *target)
{
    const uint64_t begin = th_tracer_begin(show->tracer, "wait");
    th_ring_again(show->ring);
    show->stats.place_ns = show->stats.pose_ns = 0;
    show->stats.wait_ns = th_tracer_end(show->tracer) - begin;
    draw(show, target);
}

th_show_stats th_show_get_stats(const th_show *show)
{
    return show->stats;
}

const th_painter *th_show_painter(const th_show *show)
{
    return show->painter;
}

const th_ring *th_show_ring(const th_show *show)
{
    return show->ring;
}

const th_crowd *th_show_crowd(const th_show *show)
{
    return show->crowd;
}

const th_scene *th_show_scene(const th_show *show)
{
    return show->scene;
}

th_jobs *th_show_jobs(const th_show *show)
{
    return show->jobs;
}

/* ---- one of them ---- */

/* How far the clip itself has moved a model from where it is placed, in the model's units. */
static float moved(const th_stance *stance, const th_stander *stander, double time_s)
{
    if (!(stance->loop_s > 0))
        return 0;
    const th_playback playback = th_playback_of(stance->loop_s, stander->phase_s, stander->speed);
    return (float)(th_playback_part(playback, time_s) * stance->loop_s * (double)stance->speed);
}

th_character th_show_character(const th_show *show, uint32_t instance, double time_s)
{
    const th_stander *stander = &show->standers[instance];
    const th_stance *stance = &show->stances[stander->stance];
    th_location at;
    th_layout_place(&show->layout, instance, instance + 1, time_s, &at);
    const float way_rad = at.heading_rad + stance->facing_rad, far = at.scale * moved(stance, stander, time_s);
    const float height = at.scale * (float)show->desc.models[show->scene->instances[instance].rig]->size;
    return (th_character){
        .centre = {at.position[0] + far * sinf(way_rad), height / 2, at.position[2] + far * cosf(way_rad)},
        .way_rad = way_rad,
        .height = height};
}

static bool walks(const th_show *show, uint32_t instance)
{
    const th_stander *stander = &show->standers[instance];
    return show->stances[stander->stance].speed > 0 && stander->speed > 0;
}

uint32_t th_show_walker(const th_show *show, uint32_t instance, bool before)
{
    const uint32_t count = show->scene->instance_count, step = before ? count - 1 : 1;
    uint32_t next = instance % count;
    for (uint32_t k = 0; k < count; k++) {
        next = (uint32_t)(((uint64_t)next + step) % count);
        if (walks(show, next))
            return next;
    }
    return (uint32_t)(((uint64_t)instance + step) % count);
}

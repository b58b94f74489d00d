#include "show_parts.h"

#include <throng/clock.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI     3.14159265358979
#define DEGREE (PI / 180)
#define FLAT   0.62 /* a crowd is flat: the ball around it has room above and below */
#define GROUND 24   /* how far the ground reaches, in radii of the crowd */

/* From the south-east and above, late in the afternoon. */
static const float to_sun[3] = {0.46F, 0.62F, 0.64F};

/* ---- what the camera sees ---- */

th_camera th_show_camera(const th_show *show, float aspect)
{
    const th_options *o = &show->options;
    const th_sphere all = th_layout_bounds(&show->layout);
    th_camera camera = th_camera_look_at((float[3]){0, 0, 1}, (float[3]){0, 0, 0});
    th_camera_orbit(&camera, (float)(o->yaw_deg * DEGREE), (float)(o->pitch_deg * DEGREE));
    th_camera_frame(&camera, all.centre, all.radius, aspect);
    th_camera_zoom(&camera, (float)(FLAT / o->zoom));
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
} looking;

/* Places the characters of some blocks, and sees which of them are seen. */
static int look_at_blocks(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    const looking *l = ctx;
    th_show *show = l->show;
    const uint32_t count = show->scene->instance_count, first = begin * TH_CULL_BLOCK, behind = end * TH_CULL_BLOCK;
    const uint32_t last = behind < count ? behind : count;
    (void)worker;
    th_layout_place(&show->layout, first, last, l->time_s, show->places + first);
    th_cull_move(show->cull, first, last, show->places + first);
    th_cull_classify(show->cull, 0, &l->view, begin, end);
    return 0;
}

static int scatter_blocks(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    const looking *l = ctx;
    (void)worker;
    th_cull_scatter(l->show->cull, 0, begin, end);
    return 0;
}

/* Everybody's place, and the list of those that the camera sees. */
static void look(th_show *show, double time_s, const th_camera *camera, float aspect, float height)
{
    looking l = {.show = show, .time_s = time_s, .view.lod_px = {180, 80, 32}};
    const uint32_t blocks = th_cull_block_count(show->cull);
    th_camera_frustum(camera, aspect, &l.view.frustum);
    th_camera_eye(camera, l.view.eye);
    l.view.pixels = th_camera_pixels(camera, height);
    th_jobs_for(show->jobs, blocks, 4, look_at_blocks, &l);
    th_cull_sum(show->cull, 0);
    th_jobs_for(show->jobs, blocks, 4, scatter_blocks, &l);
    show->stats.shown = th_cull_seen_count(show->cull, 0);
    th_crowd_show(show->crowd, th_cull_list(show->cull, 0), show->stats.shown);
}

/* ---- a frame ---- */

static void set_tint(const th_show *show, uint32_t instance, uint32_t lod, uint8_t out[4])
{
    static const uint8_t levels[TH_FIGURE_LODS][4] = {
        {255, 255, 255, 255}, {250, 210, 60, 255}, {240, 130, 40, 255}, {220, 50, 50, 255}};
    if (show->options.look == TH_LOOK_LOD) {
        memcpy(out, levels[lod], sizeof levels[lod]);
        return;
    }
    const uint32_t hash = (instance + 1) * 2654435761u;
    for (int k = 0; k < 3; k++)
        out[k] = (uint8_t)(170 + (hash >> (8 * k + 4)) % 86);
    out[3] = 150;
}

static void write_stands(const th_show *show, const th_cull_group *group, th_stand *out)
{
    const uint32_t *list = th_cull_list(show->cull, 0);
    for (uint32_t k = group->first; k < group->first + group->count; k++) {
        const th_location *at = &show->places[list[k]];
        out[k] = (th_stand){.position = {at->position[0], at->position[1], at->position[2]},
                            .scale = at->scale,
                            .heading = {cosf(at->heading_rad), sinf(at->heading_rad)}};
        set_tint(show, list[k], group->lod, out[k].tint);
    }
}

/* A draw for each rig and level of detail. The palettes of a rig lie in the order of the list, one level behind the
 * other. */
static void prepare_draws(th_show *show, char *slot)
{
    const th_cull_group *group = th_cull_groups(show->cull, 0);
    memset(show->stats.by_lod, 0, sizeof show->stats.by_lod);
    for (uint32_t r = 0; r < show->cast.count; r++) {
        const th_palette_run run = th_crowd_palettes(show->crowd, r);
        size_t offset = run.offset;
        for (uint32_t lod = 0; lod < TH_FIGURE_LODS; lod++, group++) {
            show->draws[r * TH_FIGURE_LODS + lod] = (th_draw){
                .figure = r,
                .lod = lod,
                .count = group->count,
                .palette_offset = offset,
                .palette_stride = run.stride,
                .stand_offset = show->stands_offset + group->first * sizeof(th_stand),
            };
            offset += group->count * run.stride;
            show->stats.by_lod[lod] += group->count;
            write_stands(show, group, (th_stand *)(void *)(slot + show->stands_offset));
        }
    }
}

static th_view view_of(const th_show *show, const th_camera *camera, float aspect)
{
    const th_sphere all = th_layout_bounds(&show->layout);
    const float near = fminf(all.radius, 2 * camera->distance);
    th_view view = {
        .to_sun = {to_sun[0], to_sun[1], to_sun[2]},
        .shadow_radius = near,
        .ground_cell = 0.6F * (float)show->cast.models[0]->size,
        .ground_reach = GROUND * all.radius,
        .fog_density = 0.012F / (all.radius * all.radius),
        .plain = show->options.look == TH_LOOK_LOD,
        .skeletons = show->options.look == TH_LOOK_SKELETON,
    };
    memcpy(view.shadow_center, near < all.radius ? camera->target : all.centre, sizeof view.shadow_center);
    th_camera_clip(camera, aspect, view.clip_from_world);
    th_camera_eye(camera, view.eye);
    return view;
}

void th_show_frame(th_show *show, double time_s, const th_camera *camera, const th_target *target, uint32_t width,
                   uint32_t height)
{
    const float aspect = (float)width / (float)height;
    const uint64_t begin = th_clock_ns();
    th_jobs_frame_begin(show->jobs);
    look(show, time_s, camera, aspect, (float)height);
    const uint64_t placed = th_clock_ns();
    char *slot = th_ring_begin(show->ring);
    const uint64_t waited = th_clock_ns();
    if (slot) {
        th_frame_animate(show->frame, time_s, slot);
        prepare_draws(show, slot);
    }
    th_jobs_frame_end(show->jobs);
    const uint64_t posed = th_clock_ns();
    if (slot && th_ring_end(show->ring)) {
        const th_view view = view_of(show, camera, aspect);
        th_painter_draw(show->painter, target, &view, show->ring, show->draws, show->cast.count * TH_FIGURE_LODS);
    }
    th_ring_fence(show->ring);
    show->stats.place_ns = placed - begin;
    show->stats.wait_ns = waited - placed;
    show->stats.pose_ns = posed - waited;
    show->stats.draw_ns = th_clock_ns() - posed;
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

const th_options *th_show_options(const th_show *show)
{
    return &show->options;
}

th_jobs *th_show_jobs(const th_show *show)
{
    return show->jobs;
}

/* ---- one of them ---- */

/* How far the clip itself has moved a model from where it is placed, in the model's units. */
static float moved(const th_stance *stance, const th_stander *stander, double time_s)
{
    const double now_s = stander->phase_s + stander->speed * time_s, loop_s = (double)stance->loop_s;
    return loop_s > 0 ? (float)((now_s - floor(now_s / loop_s) * loop_s) * (double)stance->speed) : 0;
}

th_subject th_show_subject(const th_show *show, uint32_t instance, double time_s)
{
    const th_stander *stander = &show->standers[instance];
    const th_stance *stance = &show->stances[stander->stance];
    th_location at;
    th_layout_place(&show->layout, instance, instance + 1, time_s, &at);
    const float way_rad = at.heading_rad + stance->facing_rad, far = at.scale * moved(stance, stander, time_s);
    const float height = at.scale * (float)show->cast.models[show->scene->instances[instance].rig]->size;
    return (th_subject){
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

#include "show.h"

#include <throng/bounds.h>
#include <throng/clock.h>
#include <throng/cull.h>
#include <throng/frame.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEGREE (3.14159265358979 / 180)
#define FLAT   0.62 /* a crowd is flat: the ball around it has room above and below */
#define GROUND 24   /* how far the ground reaches, in radii of the crowd */

/* From the south-east and above, late in the afternoon. */
static const float to_sun[3] = {0.46F, 0.62F, 0.64F};

struct th_show {
    const th_options *options;
    th_scene *scene;
    th_crowd *crowd;
    th_jobs *jobs;
    th_frame *frame;
    th_ring *ring;
    th_painter *painter;
    size_t stands_offset; /* in a slot, behind the palettes */
    th_stance *stances;   /* for each rig its clips, then its rest pose */
    uint32_t *first_stance;
    th_stander *standers;
    th_layout layout;
    th_location *places; /* [instance], of this frame */
    bool placed;         /* for good */
    th_cull *cull;
    th_draw *draws; /* one for each rig and level */
    float size;     /* of the first model, in the scene */
    th_show_stats stats;
};

/* ---- who stands how ---- */

static th_result make_stance(const th_options *o, const th_model *model, uint32_t clip, float scale, th_stance *out,
                             th_error *err)
{
    th_bounds bounds;
    th_travel travel;
    const uint32_t which = clip < model->clip_count ? clip : TH_NO_INDEX;
    th_result result = th_model_bounds(model, which, o->interpolation, &bounds, err);
    if (result == TH_OK)
        result = th_clip_travel(model, which, o->interpolation, &travel, err);
    if (result != TH_OK)
        return result;
    *out = (th_stance){
        .sphere = {{(float)bounds.centre[0], (float)bounds.centre[1], (float)bounds.centre[2]}, (float)bounds.radius},
        .reach = (float)bounds.reach,
        .lowest_y = (float)bounds.lowest_y,
        .scale = scale,
        .speed = (float)travel.speed,
        .facing_rad = (float)travel.heading_rad,
        .loop_s = (float)travel.loop_s,
    };
    return TH_OK;
}

/* Models of very different units would not be seen together: they are brought to the size of the first. */
static float scale_of(const th_show *show, uint32_t rig)
{
    const double size = th_rig_model(show->scene->rigs[rig])->size, first = th_rig_model(show->scene->rigs[0])->size;
    const double ratio = size / first;
    return ratio > 10 || ratio < 0.1 ? (float)(1 / ratio) : 1;
}

static th_result make_stances(th_show *show, th_error *err)
{
    const th_scene *scene = show->scene;
    uint32_t count = 0;
    show->first_stance = calloc((size_t)scene->rig_count + 1, sizeof *show->first_stance);
    for (uint32_t r = 0; show->first_stance && r < scene->rig_count; r++) {
        show->first_stance[r] = count;
        count += th_rig_model(scene->rigs[r])->clip_count + 1;
    }
    show->stances = calloc((size_t)count + 1, sizeof *show->stances);
    if (!show->first_stance || !show->stances)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %u clips", count);
    for (uint32_t r = 0; r < scene->rig_count; r++) {
        const th_model *model = th_rig_model(scene->rigs[r]);
        for (uint32_t c = 0; c <= model->clip_count; c++) {
            th_stance *stance = &show->stances[show->first_stance[r] + c];
            th_result result = make_stance(show->options, model, c, scale_of(show, r), stance, err);
            if (result != TH_OK)
                return result;
        }
    }
    return TH_OK;
}

static uint32_t stance_count(const th_show *show)
{
    const uint32_t last = show->scene->rig_count - 1;
    return show->first_stance[last] + th_rig_model(show->scene->rigs[last])->clip_count + 1;
}

static th_result make_layout(th_show *show, th_error *err)
{
    const th_scene *scene = show->scene;
    show->standers = calloc((size_t)scene->instance_count + 1, sizeof *show->standers);
    show->places = calloc((size_t)scene->instance_count + 1, sizeof *show->places);
    if (!show->standers || !show->places)
        return th_fail(err, TH_ERR_MEMORY, "no memory for the places of %u characters", scene->instance_count);
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        const th_instance *instance = &scene->instances[i];
        const uint32_t clips = th_rig_model(scene->rigs[instance->rig])->clip_count;
        const uint32_t clip = instance->clip < clips ? instance->clip : clips;
        show->standers[i] = (th_stander){show->first_stance[instance->rig] + clip, instance->phase_s, instance->speed};
    }
    const th_layout_desc desc = {
        .kind = show->options->layout,
        .seed = show->options->seed,
        .stances = show->stances,
        .stance_count =
            show->first_stance[scene->rig_count - 1] + th_rig_model(scene->rigs[scene->rig_count - 1])->clip_count + 1,
        .standers = show->standers,
        .count = scene->instance_count,
        .scale_spread = 0.06F,
    };
    show->layout = th_layout_make(&desc);
    show->size = (float)th_rig_model(scene->rigs[0])->size;
    return TH_OK;
}

static th_result make_cull(th_show *show, th_error *err)
{
    const uint32_t kinds = stance_count(show), count = show->scene->instance_count;
    th_cull_kind *kind = calloc((size_t)kinds + 1, sizeof *kind);
    uint32_t *of_instance = calloc((size_t)count + 1, sizeof *of_instance);
    th_result result = kind && of_instance ? TH_OK : th_fail(err, TH_ERR_MEMORY, "no memory for %u characters", count);
    if (result == TH_OK) {
        for (uint32_t r = 0, k = 0; r < show->scene->rig_count; r++)
            for (uint32_t c = 0; c <= th_rig_model(show->scene->rigs[r])->clip_count; c++, k++)
                kind[k] = (th_cull_kind){show->stances[k].sphere, r};
        for (uint32_t i = 0; i < count; i++)
            of_instance[i] = show->standers[i].stance;
        const th_cull_desc desc = {.kinds = kind,
                                   .kind_count = kinds,
                                   .instance_kinds = of_instance,
                                   .instance_count = count,
                                   .figure_count = show->scene->rig_count,
                                   .lod_count = TH_FIGURE_LODS,
                                   .view_count = 1};
        result = th_cull_create(&desc, &show->cull, err);
    }
    free(kind);
    free(of_instance);
    return result;
}

/* ---- making ---- */

static th_result make_figures(th_show *show, th_gl *gl, th_error *err)
{
    const th_scene *scene = show->scene;
    th_figure **figures = calloc((size_t)scene->rig_count + 1, sizeof *figures);
    th_result result = figures ? TH_OK : th_fail(err, TH_ERR_MEMORY, "no memory for %u figures", scene->rig_count);
    for (uint32_t r = 0; r < scene->rig_count && result == TH_OK; r++)
        result = th_figure_create(th_rig_model(scene->rigs[r]), &figures[r], err);
    const th_painter_desc desc = {
        .gl = gl,
        .figures = (const th_figure *const *)figures,
        .figure_count = scene->rig_count,
        .palette = show->options->palette,
        .fetch = show->options->fetch,
        .shadow_pixels = show->options->shadow,
    };
    if (result == TH_OK)
        result = th_painter_create(&desc, &show->painter, err);
    for (uint32_t r = 0; figures && r < scene->rig_count; r++)
        th_figure_destroy(figures[r]);
    free(figures);
    return result;
}

static th_result make_crowd(th_show *show, th_gl *gl, th_error *err)
{
    const th_options *o = show->options;
    const uint32_t count = show->scene->instance_count;
    th_result result = th_scene_crowd(show->scene, o->isa, o->palette, &show->crowd, err);
    if (result == TH_OK)
        result = th_threads_create(&(th_jobs_desc){.threads = o->threads.counts[0]}, &show->jobs, err);
    if (result == TH_OK)
        result = th_frame_create(&(th_frame_desc){.crowd = show->crowd, .jobs = show->jobs}, &show->frame, err);
    if (result != TH_OK)
        return result;
    show->stands_offset = th_crowd_palette_bytes(show->crowd);
    const th_ring_desc ring = {.bytes = show->stands_offset + count * sizeof(th_stand), .upload = o->upload};
    show->draws = calloc((size_t)show->scene->rig_count * TH_FIGURE_LODS + 1, sizeof *show->draws);
    if (!show->draws)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a list of %u characters", count);
    return th_ring_create(gl, &ring, &show->ring, err);
}

th_result th_show_create(const th_options *options, const th_cast *cast, th_gl *gl, th_show **out, th_error *err)
{
    *out = NULL;
    th_show *show = calloc(1, sizeof *show);
    if (!show)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a show");
    show->options = options;
    const th_scene_desc desc = th_cast_scene(cast, options);
    th_result result = th_scene_create(&desc, &show->scene, err);
    if (result == TH_OK)
        result = make_stances(show, err);
    if (result == TH_OK)
        result = make_layout(show, err);
    if (result == TH_OK)
        result = make_cull(show, err);
    if (result == TH_OK)
        result = make_crowd(show, gl, err);
    if (result == TH_OK)
        result = make_figures(show, gl, err);
    if (result == TH_OK)
        *out = show;
    else
        th_show_destroy(show);
    return result;
}

void th_show_destroy(th_show *show)
{
    if (!show)
        return;
    th_painter_destroy(show->painter);
    th_ring_destroy(show->ring);
    th_frame_destroy(show->frame);
    th_jobs_destroy(show->jobs);
    th_crowd_destroy(show->crowd);
    th_scene_destroy(show->scene);
    free(show->first_stance);
    free(show->stances);
    free(show->standers);
    free(show->places);
    th_cull_destroy(show->cull);
    free(show->draws);
    free(show);
}

/* ---- what the camera sees ---- */

th_camera th_show_camera(const th_show *show, float aspect)
{
    const th_options *o = show->options;
    const th_sphere all = th_layout_bounds(&show->layout);
    th_camera camera = th_camera_look_at((float[3]){0, 0, 1}, (float[3]){0, 0, 0});
    th_camera_orbit(&camera, (float)(o->yaw_deg * DEGREE), (float)(o->pitch_deg * DEGREE));
    th_camera_frame(&camera, all.centre, all.radius, aspect);
    th_camera_zoom(&camera, (float)(FLAT / o->zoom));
    th_camera_fit_depth(&camera, all.centre, GROUND * all.radius);
    return camera;
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
    if (!show->placed) {
        th_layout_place(&show->layout, first, last, l->time_s, show->places + first);
        th_cull_move(show->cull, first, last, show->places + first);
    }
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
    show->placed = th_layout_is_still(&show->layout);
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
    if (show->options->look == TH_LOOK_LOD) {
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
    for (uint32_t r = 0; r < show->scene->rig_count; r++) {
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
        .ground_cell = 0.6F * show->size,
        .ground_reach = GROUND * all.radius,
        .fog_density = 0.012F / (all.radius * all.radius),
        .plain = show->options->look == TH_LOOK_LOD,
        .skeletons = show->options->look == TH_LOOK_SKELETON,
    };
    memcpy(view.shadow_center, near < all.radius ? camera->target : all.centre, sizeof view.shadow_center);
    th_camera_clip(camera, aspect, view.clip_from_world);
    th_camera_eye(camera, view.eye);
    return view;
}

/* Waits first, while workers sleep: between th_jobs_frame_begin and _end they would spin. */
bool th_show_pose(th_show *show, double time_s, const th_camera *camera, uint32_t width, uint32_t height)
{
    const uint64_t begin = th_clock_ns();
    char *slot = th_ring_begin(show->ring);
    const uint64_t waited = th_clock_ns();
    th_jobs_frame_begin(show->jobs);
    look(show, time_s, camera, (float)width / (float)height, (float)height);
    const uint64_t placed = th_clock_ns();
    if (slot) {
        th_frame_animate(show->frame, time_s, slot);
        prepare_draws(show, slot);
    }
    th_jobs_frame_end(show->jobs);
    const bool kept = slot && th_ring_end(show->ring);
    show->stats.wait_ns = waited - begin;
    show->stats.place_ns = placed - waited;
    show->stats.pose_ns = th_clock_ns() - placed;
    show->stats.draw_ns = 0;
    return kept;
}

static void draw(th_show *show, const th_camera *camera, const th_target *target, float aspect)
{
    const uint64_t begin = th_clock_ns();
    const th_view view = view_of(show, camera, aspect);
    th_painter_draw(show->painter, target, &view, show->ring, show->draws, show->scene->rig_count * TH_FIGURE_LODS);
    th_ring_fence(show->ring);
    show->stats.draw_ns = th_clock_ns() - begin;
}

void th_show_frame(th_show *show, double time_s, const th_camera *camera, const th_target *target, uint32_t width,
                   uint32_t height)
{
    if (th_show_pose(show, time_s, camera, width, height))
        draw(show, camera, target, (float)width / (float)height);
}

void th_show_again(th_show *show, const th_camera *camera, const th_target *target, uint32_t width, uint32_t height)
{
    const uint64_t begin = th_clock_ns();
    th_ring_again(show->ring);
    show->stats.place_ns = show->stats.pose_ns = 0;
    show->stats.wait_ns = th_clock_ns() - begin;
    draw(show, camera, target, (float)width / (float)height);
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

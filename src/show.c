#include "show.h"

#include "tint.h"

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

/* Lists of characters: the camera's, and that of those who only throw a shadow into its picture. */
enum { SEEN, CASTERS, LISTS };

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
    th_cull *cull;
    uint32_t *posed; /* instances: those seen, then the casters */
    th_draw *draws;  /* one for each list, rig and level */
    float size;      /* of the first model, in the scene */
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
                                   .view_count = LISTS};
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
        result = th_threads_create(&(th_jobs_desc){.threads = o->threads.counts[0], .scheduler = o->scheduler},
                                   &show->jobs, err);
    if (result == TH_OK)
        result = th_frame_create(&(th_frame_desc){.crowd = show->crowd, .jobs = show->jobs, .workers = true},
                                 &show->frame, err);
    if (result != TH_OK)
        return result;
    show->stands_offset = th_crowd_palette_bytes(show->crowd);
    const th_ring_desc ring = {.bytes = show->stands_offset + count * sizeof(th_stand), .upload = o->upload};
    show->posed = calloc((size_t)count + 1, sizeof *show->posed);
    show->draws = calloc((size_t)LISTS * show->scene->rig_count * TH_FIGURE_LODS + 1, sizeof *show->draws);
    if (!show->posed || !show->draws)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a list of %u characters", count);
    result = th_ring_create(gl, &ring, &show->ring, err);
    if (result == TH_OK)
        th_crowd_set_writes(show->crowd, th_ring_write_combined(show->ring) ? TH_WRITES_STREAMED : TH_WRITES_CACHED);
    return result;
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
    free(show->posed);
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
    th_layout_place(&show->layout, first, last, l->time_s, show->places + first);
    th_cull_move(show->cull, first, last, show->places + first);
    th_cull_classify(show->cull, SEEN, &l->view, begin, end);
    if (l->lists > CASTERS)
        th_cull_classify_casters(show->cull, CASTERS, SEEN, &l->view, &l->sun, begin, end);
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
static uint32_t look(th_show *show, double time_s, const th_camera *camera, const th_view *view, float aspect,
                     float height)
{
    looking l = {.show = show, .time_s = time_s, .view.lod_px = {180, 80, 32}, .sun.ground = view->ground_height};
    const uint32_t blocks = th_cull_block_count(show->cull);
    th_camera_frustum(camera, aspect, &l.view.frustum);
    th_camera_eye(camera, l.view.eye);
    l.view.pixels = th_camera_pixels(camera, height);
    memcpy(l.sun.to_light, view->to_sun, sizeof l.sun.to_light);
    l.lists = th_painter_shadow_frustum(show->painter, view, &l.sun.map) ? LISTS : CASTERS;
    th_jobs_for(show->jobs, blocks, 4, look_at_blocks, &l);
    for (uint32_t list = 0; list < l.lists; list++)
        th_cull_sum(show->cull, list);
    th_jobs_for(show->jobs, blocks, 4, scatter_blocks, &l);
    show->stats.posed = 0;
    for (uint32_t list = 0; list < l.lists; list++) {
        const uint32_t count = th_cull_seen_count(show->cull, list);
        memcpy(show->posed + show->stats.posed, th_cull_list(show->cull, list), count * sizeof *show->posed);
        show->stats.posed += count;
    }
    show->stats.shown = th_cull_seen_count(show->cull, SEEN);
    th_crowd_show(show->crowd, show->posed, show->stats.posed);
    return l.lists;
}

/* ---- a frame ---- */

/* Who posed somebody is known once he is posed. */
static th_tint tint_of(const th_show *show, uint32_t instance, uint32_t lod)
{
    switch (show->options->look) {
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
        const uint32_t first = (list == SEEN ? 0 : show->stats.shown) + group->first;
        *draw++ = (th_draw){
            .figure = rig,
            .lod = lod,
            .count = group->count,
            .palette_offset = *offset,
            .palette_stride = stride,
            .stand_offset = show->stands_offset + first * sizeof(th_stand),
            .shadow_only = list == CASTERS,
        };
        *offset += group->count * stride;
        show->stats.posed_by_lod[lod] += group->count;
        show->stats.by_lod[lod] += list == SEEN ? group->count : 0;
        write_stands(show, first, group->count, lod, (th_stand *)(void *)(slot + show->stands_offset));
    }
    return draw;
}

/* A draw for each rig, list and level of detail. The palettes of a rig lie in the order in which its instances were
 * posed: seen or not, then by level. Returns how many draws. */
static uint32_t prepare_draws(th_show *show, uint32_t lists, char *slot)
{
    th_draw *draw = show->draws;
    memset(show->stats.by_lod, 0, sizeof show->stats.by_lod);
    memset(show->stats.posed_by_lod, 0, sizeof show->stats.posed_by_lod);
    for (uint32_t r = 0; r < show->scene->rig_count; r++) {
        size_t offset = th_crowd_palettes(show->crowd, r).offset;
        for (uint32_t list = 0; list < lists; list++)
            draw = prepare_rig(show, list, r, &offset, slot, draw);
    }
    return (uint32_t)(draw - show->draws);
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
        .plain = show->options->look == TH_LOOK_LOD || show->options->look == TH_LOOK_WORKERS,
        .skeletons = show->options->look == TH_LOOK_SKELETON,
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
    const th_view view = view_of(show, camera, aspect);
    const uint64_t begin = th_clock_ns();
    uint32_t draws = 0;
    th_jobs_frame_begin(show->jobs);
    const uint32_t lists = look(show, time_s, camera, &view, aspect, (float)height);
    const uint64_t placed = th_clock_ns();
    char *slot = th_ring_begin(show->ring);
    const uint64_t waited = th_clock_ns();
    if (slot) {
        th_frame_animate(show->frame, time_s, slot);
        draws = prepare_draws(show, lists, slot);
    }
    th_jobs_frame_end(show->jobs);
    const uint64_t posed = th_clock_ns();
    if (slot && th_ring_end(show->ring))
        th_painter_draw(show->painter, target, &view, show->ring, show->draws, draws);
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

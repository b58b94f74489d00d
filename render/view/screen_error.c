#include "crowd_view_parts.h"

#include <anim/skin_error.h>
#include <core/cache_line.h>

#include <assert.h>
#include <stdlib.h>

enum { CHUNK = 16 }; /* characters */

typedef struct th_screen_error {
    th_arena *arena; /* holds this */
    const th_crowd_view *view;
    uint32_t every, kept; /* see th_screen_error_create */
    th_crowd *crowd;      /* the full evaluation */
    th_frame *frame;
    th_skin **skins; /* [posed model] */
    char *scratch;   /* one for each worker */
    size_t scratch_stride;
    uint64_t frames;

    struct {
        void *palettes;
        size_t bytes;
    } drawn[TH_POSE_MAX_HOLD]; /* [frame % kept] */
    uint32_t number;           /* of the last of them */
    void *full;                /* palettes */
    size_t full_bytes;
    float *px;             /* [instance] in the order of the list */
    th_skin_screen screen; /* of this frame, but for clip_from_model */
    float clip_from_scene[16];
} th_screen_error;

th_result th_screen_error_create(const th_crowd_view *v, th_screen_error **out, th_error *err)
{
    assert(v && v->scene && v->jobs && out);
    *out = NULL;
    th_arena *arena = th_arena_create();
    th_screen_error *e = th_arena_new(arena, th_screen_error, 1);
    if (!e) {
        th_arena_destroy(arena);
        return th_fail(err, TH_ERR_MEMORY, "no memory for measuring the error on screen");
    }
    e->arena = arena;
    e->view = v;
    e->every = v->desc.look == TH_LOOK_ERROR ? 1 : v->desc.error_every;
    e->kept = th_crowd_view_most_hold(&v->desc);
    assert(e->every > 0 && e->kept <= TH_POSE_MAX_HOLD);
    e->skins = th_arena_new(arena, th_skin *, v->posed_count);
    e->px = th_arena_new(arena, float, v->scene->instance_count);
    th_result result = th_scene_crowd(v->scene, v->desc.isa, TH_FORMAT_F32, &e->crowd, err);
    if (result == TH_OK) {
        const th_frame_desc frame = {.crowd = e->crowd, .jobs = v->jobs};
        result = th_frame_create_with(&frame, v->behaviour, &e->frame, err);
    }
    for (uint32_t m = 0; m < v->posed_count && e->skins && result == TH_OK; m++) {
        const th_posed_model *posed = &v->posed_models[m];
        result = th_skin_create(v->posed_models[posed->of].model, posed->model, &e->skins[m], err);
        if (result == TH_OK && th_skin_scratch_bytes(e->skins[m]) > e->scratch_stride)
            e->scratch_stride = th_skin_scratch_bytes(e->skins[m]);
    }
    e->scratch = th_arena_alloc(arena, th_jobs_threads(v->jobs), e->scratch_stride ? e->scratch_stride : 1);
    if (result == TH_OK && th_arena_failed(arena))
        result = th_fail(err, TH_ERR_MEMORY, "no memory for measuring the error on screen");
    if (result == TH_OK)
        *out = e;
    else
        th_screen_error_destroy(e);
    return result;
}

void th_screen_error_destroy(th_screen_error *e)
{
    if (!e)
        return;
    for (uint32_t m = 0; e->skins && m < e->view->posed_count; m++)
        th_skin_destroy(e->skins[m]);
    th_frame_destroy(e->frame);
    th_crowd_destroy(e->crowd);
    for (uint32_t n = 0; n < TH_POSE_MAX_HOLD; n++)
        free(e->drawn[n].palettes);
    free(e->full);
    th_arena_destroy(e->arena);
}

/* ---- a frame ---- */

bool th_screen_error_next(th_screen_error *e)
{
    return e && e->frames++ % e->every == 0;
}

/* A block of at least so many bytes, with a quarter to spare where it is a new one; its content is lost. False: no
 * memory. */
static bool grow(void **block, size_t *capacity, size_t bytes)
{
    if (*block && bytes <= *capacity)
        return true;
    free(*block);
    *capacity = bytes + bytes / 4;
    *block = th_cache_line_alloc(*capacity);
    return *block != NULL;
}

void *th_screen_error_reserve(const th_crowd_view *v)
{
    assert(v && v->error);
    th_screen_error *e = v->error;
    uint32_t counts[TH_CROWD_VIEW_MAX_MODELS] = {0};
    for (uint32_t l = 0; l < v->cull->draw_list_count; l++)
        counts[v->cull->draw_lists[l].own] += v->cull->draw_lists[l].count;
    e->number = th_ring_get_info(v->ring).frame;
    const uint32_t n = e->number % e->kept;
    th_crowd_set_active_counts(e->crowd, counts);
    const bool room = grow(&e->full, &e->full_bytes, th_crowd_palette_bytes(e->crowd)) &&
                      grow(&e->drawn[n].palettes, &e->drawn[n].bytes, v->stats.palette_bytes);
    return room ? e->drawn[n].palettes : NULL;
}

static int activate_listed(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    const th_screen_error *e = ctx;
    (void)worker;
    th_crowd_set_active_range(e->crowd, begin, e->view->cull->list + begin, end - begin);
    return 0;
}

/* clip_from_model of an instance: as shaders/instance.glsl. */
static void place_model(const float clip_from_scene[16], const th_gpu_instance *at, float out[16])
{
    const float c = at->scale * at->heading[0], s = at->scale * at->heading[1], *p = at->position, *a = clip_from_scene;
    const float columns[16] = {c, 0, -s, 0, 0, at->scale, 0, 0, s, 0, c, 0, p[0], p[1], p[2], 1}, *b = columns;
    for (int col = 0; col < 16; col += 4)
        for (int row = 0; row < 4; row++)
            out[col + row] =
                a[row] * b[col] + a[4 + row] * b[col + 1] + a[8 + row] * b[col + 2] + a[12 + row] * b[col + 3];
}

/* Changes a palette of matrices so that it shows, placed at `drawn`, what it shows placed at `at`. Both have one scale
 * and height. */
static void place_palette(const th_gpu_instance *at, const th_gpu_instance *drawn, uint32_t bone_count, float *palette)
{
    const float *a = at->heading, *d = drawn->heading;
    const float c = d[0] * a[0] + d[1] * a[1], s = d[0] * a[1] - d[1] * a[0]; /* of the difference */
    const float x = (at->position[0] - drawn->position[0]) / at->scale,
                z = (at->position[2] - drawn->position[2]) / at->scale;
    for (uint32_t b = 0; b < bone_count; b++, palette += 12) {
        for (int col = 0; col < 4; col++) {
            const float right = palette[col], forward = palette[8 + col];
            palette[col] = c * right + s * forward;
            palette[8 + col] = c * forward - s * right;
        }
        palette[3] += d[0] * x - d[1] * z;
        palette[11] += d[1] * x + d[0] * z;
    }
}

static int measure_listed(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    const th_screen_error *e = ctx;
    const th_crowd_view *v = e->view;
    const th_draw_list *list = v->cull->draw_lists;
    const th_pose_place *places = th_pose_plan_readers(v->plan).places;
    for (uint32_t k = begin; k < end; k++) {
        while (k - list->first >= list->count)
            list++;
        if (list->shadow_only) {
            e->px[k] = -1;
            continue;
        }
        /* Its palette, as drawn: of this frame, or of the one in which it was posed. */
        const uint32_t l = (uint32_t)(list - v->cull->draw_lists), instance = v->cull->list[k];
        const bool is_held = th_pose_plan_list(v->plan, l).are_held && places[k].frames_ago > 0;
        uint32_t posed_as = list->posed_as;
        const char *palette = e->drawn[e->number % e->kept].palettes;
        if (is_held) {
            const th_pose_part part = th_pose_plan_part(v->plan, l, places[k].frames_ago);
            posed_as = part.model;
            palette = e->drawn[(e->number - places[k].frames_ago) % e->kept].palettes;
            palette += part.range.offset + places[k].palette * part.range.stride;
        } else {
            palette += th_crowd_palette_offset(v->crowd, instance);
        }

        /* And in full, where it would stand. */
        const uint32_t own = v->posed_models[posed_as].of;
        float *full = (float *)(void *)((char *)e->full + th_crowd_palette_offset(e->crowd, instance));
        th_gpu_instance at = v->gpu_instances[instance];
        at.position[2] = v->cull->z[instance];
        const th_gpu_instance *drawn_at = is_held ? &v->held_at[instance] : &at;
        if (is_held)
            place_palette(&at, drawn_at, v->posed_models[own].model->bone_count, full);
        th_skin_screen screen = e->screen;
        place_model(e->clip_from_scene, drawn_at, screen.clip_from_model);
        e->px[k] =
            th_skin_error_px(e->skins[posed_as], (th_skin_palette){th_crowd_format(v->crowd), palette},
                             (th_skin_palette){TH_FORMAT_F32, full}, &screen, e->scratch + worker * e->scratch_stride);
    }
    return 0;
}

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

const float *th_screen_error_measure(th_crowd_view *v, double time_s, const th_camera *camera, uint32_t width,
                                     uint32_t height)
{
    assert(v && v->error && camera);
    th_screen_error *e = v->error;
    uint32_t count = 0;
    const uint64_t begin = th_tracer_begin(v->tracer, "error");
    e->screen = (th_skin_screen){.width = (float)width, .height = (float)height, .near_z = camera->near_z};
    th_camera_clip(camera, (float)width / (float)height, e->clip_from_scene);
    th_jobs_for(v->jobs, v->cull->listed, CHUNK, activate_listed, e);
    th_frame_run(e->frame, time_s, e->full);
    th_jobs_for(v->jobs, v->cull->listed, CHUNK, measure_listed, e);
    for (uint32_t k = 0; k < v->stats.listed; k++)
        if (e->px[k] >= 0)
            v->visible_px[count++] = e->px[k];
    v->stats.error = th_screen_error_stats_of(v->visible_px, count);
    v->stats.error_ns = th_tracer_end(v->tracer) - begin;
    return e->px;
}

#include "screen_error.h"

#include <core/arena.h>
#include <throng/core/cache_line.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 16 }; /* characters */

struct th_screen_error {
    th_arena *arena; /* holds this */
    th_screen_error_desc desc;
    th_crowd *crowd; /* the full evaluation */
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
    float *px; /* [instance] in the order of the list */
};

th_result th_screen_error_create(const th_screen_error_desc *desc, th_screen_error **out, th_error *err)
{
    assert(desc && desc->scene && desc->jobs && desc->every > 0 && out);
    assert(desc->kept > 0 && desc->kept <= TH_POSE_MAX_HOLD);
    *out = NULL;
    th_arena *arena = th_arena_create();
    th_screen_error *e = th_arena_new(arena, th_screen_error, 1);
    if (!e) {
        th_arena_destroy(arena);
        return th_fail(err, TH_ERR_MEMORY, "no memory for measuring the error on screen");
    }
    e->arena = arena;
    e->desc = *desc;
    e->skins = th_arena_new(arena, th_skin *, desc->posed_count);
    e->px = th_arena_new(arena, float, desc->scene->instance_count);
    th_result result = th_scene_crowd(desc->scene, desc->isa, TH_PALETTE_F32, &e->crowd, err);
    if (result == TH_OK) {
        const th_frame_desc frame = {.crowd = e->crowd, .jobs = desc->jobs, .behaviour = desc->behaviour};
        result = th_frame_create(&frame, &e->frame, err);
    }
    for (uint32_t m = 0; m < desc->posed_count && e->skins && result == TH_OK; m++) {
        const th_posed_model *posed = &desc->posed_models[m];
        result = th_skin_create(desc->posed_models[posed->of].model, posed->model, &e->skins[m], err);
        if (result == TH_OK && th_skin_scratch_bytes(e->skins[m]) > e->scratch_stride)
            e->scratch_stride = th_skin_scratch_bytes(e->skins[m]);
    }
    e->scratch = th_arena_alloc(arena, th_jobs_threads(desc->jobs), e->scratch_stride ? e->scratch_stride : 1);
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
    for (uint32_t m = 0; e->skins && m < e->desc.posed_count; m++)
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
    return e && e->frames++ % e->desc.every == 0;
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

void *th_screen_error_reserve(th_screen_error *e, uint32_t number, size_t palette_bytes, const uint32_t *counts)
{
    assert(e && counts);
    const uint32_t n = number % e->desc.kept;
    e->number = number;
    th_crowd_set_active_counts(e->crowd, counts);
    const bool room = grow(&e->full, &e->full_bytes, th_crowd_palette_bytes(e->crowd)) &&
                      grow(&e->drawn[n].palettes, &e->drawn[n].bytes, palette_bytes);
    return room ? e->drawn[n].palettes : NULL;
}

/* The work of one frame. */
typedef struct measurement {
    th_screen_error *error;
    const th_screen_error_frame *frame;
    float clip_from_scene[16];
} measurement;

static int activate_listed(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    const measurement *m = ctx;
    (void)worker;
    th_crowd_set_active_range(m->error->crowd, begin, m->frame->cull->list + begin, end - begin);
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
    const measurement *m = ctx;
    const th_screen_error_frame *f = m->frame;
    const th_screen_error *e = m->error;
    const th_draw_list *list = f->cull->draw_lists;
    const th_pose_place *places = th_pose_plan_places(f->plan);
    for (uint32_t k = begin; k < end; k++) {
        while (k - list->first >= list->count)
            list++;
        if (list->shadow_only) {
            e->px[k] = -1;
            continue;
        }
        /* Its palette, as drawn: of this frame, or of the one in which it was posed. */
        const uint32_t l = (uint32_t)(list - f->cull->draw_lists), instance = f->cull->list[k];
        const bool is_held = th_pose_plan_list(f->plan, l).are_held && places[k].frames_ago > 0;
        uint32_t posed_as = list->posed_as;
        const char *palette = (const char *)f->palettes;
        if (is_held) {
            const th_pose_part part = th_pose_plan_part(f->plan, l, places[k].frames_ago);
            posed_as = part.model;
            palette = e->drawn[(e->number - places[k].frames_ago) % e->desc.kept].palettes;
            palette += part.range.offset + places[k].palette * part.range.stride;
        } else {
            palette += th_crowd_palette_offset(f->crowd, instance);
        }

        /* And in full, where it would stand. */
        const uint32_t own = e->desc.posed_models[posed_as].of;
        float *full = (float *)(void *)((char *)e->full + th_crowd_palette_offset(e->crowd, instance));
        th_gpu_instance at = f->gpu_instances[instance];
        at.position[2] = f->cull->z[instance];
        const th_gpu_instance *drawn_at = is_held ? &f->held_at[instance] : &at;
        if (is_held)
            place_palette(&at, drawn_at, e->desc.posed_models[own].model->bone_count, full);
        th_skin_screen screen = {.width = (float)f->width, .height = (float)f->height, .near_z = f->camera->near_z};
        place_model(m->clip_from_scene, drawn_at, screen.clip_from_model);
        e->px[k] =
            th_skin_error_px(e->skins[posed_as], (th_skin_palette){th_crowd_palette(f->crowd), palette},
                             (th_skin_palette){TH_PALETTE_F32, full}, &screen, e->scratch + worker * e->scratch_stride);
    }
    return 0;
}

const float *th_screen_error_measure(th_screen_error *e, const th_screen_error_frame *frame)
{
    assert(e && frame && frame->palettes == e->drawn[e->number % e->desc.kept].palettes);
    measurement m = {.error = e, .frame = frame};
    th_camera_clip(frame->camera, (float)frame->width / (float)frame->height, m.clip_from_scene);
    th_jobs_for(e->desc.jobs, frame->cull->listed, CHUNK, activate_listed, &m);
    th_frame_animate(e->frame, frame->time_s, e->full);
    th_jobs_for(e->desc.jobs, frame->cull->listed, CHUNK, measure_listed, &m);
    return e->px;
}

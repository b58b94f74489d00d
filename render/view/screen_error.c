#include "screen_error.h"

#include <throng/core/cache_line.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 16 }; /* characters */

struct th_screen_error {
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

/* ---- making ---- */

static th_result make_skins(th_screen_error *e, th_error *err)
{
    const th_screen_error_desc *d = &e->desc;
    e->skins = calloc(d->posed_count + 1u, sizeof *e->skins);
    th_result result = e->skins ? TH_OK : th_fail(err, TH_ERR_MEMORY, "no memory for skins");
    for (uint32_t m = 0; m < d->posed_count && result == TH_OK; m++) {
        const th_posed_model *posed = &d->posed_models[m];
        result = th_skin_create(d->posed_models[posed->of].model, posed->model, &e->skins[m], err);
        if (result == TH_OK && th_skin_scratch_bytes(e->skins[m]) > e->scratch_stride)
            e->scratch_stride = th_skin_scratch_bytes(e->skins[m]);
    }
    return result;
}

static th_result make_frame(th_screen_error *e, th_error *err)
{
    th_result result = th_scene_crowd(e->desc.scene, e->desc.isa, TH_PALETTE_F32, &e->crowd, err);
    if (result != TH_OK)
        return result;
    const th_frame_desc desc = {.crowd = e->crowd, .jobs = e->desc.jobs, .behaviour = e->desc.behaviour};
    result = th_frame_create(&desc, &e->frame, err);
    if (result != TH_OK)
        return result;
    e->scratch = th_cache_line_alloc(e->scratch_stride * th_jobs_threads(e->desc.jobs));
    e->px = calloc((size_t)th_crowd_instance_count(e->crowd) + 1, sizeof *e->px);
    return e->scratch && e->px ? TH_OK : th_fail(err, TH_ERR_MEMORY, "no memory for measuring the error on screen");
}

th_result th_screen_error_create(const th_screen_error_desc *desc, th_screen_error **out, th_error *err)
{
    assert(desc && desc->scene && desc->jobs && desc->every > 0 && out);
    assert(desc->kept > 0 && desc->kept <= TH_POSE_MAX_HOLD);
    *out = NULL;
    th_screen_error *e = calloc(1, sizeof *e);
    if (!e)
        return th_fail(err, TH_ERR_MEMORY, "no memory for measuring the error on screen");
    e->desc = *desc;
    th_result result = make_skins(e, err);
    if (result == TH_OK)
        result = make_frame(e, err);
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
    free(e->skins);
    th_frame_destroy(e->frame);
    th_crowd_destroy(e->crowd);
    free(e->scratch);
    for (uint32_t n = 0; n < TH_POSE_MAX_HOLD; n++)
        free(e->drawn[n].palettes);
    free(e->full);
    free(e->px);
    free(e);
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
    th_crowd_set_active_range(m->error->crowd, begin, th_cull_list(m->frame->cull) + begin, end - begin);
    return 0;
}

/* As shaders/instance.glsl. */
static void scene_from_model(const th_gpu_instance *at, float out[16])
{
    const float c = at->scale * at->heading[0], s = at->scale * at->heading[1];
    const float *p = at->position;
    const float columns[16] = {c, 0, -s, 0, 0, at->scale, 0, 0, s, 0, c, 0, p[0], p[1], p[2], 1};
    memcpy(out, columns, sizeof columns);
}

static void multiply(const float a[16], const float b[16], float out[16])
{
    for (int col = 0; col < 16; col += 4)
        for (int row = 0; row < 4; row++)
            out[col + row] =
                a[row] * b[col] + a[4 + row] * b[col + 1] + a[8 + row] * b[col + 2] + a[12 + row] * b[col + 3];
}

/* A listed character. */
typedef struct shown {
    uint32_t group, instance;
    const th_pose_place *held; /* NULL: its palette is of this frame */
} shown;

/* out_model: what it is drawn as. */
static const char *drawn_palette(const measurement *m, const shown *c, uint32_t *out_model)
{
    const th_screen_error_frame *f = m->frame;
    const th_screen_error *e = m->error;
    *out_model = f->groups[c->group].model;
    if (!c->held)
        return (const char *)f->palettes + th_crowd_palette_offset(f->crowd, c->instance);
    const th_pose_part part = th_pose_plan_part(f->plan, c->group, c->held->frames_ago);
    *out_model = part.model;
    const char *frame = e->drawn[(e->number - c->held->frames_ago) % e->desc.kept].palettes;
    return frame + part.range.offset + c->held->palette * part.range.stride;
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

static float error_of(const measurement *m, const shown *c, void *scratch)
{
    const th_screen_error_frame *f = m->frame;
    const th_screen_error *e = m->error;
    uint32_t posed_as;
    const th_skin_palette drawn = {th_crowd_palette(f->crowd), drawn_palette(m, c, &posed_as)};
    const uint32_t own = e->desc.posed_models[posed_as].of;
    float *palette = (float *)(void *)((char *)e->full + th_crowd_palette_offset(e->crowd, c->instance));
    th_gpu_instance at = f->gpu_instances[c->instance];
    at.position[2] = th_cull_z((th_cull *)f->cull)[c->instance];
    const th_gpu_instance *drawn_at = c->held ? &f->held_at[c->instance] : &at;
    float placed[16];
    th_skin_screen screen = {.width = (float)f->width, .height = (float)f->height, .near_z = f->camera->near_z};
    scene_from_model(drawn_at, placed);
    multiply(m->clip_from_scene, placed, screen.clip_from_model);
    if (c->held)
        place_palette(&at, drawn_at, e->desc.posed_models[own].model->bone_count, palette);
    const th_skin_palette full = {TH_PALETTE_F32, palette};
    return th_skin_error_px(e->skins[posed_as], drawn, full, &screen, scratch);
}

static int measure_listed(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    const measurement *m = ctx;
    const uint32_t *list = th_cull_list(m->frame->cull);
    const th_cull_group *groups = th_cull_groups(m->frame->cull), *group = groups;
    const th_pose_place *places = th_pose_plan_places(m->frame->plan);
    void *scratch = m->error->scratch + worker * m->error->scratch_stride;
    for (uint32_t k = begin; k < end; k++) {
        while (k - group->first >= group->count)
            group++;
        const uint32_t g = (uint32_t)(group - groups);
        const bool is_held = th_pose_plan_group(m->frame->plan, g).are_held && places[k].frames_ago > 0;
        const shown c = {g, list[k], is_held ? &places[k] : NULL};
        m->error->px[k] = group->shadow_only ? -1 : error_of(m, &c, scratch);
    }
    return 0;
}

void th_screen_error_measure(th_screen_error *e, const th_screen_error_frame *frame)
{
    assert(e && frame && frame->palettes == e->drawn[e->number % e->desc.kept].palettes);
    const uint32_t listed = th_cull_listed_count(frame->cull);
    measurement m = {.error = e, .frame = frame};
    th_camera_clip(frame->camera, (float)frame->width / (float)frame->height, m.clip_from_scene);
    th_jobs_for(e->desc.jobs, listed, CHUNK, activate_listed, &m);
    th_frame_animate(e->frame, frame->time_s, e->full);
    th_jobs_for(e->desc.jobs, listed, CHUNK, measure_listed, &m);
}

const float *th_screen_error_px(const th_screen_error *e)
{
    assert(e);
    return e->px;
}

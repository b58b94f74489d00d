#include "bench_frames.h"

#include "picture_check.h"

#include <throng/bench/validate_run.h>
#include <throng/core/cache_line.h>
#include <throng/core/clock.h>
#include <throng/core/json.h>
#include <throng/runtime/frame.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { FEW, MANY, CROWDS };
enum { MANY_PER_FEW = 100, STAGES = 4 };
enum { CHECKED = 8 }; /* every so many repetitions the pictures are checked */

/* A view from above, with no character against the sky: then the area that is drawn is bounded, even if the crowd fills
 * the picture. */
#define YAW_DEG   25
#define PITCH_DEG 60

typedef struct subject subject;

/* The kind of an entry. */
typedef struct kind {
    void (*begin)(subject *s, uint64_t frame); /* puts a frame in flight before any is timed */
    void (*run)(subject *s, uint64_t frame);
    bool of_many, is_drawn;
} kind;

/* An entry being measured. */
struct subject {
    const kind *kind;
    th_bench_frames *shared;
    th_crowd_view *crowd_view;
    th_camera camera;
    th_row *row;
    uint64_t stage_ns[STAGES]; /* cull, wait, pose, draw; since the repetition began */
    uint32_t frames, repetitions;
    th_samples stages[STAGES]; /* ns per frame, one sample a repetition */
};

/* ---- shared state ---- */

void th_bench_frames_init(th_bench_frames *e, const th_crowd_view_desc *crowd, const th_target_desc *picture)
{
    *e = (th_bench_frames){.crowds = {*crowd, *crowd}, .size = *picture};
    for (int c = 0; c < CROWDS; c++) {
        e->crowds[c].yaw_deg = YAW_DEG;
        e->crowds[c].pitch_deg = PITCH_DEG;
        e->crowds[c].zoom = 1;
    }
    e->crowds[MANY].count *= MANY_PER_FEW;
}

void th_bench_frames_fini(th_bench_frames *e)
{
    for (int c = 0; c < CROWDS; c++)
        th_crowd_view_destroy(e->crowd_views[c]);
    th_picture_close(&e->picture);
}

static th_result find_crowd_view(th_bench_frames *e, bool many, th_crowd_view **out, th_error *err)
{
    th_result result = e->picture.target ? TH_OK : th_picture_open(&e->picture, &e->size, err);
    if (result == TH_OK && !e->crowd_views[many])
        result = th_crowd_view_create(&e->crowds[many], e->picture.gl, &e->crowd_views[many], err);
    *out = e->crowd_views[many];
    return result;
}

static json_t *describe(void *ctx)
{
    const th_bench_frames *e = ctx;
    return e->crowd_views[FEW] ? th_picture_json(&e->picture, e->crowd_views[FEW], &e->crowds[FEW]) : NULL;
}

/* ---- frames ---- */

static double time_of(uint64_t frame)
{
    return (double)frame / TH_FRAME_RATE;
}

static void draw(subject *s, uint64_t frame)
{
    th_picture_draw(&s->shared->picture, s->crowd_view, time_of(frame), &s->camera);
}

static void redraw(subject *s, uint64_t frame)
{
    (void)frame;
    th_crowd_view_redraw(s->crowd_view, s->shared->picture.target);
    th_picture_submit(&s->shared->picture);
}

static void pose(subject *s, uint64_t frame)
{
    const th_target_desc *size = &s->shared->size;
    th_crowd_view_pose(s->crowd_view, time_of(frame), &s->camera, size->width, size->height);
}

/* Drawing takes the time that no other stage has reported. */
static void run_frame(void *ctx, uint64_t frame)
{
    subject *s = ctx;
    const uint64_t begin = th_clock_ns();
    s->kind->run(s, frame);
    const uint64_t ns = th_clock_ns() - begin;
    const th_crowd_view_stats stats = th_crowd_view_get_stats(s->crowd_view);
    const uint64_t before_ns = stats.cull_ns + stats.wait_ns + stats.pose_ns;
    const uint64_t stage_ns[STAGES] = {stats.cull_ns, stats.wait_ns, stats.pose_ns, ns - before_ns};
    for (int i = 0; i < STAGES; i++)
        s->stage_ns[i] += stage_ns[i];
    s->frames++;
}

/* Puts frames in flight, all of one moment, so that they can be redrawn. */
static void begin_repetition(void *ctx)
{
    subject *s = ctx;
    for (int slot = 0; slot < TH_RING_SLOTS; slot++)
        s->kind->begin(s, TH_VALIDATE_FRAME);
    s->frames = 0;
    for (int i = 0; i < STAGES; i++)
        s->stage_ns[i] = 0;
}

static void end_repetition(void *ctx)
{
    subject *s = ctx;
    th_error err;
    for (int i = 0; i < STAGES && s->stages[i].count < s->stages[i].capacity; i++) /* a dry run has no room */
        th_samples_add(&s->stages[i], (double)s->stage_ns[i] / s->frames);
    th_gl_finish(s->shared->picture.gl);
    if (th_gl_check(s->shared->picture.gl, "while frames were drawn", &err) != TH_OK)
        snprintf(s->row->failure, sizeof s->row->failure, "%.*s", (int)sizeof s->row->failure - 1, err.text);
    if (s->kind->is_drawn && s->repetitions++ % CHECKED == 0)
        th_picture_check(&s->shared->picture, s->crowd_view, &s->camera, s->row);
}

/* ---- checking ---- */

/* Slots of the ring must not be read back, so the same frame is posed again for all characters, in ordinary memory. */
typedef struct validation {
    th_crowd *crowd;
    void *palette, *scratch;
} validation;

static void pose_all(void *ctx, uint64_t frame)
{
    const validation *r = ctx;
    th_crowd_update(r->crowd, 0, th_crowd_batch_count(r->crowd), time_of(frame), r->palette, r->scratch);
}

static th_result validate(validation *r, const subject *s, th_error *err)
{
    const th_crowd_view_desc *few = &s->shared->crowds[FEW];
    const th_scene *scene = th_crowd_view_scene(s->crowd_view);
    th_result result = th_scene_crowd(scene, few->isa, few->palette, &r->crowd, err);
    if (result != TH_OK)
        return result;
    s->row->characters = scene->instance_count;
    s->row->bones = th_crowd_bone_count(r->crowd);
    if (s->kind->of_many) /* `few` has the same models; the memory for this many may be missing */
        return TH_OK;
    result = th_palette_create(r->crowd, &r->palette, err);
    if (result != TH_OK)
        return result;
    r->scratch = th_cache_line_alloc(th_crowd_scratch_bytes(r->crowd));
    if (!r->scratch)
        return th_fail(err, TH_ERR_MEMORY, "no memory for the scratch of one thread");
    const th_validate_run_desc run = {
        .scene = scene, .crowd = r->crowd, .palette = r->palette, .run = pose_all, .ctx = r};
    return th_validate_run(&run, s->row, err);
}

static th_result check(const subject *s, th_error *err)
{
    validation r = {0};
    const th_result result = validate(&r, s, err);
    free(r.scratch);
    free(r.palette);
    th_crowd_destroy(r.crowd);
    return result;
}

/* ---- creating ---- */

/* Moves the camera towards the middle of `many` until as many characters are visible as possible without exceeding
 * those of `few`. */
static void approach(subject *s)
{
    const th_camera far = s->camera;
    const th_target_desc *size = &s->shared->size;
    float low = 0.02F, high = 1; /* shares of the distance: too few are visible at the first, too many at the second */
    for (int i = 0; i < 20; i++) {
        const float middle = sqrtf(low * high);
        s->camera = far;
        th_camera_zoom(&s->camera, middle);
        th_crowd_view_pose(s->crowd_view, time_of(TH_VALIDATE_FRAME), &s->camera, size->width, size->height);
        if (th_crowd_view_get_stats(s->crowd_view).visible > s->shared->crowds[FEW].count)
            high = middle;
        else
            low = middle;
    }
    s->camera = far;
    th_camera_zoom(&s->camera, low);
}

static th_result prepare(subject *s, th_error *err)
{
    th_bench_frames *e = s->shared;
    th_crowd_view *few;
    th_result result = find_crowd_view(e, false, &few, err);
    if (result == TH_OK)
        result = find_crowd_view(e, s->kind->of_many, &s->crowd_view, err);
    if (result != TH_OK)
        return result;
    s->camera = th_crowd_view_camera(few, th_picture_aspect(&e->picture), HUGE_VAL);
    s->row->threads = e->crowds[FEW].jobs.threads;
    result = check(s, err);
    if (s->kind->of_many)
        approach(s);
    begin_repetition(s);
    th_gl_finish(e->picture.gl);
    return result;
}

static th_result create(const th_external_benchmark *benchmark, void *ctx, th_row *row, void **out, th_error *err)
{
    th_bench_frames *e = ctx;
    subject *s = calloc(1, sizeof *s);
    bool room = s != NULL;
    *out = s;
    for (int i = 0; room && i < STAGES; i++)
        room = th_samples_init(&s->stages[i], row->real_ns.capacity);
    if (!room)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %s", benchmark->name);
    s->kind = benchmark->what;
    s->shared = e;
    s->row = row;
    return prepare(s, err);
}

static void destroy(void *ctx)
{
    subject *s = ctx;
    for (int i = 0; i < STAGES; i++)
        th_samples_fini(&s->stages[i]);
    free(s);
}

/* ---- results ---- */

static void summarize(void *ctx, const th_row *baseline, th_row *row)
{
    static const char *const names[STAGES] = {"cull_ms", "wait_ms", "pose_ms", "draw_ms"};
    const subject *s = ctx;
    const double ns = th_samples_stats(&row->real_ns).median;
    const double base_ns = baseline ? th_samples_stats(&baseline->real_ns).median : (double)NAN;
    json_t *json = json_pack("{s:o, s:o}", "visible", th_json_count(th_crowd_view_get_stats(s->crowd_view).visible),
                             "vs_redraw", th_json_real(ns / base_ns));
    for (int i = 0; i < STAGES; i++)
        json = th_json_set(json, names[i], th_json_real(th_samples_stats(&s->stages[i]).median / 1e6));
    row->own = json;
}

enum { WHOLE, REDRAW, POSED, KINDS };

static const kind kinds[2][KINDS] = {
    {{.begin = draw, .run = draw, .is_drawn = true}, {.begin = draw, .run = redraw}, {.begin = pose, .run = pose}},
    {{.begin = draw, .run = draw, .of_many = true, .is_drawn = true},
     {.begin = draw, .run = redraw, .of_many = true},
     {.begin = pose, .run = pose, .of_many = true}},
};

#define A_FRAME(many, how)                                                                                             \
    .what = &kinds[many][how], .shape = kinds[many], .is_baseline = (how) == REDRAW, .create = create,                 \
    .before = begin_repetition, .run = run_frame, .after = end_repetition, .summarize = summarize, .destroy = destroy

static const th_external_benchmark external[] = {
    {.name = "frame/all_visible/whole", A_FRAME(0, WHOLE)},
    {.name = "frame/all_visible/redraw", A_FRAME(0, REDRAW)},
    {.name = "frame/all_visible/posed", A_FRAME(0, POSED)},
    {.name = "frame/1_percent_visible/whole", A_FRAME(1, WHOLE)},
    {.name = "frame/1_percent_visible/redraw", A_FRAME(1, REDRAW)},
    {.name = "frame/1_percent_visible/posed", A_FRAME(1, POSED)},
};

th_external_benchmarks th_bench_frames_external(th_bench_frames *entries)
{
    return (th_external_benchmarks){external, sizeof external / sizeof *external, entries, describe};
}

#include "bench_frames.h"

#include "bench_gpu.h"
#include "picture_check.h"

#include <bench/validate.h>
#include <core/clock.h>
#include <core/json.h>
#include <render/gpu_clock.h>
#include <throng/core/cache_line.h>
#include <throng/runtime/frame.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CULL, WAIT, POSE, DRAW, STAGES };
enum { CHECKED = 8 }; /* every so many repetitions the pictures are checked */

/* Characters of each crowd per character that is visible. */
enum { ALL_VISIBLE, TENTH_VISIBLE, HUNDREDTH_VISIBLE };
static const uint32_t per_visible[TH_BENCH_FRAMES_CROWDS] = {1, 10, 100};

/* A view from above, with no character against the sky: then the area that is drawn is bounded, even if the crowd fills
 * the picture. */
#define YAW_DEG   25
#define PITCH_DEG 60

typedef struct subject subject;

/* What an entry measures. */
typedef struct kind {
    void (*begin)(subject *s, uint64_t frame); /* puts a frame in flight before any is timed */
    void (*run)(subject *s, uint64_t frame);
    bool is_drawn;
    bool on_gpu; /* the GPU poses */
} kind;

/* What an error/ entry does otherwise than the command line says. */
typedef struct setting {
    th_palette palette;
    double share_hz;
    bool all_share; /* not only far characters */
    bool joint_lod;
    uint32_t hold;
} setting;

typedef struct frame_entry {
    const kind *kind;
    int crowd;
    const setting *setting; /* NULL: none */
} frame_entry;

/* An entry being measured. */
struct subject {
    const kind *kind;
    int crowd;
    th_bench_frames *shared;
    const setting *setting;
    th_crowd_view *crowd_view, *base; /* base: that of the crowd, which it shares parts with; NULL: none */
    bool is_own;                      /* not that of the crowd */
    th_camera camera;
    th_screen_error_stats error; /* only with a setting */
    th_row *row;
    uint64_t stage_ns[STAGES]; /* since the repetition began */
    uint32_t frames, repetitions;
    th_samples stages[STAGES]; /* ns per frame, one sample a repetition */
    th_gpu_clock *clock;
    th_samples gpu_ns; /* the GPU's own time of a drawn frame */
    bool same_bytes;   /* the GPU has posed as the scalar kernel */
    th_samples serial; /* share of the CPU time before the draw calls that is spent outside of jobs */
};

/* ---- shared state ---- */

void th_bench_frames_init(th_bench_frames *e, const th_crowd_view_desc *crowd, const th_target_desc *picture,
                          const th_scene_desc *posed)
{
    *e = (th_bench_frames){.size = *picture, .posed = posed};
    for (int c = 0; c < TH_BENCH_FRAMES_CROWDS; c++) {
        e->crowds[c] = *crowd;
        e->crowds[c].yaw_deg = YAW_DEG;
        e->crowds[c].pitch_deg = PITCH_DEG;
        e->crowds[c].zoom = 1;
        e->crowds[c].count *= per_visible[c];
    }
}

void th_bench_frames_fini(th_bench_frames *e)
{
    for (int c = 0; c < TH_BENCH_FRAMES_CROWDS; c++)
        th_crowd_view_destroy(e->crowd_views[c]);
    th_picture_close(&e->picture);
}

th_result th_bench_frames_open(th_bench_frames *e, th_error *err)
{
    return e->picture.target ? TH_OK : th_picture_open(&e->picture, &e->size, err);
}

static th_result find_crowd_view(th_bench_frames *e, int crowd, th_crowd_view **out, th_error *err)
{
    th_result result = th_bench_frames_open(e, err);
    if (result == TH_OK && !e->crowd_views[crowd])
        result = th_crowd_view_create(&e->crowds[crowd], e->picture.gl, &e->crowd_views[crowd], err);
    *out = e->crowd_views[crowd];
    return result;
}

static json_t *describe(void *ctx)
{
    const th_bench_frames *e = ctx;
    return e->crowd_views[ALL_VISIBLE]
               ? th_picture_json(&e->picture, e->crowd_views[ALL_VISIBLE], &e->crowds[ALL_VISIBLE])
               : NULL;
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
    if (s->clock)
        th_gpu_clock_begin(s->clock);
    s->kind->run(s, frame);
    if (s->clock)
        th_gpu_clock_end(s->clock);
    const uint64_t ns = th_clock_ns() - begin;
    uint64_t gpu_ns;
    if (s->clock && th_gpu_clock_read(s->clock, &gpu_ns) && s->gpu_ns.count < s->gpu_ns.capacity)
        th_samples_add(&s->gpu_ns, (double)gpu_ns);
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
    th_jobs_stats_reset(th_crowd_view_get_parts(s->crowd_view).jobs);
}

/* The caller is in a call of the pool, busy or idle, or outside of jobs. */
static double serial_share(const subject *s)
{
    th_worker_stats workers[TH_JOBS_MAX_THREADS];
    const th_jobs *jobs = th_crowd_view_get_parts(s->crowd_view).jobs;
    double busy_ns = 0;
    th_jobs_stats(jobs, workers);
    for (uint32_t w = 0; w < th_jobs_threads(jobs); w++)
        busy_ns += (double)workers[w].busy_ns;
    const double calls_ns = (double)(workers[0].busy_ns + workers[0].idle_ns);
    const double serial_ns = fmax((double)(s->stage_ns[CULL] + s->stage_ns[POSE]) - calls_ns, 0);
    return serial_ns / (serial_ns + busy_ns);
}

static void end_repetition(void *ctx)
{
    subject *s = ctx;
    th_error err;
    for (int i = 0; i < STAGES && s->stages[i].count < s->stages[i].capacity; i++) /* a dry run has no room */
        th_samples_add(&s->stages[i], (double)s->stage_ns[i] / s->frames);
    if (s->serial.count < s->serial.capacity)
        th_samples_add(&s->serial, serial_share(s));
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
    th_crowd_view_desc few = s->shared->crowds[ALL_VISIBLE];
    few.palette = s->setting ? s->setting->palette : few.palette;
    const th_scene *scene = th_crowd_view_get_parts(s->crowd_view).scene;
    th_result result = th_scene_crowd(scene, few.isa, few.palette, &r->crowd, err);
    if (result != TH_OK)
        return result;
    s->row->characters = scene->instance_count;
    s->row->bones = th_crowd_bone_count(r->crowd);
    if (s->crowd != ALL_VISIBLE) /* `few` has the same models; the memory for this many may be missing */
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

/* ---- settings ---- */

enum { ERROR_FRAMES = 64, ERROR_EVERY = 7 };

/* Another crowd view that shares what it can with the base. */
static th_result make_crowd_view(const subject *s, const th_crowd_view_desc *desc, const th_crowd_view *base,
                                 th_crowd_view **out, th_error *err)
{
    th_result result = th_crowd_view_prepare(desc, base, out, err);
    if (result != TH_OK)
        return result;
    result = th_crowd_view_complete(*out, s->shared->picture.gl, err);
    if (result != TH_OK) {
        th_crowd_view_release(*out, base);
        *out = NULL;
    }
    return result;
}

static th_crowd_view_desc desc_of(const subject *s)
{
    th_crowd_view_desc desc = s->shared->crowds[s->crowd];
    desc.palette = s->setting->palette;
    desc.share_hz = s->setting->share_hz;
    desc.far_lod = s->setting->all_share ? 0 : desc.far_lod;
    desc.joint_lod |= s->setting->joint_lod;
    desc.hold = s->setting->hold;
    return desc;
}

static th_result take_setting(subject *s, th_error *err)
{
    const th_crowd_view_desc desc = desc_of(s);
    s->base = s->setting->joint_lod ? NULL : s->crowd_view; /* it has no levels to share */
    s->is_own = true;
    return make_crowd_view(s, &desc, s->base, &s->crowd_view, err);
}

/* Consecutive frames of one moment on; errors of the visible characters of some of them, all together. Not of the
 * first, in which nobody holds a pose. */
static bool pool_errors(const subject *s, th_crowd_view *measured, float **px, uint32_t *count)
{
    const th_target_desc *size = &s->shared->size;
    for (uint32_t frame = 0; frame < ERROR_FRAMES + ERROR_EVERY; frame++) {
        if (!th_crowd_view_pose(measured, time_of(TH_VALIDATE_FRAME + frame), &s->camera, size->width, size->height))
            return false;
        const th_crowd_view_stats stats = th_crowd_view_get_stats(measured);
        if (stats.error_ns == 0 || frame == 0)
            continue;
        float *more = realloc(*px, ((size_t)*count + stats.error.count + 1) * sizeof **px);
        if (!more)
            return false;
        memcpy(more + *count, th_crowd_view_get_parts(measured).errors, stats.error.count * sizeof **px);
        *px = more;
        *count += stats.error.count;
    }
    return true;
}

static th_result measure_error(subject *s, th_error *err)
{
    th_crowd_view_desc desc = desc_of(s);
    th_crowd_view *measured;
    float *px = NULL;
    uint32_t count = 0;
    desc.error_every = ERROR_EVERY;
    th_result result = make_crowd_view(s, &desc, s->crowd_view, &measured, err);
    if (result != TH_OK)
        return result;
    if (pool_errors(s, measured, &px, &count))
        s->error = th_screen_error_stats_of(px, count);
    else
        result = th_fail(err, TH_ERR_MEMORY, "no memory for the error on screen, or the driver lost a frame");
    free(px);
    th_crowd_view_release(measured, s->crowd_view);
    return result;
}

/* ---- the GPU poses ---- */

/* With the scalar kernel's crowd, which is its twin. */
static th_result take_gpu(subject *s, th_error *err)
{
    th_crowd_view_desc desc = s->shared->crowds[s->crowd];
    desc.evaluator = TH_EVALUATOR_GPU;
    desc.isa = TH_ISA_SCALAR;
    desc.palette = th_crowd_view_get_parts(s->crowd_view).palette;
    s->base = s->crowd_view;
    s->is_own = true;
    th_result result = make_crowd_view(s, &desc, s->base, &s->crowd_view, err);
    if (result == TH_OK && th_crowd_view_get_parts(s->crowd_view).evaluator != TH_EVALUATOR_GPU)
        result = th_fail(err, TH_ERR_INPUT, "%.250s", th_crowd_view_get_parts(s->crowd_view).fallback);
    return result;
}

/* Palettes of the characters that the crowd poses, with the mapping of frames. */
static th_result read_palettes(const subject *s, const th_crowd *crowd, void *out, th_error *err)
{
    const th_scene *scene = th_crowd_view_get_parts(s->crowd_view).scene;
    const th_gpu_evaluator_desc desc = {
        .gl = s->shared->picture.gl,
        .compiled_models = scene->compiled_models,
        .compiled_model_count = scene->compiled_model_count,
        .palette = th_crowd_palette(crowd),
        .mapping = th_crowd_view_get_parts(s->crowd_view).gpu_mapping.mapping,
    };
    th_gpu_evaluator *evaluator;
    th_result result = th_gpu_evaluator_create(&desc, &evaluator, err);
    if (result == TH_OK)
        result = th_gpu_evaluator_read(evaluator, crowd, time_of(TH_VALIDATE_FRAME), out, err);
    th_gpu_evaluator_destroy(evaluator);
    return result;
}

/* Holds what the GPU poses against the scalar kernel. */
static th_result compare_with_kernel(subject *s, th_error *err)
{
    const th_crowd *crowd = th_crowd_view_get_parts(s->crowd_view).crowd;
    const size_t bytes = th_crowd_palette_bytes(crowd);
    void *scratch = th_cache_line_alloc(th_crowd_scratch_bytes(crowd)), *wanted = th_cache_line_alloc(bytes),
         *got = th_cache_line_alloc(bytes);
    th_result result = TH_OK;
    if (scratch && wanted && got)
        result = read_palettes(s, crowd, got, err);
    else
        result = th_fail(err, TH_ERR_MEMORY, "no memory for %zu bytes of palettes", bytes);
    if (result == TH_OK) {
        th_crowd_update(crowd, 0, th_crowd_batch_count(crowd), time_of(TH_VALIDATE_FRAME), wanted, scratch);
        s->same_bytes = memcmp(wanted, got, bytes) == 0;
    }
    free(scratch);
    free(wanted);
    free(got);
    return result;
}

/* ---- creating ---- */

/* Moves the camera towards the middle of a larger crowd until as many characters are visible as possible without
 * exceeding those of `few`. */
static void approach(subject *s)
{
    const th_camera far = s->camera;
    th_crowd_view *seen = s->kind->on_gpu ? s->base : s->crowd_view; /* what the GPU counts comes late */
    const th_target_desc *size = &s->shared->size;
    float low = 0.02F, high = 1; /* shares of the distance: too few are visible at the first, too many at the second */
    for (int i = 0; i < 20; i++) {
        const float middle = sqrtf(low * high);
        s->camera = far;
        th_camera_zoom(&s->camera, middle);
        th_crowd_view_pose(seen, time_of(TH_VALIDATE_FRAME), &s->camera, size->width, size->height);
        if (th_crowd_view_get_stats(seen).visible > s->shared->crowds[ALL_VISIBLE].count)
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
    th_result result = find_crowd_view(e, ALL_VISIBLE, &few, err);
    if (result == TH_OK)
        result = find_crowd_view(e, s->crowd, &s->crowd_view, err);
    if (result != TH_OK)
        return result;
    result = s->kind->is_drawn ? th_gpu_clock_create(e->picture.gl, &s->clock, err) : TH_OK;
    if (result != TH_OK)
        return result;
    s->camera = th_crowd_view_camera(few, th_picture_aspect(&e->picture), HUGE_VAL);
    s->row->threads = e->crowds[ALL_VISIBLE].jobs.threads;
    if (s->setting)
        result = take_setting(s, err);
    if (s->kind->on_gpu)
        result = take_gpu(s, err);
    if (result == TH_OK)
        result = check(s, err);
    if (result != TH_OK)
        return result;
    if (s->crowd != ALL_VISIBLE)
        approach(s);
    if (s->setting)
        result = measure_error(s, err);
    if (s->kind->on_gpu)
        result = compare_with_kernel(s, err);
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
    room = room && th_samples_init(&s->serial, row->real_ns.capacity) &&
           th_samples_init(&s->gpu_ns, row->real_ns.capacity);
    if (!room)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %s", benchmark->name);
    const frame_entry *entry = benchmark->what;
    s->kind = entry->kind;
    s->crowd = entry->crowd;
    s->setting = entry->setting;
    s->shared = e;
    s->row = row;
    return prepare(s, err);
}

static void destroy(void *ctx)
{
    subject *s = ctx;
    for (int i = 0; i < STAGES; i++)
        th_samples_fini(&s->stages[i]);
    th_samples_fini(&s->serial);
    th_samples_fini(&s->gpu_ns);
    th_gpu_clock_destroy(s->clock);
    if (s->is_own)
        th_crowd_view_release(s->crowd_view, s->base);
    free(s);
}

/* ---- results ---- */

static void summarize(void *ctx, const th_row *baseline, th_row *row)
{
    static const char *const names[STAGES] = {"cull_ms", "wait_ms", "pose_ms", "draw_ms"};
    const subject *s = ctx;
    const double ns = th_samples_stats(&row->real_ns).median;
    const double base_ns = baseline ? th_samples_stats(&baseline->real_ns).median : (double)NAN;
    const th_crowd_view_stats stats = th_crowd_view_get_stats(s->crowd_view);
    json_t *json = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "ring_bytes",
                             th_json_count(th_crowd_view_get_parts(s->crowd_view).ring_bytes), "visible",
                             th_json_count(stats.visible), "evaluated", th_json_count(stats.evaluated), "shared",
                             th_json_count(stats.shared), "held", th_json_count(stats.held), "palette_bytes",
                             th_json_count(stats.palette_bytes), "vs_redraw", th_json_real(ns / base_ns));
    if (s->setting || s->shared->crowds[s->crowd].share_hz > 0)
        row->bones = stats.bones;
    for (int i = 0; i < STAGES; i++)
        json = th_json_set(json, names[i], th_json_real(th_samples_stats(&s->stages[i]).median / 1e6));
    if (s->setting) {
        json = th_json_set(json, "error_px_p50", th_json_real((double)s->error.p50));
        json = th_json_set(json, "error_px_p99", th_json_real((double)s->error.p99));
        json = th_json_set(json, "error_px_max", th_json_real((double)s->error.max));
    }
    if (s->kind->is_drawn)
        json = th_json_set(json, "gpu_us",
                           s->gpu_ns.count > 0 ? th_json_real(th_samples_stats(&s->gpu_ns).median / 1e3) : json_null());
    if (s->kind->on_gpu) {
        const th_gpu_mapping mapping = th_crowd_view_get_parts(s->crowd_view).gpu_mapping.mapping;
        json = th_json_set(json, "gpu_mapping", json_string(th_gpu_mapping_name(mapping)));
        json = th_json_set(json, "same_bytes", json_boolean(s->same_bytes));
    }
    const bool poses = s->kind->run != redraw;
    row->own = th_json_set(json, "serial", poses ? th_json_real(th_samples_stats(&s->serial).median) : json_null());
}

enum { WHOLE, REDRAW, POSED, BY_GPU, KINDS };

static const kind kinds[KINDS] = {
    [WHOLE] = {.begin = draw, .run = draw, .is_drawn = true},
    [REDRAW] = {.begin = draw, .run = redraw},
    [POSED] = {.begin = pose, .run = pose},
    [BY_GPU] = {.begin = draw, .run = draw, .is_drawn = true, .on_gpu = true},
};

static const setting settings[] = {
    {.palette = TH_PALETTE_F32},
    {.palette = TH_PALETTE_QUAT},
    {.palette = TH_PALETTE_QUAT16},
    {.share_hz = 30},
    {.share_hz = 60},
    {.share_hz = 120},
    {.share_hz = 60, .all_share = true},
    {.joint_lod = true},
    {.joint_lod = true, .share_hz = 60},
    {.hold = 2},
    {.hold = 3},
    {.hold = 4},
    {.joint_lod = true, .hold = 2},
};

/* All settings are measured in turns. */
#define AN_ERROR(which)                                                                                                \
    .what = &(const frame_entry){&kinds[POSED], TENTH_VISIBLE, &settings[which]}, .shape = settings, .create = create, \
    .before = begin_repetition, .run = run_frame, .after = end_repetition, .summarize = summarize, .destroy = destroy

#define A_FRAME(which, how)                                                                                            \
    .what = &(const frame_entry){&kinds[how], which, NULL}, .shape = &per_visible[which],                              \
    .is_baseline = (how) == REDRAW, .create = create, .before = begin_repetition, .run = run_frame,                    \
    .after = end_repetition, .summarize = summarize, .destroy = destroy

#define ON_GPU(mapping, palette)                                                                                       \
    .what = &(const th_bench_gpu_entry){mapping, palette}, .shape = &kinds, .create = th_bench_gpu_create,             \
    .before = th_bench_gpu_before, .run = th_bench_gpu_run, .after = th_bench_gpu_after,                               \
    .summarize = th_bench_gpu_summarize, .destroy = th_bench_gpu_destroy

static const th_external_benchmark external[] = {
    {.name = "gpu/character/f32", ON_GPU(TH_GPU_MAPPING_CHARACTER, TH_PALETTE_F32)},
    {.name = "gpu/character/quat", ON_GPU(TH_GPU_MAPPING_CHARACTER, TH_PALETTE_QUAT)},
    {.name = "gpu/character/quat16", ON_GPU(TH_GPU_MAPPING_CHARACTER, TH_PALETTE_QUAT16)},
    {.name = "gpu/joint/f32", ON_GPU(TH_GPU_MAPPING_JOINT, TH_PALETTE_F32)},
    {.name = "gpu/joint/quat", ON_GPU(TH_GPU_MAPPING_JOINT, TH_PALETTE_QUAT)},
    {.name = "gpu/joint/quat16", ON_GPU(TH_GPU_MAPPING_JOINT, TH_PALETTE_QUAT16)},
    {.name = "frame/all_visible/whole", A_FRAME(ALL_VISIBLE, WHOLE)},
    {.name = "frame/all_visible/redraw", A_FRAME(ALL_VISIBLE, REDRAW)},
    {.name = "frame/all_visible/posed", A_FRAME(ALL_VISIBLE, POSED)},
    {.name = "frame/all_visible/gpu", A_FRAME(ALL_VISIBLE, BY_GPU)},
    {.name = "frame/10_percent_visible/posed", A_FRAME(TENTH_VISIBLE, POSED)},
    {.name = "frame/1_percent_visible/whole", A_FRAME(HUNDREDTH_VISIBLE, WHOLE)},
    {.name = "frame/1_percent_visible/redraw", A_FRAME(HUNDREDTH_VISIBLE, REDRAW)},
    {.name = "frame/1_percent_visible/posed", A_FRAME(HUNDREDTH_VISIBLE, POSED)},
    {.name = "frame/1_percent_visible/gpu", A_FRAME(HUNDREDTH_VISIBLE, BY_GPU)},
    {.name = "error/f32", AN_ERROR(0)},
    {.name = "error/quat", AN_ERROR(1)},
    {.name = "error/quat16", AN_ERROR(2)},
    {.name = "error/share:30", AN_ERROR(3)},
    {.name = "error/share:60", AN_ERROR(4)},
    {.name = "error/share:120", AN_ERROR(5)},
    {.name = "error/share_all:60", AN_ERROR(6)},
    {.name = "error/joints", AN_ERROR(7)},
    {.name = "error/joints,share:60", AN_ERROR(8)},
    {.name = "error/hold:2", AN_ERROR(9)},
    {.name = "error/hold:3", AN_ERROR(10)},
    {.name = "error/hold:4", AN_ERROR(11)},
    {.name = "error/joints,hold:2", AN_ERROR(12)},
};

th_external_benchmarks th_bench_frames_external(th_bench_frames *entries)
{
    return (th_external_benchmarks){external, sizeof external / sizeof *external, entries, describe};
}

#include "bench_frames.h"
#include "frame_check.h"

#include <bench/figures.h>
#include <bench/validate.h>
#include <core/clock.h>
#include <render/gpu_clock.h>
#include <render/gpu_evaluator.h>
#include <runtime/frame.h>
#include <runtime/scene.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Samples of an entry: ns per frame of each stage; the share of the CPU time before the draw calls that is spent
 * outside of jobs; and the GPU's own time of a drawn frame. */
enum { CULL, WAIT, POSE, DRAW, STAGES, SERIAL = STAGES, ON_GPU, SAMPLED };
#define WARM_UP_NS 200000000u /* a GPU raises its clock only while it is busy */
enum { CHECKED = 8 };         /* every so many repetitions the palettes of gpu/ entries are checked */

/* Characters of each crowd per character that is visible. */
enum { ALL_VISIBLE, TENTH_VISIBLE, HUNDREDTH_VISIBLE };
static const uint32_t per_visible[TH_BENCH_FRAMES_CROWDS] = {1, 10, 100};

/* A view from above, with no character against the sky: then the area that is drawn is bounded, even if the crowd fills
 * the picture. */
#define YAW_DEG   25
#define PITCH_DEG 60

typedef struct subject subject;

/* What an entry measures. */
typedef struct frame_kind {
    void (*begin)(subject *s, uint64_t frame); /* puts a frame in flight before any is timed */
    void (*run)(subject *s, uint64_t frame);
    bool is_drawn;
    bool on_gpu; /* the GPU poses */
} frame_kind;

/* What an error/ entry does otherwise than the command line says. */
typedef struct frame_setting {
    th_format palette;
    double share_hz;
    bool all_share; /* not only far characters */
    bool joint_lod;
    uint32_t hold;
} frame_setting;

typedef struct frame_entry {
    const frame_kind *kind;
    int crowd;
    const frame_setting *setting; /* NULL: none */
} frame_entry;

/* An entry being measured. */
struct subject {
    frame_entry entry;
    th_bench_frames *shared;
    th_crowd_view *crowd_view, *base; /* base: that of the crowd, which it shares parts with; NULL: none */
    bool is_own;                      /* not that of the crowd */
    th_shown shown;                   /* the last frame */
    th_screen_error_stats error;      /* only with a setting */
    th_row *row;
    uint64_t stage_ns[STAGES]; /* since the repetition began */
    uint32_t frames, repetitions;
    bool is_cold; /* the GPU has idled */
    th_samples samples[SAMPLED];
    th_gpu_clock *clock;
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

/* Opens the context, if no entry has yet. TH_ERR_ENVIRONMENT: there is no OpenGL. */
static th_result open_picture(th_bench_frames *e, th_error *err)
{
    return e->picture.target ? TH_OK : th_picture_open(&e->picture, &e->size, err);
}

static th_result find_crowd_view(th_bench_frames *e, int crowd, th_crowd_view **out, th_error *err)
{
    th_result result = open_picture(e, err);
    const bool is_new = result == TH_OK && !e->crowd_views[crowd];
    if (is_new)
        result = th_crowd_view_create(&e->crowds[crowd], e->picture.gl, &e->crowd_views[crowd], err);
    if (is_new && result == TH_OK && crowd == ALL_VISIBLE)
        th_complain_of_meshes(e->crowd_views[crowd]);
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

/* A dry run has no room. */
static void add_sample(th_samples *samples, double value)
{
    if (samples->count < samples->capacity)
        th_samples_add(samples, value);
}

/* ---- frames ---- */

static double time_of(uint64_t frame)
{
    return (double)frame / TH_FRAME_RATE;
}

static void draw(subject *s, uint64_t frame)
{
    th_shown_next(&s->shown, frame, time_of(frame));
    th_picture_draw(&s->shared->picture, s->crowd_view, time_of(frame), &s->shown.camera);
}

static void redraw(subject *s, uint64_t frame)
{
    (void)frame;
    th_crowd_view_redraw(s->crowd_view, s->shared->picture.target);
    th_picture_submit(&s->shared->picture);
}

static bool pose_frame(const subject *s, th_crowd_view *crowd_view, uint64_t frame)
{
    const th_target_desc *size = &s->shared->size;
    return th_crowd_view_pose(crowd_view, time_of(frame), &s->shown.camera, size->width, size->height);
}

static void pose(subject *s, uint64_t frame)
{
    th_shown_next(&s->shown, frame, time_of(frame));
    pose_frame(s, s->crowd_view, frame);
}

/* Drawing takes the time that no other stage has reported. */
static void run_frame(void *ctx, uint64_t frame)
{
    subject *s = ctx;
    const uint64_t begin = th_clock_ns();
    if (s->clock)
        th_gpu_clock_begin(s->clock);
    s->entry.kind->run(s, frame);
    if (s->clock)
        th_gpu_clock_end(s->clock);
    const uint64_t ns = th_clock_ns() - begin;
    uint64_t gpu_ns;
    if (s->clock && th_gpu_clock_read(s->clock, &gpu_ns))
        add_sample(&s->samples[ON_GPU], (double)gpu_ns);
    const th_crowd_view_stats stats = th_crowd_view_get_stats(s->crowd_view);
    const uint64_t before_ns = stats.cull_ns + stats.wait_ns + stats.pose_ns;
    const uint64_t stage_ns[STAGES] = {stats.cull_ns, stats.wait_ns, stats.pose_ns, ns - before_ns};
    for (int i = 0; i < STAGES; i++)
        s->stage_ns[i] += stage_ns[i];
    s->frames++;
}

/* Whether another frame that is not timed comes before a repetition: as many as are in flight, and what warms up a GPU
 * at first and after checks, while which it idles. */
static bool is_untimed(const th_bench_frames *e, bool is_cold, uint64_t begin_ns, int frame)
{
    is_cold = is_cold && !th_gl_get_info(e->picture.gl)->software;
    return frame < TH_RING_SLOTS || (is_cold && th_clock_ns() - begin_ns < WARM_UP_NS);
}

/* Puts frames in flight, all of one moment, so that they can be redrawn. */
static void begin_repetition(void *ctx)
{
    subject *s = ctx;
    const bool is_cold = s->entry.kind->is_drawn && s->is_cold;
    const uint64_t begin_ns = th_clock_ns();
    for (int frame = 0; is_untimed(s->shared, is_cold, begin_ns, frame); frame++)
        s->entry.kind->begin(s, TH_VALIDATE_FRAME);
    s->is_cold = false;
    if (s->repetitions == 0)
        s->samples[ON_GPU].count = 0;
    s->frames = 0;
    for (int i = 0; i < STAGES; i++)
        s->stage_ns[i] = 0;
    th_jobs_stats_reset(th_crowd_view_get_parts(s->crowd_view).jobs);
}

static void end_repetition(void *ctx)
{
    subject *s = ctx;
    th_worker_stats workers[TH_JOBS_MAX_THREADS];
    const th_jobs *jobs = th_crowd_view_get_parts(s->crowd_view).jobs;
    th_error err;
    for (int i = 0; i < STAGES; i++)
        add_sample(&s->samples[i], (double)s->stage_ns[i] / s->frames);

    /* The caller is in a call of the pool, busy or idle, or outside of jobs. */
    double busy_ns = 0;
    th_jobs_stats(jobs, workers);
    for (uint32_t w = 0; w < th_jobs_threads(jobs); w++)
        busy_ns += (double)workers[w].busy_ns;
    const double calls_ns = (double)(workers[0].busy_ns + workers[0].idle_ns);
    const double serial_ns = fmax((double)(s->stage_ns[CULL] + s->stage_ns[POSE]) - calls_ns, 0);
    add_sample(&s->samples[SERIAL], serial_ns / (serial_ns + busy_ns));

    th_gl_finish(s->shared->picture.gl);
    if (th_gl_check(s->shared->picture.gl, "while frames were drawn", &err) != TH_OK)
        th_row_fail(s->row, "%s", err.text);
    s->repetitions++;
}

/* ---- checking ---- */

static bool check_shown(subject *s)
{
    th_error err;
    if (s->entry.kind->run == pose) { /* what would be drawn, which may take far longer than posing */
        const uint32_t nothing = th_gl_discard_begin();
        th_crowd_view_draw(s->crowd_view, s->shared->picture.target);
        th_gl_discard_end(nothing);
    }
    const bool ok = th_shown_check(&s->shown, &s->row->draws, &err);
    if (!ok)
        th_row_fail(s->row, "%s", err.text);
    return ok;
}

/* A frame behind as many others as are in flight or hold poses. */
static void run_behind_others(subject *s, uint64_t frame)
{
    const frame_kind *kind = s->entry.kind;
    for (uint32_t before = TH_RING_SLOTS + th_crowd_view_most_hold(&s->shown.asked); before > 0; before--)
        kind->begin(s, kind->run == redraw ? frame : frame - before);
    kind->run(s, frame);
}

/* What the last frame has left; then a frame at any time. */
static void check_frames(void *ctx, uint64_t last)
{
    subject *s = ctx;
    (void)last;
    bool ok = !s->row->failure[0] && check_shown(s);
    if (ok) {
        run_behind_others(s, 2 * TH_CROWD_VIEW_MAX_HOLD + th_draws_next(&s->row->draws) % TH_SHOWN_FRAMES);
        ok = check_shown(s);
    }
    if (ok && s->entry.kind->is_drawn)
        th_picture_check(&s->shared->picture, s->crowd_view, &s->shown.camera, s->row);
    th_gl_finish(s->shared->picture.gl);
    s->is_cold = true;
}

enum { ERROR_FRAMES = 64, ERROR_EVERY = 7 };

/* Of a crowd view that shares what it can: consecutive frames of one moment on; errors of the visible characters of
 * some of them, all together. Not of the first, in which nobody holds a pose. */
static th_result measure_error(subject *s, th_crowd_view_desc desc, th_error *err)
{
    th_crowd_view *measured;
    float *px = NULL;
    uint32_t count = 0;
    desc.error_every = ERROR_EVERY;
    th_result result = th_crowd_view_build(&desc, NULL, s->crowd_view, s->shared->picture.gl, &measured, err);
    for (uint32_t frame = 0; frame < ERROR_FRAMES + ERROR_EVERY && result == TH_OK; frame++) {
        const bool is_posed = pose_frame(s, measured, TH_VALIDATE_FRAME + frame);
        const th_crowd_view_stats stats = th_crowd_view_get_stats(measured);
        if (is_posed && (stats.error_ns == 0 || frame == 0))
            continue;
        float *more = is_posed ? realloc(px, ((size_t)count + stats.error.count + 1) * sizeof *px) : NULL;
        if (more) {
            memcpy(more + count, th_crowd_view_get_parts(measured).errors, stats.error.count * sizeof *px);
            px = more;
            count += stats.error.count;
        } else {
            result = th_fail(err, TH_ERR_MEMORY, "no memory for the error on screen, or the driver lost a frame");
        }
    }
    if (result == TH_OK)
        s->error = th_screen_error_stats_of(px, count);
    free(px);
    th_crowd_view_release(measured, s->crowd_view);
    return result;
}

/* ---- creating ---- */

/* Moves the camera towards the middle of a larger crowd until as many characters are visible as possible without
 * exceeding those of the one that is all visible. */
static void approach(subject *s)
{
    const th_camera far = s->shown.camera;
    th_crowd_view *seen = s->entry.kind->on_gpu ? s->base : s->crowd_view; /* what the GPU counts comes late */
    float low = 0.02F, high = 1; /* shares of the distance: too few are visible at the first, too many at the second */
    for (int i = 0; i < 20; i++) {
        const float middle = sqrtf(low * high);
        s->shown.camera = far;
        th_camera_zoom(&s->shown.camera, middle);
        pose_frame(s, seen, TH_VALIDATE_FRAME);
        if (th_crowd_view_get_stats(seen).visible > s->shared->crowds[ALL_VISIBLE].count)
            high = middle;
        else
            low = middle;
    }
    s->shown.camera = far;
    th_camera_zoom(&s->shown.camera, low);
}

static th_result create(const th_external_benchmark *benchmark, void *ctx, th_row *row, void **out, th_error *err)
{
    th_bench_frames *e = ctx;
    subject *s = *out = calloc(1, sizeof *s);
    bool has_room = s != NULL;
    for (int i = 0; has_room && i < SAMPLED; i++)
        has_room = th_samples_init(&s->samples[i], row->real_ns.capacity);
    if (!has_room)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %s", benchmark->name);
    s->entry = *(const frame_entry *)benchmark->what;
    s->shared = e;
    s->row = row;
    const frame_setting *setting = s->entry.setting;
    const bool on_gpu = s->entry.kind->on_gpu;
    th_crowd_view *few;
    th_result result = find_crowd_view(e, ALL_VISIBLE, &few, err);
    if (result == TH_OK)
        result = find_crowd_view(e, s->entry.crowd, &s->crowd_view, err);
    if (result == TH_OK && s->entry.kind->is_drawn)
        result = th_gpu_clock_create(e->picture.gl, &s->clock, err);
    if (result != TH_OK)
        return result;
    s->shown.camera = th_crowd_view_camera(few, th_picture_aspect(&e->picture), HUGE_VAL);
    row->threads = e->crowds[ALL_VISIBLE].jobs.threads;

    /* A crowd view of its own, which shares what it can with that of the crowd. */
    th_crowd_view_desc desc = e->crowds[s->entry.crowd];
    s->is_own = setting || on_gpu;
    if (s->is_own)
        s->base = setting && setting->joint_lod ? NULL : s->crowd_view; /* that has no levels to share */
    if (setting) {
        desc.palette = setting->palette;
        desc.share_hz = setting->share_hz;
        desc.far_lod = setting->all_share ? 0 : desc.far_lod;
        desc.joint_lod |= setting->joint_lod;
        desc.hold = setting->hold;
    } else if (on_gpu) {
        desc.evaluator = TH_EVALUATOR_GPU;
        desc.palette = th_crowd_view_get_parts(s->crowd_view).palette;
    }
    if (s->is_own)
        result = th_crowd_view_build(&desc, NULL, s->base, e->picture.gl, &s->crowd_view, err);
    if (result == TH_OK && on_gpu && th_crowd_view_get_parts(s->crowd_view).evaluator != TH_EVALUATOR_GPU)
        result = th_fail(err, TH_ERR_INPUT, "%.250s", th_crowd_view_fallback(s->crowd_view));
    if (result != TH_OK)
        return result;
    row->characters = desc.count;
    for (uint32_t i = 0; i < desc.count; i++)
        row->bones += th_scene_model(th_crowd_view_get_parts(s->crowd_view).scene, i)->bone_count;
    s->shown.crowd_view = s->crowd_view;
    s->shown.asked = desc;
    s->shown.size = e->size;
    if (s->entry.crowd != ALL_VISIBLE)
        approach(s);
    if (setting)
        result = measure_error(s, desc, err);
    if (result != TH_OK)
        return result;
    begin_repetition(s);
    s->entry.kind->run(s, TH_VALIDATE_FRAME + 1);
    check_frames(s, TH_VALIDATE_FRAME);
    return TH_OK;
}

static void destroy(void *ctx)
{
    subject *s = ctx;
    for (int i = 0; i < SAMPLED; i++)
        th_samples_fini(&s->samples[i]);
    th_gpu_clock_destroy(s->clock);
    if (s->is_own)
        th_crowd_view_release(s->crowd_view, s->base);
    free(s);
}

static double median_of(const th_samples *samples)
{
    return th_samples_stats(samples).median;
}

/* Not known where the driver's clock is not reliable. */
static th_value gpu_us_of(const th_samples *gpu_ns)
{
    return TH_IF_KNOWN(gpu_ns->count > 0, TH_NUMBER(median_of(gpu_ns) / 1e3));
}

static void summarize(void *ctx, const th_row *baseline, th_row *row)
{
    subject *s = ctx;
    const frame_kind *kind = s->entry.kind;
    const bool has_setting = s->entry.setting != NULL;
    const double base_ns = baseline ? median_of(&baseline->real_ns) : (double)NAN;
    run_behind_others(s, TH_VALIDATE_FRAME); /* counts are of a fixed frame, so that runs can be compared */
    check_shown(s);
    const th_crowd_view_stats stats = th_crowd_view_get_stats(s->crowd_view);
    const th_crowd_view_parts parts = th_crowd_view_get_parts(s->crowd_view);
    const char *mapping = kind->on_gpu ? th_gpu_mapping_name(parts.gpu_mapping.mapping) : NULL;
    const th_figure figures[] = {
        TH_FIELD("ring_bytes", TH_COUNT(parts.ring_bytes)),
        TH_FIELD("visible", TH_COUNT(stats.visible)),
        TH_FIELD("evaluated", TH_COUNT(stats.evaluated)),
        TH_FIELD("shared", TH_COUNT(stats.shared)),
        TH_FIELD("held", TH_COUNT(stats.held)),
        TH_FIELD("palette_bytes", TH_COUNT(stats.palette_bytes)),
        TH_FIELD("vs_redraw", TH_NUMBER(median_of(&row->real_ns) / base_ns)),
        TH_FIELD("cull_ms", TH_NUMBER(median_of(&s->samples[CULL]) / 1e6)),
        TH_FIELD("wait_ms", TH_NUMBER(median_of(&s->samples[WAIT]) / 1e6)),
        TH_FIELD("pose_ms", TH_NUMBER(median_of(&s->samples[POSE]) / 1e6)),
        TH_FIELD("draw_ms", TH_NUMBER(median_of(&s->samples[DRAW]) / 1e6)),
        TH_FIELD("error_px_p50", TH_IF_GIVEN(has_setting, TH_NUMBER((double)s->error.p50))),
        TH_FIELD("error_px_p99", TH_IF_GIVEN(has_setting, TH_NUMBER((double)s->error.p99))),
        TH_FIELD("error_px_max", TH_IF_GIVEN(has_setting, TH_NUMBER((double)s->error.max))),
        TH_FIELD("gpu_us", TH_IF_GIVEN(kind->is_drawn, gpu_us_of(&s->samples[ON_GPU]))),
        TH_FIELD("gpu_mapping", TH_IF_GIVEN(kind->on_gpu, TH_TEXT(mapping))),
        TH_FIELD("serial", TH_IF_KNOWN(kind->run != redraw, TH_NUMBER(median_of(&s->samples[SERIAL])))),
    };
    if (has_setting || s->shared->crowds[s->entry.crowd].share_hz > 0)
        row->bones = stats.bones;
    row->own = th_figures_json(figures, sizeof figures / sizeof *figures);
}

/* ---- the crowd of pose/ entries, posed by the compute shader ---- */

typedef struct posed_entry {
    th_gpu_mapping mapping;
    th_format palette;
} posed_entry;

/* An entry being measured. */
typedef struct posed {
    th_bench_frames *shared;
    th_row *row;
    th_scene *scene;
    th_crowd *crowd; /* of the scalar kernel */
    th_gpu_evaluator *evaluator;
    th_ring *ring; /* palettes, and cursors behind them, as in a frame */
    th_gpu_clock *clock;
    void *palette;
    th_samples gpu_ns;
    uint64_t frame; /* the last one */
    uint32_t repetitions;
} posed;

static void run_posed(void *ctx, uint64_t frame)
{
    posed *p = ctx;
    const size_t cursors = th_crowd_palette_bytes(p->crowd);
    char *slot = th_ring_begin(p->ring);
    if (slot) {
        th_crowd_cursors(p->crowd, 0, th_crowd_batch_count(p->crowd), time_of(frame),
                         (th_device_cursor *)(void *)(slot + cursors));
        th_ring_wrote(p->ring, cursors, th_ring_get_info(p->ring).slot_bytes);
    }
    if (!slot || !th_ring_end(p->ring)) {
        th_row_fail(p->row, "the driver lost what was written");
        return;
    }
    const th_ring_binding at = th_ring_get_binding(p->ring);
    th_gpu_clock_begin(p->clock);
    th_gpu_evaluator_pose(p->evaluator, p->crowd, at, (th_ring_binding){at.buffer, at.offset + cursors});
    th_gpu_clock_end(p->clock);
    th_ring_fence(p->ring);
    th_gl_swap(p->shared->picture.gl);
    p->frame = frame;
    uint64_t ns;
    if (th_gpu_clock_read(p->clock, &ns))
        add_sample(&p->gpu_ns, (double)ns);
}

/* Puts frames in flight. */
static void begin_posed(void *ctx)
{
    posed *p = ctx;
    const uint64_t begin_ns = th_clock_ns();
    const uint32_t sampled = p->repetitions > 0 ? p->gpu_ns.count : 0;
    for (int frame = 0; is_untimed(p->shared, p->repetitions % CHECKED < 2, begin_ns, frame); frame++)
        run_posed(p, TH_VALIDATE_FRAME);
    p->gpu_ns.count = sampled;
}

static void read_posed(void *ctx, uint64_t frame)
{
    posed *p = ctx;
    th_error err;
    if (th_gpu_evaluator_read(p->evaluator, p->crowd, time_of(frame), p->palette, &err) != TH_OK)
        th_row_fail(p->row, "%s", err.text);
}

static void end_posed(void *ctx)
{
    posed *p = ctx;
    th_error err;
    th_gl_finish(p->shared->picture.gl);
    if (th_gl_check(p->shared->picture.gl, "while the GPU posed", &err) != TH_OK)
        th_row_fail(p->row, "%s", err.text);
    if (p->repetitions++ % CHECKED > 0)
        return;
    const th_validate_run_desc desc = {.scene = p->scene, .crowd = p->crowd, .palette = p->palette};
    th_gpu_read_buffer(th_ring_get_binding(p->ring), th_crowd_palette_bytes(p->crowd), p->palette);
    if (th_validate_left(&desc, p->frame, p->row, &err) != TH_OK)
        th_row_fail(p->row, "%s", err.text);
}

static th_result create_posed(const th_external_benchmark *benchmark, void *ctx, th_row *row, void **out, th_error *err)
{
    const posed_entry *entry = benchmark->what;
    posed *p = *out = calloc(1, sizeof *p);
    if (!p)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %s", benchmark->name);
    p->shared = ctx;
    p->row = row;
    const th_picture *picture = &p->shared->picture;
    th_result result = open_picture(p->shared, err);
    if (result == TH_OK)
        result = th_scene_create(p->shared->posed, &p->scene, err);
    if (result == TH_OK)
        result = th_scene_crowd(p->scene, TH_ISA_SCALAR, entry->palette, &p->crowd, err);
    if (result == TH_OK)
        result = th_crowd_check_device(p->crowd, NULL, err);
    if (result != TH_OK)
        return result;
    const th_gpu_evaluator_desc evaluator = {.gl = picture->gl,
                                             .compiled_models = p->scene->compiled_models,
                                             .compiled_model_count = p->scene->compiled_model_count,
                                             .palette = entry->palette,
                                             .mapping = entry->mapping};
    result = th_gpu_evaluator_create(&evaluator, &p->evaluator, err);
    if (result != TH_OK)
        return result;
    const size_t bytes = th_crowd_palette_bytes(p->crowd) + p->scene->instance_count * sizeof(th_device_cursor);
    const th_ring_desc ring = {.bytes = bytes, .upload = p->shared->crowds[0].upload};
    if (!th_samples_init(&p->gpu_ns, row->real_ns.capacity))
        return th_fail(err, TH_ERR_MEMORY, "no memory for %s", row->name);
    result = th_palettes_create(p->crowd, &p->palette, err);
    if (result == TH_OK)
        result = th_ring_create(picture->gl, &ring, &p->ring, err);
    if (result == TH_OK)
        result = th_gpu_clock_create(picture->gl, &p->clock, err);
    if (result != TH_OK)
        return result;
    row->threads = 1;
    row->characters = p->scene->instance_count;
    row->bones = th_crowd_bone_count(p->crowd);

    /* Its hash is that of pose/scalar/ if the driver divides as IEEE 754 says. */
    const th_validate_run_desc desc = {
        .scene = p->scene, .crowd = p->crowd, .palette = p->palette, .run = read_posed, .ctx = p};
    return th_validate_run(&desc, row, err);
}

static void destroy_posed(void *ctx)
{
    posed *p = ctx;
    th_gpu_clock_destroy(p->clock);
    th_ring_destroy(p->ring);
    th_gpu_evaluator_destroy(p->evaluator);
    th_crowd_destroy(p->crowd);
    th_scene_destroy(p->scene);
    th_samples_fini(&p->gpu_ns);
    th_palettes_destroy(p->palette);
    free(p);
}

static void summarize_posed(void *ctx, const th_row *baseline, th_row *row)
{
    const posed *p = ctx;
    (void)baseline;
    const th_figure figures[] = {TH_FIELD("gpu_us", gpu_us_of(&p->gpu_ns))};
    row->own = th_figures_json(figures, sizeof figures / sizeof *figures);
}

/* ---- the entries ---- */

enum { WHOLE, REDRAW, POSED, BY_GPU, KINDS };

static const frame_kind kinds[KINDS] = {
    [WHOLE] = {.begin = draw, .run = draw, .is_drawn = true},
    [REDRAW] = {.begin = draw, .run = redraw},
    [POSED] = {.begin = pose, .run = pose},
    [BY_GPU] = {.begin = draw, .run = draw, .is_drawn = true, .on_gpu = true},
};

#define MEASURED                                                                                                       \
    .create = create, .before = begin_repetition, .run = run_frame, .after = end_repetition, .check = check_frames,    \
    .summarize = summarize, .destroy = destroy

#define A_FRAME(which, how)                                                                                            \
    .what = &(const frame_entry){&kinds[how], which, NULL}, .shape = &per_visible[which],                              \
    .is_baseline = (how) == REDRAW, MEASURED

/* All settings are measured in turns. */
#define AN_ERROR(...)                                                                                                  \
    .what = &(const frame_entry){&kinds[POSED], TENTH_VISIBLE, &(const frame_setting){__VA_ARGS__}},                   \
    .shape = &kinds[POSED], MEASURED

#define BY_SHADER(mapping, palette)                                                                                    \
    .what = &(const posed_entry){mapping, palette}, .shape = &kinds, .create = create_posed, .before = begin_posed,    \
    .run = run_posed, .after = end_posed, .summarize = summarize_posed, .destroy = destroy_posed

static const th_external_benchmark external[] = {
    {.name = "gpu/character/f32", BY_SHADER(TH_GPU_MAPPING_CHARACTER, TH_FORMAT_F32)},
    {.name = "gpu/character/quat", BY_SHADER(TH_GPU_MAPPING_CHARACTER, TH_FORMAT_QUAT)},
    {.name = "gpu/character/quat16", BY_SHADER(TH_GPU_MAPPING_CHARACTER, TH_FORMAT_QUAT16)},
    {.name = "gpu/joint/f32", BY_SHADER(TH_GPU_MAPPING_JOINT, TH_FORMAT_F32)},
    {.name = "gpu/joint/quat", BY_SHADER(TH_GPU_MAPPING_JOINT, TH_FORMAT_QUAT)},
    {.name = "gpu/joint/quat16", BY_SHADER(TH_GPU_MAPPING_JOINT, TH_FORMAT_QUAT16)},
    {.name = "frame/all_visible/whole", A_FRAME(ALL_VISIBLE, WHOLE)},
    {.name = "frame/all_visible/redraw", A_FRAME(ALL_VISIBLE, REDRAW)},
    {.name = "frame/all_visible/posed", A_FRAME(ALL_VISIBLE, POSED)},
    {.name = "frame/all_visible/gpu", A_FRAME(ALL_VISIBLE, BY_GPU)},
    {.name = "frame/10_percent_visible/posed", A_FRAME(TENTH_VISIBLE, POSED)},
    {.name = "frame/1_percent_visible/whole", A_FRAME(HUNDREDTH_VISIBLE, WHOLE)},
    {.name = "frame/1_percent_visible/redraw", A_FRAME(HUNDREDTH_VISIBLE, REDRAW)},
    {.name = "frame/1_percent_visible/posed", A_FRAME(HUNDREDTH_VISIBLE, POSED)},
    {.name = "frame/1_percent_visible/gpu", A_FRAME(HUNDREDTH_VISIBLE, BY_GPU)},
    {.name = "error/f32", AN_ERROR(.palette = TH_FORMAT_F32)},
    {.name = "error/quat", AN_ERROR(.palette = TH_FORMAT_QUAT)},
    {.name = "error/quat16", AN_ERROR(.palette = TH_FORMAT_QUAT16)},
    {.name = "error/share:30", AN_ERROR(.share_hz = 30)},
    {.name = "error/share:60", AN_ERROR(.share_hz = 60)},
    {.name = "error/share:120", AN_ERROR(.share_hz = 120)},
    {.name = "error/share_all:60", AN_ERROR(.share_hz = 60, .all_share = true)},
    {.name = "error/joints", AN_ERROR(.joint_lod = true)},
    {.name = "error/joints,share:60", AN_ERROR(.joint_lod = true, .share_hz = 60)},
    {.name = "error/hold:2", AN_ERROR(.hold = 2)},
    {.name = "error/hold:3", AN_ERROR(.hold = 3)},
    {.name = "error/hold:4", AN_ERROR(.hold = 4)},
    {.name = "error/joints,hold:2", AN_ERROR(.joint_lod = true, .hold = 2)},
};

th_external_benchmarks th_bench_frames_external(th_bench_frames *entries)
{
    return (th_external_benchmarks){external, sizeof external / sizeof *external, entries, describe};
}

#include "load_test_gl.h"

#include <runtime/pose_plan.h>

#include <math.h>

/* Bytes for each character in the lists of motions, walks, weaves, spheres, transforms and visible characters. */
enum { LISTED_BYTES = 160 };

/* Slots have room to spare (ring.h). */
#define SLOT_COPIES 1.25

th_result th_load_test_gl_init(th_load_test_gl *c, const th_crowd_view_desc *crowd, const th_crowd_behaviour *behaviour,
                               const th_target_desc *picture, th_error *err)
{
    *c = (th_load_test_gl){.crowd = *crowd, .behaviour = *behaviour, .measures_errors = crowd->error_every > 0};
    c->crowd.error_every = 0; /* frames that are timed are not measured */
    return th_picture_open(&c->picture, picture, err);
}

void th_load_test_gl_fini(th_load_test_gl *c)
{
    th_crowd_view_release(c->all, c->one);
    th_crowd_view_destroy(c->one);
    th_picture_close(&c->picture);
}

static void release(th_load_test_gl *c)
{
    th_crowd_view_release(c->all, c->one);
    c->all = NULL;
}

static bool draw_frame(th_load_test_gl *c, uint64_t number)
{
    th_jobs *jobs = th_crowd_view_get_parts(c->all).jobs;
    th_shown_next(&c->shown, number, (double)number / TH_FRAME_RATE);
    th_tracer_frame_begin(c->picture.tracer, jobs, number);
    const bool drawn = th_picture_draw(&c->picture, c->all, (double)number / TH_FRAME_RATE, &c->shown.camera);
    th_tracer_frame_end(c->picture.tracer, jobs);
    return drawn;
}

static void draw(void *ctx, uint64_t number)
{
    draw_frame(ctx, number);
}

static th_result prepare(void *ctx, uint32_t threads, uint32_t characters, th_error *err)
{
    th_load_test_gl *c = ctx;
    th_result result = TH_OK;
    release(c);
    th_crowd_view_desc desc = c->crowd;
    if (!c->one || c->crowd.jobs.threads != threads) {
        th_crowd_view *successor;
        c->crowd.jobs.threads = desc.jobs.threads = threads;
        desc.count = 1;
        result = th_crowd_view_build(&desc, &c->behaviour, c->one, c->picture.gl, &successor, err);
        if (result != TH_OK)
            return result;
        th_crowd_view_release(c->one, successor);
        c->one = successor;
    }
    desc.count = characters;
    result = th_crowd_view_build(&desc, &c->behaviour, c->one, c->picture.gl, &c->all, err);
    if (result != TH_OK)
        return result;
    /* Once, and again where crowds of another size are posed another way. */
    const th_gpu_mapping mapping = th_crowd_view_get_parts(c->all).gpu_mapping.mapping;
    if (!c->has_complained || mapping != c->gpu_mapping)
        th_complain_of_evaluator(c->all);
    if (!c->has_complained)
        th_complain_of_meshes(c->all);
    c->has_complained = true;
    c->gpu_mapping = mapping;
    c->shown.crowd_view = c->all;
    c->shown.asked = desc;
    c->shown.size = c->picture.size;
    c->shown.camera = th_crowd_view_camera(c->all, th_picture_aspect(&c->picture), HUGE_VAL);
    for (uint64_t slot = 0; slot < TH_RING_SLOTS; slot++)
        if (!draw_frame(c, slot))
            return th_fail(err, TH_ERR_MEMORY, "%s has no memory for the palettes of %u characters",
                           th_gl_get_info(c->picture.gl)->renderer, characters);
    return TH_OK;
}

static th_crowd_view_stats read_stats(const th_load_test_gl *c)
{
    th_crowd_view_await_stats(c->all);
    return th_crowd_view_get_stats(c->all);
}

static uint32_t count_visible(const void *ctx)
{
    return read_stats(ctx).visible;
}

static th_stress_poses count_poses(const void *ctx)
{
    const th_load_test_gl *c = ctx;
    const th_crowd_view_stats stats = read_stats(c);
    return (th_stress_poses){.evaluated = stats.evaluated,
                             .shared = stats.shared,
                             .held = stats.held,
                             .apart = stats.apart,
                             .bones = c->crowd.budget.ms > 0 ? 0 : stats.bones,
                             .tolerance_px = stats.tolerance_px};
}

/* Of a crowd instead of the one that was drawn. A measured frame is posed by the CPU in any case. */
static th_result measure_errors(void *ctx, const th_stress_error_desc *asked, th_stress_error *out, uint32_t *out_count,
                                th_error *err)
{
    th_load_test_gl *c = ctx;
    const th_target_desc *size = &c->picture.size;
    th_crowd_view_desc desc = c->crowd;
    desc.count = th_crowd_view_get_parts(c->all).scene->instance_count;
    desc.error_every = asked->every;
    desc.evaluator = TH_EVALUATOR_CPU;
    *out_count = 0;
    th_gl_finish(c->picture.gl);
    release(c);
    const th_result result = th_crowd_view_build(&desc, &c->behaviour, c->one, c->picture.gl, &c->all, err);
    if (result != TH_OK)
        return result;
    for (uint32_t frame = 0; frame < asked->frames && !(asked->stop && *asked->stop); frame++) {
        if (!th_crowd_view_pose(c->all, frame / TH_FRAME_RATE, &c->shown.camera, size->width, size->height))
            return th_fail(err, TH_ERR_MEMORY, "no memory for the error on screen, or the driver lost frame %u", frame);
        const th_crowd_view_stats stats = th_crowd_view_get_stats(c->all);
        const th_screen_error_stats *e = &stats.error;
        const double tolerance_px = th_budget_is_set(&c->crowd.budget) ? stats.tolerance_px : HUGE_VAL;
        if (stats.error_ns > 0 && e->count > 0)
            out[(*out_count)++] =
                (th_stress_error){frame, (double)e->p50, (double)e->p99, (double)e->max, tolerance_px};
    }
    return TH_OK;
}

static void trace(void *ctx, th_tracer *tracer)
{
    th_load_test_gl *c = ctx;
    c->picture.tracer = tracer;
    th_crowd_view_trace(c->all, tracer);
}

/* What the last timed frame has left, and a frame at any time, behind others. */
static void check(void *ctx, th_row *row)
{
    th_load_test_gl *c = ctx;
    th_error err;
    bool ok = th_shown_check(&c->shown, &row->draws, &err);
    const uint64_t number = th_draws_next(&row->draws) % TH_SHOWN_FRAMES;
    for (uint32_t i = 0; i < TH_RING_SLOTS + th_crowd_view_most_hold(&c->crowd) && ok; i++)
        draw_frame(c, number + i);
    if (!ok || !th_shown_check(&c->shown, &row->draws, &err))
        th_row_fail(row, "%s", err.text);
    else
        th_picture_check(&c->picture, c->all, &c->shown.camera, row);
}

static th_result finish(void *ctx, th_error *err)
{
    th_load_test_gl *c = ctx;
    th_gl_finish(c->picture.gl);
    release(c);
    return th_gl_check(c->picture.gl, "while the crowd was drawn", err);
}

static json_t *describe(const void *ctx)
{
    const th_load_test_gl *c = ctx;
    return c->one ? th_picture_json(&c->picture, c->one, &c->crowd) : NULL;
}

th_stress_renderer th_load_test_gl_renderer(th_load_test_gl *c)
{
    const uint32_t hold = th_crowd_view_most_hold(&c->crowd);
    const double copies = SLOT_COPIES * (TH_RING_SLOTS - 1 + hold);
    /* Measuring the error on screen takes the palettes that are drawn once more, and those of the full evaluation. */
    const double f32 = (double)th_palette_entry_bytes(TH_FORMAT_F32);
    const double error_copies = 1.25 * (hold + f32 / (double)th_palette_entry_bytes(c->crowd.palette));
    return (th_stress_renderer){
        .prepare = prepare,
        .frame = draw,
        .visible = count_visible,
        .poses = count_poses,
        .errors = measure_errors,
        .trace = trace,
        .check = check,
        .finish = finish,
        .describe = describe,
        .palette_copies = copies + (c->measures_errors ? error_copies : 0),
        .character_bytes = (size_t)(copies * (sizeof(th_gpu_instance) + sizeof(th_device_cursor))) + LISTED_BYTES,
        .needs_cpus = th_gl_get_info(c->picture.gl)->software,
        .ctx = c,
    };
}

/* Inside, since crowds are drawn in contexts of the test. Crowds drawn for the stress test, in tiny pictures. */
#include "fixture_coarse_human.h"
#include "fixture_gl.h"
#include "src/cli/commands/load_test_gl.h"
#include <cli/options.h>

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { WIDTH = 64, HEIGHT = 36, BYTES = WIDTH * HEIGHT * 4 };

static th_error err;
static th_options options;
static th_model_set model_set;
static th_load_test_gl crowd;
static th_stress_renderer renderer;

static void open_crowd(void)
{
    static char draw_it[] = "--draw", size[] = "--size=64x36", shadow[] = "--shadow=64", error[] = "--error=10";
    char *const words[] = {draw_it, size, shadow, error};
    open_gl(); /* or the suite is skipped */
    close_gl();
    th_run run;
    cr_assert_eq(th_options_parse(&options, &run, th_command_find("stress"), 4, words, &err), TH_OK, "%s", err.text);
    cr_assert_eq(th_model_set_init(&model_set, &options.models, NULL, &err), TH_OK);
    coarsen_human(model_set.models[0], COARSE);
    const th_crowd_view_desc desc = th_model_set_crowd_view_desc(&model_set, &options.crowd);
    cr_assert_eq(th_load_test_gl_init(&crowd, &desc, &options.behaviour, &options.picture, &err), TH_OK, "%s",
                 err.text);
    renderer = th_load_test_gl_renderer(&crowd);
}

static void close_crowd(void)
{
    th_load_test_gl_fini(&crowd);
    th_model_set_fini(&model_set);
}

TestSuite(load_test_gl, .init = open_crowd, .fini = close_crowd);

static void prepare(uint32_t threads, uint32_t characters)
{
    cr_assert_eq(renderer.prepare(renderer.ctx, threads, characters, &err), TH_OK, "%s", err.text);
    cr_expect_eq(th_jobs_threads(th_crowd_view_get_parts(crowd.all).jobs), threads);
}

/* The picture of a frame that was drawn behind some others. */
static void draw(uint64_t number, uint8_t pixels[BYTES])
{
    for (int i = 0; i < 3; i++)
        renderer.frame(renderer.ctx, 7);
    renderer.frame(renderer.ctx, number);
    th_target_read(crowd.picture.target, pixels);
}

static void finish(void)
{
    cr_expect_eq(renderer.finish(renderer.ctx, &err), TH_OK, "%s", err.text);
}

Test(load_test_gl, has_all_characters_in_the_picture)
{
    static const uint32_t numbers[] = {1, 2, 60, 600};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        prepare(1, numbers[i]);
        cr_expect_eq(renderer.visible(renderer.ctx), numbers[i]);
    }
    finish();
}

Test(load_test_gl, says_how_many_poses_a_budget_left)
{
    prepare(1, 600);
    cr_expect_eq(renderer.poses(renderer.ctx).evaluated, 600);
    cr_expect_eq(renderer.poses(renderer.ctx).shared, 0);
    crowd.crowd.budget.bones = 300 * 52;
    prepare(1, 600);
    const th_stress_poses poses = renderer.poses(renderer.ctx);
    cr_expect_eq(poses.evaluated + poses.shared + poses.held, 600, "%u, %u, %u", poses.evaluated, poses.shared,
                 poses.held);
    cr_expect_gt(poses.tolerance_px, 0);
    cr_expect(poses.bones > 0 && poses.bones <= poses.evaluated * 52u && poses.bones <= crowd.crowd.budget.bones);
    crowd.crowd.budget = (th_budget_desc){.ms = 10};
    prepare(1, 600);
    cr_expect_eq(renderer.poses(renderer.ctx).bones, 0, "it is another number in the next frame");
    crowd.crowd.budget = (th_budget_desc){0};
    finish();
}

/* The same as of a crowd of which that frame is the first. */
Test(load_test_gl, measures_frames_that_are_not_timed)
{
    const th_stress_error_desc asked = {.frames = 25, .every = 10};
    th_stress_error errors[3];
    uint32_t count;
    crowd.crowd.share_hz = 30;
    crowd.crowd.far_lod = 0;
    prepare(2, 300);
    for (uint64_t i = 0; i < 5; i++)
        renderer.frame(renderer.ctx, i);
    cr_expect_eq(th_crowd_view_get_stats(crowd.all).error_ns, 0);
    cr_expect_eq(th_crowd_view_get_stats(crowd.all).error.count, 0, "timed frames are not measured");
    cr_assert_eq(renderer.errors(renderer.ctx, &asked, errors, &count, &err), TH_OK, "%s", err.text);
    cr_assert_eq(count, 3);
    th_crowd_view_desc single = crowd.crowd;
    single.count = 300;
    single.error_every = 1;
    single.jobs.threads = 1;
    for (uint32_t i = 0; i < count; i++) {
        th_crowd_view *view;
        cr_assert_eq(th_crowd_view_create(&single, crowd.picture.gl, &view, &err), TH_OK, "%s", err.text);
        const th_camera camera = th_crowd_view_camera(view, th_picture_aspect(&crowd.picture), (double)INFINITY);
        cr_assert(th_crowd_view_pose(view, 10 * i / TH_FRAME_RATE, &camera, WIDTH, HEIGHT));
        const th_screen_error_stats wanted = th_crowd_view_get_stats(view).error;
        th_crowd_view_destroy(view);
        cr_expect_eq(wanted.count, 300);
        cr_expect_eq(errors[i].frame, 10 * i);
        cr_expect(errors[i].p50_px > 0 && errors[i].p50_px < errors[i].p99_px && errors[i].p99_px <= errors[i].max_px);
        cr_expect_eq(errors[i].p50_px, (double)wanted.p50);
        cr_expect_eq(errors[i].p99_px, (double)wanted.p99);
        cr_expect_eq(errors[i].max_px, (double)wanted.max);
    }
    prepare(2, 300);
    renderer.frame(renderer.ctx, 5);
    cr_expect_eq(th_crowd_view_get_stats(crowd.all).error.count, 0);
    finish();
}

Test(load_test_gl, stops_measuring_when_it_is_told_to)
{
    const volatile sig_atomic_t stop = 1;
    const th_stress_error_desc asked = {.frames = 25, .every = 1, .stop = &stop};
    th_stress_error errors[25];
    uint32_t count = 7;
    prepare(1, 3);
    cr_assert_eq(renderer.errors(renderer.ctx, &asked, errors, &count, &err), TH_OK, "%s", err.text);
    cr_expect_eq(count, 0);
    finish();
}

/* A copy of what is drawn, and one in f32, with a quarter to spare. */
Test(load_test_gl, counts_the_memory_of_errors)
{
    static const th_format palettes[] = {TH_FORMAT_F32, TH_FORMAT_QUAT16};
    static const double copies[] = {1.25 * 2, 1.25 * 4};
    for (int i = 0; i < 2; i++) {
        double found[2];
        for (uint32_t measured = 0; measured < 2; measured++) {
            th_load_test_gl test = {0};
            th_crowd_view_desc desc = crowd.crowd;
            desc.palette = palettes[i];
            desc.error_every = 10 * measured;
            cr_assert_eq(th_load_test_gl_init(&test, &desc, &options.behaviour, &options.picture, &err), TH_OK, "%s",
                         err.text);
            found[measured] = th_load_test_gl_renderer(&test).palette_copies;
            th_load_test_gl_fini(&test);
        }
        cr_expect_float_eq(found[1] - found[0], copies[i], 1e-9);
    }
}

/* Says something else of the frame that was drawn, which must be found; and what is right, then. */
static void expect_found(const char *words, th_shown right)
{
    th_draws draws = {7, 0};
    cr_expect(!th_shown_check(&crowd.shown, &draws, &err) && strstr(err.text, words), "%s: %s", words, err.text);
    crowd.shown = right;
}

Test(load_test_gl, finds_what_was_not_asked_for)
{
    crowd.crowd.share_hz = 30;
    crowd.crowd.far_lod = crowd.crowd.shadow_pixels = 0;
    prepare(1, 300);
    renderer.frame(renderer.ctx, 10);
    th_shown right = crowd.shown;
    cr_expect(th_shown_check(&right, &(th_draws){7, 0}, &err), "%s", err.text);
    crowd.shown.asked.share_hz = 240;
    expect_found("double-precision reference", right);
    crowd.shown.asked.far_lod = 10;
    expect_found("double-precision reference", right);
    crowd.shown.moments_s[0] += 0.2;
    expect_found("double-precision reference", right);
    crowd.shown.size = (th_target_desc){.width = 2 * WIDTH, .height = 2 * HEIGHT};
    expect_found("level of detail", right);
    crowd.shown.asked.count--;
    expect_found("somebody is drawn", right);
    th_camera_turn(&crowd.shown.camera, 0.8F, 0);
    expect_found("is drawn and is out of sight", right);
    th_camera_turn(&crowd.shown.camera, 0.8F, 0);
    renderer.frame(renderer.ctx, 10);
    crowd.shown.camera = right.camera;
    expect_found("is not drawn where it stands", right);
    finish();
}

/* What many crowds share is nobody's alone: one of them goes, or the number of threads changes. */
Test(load_test_gl, draws_the_same_whoever_was_there_before)
{
    static uint8_t first[BYTES], later[BYTES], other[BYTES];
    prepare(1, 40);
    draw(90, first);
    draw(120, other);
    cr_expect_neq(memcmp(first, other, BYTES), 0, "time goes on");
    prepare(2, 1);
    draw(90, other);
    cr_expect_neq(memcmp(first, other, BYTES), 0);
    finish();
    prepare(2, 40);
    draw(90, later);
    cr_expect_eq(memcmp(first, later, BYTES), 0);
    prepare(1, 40);
    finish();
    prepare(1, 40);
    draw(90, later);
    cr_expect_eq(memcmp(first, later, BYTES), 0);
    finish();
}

Test(load_test_gl, says_what_the_picture_is)
{
    cr_expect_null(renderer.describe(renderer.ctx));
    prepare(1, 2);
    json_t *picture = renderer.describe(renderer.ctx);
    cr_expect_eq(json_integer_value(json_object_get(picture, "height")), HEIGHT);
    cr_expect_str_eq(json_string_value(json_object_get(picture, "layout")), "grid");
    cr_expect_eq(json_is_true(json_object_get(picture, "software")), renderer.needs_cpus);
    json_decref(picture);
    finish();
}

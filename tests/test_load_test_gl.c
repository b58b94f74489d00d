/* Crowds drawn for the stress test, in tiny pictures. */
#include "fixture_context.h"
#include "src/cli/load_test_gl.h"
#include "src/cli/options.h"

#include <criterion/criterion.h>
#include <string.h>

enum { WIDTH = 64, HEIGHT = 36, BYTES = WIDTH * HEIGHT * 4 };

static th_error err;
static th_options options;
static th_model_set model_set;
static th_load_test_gl crowd;
static th_stress_renderer renderer;

static void open_crowd(void)
{
    static char draw_it[] = "--draw", size[] = "--size=64x36", shadow[] = "--shadow=64";
    char *const words[] = {draw_it, size, shadow};
    close_context(open_context()); /* or the suite is skipped */
    th_run run;
    cr_assert_eq(th_options_parse(&options, &run, th_command_find("stress"), 3, words, &err), TH_OK, "%s", err.text);
    cr_assert_eq(th_model_set_init(&model_set, &options.models, NULL, &err), TH_OK);
    const th_crowd_view_desc desc = th_model_set_crowd_view_desc(&model_set, &options.crowd);
    cr_assert_eq(th_load_test_gl_init(&crowd, &desc, &options.picture, &err), TH_OK, "%s", err.text);
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
    cr_expect_eq(th_jobs_threads(th_crowd_view_jobs(crowd.all)), threads);
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
    cr_expect(poses.evaluated <= 300 && poses.evaluated + poses.shared == 600, "%u, %u", poses.evaluated, poses.shared);
    cr_expect_gt(poses.tolerance_px, 0);
    crowd.crowd.budget.bones = 0;
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

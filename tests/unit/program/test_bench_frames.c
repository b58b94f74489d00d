/* Inside, since the entries draw in contexts of the test. The bench's entries that draw, in tiny pictures. Times are
 * not looked at. */
#include "fixture_coarse_human.h"
#include "src/cli/commands/bench_frames.h"
#include <cli/options.h>

#include <bench/bench.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static th_error err;

/* "bench --count 3". What it says is good until the next call. */
static th_options parse(const char *arguments)
{
    static char line[256];
    char *words[32];
    int count = 0;
    snprintf(line, sizeof line, "%s", arguments);
    for (char *word = strtok(line, " "); word; word = strtok(NULL, " "))
        words[count++] = word;
    th_options o;
    th_run run;
    cr_assert_eq(th_options_parse(&o, &run, th_command_find(words[0]), count - 1, words + 1, &err), TH_OK, "%s",
                 err.text);
    return o;
}

/* ---- entries ---- */

static th_report report_of(const th_options *o)
{
    th_model_set model_set;
    th_report report;
    th_bench_frames entries;
    cr_assert_eq(th_model_set_init(&model_set, &o->models, NULL, &err), TH_OK);
    coarsen_human(model_set.models[0], COARSE);
    const th_crowd_view_desc drawn = th_model_set_crowd_view_desc(&model_set, &o->crowd);
    const th_scene_desc scene = th_model_set_scene_desc(&model_set, &o->crowd, &o->behaviour);
    th_bench_frames_init(&entries, &drawn, &o->picture, &scene);
    const th_external_benchmarks external = th_bench_frames_external(&entries);
    const th_bench_desc desc = {
        .scene = scene,
        .threads = 1,
        .measure = o->measure,
        .filter = o->filter,
        .external = &external,
    };
    cr_assert_eq(th_bench_run(&desc, &report, &err), TH_OK, "%s", err.text);
    th_bench_frames_fini(&entries);
    th_model_set_fini(&model_set);
    const th_row *missing = th_report_skipped(&report);
    if (missing)
        cr_skip_test("no OpenGL here: %s", missing->failure);
    return report;
}

#define TINY "bench --size 64x36 --shadow 64 --repetitions 2 --frames 2"

static const th_row *row_of(const th_report *report, const char *name)
{
    uint32_t r = 0;
    while (r < report->row_count && strcmp(report->rows[r].name, name) != 0)
        r++;
    cr_assert_lt(r, report->row_count, "no %s", name);
    return &report->rows[r];
}

static double figure(const th_row *row, const char *name)
{
    const json_t *value = json_object_get(row->own, name);
    cr_assert(json_is_number(value), "%s has no %s", row->name, name);
    return json_number_value(value);
}

/* forward: of the same crowd. */
static void expect_picture(const th_report *report, const char *name, uint32_t per_visible, const th_row *forward)
{
    const bool many = per_visible > 1;
    char redraw[64];
    const th_row *row = row_of(report, name);
    snprintf(redraw, sizeof redraw, "%.*s/redraw", (int)(strrchr(name, '/') - name), name);
    cr_expect_str_eq(row->failure, "");
    cr_expect_eq(row->real_ns.count, 2);
    cr_expect_eq(row->characters, 12 * per_visible, "%s", name);
    cr_expect_eq(row->bones, row->characters * forward->bones / 12);
    if (per_visible != 10)
        cr_expect_float_eq(
            figure(row, "vs_redraw"),
            th_samples_stats(&row->real_ns).median / th_samples_stats(&row_of(report, redraw)->real_ns).median, 1e-9);
    const double visible = figure(row, "visible");
    cr_expect(many ? visible > 6 && visible <= 12 : visible == 12, "%s: %g", name, visible);
    const bool poses = strcmp(name, redraw) != 0, draws = !strstr(name, "posed");
    cr_expect_eq(figure(row, "cull_ms") > 0, poses, "%s", name);
    cr_expect_eq(figure(row, "pose_ms") > 0, poses, "%s", name);
    const bool by_gpu = strstr(name, "/gpu") != NULL; /* which culls, too: workers do nothing, and no palettes go */
    if (poses)
        cr_expect(figure(row, "serial") > 0 && figure(row, "serial") < 1 + by_gpu, "%s: %g", name,
                  figure(row, "serial"));
    if (!by_gpu)
        cr_expect_geq(figure(row, "ring_bytes"), TH_RING_SLOTS * visible * (52 * 48 + 32));
    cr_expect(!draws || figure(row, "draw_ms") > 0, "%s", name);
}

Test(bench_frames, say_what_they_drew_and_where_the_time_went)
{
    static const char *const whats[] = {"whole", "redraw", "posed", "gpu"};
    const th_options o = parse(TINY " --count 12 --filter ^frame/|^play/forward");
    th_report report = report_of(&o);
    cr_assert_eq(report.row_count, 10);
    for (size_t i = 0; i < 8; i++) {
        char name[64];
        snprintf(name, sizeof name, "frame/%s/%s", i < 4 ? "all_visible" : "1_percent_visible", whats[i % 4]);
        expect_picture(&report, name, i < 4 ? 1 : 100, &report.rows[0]);
    }
    expect_picture(&report, "frame/10_percent_visible/posed", 10, &report.rows[0]);
    const json_t *gpu = row_of(&report, "frame/1_percent_visible/gpu")->own;
    cr_expect(json_is_string(json_object_get(gpu, "gpu_mapping")));
    cr_expect(json_is_null(json_object_get(gpu, "gpu_us")), "llvmpipe's clock is not trusted");
    cr_expect_eq(json_integer_value(json_object_get(report.picture, "width")), 64);
    cr_expect_not_null(json_object_get(report.picture, "renderer"));
    th_report_fini(&report);
}

/* f32 is the full evaluation. */
Test(bench_frames, state_the_error_on_screen_of_settings)
{
    static const char *const names[] = {
        "error/f32",       "error/quat",         "error/quat16",       "error/share:30",        "error/share:60",
        "error/share:120", "error/share_all:60", "error/joints",       "error/joints,share:60", "error/hold:2",
        "error/hold:3",    "error/hold:4",       "error/joints,hold:2"};
    enum { COUNT = sizeof names / sizeof *names };
    th_options o = parse("bench --size 1920x1080 --samples 1 --shadow 64 --repetitions 2 --frames 2 --count 8 "
                         "--filter ^error/");
    o.crowd.layout = TH_LAYOUT_STREET;
    th_report report = report_of(&o);
    cr_assert_eq(report.row_count, COUNT);
    double p99[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        const th_row *row = row_of(&report, names[i]);
        cr_expect_str_eq(row->failure, "");
        cr_expect_eq(row->real_ns.count, 2);
        cr_expect_eq(row->characters, 80);
        cr_expect(figure(row, "visible") > 0 && figure(row, "visible") < 80);
        cr_expect_gt(figure(row, "pose_ms"), 0);
        p99[i] = figure(row, "error_px_p99");
        cr_expect(figure(row, "error_px_p50") <= p99[i] && p99[i] <= figure(row, "error_px_max"));
    }
    cr_expect_eq(p99[0], 0);
    cr_expect(p99[1] > 0 && p99[1] < 0.02, "%g", p99[1]);
    cr_expect(p99[2] > 0 && p99[2] < 0.02, "%g", p99[2]);
    cr_expect(p99[6] > 1, "who is near shows the pose of another: %g", p99[6]);
    for (int i = 3; i < 6; i++)
        cr_expect_lt(p99[i], p99[6]);
    cr_expect_eq(p99[7], 0, "who is near has all joints: %g", p99[7]);
    cr_expect_eq(p99[8], p99[4]);
    for (int i = 9; i < 13; i++)
        cr_expect_eq(p99[i], 0, "who is near holds no pose");
    th_report_fini(&report);
}

Test(bench_frames, state_the_error_on_screen_of_held_poses)
{
    static const char *const names[] = {"error/hold:2", "error/hold:3", "error/hold:4"};
    th_options o = parse("bench --size 640x360 --samples 1 --shadow 64 --repetitions 2 --frames 8 --count 24 "
                         "--filter ^error/hold");
    o.crowd.layout = TH_LAYOUT_STREET;
    o.crowd.far_lod = 0;
    th_report report = report_of(&o);
    cr_assert_eq(report.row_count, 3);
    double p99 = 0;
    for (size_t i = 0; i < 3; i++) {
        const th_row *row = row_of(&report, names[i]);
        const double now = figure(row, "error_px_p99"), held = figure(row, "held"),
                     listed = figure(row, "evaluated") + held, hold = (double)i + 2;
        cr_expect_str_eq(row->failure, "");
        cr_expect_gt(now, p99, "longer is farther off");
        cr_expect_float_eq(held / listed, 1 - 1 / hold, 0.25, "%g of %g", held, listed);
        p99 = now;
    }
    th_report_fini(&report);
}

Test(bench_frames, run_alone)
{
#define ALONE TINY " --count 3 --filter ^frame/"
    static const char *const lines[] = {ALONE "all_visible/whole$", ALONE "all_visible/redraw$",
                                        ALONE "1_percent_visible/posed$"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const th_options o = parse(lines[i]);
        th_report report = report_of(&o);
        cr_assert_eq(report.row_count, 1);
        cr_expect(report.rows[0].real_ns.count == 2 && report.rows[0].failure[0] == '\0', "%s", lines[i]);
        cr_expect_eq(json_is_null(json_object_get(report.rows[0].own, "vs_redraw")), i != 1, "%s", lines[i]);
        th_report_fini(&report);
    }
}

/* ---- entries that the GPU poses ---- */

/* With the palettes of the scalar kernel. */
Test(bench_frames, the_gpu_poses_what_the_scalar_kernel_poses)
{
    static const char *const formats[] = {"f32", "quat", "quat16"};
    const th_options o = parse(TINY " --count 40 --filter ^gpu/|^pose/scalar/");
    th_report report = report_of(&o);
    cr_assert_eq(report.row_count, 9);
    for (int f = 0; f < 6; f++) {
        char name[2][64];
        snprintf(name[0], sizeof name[0], "gpu/%s/%s", f < 3 ? "character" : "joint", formats[f % 3]);
        snprintf(name[1], sizeof name[1], "pose/scalar/%s", formats[f % 3]);
        const th_row *gpu = row_of(&report, name[0]), *scalar = row_of(&report, name[1]);
        cr_expect_str_eq(gpu->failure, "", "%s: %s", name[0], gpu->failure);
        cr_expect(gpu->checked && gpu->moving && gpu->real_ns.count == 2, "%s", name[0]);
        cr_expect_eq(gpu->bones, scalar->bones);
        cr_expect_eq(gpu->palette_hash, scalar->palette_hash, "%s", name[0]);
        cr_expect(json_object_get(gpu->own, "gpu_us"), "%s", name[0]);
    }
    th_report_fini(&report);
}

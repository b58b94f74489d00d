/* `throng render` from outside: pictures, what is said of them, and what goes wrong. */
#include "fixture_program.h"

#include <criterion/criterion.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is faster to start with, and to draw, than the human. */
#define RIG "--model synthetic:joints=20,clips=2"

static char picture[2][1 << 21];

/* No OpenGL at all is no failure of the program's. */
static void make_folder_and_try(void)
{
    make_folder();
    need_opengl();
}

TestSuite(render, .init = make_folder_and_try, .fini = remove_folder);

static size_t read_picture(const char *name, char *into)
{
    FILE *file = fopen(name, "rb");
    cr_assert_neq(file, NULL, "%s", name);
    const size_t bytes = fread(into, 1, sizeof picture[0], file);
    fclose(file);
    return bytes;
}

static bool are_same(const char *one, const char *other)
{
    const size_t a = read_picture(one, picture[0]), b = read_picture(other, picture[1]);
    return a == b && memcmp(picture[0], picture[1], a) == 0;
}

/* The same crowd in a small picture, some other way. */
static void draw(const char *name, const char *options)
{
    char line[256];
    snprintf(line, sizeof line, "render " RIG " --count 40 --size 160x90 --start 1.5 --out %s %s", name, options);
    expect(0, line, "");
    cr_assert_eq(access(name, F_OK), 0, "%s", line);
}

/* Looks and scenes: test_golden_render.c. */
Test(render, shows_what_it_is_told)
{
    static const char *const ways[] = {"--palette quat16", "--shadow 0",   "--scene ring",
                                       "--seed 2",         "--start 1.6",  "--camera 60",
                                       "--samples 1",      "--clip 1",     "--interpolation step",
                                       "--camera ,,2",     "--camera ,60", "--model synthetic:shape=star"};
    draw("first.png", "");
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        const char *start = strstr(ways[i], "--start") ? "" : "--start 1.5";
        char options[256];
        snprintf(options, sizeof options, "render --count 40 --size 160x90 --out other.png %s %s %s", start, ways[i],
                 strstr(ways[i], "--model") ? "" : RIG);
        expect(0, options, "");
        cr_expect(!are_same("first.png", "other.png"), "%s changes nothing", ways[i]);
    }
}

Test(render, numbers_frames_and_moves_on)
{
    expect(0, "render " RIG " --count 8 --size 64x36 --frames 3 --out f-%02d.png", "");
    cr_expect(access("f-00.png", F_OK) == 0 && access("f-02.png", F_OK) == 0 && access("f-03.png", F_OK) != 0);
    cr_expect(!are_same("f-00.png", "f-01.png"));
    expect(0, "render " RIG " --count 8 --size 64x36 --start 0.0666666666666667 --out one.png", "");
    cr_expect(are_same("f-02.png", "one.png"), "two thirtieths of a second later");
}

/* Levels of detail add up. Returns how many there are in a frame. */
static double check_levels(const json_t *json, const char *what)
{
    char key[64];
    snprintf(key, sizeof key, "%s_per_frame", what);
    const double count = json_real_value(json_object_get(json, key));
    snprintf(key, sizeof key, "%s_by_lod", what);
    const json_t *levels = json_object_get(json, key), *level;
    double sum = 0;
    size_t n;
    cr_expect_eq(json_array_size(levels), 10);
    json_array_foreach(levels, n, level) sum += json_real_value(level);
    cr_expect(count > 0 && fabs(sum - count) < 1e-6 * count, "%s: %g, %g by level", what, count, sum);
    return count;
}

static double real(const json_t *json, const char *key)
{
    return json_real_value(json_object_get(json, key));
}

static double sum_of(const json_t *json, const char *key)
{
    double sum = 0;
    size_t i;
    const json_t *value;
    json_array_foreach(json_object_get(json, key), i, value) sum += json_real_value(value);
    return sum;
}

/* Who shares or holds a pose is not evaluated; with a behaviour nobody shares, and that is said. More are listed than
 * drawn where shadows come in from outside. */
Test(render, document_counts_who_was_drawn_and_how)
{
    static const struct {
        const char *options;
        bool saves, keeps_apart, has_fewer_bones, has_shadows_of_others;
    } cases[] = {
        {"--count 300", false, false, false, false},
        {"--count 300 --camera ,,0.05 --share 30", true, false, false, false},
        {"--count 300 --camera ,,0.05 --share 30 --behaviour graph", false, true, false, false},
        {"--count 300 --frames 4 --animation-budget bones:1500", true, false, true, false},
        {"--count 3000 --camera ,40,3", false, false, false, true},
        {"--count 3000 --camera ,40,3 --shadow 0", false, false, false, false},
    };
    double bytes = 0;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char line[256];
        snprintf(line, sizeof line, "render " RIG " --size 64x36 --out f%%d.png --json %s", cases[c].options);
        json_t *json = document(line);
        const double listed = check_levels(json, "listed"), drawn = check_levels(json, "drawn");
        const double evaluated = real(json, "evaluated_per_frame"), bones = real(json, "bones_per_frame");
        const double held = real(json, "held_per_frame"), saved = real(json, "shared_per_frame") + held;
        const int characters = atoi(cases[c].options + strlen("--count "));
        cr_expect_eq(json_integer_value(json_object_get(json, "width")), 64);
        cr_expect_eq(json_integer_value(json_object_get(json, "characters")), characters);
        cr_expect(json_is_string(json_object_get(json, "renderer")));
        cr_expect_eq(json_object_size(json_object_get(json, "ms_per_frame")), 6);
        cr_expect_eq(evaluated + saved, listed, "%s", line);
        cr_expect_eq(sum_of(json, "listed_by_joint_level"), listed, "%s", line);
        cr_expect(cases[c].saves ? evaluated < 0.9 * listed : saved == 0, "%s: %g of %g", line, saved, listed);
        cr_expect(held == 0 || cases[c].has_fewer_bones, "%s", line);
        cr_expect_eq(drawn < 0.5 * characters, characters == 3000, "%s", line);
        cr_expect_eq(real(json, "apart_per_frame") > 0, cases[c].keeps_apart, "%s", line);
        cr_expect(cases[c].has_fewer_bones ? bones < 10 * listed : bones == 20 * evaluated, "%s: %g", line, bones);
        cr_expect(cases[c].has_shadows_of_others ? drawn < listed && listed < 1.5 * drawn : listed == drawn, "%s: %g",
                  line, drawn);
        bytes = c == 0 ? real(json, "palette_bytes_per_frame") / evaluated : bytes;
        cr_expect(cases[c].has_fewer_bones ||
                      fabs(real(json, "palette_bytes_per_frame") - bytes * evaluated) < 1e-9 * bytes * evaluated,
                  "%s", line);
        json_decref(json);
    }
}

/* In the middle of a ring there is nobody. */
Test(render, fails_when_nothing_is_drawn)
{
    expect(1, "render " RIG " --count 40 --size 160x90 --scene ring --camera ,85,40 --out f.png", "nothing is drawn");
    expect(0, "render " RIG " --count 40 --size 160x90 --scene ring --out f.png", "");
    unlink("f.png");
}

static void write_bare_model(const char *name, const char *translation)
{
    FILE *file = fopen(name, "w");
    fprintf(file,
            "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\"nodes\":["
            "{\"name\":\"hip\",\"children\":[1]},{\"name\":\"knee\",\"translation\":%s,\"children\":[2]},"
            "{\"name\":\"foot\",\"translation\":[0,-1,0]}]}",
            translation);
    fclose(file);
}

Test(render, draws_the_skeleton_of_a_model_without_a_mesh)
{
    static const char says[] = "has no mesh: its skeleton is drawn";
    write_bare_model("leg.gltf", "[0,-1,0.2]");
    write_bare_model("bent.gltf", "[0,-1,0.9]");
    expect(0, "render --model leg.gltf --count 1 --size 160x90 --out a.png", says);
    expect(0, "render --model leg.gltf --count 1 --size 160x90 --look skeleton --out b.png", says);
    expect(0, "render --model bent.gltf --count 1 --size 160x90 --out c.png", says);
    cr_expect(are_same("a.png", "b.png"));
    cr_expect(!are_same("a.png", "c.png"), "no bone is to be seen");
    static const char *const files[] = {"leg.gltf", "bent.gltf", "a.png", "b.png", "c.png"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        unlink(files[i]);
}

/* What the driver lacks; other complaints: tests/golden/documents/messages.txt. */
Test(render, says_how_many_samples_there_are)
{
    static const char *const commands[] = {("render --count 1 --size 16x16 " RIG), "stress --draw --frames 299",
                                           "bench --filter ^frame/ --repetitions 1"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char line[128];
        snprintf(line, sizeof line, "%s --samples 64", commands[i]);
        expect(4, line, "64 samples a pixel: OpenGL has up to ");
    }
}

/* ---- posed by the GPU ---- */

static const char *text_of(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));
    return text ? text : "";
}

static json_t *pose(const char *options, const char *palette)
{
    char line[256];
    snprintf(line, sizeof line, "pose --clip walk --time 0.37 --json --palette %s %s", palette, options);
    return document(line);
}

/* On other drivers than Mesa's it may differ in the last bits. */
Test(render, pose_takes_the_gpu_for_the_scalar_kernel)
{
    static const char *const palettes[] = {"f32", "quat", "quat16"};
    for (int p = 0; p < 3; p++) {
        json_t *wanted = pose("--sampling compiled --isa scalar", palettes[p]),
               *got = pose("--evaluator gpu", palettes[p]);
        cr_expect_str_eq(err, "", "no byte differs");
        cr_expect(json_is_null(json_object_get(wanted, "gpu_mapping")));
        cr_expect_str_eq(text_of(got, "gpu_mapping"), "character");
        cr_expect(json_equal(json_object_get(wanted, "joints"), json_object_get(got, "joints")), "%s", palettes[p]);
        cr_expect_str_eq(text_of(wanted, "evaluator"), "cpu");
        cr_expect_str_eq(text_of(got, "evaluator"), "gpu");
        cr_expect_str_eq(text_of(got, "sampling"), "compiled");
        cr_expect(json_is_null(json_object_get(got, "isa")));
        json_decref(wanted);
        json_decref(got);
    }
}

/* How the GPU poses it says once, with both times. */
Test(render, gives_the_same_picture_whoever_poses)
{
    draw("cpu.png", "--isa scalar --palette quat --scene street");
    draw("gpu.png", "--isa scalar --palette quat --scene street --evaluator gpu");
    cr_expect(strstr(out, ", culled and posed by the GPU\n"), "%s", out);
    cr_expect(are_same("cpu.png", "gpu.png"));
    json_t *by_cpu = document("render " RIG " --count 3 --size 16x16 --out f.png --json");
    json_t *by_gpu = document("render " RIG " --count 3 --size 16x16 --out f.png --json --evaluator gpu");
    char wanted[64];
    snprintf(wanted, sizeof wanted, "throng: the GPU poses with an invocation a %s: ", text_of(by_gpu, "gpu_mapping"));
    cr_expect(strstr(err, wanted) == err && strstr(err, " ms a frame instead of ") && strstr(err, ", in wall time\n"),
              "%s", err);
    cr_expect_str_eq(text_of(by_gpu, "evaluator"), "gpu");
    cr_expect_str_eq(text_of(by_gpu, "culling"), "gpu");
    cr_expect(json_is_null(json_object_get(by_cpu, "gpu_mapping")) && !json_object_get(by_cpu, "culling"));
    cr_expect(json_equal(json_object_get(by_gpu, "drawn_by_lod"), json_object_get(by_cpu, "drawn_by_lod")));
    json_decref(by_cpu);
    json_decref(by_gpu);
}

/* Then the ring is mapped for each frame. */
Test(render, lets_the_gpu_pose_without_buffer_storage)
{
    setenv("MESA_EXTENSION_OVERRIDE", "-GL_ARB_buffer_storage", 1);
    json_t *result = document("render " RIG " --count 3 --size 16x16 --out f.png --json --evaluator gpu");
    cr_expect_str_eq(text_of(result, "upload"), "unsynchronized");
    cr_expect_str_eq(text_of(result, "evaluator"), "gpu");
    json_decref(result);
}

/* Never in silence; all reasons: test_gpu_crowd_view.c, test_gpu_cull.c. */
Test(render, says_why_the_cpu_poses)
{
    draw("f.png", "--evaluator gpu --behaviour fade");
    cr_expect(strstr(err, "the CPU poses, not the GPU: the characters have a behaviour"), "%s", err);
    draw("f.png", "--evaluator gpu --share 10");
    cr_expect(strstr(err, "the CPU culls, not the GPU: characters share poses (--share)"), "%s", err);
    cr_expect(strstr(out, ", posed by the GPU\n"), "%s", out);
    expect(0, "stress --draw --evaluator gpu --behaviour fade --count 2 --dry-run --size 16x16",
           "the CPU poses, not the GPU: the characters have a behaviour");
    expect(0, "stress --draw --evaluator gpu --count 2 --dry-run --size 16x16 --json", "");
    cr_expect(strstr(out, "\"evaluator\": \"gpu\"") && strstr(out, "\"culling\": \"gpu\""), "%s", out);
}

static void film(const char *name, int frames, const char *camera)
{
    char line[256];
    snprintf(line, sizeof line,
             "render " RIG " --count 12 --size 64x36 --samples 1 --fps 100 --frames %d --out %s%%d.png %s", frames,
             name, camera);
    expect(0, line, "");
}

/* Who flies half as far in half the time is there where the other one is half way. */
Test(render, flies_to_where_it_is_told)
{
    film("stay", 3, "--camera 10,20,1");
    film("here", 3, "--camera 10,20,1:10,20,1");
    film("far", 3, "--camera 10,20,1:50,30,4");
    film("half", 2, "--camera 10,20,1:30,25,2");
    film("turn", 2, "--camera 10,20,1:30,20,1");
    film("one", 1, "--camera 10,20,1:50,30,4");
    cr_expect(are_same("stay0.png", "far0.png") && are_same("stay0.png", "one0.png"));
    cr_expect(are_same("stay1.png", "here1.png") && are_same("stay2.png", "here2.png"));
    cr_expect(are_same("far1.png", "half1.png"));
    cr_expect_not(are_same("far1.png", "stay1.png") || are_same("far2.png", "far1.png"));
    cr_expect_not(are_same("half1.png", "turn1.png"));
}

/* Of all rows, as compare wants it. */
static void grow_errors(const char *from, const char *to, double factor)
{
    json_t *result = json_load_file(from, 0, NULL), *row;
    size_t i;
    json_array_foreach(json_object_get(result, "benchmarks"), i, row)
    {
        json_t *error = json_object_get(row, "error_px_p99");
        if (error)
            json_object_set_new(row, "error_px_p99", json_real(json_number_value(error) * factor));
    }
    cr_assert_eq(json_dump_file(result, to, 0), 0);
    json_decref(result);
}

/* The same in two runs, which the machine did not let run as many frames; and compare judges it. */
Test(render, stress_measures_the_error_on_screen)
{
    static const char options[] =
        "stress " RIG " --draw --count 60 --frames 299 --budget-ms 1 --threads 1 --size 64x64 "
        "--samples 1 --shadow 0 --share 20 --error 50";
    static const char *const files[] = {"one.json", "two.json"};
    json_t *results[2];
    for (int i = 0; i < 2; i++) {
        char line[256];
        snprintf(line, sizeof line, "%s --out %s --out page.html", options, files[i]);
        cr_expect_leq(throng(line), 1, "%s", err); /* it may miss the budget */
        results[i] = json_load_file(files[i], 0, NULL);
    }
    cr_expect(strstr(out, "px p99"), "%s", out);
    const json_t *frames[2];
    for (int i = 0; i < 2; i++) {
        const json_t *points = json_object_get(json_object_get(results[i], "stress"), "points");
        frames[i] = json_object_get(json_array_get(points, 0), "error_frames");
    }
    cr_expect_eq(json_array_size(frames[0]), 6);
    cr_expect(json_equal(frames[0], frames[1]));
    const json_t *row[2] = {json_array_get(json_object_get(results[0], "benchmarks"), 0),
                            json_array_get(json_object_get(results[1], "benchmarks"), 0)};
    const json_int_t bones = json_integer_value(json_object_get(row[0], "bones"));
    cr_expect(bones > 0 && bones < 60 * 20 && bones % 20 == 0, "shared poses are not counted: %lld", (long long)bones);
    cr_expect(json_equal(json_object_get(row[0], "bones"), json_object_get(row[1], "bones")));
    json_decref(results[0]);
    json_decref(results[1]);
    expect(0, "compare --fail-on slower one.json one.json", "");
    grow_errors("one.json", "grown.json", 1.5);
    cr_expect_eq(throng("compare --fail-on slower one.json grown.json"), 1);
    cr_expect(strstr(out, "MORE PIXELS"), "%s", out);
}

Test(render, pose_takes_compiled_keys_to_the_gpu)
{
    expect(0, "pose --evaluator gpu --sampling compiled --keys 16 --interpolation slerp", "");
}

/* As with a driver that promises more than it has. */
Test(render, pose_says_that_the_driver_does_not_take_the_shader)
{
    setenv("MESA_GL_VERSION_OVERRIDE", "4.3", 1);
    setenv("MESA_GLSL_VERSION_OVERRIDE", "420", 1);
    expect(4, "pose --evaluator gpu", "program pose");
}

Test(render, without_opengl_it_says_what_was_tried)
{
    setenv("__EGL_VENDOR_LIBRARY_FILENAMES", "/nonexistent", 1);
    setenv("LIBGL_DRIVERS_PATH", "/nonexistent", 1);
    unsetenv("DISPLAY");
    expect(4, "render --count 1 --size 16x16 --out f.png", "OpenGL");
    expect(4, "stress --draw", "OpenGL");
    expect(4, "pose --evaluator gpu", "OpenGL");
    cr_expect(access("f.png", F_OK) != 0);
}

/* What `throng render` draws, held against pictures that somebody has looked at (tests/golden): culling, levels of
 * detail, looks and layouts, as they come together in a show. */
#include "fixture_golden.h"
#include "fixture_program.h"
#include "render/mesh/image.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEVELS    "--count 400 --look lod --camera ,12,4"
#define WORKERS   "--count 30 --look workers --scene ring"
#define SKELETONS "--count 9 --look skeleton"
#define ERRORS    "--count 400 --look error --share 15 --camera ,8,3"

enum { WIDTH = 640, HEIGHT = 360, MOST_BYTES = 1 << 21 };

static const double time_s = 1.25, late_s = 1.25 - 1.0 / 60;

static void make_folder_and_try(void)
{
    make_folder();
    need_opengl();
    if (!strstr(out, "llvmpipe"))
        cr_skip_test("the stored pictures are those of llvmpipe, and this is %s", out);
}

TestSuite(golden_render, .init = make_folder_and_try, .fini = remove_folder);

/* Draws with one thread and without vectors, so that everybody draws the same. */
static th_render_mesh_image draw(const char *options, double start_s)
{
    static uint8_t bytes[MOST_BYTES];
    char line[512];
    th_render_mesh_image image;
    th_error error;
    snprintf(line, sizeof line, "render --size %dx%d --start %g --threads 1 --isa scalar --out picture.png %s", WIDTH,
             HEIGHT, start_s, options);
    expect(0, line, "");
    FILE *file = fopen("picture.png", "rb");
    cr_assert_neq(file, NULL);
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    cr_assert_eq(th_image_decode(bytes, size, SIZE_MAX, &image, &error), TH_OK, "%s", error.text);
    return image;
}

static void check_render(const char *name, const char *options)
{
    th_render_mesh_image image = draw(options, time_s);
    check_golden(name, image.rgba, WIDTH, HEIGHT);
    th_image_free(&image);
}

/* At the left edge, low, lies the shadow of somebody who stands beyond it. */
Test(golden_render, street_with_shadows_of_those_out_of_sight)
{
    check_render("street", "--count 400 --scene street --camera 115,35,5");
}

Test(golden_render, scenes)
{
    check_render("scene_street", "--count 200 --scene street");
    check_render("scene_plaza", "--count 200 --scene plaza");
    check_render("scene_stadium", "--count 1200 --scene stadium --camera 62");
}

/* Near ones are finer; far ones share poses, and are off by that; one thread has one colour. */
Test(golden_render, looks)
{
    check_render("look_lod", LEVELS);
    check_render("look_error", ERRORS);
    check_render("look_workers", WORKERS);
    check_render("look_skeleton", SKELETONS);
}

static void check_model(const char *name, const char *file)
{
    char options[256];
    if (access(file, R_OK) != 0)
        cr_skip_test("no %s (Debian: assimp-testmodels)", file);
    snprintf(options, sizeof options, "--count 9 --model %s", file);
    check_render(name, options);
}

/* All look to the front: its clips stay in place. */
Test(golden_render, animals)
{
    check_model("wuson", TEST_MODELS "/X/Testwuson.X");
}

/* A recording without meshes: Assimp makes one of the bones. */
Test(golden_render, recorded_motion)
{
    check_model("boxers", TEST_MODELS "/BVH/Boxing_Toes.bvh");
}

/* The stored picture is not this one. */
static void expect_other(const char *name, const char *options, double start_s)
{
    static uint8_t golden[WIDTH * HEIGHT * 4];
    th_render_mesh_image image = draw(options, start_s);
    read_golden(name, WIDTH, HEIGHT, golden);
    const difference d = compare_pictures(image.rgba, golden, WIDTH, HEIGHT);
    cr_expect_not(d.same, "%s, %s: %u pixels off, RMSE %.2g", name, options, d.pixels_off, d.rmse);
    th_image_free(&image);
}

Test(golden_render, what_is_late_or_has_no_shadow_is_seen)
{
    expect_other("look_lod", LEVELS, late_s);
    expect_other("look_skeleton", SKELETONS, late_s);
    expect_other("look_workers", WORKERS " --shadow 0", time_s);
}

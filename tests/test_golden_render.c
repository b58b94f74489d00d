/* What `throng render` draws, held against pictures that somebody has looked at (tests/golden): culling, levels of
 * detail, looks and layouts, as they come together in a show. */
#include "fixture_golden.h"
#include "fixture_program.h"

#include "image.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 640, HEIGHT = 360, MOST_BYTES = 1 << 21 };

static void skip_suite(const char *why, const char *detail)
{
    fprintf(stderr, "skipped: %s %s\n", why, detail);
    cr_skip_test("%s %s", why, detail);
}

static void make_folder_and_try(void)
{
    make_folder();
    if (throng("render --count 1 --size 16x16 --out try.png") == 4)
        skip_suite("no OpenGL here:", err);
    if (!strstr(out, "llvmpipe"))
        skip_suite("the stored pictures are those of llvmpipe, and this is", out);
}

TestSuite(golden_render, .init = make_folder_and_try, .fini = remove_folder, .timeout = 300);

/* Draws with one thread and without vectors, so that everybody draws the same. */
static th_figure_image draw(const char *options)
{
    static uint8_t bytes[MOST_BYTES];
    char line[512];
    th_figure_image image;
    th_error error;
    snprintf(line, sizeof line, "render --size %dx%d --start 1.25 --threads 1 --isa scalar --out picture.png %s", WIDTH,
             HEIGHT, options);
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
    th_figure_image image = draw(options);
    check_golden(name, image.rgba, WIDTH, HEIGHT);
    th_image_free(&image);
}

/* Along the left edge lie shadows of people who stand beyond it. */
Test(golden_render, street_with_shadows_of_those_out_of_sight)
{
    check_render("street", "--count 400 --layout street --zoom 8 --pitch 35 --yaw 115");
}

#include "fixture_golden.h"

#include "render/mesh/image.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

#define MOST_OFF  0.0004
#define MOST_RMSE 1.5e-3

enum { ROUNDING = 1, OFF = 5 /* 2 % of 255 */, AMPLIFY = 20, MOST_BYTES = 1 << 20 /* of a stored picture */ };

difference compare_pictures(const uint8_t *a, const uint8_t *b, uint32_t width, uint32_t height)
{
    const size_t pixels = (size_t)width * height;
    difference d = {0};
    double squares = 0;
    for (size_t i = 0; i < pixels; i++) {
        bool off = false;
        for (size_t c = 4 * i; c < 4 * i + 3; c++) {
            const int by = abs(a[c] - b[c]);
            off |= by > OFF;
            squares += by > ROUNDING ? by * by : 0;
        }
        d.pixels_off += off;
    }
    d.rmse = sqrt(squares / (3 * (double)pixels)) / 255;
    d.same = d.pixels_off <= MOST_OFF * (double)pixels && d.rmse <= MOST_RMSE;
    return d;
}

/* ---- files ---- */

static void write_picture(const char *folder, const char *name, const char *what, const uint8_t *rgba, uint32_t width,
                          uint32_t height)
{
    char path[512];
    const size_t pixels = (size_t)width * height;
    uint8_t *rgb = malloc(3 * pixels);
    for (size_t i = 0; i < pixels; i++)
        memcpy(rgb + 3 * i, rgba + 4 * i, 3);
    snprintf(path, sizeof path, "%s/%s%s.png", folder, name, what);
    stbi_write_png_compression_level = 64;
    cr_expect(stbi_write_png(path, (int)width, (int)height, 3, rgb, (int)width * 3), "%s cannot be written", path);
    free(rgb);
}

void read_golden(const char *name, uint32_t width, uint32_t height, uint8_t *out_rgba)
{
    static uint8_t bytes[MOST_BYTES];
    char path[512];
    th_error err;
    th_render_mesh_image image;
    snprintf(path, sizeof path, TEST_GOLDEN "/%s.png", name);
    FILE *file = fopen(path, "rb");
    cr_assert(file, "%s is missing; THRONG_GOLDEN_UPDATE=1 makes it", path);
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    cr_assert_eq(th_image_decode(bytes, size, SIZE_MAX, &image, &err), TH_OK, "%s %s", path, err.text);
    cr_assert(image.width == width && image.height == height, "%s has another size", path);
    memcpy(out_rgba, image.rgba, (size_t)width * height * 4);
    th_image_free(&image);
}

static void write_failure(const char *name, const uint8_t *rgba, const uint8_t *golden, uint32_t width, uint32_t height)
{
    const char *folder = getenv("THRONG_GOLDEN_OUT");
    if (!folder)
        return;
    const size_t bytes = (size_t)width * height * 4;
    uint8_t *differences = malloc(bytes);
    for (size_t i = 0; i < bytes; i++) {
        const int by = AMPLIFY * abs(rgba[i] - golden[i]);
        differences[i] = (uint8_t)(by < 255 ? by : 255);
    }
    write_picture(folder, name, ".actual", rgba, width, height);
    write_picture(folder, name, ".difference", differences, width, height);
    free(differences);
}

void check_golden(const char *name, const uint8_t *rgba, uint32_t width, uint32_t height)
{
    const char *update = getenv("THRONG_GOLDEN_UPDATE");
    if (update && strcmp(update, "1") == 0)
        write_picture(TEST_GOLDEN, name, "", rgba, width, height);
    uint8_t *golden = malloc((size_t)width * height * 4);
    read_golden(name, width, height, golden);
    const difference d = compare_pictures(rgba, golden, width, height);
    cr_expect(d.same, "%s: %u pixels off, RMSE %.2g; THRONG_GOLDEN_OUT names a folder for pictures of it", name,
              d.pixels_off, d.rmse);
    if (!d.same)
        write_failure(name, rgba, golden, width, height);
    free(golden);
}

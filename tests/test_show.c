/* A show in process: what it makes of the context that it is drawn in. */
#include "fixture_context.h"

#include "show.h"

#include <throng/ring.h>

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 160, HEIGHT = 90, BYTES = 4 * WIDTH * HEIGHT };

/* By the linker's --wrap: a renderer of software that passes for a GPU's. */
static bool pretend_hardware;

const th_gl_info *__real_th_gl_get_info(const th_gl *gl);
const th_gl_info *__wrap_th_gl_get_info(const th_gl *gl);

const th_gl_info *__wrap_th_gl_get_info(const th_gl *gl)
{
    static th_gl_info info;
    info = *__real_th_gl_get_info(gl);
    info.software &= !pretend_hardware;
    return &info;
}

/* The picture of the embedded crowd, to be freed, and how it was written. */
static uint8_t *shoot(th_gl *gl, th_palette palette, th_writes *writes)
{
    th_options options;
    th_error err;
    th_cast cast;
    th_show *show;
    th_target *target;
    cr_assert(th_options_parse(&options, th_command_find("render"), 0, NULL, &err));
    options.count = 20;
    options.shadow = 0;
    options.fetch = TH_FETCH_TEXTURE;
    options.palette = palette;
    cr_assert_eq(th_cast_init(&cast, &options), 0);
    cr_assert_eq(th_show_create(&options, &cast, gl, &show, &err), TH_OK, "%s", err.text);
    const th_target_desc desc = {.width = WIDTH, .height = HEIGHT, .samples = 4};
    cr_assert_eq(th_target_create(&desc, &target, &err), TH_OK, "%s", err.text);
    const th_camera camera = th_show_camera(show, (float)WIDTH / HEIGHT);
    for (int frame = 0; frame < 5; frame++)
        th_show_frame(show, frame / 60.0, &camera, target, WIDTH, HEIGHT);
    uint8_t *rgba = malloc(th_target_bytes(target));
    th_target_resolve(target);
    th_target_read(target, rgba);
    *writes = th_crowd_writes(th_show_crowd(show));
    th_target_destroy(target);
    th_show_destroy(show);
    th_cast_fini(&cast);
    return rgba;
}

Test(show, streams_to_a_gpu_and_draws_the_same)
{
    th_gl *gl = open_context();
    for (int p = 0; p < TH_PALETTE_COUNT; p++) {
        th_writes writes;
        pretend_hardware = false;
        uint8_t *software = shoot(gl, (th_palette)p, &writes);
        if (__real_th_gl_get_info(gl)->software)
            cr_expect_eq(writes, TH_WRITES_CACHED);
        pretend_hardware = true;
        uint8_t *hardware = shoot(gl, (th_palette)p, &writes);
        cr_expect_eq(writes, TH_WRITES_STREAMED);
        cr_expect_arr_eq(hardware, software, BYTES, "%s", th_palette_name((th_palette)p));
        free(software);
        free(hardware);
    }
    close_context(gl);
}

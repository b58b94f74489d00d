/* What is drawn, held against pictures that somebody has looked at (tests/golden). */
#include "fixture_context.h"
#include "fixture_golden.h"
#include "fixture_import.h"
#include "fixture_picture.h"

#include <throng/human.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 640, HEIGHT = 360, SIDE = 3, COUNT = SIDE * SIDE };

static const double time_s = 1.25;
static const way with_shadows = {.width = WIDTH, .height = HEIGHT, .samples = 4, .shadow_pixels = 1024};
static const way without_shadows = {.width = WIDTH, .height = HEIGHT, .samples = 4};

static cast cast_human(void)
{
    cast c = {0};
    th_model *model;
    th_error err;
    cr_assert_eq(th_human_create(&model, &err), TH_OK, "%s", err.text);
    cast_add(&c, model);
    return c;
}

/* As a heat map has it: from blue to red. */
static void tint_all(stage *s)
{
    th_stand *stands = (th_stand *)(s->slot + s->draws[0].stand_offset);
    for (uint32_t i = 0; i < s->draws[0].count; i++)
        memcpy(stands[i].tint, (uint8_t[]){(uint8_t)(30 + 25 * i), 60, (uint8_t)(230 - 25 * i), 255}, 4);
}

typedef enum look { MATERIALS, HEAT, SKELETONS } look;

static stage make_stage(const cast *c, double at_s, th_palette palette, look how)
{
    stage s = stage_crowd(c, COUNT, SIDE, at_s, palette);
    s.view.plain = how == HEAT;
    s.view.skeletons = how == SKELETONS;
    s.view.ground_cell = how == MATERIALS ? s.view.ground_cell : 0;
    s.draws[0].lod = how == HEAT ? 2 : 0;
    if (how == HEAT)
        tint_all(&s);
    return s;
}

static void check_picture(const char *name, th_gl *gl, const stage *s, const way *w)
{
    uint8_t *rgba = shoot(gl, s, w);
    for (size_t i = 3; i < (size_t)WIDTH * HEIGHT * 4; i += 4)
        cr_assert_eq(rgba[i], 255, "a picture that is not opaque");
    check_golden(name, rgba, WIDTH, HEIGHT);
    free(rgba);
}

/* ---- the embedded human ---- */

static void check_human(const char *name, th_palette palette, look how, const way *w)
{
    th_gl *gl = open_llvmpipe();
    cast c = cast_human();
    stage s = make_stage(&c, time_s, palette, how);
    check_picture(name, gl, &s, w);
    stage_free(&s);
    cast_free(&c);
    close_context(gl);
}

Test(golden, humans)
{
    check_human("humans", TH_PALETTE_F32, MATERIALS, &with_shadows);
}

Test(golden, humans_of_half_precision)
{
    check_human("humans_f16", TH_PALETTE_F16, MATERIALS, &with_shadows);
}

Test(golden, skeletons)
{
    check_human("skeletons", TH_PALETTE_F32, SKELETONS, &without_shadows);
}

Test(golden, heat_map_of_coarse_humans_without_shadows)
{
    check_human("heat", TH_PALETTE_F32, HEAT, &without_shadows);
}

/* ---- models from files ---- */

static void check_file(const char *name, const char *file, look how)
{
    char path[512];
    if (!getenv("THRONG_MODELS"))
        cr_skip_test("THRONG_MODELS does not name a folder with Fox.glb and CesiumMan.gltf");
    th_gl *gl = open_llvmpipe();
    cast c = {0};
    snprintf(path, sizeof path, "%s/%s", getenv("THRONG_MODELS"), file);
    cast_add(&c, import_good(path));
    stage s = make_stage(&c, time_s, TH_PALETTE_F32, how);
    check_picture(name, gl, &s, &with_shadows);
    stage_free(&s);
    cast_free(&c);
    close_context(gl);
}

Test(golden, foxes)
{
    check_file("foxes", "Fox.glb", MATERIALS);
}

/* Its texture shows a trademark, so it is not stored. */
Test(golden, heat_map_of_coarse_cesium_men)
{
    check_file("cesium_men", "CesiumMan.gltf", HEAT);
}

/* ---- the rule itself ---- */

/* The stored picture is not this one. */
static void expect_other(const char *fault, th_gl *gl, const stage *s, const way *w)
{
    static uint8_t golden[WIDTH * HEIGHT * 4];
    uint8_t *rgba = shoot(gl, s, w);
    read_golden("humans", WIDTH, HEIGHT, golden);
    const difference d = compare_pictures(rgba, golden, WIDTH, HEIGHT);
    cr_expect_not(d.same, "%s: %u pixels off, RMSE %.2g", fault, d.pixels_off, d.rmse);
    free(rgba);
}

static void check_fault(const char *fault, double at_s, th_palette palette, const way *w)
{
    th_gl *gl = open_llvmpipe();
    cast c = cast_human();
    stage s = make_stage(&c, at_s, palette, MATERIALS);
    expect_other(fault, gl, &s, w);
    stage_free(&s);
    cast_free(&c);
    close_context(gl);
}

Test(golden, a_frame_that_is_late_is_seen)
{
    check_fault("1/60 s late", time_s - 1.0 / 60, TH_PALETTE_F32, &with_shadows);
}

Test(golden, a_missing_shadow_is_seen)
{
    check_fault("no shadow", time_s, TH_PALETTE_F32, &without_shadows);
}

Test(golden, half_precision_is_seen)
{
    check_fault("f16", time_s, TH_PALETTE_F16, &with_shadows);
}

/* The last influence of each vertex goes to its first one. */
static th_figure_vertex *drop_influence(th_figure *figure)
{
    th_figure_vertex *vertices = malloc(figure->vertex_count * sizeof *vertices);
    memcpy(vertices, figure->vertices, figure->vertex_count * sizeof *vertices);
    for (uint32_t v = 0; v < figure->vertex_count; v++) {
        int last = 3;
        while (vertices[v].weight[last] == 0)
            last--;
        if (last == 0)
            continue;
        vertices[v].weight[0] = (uint8_t)(vertices[v].weight[0] + vertices[v].weight[last]);
        vertices[v].weight[last] = 0;
    }
    figure->vertices = vertices;
    return vertices;
}

Test(golden, a_missing_influence_is_seen)
{
    th_gl *gl = open_llvmpipe();
    cast c = cast_human();
    stage s = make_stage(&c, time_s, TH_PALETTE_F32, MATERIALS);
    th_figure figure = *s.figures[0];
    th_figure_vertex *vertices = drop_influence(&figure);
    s.figures[0] = &figure;
    expect_other("an influence dropped", gl, &s, &with_shadows);
    free(vertices);
    stage_free(&s);
    cast_free(&c);
    close_context(gl);
}

/* What is drawn, held against pictures that somebody has looked at (tests/golden). */
#include "fixture_context.h"
#include "fixture_golden.h"
#include "fixture_picture.h"

#include <throng/anim/human.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 640, HEIGHT = 360, SIDE = 3, COUNT = SIDE * SIDE };

static const double time_s = 1.25;
static const way with_shadows = {.width = WIDTH, .height = HEIGHT, .samples = 4, .shadow_pixels = 1024};
static const way without_shadows = {.width = WIDTH, .height = HEIGHT, .samples = 4};

static test_models test_models_human(void)
{
    test_models c = {0};
    th_model *model;
    th_error err;
    cr_assert_eq(th_human_create(&model, &err), TH_OK, "%s", err.text);
    test_models_add(&c, model);
    return c;
}

/* ---- a human of several meshes ---- */

enum { TROUSERS, SHIRT, HEAD, OUTFIT, CHECKS = 8, BMP_HEADER = 54, BMP_BYTES = BMP_HEADER + CHECKS * CHECKS * 3 };

/* What a model's meshes, materials and texture are made of. */
typedef struct wardrobe {
    th_mesh meshes[OUTFIT];
    th_material materials[OUTFIT];
    th_texture texture;
    uint8_t bmp[BMP_BYTES];
    th_vertex *vertices;
    uint32_t *indices[OUTFIT];
    th_model *human; /* whose names and clips the model has */
} wardrobe;

static void wardrobe_free(wardrobe *w)
{
    free(w->vertices);
    for (int m = 0; m < OUTFIT; m++)
        free(w->indices[m]);
    th_model_free(w->human);
}

/* A chessboard of red and white. */
static void draw_checks(uint8_t *bmp)
{
    static const uint8_t header[] = {
        'B', 'M', [10] = BMP_HEADER, [14] = 40, [18] = CHECKS, [22] = CHECKS, [26] = 1, [28] = 24};
    memcpy(bmp, header, sizeof header);
    for (int i = 0; i < CHECKS * CHECKS; i++) {
        const bool red = (i / CHECKS + i % CHECKS) % 2;
        memcpy(bmp + BMP_HEADER + 3 * i, (uint8_t[]){red ? 40 : 240, red ? 30 : 240, red ? 200 : 240}, 3);
    }
}

/* White, and as the texture shines on him from the front. */
static void copy_vertices(wardrobe *w, const th_mesh *mesh)
{
    w->vertices = malloc(mesh->vertex_count * sizeof *w->vertices);
    memcpy(w->vertices, mesh->vertices, mesh->vertex_count * sizeof *w->vertices);
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        th_vertex *vertex = &w->vertices[v];
        memset(vertex->color, 255, sizeof vertex->color);
        for (int i = 0; i < 2; i++)
            vertex->uv[i] = 2 * vertex->position[i];
    }
}

static th_model *dress(wardrobe *w)
{
    static const th_material materials[OUTFIT] = {
        {.name = "trousers", .base_color = {0.05F, 0.2F, 0.1F, 1}, .texture = TH_NO_INDEX},
        {.name = "shirt", .base_color = {1, 1, 1, 1}, .texture = 0},
        {.name = "head", .base_color = {0.7F, 0.5F, 0.1F, 1}, .texture = TH_NO_INDEX}};
    th_model *model;
    th_error err;
    cr_assert_eq(th_human_create(&w->human, &err), TH_OK, "%s", err.text);
    cr_assert_eq(th_model_dress(w->human, 0, &model, &err), TH_OK, "%s", err.text);
    const th_mesh *mesh = &model->meshes[0];
    cr_assert_eq(model->mesh_count, 1);
    copy_vertices(w, mesh);
    for (int m = 0; m < OUTFIT; m++) {
        w->materials[m] = materials[m];
        w->materials[m].double_sided = true; /* as the human is */
        w->indices[m] = malloc(mesh->index_count * sizeof *w->indices[m]);
        w->meshes[m] = (th_mesh){.name = materials[m].name,
                                 .material = (uint32_t)m,
                                 .vertex_count = mesh->vertex_count,
                                 .index_count = 0,
                                 .vertices = w->vertices,
                                 .indices = w->indices[m]};
    }
    for (uint32_t i = 0; i < mesh->index_count; i += 3) {
        const float y = w->vertices[mesh->indices[i]].position[1];
        const int m = y < 0.95F ? TROUSERS : y < 1.5F ? SHIRT : HEAD;
        memcpy(w->indices[m] + w->meshes[m].index_count, mesh->indices + i, 3 * sizeof **w->indices);
        w->meshes[m].index_count += 3;
    }
    draw_checks(w->bmp);
    w->texture = (th_texture){"checks.bmp", w->bmp, BMP_BYTES};
    model->meshes = w->meshes;
    model->materials = w->materials;
    model->textures = &w->texture;
    model->mesh_count = model->material_count = OUTFIT;
    model->texture_count = 1;
    return model;
}

/* ---- stages ---- */

/* As a heat map has it: from blue to red. */
static void tint_all(stage *s)
{
    th_gpu_instance *gpu_instances = (th_gpu_instance *)(s->slot + s->draws[0].instance_offset);
    for (uint32_t i = 0; i < s->draws[0].count; i++)
        memcpy(gpu_instances[i].tint, (uint8_t[]){(uint8_t)(30 + 25 * i), 60, (uint8_t)(230 - 25 * i), 255}, 4);
}

typedef enum look { MATERIALS, HEAT, SKELETONS } look;

static stage make_stage(const test_models *c, double at_s, th_palette palette, look how)
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

static void check_human(const char *name, th_gl *gl, const test_models *c, th_palette palette, look how, const way *w)
{
    stage s = make_stage(c, time_s, palette, how);
    check_picture(name, gl, &s, w);
    stage_free(&s);
}

Test(golden, humans)
{
    th_gl *gl = open_llvmpipe();
    test_models c = test_models_human();
    check_human("humans", gl, &c, TH_PALETTE_F32, MATERIALS, &with_shadows);
    check_human("skeletons", gl, &c, TH_PALETTE_F32, SKELETONS, &without_shadows);
    check_human("heat", gl, &c, TH_PALETTE_F32, HEAT, &without_shadows); /* a coarse level */
    test_models_free(&c);
    close_context(gl);
}

/* From the left to the right in each row, and from the back to the front: levels 0 to 3, and again. */
Test(golden, levels_of_detail)
{
    th_gl *gl = open_llvmpipe();
    test_models c = test_models_human();
    stage s = make_stage(&c, time_s, TH_PALETTE_F32, MATERIALS);
    const th_draw all = s.draws[0];
    for (s.draw_count = 0; s.draw_count < all.count; s.draw_count++) {
        th_draw *draw = &s.draws[s.draw_count];
        *draw = all;
        draw->count = 1;
        draw->lod = s.draw_count % TH_RENDER_MESH_LODS;
        draw->palette_offset += s.draw_count * all.palette_stride;
        draw->instance_offset += s.draw_count * sizeof(th_gpu_instance);
    }
    check_picture("levels", gl, &s, &with_shadows);
    stage_free(&s);
    test_models_free(&c);
    close_context(gl);
}

/* Everybody wide and flat, as a palette makes him whose root is scaled. */
Test(golden, scale_that_differs_by_axis)
{
    th_gl *gl = open_llvmpipe();
    test_models c = test_models_human();
    stage s = make_stage(&c, time_s, TH_PALETTE_F32, MATERIALS);
    const float scale[3] = {1.5F, 0.75F, 0.5F};
    for (uint32_t k = 0; k < s.draws[0].count; k++) {
        float *palette = (float *)(s.slot + s.draws[0].palette_offset + k * s.draws[0].palette_stride);
        for (uint32_t i = 0; i < 12 * c.meshes[0]->bone_count; i++)
            palette[i] *= scale[i / 4 % 3];
    }
    check_picture("squashed", gl, &s, &with_shadows);
    stage_free(&s);
    test_models_free(&c);
    close_context(gl);
}

Test(golden, several_meshes_and_materials)
{
    th_gl *gl = open_llvmpipe();
    wardrobe w = {0};
    test_models c = {0};
    test_models_add(&c, dress(&w));
    cr_assert_eq(c.meshes[0]->part_count, OUTFIT);
    cr_assert_eq(c.meshes[0]->image_count, 1);
    stage s = make_stage(&c, time_s, TH_PALETTE_F32, MATERIALS);
    check_picture("outfits", gl, &s, &with_shadows);
    stage_free(&s);
    test_models_free(&c);
    wardrobe_free(&w);
    close_context(gl);
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

/* The last influence of each vertex goes to its first one. */
static th_render_mesh_vertex *drop_influence(th_render_mesh *mesh)
{
    th_render_mesh_vertex *vertices = malloc(mesh->vertex_count * sizeof *vertices);
    memcpy(vertices, mesh->vertices, mesh->vertex_count * sizeof *vertices);
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        int last = 3;
        while (vertices[v].weight[last] == 0)
            last--;
        if (last == 0)
            continue;
        vertices[v].weight[0] = (uint8_t)(vertices[v].weight[0] + vertices[v].weight[last]);
        vertices[v].weight[last] = 0;
    }
    mesh->vertices = vertices;
    return vertices;
}

static void check_fault(const char *fault, th_gl *gl, const test_models *c, double at_s, th_palette palette,
                        const way *w)
{
    stage s = make_stage(c, at_s, palette, MATERIALS);
    expect_other(fault, gl, &s, w);
    stage_free(&s);
}

Test(golden, faults_are_seen)
{
    th_gl *gl = open_llvmpipe();
    test_models c = test_models_human();
    check_fault("1/60 s late", gl, &c, time_s - 1.0 / 60, TH_PALETTE_F32, &with_shadows);
    check_fault("no shadow", gl, &c, time_s, TH_PALETTE_F32, &without_shadows);
    stage s = make_stage(&c, time_s, TH_PALETTE_F32, MATERIALS);
    th_render_mesh mesh = *s.meshes[0];
    th_render_mesh_vertex *vertices = drop_influence(&mesh);
    s.meshes[0] = &mesh;
    expect_other("an influence dropped", gl, &s, &with_shadows);
    free(vertices);
    stage_free(&s);
    test_models_free(&c);
    close_context(gl);
}

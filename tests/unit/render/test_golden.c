/* Pictures that somebody has looked at (tests/golden): what the renderer draws of a stage, how layers look, and what
 * `throng render` draws, where culling, levels of detail, looks and layouts come together in a show. */
#include "fixture_coarse_human.h"
#include "fixture_golden.h"
#include "fixture_import.h"
#include "fixture_picture.h"
#include "fixture_program.h"
#include "random_model.h"

#include <anim/crowd.h>
#include <core/cache_line.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 640, HEIGHT = 360, SIDE = 3, COUNT = SIDE * SIDE };

#define TIME_S 1.25
#define LATE_S (TIME_S - 1.0 / 60)

static const way with_shadows = {.width = WIDTH, .height = HEIGHT, .samples = 4, .shadow_pixels = 1024};
static const way without_shadows = {.width = WIDTH, .height = HEIGHT, .samples = 4};

static th_error error;

TestSuite(golden, .init = open_llvmpipe, .fini = close_gl);

END_BY(th_model_destroy)
END_BY(th_compiled_model_destroy)

/* ---- the embedded human ---- */

/* For all pictures of a test. */
static const test_models *human(void)
{
    static test_models c;
    if (c.count == 0)
        test_models_add(&c, create_human());
    return &c;
}

static stage humans(double at_s)
{
    return stage_crowd(human(), COUNT, SIDE, at_s, TH_FORMAT_F32);
}

static stage skeletons(double at_s)
{
    stage s = humans(at_s);
    s.view.skeletons = true;
    s.view.ground_cell = 0;
    return s;
}

/* From blue to red, at a coarse level. */
static stage heat(double at_s)
{
    stage s = humans(at_s);
    th_gpu_instance *gpu_instances = (th_gpu_instance *)(s.slot + s.draws[0].instance_offset);
    for (uint32_t i = 0; i < s.draws[0].count; i++)
        memcpy(gpu_instances[i].tint, (uint8_t[]){(uint8_t)(30 + 25 * i), 60, (uint8_t)(230 - 25 * i), 255}, 4);
    s.view.plain = true;
    s.view.ground_cell = 0;
    s.draws[0].lod = 2;
    return s;
}

/* From the left to the right in each row, and from the back to the front: levels 0 to 3, and again. */
static stage levels(double at_s)
{
    stage s = humans(at_s);
    const th_draw all = s.draws[0];
    for (s.draw_count = 0; s.draw_count < all.count; s.draw_count++) {
        th_draw *draw = &s.draws[s.draw_count];
        *draw = all;
        draw->count = 1;
        draw->lod = s.draw_count % TH_RENDER_MESH_LODS;
        draw->palette_offset += s.draw_count * all.palette_stride;
        draw->instance_offset += s.draw_count * sizeof(th_gpu_instance);
    }
    return s;
}

/* Everybody wide and flat, as a palette makes him whose root is scaled. */
static stage squashed(double at_s)
{
    const float scale[3] = {1.5F, 0.75F, 0.5F};
    stage s = humans(at_s);
    for (uint32_t k = 0; k < s.draws[0].count; k++) {
        float *palette = (float *)(s.slot + s.draws[0].palette_offset + k * s.draws[0].palette_stride);
        for (uint32_t i = 0; i < 12 * s.meshes[0]->bone_count; i++)
            palette[i] *= scale[i / 4 % 3];
    }
    return s;
}

/* The last influence of each vertex goes to its first one. */
static stage with_an_influence_less(double at_s)
{
    stage s = humans(at_s);
    th_render_mesh *mesh = memcpy(borrow(sizeof *mesh), s.meshes[0], sizeof *mesh);
    const size_t bytes = mesh->vertex_count * sizeof *mesh->vertices;
    th_render_mesh_vertex *vertices = memcpy(borrow(bytes), mesh->vertices, bytes);
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
    s.meshes[0] = mesh;
    return s;
}

/* ---- a human of several meshes ---- */

enum { TROUSERS, SHIRT, HEAD, OUTFIT, CHECKS = 8, BMP_HEADER = 54, BMP_BYTES = BMP_HEADER + CHECKS * CHECKS * 3 };

static stage outfits(double at_s)
{
    static th_material materials[OUTFIT] = {
        /* double-sided, as the human is */
        {"trousers", {0.05F, 0.2F, 0.1F, 1}, .texture = TH_NO_INDEX, .double_sided = true},
        {"shirt", {1, 1, 1, 1}, .texture = 0, .double_sided = true},
        {"head", {0.7F, 0.5F, 0.1F, 1}, .texture = TH_NO_INDEX, .double_sided = true}};
    static th_mesh meshes[OUTFIT];
    static uint8_t bmp[BMP_BYTES] = {
        'B', 'M', [10] = BMP_HEADER, [14] = 40, [18] = CHECKS, [22] = CHECKS, [26] = 1, [28] = 24};
    static const th_texture texture = {.name = "checks.bmp", .bytes = bmp, .byte_count = BMP_BYTES};
    for (int i = 0; i < CHECKS * CHECKS; i++) { /* a chessboard of red and white */
        const bool red = (i / CHECKS + i % CHECKS) % 2;
        memcpy(bmp + BMP_HEADER + 3 * i, (uint8_t[]){red ? 40 : 240, red ? 30 : 240, red ? 200 : 240}, 3);
    }

    uint32_t *indices[OUTFIT];
    th_model *model, *plain = at_end(end_by_th_model_destroy, create_human()); /* whose names and clips the model has */
    cr_assert_eq(th_model_dress(plain, 0, &model, &error), TH_OK, "%s", error.text);
    cr_assert_eq(model->mesh_count, 1);
    const th_mesh *mesh = &model->meshes[0];
    const size_t bytes = mesh->vertex_count * sizeof *mesh->vertices;
    th_vertex *vertices = memcpy(borrow(bytes), mesh->vertices, bytes);
    for (uint32_t v = 0; v < mesh->vertex_count; v++) { /* white, and as the texture shines on him from the front */
        memset(vertices[v].color, 255, sizeof vertices[v].color);
        for (int i = 0; i < 2; i++)
            vertices[v].uv[i] = 2 * vertices[v].position[i];
    }
    for (uint32_t m = 0; m < OUTFIT; m++) {
        indices[m] = borrow(mesh->index_count * sizeof **indices);
        meshes[m] = (th_mesh){.name = materials[m].name,
                              .material = m,
                              .vertex_count = mesh->vertex_count,
                              .vertices = vertices,
                              .indices = indices[m]};
    }
    for (uint32_t i = 0; i < mesh->index_count; i += 3) {
        const float y = vertices[mesh->indices[i]].position[1];
        const int m = y < 0.95F ? TROUSERS : y < 1.5F ? SHIRT : HEAD;
        memcpy(indices[m] + meshes[m].index_count, mesh->indices + i, 3 * sizeof **indices);
        meshes[m].index_count += 3;
    }
    model->meshes = meshes;
    model->materials = materials;
    model->textures = &texture;
    model->mesh_count = model->material_count = OUTFIT;
    model->texture_count = 1;
    test_models c = {0};
    test_models_add(&c, model);
    cr_assert(c.meshes[0]->part_count == OUTFIT && c.meshes[0]->image_count == 1);
    return stage_crowd(&c, COUNT, SIDE, at_s, TH_FORMAT_F32);
}

/* ---- layers: three humans, of whom the middle one blends what the others play ---- */

enum { TRIO = 3, MOST_LAYERS = 2 };
enum { ARM, OTHERS, MASKS };
enum { WALK = 1, RUN = 3, WAVE = 4, LEAN = 7 };

/* From upright to 30 degrees towards the left hand, from the lower spine up. */
static th_model *lean_human(void)
{
    static const double times[] = {0, 1};
    th_model *plain = human()->models[0];
    const uint32_t spine = th_model_find_joint(plain, "spine_01");
    const th_dmat34 rest = th_dmat34_from(plain->joints[spine].rest);
    const double lean[4] = {0, 0, -sin(M_PI / 12), cos(M_PI / 12)};
    th_trs upright;
    double leant[4];
    float place[3], turns[8];
    th_dmat34_decompose(&rest, &upright);
    th_quat_mul(upright.rotation, lean, leant);
    for (int i = 0; i < 4; i++) {
        turns[i] = (float)upright.rotation[i];
        turns[4 + i] = (float)leant[i];
    }
    for (int i = 0; i < 3; i++)
        place[i] = (float)upright.translation[i];
    th_channel channel = turning_channel(spine, 2, times, turns);
    channel.translation = (th_track){.key_count = 1, .times = times, .values = place};
    th_clip clip = clip_of(&channel, 1, 1, 1);
    clip.name = "lean";
    th_model donor = *plain, *model;
    donor.clips = &clip;
    donor.clip_count = 1;
    cr_assert_eq(th_model_attach_clips(plain, &donor, &model, &error), TH_OK, "%s", error.text);
    cr_assert_str_eq(model->clips[LEAN].name, "lean");
    return model;
}

/* For all pictures of a test. */
static const th_compiled_model *leaning(void)
{
    static float weights[MASKS][64];
    static const th_mask masks[MASKS] = {{"arm", weights[ARM]}, {"others", weights[OTHERS]}};
    static th_compiled_model *compiled;
    if (compiled)
        return compiled;
    const th_model *model = at_end(end_by_th_model_destroy, lean_human());
    cr_assert_leq(model->joint_count, 64);
    th_mask_from_joint(model, th_model_find_joint(model, "clavicle_r"), weights[ARM]);
    for (uint32_t j = 0; j < model->joint_count; j++)
        weights[OTHERS][j] = 1 - weights[ARM][j];
    const th_compiled_model_desc desc = {.model = model, .masks = masks, .mask_count = MASKS};
    cr_assert_eq(th_compiled_model_create(&desc, &compiled, &error), TH_OK, "%s", error.text);
    return at_end(end_by_th_compiled_model_destroy, compiled);
}

/* What each plays. An unused layer has weight 0. */
typedef struct trio {
    th_layer layers[TRIO][MOST_LAYERS];
} trio;

static stage stage_trio(const trio *plays)
{
    static const uint8_t counts[TRIO] = {MOST_LAYERS, MOST_LAYERS, MOST_LAYERS};
    const th_compiled_model *compiled = leaning();
    th_spawn instances[TRIO] = {{.clip = TH_NO_INDEX}, {.clip = TH_NO_INDEX}, {.clip = TH_NO_INDEX}};
    const th_crowd_desc desc = {.compiled_models = &compiled, .compiled_model_count = 1, .isa = TH_ISA_SCALAR};
    const th_crowd_layers layers = {plays->layers[0], counts, MOST_LAYERS};
    stage s = {.meshes = {human()->meshes[0]}, .mesh_count = 1, .view = view_of_square(2), .draw_count = 1};
    float *clip = s.view.clip_from_world;
    for (float *column = clip; column < clip + 16; column += 4) { /* narrower and a little lower: the trio fills it */
        column[0] *= 1.3F;
        column[1] = 1.3F * column[1] - 0.12F * column[3];
    }
    th_crowd *crowd;
    cr_assert_eq(th_crowd_create_with(&desc, instances, TRIO, &crowd, &error), TH_OK, "%s", error.text);
    const size_t palettes = th_crowd_palette_bytes(crowd);
    void *scratch = th_cache_line_alloc(th_crowd_scratch_bytes(crowd));
    stage_alloc(&s, palettes + TRIO * sizeof(th_gpu_instance));
    th_crowd_pose_layers(crowd, 0, th_crowd_batch_count(crowd), 0, &layers, s.slot, NULL, scratch);
    for (int i = 0; i < TRIO; i++) { /* side by side across the view, half turned to it */
        const float at = 1.2F * (float)(i - 1);
        ((th_gpu_instance *)(void *)(s.slot + palettes))[i] = (th_gpu_instance){
            .position = {at * 0.894F, 0, at * -0.447F}, .scale = 1, .heading = {0.5F, 0.866F}, .tint = {255, 255, 255}};
    }
    s.draws[0] =
        (th_draw){.count = TRIO, .palette_stride = th_crowd_palettes(crowd, 0).stride, .instance_offset = palettes};
    free(scratch);
    th_crowd_destroy(crowd);
    return s;
}

static th_layer layer_of(uint16_t clip, double ratio, float weight, uint8_t mask)
{
    return (th_layer){ratio, weight, clip, TH_LAYER_OVERRIDE, mask};
}

/* A walk, half a walk and half a run in step, a run. */
static stage fade(double run_weight)
{
    const th_layer walk = layer_of(WALK, 0.1, 1, TH_NO_MASK), run = layer_of(RUN, 0.1, 1, TH_NO_MASK);
    trio t = {{{walk}, {walk, run}, {run}}};
    t.layers[1][0].weight = 0.5F;
    t.layers[1][1].weight = (float)run_weight;
    return stage_trio(&t);
}

/* Legs, body and left arm walk, the right arm waves: by masks of none, the last or both of the two layers. */
static stage wave(double masks)
{
    const th_layer walk = layer_of(WALK, 0.1, 1, TH_NO_MASK), arm = layer_of(WAVE, 0.3, 1, TH_NO_MASK);
    trio t = {{{walk}, {walk, arm}, {arm}}};
    t.layers[1][0].mask = masks > 1 ? OTHERS : TH_NO_MASK;
    t.layers[1][1].mask = masks > 0 ? ARM : TH_NO_MASK;
    return stage_trio(&t);
}

/* Not at all, half and all of it. */
static stage lean(double mode)
{
    const th_layer walk = layer_of(WALK, 0.1, 1, TH_NO_MASK), over = layer_of(LEAN, 1, 0, TH_NO_MASK);
    trio t = {{{walk, over}, {walk, over}, {walk, over}}};
    for (int i = 0; i < TRIO; i++) {
        t.layers[i][1].mode = (uint8_t)mode;
        t.layers[i][1].weight = 0.5F * (float)i;
    }
    return stage_trio(&t);
}

/* ---- the program ---- */

#define SKELETONS "--count 9 --look skeleton --camera 25,18,1"

/* Draws with one thread and without vectors, so that everybody draws the same. */
static uint8_t *render(const char *options, double start_s)
{
    static char line[1024];
    snprintf(line, sizeof line, "render --size %dx%d --start %g --threads 1 --isa scalar --out picture.png %s", WIDTH,
             HEIGHT, start_s, options);
    expect(0, line, "");
    uint8_t *rgba = borrow(4 * WIDTH * HEIGHT);
    read_picture("picture.png", WIDTH, HEIGHT, rgba);
    return rgba;
}

/* ---- the tables ---- */

typedef struct staged {
    const char *stored;
    stage (*make)(double with);
    double with; /* the time, or what the layers are told */
    const way *how;
} staged;

static const staged pictures[] = {
    {"humans", humans, TIME_S, &with_shadows},         {"skeletons", skeletons, TIME_S, &without_shadows},
    {"heat", heat, TIME_S, &without_shadows},          {"levels", levels, TIME_S, &with_shadows},
    {"squashed", squashed, TIME_S, &with_shadows},     {"outfits", outfits, TIME_S, &with_shadows},
    {"layers_fade", fade, 0.5, &with_shadows},         {"layers_mask", wave, 2, &with_shadows},
    {"layers_add", lean, TH_LAYER_ADD, &with_shadows},
};

/* A sixtieth of a second late; no shadows; an influence less; a weight of 0.55 instead of 0.5; masks that are ignored,
 * one and both; a layer that does not add. */
static const staged faults[] = {
    {"humans", humans, LATE_S, &with_shadows},
    {"humans", humans, TIME_S, &without_shadows},
    {"humans", with_an_influence_less, TIME_S, &with_shadows},
    {"layers_fade", fade, 0.55, &with_shadows},
    {"layers_mask", wave, 1, &with_shadows},
    {"layers_mask", wave, 0, &with_shadows},
    {"layers_add", lean, TH_LAYER_OVERRIDE, &with_shadows},
};

/* A street with shadows of those out of sight, at its left edge; scenes; levels of detail, which are finer near by; far
 * ones who share poses, and are off by that; one thread, which has one colour. */
static const struct {
    const char *stored, *options;
} rendered[] = {
    {"street", "--count 400 --scene street --camera 115,35,3"},
    {"scene_street", "--count 200 --scene street"},
    {"scene_plaza", "--count 200 --scene plaza"},
    {"scene_stadium", "--count 1200 --scene stadium --camera 62"},
    {"look_lod", "--count 400 --look lod --camera 25,12,4"},
    {"look_error", "--count 400 --look error --share 15 --camera 25,8,3"},
    {"look_workers", "--count 30 --look workers --scene ring"},
    {"look_skeleton", SKELETONS},
};

static void check(const char *stored, const uint8_t *rgba)
{
    for (size_t i = 3; i < (size_t)WIDTH * HEIGHT * 4; i += 4)
        cr_assert_eq(rgba[i], 255, "%s is not opaque", stored);
    check_golden(stored, rgba, WIDTH, HEIGHT);
}

static void expect_other(const char *stored, const uint8_t *rgba)
{
    static uint8_t golden[WIDTH * HEIGHT * 4];
    read_golden(stored, WIDTH, HEIGHT, golden);
    const difference d = compare_pictures(rgba, golden, WIDTH, HEIGHT);
    cr_expect_not(d.same, "%s: %u pixels off, RMSE %.2g", stored, d.pixels_off, d.rmse);
}

Test(golden, stages)
{
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++) {
        const stage s = pictures[i].make(pictures[i].with);
        check(pictures[i].stored, shoot(&s, pictures[i].how));
    }
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        const stage s = faults[i].make(faults[i].with);
        expect_other(faults[i].stored, shoot(&s, faults[i].how));
    }
}

Test(golden, of_the_program)
{
    make_folder();
    for (size_t i = 0; i < sizeof rendered / sizeof *rendered; i++)
        check(rendered[i].stored, render(rendered[i].options, TIME_S));
    expect_other("look_skeleton", render(SKELETONS, LATE_S));
    remove_folder();
}

static void check_file(const char *stored, const char *file)
{
    char options[600];
    snprintf(options, sizeof options, "--count 9 --camera 25,18,1 --model %s", testmodel(file));
    check(stored, render(options, TIME_S));
}

/* All look to the front: clips stay in place. The second is a recording without meshes: Assimp makes one of bones. */
Test(golden, of_files)
{
    make_folder();
    check_file("wuson", "X/Testwuson.X");
    check_file("boxers", "BVH/Boxing_Toes.bvh");
    remove_folder();
}

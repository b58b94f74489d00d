/* Layers as they look: three humans, of whom the middle one blends what the others play, held against pictures that
 * somebody has looked at (tests/golden). */
#include "fixture_context.h"
#include "fixture_golden.h"
#include "fixture_human.h"
#include "fixture_picture.h"

#include <throng/anim/crowd.h>
#include <throng/core/cache_line.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 640, HEIGHT = 360, TRIO = 3, MOST = 2 };
enum { ARM, OTHERS, MASKS };
enum { WALK = 1, RUN = 3, WAVE = 4, LEAN = 7 };

static const way how = {.width = WIDTH, .height = HEIGHT, .samples = 4, .shadow_pixels = 1024};

TestSuite(golden_layers, .init = make_human, .fini = free_human);

/* ---- the model ---- */

/* From upright to 30 degrees towards the left hand, from the lower spine up. */
static th_model *make_leaning_human(void)
{
    static const double times[] = {0, 1};
    static const float unscaled[] = {1, 1, 1};
    const uint32_t spine = th_model_find_joint(human, "spine_01");
    const th_dmat34 rest = th_dmat34_from(human->joints[spine].rest);
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
    const th_channel channel = {.joint = spine,
                                .translation = {.key_count = 1, .times = times, .values = place},
                                .rotation = {.key_count = 2, .times = times, .values = turns},
                                .scale = {.key_count = 1, .times = times, .values = unscaled}};
    const th_clip clip = {
        .name = "lean", .duration_ticks = 1, .ticks_per_second = 1, .channel_count = 1, .channels = &channel};
    th_model donor = *human, *out;
    th_error err;
    donor.clips = &clip;
    donor.clip_count = 1;
    cr_assert_eq(th_model_attach_clips(human, &donor, &out, &err), TH_OK, "%s", err.text);
    cr_assert_str_eq(out->clips[LEAN].name, "lean");
    return out;
}

/* ---- the stage ---- */

/* What each plays. An unused layer has weight 0. */
typedef struct trio {
    th_layer layers[TRIO][MOST];
} trio;

static th_compiled_model *compile(const th_model *model)
{
    static float weights[MASKS][64];
    static const th_mask masks[MASKS] = {{"arm", weights[ARM]}, {"others", weights[OTHERS]}};
    th_compiled_model *compiled;
    th_error err;
    cr_assert_leq(model->joint_count, 64);
    th_mask_from_joint(model, th_model_find_joint(model, "clavicle_r"), weights[ARM]);
    for (uint32_t j = 0; j < model->joint_count; j++)
        weights[OTHERS][j] = 1 - weights[ARM][j];
    const th_compiled_model_desc desc = {.model = model, .masks = masks, .mask_count = MASKS};
    cr_assert_eq(th_compiled_model_create(&desc, &compiled, &err), TH_OK, "%s", err.text);
    return compiled;
}

static void pose(const th_crowd *crowd, const trio *plays, void *palettes)
{
    static const uint8_t counts[TRIO] = {MOST, MOST, MOST};
    const th_crowd_layers layers = {plays->layers[0], counts, MOST};
    void *scratch = th_cache_line_alloc(th_crowd_scratch_bytes(crowd));
    th_crowd_update_layers(crowd, 0, th_crowd_batch_count(crowd), 0, &layers, palettes, scratch);
    free(scratch);
}

/* Side by side across the view, half turned to it. */
static void place(th_gpu_instance *out)
{
    const float aside[] = {0.894F, -0.447F};
    for (int i = 0; i < TRIO; i++) {
        const float at = 1.2F * (float)(i - 1);
        out[i] = (th_gpu_instance){.position = {at * aside[0], 0, at * aside[1]},
                                   .scale = 1,
                                   .heading = {0.5F, 0.866F},
                                   .tint = {255, 255, 255}};
    }
}

/* Narrower and a little lower, so that a trio fills it. */
static th_view view_of_trio(void)
{
    th_view view = view_of_square(2);
    for (float *column = view.clip_from_world; column < view.clip_from_world + 16; column += 4) {
        column[0] *= 1.3F;
        column[1] = 1.3F * column[1] - 0.12F * column[3];
    }
    return view;
}

static void fill(stage *s, const th_compiled_model *compiled, const trio *plays)
{
    th_instance instances[TRIO] = {{.clip = TH_NO_INDEX}, {.clip = TH_NO_INDEX}, {.clip = TH_NO_INDEX}};
    const th_crowd_desc desc = {.compiled_models = &compiled,
                                .compiled_model_count = 1,
                                .instances = instances,
                                .instance_count = TRIO,
                                .isa = TH_ISA_SCALAR};
    th_crowd *crowd;
    th_error err;
    cr_assert_eq(th_crowd_create(&desc, &crowd, &err), TH_OK, "%s", err.text);
    const size_t palettes = th_crowd_palette_bytes(crowd);
    stage_alloc(s, palettes + TRIO * sizeof(th_gpu_instance));
    pose(crowd, plays, s->slot);
    place((th_gpu_instance *)(void *)(s->slot + palettes));
    s->draws[s->draw_count++] =
        (th_draw){.count = TRIO, .palette_stride = th_crowd_palettes(crowd, 0).stride, .instance_offset = palettes};
    th_crowd_destroy(crowd);
}

static uint8_t *draw(const trio *plays)
{
    th_gl *gl = open_llvmpipe();
    th_model *model = make_leaning_human();
    th_compiled_model *compiled = compile(model);
    th_render_mesh *mesh;
    th_error err;
    stage s = {.view = view_of_trio(), .palette = TH_PALETTE_F32};
    cr_assert_eq(th_render_mesh_create(model, NULL, &mesh, &err), TH_OK, "%s", err.text);
    s.meshes[s.mesh_count++] = mesh;
    fill(&s, compiled, plays);
    uint8_t *rgba = shoot(gl, &s, &how);
    stage_free(&s);
    th_render_mesh_destroy(mesh);
    th_compiled_model_destroy(compiled);
    th_model_free(model);
    close_context(gl);
    return rgba;
}

/* ---- pictures ---- */

static th_layer layer_of(uint16_t clip, double ratio, float weight, uint8_t mask)
{
    return (th_layer){ratio, weight, clip, TH_LAYER_OVERRIDE, mask};
}

/* In step. */
static trio fade(void)
{
    const th_layer walk = layer_of(WALK, 0.1, 1, TH_NO_MASK), run = layer_of(RUN, 0.1, 1, TH_NO_MASK);
    trio t = {{{walk}, {walk, run}, {run}}};
    t.layers[1][0].weight = t.layers[1][1].weight = 0.5F;
    return t;
}

/* Legs, body and left arm walk, the right arm waves. */
static trio wave(void)
{
    const th_layer walk = layer_of(WALK, 0.1, 1, TH_NO_MASK), wave = layer_of(WAVE, 0.3, 1, TH_NO_MASK);
    trio t = {{{walk}, {walk, wave}, {wave}}};
    t.layers[1][0].mask = OTHERS;
    t.layers[1][1].mask = ARM;
    return t;
}

/* Not at all, half and all of it. */
static trio lean(void)
{
    const th_layer walk = layer_of(WALK, 0.1, 1, TH_NO_MASK), lean = layer_of(LEAN, 1, 0, TH_NO_MASK);
    trio t = {{{walk, lean}, {walk, lean}, {walk, lean}}};
    for (int i = 0; i < TRIO; i++) {
        t.layers[i][1].mode = TH_LAYER_ADD;
        t.layers[i][1].weight = 0.5F * (float)i;
    }
    return t;
}

static void check_trio(const char *name, trio t)
{
    uint8_t *rgba = draw(&t);
    check_golden(name, rgba, WIDTH, HEIGHT);
    free(rgba);
}

Test(golden_layers, a_cross_fade_is_halfway_between_walk_and_run)
{
    check_trio("layers_fade", fade());
}

Test(golden_layers, an_arm_waves_while_the_rest_walks)
{
    check_trio("layers_mask", wave());
}

Test(golden_layers, a_walk_leans_by_what_is_added)
{
    check_trio("layers_add", lean());
}

/* ---- faults ---- */

static void expect_other(const char *name, const char *fault, trio t)
{
    static uint8_t golden[WIDTH * HEIGHT * 4];
    uint8_t *rgba = draw(&t);
    read_golden(name, WIDTH, HEIGHT, golden);
    const difference d = compare_pictures(rgba, golden, WIDTH, HEIGHT);
    cr_expect_not(d.same, "%s: %u pixels off, RMSE %.2g", fault, d.pixels_off, d.rmse);
    free(rgba);
}

Test(golden_layers, a_weight_that_is_off_is_seen)
{
    trio t = fade();
    t.layers[1][1].weight = 0.55F;
    expect_other("layers_fade", "0.5 to 0.55", t);
}

Test(golden_layers, masks_that_are_ignored_are_seen)
{
    trio one = wave(), both = one;
    one.layers[1][0].mask = TH_NO_MASK;
    both.layers[1][0].mask = both.layers[1][1].mask = TH_NO_MASK;
    expect_other("layers_mask", "one mask ignored", one);
    expect_other("layers_mask", "both masks ignored", both);
}

Test(golden_layers, a_layer_that_overrides_instead_of_adding_is_seen)
{
    trio t = lean();
    for (int i = 0; i < TRIO; i++)
        t.layers[i][1].mode = TH_LAYER_OVERRIDE;
    expect_other("layers_add", "no layer adds", t);
}

/* Morph weights from tracks to palettes, against an evaluation of their own. */
#include "fixture_crowd.h"
#include "fixture_isa.h"
#include "fixture_morph.h"

#include <anim/exact.h>
#include <anim/weights.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 37, FRAMES = 3 };

static random_desc some(uint32_t n)
{
    random_desc desc = variety(n);
    desc.clip_count = n % 3;
    desc.uneven_keys = false;
    desc.scale = RANDOM_RIGID;
    return desc;
}

static const uint32_t counts[] = {1, 4, 12, 13, 40};

#define EACH_COUNT(n)                                                                                                  \
    size_t n = 0;                                                                                                      \
    n < sizeof counts / sizeof *counts;                                                                                \
    n++

/* ---- exact ---- */

Test(weights, exact_ones_follow_their_tracks)
{
    uint64_t state = 5;
    const random_desc desc = some(2);
    th_model *model = morph_model(&desc, 20);
    double *weights = calloc(model->weight_count, sizeof *weights);
    for (uint32_t c = 0; c <= model->clip_count; c++) {
        const th_clip *clip = c < model->clip_count ? &model->clips[c] : NULL;
        for (int i = 0; i < 200; i++) {
            const double ticks = clip ? random_between(&state, -0.1, 1.1) * clip->duration_ticks : 0;
            th_exact_weights(model, clip, ticks, TH_INTERPOLATION_AUTHORED, weights);
            for (uint32_t w = 0; w < model->weight_count; w++)
                cr_assert_float_eq(weights[w], morph_weight(model, clip, w, ticks), 1e-9, "clip %u, weight %u, tick %g",
                                   c, w, ticks);
        }
    }
    free(weights);
    th_model_destroy(model);
}

/* ---- palettes ---- */

/* How far the vertices of a joint's mesh may be off: all weights of a joint together. */
static void check_instance(const crowd_fixture *s, uint32_t i, double time_s)
{
    const th_model *model = th_compiled_model_source(s->compiled);
    const th_spawn *instance = &s->instances[i];
    const th_clip *clip = instance->clip == TH_NO_INDEX ? NULL : &model->clips[instance->clip];
    const double ticks = clip ? th_clip_ticks(clip, instance->phase_s + instance->speed * time_s) : 0;
    const th_interpolation mode = th_compiled_model_interpolation(s->compiled);
    th_arena *arena = th_arena_create();
    double *exact = th_arena_new(arena, double, model->weight_count), *reaches = th_weight_reaches(model, arena);
    double off[2] = {0}, allowed[2] = {0};
    th_exact_weights(model, clip, ticks, mode, exact);
    const uint32_t entries = th_palette_entries(model->bone_count, model->weight_count);
    for (uint32_t w = 0; w < 12 * (entries - model->bone_count); w++) {
        float entry[12];
        memcpy(entry, s->palette + th_crowd_palette_offset(s->crowd, i) + (model->bone_count + w / 12) * sizeof entry,
               sizeof entry);
        if (w >= model->weight_count) {
            cr_assert_eq(entry[w % 12], 0, "the end of the palette is %g", (double)entry[w % 12]);
            continue;
        }
        const bool last = model->weights[w].joint > 0;
        off[last] += fabs((double)entry[w % 12] - exact[w]) * reaches[w];
        allowed[last] += 1e-6 * reaches[w];
    }
    for (int joint = 0; joint < 2; joint++)
        cr_assert_leq(off[joint], allowed[joint] + 1.25 * th_compiled_model_bound(s->compiled),
                      "%s, clip %d, tick %g, %s", model->name, (int)instance->clip, ticks, th_interpolation_name(mode));
    th_arena_destroy(arena);
}

/* Where a step may be on either side, nothing is checked: between keys alone. */
static void check_crowd(const th_model *model, th_compiled_model_desc how, th_crowd_desc as)
{
    crowd_fixture s;
    crowd_fixture_init_with(&s, model, how, COUNT, as);
    for (int frame = 0; frame < FRAMES; frame++) {
        const double time_s = 0.037 + 0.61 * frame;
        crowd_fixture_update(&s, time_s);
        for (uint32_t i = 0; i < s.count; i++)
            check_instance(&s, i, time_s);
        for (size_t b = 0; b < 64; b++)
            cr_assert_eq(s.palette[s.palette_bytes + b], GUARD, "written beyond the palettes");
    }
    crowd_fixture_fini(&s);
}

Test(weights, are_in_palettes_of_all_kernels)
{
    for (EACH_COUNT(n)) {
        const random_desc desc = some((uint32_t)n);
        th_model *model = morph_model(&desc, counts[n]);
        for (EACH_ISA(isa)) {
            for (int mode = 0; mode < TH_INTERPOLATION_COUNT; mode++) {
                const th_keys keys = (th_keys)((uint32_t)mode + n) % 2;
                check_crowd(model, (th_compiled_model_desc){.interpolation = (th_interpolation)mode, .keys = keys},
                            (th_crowd_desc){.isa = isa, .writes = keys ? TH_WRITES_STREAMED : TH_WRITES_CACHED});
            }
            check_crowd(model, (th_compiled_model_desc){.sampling = TH_SAMPLING_EXACT}, (th_crowd_desc){.isa = isa});
        }
        th_model_destroy(model);
    }
}

static uint32_t compiled_clips(const th_compiled_model *compiled)
{
    return th_compiled_model_source(compiled)->clip_count - th_compiled_model_exact_clips(compiled);
}

/* Otherwise the test above would look at authored keys only. */
Test(weights, clips_of_lines_steps_and_splines_compile)
{
    for (EACH_COUNT(n))
        for (int keys = 0; keys < TH_KEYS_COUNT; keys++) {
            random_desc desc = some((uint32_t)n);
            desc.clip_count = 0;
            th_model *model = morph_model(&desc, counts[n]);
            th_compiled_model *compiled = make_compiled_as(model, (th_compiled_model_desc){.keys = (th_keys)keys});
            cr_expect_eq(compiled_clips(compiled), MORPH_CLIPS, "%u weights: %s", counts[n],
                         th_compiled_model_clip_report(compiled, MORPH_SPLINES)->reason);
            for (uint32_t c = 0; c < model->clip_count; c++)
                cr_expect_leq(th_compiled_model_clip_report(compiled, c)->max_error, th_compiled_model_bound(compiled));
            th_compiled_model_destroy(compiled);
            th_model_destroy(model);
        }
}

/* ---- what they cost ---- */

/* Entries of the bones as if there were no weights. */
Test(weights, bones_are_what_they_are_without)
{
    random_desc desc = some(4);
    th_model *model = morph_model(&desc, 13);
    for (uint32_t c = 0; c < model->clip_count; c++) /* or clips would be resampled at other rates */
        ((th_clip *)model->clips)[c].weight_track_count = 0;
    th_model without = *model;
    th_mesh mesh = model->meshes[0];
    mesh.target_count = 0;
    without.meshes = &mesh;
    without.weight_count = 0;
    crowd_fixture a, b;
    crowd_fixture_init(&a, model, TH_SAMPLING_COMPILED, COUNT, TH_ISA_AUTO);
    crowd_fixture_init(&b, &without, TH_SAMPLING_COMPILED, COUNT, TH_ISA_AUTO);
    crowd_fixture_update(&a, 0.7);
    crowd_fixture_update(&b, 0.7);
    for (uint32_t i = 0; i < COUNT; i++)
        cr_expect_arr_eq(a.palette + th_crowd_palette_offset(a.crowd, i),
                         b.palette + th_crowd_palette_offset(b.crowd, i),
                         model->bone_count * th_palette_entry_bytes(TH_FORMAT_F32));
    for (uint32_t c = 0; c < model->clip_count; c++)
        cr_expect_eq(th_compiled_model_clip_report(a.compiled, c)->bytes,
                     th_compiled_model_clip_report(b.compiled, c)->bytes, "weights that stay have no keys");
    cr_expect_eq(th_crowd_bone_count(a.crowd), th_crowd_bone_count(b.crowd));
    cr_expect_eq(th_crowd_entry_count(a.crowd), th_crowd_entry_count(b.crowd) + 2 * COUNT);
    crowd_fixture_fini(&b);
    crowd_fixture_fini(&a);
    th_model_destroy(model);
}

/* ---- errors as lengths ---- */

Test(weights, errors_are_lengths_in_the_scene)
{
    static const th_morph_delta deltas[] = {{0, {3, 4, 0}, {0}}, {1, {0, 0, 1}, {0}}};
    const th_morph_target targets[] = {{0, 2, deltas}, {1, 1, deltas + 1}}, other[] = {{2, 1, deltas}};
    const th_vertex vertices[] = {{.weight = {1}}, {.weight = {1}}},
                    far[] = {{.bone = {1}, .weight = {1}}, {.bone = {1}, .weight = {1}}};
    const th_mesh meshes[] = {
        {.name = "a", .vertex_count = 2, .vertices = vertices, .target_count = 2, .targets = targets},
        {.name = "b", .vertex_count = 2, .vertices = far, .target_count = 1, .targets = other}};
    const th_joint joints[] = {{"a", TH_NO_INDEX, {{2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0}}, NULL},
                               {"b", 0, {{.5, 0, 0, 0, 0, .5, 0, 0, 0, 0, .5, 0}}, NULL}};
    const th_bone bones[] = {{0, TH_MAT34_IDENTITY}, {1, TH_MAT34_IDENTITY}};
    const th_weight weights[] = {{"", 0, 0}, {"", 0, 0}, {"", 1, 0}};
    const th_model model = {.name = "m",
                            .joint_count = 2,
                            .joints = joints,
                            .bone_count = 2,
                            .bones = bones,
                            .weight_count = 3,
                            .weights = weights,
                            .mesh_count = 2,
                            .meshes = meshes,
                            .arena = OWN_ARENA};
    th_arena *arena = th_arena_create();
    const double *reaches = th_weight_reaches(&model, arena);
    cr_expect_float_eq(reaches[0], 10, 1e-9, "5 in the mesh, twice that in the scene");
    cr_expect_float_eq(reaches[1], 2, 1e-9);
    cr_expect_float_eq(reaches[2], 5, 1e-9);
    uint32_t joint = 7;
    cr_expect_float_eq(th_weight_error(&model, reaches, (double[]){-.1, .1, .1}, &joint), 1.2, 1e-9);
    cr_expect_eq(joint, 0);
    cr_expect_float_eq(th_weight_error(&model, reaches, (double[]){0, .1, .1}, &joint), .5, 1e-9);
    cr_expect_eq(joint, 1);
    cr_expect_eq(th_weight_error(&model, reaches, (double[]){0, (double)NAN, 0}, NULL), HUGE_VAL);
    th_arena_destroy(arena);
}

/* Rigs and crowds against the exact evaluation. */
#include "fixture_crowd.h"

#include <throng/anim/exact.h>
#include <throng/anim/human.h>

#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

Test(compiled_model, one_and_a_thousand_joints_deep_and_wide)
{
    for (uint32_t n = 0; n < 4; n++) {
        random_desc desc = {.seed = n,
                            .joint_count = n / 2 ? 1000 : 1,
                            .shape = n % 2 ? RANDOM_CHAIN : RANDOM_STAR,
                            .clip_count = 1,
                            .key_count = 5,
                            .swing_rad = 0.01};
        th_model *model = random_model(&desc);
        crowd_fixture s;
        crowd_fixture_init(&s, model, TH_SAMPLING_COMPILED, 9, TH_ISA_AUTO);
        crowd_fixture_update(&s, 0.1);
        double rounding = 1e-7 * desc.joint_count * model->size;
        for (uint32_t i = 0; i < s.count; i++)
            cr_assert_leq(instance_error(&s, i, 0.1), 1.05 * th_compiled_model_bound(s.compiled) + rounding);
        crowd_fixture_fini(&s);
        th_model_free(model);
    }
}

Test(compiled_model, a_tighter_bound_takes_more_frames_and_is_held)
{
    th_model *model;
    cr_assert_eq(th_human_create(&model, NULL), TH_OK);
    th_compiled_model *loose, *tight;
    cr_assert_eq(th_compiled_model_create(&(th_compiled_model_desc){.model = model, .bound_m = 0.005}, &loose, NULL),
                 TH_OK);
    cr_assert_eq(th_compiled_model_create(&(th_compiled_model_desc){.model = model, .bound_m = 0.00002}, &tight, NULL),
                 TH_OK);
    uint32_t smaller = 0;
    for (uint32_t c = 0; c < model->clip_count; c++) {
        const th_clip_report *a = th_compiled_model_clip_report(loose, c), *b = th_compiled_model_clip_report(tight, c);
        cr_assert(a->compiled);
        cr_assert_leq(a->max_error, 0.005 * 1.001);
        if (b->compiled) {
            cr_assert_leq(a->frame_count, b->frame_count);
            smaller += a->frame_count < b->frame_count;
            cr_assert_leq(b->max_error, 0.00002 * 1.001);
        }
    }
    cr_assert_gt(smaller, 2);
    th_compiled_model_destroy(loose);
    th_compiled_model_destroy(tight);
    th_model_free(model);
}

/* The largest error of a clip, looked for at many times. Its one joint has no parent and bones with the identity. */
static double dense_error(crowd_fixture *s, const th_clip *clip)
{
    double largest = 0, duration_s = clip->duration_ticks / clip->ticks_per_second;
    cr_assert(s->count == 1 && s->instances[0].clip == 0);
    for (int n = 0; n < 20000; n++) {
        double time_s = (n + 0.5) / 20000 * duration_s;
        crowd_fixture_update(s, time_s);
        largest = fmax(largest, instance_error(s, 0, time_s));
    }
    return largest;
}

/* Splines that leave the joint's rest between equal keys: nothing but tangents tells, and the error is between frames
 * that are right. reported: whether the clip holds its bound at far more times than those at which it was measured. */
static void check_bend(const float tangents[12], const double times[2])
{
    const float zeros[6] = {0};
    const th_channel channel = moving_channel(0, (th_track){2, times, zeros, tangents, false});
    const th_clip clip = clip_of(&channel, 1, 30, 30);
    const th_model model = model_of(&root_joint, &root_bone, 1, &clip);
    cr_assert_eq(th_model_check(&model, NULL), TH_OK);
    crowd_fixture s;
    crowd_fixture_init_one(&s, &model, (th_compiled_model_desc){0}, TH_ISA_SCALAR);
    const th_clip_report *report = th_compiled_model_clip_report(s.compiled, 0);
    cr_assert(report->compiled, "%s", report->reason);
    cr_expect_gt(report->frame_count, 8);
    double dense = dense_error(&s, &clip);
    cr_expect_leq(dense, 1.07 * th_compiled_model_bound(s.compiled), "%g, measured as %g", dense, report->max_error);
    cr_expect_leq(dense, 1.07 * report->max_error, "%g, measured as %g", dense, report->max_error);
    crowd_fixture_fini(&s);
}

/* Of palettes while the joint `turning` turns by 90 degrees where it rests; each joint has a bind. */
static double error_of_turn(th_joint *joints, th_bone *bones, uint32_t count, uint32_t turning)
{
    const double time = 0;
    const float *rest = joints[turning].rest.m, place[] = {rest[3], rest[7], rest[11]};
    const float turn[] = {0, 0, 0.70710678F, 0.70710678F};
    th_channel channel = turning_channel(turning, 1, &time, turn);
    channel.translation.values = place;
    const th_clip clip = clip_of(&channel, 1, 1, 1);
    const th_model model = model_of(joints, bones, count, &clip);
    crowd_fixture s;
    crowd_fixture_init(&s, &model, TH_SAMPLING_COMPILED, 1, TH_ISA_SCALAR);
    crowd_fixture_update(&s, 0.5);
    const double error = instance_error(&s, 0, 0.5);
    crowd_fixture_fini(&s);
    return error;
}

/* Of an arm whose rest pose has it `off` from where the bind pose has it. */
static double error_of_shift(float off)
{
    th_joint joints[] = {{"root", TH_NO_INDEX, TH_MAT34_IDENTITY}, {"arm", 0, TH_MAT34_IDENTITY}};
    th_bone bones[] = {{0, TH_MAT34_IDENTITY}, {1, TH_MAT34_IDENTITY}};
    joints[1].rest.m[7] = 1;
    bones[1].inverse_bind.m[3] = -off;
    bones[1].inverse_bind.m[7] = -1;
    return error_of_turn(joints, bones, 2, 1);
}

/* Of a root that turns, with what stands still on it longer by a part of itself. */
static double error_of_stretch(float stretch)
{
    th_joint joints[] = {{"root", TH_NO_INDEX, TH_MAT34_IDENTITY},
                         {"arm", 0, TH_MAT34_IDENTITY},
                         {"hand", 1, TH_MAT34_IDENTITY},
                         {"ring", 2, TH_MAT34_IDENTITY}};
    th_bone bones[] = {{0, TH_MAT34_IDENTITY}, {1, TH_MAT34_IDENTITY}, {2, TH_MAT34_IDENTITY}, {3, TH_MAT34_IDENTITY}};
    joints[1].rest.m[5] = joints[2].rest.m[0] = joints[3].rest.m[10] = 1 + stretch;
    joints[2].rest.m[7] = joints[3].rest.m[3] = 1;
    bones[3].inverse_bind.m[3] = -1;
    return error_of_turn(joints, bones, 4, 0);
}

/* Then it does not just turn about itself, however nearly. */
Test(compiled_model, a_joint_may_rest_where_it_was_not_bound)
{
    static const float offs[] = {0, 1e-7F, 1e-6F, 1e-5F, 1e-3F, 1};
    for (size_t i = 0; i < sizeof offs / sizeof *offs; i++)
        cr_expect_lt(error_of_shift(offs[i]), 5e-7, "%g", (double)offs[i]);
}

/* Then it does not just ride on what it stands on, however nearly. */
Test(compiled_model, a_joint_that_stands_still_may_be_stretched)
{
    static const float stretches[] = {0, 1e-7F, 1e-6F, 1e-5F, 9e-5F, 1e-3F, 1};
    for (size_t i = 0; i < sizeof stretches / sizeof *stretches; i++)
        cr_expect_lt(error_of_stretch(stretches[i]), 5e-7, "%g", (double)stretches[i]);
}

Test(compiled_model, splines_are_measured_where_they_stray_most)
{
    const float bow[12] = {0, 0, 0, .02f, 0, 0, -.02f, 0, 0}, swing[12] = {0, 0, 0, 0, .03f, 0, 0, .03f, 0};
    const float wiggle[12] = {0, 0, 0, 0, 0, .001f, 0, 0, .001f};
    check_bend(bow, (const double[]){0, 30});
    check_bend(swing, (const double[]){0, 30});
    check_bend(bow, (const double[]){2, 17.5});
    check_bend(swing, (const double[]){-20, 12.5});
    check_bend(swing, (const double[]){8, 18});
    check_bend(wiggle, (const double[]){10.03, 11.07}); /* between two frames, were it not looked for */
}

/* A half turn has two short ways; rounding picks one, and the sign of the next key may not follow. */
Test(compiled_model, half_turns_between_keys_compile)
{
    const double times[] = {0, 10, 20, 30};
    const float turns[] = {0, 0, 0, 1, 0, 0, 1, -4e-5f, 0, 0, -4e-5f, -1, 0, 0, -1, 8e-5f};
    const th_channel channel = turning_channel(0, 4, times, turns);
    const th_clip clip = clip_of(&channel, 1, 30, 30);
    const th_model model = model_of(&root_joint, &root_bone, 1, &clip);
    th_error err;
    cr_assert_eq(th_model_check(&model, &err), TH_OK, "%s", err.text);
    th_compiled_model *compiled = make_compiled(&model, TH_SAMPLING_COMPILED);
    cr_assert(th_compiled_model_clip_report(compiled, 0)->compiled, "%s",
              th_compiled_model_clip_report(compiled, 0)->reason);
    th_compiled_model_destroy(compiled);
}

/* ---- what is hidden at rest ---- */

/* A triangle on a joint that is scaled to nothing, but for the middle of its clip. */
Test(compiled_model, compiles_what_shows_up_in_a_clip)
{
    enum { KEYS = 9 };
    static const th_vertex vertices[] = {{.position = {1, 0, 0}, .weight = {1}},
                                         {.position = {0, 1, 0}, .weight = {1}},
                                         {.position = {0, 0, 1}, .weight = {1}}};
    static const uint32_t indices[] = {0, 1, 2};
    static const float nowhere[3] = {0};
    double times[KEYS];
    float scales[3 * KEYS];
    for (int k = 0; k < KEYS; k++) {
        times[k] = k;
        scales[3 * k] = scales[3 * k + 1] = scales[3 * k + 2] = k >= KEYS / 3 && k < KEYS - KEYS / 3;
    }
    th_channel channel = moving_channel(0, (th_track){1, times, nowhere, NULL, false});
    channel.scale = (th_track){KEYS, times, scales, NULL, false};
    const th_clip clip = clip_of(&channel, 1, KEYS - 1, 1);
    const th_joint joint = {"part", TH_NO_INDEX, {{0}}};
    const th_mesh mesh = {
        .name = "part", .vertex_count = 3, .index_count = 3, .vertices = vertices, .indices = indices};
    const th_material material = {.name = "plain", .base_color = {1, 1, 1, 1}, .texture = TH_NO_INDEX};
    th_model model = model_of(&joint, &root_bone, 1, &clip);
    model.meshes = &mesh;
    model.materials = &material;
    model.mesh_count = model.material_count = 1;
    cr_assert_eq(th_model_check(&model, NULL), TH_OK);
    crowd_fixture s;
    crowd_fixture_init(&s, &model, TH_SAMPLING_COMPILED, 40, TH_ISA_AUTO);
    crowd_fixture_update(&s, 0.3);
    cr_expect(th_compiled_model_clip_report(s.compiled, 0)->compiled);
    for (uint32_t i = 0; i < s.count; i++) {
        const th_instance *instance = &s.instances[i];
        th_trs trs = {.scale = {0}};
        if (instance->clip == 0)
            th_exact_channel(&channel, th_clip_ticks(model.clips, instance->phase_s + instance->speed * 0.3),
                             TH_INTERPOLATION_AUTHORED, &trs);
        float entry[12];
        memcpy(entry, s.palette + th_crowd_palette_offset(s.crowd, i), sizeof entry);
        cr_expect_float_eq((double)entry[0], trs.scale[0], 1.25 * th_compiled_model_bound(s.compiled), "%u: %g", i,
                           trs.scale[0]);
    }
    crowd_fixture_fini(&s);
}

/* ---- crowds ---- */

/* ---- some of a crowd ---- */

enum { ACTIVE_MODELS = 3, ACTIVE_COUNT = 211 };

typedef struct gathering {
    th_model *models[ACTIVE_MODELS];
    th_compiled_model *compiled_models[ACTIVE_MODELS];
    th_instance instances[ACTIVE_COUNT];
    th_crowd *crowd;
    unsigned char *whole, *some;
    void *scratch;
} gathering;

static void gathering_init(gathering *g)
{
    for (uint32_t m = 0; m < ACTIVE_MODELS; m++) {
        random_desc desc = variety(m * 9 + 4);
        g->models[m] = random_model(&desc);
        g->compiled_models[m] = make_compiled(g->models[m], TH_SAMPLING_COMPILED);
    }
    th_instances_scatter((const th_compiled_model *const *)g->compiled_models, ACTIVE_MODELS, TH_NO_INDEX, 3,
                         g->instances, ACTIVE_COUNT);
    const th_crowd_desc desc = {.compiled_models = (const th_compiled_model *const *)g->compiled_models,
                                .compiled_model_count = ACTIVE_MODELS,
                                .instances = g->instances,
                                .instance_count = ACTIVE_COUNT};
    cr_assert_eq(th_crowd_create(&desc, &g->crowd, NULL), TH_OK);
    g->whole = aligned_alloc(64, th_crowd_palette_bytes(g->crowd));
    g->some = aligned_alloc(64, th_crowd_palette_bytes(g->crowd));
    g->scratch = aligned_alloc(64, th_crowd_scratch_bytes(g->crowd));
    th_crowd_update(g->crowd, 0, th_crowd_batch_count(g->crowd), 0.6, g->whole, g->scratch);
}

static void gathering_fini(gathering *g)
{
    th_crowd_destroy(g->crowd);
    for (uint32_t m = 0; m < ACTIVE_MODELS; m++) {
        th_compiled_model_destroy(g->compiled_models[m]);
        th_model_free(g->models[m]);
    }
    free(g->whole);
    free(g->some);
    free(g->scratch);
}

/* Every active instance's palette is what it is in the whole crowd, and they lie as promised. */
static void check_shown(gathering *g, const uint32_t *active, uint32_t count, const size_t *offsets)
{
    uint32_t seen[ACTIVE_MODELS] = {0};
    th_crowd_set_active(g->crowd, active, count);
    memset(g->some, GUARD, th_crowd_palette_bytes(g->crowd));
    th_crowd_update(g->crowd, 0, th_crowd_batch_count(g->crowd), 0.6, g->some, g->scratch);
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t i = active[k], model = g->instances[i].model;
        const th_palette_range run = th_crowd_palettes(g->crowd, model);
        const size_t at = run.offset + seen[model]++ * run.stride;
        cr_assert_eq(at, th_crowd_palette_offset(g->crowd, i));
        cr_assert_arr_eq(g->some + at, g->whole + offsets[i], 48 * g->models[model]->bone_count, "%u of %u", k, count);
    }
    for (uint32_t m = 0; m < ACTIVE_MODELS; m++)
        cr_assert_eq(seen[m], th_crowd_palettes(g->crowd, m).count);
}

static int by_offset(const void *a, const void *b, void *crowd)
{
    const size_t first = th_crowd_palette_offset(crowd, *(const uint32_t *)a),
                 second = th_crowd_palette_offset(crowd, *(const uint32_t *)b);
    return (first > second) - (first < second);
}

/* The same active instances, set in parts of 7, the last part first. */
static void check_parts(gathering *g, uint32_t *active, uint32_t count)
{
    static size_t offsets[ACTIVE_COUNT];
    uint32_t counts[ACTIVE_MODELS];
    const size_t bytes = th_crowd_palette_bytes(g->crowd);
    const uint32_t batches = th_crowd_batch_count(g->crowd);
    qsort_r(active, count, sizeof *active, by_offset, g->crowd);
    for (uint32_t k = 0; k < count; k++)
        offsets[k] = th_crowd_palette_offset(g->crowd, active[k]);
    for (uint32_t m = 0; m < ACTIVE_MODELS; m++)
        counts[m] = th_crowd_palettes(g->crowd, m).count;
    char *before = malloc(bytes + 1);
    memcpy(before, g->some, bytes);
    memset(g->some, GUARD, bytes);
    th_crowd_set_active(g->crowd, NULL, ACTIVE_COUNT);
    th_crowd_set_active_counts(g->crowd, counts);
    cr_assert(th_crowd_palette_bytes(g->crowd) == bytes && th_crowd_batch_count(g->crowd) == batches);
    for (uint32_t left = count; left > 0;) {
        const uint32_t first = left > 7 ? left - 7 : 0;
        th_crowd_set_active_range(g->crowd, first, active + first, left - first);
        left = first;
    }
    for (uint32_t k = 0; k < count; k++)
        cr_assert_eq(th_crowd_palette_offset(g->crowd, active[k]), offsets[k]);
    th_crowd_update(g->crowd, 0, batches, 0.6, g->some, g->scratch);
    cr_assert_arr_eq(g->some, before, bytes);
    free(before);
}

Test(crowd, shows_some_of_its_instances_in_any_order)
{
    gathering g;
    size_t offsets[ACTIVE_COUNT];
    uint32_t active[ACTIVE_COUNT];
    gathering_init(&g);
    const uint64_t hash = th_crowd_hash(g.crowd, g.whole);
    const size_t bytes = th_crowd_palette_bytes(g.crowd);
    for (uint32_t i = 0; i < ACTIVE_COUNT; i++)
        offsets[i] = th_crowd_palette_offset(g.crowd, i);
    for (uint32_t step = 1; step < 120; step += 7) { /* prime to the count: no instance twice */
        const uint32_t count = ACTIVE_COUNT * (step % 11) / 11;
        for (uint32_t k = 0; k < count; k++)
            active[k] = (k + step) * step % ACTIVE_COUNT;
        check_shown(&g, active, count, offsets);
        check_parts(&g, active, count);
        cr_assert_leq(th_crowd_palette_bytes(g.crowd), bytes);
    }
    th_crowd_set_active(g.crowd, NULL, ACTIVE_COUNT);
    th_crowd_update(g.crowd, 0, th_crowd_batch_count(g.crowd), 0.6, g.some, g.scratch);
    cr_assert_eq(th_crowd_hash(g.crowd, g.some), hash);
    gathering_fini(&g);
}

/* One entry a palette, and that is a line: as many as fill th_stream_bytes, and one more. */
Test(crowd, streams_what_is_more_than_stays_in_the_caches)
{
    const uint32_t most = (uint32_t)(th_stream_bytes() / TH_CACHE_LINE);
    const random_desc desc = {.seed = 5, .joint_count = 1, .clip_count = 2, .key_count = 9, .swing_rad = 1};
    th_model *model = random_model(&desc);
    crowd_fixture s;
    crowd_fixture_init_with(&s, model, (th_compiled_model_desc){0}, most + 1, (th_crowd_desc){0});
    cr_assert_eq(s.palette_bytes, th_stream_bytes() + TH_CACHE_LINE);
    cr_expect_eq(th_crowd_writes(s.crowd), TH_WRITES_STREAMED);
    crowd_fixture_update(&s, 0.7);
    const uint64_t hash = th_crowd_hash(s.crowd, s.palette);

    uint32_t *active = malloc(most * sizeof *active);
    for (uint32_t i = 0; i < most; i++)
        active[i] = i;
    th_crowd_set_active(s.crowd, active, most);
    cr_expect_eq(th_crowd_writes(s.crowd), TH_WRITES_CACHED);
    th_crowd_set_writes(s.crowd, TH_WRITES_STREAMED);
    cr_expect_eq(th_crowd_writes(s.crowd), TH_WRITES_STREAMED);
    th_crowd_set_writes(s.crowd, TH_WRITES_AUTO);
    cr_expect_eq(th_crowd_writes(s.crowd), TH_WRITES_CACHED);
    const size_t last = th_crowd_palette_bytes(s.crowd);
    unsigned char *streamed = malloc(last);
    memcpy(streamed, s.palette, last);
    memset(s.palette, GUARD, last);
    crowd_fixture_update(&s, 0.7);
    cr_expect_eq(memcmp(s.palette, streamed, last), 0);

    th_crowd_set_active(s.crowd, NULL, most + 1);
    th_crowd_set_writes(s.crowd, TH_WRITES_CACHED);
    cr_expect_eq(th_crowd_writes(s.crowd), TH_WRITES_CACHED);
    crowd_fixture_update(&s, 0.7);
    cr_expect_eq(th_crowd_hash(s.crowd, s.palette), hash);
    free(active);
    free(streamed);
    crowd_fixture_fini(&s);
    th_model_free(model);
}

Test(crowd, palettes_are_whole_lines_but_not_whole_pages_apart)
{
    for (int format = 0; format < TH_PALETTE_COUNT; format++)
        for (uint32_t entries = 0; entries < 2000; entries++) {
            const size_t used = entries * th_palette_entry_bytes((th_palette)format);
            const size_t stride = th_palette_stride((th_palette)format, entries);
            cr_assert(stride >= used && stride <= used + 127 && stride % 64 == 0, "%u", entries);
            cr_assert(stride == 0 ? entries == 0 : stride % 4096 != 0, "%u", entries);
        }
}

/* Steps for a batch, joints for each of its members that plays exact: a thousand joints are dearer than one. */
Test(crowd, batches_of_larger_models_cost_more)
{
    random_desc small = variety(1), large = variety(1);
    small.joint_count = 5;
    large.joint_count = 50;
    th_model *models[] = {random_model(&small), random_model(&large)};
    uint32_t costs[2][3];
    for (int s = 0; s < 2; s++) {
        const th_sampling sampling = s ? TH_SAMPLING_EXACT : TH_SAMPLING_COMPILED;
        th_compiled_model *compiled_models[] = {make_compiled(models[0], sampling), make_compiled(models[1], sampling)};
        th_instance instances[16 + 35]; /* a batch of the first; one, and one that is longer, of the second */
        for (uint32_t i = 0; i < 51; i++)
            instances[i] = (th_instance){.model = i >= 16, .speed = 1};
        th_crowd *crowd;
        th_crowd_desc desc = {(const th_compiled_model *const *)compiled_models,
                              2,
                              instances,
                              51,
                              TH_ISA_AUTO,
                              TH_PALETTE_F32,
                              TH_WRITES_CACHED};
        cr_assert_eq(th_crowd_create(&desc, &crowd, NULL), TH_OK);
        cr_assert_eq(th_crowd_batch_count(crowd), 3);
        for (uint32_t b = 0; b < 3; b++)
            costs[s][b] = th_crowd_batch_cost(crowd, b);
        th_crowd_destroy(crowd);
        th_compiled_model_destroy(compiled_models[0]);
        th_compiled_model_destroy(compiled_models[1]);
    }
    for (int m = 0; m < 2; m++)
        th_model_free(models[m]);
    cr_expect(costs[0][0] > 0 && costs[0][0] < costs[0][1]);
    cr_expect(costs[0][1] < costs[0][2] && costs[0][2] <= 2 * costs[0][1], "one run more");
    cr_expect_eq(19 * costs[1][1], 16 * costs[1][2]);
    for (int b = 0; b < 3; b++)
        cr_expect_gt(costs[1][b], costs[0][b]);
}

Test(crowd, mixes_models)
{
    enum { MODELS = 5, COUNT = 103 };
    th_model *models[MODELS];
    th_compiled_model *compiled_models[MODELS];
    for (uint32_t m = 0; m < MODELS; m++) {
        random_desc desc = variety(m * 9 + 4);
        models[m] = random_model(&desc);
        compiled_models[m] = make_compiled(models[m], TH_SAMPLING_COMPILED);
    }
    th_instance instances[COUNT];
    th_instances_scatter((const th_compiled_model *const *)compiled_models, MODELS, TH_NO_INDEX, 3, instances, COUNT);
    th_crowd *crowd;
    th_crowd_desc desc = {(const th_compiled_model *const *)compiled_models,
                          MODELS,
                          instances,
                          COUNT,
                          TH_ISA_AUTO,
                          TH_PALETTE_F32,
                          TH_WRITES_CACHED};
    cr_assert_eq(th_crowd_create(&desc, &crowd, NULL), TH_OK);
    unsigned char *palette = aligned_alloc(64, th_crowd_palette_bytes(crowd));
    void *scratch = aligned_alloc(64, th_crowd_scratch_bytes(crowd));
    th_crowd_update(crowd, 0, th_crowd_batch_count(crowd), 0.5, palette, scratch);

    for (uint32_t i = 0; i < COUNT; i++) { /* the same as alone */
        const th_compiled_model *compiled = compiled_models[instances[i].model];
        th_instance alone = instances[i];
        alone.model = 0;
        th_crowd *one;
        th_crowd_desc one_desc = {&compiled, 1, &alone, 1, TH_ISA_AUTO, TH_PALETTE_F32, TH_WRITES_CACHED};
        cr_assert_eq(th_crowd_create(&one_desc, &one, NULL), TH_OK);
        unsigned char *want = aligned_alloc(64, th_crowd_palette_bytes(one));
        th_crowd_update(one, 0, 1, 0.5, want, scratch);
        cr_assert_arr_eq(palette + th_crowd_palette_offset(crowd, i), want,
                         48 * th_compiled_model_source(compiled)->bone_count, "instance %u", i);
        free(want);
        th_crowd_destroy(one);
    }
    free(palette);
    free(scratch);
    th_crowd_destroy(crowd);
    for (uint32_t m = 0; m < MODELS; m++) {
        th_compiled_model_destroy(compiled_models[m]);
        th_model_free(models[m]);
    }
}

Test(crowd, a_larger_crowd_begins_with_the_smaller_one)
{
    random_desc desc = variety(3);
    th_model *model = random_model(&desc);
    const th_compiled_model *compiled = make_compiled(model, TH_SAMPLING_EXACT);
    th_instance few[10], many[100];
    th_instances_scatter(&compiled, 1, TH_NO_INDEX, 42, few, 10);
    th_instances_scatter(&compiled, 1, TH_NO_INDEX, 42, many, 100);
    for (int i = 0; i < 10; i++)
        cr_assert(few[i].clip == many[i].clip && few[i].phase_s == many[i].phase_s && few[i].speed == many[i].speed);
    uint32_t clips = 0;
    for (int i = 0; i < 100; i++) {
        clips |= 1u << many[i].clip;
        cr_assert(many[i].speed >= 0.9 && many[i].speed <= 1.1);
    }
    cr_assert_eq(clips, (1u << model->clip_count) - 1, "a mix plays every clip");
    th_instances_scatter(&compiled, 1, 1, 42, many, 100);
    for (int i = 0; i < 100; i++)
        cr_assert_eq(many[i].clip, 1);
    th_instances_scatter(&compiled, 1, 77, 42, many, 100);
    cr_assert_eq(many[0].clip, TH_NO_INDEX, "a clip that the model lacks is the rest pose");
    th_compiled_model_destroy((th_compiled_model *)compiled);
    th_model_free(model);
}

Test(crowd, ten_thousand_humans_take_little_beyond_their_palettes)
{
    th_model *model;
    cr_assert_eq(th_human_create(&model, NULL), TH_OK);
    crowd_fixture s;
    crowd_fixture_init(&s, model, TH_SAMPLING_COMPILED, 10000, TH_ISA_AUTO);
    size_t bytes = th_crowd_bytes(s.crowd) + th_compiled_model_bytes(s.compiled) + 64 * th_crowd_scratch_bytes(s.crowd);
    cr_assert_lt(bytes, 100u << 20);
    cr_log_info("%zu bytes beyond palettes of %zu, for 64 threads", bytes, s.palette_bytes);
    crowd_fixture_fini(&s);
    th_model_free(model);
}

Test(isa, names_and_availability)
{
    const char *names[TH_ISA_COUNT] = {"auto", "scalar", "sse4", "avx2", "avx512", "neon"};
    for (int isa = 0; isa < TH_ISA_COUNT; isa++)
        cr_expect_str_eq(th_isa_name((th_isa)isa), names[isa]);
    cr_expect_str_eq(th_isa_name(TH_ISA_COUNT), "unknown");
    cr_expect(!th_isa_available(TH_ISA_COUNT));
    cr_expect(th_isa_available(TH_ISA_AUTO) && th_isa_available(TH_ISA_SCALAR));
    cr_expect(th_isa_available(TH_ISA_SSE4) || !th_isa_available(TH_ISA_AVX2), "no CPU has AVX2 without SSE4.1");
}

Test(isa, best_is_one_that_is_available)
{
    th_isa best = th_isa_best();
    cr_assert_neq(best, TH_ISA_AUTO);
    cr_expect(th_isa_available(best));
    const th_isa least = th_isa_available(TH_ISA_AVX2) ? TH_ISA_AVX2 : TH_ISA_SCALAR;
    cr_expect_geq(best, least);
}

Test(isa, one_that_is_not_there_is_refused_by_its_name)
{
    random_desc desc = variety(4);
    th_model *model = random_model(&desc);
    const th_compiled_model *compiled = make_compiled(model, TH_SAMPLING_COMPILED);
    for (th_isa isa = TH_ISA_SCALAR; isa < TH_ISA_COUNT; isa++) {
        th_crowd *crowd;
        th_error err = {.text = ""};
        const th_crowd_desc crowd_desc = {.compiled_models = &compiled, .compiled_model_count = 1, .isa = isa};
        const th_result result = th_crowd_create(&crowd_desc, &crowd, &err);
        cr_expect_eq(result, th_isa_available(isa) ? TH_OK : TH_ERR_ENVIRONMENT, "%s", err.text);
        cr_expect(result == TH_OK || strstr(err.text, th_isa_name(isa)), "%s", err.text);
        th_crowd_destroy(crowd);
    }
    th_compiled_model_destroy((th_compiled_model *)compiled);
    th_model_free(model);
}

/* Each joint moves so little that holding it still would do, but 40 of them in a row add up to twice the bound. */
Test(compiled_model, small_shifts_that_add_up_are_played)
{
    enum { COUNT = 40 };
    static const double times[] = {0, 1};
    static const float shifts[] = {0.1F, 0, 0, 0.1000032F, 0, 0};
    th_joint joints[COUNT];
    th_bone bones[COUNT];
    th_channel channels[COUNT];
    for (uint32_t j = 0; j < COUNT; j++) {
        joints[j] = (th_joint){"joint", j > 0 ? j - 1 : TH_NO_INDEX, TH_MAT34_IDENTITY};
        joints[j].rest.m[3] = shifts[0];
        bones[j] = (th_bone){j, TH_MAT34_IDENTITY};
        channels[j] = moving_channel(j, (th_track){2, times, shifts, NULL, false});
    }
    const th_clip clip = clip_of(channels, COUNT, 1, 1);
    const th_model model = model_of(joints, bones, COUNT, &clip);
    th_compiled_model *compiled = make_compiled(&model, TH_SAMPLING_COMPILED);
    cr_expect_eq(th_compiled_model_exact_clips(compiled), 0);
    th_compiled_model_destroy(compiled);
}

/* ---- palettes of quaternions ---- */

static void expect_refusal(const th_compiled_model *compiled, th_palette palette, bool expected, const char *why)
{
    const char *obstacle = th_compiled_model_obstacle(compiled, palette);
    const th_crowd_desc desc = {.compiled_models = &compiled, .compiled_model_count = 1, .palette = palette};
    th_crowd *crowd;
    th_error err;
    cr_assert_eq(obstacle != NULL, expected, "%s: %s", th_palette_name(palette), obstacle ? obstacle : "no obstacle");
    cr_expect_eq(th_crowd_create(&desc, &crowd, &err), expected ? TH_ERR_INPUT : TH_OK);
    if (obstacle)
        cr_expect(strstr(err.text, obstacle) && strstr(obstacle, why), "%s", err.text);
    th_crowd_destroy(crowd);
}

/* whole, small: what the refusals of QUAT and of QUAT16 say; NULL: none. */
static void expect_obstacle(const random_desc *desc, const char *whole, const char *small)
{
    th_model *model = random_model(desc);
    th_compiled_model *compiled = make_compiled(model, TH_SAMPLING_COMPILED);
    const th_compiled_model *const compiled_models[] = {compiled};
    const th_crowd_desc crowd_desc = {
        .compiled_models = compiled_models, .compiled_model_count = 1, .palette = TH_PALETTE_AUTO};
    th_crowd *crowd;
    th_error err;
    expect_refusal(compiled, TH_PALETTE_F32, false, NULL);
    expect_refusal(compiled, TH_PALETTE_QUAT, whole, whole);
    expect_refusal(compiled, TH_PALETTE_QUAT16, small, small);
    cr_assert_eq(th_crowd_create(&crowd_desc, &crowd, &err), TH_OK);
    cr_expect_eq(th_crowd_palette(crowd), whole ? TH_PALETTE_F32 : TH_PALETTE_QUAT);
    th_crowd_destroy(crowd);
    th_compiled_model_destroy(compiled);
    th_model_free(model);
}

Test(quaternions, are_refused_where_joints_are_scaled)
{
    random_desc desc = {.seed = 3, .joint_count = 20, .clip_count = 2, .key_count = 5, .swing_rad = 0.3};
    expect_obstacle(&desc, NULL, NULL);
    desc.scale = RANDOM_UNITS;
    expect_obstacle(&desc, NULL, NULL);
    desc.scale = RANDOM_UNIFORM;
    expect_obstacle(&desc, "scaled", "scaled");
    desc.scale = RANDOM_NON_UNIFORM;
    expect_obstacle(&desc, "scaled", "scaled");
}

/* 16 bytes end at twice the model's size. A hand hangs `arm` along x from a root that goes a way. Curves get far from
 * keys that lie near: to 2 in the middle of the spline, to 1.9 between the inner keys of the hill. */
Test(quaternions, of_16_bytes_are_refused_for_what_goes_too_far)
{
    static const double times[] = {0, 1, 2, 3};
    static const float near[] = {0, 0, 0, 1.5F, 0, 0}, far[] = {0, 0, 0, 2, 0, 0}, way[] = {0, 0, 0, 1, 0, 0},
                       still[6] = {0}, tangents[] = {0, 0, 0, 8, 0, 0, -8, 0, 0, 0, 0, 0},
                       hill[] = {0, 0, 0, 1.7F, 0, 0, 1.7F, 0, 0, 0, 0, 0};
    const struct {
        th_track way; /* of the root */
        float arm;
        th_interpolation interpolation;
        bool far;
    } cases[] = {
        {{2, times, near, NULL, false}, 0, TH_INTERPOLATION_AUTHORED, false},
        {{2, times, far, NULL, false}, 0, TH_INTERPOLATION_AUTHORED, true},
        {{2, times, way, NULL, false}, 0.5F, TH_INTERPOLATION_AUTHORED, false},
        {{2, times, way, NULL, false}, 1, TH_INTERPOLATION_AUTHORED, true},
        {{2, times, way, NULL, false}, -1.5F, TH_INTERPOLATION_AUTHORED, false},
        {{2, times, still, tangents, false}, 0, TH_INTERPOLATION_AUTHORED, true},
        {{4, times, hill, NULL, false}, 0, TH_INTERPOLATION_AUTHORED, false},
        {{4, times, hill, NULL, false}, 0, TH_INTERPOLATION_CUBIC, true},
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        th_joint joints[] = {root_joint, {"hand", 0, TH_MAT34_IDENTITY}};
        joints[1].rest.m[3] = cases[n].arm;
        const th_bone bone = {1, TH_MAT34_IDENTITY};
        const th_channel channel = moving_channel(0, cases[n].way);
        const th_clip clip = clip_of(&channel, 1, times[cases[n].way.key_count - 1], 1);
        th_model model = model_of(joints, &bone, 2, &clip);
        model.bone_count = 1;
        th_compiled_model *compiled =
            make_compiled_as(&model, (th_compiled_model_desc){.interpolation = cases[n].interpolation});
        expect_refusal(compiled, TH_PALETTE_QUAT, false, NULL);
        expect_refusal(compiled, TH_PALETTE_QUAT16, cases[n].far, "too far");
        th_compiled_model_destroy(compiled);
    }
}

/* Half a step of 1.7 um along each axis of the place, and next to nothing of the rotation. */
Test(quaternions, of_16_bytes_are_2_um_away_at_most)
{
    th_error err;
    th_model *model;
    crowd_fixture whole, small;
    cr_assert_eq(th_human_create(&model, &err), TH_OK, "%s", err.text);
    crowd_fixture_init_with(&whole, model, (th_compiled_model_desc){0}, 200,
                            (th_crowd_desc){.palette = TH_PALETTE_QUAT});
    crowd_fixture_init_twin(&small, &whole, (th_crowd_desc){.palette = TH_PALETTE_QUAT16});
    for (int k = 0; k < 5; k++) {
        crowd_fixture_update(&whole, 0.37 * k);
        crowd_fixture_update(&small, 0.37 * k);
        cr_expect_leq(crowd_distance(&whole, &small), 2e-6);
    }
    crowd_fixture_fini_twin(&small);
    crowd_fixture_fini(&whole);
    th_model_free(model);
}

/* About random axes, through angles at whose half the sign of w changes too. */
Test(quaternions, of_16_bytes_hold_every_rotation)
{
    static const double angles[] = {0, 1e-6, 1, 3.14159, 3.1415926535, 3.1416, 5, 6.28};
    const th_palette_base base = {{0, 0, 0}, th_palette_step(1.8)};
    uint64_t state = 9;
    for (int k = 0; k < 4000; k++) {
        double axis[3], length = 0;
        for (int i = 0; i < 3; i++) {
            axis[i] = random_between(&state, -1, 1);
            length += axis[i] * axis[i];
        }
        th_trs trs = {.scale = {1, 1, 1}};
        for (int i = 0; i < 3; i++)
            trs.rotation[i] = sin(angles[k % 8] / 2) * axis[i] / sqrt(length);
        trs.rotation[3] = cos(angles[k % 8] / 2);
        const th_mat34 matrix = th_mat34_from(th_dmat34_from_trs(&trs));
        float back[12];
        th_quat16 entry;
        th_palette_write(TH_PALETTE_QUAT16, matrix.m, &base, &entry);
        th_palette_read(TH_PALETTE_QUAT16, &entry, &base, back);
        for (int i = 0; i < 12; i++)
            cr_assert_float_eq(back[i], matrix.m[i], 7.5e-6F, "%d: %g for %g", k, (double)back[i], (double)matrix.m[i]);
    }
}

/* One joint is stretched: that is the one to be named. */
Test(quaternions, name_the_joint_that_is_scaled)
{
    const th_joint joints[] = {{"root", TH_NO_INDEX, TH_MAT34_IDENTITY},
                               {"wide", 0, {{2, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0}}},
                               {"tip", 0, {{1, 0, 0, 0, 0, 1, 0, 2, 0, 0, 1, 0}}}};
    const th_bone bones[] = {{0, TH_MAT34_IDENTITY}, {1, TH_MAT34_IDENTITY}, {2, TH_MAT34_IDENTITY}};
    const th_model model = {
        .name = "few", .joint_count = 3, .joints = joints, .bone_count = 3, .bones = bones, .size = 2};
    th_compiled_model *compiled = make_compiled(&model, TH_SAMPLING_COMPILED);
    cr_expect_str_eq(th_compiled_model_obstacle(compiled, TH_PALETTE_QUAT),
                     "joint wide is scaled, sheared or mirrored");
    th_compiled_model_destroy(compiled);
}

/* Compiled models against the exact evaluation: test_crowd has what crowds do with them. */
#include "fixture_crowd.h"
#include "fixture_human.h"

#include <anim/exact.h>

#include <criterion/criterion.h>

#include <math.h>
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
        th_model_destroy(model);
    }
}

Test(compiled_model, a_tighter_bound_takes_more_frames_and_is_held)
{
    make_human();
    th_compiled_model *loose = make_compiled_as(human, (th_compiled_model_desc){.bound_m = 0.005});
    th_compiled_model *tight = make_compiled_as(human, (th_compiled_model_desc){.bound_m = 0.00002});
    uint32_t smaller = 0;
    for (uint32_t c = 0; c < human->clip_count; c++) {
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
    free_human();
}

/* The largest error of a clip, looked for at many times. Its one joint has no parent and bones with the identity. */
static double dense_error(crowd_fixture *s, const th_clip *clip)
{
    double largest = 0, duration_s = clip->duration_ticks / clip->ticks_per_second;
    cr_assert(s->count == 1 && s->instances[0].clip == 0);
    for (int n = 0; n < 6000; n++) {
        double time_s = (n + 0.5) / 6000 * duration_s;
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

/* 16-bit keys between whose frames positions are rounded, but for those of few digits. */
Test(compiled_model, sixteen_bits_hold_the_bound_between_frames)
{
    static const double times[] = {0, 30};
    static const float way[6] = {0, 0, 0, 5, 0, 0};
    const th_channel channel = moving_channel(0, (th_track){2, times, way, NULL, false});
    const th_clip clip = clip_of(&channel, 1, 30, 30);
    const th_model model = model_of(&root_joint, &root_bone, 1, &clip);
    crowd_fixture s;
    crowd_fixture_init_one(&s, &model, (th_compiled_model_desc){.keys = TH_KEYS_16}, TH_ISA_SCALAR);
    cr_assert(th_compiled_model_clip_report(s.compiled, 0)->compiled);
    cr_expect_leq(dense_error(&s, &clip), 1.07 * th_compiled_model_bound(s.compiled), "%g", dense_error(&s, &clip));
    crowd_fixture_fini(&s);
}

/* Quaternions leave out the keys of a scale that rounding moves, which lie between those of two rotations. */
Test(compiled_model, scale_that_is_left_out_shifts_no_keys)
{
    th_model *model = random_model(&(random_desc){
        .seed = 4, .joint_count = 12, .shape = RANDOM_CHAIN, .clip_count = 1, .key_count = 5, .swing_rad = 0.1});
    float scale[15];
    for (int k = 0; k < 15; k++)
        scale[k] = k / 3 % 2 ? 1 + 4e-6F : 1;
    for (uint32_t i = 0; i < model->clips[0].channel_count; i++) {
        th_channel *channel = (th_channel *)&model->clips[0].channels[i];
        const float *rest = model->joints[channel->joint].rest.m, place[] = {rest[3], rest[7], rest[11]};
        channel->translation.key_count = 1;
        memcpy((float *)channel->translation.values, place, sizeof place);
        if (channel->joint % 3 == 1 && channel->rotation.key_count > 1)
            channel->scale = (th_track){channel->rotation.key_count, channel->rotation.times, scale, NULL, false};
    }
    for (int keys = 0; keys < 2; keys++) {
        crowd_fixture s;
        crowd_fixture_init_with(&s, model, (th_compiled_model_desc){.keys = (th_keys)keys}, 5,
                                (th_crowd_desc){.format = TH_FORMAT_QUAT});
        cr_assert_eq(th_crowd_format(s.crowd), TH_FORMAT_QUAT);
        crowd_fixture_update(&s, 0.3);
        for (uint32_t i = 0; i < s.count; i++)
            cr_expect_leq(instance_error(&s, i, 0.3), 1.1 * th_compiled_model_bound(s.compiled), "%d", keys);
        crowd_fixture_fini(&s);
    }
    th_model_destroy(model);
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
    th_joint joints[] = {root_joint, {"arm", 0, TH_MAT34_IDENTITY, NULL}};
    th_bone bones[] = {root_bone, {1, TH_MAT34_IDENTITY}};
    joints[1].rest.m[7] = 1;
    bones[1].inverse_bind.m[3] = -off;
    bones[1].inverse_bind.m[7] = -1;
    return error_of_turn(joints, bones, 2, 1);
}

/* Of a root that turns, with what stands still on it longer by a part of itself. */
static double error_of_stretch(float stretch)
{
    th_joint joints[] = {{"root", TH_NO_INDEX, TH_MAT34_IDENTITY, NULL},
                         {"arm", 0, TH_MAT34_IDENTITY, NULL},
                         {"hand", 1, TH_MAT34_IDENTITY, NULL},
                         {"ring", 2, TH_MAT34_IDENTITY, NULL}};
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

/* Five kilometres away a float has steps of 0.5 mm. */
Test(compiled_model, says_that_rounding_is_why_a_clip_is_played_exact)
{
    static const double times[] = {0, 1};
    const float turns[] = {0, 0, 0, 1, 0, 0, 0.6F, 0.8F};
    for (int far = 0; far < 2; far++) {
        const float place[] = {5000 * (float)far, 0, 0};
        th_channel channel = turning_channel(0, 2, times, turns);
        channel.translation.values = place;
        const th_clip clip = clip_of(&channel, 1, 1, 1);
        const th_joint joints[] = {root_joint, {"arm", 0, {{1, 0, 0, 0.3F, 0, 1, 0, 0, 0, 0, 1, 0}}, NULL}};
        const th_bone bones[] = {root_bone, {1, TH_MAT34_IDENTITY}};
        th_model model = model_of(joints, bones, 2, &clip);
        model.size = 1.8;
        th_compiled_model *compiled = make_compiled(&model, TH_SAMPLING_COMPILED);
        const th_clip_report *report = th_compiled_model_clip_report(compiled, 0);
        cr_expect_eq(strstr(report->reason, "single precision") != NULL, far, "%s", report->reason);
        cr_expect_eq(report->compiled, !far);
        th_compiled_model_destroy(compiled);
    }
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
    const th_joint joint = {"part", TH_NO_INDEX, {{0}}, NULL};
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
        const th_spawn *instance = &s.instances[i];
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
        joints[j] = (th_joint){"joint", j > 0 ? j - 1 : TH_NO_INDEX, TH_MAT34_IDENTITY, NULL};
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

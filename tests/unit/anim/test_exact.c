/* The reference in numbers that one can follow, and the tutorial against it. Inside for the cursor, which gives the
 * same bits. */
#include "random_model.h"

#include "anim/exact_cursor.h"

#include <anim/exact.h>
#include <bench/tutorial.h>

#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

Test(exact, time_wraps_over_the_duration)
{
    th_clip clip = {.name = "c", .duration_ticks = 30, .ticks_per_second = 24};
    cr_assert_float_eq(th_clip_ticks(&clip, 0.5), 12, 1e-12);
    cr_assert_float_eq(th_clip_ticks(&clip, 1.5), 6, 1e-12);
    cr_assert_float_eq(th_clip_ticks(&clip, -0.25), 24, 1e-12);
    cr_assert_float_eq(th_clip_ticks(&clip, 1.25), 0, 1e-12);
    cr_assert_float_eq(th_clip_ticks(&clip, 1e6), fmod(24e6, 30), 1e-6);
    clip.duration_ticks = 0;
    cr_assert_eq(th_clip_ticks(&clip, 3), 0);
}

Test(exact, wrapped_time_is_always_inside)
{
    uint64_t state = 99;
    th_clip clip = {.name = "c", .ticks_per_second = 1};
    for (int n = 0; n < 100000; n++) {
        clip.duration_ticks = random_between(&state, 0, 3);
        double ticks = th_clip_ticks(&clip, n % 2 ? random_between(&state, -9, 9) : -1e-18 * n);
        cr_assert(ticks >= 0 && ticks < clip.duration_ticks, "%a over %a", ticks, clip.duration_ticks);
    }
}

static th_trs sample(const th_channel *channel, double ticks)
{
    th_trs trs;
    th_exact_channel(channel, ticks, TH_INTERPOLATION_AUTHORED, &trs);
    return trs;
}

/* Mostly a little on, to a key or between keys, sometimes anywhere; also before the first key and after the last. */
static double next_time(uint64_t *state, const th_clip *clip, double ticks)
{
    const th_track *track = &clip->channels[0].rotation;
    const double kind = random_between(state, 0, 10);
    if (kind < 2)
        return track->times[(uint32_t)random_between(state, 0, track->key_count)];
    if (kind < 4 || ticks > clip->duration_ticks)
        return random_between(state, -0.1, 1.1) * clip->duration_ticks;
    return ticks + random_between(state, 0, 0.1) * clip->duration_ticks;
}

static void check_cursor(const th_clip *clip, th_interpolation how, uint64_t *state)
{
    double ticks = 0;
    th_exact_cursor cursors[8];
    cr_assert_leq(clip->channel_count, 8);
    th_exact_cursors_reset(cursors, clip->channel_count);
    for (int n = 0; n < 500; n++, ticks = next_time(state, clip, ticks))
        for (uint32_t c = 0; c < clip->channel_count; c++) {
            th_trs fresh, kept;
            th_exact_channel(&clip->channels[c], ticks, how, &fresh);
            th_exact_cursor_channel(&cursors[c], &clip->channels[c], ticks, how, &kept);
            cr_assert_arr_eq(&kept, &fresh, sizeof kept, "mode %d, channel %u at %a", how, c, ticks);
        }
}

Test(exact, a_cursor_gives_the_same_bits_in_any_order_of_times)
{
    uint64_t state = 7;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        th_model *model = random_model(&(random_desc){.seed = seed,
                                                      .joint_count = 8,
                                                      .clip_count = 1,
                                                      .key_count = seed % 4 ? 2 + (uint32_t)seed : 200,
                                                      .uneven_keys = seed % 2,
                                                      .swing_rad = 2,
                                                      .splines = seed % 3 == 0,
                                                      .steps = 0.2});
        for (int how = 0; how < TH_INTERPOLATION_COUNT; how++)
            check_cursor(&model->clips[0], (th_interpolation)how, &state);
        th_model_destroy(model);
    }
}

/* Straight from a rotation to its opposite, which is the same. */
Test(exact, a_spline_through_no_rotation_holds_the_key_before)
{
    const double times[] = {0, 2};
    const float turns[] = {0, 0, 0.6f, 0.8f, 0, 0, -0.6f, -0.8f}, tangents[16] = {0};
    th_channel channel = turning_channel(0, 2, times, turns);
    channel.rotation.tangents = tangents;
    cr_assert_float_eq(sample(&channel, 1).rotation[2], 0.6, 1e-7);
    cr_assert_float_eq(sample(&channel, 1.5).rotation[2], -0.6, 1e-7);
}

/* One joint that turns, a child that does not, a bind whose matrix undoes the rest pose. */
Test(exact, a_palette_entry_is_the_joints_motion_away_from_its_bind_pose)
{
    const double times[] = {0, 1};
    const float turn[] = {0, 0, 0, 1, 0, 0, 0.70710678f, 0.70710678f};
    const th_channel channel = turning_channel(0, 2, times, turn);
    const th_clip clip = clip_of(&channel, 1, 1, 1);
    th_joint joints[] = {root_joint, {"child", 0, TH_MAT34_IDENTITY, NULL}};
    joints[1].rest.m[3] = 2;
    th_bone bone = {1, TH_MAT34_IDENTITY};
    bone.inverse_bind.m[3] = -2;
    th_model model = {.joint_count = 2, .joints = joints, .bone_count = 1, .bones = &bone, .arena = OWN_ARENA};
    th_dmat34 pose[2], palette;
    th_exact_pose(&model, NULL, 0, TH_INTERPOLATION_AUTHORED, pose);
    th_exact_palette(&model, pose, &palette);
    cr_assert_lt(th_dmat34_distance(&palette, &TH_DMAT34_IDENTITY), 1e-12);

    th_exact_pose(&model, &clip, 1, TH_INTERPOLATION_AUTHORED, pose); /* a quarter turn about z carries x to y */
    cr_assert_float_eq(pose[1].m[3], 0, 1e-6);
    cr_assert_float_eq(pose[1].m[7], 2, 1e-6);
    th_exact_palette(&model, pose, &palette);
    double tip[3];
    th_dmat34_point(&palette, (double[3]){3, 0, 0}, tip);
    cr_assert_float_eq(tip[0], 0, 1e-6);
    cr_assert_float_eq(tip[1], 3, 1e-6);
}

static void check_tutorial(const th_model *model, double from_s)
{
    th_tutorial *tutorial;
    th_error err;
    cr_assert_eq(th_tutorial_create(model, &tutorial, &err), TH_OK);
    th_dmat34 *pose = calloc(model->joint_count, sizeof *pose), *want = calloc(model->bone_count, sizeof *want);
    float *got = calloc(model->bone_count, 12 * sizeof *got);
    for (uint32_t c = 0; c <= model->clip_count; c++)
        for (int n = 0; n < 40; n++) {
            const th_clip *clip = c < model->clip_count ? &model->clips[c] : NULL;
            double time_s = from_s + n * 0.05371;
            th_exact_pose(model, clip, clip ? th_clip_ticks(clip, time_s) : 0, TH_INTERPOLATION_AUTHORED, pose);
            th_exact_palette(model, pose, want);
            th_tutorial_palette(tutorial, clip ? c : TH_NO_INDEX, time_s, got);
            for (uint32_t b = 0; b < model->bone_count; b++)
                for (int i = 0; i < 12; i++)
                    cr_assert_float_eq(got[12 * b + (uint32_t)i], want[b].m[i], 3e-5 * (1 + model->size),
                                       "%s clip %u time %g bind %u", model->name, c, time_s, b);
        }
    free(pose);
    free(want);
    free(got);
    th_tutorial_destroy(tutorial);
}

Test(tutorial, equals_the_exact_evaluation)
{
    for (uint32_t seed = 0; seed < 24; seed++) {
        th_model *model = random_model(&(random_desc){.seed = seed,
                                                      .joint_count = 1 + 2 * seed,
                                                      .shape = (random_shape)(seed % 3),
                                                      .scale = (random_scale)(seed / 3 % 4),
                                                      .clip_count = 2,
                                                      .key_count = 2 + seed,
                                                      .uneven_keys = seed % 2,
                                                      .swing_rad = 0.5,
                                                      .splines = seed % 2 == 0 || seed % 5 == 1,
                                                      .steps = seed % 3 == 0 ? 0.5 : 0,
                                                      .double_bones = seed % 4 == 3});
        check_tutorial(model, -0.5);
        th_model_destroy(model);
    }
}

static void check_tutorial_of(const char *name, double duration_s, const th_channel *channel, double from_s)
{
    const th_clip clip = clip_of(channel, 1, duration_s * 1000, 1000);
    th_model model = model_of(&root_joint, &root_bone, 1, &clip);
    model.name = name;
    check_tutorial(&model, from_s);
}

/* Before the first one and behind the last, where a spline's keys hold, and all between. */
Test(tutorial, takes_splines_whose_keys_are_not_of_unit_length)
{
    const double times[] = {500, 1500};
    const float turns[] = {0, 0, 0, 2, 0, 0, 1.2f, 1.6f}, tangents[16] = {0};
    th_channel turn = turning_channel(0, 2, times, turns);
    turn.rotation.tangents = tangents;
    check_tutorial_of("long keys", 2.5, &turn, 0);
}

/* The last quarter of a second of twenty minutes. */
Test(tutorial, takes_clips_of_many_minutes)
{
    const double times[] = {0, 1199750, 1200000};
    const float way[9] = {[6] = 1}, turns[12] = {[3] = 1, [7] = 1, [10] = 0.6f, [11] = 0.8f};
    th_channel moves = turning_channel(0, 3, times, turns);
    moves.translation = (th_track){3, times, way, NULL, false};
    check_tutorial_of("long clip", 1200, &moves, 1200 - 20 * 0.05371);
}

Test(tutorial, states_what_its_structures_cannot_take)
{
    random_desc deep = {
        .joint_count = TH_TUTORIAL_MAX_DEPTH + 1, .shape = RANDOM_CHAIN, .clip_count = 1, .key_count = 2};
    th_model *model = random_model(&deep);
    float *palette = calloc(model->bone_count, 12 * sizeof *palette);
    th_tutorial *tutorial;
    th_error err;
    cr_assert_eq(th_tutorial_create(model, &tutorial, &err), TH_OK);
    th_tutorial_palette(tutorial, 0, 0, palette); /* the stack holds it */
    th_tutorial_destroy(tutorial);

    char name[TH_TUTORIAL_MAX_NAME + 2];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    ((th_joint *)model->joints)[3].name = name;
    cr_assert_eq(th_tutorial_create(model, &tutorial, &err), TH_ERR_LIMIT);
    cr_assert_null(tutorial);
    th_model_destroy(model);

    deep.joint_count++;
    model = random_model(&deep);
    cr_assert_eq(th_tutorial_create(model, &tutorial, &err), TH_ERR_LIMIT, "one level too deep");
    th_model_destroy(model);
    free(palette);
}

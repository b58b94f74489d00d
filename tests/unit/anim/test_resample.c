/* Inside, since the stretches of a clip are no public data. Clips that are compiled to stretches of several rates,
 * or to one. */
#include "anim/compile/compiled_data.h"
#include "anim/compile/exact_cache.h"
#include "anim/compile/resample.h"
#include "fixture_crowd.h"
#include "fixture_isa.h"

#include <anim/exact.h>
#include <anim/playback.h>
#include <throng/throng.h>

#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- three joints that turn, in some places fast ---- */

enum { JOINTS = 3, MOST_KEYS = 1024 };

typedef struct arm {
    double times[MOST_KEYS];
    float turns[JOINTS][4 * MOST_KEYS], offset[3];
    th_channel channels[JOINTS];
    th_clip clip;
    th_joint joints[JOINTS];
    th_bone bones[JOINTS];
    th_model model;
} arm;

/* Keys at times_s[], in ticks of a millisecond; NULL: at 30 Hz. angles[k]: radians that each joint has turned by then.
 * Freed by the caller. */
static arm *make_arm(const double *times_s, const double *angles, uint32_t count)
{
    arm *a = calloc(1, sizeof *a);
    cr_assert(count > 1 && count <= MOST_KEYS);
    a->offset[1] = 0.5f;
    for (uint32_t k = 0; k < count; k++)
        a->times[k] = (times_s ? times_s[k] : k / 30.0) * 1000;
    for (uint32_t j = 0; j < JOINTS; j++) {
        for (uint32_t k = 0; k < count; k++) {
            a->turns[j][4 * k + j] = (float)sin(angles[k] / 2);
            a->turns[j][4 * k + 3] = (float)cos(angles[k] / 2);
        }
        a->channels[j] = turning_channel(j, count, a->times, a->turns[j]);
        a->channels[j].translation.values = a->offset;
        a->joints[j] = (th_joint){"joint", j > 0 ? j - 1 : TH_NO_INDEX, TH_MAT34_IDENTITY, NULL};
        a->joints[j].rest.m[7] = 0.5f;
        a->bones[j] = (th_bone){j, TH_MAT34_IDENTITY};
        a->bones[j].inverse_bind.m[7] = -0.5f * (float)(j + 1);
    }
    a->clip = clip_of(a->channels, JOINTS, a->times[count - 1], 1000);
    a->model = model_of(a->joints, a->bones, JOINTS, &a->clip);
    a->model.size = 1.8;
    cr_assert_eq(th_model_check(&a->model, NULL), TH_OK);
    return a;
}

/* So fast that one interval needs eight times the rate of the keys. */
#define FAST_RAD 1.2

/* Keys at 30 Hz, which turn a little at random, and fast into each key for which `fast` says so. */
static arm *make_regular_arm(uint32_t count, uint64_t seed, bool (*fast)(uint32_t key))
{
    double angles[MOST_KEYS] = {0};
    for (uint32_t k = 0; k < count; k++) {
        const double turn = random_between(&seed, -0.1, 0.1);
        angles[k] = (k > 0 ? angles[k - 1] : 0) + (fast(k) ? FAST_RAD : turn);
    }
    return make_arm(NULL, angles, count);
}

static bool nowhere(uint32_t key)
{
    (void)key;
    return false;
}

static bool in_one_place(uint32_t key)
{
    return key == 123;
}

static bool in_three_places(uint32_t key)
{
    return key == 1 || (key >= 200 && key < 204) || key == 600;
}

static bool at_both_ends(uint32_t key)
{
    return key == 1 || key == 300;
}

/* Keys at 30 Hz, in one place at 300 Hz, and the last one between two others. */
static arm *make_irregular_arm(void)
{
    double times_s[MOST_KEYS], angles[MOST_KEYS];
    uint32_t count = 0;
    uint64_t seed = 5;
    for (uint32_t tenth = 0; tenth <= 5005; tenth++)
        if (tenth % 10 == 0 || tenth == 5005 || (tenth > 3230 && tenth < 3240))
            times_s[count++] = tenth / 300.0;
    for (uint32_t k = 0; k < count; k++)
        angles[k] = random_between(&seed, -0.1, 0.1);
    return make_arm(times_s, angles, count);
}

/* ---- the bound, measured elsewhere ---- */

/* One character that plays the clip from phase_s on. */
static void play(crowd_fixture *s, const crowd_fixture *of, th_isa isa, double phase_s, double speed)
{
    static th_spawn instance;
    instance = (th_spawn){.clip = 0, .phase_s = phase_s, .speed = speed};
    crowd_fixture one = *of;
    one.instances = &instance;
    one.count = 1;
    crowd_fixture_init_twin(s, &one, (th_crowd_desc){.isa = isa});
}

static double error_at(crowd_fixture *s, double time_s)
{
    crowd_fixture_update(s, time_s);
    return instance_error(s, 0, time_s);
}

/* Beyond the bound by what lies between the times at which the compiler measures, and by another kernel's rounding. */
static void check_bound(const crowd_fixture *of, th_isa isa, uint32_t times)
{
    const th_compiled_clip *clip = &of->compiled->compiled_clips[0];
    const double duration_s = clip->clip->duration_ticks / clip->clip->ticks_per_second;
    const double bound = 1.05 * th_compiled_model_bound(of->compiled);
    crowd_fixture s;
    play(&s, of, isa, 0, 1);
    for (uint32_t i = 0; i <= times; i++) {
        const double time_s = duration_s * i / times;
        cr_assert_leq(error_at(&s, time_s), bound, "%g s", time_s);
    }
    for (uint32_t i = 0; i < clip->stretch_count; i++)
        for (int side = -2; side <= 2; side++) {
            const double time_s = duration_s * (clip->stretches[i].begin + side * 1e-9);
            cr_assert_leq(error_at(&s, time_s), bound, "stretch %u, side %d", i, side);
        }
    crowd_fixture_fini_twin(&s);
    play(&s, of, isa, 0.3, -0.7);
    for (uint32_t i = 0; i <= 200; i++)
        cr_assert_leq(error_at(&s, 0.1371 * i), bound, "backwards, %u", i);
    crowd_fixture_fini_twin(&s);
}

/* Each begins where the one before ends, in time and in frames; the last ends with the clip. */
static void check_stretches(const th_compiled_clip *clip)
{
    double end = 0;
    uint32_t frame = 0;
    cr_assert(clip->stretch_count > 0 && clip->stretch_count <= TH_MAX_STRETCHES);
    for (uint32_t i = 0; i < clip->stretch_count; i++) {
        const th_stretch *stretch = &clip->stretches[i];
        cr_assert_float_eq(stretch->begin, end, 1e-12);
        cr_assert_eq(stretch->first_frame, frame);
        cr_assert_gt(stretch->last_frame, frame);
        end = stretch->begin + (stretch->last_frame - frame) / stretch->rate;
        frame = stretch->last_frame;
    }
    cr_assert_float_eq(end, 1, 1e-12);
    cr_assert_eq(frame, clip->interval_count);
    for (uint32_t i = clip->stretch_count; i < TH_MAX_STRETCHES; i++)
        cr_assert(isinf(clip->stretches[i].begin));
}

Test(resample, a_fast_part_costs_no_more_than_itself)
{
    static bool (*const places[])(uint32_t key) = {in_one_place, in_three_places, at_both_ends};
    for (size_t p = 0; p < sizeof places / sizeof *places; p++)
        for (int keys = 0; keys < TH_KEYS_COUNT; keys++) {
            arm *a = make_regular_arm(p == 2 ? 301 : 701, p, places[p]);
            for (EACH_ISA(isa)) {
                crowd_fixture s;
                crowd_fixture_init_with(&s, &a->model, (th_compiled_model_desc){.keys = (th_keys)keys}, 0,
                                        (th_crowd_desc){.isa = isa});
                const th_clip_report *report = th_compiled_model_clip_report(s.compiled, 0);
                cr_assert(report->compiled, "%s", report->reason);
                cr_expect_gt(report->stretch_count, 1);
                cr_expect_eq(report->stretch_count, s.compiled->compiled_clips[0].stretch_count);
                cr_expect_lt(report->rate_hz, 34, "%zu: %g Hz", p, report->rate_hz);
                check_stretches(&s.compiled->compiled_clips[0]);
                check_bound(&s, isa, 4000);
                crowd_fixture_fini(&s);
            }
            free(a);
        }
}

Test(resample, keys_off_the_grid_cost_no_more_than_themselves)
{
    arm *a = make_irregular_arm();
    crowd_fixture s;
    crowd_fixture_init_with(&s, &a->model, (th_compiled_model_desc){0}, 0, (th_crowd_desc){.isa = TH_ISA_SCALAR});
    const th_clip_report *report = th_compiled_model_clip_report(s.compiled, 0);
    cr_assert(report->compiled, "%s", report->reason);
    cr_expect_lt(report->rate_hz, 32, "%g Hz", report->rate_hz);
    check_stretches(&s.compiled->compiled_clips[0]);
    check_bound(&s, TH_ISA_SCALAR, 20000);
    crowd_fixture_fini(&s);
    free(a);
}

/* Some clips of random models have several rates, and hold the bound like the others. */
Test(resample, random_places_hold_the_bound)
{
    uint32_t several = 0;
    for (uint64_t seed = 1; seed < 40; seed++) {
        double times_s[MOST_KEYS], angles[MOST_KEYS] = {0};
        uint64_t state = seed * 977;
        const uint32_t count = 20 + (uint32_t)random_between(&state, 0, 400);
        const double busy = random_between(&state, 0, 0.1), calm = pow(10, random_between(&state, -5, -1));
        for (uint32_t k = 1; k < count; k++) {
            times_s[k] = k / 24.0;
            const double turn = random_between(&state, 0, 1) < busy ? random_between(&state, -1.2, 1.2)
                                                                    : random_between(&state, -calm, calm);
            angles[k] = angles[k - 1] + turn;
        }
        times_s[0] = 0;
        arm *a = make_arm(times_s, angles, count);
        crowd_fixture s;
        crowd_fixture_init_with(&s, &a->model, (th_compiled_model_desc){.keys = (th_keys)(seed % TH_KEYS_COUNT)}, 0,
                                (th_crowd_desc){.isa = TH_ISA_SCALAR});
        const th_compiled_clip *clip = &s.compiled->compiled_clips[0];
        cr_assert(clip->keys, "%u: %s", (unsigned)seed, th_compiled_model_clip_report(s.compiled, 0)->reason);
        several += clip->stretch_count > 1;
        check_stretches(clip);
        check_bound(&s, TH_ISA_AUTO, 1500);
        crowd_fixture_fini(&s);
        free(a);
    }
    cr_expect_gt(several, 10, "%u", several);
}

/* ---- one rate ---- */

/* What a clip of one rate has always been: frames at k of n parts of its length. */
static void check_one_rate(const th_compiled_model *compiled, uint32_t index)
{
    const th_compiled_clip *clip = &compiled->compiled_clips[index];
    const size_t bytes = compiled->program.frame_bytes;
    uint64_t seed = index;
    cr_assert(clip->keys && clip->stretch_count == 1 && !clip->seeks_stretch);
    check_stretches(clip);
    for (int n = 0; n < 2000; n++) {
        const double ratio = n == 0 ? 0 : n == 1 ? 1 : n % 2 ? (double)n / 2000 : random_between(&seed, 0, 1);
        const double at = ratio * clip->interval_count;
        const uint32_t last = clip->interval_count - 1, interval = at < last ? (uint32_t)at : last;
        const float alpha = (float)(at - interval);
        th_lanes lanes;
        th_compiled_clip_seek(clip, bytes, ratio, &lanes, 3);
        cr_assert_eq(lanes.frame[3], clip->keys + interval * bytes, "%.17g", ratio);
        cr_assert_eq(memcmp(&lanes.alpha[3], &alpha, sizeof alpha), 0, "%.17g", ratio);
    }
}

Test(resample, a_clip_with_an_even_need_has_one_rate)
{
    th_model *model;
    cr_assert_eq(th_human_create(&model, NULL), TH_OK);
    th_compiled_model *compiled = make_compiled(model, TH_SAMPLING_COMPILED);
    for (uint32_t c = 0; c <= model->clip_count; c++)
        check_one_rate(compiled, c);
    th_compiled_model_destroy(compiled);
    th_model_destroy(model);
    arm *a = make_regular_arm(301, 1, nowhere);
    compiled = make_compiled(&a->model, TH_SAMPLING_COMPILED);
    check_one_rate(compiled, 0);
    cr_expect_eq(compiled->compiled_clips[0].interval_count, 300);
    cr_expect_eq(th_compiled_model_clip_report(compiled, 0)->stretch_count, 1);
    th_compiled_model_destroy(compiled);
    free(a);
}

/* The curve between two frames needs the two around them, at the same distance. */
Test(resample, cubic_clips_have_one_rate)
{
    double angles[301] = {0};
    uint64_t seed = 1;
    for (uint32_t k = 200; k < 301; k++)
        angles[k] = random_between(&seed, -0.1, 0.1);
    arm *a = make_arm(NULL, angles, 301);
    for (int how = TH_INTERPOLATION_NLERP; how < TH_INTERPOLATION_COUNT; how++) {
        th_compiled_model *compiled =
            make_compiled_as(&a->model, (th_compiled_model_desc){.interpolation = (th_interpolation)how});
        cr_assert(compiled->compiled_clips[0].keys);
        cr_expect_eq(compiled->compiled_clips[0].stretch_count == 1, how == TH_INTERPOLATION_CUBIC);
        th_compiled_model_destroy(compiled);
    }
    free(a);
}

/* Work, so it is the same clips that are compiled on every machine. */
Test(resample, effort_limits_the_work_on_clips)
{
    static const double efforts[] = {0, 1, 1e-5};
    double angles[301];
    for (uint32_t k = 0; k < 301; k++)
        angles[k] = sin(k);
    arm *a = make_arm(NULL, angles, 301);
    for (int e = 0; e < 3; e++) {
        th_compiled_model *compiled = make_compiled_as(&a->model, (th_compiled_model_desc){.effort = efforts[e]});
        const th_clip_report *report = th_compiled_model_clip_report(compiled, 0);
        cr_expect_eq(report->compiled, e < 2, "%g: %s", efforts[e], report->reason);
        cr_expect(e < 2 || strstr(report->reason, "too long"), "%s", report->reason);
        th_compiled_model_destroy(compiled);
    }
    free(a);
}

/* Measuring stops where a rate is known to fail or the budget ends, and not before: in poses of a joint, which are the
 * same with each kernel. */
Test(resample, a_clip_takes_no_more_work_than_it_did)
{
    static const struct {
        bool (*fast)(uint32_t key);
        int64_t work;
    } cases[] = {{nowhere, 19184}, {in_one_place, 17796}, {in_three_places, 19279}};
    enum { PLENTY = 1 << 30, LITTLE = 1000 };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        arm *a = make_regular_arm(701, 3, cases[n].fast);
        th_compiled_model *compiled = make_compiled(&a->model, TH_SAMPLING_COMPILED);
        th_resampler *resampler = th_resampler_create(compiled);
        int64_t plenty = PLENTY, little = LITTLE;
        free(th_resample_clip(resampler, &a->clip, &plenty).keys);
        cr_expect_eq(PLENTY - plenty, cases[n].work, "%zu: %d", n, (int)(PLENTY - plenty));
        cr_expect_null(th_resample_clip(resampler, &a->clip, &little).keys);
        cr_expect(little <= 0 && little > -LITTLE, "%zu: %d", n, (int)little);
        th_resampler_destroy(resampler);
        th_compiled_model_destroy(compiled);
        free(a);
    }
}

/* ---- seeking ---- */

/* Position of a lane among the frames. */
static double position_at(const th_compiled_model *compiled, double ratio)
{
    const th_compiled_clip *clip = &compiled->compiled_clips[0];
    th_lanes lanes;
    th_compiled_clip_seek(clip, compiled->program.frame_bytes, ratio, &lanes, 0);
    const size_t offset = (size_t)((const char *)lanes.frame[0] - clip->keys);
    cr_assert_eq(offset % compiled->program.frame_bytes, 0);
    const double frame = (double)(offset / compiled->program.frame_bytes);
    cr_assert(lanes.alpha[0] >= 0 && lanes.alpha[0] <= 1, "%.17g: %g", ratio, (double)lanes.alpha[0]);
    cr_assert_lt(frame, clip->interval_count);
    return frame + (double)lanes.alpha[0];
}

Test(resample, seeking_goes_on_over_borders)
{
    arm *a = make_regular_arm(701, 3, in_three_places);
    th_compiled_model *compiled = make_compiled(&a->model, TH_SAMPLING_COMPILED);
    const th_compiled_clip *clip = &compiled->compiled_clips[0];
    cr_assert_gt(clip->stretch_count, 3);
    cr_expect_eq(position_at(compiled, 0), 0);
    cr_expect_float_eq(position_at(compiled, 1), clip->interval_count, 1e-6);
    for (uint32_t i = 1; i < clip->stretch_count; i++) {
        const double border = clip->stretches[i].begin;
        cr_expect_eq(position_at(compiled, border), clip->stretches[i].first_frame);
        cr_expect_float_eq(position_at(compiled, nextafter(border, 0)), clip->stretches[i].first_frame, 1e-6);
        cr_expect_float_eq(position_at(compiled, nextafter(border, 1)), clip->stretches[i].first_frame, 1e-6);
    }
    double before = 0;
    for (int n = 0; n <= 200000; n++) {
        const double at = position_at(compiled, n / 200000.0);
        cr_assert(at >= before - 1e-4 && at < before + 0.1, "%d: from %g to %g", n, before, at);
        before = at;
    }
    th_compiled_model_destroy(compiled);
    free(a);
}

/* ---- choosing stretches ---- */

Test(resample, stretches_cover_what_cells_need)
{
    static const double frames[] = {0.25, 0.5, 1, 2, 4, 8};
    enum { LEVELS = 6, CELLS = 500 };
    uint64_t seed = 77;
    for (int n = 0; n < 300; n++) {
        uint8_t need[CELLS];
        th_cells runs[TH_MAX_STRETCHES];
        const uint32_t cells = 1 + (uint32_t)random_between(&seed, 0, CELLS - 1), most = 1 + (uint32_t)n % 16;
        uint32_t highest = 0, end = 0;
        for (uint32_t i = 0; i < cells; i++) {
            const bool changes = i == 0 || random_between(&seed, 0, 1) < 0.1;
            need[i] = changes ? (uint8_t)random_between(&seed, 0, LEVELS) : need[i - 1];
            highest = need[i] > highest ? need[i] : highest;
        }
        const uint32_t count = th_stretches_choose(need, cells, frames, LEVELS, most, runs);
        cr_assert(count > 0 && count <= most);
        for (uint32_t i = 0; i < count; i++) {
            cr_assert(runs[i].begin == end && runs[i].end > end && runs[i].level <= highest);
            end = runs[i].end;
            for (uint32_t k = runs[i].begin; k < end; k++)
                cr_assert_geq(runs[i].level, need[k]);
        }
        cr_assert_eq(end, cells);
    }
}

/* A fast cell among slow ones is worth a stretch, one that is a little faster is not. */
Test(resample, stretches_save_frames)
{
    static const double frames[] = {1, 1.5, 16};
    const uint8_t need[] = {0, 0, 0, 0, 0, 2, 0, 1, 0, 0};
    th_cells runs[TH_MAX_STRETCHES];
    cr_assert_eq(th_stretches_choose(need, 10, frames, 3, TH_MAX_STRETCHES, runs), 3);
    cr_expect(runs[0].end == 5 && runs[0].level == 0);
    cr_expect(runs[1].end == 6 && runs[1].level == 2);
    cr_expect(runs[2].end == 10 && runs[2].level == 1);
    cr_assert_eq(th_stretches_choose(need, 10, frames, 3, 1, runs), 1);
    cr_expect_eq(runs[0].level, 2);
}

/* ---- exact palettes ---- */

Test(resample, palettes_are_those_of_their_time)
{
    arm *a = make_regular_arm(301, 9, nowhere);
    th_arena *arena = th_arena_create();
    th_exact_cache cache;
    uint64_t seed = 4;
    uint32_t hits = 0;
    th_exact_cache_init(&cache, &a->model, TH_INTERPOLATION_AUTHORED, arena);
    cr_assert(!th_arena_failed(arena));
    for (size_t room = 256; room > 0; room /= 16) {
        cr_assert(th_exact_cache_begin(&cache, room > 1 ? &a->clip : NULL, room));
        for (int n = 0; n < 2000; n++) {
            const double ticks = floor(random_between(&seed, 0, 200));
            th_dmat34 pose[JOINTS], want[JOINTS];
            bool kept;
            const th_dmat34 *got = th_exact_cache_palette(&cache, ticks, &kept);
            hits += kept;
            th_exact_pose(&a->model, room > 1 ? &a->clip : NULL, ticks, TH_INTERPOLATION_AUTHORED, pose);
            th_exact_palette(&a->model, pose, want);
            if (room > 1)
                cr_assert_arr_eq(got, want, sizeof want, "room for %zu, %g ticks", room, ticks);
            else
                cr_assert_arr_eq(cache.rest, want, sizeof want, "%g ticks", ticks);
        }
    }
    cr_expect_gt(hits, 1700, "%u", hits);
    th_exact_cache_fini(&cache);
    th_arena_destroy(arena);
    free(a);
}

/* Clips that move few joints: those below move with them, the others rest. */
Test(resample, palettes_of_what_moves_and_what_rests)
{
    uint32_t resting = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        th_model *model = random_model(&(random_desc){
            .seed = seed, .joint_count = 30, .clip_count = 1, .key_count = 9, .swing_rad = 1, .double_bones = true});
        th_clip few = model->clips[0];
        few.channels += few.channel_count * 2 / 3;
        few.channel_count -= few.channel_count * 2 / 3;
        th_dmat34 *pose = calloc(model->joint_count, sizeof *pose), *want = calloc(model->bone_count, sizeof *want);
        th_arena *arena = th_arena_create();
        th_exact_cache cache;
        bool kept;
        th_exact_cache_init(&cache, model, TH_INTERPOLATION_AUTHORED, arena);
        cr_assert(!th_arena_failed(arena));
        cr_assert(th_exact_cache_begin(&cache, &few, 4));
        for (int n = 0; n < 9; n++) {
            const double ticks = few.duration_ticks * n / 8;
            const th_dmat34 *got = th_exact_cache_palette(&cache, ticks, &kept);
            th_exact_pose(model, &few, ticks, TH_INTERPOLATION_AUTHORED, pose);
            th_exact_palette(model, pose, want);
            for (uint32_t k = 0; k < model->bone_count; k++) {
                const th_dmat34 *entry = k < cache.moving_count ? &got[k] : &cache.rest[k];
                cr_assert_arr_eq(entry, &want[cache.bones[k]], sizeof *entry, "bone %u", cache.bones[k]);
            }
        }
        resting += cache.moving_count < model->bone_count;
        th_exact_cache_fini(&cache);
        th_arena_destroy(arena);
        free(pose);
        free(want);
        th_model_destroy(model);
    }
    cr_assert_gt(resting, 5);
}

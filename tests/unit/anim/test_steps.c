/* Inside, since the rate of a compiled clip is no public data. Clips whose keys hold until the next one: compiled to
 * frames that hold. check_kernels has them against exact sampling. */
#include "anim/compile/compiled_data.h"
#include "anim/kernels/isa.h"
#include "fixture_crowd.h"
#include "fixture_isa.h"

#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a frame is itself on any curve ---- */

/* D of all steps, all lanes at the beginning of a frame. The frames are those of a cubic curve: one stands before. */
static void sample_frame(const th_compiled_model *compiled, const th_kernels *kernels, th_interpolation curve,
                         uint32_t frame, float *pose)
{
    const bool cubic = curve == TH_INTERPOLATION_CUBIC;
    const char *at = compiled->compiled_clips[0].keys + (frame + (cubic ? 0 : 1)) * compiled->program.frame_bytes;
    th_lanes lanes = {.alpha = {0}};
    for (uint32_t i = 0; i < kernels->width; i++)
        th_lanes_set(&lanes, i, at, 0);
    memset(pose, 0, th_pose_floats(TH_POSE_MATRICES, compiled->program.op_count, kernels->width) * sizeof *pose);
    kernels->sample[TH_POSE_MATRICES][compiled->program.keys][curve](&compiled->program, 0, compiled->program.op_count,
                                                                     &lanes, pose);
}

/* To the last bit; but a slerp's key has another length, and what is left of that is rounding. */
static void check_curves(const th_compiled_model *compiled, const th_kernels *kernels)
{
    const size_t count = th_pose_floats(TH_POSE_MATRICES, compiled->program.op_count, kernels->width);
    float *want = th_cache_line_alloc(count * sizeof *want), *got = th_cache_line_alloc(count * sizeof *got);
    for (uint32_t frame = 0; frame < compiled->compiled_clips[0].interval_count; frame++)
        for (int curve = TH_INTERPOLATION_NLERP; curve < TH_INTERPOLATION_COUNT; curve++) {
            sample_frame(compiled, kernels, TH_INTERPOLATION_STEP, frame, want);
            sample_frame(compiled, kernels, (th_interpolation)curve, frame, got);
            const bool slerp = curve == TH_INTERPOLATION_SLERP;
            for (size_t i = 0; i < count; i++)
                cr_assert_float_eq(got[i], want[i], slerp ? 1e-6f * (1 + fabsf(want[i])) : 0,
                                   "%s of %u lanes, frame %u", th_interpolation_name((th_interpolation)curve),
                                   kernels->width, frame);
        }
    free(want);
    free(got);
}

Test(steps, a_frame_is_itself_on_any_curve)
{
    for (int keys = 0; keys < TH_KEYS_COUNT; keys++)
        for (uint32_t n = 1; n < 16; n += 5) {
            random_desc desc = variety(n);
            desc.clip_count = 1;
            desc.splines = desc.uneven_keys = false;
            desc.steps = 1;
            th_model *model = random_model(&desc);
            th_compiled_model *compiled = make_compiled_as(
                model, (th_compiled_model_desc){
                           .interpolation = TH_INTERPOLATION_CUBIC, .keys = (th_keys)keys, .bound_m = 10});
            cr_assert(compiled->compiled_clips[0].keys && !compiled->compiled_clips[0].is_stepped);
            for (EACH_ISA(isa))
                check_curves(compiled, th_isa_kernels(isa));
            th_compiled_model_destroy(compiled);
            th_model_destroy(model);
        }
}

/* ---- one joint that steps along, and what else its clip may have ---- */

enum { MOST_KEYS = 120001 };

typedef struct walk {
    double times[MOST_KEYS], ends[2];
    float way[3 * MOST_KEYS], turns[2][4];
    th_channel channels[2];
    th_clip clip;
    th_joint joints[2];
    th_bone bones[2];
    th_model model;
} walk;

/* Key k at times_s[k], in ticks of a millisecond, k units along; the second joint stands. Freed by the caller. */
static walk *make_walk(const double *times_s, uint32_t count)
{
    walk *w = calloc(1, sizeof *w);
    for (uint32_t k = 0; k < count; k++) {
        w->times[k] = times_s[k] * 1000;
        w->way[3 * k] = (float)k;
    }
    w->turns[0][3] = w->turns[1][3] = 1;
    w->ends[1] = count > 1 ? w->times[count - 1] : 1;
    w->channels[0] = moving_channel(0, (th_track){count, w->times, w->way, NULL, true});
    w->channels[1] = turning_channel(1, 2, w->ends, w->turns[0]);
    w->clip = clip_of(w->channels, 2, w->times[count - 1], 1000);
    for (uint32_t j = 0; j < 2; j++) {
        w->joints[j] = root_joint;
        w->bones[j] = (th_bone){j, TH_MAT34_IDENTITY};
    }
    w->model = model_of(w->joints, w->bones, 2, &w->clip);
    cr_assert_eq(th_model_check(&w->model, NULL), TH_OK);
    return w;
}

/* Keys at so many a second from start_s on, in the single precision that files have. */
static walk *make_regular_walk(double rate_hz, double start_s, uint32_t count)
{
    double *times_s = calloc(count, sizeof *times_s);
    for (uint32_t k = 0; k < count; k++)
        times_s[k] = (double)(float)(start_s + k / rate_hz);
    walk *w = make_walk(times_s, count);
    free(times_s);
    return w;
}

static th_clip_report report_of(const th_model *model, th_compiled_model_desc how)
{
    th_compiled_model *compiled = make_compiled_as(model, how);
    const th_clip_report report = *th_compiled_model_clip_report(compiled, 0);
    th_compiled_model_destroy(compiled);
    return report;
}

Test(steps, compile_to_the_grid_of_their_keys)
{
    const struct {
        double times_s[8];
        uint32_t count;
        double rate_hz;
    } cases[] = {
        {{0, 0.5, 0.75}, 3, 4},      {{0.5, 0.75, 2, 3.25}, 4, 4}, {{0, 1, 2, 3, 4, 5, 6, 7}, 8, 1},
        {{0, 31 / 30.0, 10}, 3, 30}, {{1.25, 1.5, 2}, 3, 2},       {{0, 8 / 30.0, 301 / 30.0}, 3, 30},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        walk *w = make_walk(cases[i].times_s, cases[i].count);
        const th_clip_report report = report_of(&w->model, (th_compiled_model_desc){0});
        cr_expect(report.compiled, "%zu: %s", i, report.reason);
        cr_expect_float_eq(report.rate_hz, cases[i].rate_hz, 1e-6, "%zu: %g Hz", i, report.rate_hz);
        cr_expect_leq(report.max_error, 1e-6 * cases[i].count);
        free(w);
    }
}

static void pose_at(crowd_fixture *s, double time_s, float out[12])
{
    crowd_fixture_update(s, time_s);
    memcpy(out, s->palette, 12 * sizeof *out);
}

/* At its time as it was meant, as a file writes it, and from then on until the next one; behind the last comes the
 * first. */
Test(steps, a_key_is_shown_at_its_time)
{
    static const double rates[] = {24, 25, 30, 60, 1000 / 3.0}, starts[] = {1 / 24.0, 0, 1, 1 / 60.0, 0};
    enum { KEYS = 200 };
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
        walk *w = make_regular_walk(rates[r], starts[r], KEYS);
        for (EACH_ISA(isa)) {
            crowd_fixture s;
            crowd_fixture_init_one(&s, &w->model, (th_compiled_model_desc){0}, isa);
            const th_clip_report *report = th_compiled_model_clip_report(s.compiled, 0);
            cr_assert(report->compiled && fabs(report->rate_hz - rates[r]) < 1e-3 * rates[r], "%g", report->rate_hz);
            const double duration_s = w->clip.duration_ticks / 1000;
            for (int k = 0; k + 1 < KEYS; k++) {
                const double meant = starts[r] + k / rates[r], next = w->times[k + 1] / 1000;
                const double at[] = {meant, w->times[k] / 1000, (meant + next) / 2, next - 0.01 / rates[r],
                                     duration_s + (meant + next) / 2};
                for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
                    float entry[12];
                    pose_at(&s, at[i], entry);
                    cr_assert_eq(entry[3], (float)k, "%s, %g Hz: %g at %.9g s, which is %zu of key %d",
                                 th_isa_name(isa), rates[r], (double)entry[3], at[i], i, k);
                }
            }
            crowd_fixture_fini(&s);
        }
        free(w);
    }
}

/* Ten minutes, by when single precision is off by a thousandth of a frame; and a pose. */
Test(steps, of_very_long_clips_and_of_one_key_compile)
{
    static const uint32_t counts[][2] = {{36001, 36001}, {1, 2}};
    for (int n = 0; n < 2; n++) {
        walk *w = make_regular_walk(60, 0, counts[n][0]);
        const th_clip_report report = report_of(&w->model, (th_compiled_model_desc){0});
        cr_expect(report.compiled, "%s", report.reason);
        cr_expect_eq(report.frame_count, counts[n][1]);
        free(w);
    }
}

/* So many keys that two neighbours are one as far as a grid goes; one frame is the least of a clip, whatever moves. */
Test(steps, a_clip_of_very_many_keys_has_frames)
{
    walk *w = make_regular_walk(1000, 0, MOST_KEYS);
    cr_expect_not(report_of(&w->model, (th_compiled_model_desc){0}).compiled);
    for (int k = 0; k < MOST_KEYS; k++)
        w->way[3 * k] = (float)k / MOST_KEYS;
    w->channels[0].translation.steps = false;
    const th_clip_report report = report_of(&w->model, (th_compiled_model_desc){0});
    cr_expect(report.compiled, "%s", report.reason);
    cr_expect_eq(report.frame_count, 2);
    free(w);
}

/* Only those that change something count: on twos, as animators say. */
Test(steps, of_equal_keys_are_none)
{
    walk *w = make_regular_walk(24, 0, 49);
    for (int k = 0; k < 49; k++)
        w->way[3 * k] = (float)(k / 2);
    const th_clip_report report = report_of(&w->model, (th_compiled_model_desc){0});
    cr_expect(report.compiled, "%s", report.reason);
    cr_expect_float_eq(report.rate_hz, 12, 1e-4);
    free(w);
}

/* Lines that stand, and go on by two keys of one time or of neighbouring ones, as exporters write steps. */
Test(steps, made_of_two_keys_of_one_time_compile)
{
    for (int apart = 0; apart < 2; apart++) {
        walk *w = make_regular_walk(30, 0, 122);
        for (int k = 0; k < 122; k++) {
            const float at = (float)((k + 1) / 2 / 30.0);
            w->times[k] = 1000 * (double)(apart && k % 2 ? nextafterf(at, 0) : at);
            w->way[3 * k] = (float)(k / 2);
        }
        w->channels[0].translation.steps = false;
        w->clip.duration_ticks = w->times[121];
        crowd_fixture s;
        crowd_fixture_init_one(&s, &w->model, (th_compiled_model_desc){0}, TH_ISA_SCALAR);
        const th_clip_report *report = th_compiled_model_clip_report(s.compiled, 0);
        cr_expect(report->compiled && report->frame_count == 62, "%u frames, %s", report->frame_count, report->reason);
        for (int k = 0; k < 61; k++)
            for (int late = 0; late < 2; late++) {
                float entry[12];
                pose_at(&s, w->times[2 * k] / 1000 + (late ? 0.99 / 30 : 0), entry);
                cr_expect_eq(entry[3], (float)k, "%g at key %d", (double)entry[3], k);
            }
        crowd_fixture_fini(&s);
        w->way[0] = -1; /* where it now moves on its way to a jump */
        cr_expect_not(report_of(&w->model, (th_compiled_model_desc){0}).compiled);
        free(w);
    }
}

/* What one track says a little later than the other is one moment. */
Test(steps, of_several_tracks_may_differ_by_rounding)
{
    walk *w = make_regular_walk(30, 0, 61);
    double later[61];
    for (int k = 0; k < 61; k++)
        later[k] = w->times[k] + (k % 3 - 1) * 1e-4;
    w->channels[1].translation = (th_track){61, later, w->way, NULL, true};
    for (int how = TH_INTERPOLATION_AUTHORED; how <= TH_INTERPOLATION_STEP; how++) {
        const th_clip_report report =
            report_of(&w->model, (th_compiled_model_desc){.interpolation = (th_interpolation)how});
        cr_expect(report.compiled, "%s", report.reason);
        cr_expect_eq(report.frame_count, 61);
    }
    free(w);
}

/* Too fine a grid, or none. */
Test(steps, of_any_times_stay_exact_and_say_so)
{
    static const double times_s[][5] = {{0, 0.0001, 50, 80, 100}, {0, 0.31, 0.87531, 2.0117, 2.71828}};
    for (size_t i = 0; i < sizeof times_s / sizeof *times_s; i++) {
        walk *w = make_walk(times_s[i], 5);
        const th_clip_report report = report_of(&w->model, (th_compiled_model_desc){0});
        cr_expect(!report.compiled && report.reason[0], "%zu: %g Hz", i, report.rate_hz);
        free(w);
    }
}

/* How far the second joint of a walk turns on its way to the end, smoothly. */
static void turn_by(walk *w, double angle)
{
    w->turns[1][0] = (float)sin(angle / 2);
    w->turns[1][3] = (float)cos(angle / 2);
}

/* What stands still does not count, whatever it says of its keys; what moves smoothly does. */
Test(steps, go_with_what_stands_and_not_with_what_moves)
{
    walk *w = make_regular_walk(30, 0, 61);
    cr_expect(report_of(&w->model, (th_compiled_model_desc){0}).compiled);
    turn_by(w, 1.9); /* at 240 Hz, the end of a frame is off by more than the bound, three quarters by less */
    const th_clip_report mixed = report_of(&w->model, (th_compiled_model_desc){0});
    cr_expect(!mixed.compiled && mixed.reason[0]);
    for (int k = 0; k < 61; k++)
        w->way[3 * k] = 1 + (float)(k % 2) * 2e-5f;
    cr_expect(report_of(&w->model, (th_compiled_model_desc){0}).compiled, "the step is smaller than the bound");
    for (int k = 0; k < 61; k++)
        w->way[3 * k] = 1;
    turn_by(w, 0.1);
    th_compiled_model *compiled = make_compiled_as(&w->model, (th_compiled_model_desc){0});
    cr_expect(th_compiled_model_clip_report(compiled, 0)->compiled && !compiled->compiled_clips[0].is_stepped,
              "the step is none");
    th_compiled_model_destroy(compiled);
    free(w);
}

/* A mode for all tracks knows no steps but its own. */
Test(steps, are_none_in_another_mode)
{
    walk *w = make_regular_walk(30, 0, 61);
    for (int how = TH_INTERPOLATION_STEP; how < TH_INTERPOLATION_COUNT; how++) {
        th_compiled_model *compiled =
            make_compiled_as(&w->model, (th_compiled_model_desc){.interpolation = (th_interpolation)how});
        cr_expect(th_compiled_model_clip_report(compiled, 0)->compiled);
        cr_expect_eq(compiled->compiled_clips[0].is_stepped, how == TH_INTERPOLATION_STEP);
        th_compiled_model_destroy(compiled);
    }
    free(w);
}

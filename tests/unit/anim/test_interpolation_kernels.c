/* Interpolation modes and key formats in the kernels, against exact sampling in the same mode. Inside for 16-bit keys
 * by themselves. */
#include "anim/kernels/isa.h"
#include "fixture_crowd.h"
#include "fixture_isa.h"

#include <anim/exact.h>

#include <criterion/criterion.h>

#include <math.h>
#include <string.h>

/* ---- a joint that turns, with one key a frame ---- */

enum { FRAMES = 41 };

typedef struct spin {
    double times[2][FRAMES];
    float keys[2][4 * FRAMES];
    th_channel channels[2];
    th_clip clips[2];
    th_model model;
} spin;

/* Clip c turns by turns[c] in all, each about an axis of its own, in frames of a thirtieth of a second, from the first
 * to the last of `count` keys. */
static void spin_init(spin *s, uint32_t count, const double turns[2])
{
    static const double axes[2][3] = {{0.48, -0.6, 0.64}, {0, 1, 0}};
    for (uint32_t c = 0; c < 2; c++) {
        for (uint32_t k = 0; k < count; k++) {
            const double half = turns[c] / 2 * k / (count - 1);
            s->times[c][k] = k;
            for (uint32_t i = 0; i < 3; i++)
                s->keys[c][4 * k + i] = (float)(axes[c][i] * sin(half));
            s->keys[c][4 * k + 3] = (float)cos(half);
        }
        s->channels[c] = turning_channel(0, count, s->times[c], s->keys[c]);
        s->clips[c] = clip_of(&s->channels[c], 1, count - 1, 30);
    }
    s->model = model_of(&root_joint, &root_bone, 1, s->clips);
    s->model.clip_count = 2;
    cr_assert_eq(th_model_check(&s->model, NULL), TH_OK);
}

/* The angle between two rotations. */
static double angle_between(const th_dmat34 *one, const th_mat34 *other)
{
    double squares = 0;
    for (int i = 0; i < 12; i++)
        if (i % 4 < 3)
            squares += (one->m[i] - (double)other->m[i]) * (one->m[i] - (double)other->m[i]);
    return 2 * asin(fmin(1, sqrt(squares / 8)));
}

/* How far a mode is from slerp, at most, on 32-bit keys whose only interval is the whole clip. */
static double largest_error(const spin *t, th_interpolation mode, th_isa isa)
{
    crowd_fixture s;
    crowd_fixture_init_one(&s, &t->model, (th_compiled_model_desc){.interpolation = mode, .bound_m = 100}, isa);
    cr_assert_eq(th_compiled_model_clip_report(s.compiled, 0)->frame_count, 2);
    double largest = 0;
    for (int i = 0; i < 200; i++) {
        const double time_s = i / 200.0 / 30;
        th_dmat34 exact;
        crowd_fixture_update(&s, time_s);
        th_exact_pose(&t->model, t->clips, th_clip_ticks(t->clips, time_s), TH_INTERPOLATION_SLERP, &exact);
        largest = fmax(largest, angle_between(&exact, (const th_mat34 *)(const void *)s.palette));
    }
    crowd_fixture_fini(&s);
    return largest;
}

Test(interpolation_kernels, slerp_is_as_exact_as_it_says)
{
    static const struct {
        double degrees, nlerp_at_least;
    } turns[] = {{5, 1e-6}, {60, 4e-3}, {90, 0.015}, {150, 0.07}, {179.9, 0.14}};
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
        spin t;
        spin_init(&t, 2, (double[2]){turns[i].degrees * 3.14159265358979 / 180});
        for (EACH_ISA(isa)) {
            const double slerp = largest_error(&t, TH_INTERPOLATION_SLERP, isa);
            const double nlerp = largest_error(&t, TH_INTERPOLATION_NLERP, isa);
            cr_expect_leq(slerp, 5e-7, "%s, %g degrees: %g", th_isa_name(isa), turns[i].degrees, slerp);
            cr_expect_geq(nlerp, turns[i].nlerp_at_least, "%s, %g degrees: %g", th_isa_name(isa), turns[i].degrees,
                          nlerp);
        }
    }
}

/* The ranges of 16-bit keys are on the side of the sphere on which clips are written, in whatever order they come. */
Test(interpolation_kernels, ranges_do_not_depend_on_the_order_of_clips)
{
    static const double turns[][2] = {{6.28, 1.57}, {1.57, 6.28}, {-6.28, 4.0}};
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
        spin s;
        spin_init(&s, FRAMES, turns[i]);
        th_compiled_model *compiled = make_compiled_as(&s.model, (th_compiled_model_desc){.keys = TH_KEYS_16});
        for (uint32_t c = 0; c < 2; c++)
            cr_expect(th_compiled_model_clip_report(compiled, c)->compiled, "%zu, clip %u: %s", i, c,
                      th_compiled_model_clip_report(compiled, c)->reason);
        th_compiled_model_destroy(compiled);
    }
}

/* A step may be off the grid by a fiftieth of a frame, not more: nobody measures closer. */
Test(interpolation_kernels, steps_that_miss_the_grid_are_not_compiled)
{
    static const struct {
        double early;
        bool compiled;
    } cases[] = {{0, true}, {0.003, true}, {-0.003, true}, {0.24, false}, {-0.06, false}, {0.06, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        spin s;
        spin_init(&s, FRAMES, (double[2]){3, 3});
        s.times[0][7] -= cases[i].early;
        th_compiled_model *compiled =
            make_compiled_as(&s.model, (th_compiled_model_desc){.interpolation = TH_INTERPOLATION_STEP});
        cr_expect_eq(th_compiled_model_clip_report(compiled, 0)->compiled, cases[i].compiled, "%g", cases[i].early);
        cr_expect(th_compiled_model_clip_report(compiled, 1)->compiled);
        th_compiled_model_destroy(compiled);
    }
}

static void pose_at(const crowd_fixture *s, double time_s, th_mat34 *out)
{
    th_crowd_pose(s->crowd, 0, 1, time_s, s->palette, s->scratch);
    memcpy(out, s->palette, sizeof *out);
}

/* However times round: at a key that key, compiled or not. */
static void check_steps_at_keys(spin *spinner, th_sampling sampling)
{
    crowd_fixture s;
    const th_compiled_model_desc how = {.sampling = sampling, .interpolation = TH_INTERPOLATION_STEP};
    crowd_fixture_init_one(&s, &spinner->model, how, TH_ISA_AUTO);
    for (int k = 0; k < 400; k++) {
        th_mat34 at, behind;
        if (k % (FRAMES - 1) == 0) /* where the clip begins again, its end is as good */
            continue;
        pose_at(&s, k / 30.0, &at);
        pose_at(&s, (k + 0.5) / 30.0, &behind);
        cr_assert_arr_eq(at.m, behind.m, 12, "key %d", k);
    }
    crowd_fixture_fini(&s);
}

Test(interpolation_kernels, steps_show_a_key_at_its_time)
{
    spin s;
    spin_init(&s, FRAMES, (double[2]){3, 3});
    check_steps_at_keys(&s, TH_SAMPLING_COMPILED);
    check_steps_at_keys(&s, TH_SAMPLING_EXACT);
}

/* ---- 16-bit keys by themselves ---- */

enum { SHORT_KEYS = 8 };

/* Translations of SHORT_KEYS joints in two frames. Their numbers go to both ends of what 16 bits hold. */
typedef struct short_frames {
    _Alignas(16) int16_t numbers[2][SHORT_KEYS * TH_KEY];
    th_key_range ranges[SHORT_KEYS];
    th_joint_op ops[SHORT_KEYS];
} short_frames;

static void short_frames_init(short_frames *f)
{
    const int16_t ends[] = {0, 32767, -32767, 1};
    memset(f, 0, sizeof *f);
    for (uint32_t i = 0; i < SHORT_KEYS * TH_KEY; i++) {
        f->numbers[0][i] = i < 16 ? ends[i % 4] : (int16_t)(i * 2039 % 65535 - 32767);
        f->numbers[1][i] = i < 16 ? ends[i / 4] : (int16_t)(i * 9973 % 65535 - 32767);
        f->ranges[i / TH_KEY].base[i % TH_KEY] = 0.25F * (float)(i % 5);
        f->ranges[i / TH_KEY].span[i % TH_KEY] = 1e-4F * (float)(1 + i % 7);
        f->ranges[i / TH_KEY].share_span[i % TH_KEY] = -f->ranges[i / TH_KEY].span[i % TH_KEY] / TH_SHARES;
    }
    for (uint32_t op = 0; op < SHORT_KEYS; op++)
        f->ops[op] = (th_joint_op){.flags = TH_JOINT_OP_TRANSLATION, .parent = TH_NO_PARENT, .key = op * 8};
}

static void check_short_key(const short_frames *f, uint32_t op, float alpha, const float *d, uint32_t width,
                            uint32_t lane)
{
    for (uint32_t c = 0; c < 3; c++) {
        const uint32_t i = op * TH_KEY + c;
        const th_key_range *range = &f->ranges[op];
        const double a = f->numbers[0][i], b = f->numbers[1][i], span = (double)range->span[c];
        const double want = (double)range->base[c] + span * (a + (b - a) * (double)alpha);
        const double time = fabs(b - a) * span / (2 * TH_SHARES), rounding = 2e-7 * (1 + 65535 * span);
        cr_assert_float_eq((double)d[(4 * c + 3) * width + lane], want, time + rounding,
                           "%u lanes, op %u, number %u, alpha %g", width, op, c, (double)alpha);
    }
}

/* As exactly as half of a share of an interval, with all lanes at times of their own. */
Test(interpolation_kernels, shorts_are_weighted_by_the_time)
{
    static short_frames frames;
    _Alignas(64) static float pose[SHORT_KEYS * TH_ENTRY * TH_MAX_WIDTH];
    short_frames_init(&frames);
    const th_program program = {.keys = TH_KEYS_16,
                                .ops = frames.ops,
                                .op_count = SHORT_KEYS,
                                .frame_bytes = sizeof frames.numbers[0],
                                .ranges = frames.ranges};
    for (uint32_t step = 0; step <= 64; step++)
        for (EACH_ISA(isa)) {
            const th_kernels *kernels = th_isa_kernels(isa);
            th_lanes lanes;
            for (uint32_t lane = 0; lane < TH_MAX_WIDTH; lane++)
                th_lanes_set(&lanes, lane, frames.numbers,
                             fminf(1, fmodf((float)step / 64 + 0.377F * (float)lane, 1.01F)));
            kernels->sample[TH_POSE_MATRICES][TH_KEYS_16][TH_INTERPOLATION_NLERP](&program, 0, SHORT_KEYS, &lanes,
                                                                                  pose);
            for (uint32_t op = 0; op < SHORT_KEYS; op++)
                for (uint32_t lane = 0; lane < kernels->width; lane++)
                    check_short_key(&frames, op, lanes.alpha[lane], pose + op * TH_ENTRY * kernels->width,
                                    kernels->width, lane);
        }
}

/* 16-bit keys take half the memory, and say when they are not exact enough. */
Test(interpolation_kernels, short_keys_take_half_or_say_why_not)
{
    random_desc desc = {.seed = 3, .joint_count = 20, .clip_count = 2, .key_count = 20, .swing_rad = 0.2};
    th_model *model = random_model(&desc);
    th_compiled_model *wide = make_compiled_as(model, (th_compiled_model_desc){.bound_m = 0.01});
    th_compiled_model *shorts = make_compiled_as(model, (th_compiled_model_desc){.bound_m = 0.01, .keys = TH_KEYS_16});
    for (uint32_t c = 0; c < model->clip_count; c++) {
        const th_clip_report *a = th_compiled_model_clip_report(wide, c), *b = th_compiled_model_clip_report(shorts, c);
        cr_assert(a->compiled && b->compiled);
        cr_expect_eq(a->bytes / a->frame_count, 2 * (b->bytes / b->frame_count));
    }
    th_compiled_model_destroy(wide);
    th_compiled_model_destroy(shorts);
    shorts = make_compiled_as(model, (th_compiled_model_desc){.bound_m = 1e-6, .keys = TH_KEYS_16});
    for (uint32_t c = 0; c < model->clip_count; c++)
        cr_expect(!th_compiled_model_clip_report(shorts, c)->compiled &&
                  th_compiled_model_clip_report(shorts, c)->reason[0]);
    th_compiled_model_destroy(shorts);
    th_model_destroy(model);
}

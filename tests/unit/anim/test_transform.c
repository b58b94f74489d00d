#include "random_model.h"

#include <anim/transform.h>

#include <criterion/criterion.h>

#include <math.h>

#define SEED 20240607u

static void random_quat(uint64_t *state, double q[4])
{
    for (int i = 0; i < 4; i++)
        q[i] = random_between(state, -1, 1);
    if (!th_quat_normalize(q))
        q[3] = 1;
}

static th_trs random_trs(uint64_t *state, double smallest_scale)
{
    th_trs trs;
    random_quat(state, trs.rotation);
    for (int i = 0; i < 3; i++) {
        trs.translation[i] = random_between(state, -10, 10);
        trs.scale[i] = random_between(state, smallest_scale, 3);
    }
    return trs;
}

/* v rotated by q, by the definition q v conj(q), sharing nothing with the matrix. */
static void rotate(const double q[4], const double v[3], double out[3])
{
    double t[3], u[3];
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        t[i] = 2 * (q[j] * v[k] - q[k] * v[j]);
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        u[i] = q[j] * t[k] - q[k] * t[j];
    }
    for (int i = 0; i < 3; i++)
        out[i] = v[i] + q[3] * t[i] + u[i];
}

Test(transform, trs_scales_then_rotates_then_translates)
{
    uint64_t state = SEED;
    for (int n = 0; n < 1000; n++) {
        th_trs trs = random_trs(&state, -3);
        th_dmat34 m = th_dmat34_from_trs(&trs);
        double p[3], scaled[3], want[3], got[3];
        for (int i = 0; i < 3; i++) {
            p[i] = random_between(&state, -5, 5);
            scaled[i] = p[i] * trs.scale[i];
        }
        rotate(trs.rotation, scaled, want);
        th_dmat34_point(&m, p, got);
        for (int i = 0; i < 3; i++)
            cr_assert_float_eq(got[i], want[i] + trs.translation[i], 1e-12, "case %d", n);
    }
}

Test(transform, trs_does_not_care_for_the_length_of_the_quaternion)
{
    uint64_t state = SEED;
    th_trs trs = random_trs(&state, 1);
    th_dmat34 a = th_dmat34_from_trs(&trs);
    for (int i = 0; i < 4; i++)
        trs.rotation[i] *= -7;
    th_dmat34 b = th_dmat34_from_trs(&trs);
    cr_assert_lt(th_dmat34_distance(&a, &b), 1e-14);
}

Test(transform, product_applies_the_right_factor_first)
{
    uint64_t state = SEED;
    for (int n = 0; n < 100; n++) {
        th_trs ta = random_trs(&state, 0.1), tb = random_trs(&state, 0.1);
        th_dmat34 a = th_dmat34_from_trs(&ta), b = th_dmat34_from_trs(&tb), ab = th_dmat34_mul(a, b);
        double p[3] = {1, -2, 3}, step[3], want[3], got[3];
        th_dmat34_point(&b, p, step);
        th_dmat34_point(&a, step, want);
        th_dmat34_point(&ab, p, got);
        for (int i = 0; i < 3; i++)
            cr_assert_float_eq(got[i], want[i], 1e-11);
    }
}

Test(transform, inverse_undoes)
{
    uint64_t state = SEED;
    th_dmat34 identity = TH_DMAT34_IDENTITY;
    for (int n = 0; n < 1000; n++) {
        th_trs trs = random_trs(&state, 0.1);
        th_dmat34 m = th_dmat34_from_trs(&trs), inverse;
        cr_assert(th_dmat34_invert(&m, &inverse));
        th_dmat34 product = th_dmat34_mul(m, inverse);
        cr_assert_lt(th_dmat34_distance(&product, &identity), 1e-11);
    }
}

Test(transform, flat_and_infinite_matrices_have_no_inverse)
{
    th_dmat34 flat = TH_DMAT34_IDENTITY, infinite = TH_DMAT34_IDENTITY, out = {{42}};
    flat.m[5] = 0;
    infinite.m[0] = HUGE_VAL;
    cr_assert_not(th_dmat34_invert(&flat, &out));
    cr_assert_not(th_dmat34_invert(&infinite, &out));
    cr_assert_eq(out.m[0], 42);
}

Test(transform, decomposing_and_composing_again_gives_the_matrix)
{
    uint64_t state = SEED;
    for (int n = 0; n < 1000; n++) {
        th_trs trs = random_trs(&state, -3), parts;
        th_dmat34 m = th_dmat34_from_trs(&trs);
        cr_assert_lt(th_dmat34_decompose(&m, &parts), 1e-12, "case %d", n);
        th_dmat34 again = th_dmat34_from_trs(&parts);
        cr_assert_lt(th_dmat34_distance(&m, &again), 1e-11);
    }
}

Test(transform, decomposing_handles_half_turns_about_every_axis)
{
    for (int axis = 0; axis < 3; axis++) {
        th_trs trs = {.scale = {1, 1, 1}}, parts;
        trs.rotation[axis] = 1;
        th_dmat34 m = th_dmat34_from_trs(&trs);
        cr_assert_lt(th_dmat34_decompose(&m, &parts), 1e-15);
        cr_assert_float_eq(fabs(parts.rotation[axis]), 1, 1e-12);
    }
}

Test(transform, decomposing_puts_the_signs_where_they_are_wanted)
{
    uint64_t state = SEED;
    for (int n = 0; n < 1000; n++) {
        th_trs trs = random_trs(&state, -3), parts;
        th_dmat34 m = th_dmat34_from_trs(&trs);
        cr_assert_lt(th_dmat34_decompose_like(&m, trs.scale, &parts), 1e-12, "case %d", n);
        for (int i = 0; i < 3; i++)
            cr_assert_float_eq(parts.scale[i], trs.scale[i], 1e-11, "case %d", n);
        const double other[3] = {-trs.scale[0], trs.scale[1], trs.scale[2]};
        cr_assert_lt(th_dmat34_decompose_like(&m, other, &parts), 1e-12, "case %d: signs it cannot have", n);
    }
}

Test(transform, decomposing_reports_shear)
{
    th_dmat34 sheared = TH_DMAT34_IDENTITY;
    sheared.m[1] = 0.5;
    th_trs parts;
    cr_assert_gt(th_dmat34_decompose(&sheared, &parts), 0.05);
}

Test(transform, distance_counts_nan_as_a_difference)
{
    th_dmat34 a = TH_DMAT34_IDENTITY, b = TH_DMAT34_IDENTITY;
    b.m[3] = nan("");
    cr_assert_not(th_dmat34_distance(&a, &b) < 1e9);
}

static void slerp(const double a[4], const double b[4], double t, double out[4])
{
    const th_quat_arc arc = th_quat_arc_between(a, b);
    th_quat_arc_at(&arc, t, out);
}

Test(transform, slerp_moves_at_constant_speed_along_the_great_circle)
{
    uint64_t state = SEED;
    for (int n = 0; n < 1000; n++) {
        double a[4], b[4], q[4];
        random_quat(&state, a);
        random_quat(&state, b);
        double dot = fabs(a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]);
        double angle = acos(fmin(dot, 1)), t = random_between(&state, 0, 1);
        slerp(a, b, t, q);
        double from_a = a[0] * q[0] + a[1] * q[1] + a[2] * q[2] + a[3] * q[3];
        double from_b = fabs(b[0] * q[0] + b[1] * q[1] + b[2] * q[2] + b[3] * q[3]);
        cr_assert_float_eq(acos(fmin(from_a, 1)), t * angle, 1e-7);
        cr_assert_float_eq(acos(fmin(from_b, 1)), (1 - t) * angle, 1e-7);
        cr_assert_float_eq(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], 1, 1e-12);
    }
}

Test(transform, slerp_is_right_where_angles_vanish_and_where_quaternions_are_opposite)
{
    double a[4] = {0, 0, 0, 1}, near[4] = {1e-10, 0, 0, 1}, opposite[4] = {0, 0, 0, -1}, q[4];
    slerp(a, near, 0.5, q);
    cr_assert_float_eq(q[0], 5e-11, 1e-16);
    slerp(a, opposite, 0.5, q);
    cr_assert_float_eq(q[3], 1, 1e-12);
}

Test(transform, normalizing_refuses_what_has_no_direction)
{
    double zero[4] = {0}, unknown[4] = {nan(""), 0, 0, 1}, infinite[4] = {HUGE_VAL, 0, 0, 1},
           long_one[4] = {0, 3, 0, 4};
    cr_assert_not(th_quat_normalize(zero));
    cr_assert_not(th_quat_normalize(unknown));
    cr_assert_not(th_quat_normalize(infinite));
    cr_assert(th_quat_normalize(long_one));
    cr_assert_float_eq(long_one[1], 0.6, 1e-15);
}

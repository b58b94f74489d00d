/* Axes of plots: whatever the values are, ticks are round, inside, and as many as fit. */
#include "bench/report/axis.h"

#include <throng/core/random.h>

#include <criterion/criterion.h>

#include <math.h>
#include <string.h>

enum { TRIES = 20000 };

/* Between 1e-12 and 1e12, all magnitudes alike. */
static double any_value(uint64_t n)
{
    return pow(10, 24 * th_random_unit(1, n) - 12);
}

static bool is_close(double a, double b)
{
    return fabs(a - b) <= 1e-6 * fmax(fabs(a), fabs(b));
}

/* Whether it is 1, 2 or 5 times a power of ten. */
static bool is_round(double value)
{
    const double digit = value / pow(10, floor(log10(value * (1 + 1e-9))));
    return is_close(digit, 1) || is_close(digit, 2) || is_close(digit, 5);
}

static bool is_multiple(double value, double step)
{
    return fabs(value / step - round(value / step)) < 1e-4;
}

static void expect_inside(const th_axis *axis, const double *ticks, uint32_t count, uint32_t most)
{
    cr_assert(count >= 2 && count <= most, "%u ticks from %g to %g", count, axis->low, axis->high);
    for (uint32_t i = 0; i < count; i++) {
        cr_assert(ticks[i] >= axis->low && ticks[i] <= axis->high, "%g to %g: %g", axis->low, axis->high, ticks[i]);
        cr_assert(i == 0 || ticks[i] > ticks[i - 1]);
        cr_assert_not(ticks[i] == 0 && signbit(ticks[i]), "minus nothing");
    }
}

static void expect_steps(const double *ticks, uint32_t count)
{
    const double step = ticks[1] - ticks[0];
    cr_assert(is_round(step), "steps of %g", step);
    for (uint32_t i = 0; i < count; i++)
        cr_assert(is_multiple(ticks[i], step), "%g in steps of %g", ticks[i], step);
    for (uint32_t i = 2; i < count; i++)
        cr_assert(is_close(ticks[i] - ticks[i - 1], step));
}

Test(axis, linear_ticks_are_multiples_of_round_steps)
{
    for (uint64_t n = 0; n < TRIES; n++) {
        double ticks[TH_AXIS_MAX_TICKS];
        const uint32_t most = TH_AXIS_MIN_TICKS + (uint32_t)(n % 10);
        const double sign = n % 3 == 0 ? -1 : n % 3 == 1 ? 0 : 1;
        th_axis axis = th_axis_linear();
        th_axis_include(&axis, sign * any_value(3 * n));
        th_axis_include(&axis, axis.low + any_value(3 * n + 1));
        th_axis_finalize(&axis, 0.05);
        if ((axis.high - axis.low) < 1e-5 * fmax(fabs(axis.low), fabs(axis.high)))
            continue; /* of a narrow range far from 0 this test cannot tell steps from rounding */
        const uint32_t count = th_axis_ticks(&axis, most, ticks);
        expect_inside(&axis, ticks, count, most);
        expect_steps(ticks, count);
    }
}

Test(axis, logarithmic_ticks_are_round_numbers_or_steps)
{
    uint32_t by_decade = 0;
    for (uint64_t n = 0; n < TRIES; n++) {
        double ticks[TH_AXIS_MAX_TICKS];
        const uint32_t most = TH_AXIS_MIN_TICKS + (uint32_t)(n % 10);
        th_axis axis = th_axis_log();
        th_axis_include(&axis, any_value(2 * n));
        th_axis_include(&axis, n % 4 == 0 ? axis.low * (1 + th_random_unit(2, n)) : any_value(2 * n + 1));
        th_axis_finalize(&axis, 0.05);
        const uint32_t count = th_axis_ticks(&axis, most, ticks);
        expect_inside(&axis, ticks, count, most);
        bool all_round = true;
        for (uint32_t i = 0; i < count; i++)
            all_round = all_round && is_round(ticks[i]);
        by_decade += all_round;
        if (!all_round)
            expect_steps(ticks, count);
    }
    cr_expect_gt(by_decade, TRIES / 2);
}

Test(axis, ends_of_the_range_are_ticks_where_they_are_round)
{
    double ticks[TH_AXIS_MAX_TICKS];
    const th_axis linear = {.low = 0, .high = 0.3}, log = {.low = 1, .high = 100, .is_log = true};
    uint32_t count = th_axis_ticks(&linear, 7, ticks);
    cr_expect_eq(count, 7);
    cr_expect_float_eq(ticks[0], 0, 1e-12);
    cr_expect_float_eq(ticks[6], 0.3, 1e-12);
    count = th_axis_ticks(&log, 7, ticks);
    cr_expect_eq(count, 7);
    cr_expect_float_eq(ticks[0], 1, 1e-12);
    cr_expect_float_eq(ticks[6], 100, 1e-9);
}

Test(axis, what_is_counted_has_whole_ticks)
{
    double ticks[TH_AXIS_MAX_TICKS];
    th_axis few = {.low = 0, .high = 2, .least_step = 1},
            frames = {.low = 0.6, .high = 70, .is_log = true, .least_step = 1};
    cr_assert_eq(th_axis_ticks(&few, 7, ticks), 3);
    cr_expect_float_eq(ticks[1], 1, 1e-12);
    cr_assert_geq(th_axis_ticks(&frames, 7, ticks), 2);
    cr_expect_float_eq(ticks[0], 1, 1e-12);
}

Test(axis, shows_all_it_was_given)
{
    for (uint64_t n = 0; n < TRIES; n++) {
        const bool is_log = n % 2;
        th_axis axis = is_log ? th_axis_log() : th_axis_linear();
        const double a = any_value(2 * n), b = any_value(2 * n + 1) * (is_log ? 1 : -1);
        th_axis_include(&axis, a);
        th_axis_include(&axis, b);
        th_axis_finalize(&axis, 0.05);
        axis.from = 400;
        axis.to = 20;
        cr_assert_lt(axis.low, axis.high);
        cr_assert(th_axis_at(&axis, fmin(a, b)) <= 400 && th_axis_at(&axis, fmax(a, b)) >= 20);
        cr_assert_float_eq(th_axis_at(&axis, axis.low), 400, 1e-6);
        cr_assert_float_eq(th_axis_at(&axis, axis.high), 20, 1e-6);
    }
}

Test(axis, has_a_length_whatever_it_was_given)
{
    static const double values[] = {0, 1, -3, 1e-300, 1e300, (double)NAN, (double)INFINITY, -(double)INFINITY};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        for (int is_log = 0; is_log < 2; is_log++) {
            double ticks[TH_AXIS_MAX_TICKS];
            th_axis axis = is_log ? th_axis_log() : th_axis_linear();
            th_axis_include(&axis, values[i]);
            th_axis_finalize(&axis, 0.05);
            cr_assert(isfinite(axis.low) && isfinite(axis.high) && axis.low < axis.high, "%g", values[i]);
            cr_expect(!is_log || axis.low > 0);
            expect_inside(&axis, ticks, th_axis_ticks(&axis, 7, ticks), 7);
            if (th_axis_takes(&axis, values[i]))
                cr_expect(values[i] >= axis.low && values[i] <= axis.high, "%g", values[i]);
            else
                cr_expect(isnan(th_axis_at(&axis, values[i])), "%g", values[i]);
        }
}

Test(axis, does_not_go_below_nothing_where_it_begins_there)
{
    th_axis axis = th_axis_linear();
    th_axis_include(&axis, 0);
    th_axis_include(&axis, 10);
    th_axis_finalize(&axis, 0.1);
    cr_expect_float_eq(axis.low, 0, 1e-12);
    cr_expect_float_eq(axis.high, 11, 1e-9);
}

Test(axis, keeps_its_margin_on_the_side_of_nothing_where_its_values_are)
{
    th_axis axis = th_axis_linear();
    th_axis_include(&axis, 0.5);
    th_axis_include(&axis, 17);
    th_axis_finalize(&axis, 0.05);
    cr_expect_eq(axis.low, 0);
    axis = th_axis_linear();
    th_axis_include(&axis, -0.5);
    th_axis_include(&axis, -17);
    th_axis_finalize(&axis, 0.05);
    cr_expect_eq(axis.high, 0);
}

/* From a file that somebody wrote by hand, say; widening must not reach infinity. */
Test(axis, leaves_out_what_is_no_measurement)
{
    static const double odd[] = {1e297, 1e-297, -1e297, 1e100};
    double ticks[TH_AXIS_MAX_TICKS];
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        th_axis axis = th_axis_log();
        th_axis_include(&axis, 1e-16);
        th_axis_include(&axis, odd[i]);
        th_axis_finalize(&axis, 0.1);
        cr_expect(th_axis_ticks(&axis, 8, ticks) >= 2);
        cr_expect(isnan(th_axis_at(&axis, odd[i])));
    }
}

Test(axis, labels_are_short)
{
    static const struct {
        double value;
        const char *label;
    } cases[] = {{0, "0"},
                 {0.25, "0.25"},
                 {-3, "-3"},
                 {0.30000000000000004, "0.3"},
                 {5000, "5000"},
                 {10000, "10k"},
                 {25000, "25k"},
                 {2500000, "2.5M"},
                 {3e9, "3G"},
                 {0.001, "0.001"},
                 {1e-4, "0.0001"},
                 {2e-6, "2e-6"},
                 {1.5e-12, "1.5e-12"},
                 {1e18, "1e+18"}};
    char label[32];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_str_eq(th_axis_label(cases[i].value, label, sizeof label), cases[i].label);
}

/* Student's t against tables, and intervals of logarithms against what is known of them. */
#include "fixture_samples.h"

#include <bench/student.h>
#include <core/random.h>

#include <criterion/criterion.h>

#include <math.h>

/* Two-sided 95 %, 99 % and 99.9 % quantiles: NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2. */
Test(student, quantiles_match_the_tables)
{
    static const struct {
        double freedom, of_95, of_99, of_999;
    } table[] = {{1, 12.706, 63.657, 636.619}, {2, 4.303, 9.925, 31.599}, {5, 2.571, 4.032, 6.869},
                 {11, 2.201, 3.106, 4.437},    {22, 2.074, 2.819, 3.792}, {100, 1.984, 2.626, 3.390}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        cr_expect_float_eq(th_student_quantile(0.95, table[i].freedom), table[i].of_95, 6e-4);
        cr_expect_float_eq(th_student_quantile(0.99, table[i].freedom), table[i].of_99, 6e-4);
        cr_expect_float_eq(th_student_quantile(0.999, table[i].freedom), table[i].of_999, 6e-4);
    }
    cr_expect_float_eq(th_student_quantile(0.95, 1e7), 1.959964, 1e-5, "as the normal distribution");
}

Test(student, p_is_the_inverse_of_the_quantile_for_any_degrees_of_freedom)
{
    for (double freedom = 1; freedom < 200; freedom *= 1.37)
        for (double risk = 0.5; risk > 1e-9; risk /= 7) {
            const double t = th_student_quantile(1 - risk, freedom);
            cr_expect_float_eq(th_student_p(t, freedom) / risk, 1, 1e-5, "%g, %g: %g", freedom, risk, t);
            cr_expect_float_eq(th_student_p(-t, freedom), th_student_p(t, freedom), 1e-15);
        }
    cr_expect_float_eq(th_student_p(0, 5), 1, 1e-15);
    cr_expect_eq(th_student_p((double)INFINITY, 5), 0);
    cr_expect_float_eq(th_student_p(1, 1), 0.5, 1e-12, "Cauchy: a quarter on each side");
}

/* By hand: logarithms 0, 1, 2 and 3, 4, 5, 6. Variances 1 and 5/3, so the error is sqrt(1/3 + 5/12). */
Test(student, difference_is_that_of_welch)
{
    const double low[] = {1, exp(1), exp(2)}, high[] = {exp(3), exp(4), exp(5), exp(6)};
    th_samples under = samples_of(low, 3), over = samples_of(high, 4);
    const th_log_estimate d = th_log_difference(&over, &under);
    cr_expect_float_eq(d.value, 3.5, 1e-12);
    cr_expect_float_eq(d.error, sqrt(0.75), 1e-12);
    cr_expect_float_eq(d.freedom, 0.75 * 0.75 / (1 / 9.0 / 2 + 25 / 144.0 / 3), 1e-9);
    const th_interval ratio = th_log_interval(&d, 0.95);
    cr_expect_float_eq(log(ratio.low) + log(ratio.high), 7, 1e-9);
    cr_expect_float_eq(log(ratio.high), 3.5 + th_student_quantile(0.95, d.freedom) * d.error, 1e-9);
    cr_expect_float_eq(th_log_p(&d), th_student_p(3.5 / sqrt(0.75), d.freedom), 1e-12);
    th_samples_fini(&under);
    th_samples_fini(&over);
}

Test(student, what_does_not_scatter_is_certain)
{
    const double same[] = {2, 2, 2}, others[] = {3, 3};
    th_samples a = samples_of(same, 3), b = samples_of(others, 2);
    const th_log_estimate none = th_log_difference(&a, &a), some = th_log_difference(&b, &a);
    const th_interval ratio = th_log_interval(&some, 0.99);
    cr_expect_eq(th_log_p(&none), 1);
    cr_expect_eq(th_log_p(&some), 0);
    cr_expect_float_eq(ratio.low, 1.5, 1e-12);
    cr_expect_float_eq(ratio.high, 1.5, 1e-12);
    th_samples_fini(&a);
    th_samples_fini(&b);
}

/* By hand: the mean of 1, 2 and 6 is 3, the variance 7; t of two degrees of freedom is 4.3027. */
Test(student, mean_may_be_below_zero_and_one_value_has_no_interval)
{
    const double values[] = {1, 2, 6};
    const th_estimate mean = th_student_mean(values, 3), one = th_student_mean(values, 1);
    cr_expect_float_eq(mean.value, 3, 1e-12);
    cr_expect_float_eq(mean.low, 3 - 4.302652730 * sqrt(7 / 3.0), 1e-8, "%g", mean.low);
    cr_expect_float_eq(mean.high, 6 - mean.low, 1e-12);
    cr_expect(fabs(one.value - 1) < 1e-12 && isnan(one.low) && isnan(one.high));
    cr_expect(isnan(th_student_mean(NULL, 0).value));
}

/* Five samples, where a percentile bootstrap of the median would hold in about 83 of 100 cases. */
Test(student, intervals_hold_as_often_as_they_say)
{
    enum { TRIES = 4000, COUNT = 5 };
    uint32_t held = 0;
    for (uint32_t t = 0; t < TRIES; t++) {
        double values[COUNT];
        for (uint32_t i = 0; i < COUNT; i++)
            values[i] = exp(0.1 * normal_of(th_random_bits(3, t), i));
        th_samples s = samples_of(values, COUNT);
        const th_log_estimate mean = th_log_mean(&s);
        const th_interval interval = th_log_interval(&mean, 0.95);
        held += interval.low <= 1 && 1 <= interval.high;
        th_samples_fini(&s);
    }
    cr_expect(held > 0.94 * TRIES && held < 0.96 * TRIES, "%u of %d", held, TRIES);
}

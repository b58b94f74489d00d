/* The rank test against tables of the literature, against enumeration, and against itself. */
#include "fixture_samples.h"

#include <bench/rank_test.h>
#include <core/random.h>

#include <criterion/criterion.h>

#include <math.h>

static th_rank_test test_of(const double *a, uint32_t a_count, const double *b, uint32_t b_count)
{
    th_samples first = samples_of(a, a_count), second = samples_of(b, b_count);
    const th_rank_test test = th_rank_test_run(&first, &second);
    th_samples_fini(&first);
    th_samples_fini(&second);
    return test;
}

/* Two sets of n values each, without ties, of which `wins` pairs have the larger value in the first set. */
static th_rank_test test_of_wins(uint32_t n, uint32_t wins)
{
    double a[32], b[32];
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t own = wins < n ? wins : n; /* this one of a is larger than so many of b */
        wins -= own;
        a[i] = own + 0.5 + i / 100.0;
        b[i] = i + 1;
    }
    return test_of(a, n, b, n);
}

/* Largest U that is significant at 5 % to two sides, for sets of one size: S. Siegel, Nonparametric Statistics, 1956,
 * table K, after D. Auble, 1953. */
Test(rank_test, matches_the_critical_values_of_the_tables)
{
    static const struct {
        uint32_t n, u;
    } table[] = {{4, 0},   {5, 2},   {6, 5},   {7, 8},   {8, 13},  {9, 17},  {10, 23},  {11, 30}, {12, 37},
                 {13, 45}, {14, 55}, {15, 64}, {16, 75}, {17, 87}, {18, 99}, {19, 113}, {20, 127}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const th_rank_test last = test_of_wins(table[i].n, table[i].u), next = test_of_wins(table[i].n, table[i].u + 1);
        cr_expect(last.exact && next.exact);
        cr_expect_eq(last.u, table[i].u);
        cr_expect(last.p <= 0.05 && next.p > 0.05, "%u: %g, %g", table[i].n, last.p, next.p);
    }
}

/* H. Mann, D. Whitney, 1947, table I: P(U <= u), to one side. */
Test(rank_test, matches_the_probabilities_of_mann_and_whitney)
{
    cr_expect_float_eq(test_of_wins(3, 0).p, 2 * 0.050, 1e-12);
    cr_expect_float_eq(test_of_wins(4, 1).p, 2 * 0.029, 1e-3);
    cr_expect_float_eq(test_of_wins(5, 3).p, 2 * 0.028, 1e-3);
    cr_expect_float_eq(test_of_wins(8, 10).p, 2 * 0.010, 1e-3);
}

/* ---- enumeration ---- */

/* Pairs of which the first is larger, equal ones counting half. mask: which values the first set has. */
static double wins_of(const double *values, uint32_t count, uint32_t mask)
{
    double wins = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < count; j++)
            if ((mask >> i & 1) && !(mask >> j & 1))
                wins += values[i] > values[j] ? 1 : values[i] == values[j] ? 0.5 : 0;
    return wins;
}

/* Of all ways to deal the values out, the part that is as far from the middle as the first `first` of them are. */
static double enumerated_p(const double *values, uint32_t count, uint32_t first)
{
    const double middle = first * (count - first) / 2.0;
    const double distance = fabs(wins_of(values, count, (1u << first) - 1) - middle);
    uint32_t far = 0, all = 0;
    for (uint32_t mask = 0; mask < 1u << count; mask++)
        if ((uint32_t)__builtin_popcount(mask) == first) {
            all++;
            far += fabs(wins_of(values, count, mask) - middle) >= distance;
        }
    return (double)far / all;
}

Test(rank_test, matches_enumeration_with_and_without_ties)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        double values[11];
        const uint32_t count = 2 + (uint32_t)(th_random_bits(seed, 100) % 10);
        const uint32_t first = 1 + (uint32_t)(th_random_bits(seed, 101) % (count - 1));
        const uint32_t different = seed % 3 == 0 ? 1000 : 4; /* few: ties */
        for (uint32_t i = 0; i < count; i++)
            values[i] = (double)(th_random_bits(seed, i) % different);
        const th_rank_test test = test_of(values, first, values + first, count - first);
        cr_expect(test.exact);
        cr_expect_eq(test.u, wins_of(values, count, (1u << first) - 1), "seed %d", (int)seed);
        cr_expect_float_eq(test.p, enumerated_p(values, count, first), 1e-12, "seed %d: %g, not %g", (int)seed, test.p,
                           enumerated_p(values, count, first));
    }
}

/* ---- many samples ---- */

/* By scipy 1.10: mannwhitneyu(a, b, method='asymptotic'), with a[i] = i * i % 37 and b[i] = i * i % 41 + 3. */
Test(rank_test, matches_the_normal_distribution_beyond)
{
    double a[40], b[30];
    for (int i = 0; i < 40; i++)
        a[i] = i * i % 37;
    for (int i = 0; i < 30; i++)
        b[i] = i * i % 41 + 3;
    const th_rank_test test = test_of(a, 40, b, 30);
    cr_expect_not(test.exact);
    cr_expect_eq(test.u, 427.5);
    cr_expect_float_eq(test.p, 0.04108800388663199, 1e-10, "%.12g", test.p);
}

Test(rank_test, exact_is_close_to_normal_where_they_meet)
{
    enum { HALF = TH_RANK_TEST_EXACT / 2 };
    for (uint64_t seed = 0; seed < 20; seed++) {
        double a[HALF], b[HALF];
        for (uint32_t i = 0; i < HALF; i++) {
            a[i] = th_random_unit(seed, i);
            b[i] = th_random_unit(seed, HALF + i) + 0.01 * (double)seed;
        }
        const th_rank_test test = test_of(a, HALF, b, HALF);
        const double distance = fmax(0, fabs(test.u - HALF * HALF / 2.0) - 0.5);
        const double deviation = sqrt(HALF * HALF * (2 * HALF + 1) / 12.0);
        cr_expect(test.exact);
        cr_expect_float_eq(test.p, erfc(distance / deviation / sqrt(2)), 0.004, "%g", test.p);
    }
}

Test(rank_test, is_the_same_seen_from_the_other_side)
{
    const double a[] = {3, 1, 4, 1, 5}, b[] = {9, 2, 6, 5, 3, 5, 8};
    const th_rank_test one = test_of(a, 5, b, 7), other = test_of(b, 7, a, 5);
    cr_expect_eq(one.u + other.u, 5 * 7);
    cr_expect_float_eq(one.p, other.p, 1e-12);
}

Test(rank_test, cannot_tell_what_is_equal_or_missing)
{
    double same[40];
    for (int i = 0; i < 40; i++)
        same[i] = 7;
    cr_expect_eq(test_of(same, 5, same, 5).p, 1);
    cr_expect_eq(test_of(same, 40, same, 40).p, 1);
    cr_expect_eq(test_of(same, 0, same, 5).p, 1);
    cr_expect_eq(test_of(same, 1, same, 0).p, 1);
}

/* Under the null hypothesis one in twenty should be significant at 5 %. */
Test(rank_test, errs_as_often_as_it_says)
{
    enum { TRIES = 2000, COUNT = 10 };
    uint32_t significant = 0;
    for (uint64_t seed = 0; seed < TRIES; seed++) {
        double a[COUNT], b[COUNT];
        for (uint32_t i = 0; i < COUNT; i++) {
            a[i] = -log(1 - th_random_unit(seed, i));
            b[i] = -log(1 - th_random_unit(seed, COUNT + i));
        }
        significant += test_of(a, COUNT, b, COUNT).p <= 0.05;
    }
    cr_expect(significant > 70 && significant < 130, "%u of %u", significant, TRIES); /* 100 with a deviation of 10 */
}

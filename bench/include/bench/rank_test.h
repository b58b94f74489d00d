/* The Mann-Whitney rank test: whether two sets of samples differ by more than chance. It compares only which values are
 * larger, so it assumes nothing about their distribution (H. Mann, D. Whitney, On a Test of Whether one of Two Random
 * Variables is Stochastically Larger than the Other, 1947). */
#ifndef THRONG_BENCH_RANK_TEST_H
#define THRONG_BENCH_RANK_TEST_H

#include <bench/stats.h>

/* Up to this many samples in both sets together, p is exact: it counts all assignments of the observed values, ties
 * included, to the two sets (B. Streitberg, J. Roehmel, Exact Distributions for Permutation and Rank Tests, 1986).
 * Beyond, p is that of a normal distribution of the same variance, corrected for ties and continuity (E. Lehmann,
 * Nonparametrics, 1975, section 1.4). */
enum { TH_RANK_TEST_EXACT = 50 };

typedef struct th_rank_test {
    /* Pairs in which the value of a is larger; equal ones count half. 0 to a.count x b.count. */
    double u;
    /* Two-sided: the probability that sets with the same distribution are at least as far from a.count x b.count / 2. 1
     * without samples, and when all are equal. */
    double p;
    bool exact;
} th_rank_test;

/* Allocates up to 400 KB for an exact p. When memory is out, p is that of the normal distribution. */
th_rank_test th_rank_test_run(const th_samples *a, const th_samples *b);

#endif

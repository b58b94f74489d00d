/* Whether two sets of samples differ by more than chance: the test of Mann and Whitney, which asks only which value is
 * larger, so that no shape of the scatter is assumed (H. Mann, D. Whitney, On a Test of Whether one of Two Random
 * Variables is Stochastically Larger than the Other, 1947). */
#ifndef THRONG_BENCH_RANK_TEST_H
#define THRONG_BENCH_RANK_TEST_H

#include <throng/bench/stats.h>
#include <throng/core/api.h>

TH_API_BEGIN

/* Up to so many samples of both together the p value is exact: all ways to deal the values that are there to the two
 * sets, ties included, are counted (B. Streitberg, J. Roehmel, Exact Distributions for Permutation and Rank Tests,
 * 1986). Beyond, it is that of a normal distribution of the same variance, with corrections for ties and for continuity
 * (E. Lehmann, Nonparametrics, 1975, section 1.4). */
enum { TH_RANK_TEST_EXACT = 50 };

typedef struct th_rank_test {
    double
        u; /* pairs in which the value of a is the larger one, equal ones counting half: from 0 to a.count x b.count */
    /* How likely sets that do not differ are to be at least as far from a.count x b.count / 2, to either side. 1 where
     * nothing can be told: without samples, or when all are equal. */
    double p;
    bool exact;
} th_rank_test;

/* Allocates up to 400 KB when the answer is exact; when memory is out, it is not. */
th_rank_test th_rank_test_run(const th_samples *a, const th_samples *b);

TH_API_END

#endif

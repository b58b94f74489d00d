#include <bench/rank_test.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* Ranks of all values. They count from 1, and equal values share their mean rank. All are doubled, so that they are
 * integers. */
typedef struct ranking {
    uint32_t counts[2];
    uint32_t all;
    uint64_t sum;      /* of the doubled ranks of the first set */
    double ties;       /* sum of t^3 - t over the groups of t equal values */
    uint32_t *doubled; /* ascending; only up to TH_RANK_TEST_EXACT values, else NULL */
} ranking;

/* Merges both sets, one group of equal values at a time. */
static void rank(ranking *r, const double *a, const double *b)
{
    uint32_t i = 0, j = 0;
    while (i + j < r->all) {
        const uint32_t first = i + j, first_a = i;
        const double value = j == r->counts[1] || (i < r->counts[0] && a[i] <= b[j]) ? a[i] : b[j];
        for (; i < r->counts[0] && a[i] == value; i++)
            ;
        for (; j < r->counts[1] && b[j] == value; j++)
            ;
        const uint32_t doubled = first + 1 + (i + j);
        const double size = i + j - first;
        r->sum += (uint64_t)doubled * (i - first_a);
        r->ties += size * size * size - size;
        for (uint32_t k = first; r->doubled && k < i + j; k++)
            r->doubled[k] = doubled;
    }
}

/* Counts the choices of the smaller set. By symmetry its sum deviates from the mean as far as that of the larger one.
 * NaN when memory is out. */
static double exact_p(const ranking *r)
{
    const uint32_t chosen = r->counts[0] < r->counts[1] ? r->counts[0] : r->counts[1];
    const uint32_t most = chosen * (2 * r->all - chosen + 1); /* largest sum of doubled ranks: the last ones */
    const size_t stride = (size_t)most + 1;
    /* ways[k * stride + s]: the number of ways to choose k of the values so far with doubled ranks that add up to s. At
     * most 50 over 25, which a double holds exactly. */
    double *ways = calloc(((size_t)chosen + 1) * stride, sizeof *ways);
    if (!ways)
        return (double)NAN;
    ways[0] = 1;
    for (uint32_t v = 0; v < r->all; v++)
        for (uint32_t k = v + 1 < chosen ? v + 1 : chosen; k > 0; k--)
            for (uint32_t s = r->doubled[v]; s <= most; s++)
                ways[k * stride + s] += ways[(k - 1) * stride + s - r->doubled[v]];
    const double distance = fabs((double)r->sum - (double)r->counts[0] * (r->all + 1));
    const double mean = (double)chosen * (r->all + 1);
    const double *last = ways + (size_t)chosen * stride;
    double far = 0, all = 0;
    for (uint32_t s = 0; s <= most; s++) {
        all += last[s];
        far += fabs(s - mean) >= distance ? last[s] : 0;
    }
    free(ways);
    return far / all;
}

static double normal_p(const ranking *r, double u)
{
    const double a = r->counts[0], b = r->counts[1], n = r->all;
    const double variance = a * b / 12 * (n + 1 - r->ties / (n * (n - 1)));
    const double distance = fmax(0, fabs(u - a * b / 2) - 0.5);
    return variance > 0 ? erfc(distance / sqrt(2 * variance)) : 1;
}

th_rank_test th_rank_test_run(const th_samples *a, const th_samples *b)
{
    assert(a && b);
    uint32_t doubled[TH_RANK_TEST_EXACT];
    ranking r = {.counts = {a->count, b->count}, .all = a->count + b->count};
    if (a->count == 0 || b->count == 0)
        return (th_rank_test){.p = 1};
    r.doubled = r.all <= TH_RANK_TEST_EXACT ? doubled : NULL;
    rank(&r, th_samples_sorted(a), th_samples_sorted(b));
    th_rank_test test = {.u = (double)r.sum / 2 - (double)a->count * (a->count + 1) / 2};
    test.p = r.doubled ? exact_p(&r) : (double)NAN;
    test.exact = !isnan(test.p);
    if (!test.exact)
        test.p = normal_p(&r, test.u);
    return test;
}

#include <bench/student.h>

#include <assert.h>
#include <math.h>

/* ---- the distribution ---- */

/* The continued fraction of the incomplete beta function (NIST Digital Library of Mathematical Functions, 8.17.22) by
 * the modified Lentz method. It converges fast for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
    enum { MOST = 10000 };
    double c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), product = d;
    for (int m = 1; m < MOST; m++) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / (1 + even * d);
        c = 1 + even / c;
        product *= c * d;
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / (1 + odd * d);
        c = 1 + odd / c;
        product *= c * d;
        if (fabs(c * d - 1) < 1e-15)
            break;
    }
    return product;
}

/* The regularized incomplete beta function, for 0 <= x <= 1; rest: 1 - x, which may be small. */
static double incomplete_beta(double a, double b, double x, double rest)
{
    if (x <= 0 || rest <= 0)
        return x <= 0 ? 0 : 1;
    const double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(rest));
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a : 1 - front * beta_fraction(b, a, rest) / b;
}

double th_student_p(double t, double freedom)
{
    assert(freedom > 0);
    const double square = t * t, all = freedom + square;
    return isinf(square) ? 0 : incomplete_beta(freedom / 2, 0.5, freedom / all, square / all);
}

double th_student_quantile(double confidence, double freedom)
{
    assert(confidence >= 0 && confidence < 1);
    double low = 0, high = 1;
    while (th_student_p(high, freedom) > 1 - confidence)
        low = high, high *= 2;
    while (high - low > 1e-12 * high) {
        const double middle = (low + high) / 2;
        if (th_student_p(middle, freedom) > 1 - confidence)
            low = middle;
        else
            high = middle;
    }
    return high;
}

th_estimate th_student_mean(const double *values, uint32_t count)
{
    assert(values || count == 0);
    double mean = 0, squares = 0;
    for (uint32_t i = 0; i < count; i++)
        mean += values[i] / count;
    for (uint32_t i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    if (count < 2)
        return (th_estimate){count ? mean : (double)NAN, (double)NAN, (double)NAN};
    const double half = th_student_quantile(TH_CONFIDENCE, count - 1) * sqrt(squares / (count - 1) / count);
    return (th_estimate){mean, mean - half, mean + half};
}

/* ---- logarithms ---- */

th_log_estimate th_log_mean(const th_samples *samples)
{
    assert(samples && samples->count > 1);
    const uint32_t count = samples->count;
    double mean = 0, squares = 0;
    for (uint32_t i = 0; i < count; i++)
        mean += log(samples->values[i]) / count;
    for (uint32_t i = 0; i < count; i++)
        squares += (log(samples->values[i]) - mean) * (log(samples->values[i]) - mean);
    return (th_log_estimate){mean, sqrt(squares / (count - 1) / count), count - 1};
}

th_log_estimate th_log_difference(const th_samples *over, const th_samples *under)
{
    const th_log_estimate a = th_log_mean(over), b = th_log_mean(under);
    const double u = a.error * a.error, v = b.error * b.error, both = u + v;
    const double freedom = both > 0 ? both * both / (u * u / a.freedom + v * v / b.freedom) : a.freedom + b.freedom;
    return (th_log_estimate){a.value - b.value, sqrt(both), freedom};
}

th_interval th_log_interval(const th_log_estimate *e, double confidence)
{
    const double half = th_student_quantile(confidence, e->freedom) * e->error;
    return (th_interval){exp(e->value - half), exp(e->value + half)};
}

double th_log_p(const th_log_estimate *e)
{
    if (e->error > 0)
        return th_student_p(e->value / e->error, e->freedom);
    return fabs(e->value) > 0 ? 0 : 1;
}

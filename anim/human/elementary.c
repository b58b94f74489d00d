/* Sine, cosine and exponential, correctly rounded: those of C libraries differ in their last bits, also between
 * processors. Taylor series of sums of two doubles (T. Dekker, A Floating-Point Technique for Extending the Available
 * Precision, 1971). */
#include "parts.h"

typedef struct pair {
    double high, low;
} pair;

static pair normalized(double high, double low)
{
    const double sum = high + low;
    return (pair){sum, low - (sum - high)};
}

static pair sum(pair a, pair b)
{
    const double high = a.high + b.high, part = high - a.high;
    return normalized(high, a.high - (high - part) + (b.high - part) + (a.low + b.low));
}

static pair product(pair a, pair b)
{
    const double high = a.high * b.high;
    return normalized(high, fma(a.high, b.high, -high) + (a.high * b.low + a.low * b.high));
}

static pair quotient(pair a, double b)
{
    const double high = a.high / b;
    return normalized(high, (fma(-high, b, a.high) + a.low) / b);
}

/* x - n * constant, which is the sum of its parts. */
static pair remainder_of(double x, double n, const double constant[3])
{
    pair rest = {x, 0};
    for (int i = 0; i < 3; i++)
        rest = sum(rest, product((pair){-n, 0}, (pair){constant[i], 0}));
    return rest;
}

/* sin(x + quarters * pi / 2) */
static double sine(double x, int quarters)
{
    static const double half_pi[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110};
    const double n = floor(x / half_pi[0] + 0.5);
    const pair rest = remainder_of(x, n, half_pi), square = product(rest, rest);
    const int quarter = ((int)n + quarters) & 3, odd = quarter % 2 == 0; /* sin or cos of the rest */
    pair series = {1, 0};
    for (int k = 26; k > 0; k -= 2)
        series = sum((pair){1, 0}, product(quotient(square, -(k + odd) * (k + odd - 1)), series));
    const double value = odd ? product(rest, series).high : series.high;
    return quarter < 2 ? value : -value;
}

double th_human_sin(double x)
{
    return sine(x, 0);
}

double th_human_cos(double x)
{
    return sine(x, 1);
}

double th_human_exp(double x)
{
    static const double ln_2[] = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56, 0x1.7b57a079a1934p-111};
    const double n = floor(x / ln_2[0] + 0.5);
    const pair rest = remainder_of(x, n, ln_2);
    pair series = {1, 0};
    for (int k = 24; k > 0; k--)
        series = sum((pair){1, 0}, product(quotient(rest, k), series));
    return ldexp(series.high, (int)n);
}

/* Half precision, held against its definition. */
#include <core/half.h>

#include <criterion/criterion.h>
#include <math.h>

/* What a half without its sign stands for: IEEE 754, 3.4. */
static double value_of(uint32_t half)
{
    const int exponent = (int)(half >> 10), mantissa = (int)(half & 0x3ff);
    return exponent == 0 ? ldexp(mantissa, -24) : ldexp(1024 + mantissa, exponent - 25);
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

Test(half, every_one_becomes_its_float_and_comes_back)
{
    for (uint32_t half = 0; half < 0x7c00; half++) {
        const float value = th_half_to_float((uint16_t)half);
        cr_assert_eq((double)value, value_of(half), "%#x", half);
        cr_assert_eq(th_half_from_float(value), half);
        cr_assert_eq(th_half_from_float(-value), half | 0x8000);
        cr_assert(signbit(th_half_to_float((uint16_t)(half | 0x8000))) != 0);
    }
    cr_assert(isinf(th_half_to_float(0x7c00)) && th_half_to_float(0x7c00) > 0);
    cr_assert(isinf(th_half_to_float(0xfc00)) && th_half_to_float(0xfc00) < 0);
    for (uint32_t half = 0x7c01; half < 0x8000; half++)
        cr_assert(isnan(th_half_to_float((uint16_t)half)), "%#x", half);
}

/* Of two neighbours the nearer one, and halfway between them the even one. */
static void check_between(uint32_t half)
{
    const double low = value_of(half), high = value_of(half + 1), middle = (low + high) / 2; /* exact */
    const float at = (float)middle, before = nextafterf(at, 0), after = nextafterf(at, INFINITY);
    const uint32_t even = half + (half & 1), next = half + 1;
    cr_assert_eq(th_half_from_float(at), even, "between %#x and %#x", half, next);
    cr_assert_eq(th_half_from_float(before), half, "below the middle of %#x", half);
    cr_assert_eq(th_half_from_float(after), next, "above the middle of %#x", half);
    cr_assert_eq(th_half_from_float(-after), next | 0x8000);
}

Test(half, rounds_to_the_nearest_and_ties_to_even)
{
    for (uint32_t half = 0; half < 0x7bff; half++)
        check_between(half);
    cr_assert_eq(th_half_from_float(nextafterf(65520, 0)), 0x7bff);
    cr_assert_eq(th_half_from_float(65520), 0x7c00);
    cr_assert_eq(th_half_from_float(INFINITY), 0x7c00);
    cr_assert_eq(th_half_from_float(-INFINITY), 0xfc00);
    cr_assert_eq(th_half_from_float(float_of(1)), 0, "smallest float");
    cr_assert_eq(th_half_from_float(float_of(0x80000001)), 0x8000);
}

Test(half, nan_stays_nan)
{
    const uint32_t nans[] = {0x7f800001, 0x7fc00000, 0x7fffffff, 0xff800001, 0xffc01234};
    for (size_t i = 0; i < sizeof nans / sizeof *nans; i++)
        cr_assert(isnan(th_half_to_float(th_half_from_float(float_of(nans[i])))), "%#x", nans[i]);
}

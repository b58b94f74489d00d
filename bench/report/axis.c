#include "axis.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A shorter axis, relative to its values, is lost in rounding. */
#define LEAST_LENGTH 1e-9

/* ---- range ---- */

th_axis th_axis_linear(void)
{
    return (th_axis){.low = HUGE_VAL, .high = -HUGE_VAL};
}

th_axis th_axis_log(void)
{
    return (th_axis){.low = HUGE_VAL, .high = -HUGE_VAL, .is_log = true};
}

/* Larger values are no measurements and could overflow. */
#define MOST 1e100

bool th_axis_takes(const th_axis *axis, double value)
{
    return fabs(value) < MOST && (!axis->is_log || value > 1 / MOST);
}

void th_axis_include(th_axis *axis, double value)
{
    if (!th_axis_takes(axis, value))
        return;
    axis->low = fmin(axis->low, value);
    axis->high = fmax(axis->high, value);
}

static void finalize_log(th_axis *axis, double margin)
{
    if (axis->low > axis->high)
        axis->low = 1, axis->high = 10;
    const double wider = pow(axis->high / axis->low, margin);
    axis->low /= wider;
    axis->high *= wider;
    if (axis->high / axis->low < 1.01)
        axis->low /= 1.1, axis->high *= 1.1;
}

static void finalize_linear(th_axis *axis, double margin)
{
    if (axis->low > axis->high)
        axis->low = 0, axis->high = 1;
    const double size = fmax(fabs(axis->low), fabs(axis->high));
    double length = axis->high - axis->low;
    if (length <= LEAST_LENGTH * size || length == 0) {
        const double half = size > 0 ? 0.1 * size : 1;
        axis->low -= axis->low == 0 ? 0 : half;
        axis->high += half;
        length = 2 * half;
    }
    const double low = axis->low - margin * length, high = axis->high + margin * length;
    axis->low = axis->low >= 0 ? fmax(0, low) : low;
    axis->high = axis->high <= 0 ? fmin(0, high) : high;
}

void th_axis_finalize(th_axis *axis, double margin)
{
    assert(axis && margin >= 0);
    if (axis->is_log)
        finalize_log(axis, margin);
    else
        finalize_linear(axis, margin);
}

double th_axis_at(const th_axis *axis, double value)
{
    assert(axis);
    if (!th_axis_takes(axis, value))
        return (double)NAN;
    const double part = axis->is_log ? log(value / axis->low) / log(axis->high / axis->low)
                                     : (value - axis->low) / (axis->high - axis->low);
    return axis->from + part * (axis->to - axis->from);
}

/* ---- ticks ---- */

/* 1, 2, 5, 10, 20, ... by index; -1: 0.5. */
static double round_number(int number)
{
    static const double digits[] = {1, 2, 5};
    const int decade = (int)floor(number / 3.0);
    return digits[number - 3 * decade] * pow(10, decade);
}

static int round_number_from(double value)
{
    int number = 3 * (int)floor(log10(value));
    while (round_number(number) < value * (1 - LEAST_LENGTH))
        number++;
    return number;
}

double th_axis_step(double value)
{
    assert(value > 0);
    return round_number(round_number_from(value));
}

static uint32_t linear_ticks(double low, double high, double least_step, uint32_t most, double *out)
{
    const double slack = LEAST_LENGTH * (high - low);
    for (int number = round_number_from(fmax(least_step, (high - low) / (most + 1)));; number++) {
        const double step = round_number(number);
        const double first = ceil((low - slack) / step), last = floor((high + slack) / step);
        if (last - first + 1 > most)
            continue;
        uint32_t count = 0;
        for (double k = first; k <= last; k++)
            out[count++] = fmin(fmax(k * step, low), high) + 0.0; /* avoids -0 */
        return count;
    }
}

/* 1, 2 and 5 of each decade; if these are too many, powers of ten, or every second, fifth, tenth ... of them. */
static uint32_t log_ticks(double low, double high, uint32_t most, double *out)
{
    const int last = round_number_from(high * (1 + 4 * LEAST_LENGTH)) - 1;
    for (int every = 1;; every = every == 1 ? 3 : 3 * (int)th_axis_step(every / 3.0 + 0.5)) {
        uint32_t count = 0;
        int number = round_number_from(low);
        while (number % every != 0)
            number++;
        for (; number <= last && count <= most; number += every) {
            if (count < most)
                out[count] = fmin(fmax(round_number(number), low), high);
            count++;
        }
        if (count <= most)
            return count;
    }
}

uint32_t th_axis_ticks(const th_axis *axis, uint32_t most, double out[TH_AXIS_MAX_TICKS])
{
    assert(axis->low < axis->high);
    assert(most >= TH_AXIS_MIN_TICKS && most <= TH_AXIS_MAX_TICKS);
    const double low = axis->is_log ? fmax(axis->low, axis->least_step) : axis->low;
    const uint32_t count = axis->is_log ? log_ticks(low, axis->high, most, out) : 0;
    return count >= 2 ? count : linear_ticks(low, axis->high, axis->least_step, most, out);
}

char *th_axis_label(double value, char *out, size_t size)
{
    const double amount = fabs(value);
    if (amount >= 1e15 || (amount > 0 && amount < 1e-3)) {
        snprintf(out, size, "%.3g", value);
        char *e = strchr(out, 'e');
        if (e && e[2] == '0') /* removes the leading zero of the exponent */
            memmove(e + 2, e + 3, strlen(e + 3) + 1);
        return out;
    }
    static const struct {
        double from, unit;
        const char *suffix;
    } units[] = {{1e9, 1e9, "G"}, {1e6, 1e6, "M"}, {1e4, 1e3, "k"}, {0, 1, ""}};
    size_t u = 0;
    while (amount < units[u].from)
        u++;
    snprintf(out, size, "%.6g%s", value / units[u].unit, units[u].suffix);
    return out;
}

#include "spline.h"

#include <throng/anim/transform.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define PIECES 32u /* per cut interval of a rotation; the error falls with the fourth power */

typedef struct cutter {
    const th_track *track;
    uint32_t width;
    double *times;
    float *values, *tangents; /* of the new track: */
    uint32_t count;           /* keys so far, without the last one */
} cutter;

/* ---- one interval of the old track ---- */

static void sample(const cutter *c, uint32_t key, double ticks, double value[4], double slope[4])
{
    assert(key + 1 < c->track->key_count);
    const float *a = c->track->values + (size_t)key * c->width, *b = a + c->width;
    const float *leave = c->track->tangents + (2 * (size_t)key + 1) * c->width, *arrive = leave + c->width;
    double length = c->track->times[key + 1] - c->track->times[key], t = (ticks - c->track->times[key]) / length;
    double t2 = t * t, t3 = t2 * t;
    for (uint32_t i = 0; i < c->width; i++) {
        double from = (double)a[i], to = (double)b[i], l = length * (double)leave[i], r = length * (double)arrive[i];
        value[i] = (2 * t3 - 3 * t2 + 1) * from + (t3 - 2 * t2 + t) * l + (3 * t2 - 2 * t3) * to + (t3 - t2) * r;
        slope[i] = ((6 * t2 - 6 * t) * (from - to) + (3 * t2 - 4 * t + 1) * l + (3 * t2 - 2 * t) * r) / length;
    }
}

/* The tangent of the normalised rotation: for unit length, and without change of length. */
static void make_unit(double value[4], double slope[4])
{
    double length = 0, along = 0;
    for (int i = 0; i < 4; i++)
        length += value[i] * value[i];
    length = sqrt(length);
    if (!th_quat_normalize(value))
        return;
    for (int i = 0; i < 4; i++)
        along += slope[i] * value[i];
    for (int i = 0; i < 4; i++)
        slope[i] = (slope[i] - along * value[i]) / length;
}

/* ---- the new track ---- */

/* Sets the time and value of the next key and one of its tangents. side: 0 in, 1 out. */
static void put_key(cutter *c, double ticks, const double value[4], const double slope[4], int side)
{
    assert(side == 0 || side == 1);
    c->times[c->count] = ticks;
    for (uint32_t i = 0; i < c->width; i++) {
        c->values[(size_t)c->count * c->width + i] = (float)value[i];
        c->tangents[(2 * (size_t)c->count + (uint32_t)side) * c->width + i] = (float)slope[i];
    }
}

/* Adds the curve from `low` to `high`, both within the interval after this key. */
static void put_interval(cutter *c, uint32_t key, double low, double high)
{
    assert(low < high && low >= c->track->times[key] && high <= c->track->times[key + 1]);
    bool whole = low == c->track->times[key] && high == c->track->times[key + 1], rotation = c->width == 4 && !whole;
    uint32_t pieces = rotation ? PIECES : 1;
    double value[4], slope[4];
    for (uint32_t p = 0; p < pieces; p++)
        for (int side = 1; side >= 0; side--) { /* the out-tangent here, then the in-tangent of the next key */
            uint32_t n = side ? p : p + 1;
            double ticks = n == pieces ? high : low + (high - low) * n / pieces;
            sample(c, key, ticks, value, slope);
            if (rotation)
                make_unit(value, slope);
            put_key(c, ticks, value, slope, side);
            c->count += (uint32_t)side;
        }
}

static bool allocate(cutter *c)
{
    size_t most = (size_t)c->track->key_count + 2 * PIECES + 1;
    c->times = calloc(most, sizeof *c->times);
    c->values = calloc(most, c->width * sizeof *c->values);
    c->tangents = calloc(most, 2 * c->width * sizeof *c->tangents);
    return c->times && c->values && c->tangents;
}

/* The constant value at 0, if no interval lies within the clip. */
static void put_still(cutter *c)
{
    const th_track *t = c->track;
    uint32_t key = 0;
    while (key + 2 < t->key_count && t->times[key + 1] <= 0)
        key++;
    double value[4], slope[4];
    sample(c, key, fmin(fmax(0, t->times[key]), t->times[key + 1]), value, slope);
    if (c->width == 4)
        make_unit(value, slope);
    put_key(c, 0, value, slope, 1);
}

bool th_spline_cut(const th_track *track, uint32_t width, double duration, th_track *out)
{
    assert(track && out && (width == 3 || width == 4));
    assert(track->tangents && track->key_count >= 2 && duration >= 0);
    cutter c = {.track = track, .width = width};
    bool ok = allocate(&c);
    for (uint32_t k = 0; ok && k + 1 < track->key_count; k++) {
        double low = fmax(track->times[k], 0), high = fmin(track->times[k + 1], duration);
        if (low < high)
            put_interval(&c, k, low, high);
    }
    if (ok && c.count == 0)
        put_still(&c);
    *out = (th_track){c.count + 1, c.times, c.values, c.count > 0 ? c.tangents : NULL, false};
    if (!ok || c.count == 0)
        free(c.tangents);
    if (!ok)
        *out = (th_track){0};
    return ok;
}

void th_spline_free(th_track *track)
{
    free((void *)track->times);
    free((void *)track->values);
    free((void *)track->tangents);
}

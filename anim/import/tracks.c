#include "tracks.h"

#include "ipc.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

track begin_track(scene *s, const char *where, int width, uint32_t count)
{
    assert(width == 1 || width == 3 || width == 4);
    track t = {s, where, width, calloc((size_t)count + 1, sizeof(key)), count, false, NULL, false, false};
    if (!t.keys)
        give_up_memory();
    return t;
}

/* ---- warnings, in this order ---- */

static bool is_finite(const key *k, int width)
{
    for (int i = 0; i < width; i++)
        if (!isfinite(k->value[i]))
            return false;
    return isfinite(k->time);
}

static void drop_not_finite(track *t)
{
    uint32_t kept = 0;
    for (uint32_t k = 0; k < t->count; k++)
        if (is_finite(&t->keys[k], t->width))
            t->keys[kept++] = t->keys[k];
    warn(t->s, WARN_KEY_NOT_FINITE, t->count - kept, "%s", t->where);
    t->repaired |= kept < t->count;
    t->count = kept;
}

static int compare_keys(const void *a, const void *b)
{
    const key *x = a, *y = b;
    int order = (x->time > y->time) - (x->time < y->time);
    return order ? order : (x->order > y->order) - (x->order < y->order);
}

static void sort(track *t)
{
    uint32_t unsorted = 0;
    for (uint32_t k = 1; k < t->count; k++)
        unsorted += t->keys[k].time < t->keys[k - 1].time;
    if (unsorted == 0)
        return;
    warn(t->s, WARN_KEY_UNSORTED, unsorted, "%s", t->where);
    t->repaired = true;
    qsort(t->keys, t->count, sizeof *t->keys, compare_keys);
}

/* Keeps the last of several keys with equal times: its value holds from that time on. */
static void drop_repeated(track *t)
{
    uint32_t kept = 0;
    for (uint32_t k = 0; k < t->count; k++)
        if (k + 1 == t->count || t->keys[k + 1].time > t->keys[k].time)
            t->keys[kept++] = t->keys[k];
    warn(t->s, WARN_KEY_REPEATED, t->count - kept, "%s", t->where);
    t->repaired |= kept < t->count;
    t->count = kept;
}

static bool is_zero_rotation(const float q[4])
{
    double length2 = 0;
    for (int i = 0; i < 4; i++)
        length2 += (double)q[i] * (double)q[i];
    return length2 < 1e-11;
}

/* Normalises rotations and makes neighbours take the shorter arc. A zero rotation takes the value before it, or the
 * first valid one if it is at the start. Almost every file is off by about 1e-4, which is not worth a warning. */
static void make_rotations_good(track *t)
{
    assert(t->width == 4 && t->count > 0);
    uint32_t zero = 0, scaled = 0;
    double before[4] = {0, 0, 0, 1};
    bool any = false;
    for (uint32_t k = 0; k < t->count && !any; k++) {
        for (int i = 0; i < 4; i++)
            before[i] = (double)t->keys[k].value[i];
        any = th_quat_normalize(before);
    }
    if (!any)
        memcpy(before, (double[4]){0, 0, 0, 1}, sizeof before);
    for (uint32_t k = 0; k < t->count; k++) {
        float *value = t->keys[k].value;
        double q[4] = {(double)value[0], (double)value[1], (double)value[2], (double)value[3]};
        double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        if (!th_quat_normalize(q)) {
            memcpy(q, before, sizeof q);
            zero++;
        } else if (fabs(length - 1) > 1e-3) {
            scaled++;
        }
        double dot = q[0] * before[0] + q[1] * before[1] + q[2] * before[2] + q[3] * before[3];
        for (int i = 0; i < 4; i++) {
            before[i] = dot < 0 ? -q[i] : q[i];
            value[i] = (float)before[i];
        }
    }
    warn(t->s, WARN_ROTATION_ZERO, zero, "%s", t->where);
    warn(t->s, WARN_ROTATION_LENGTH, scaled, "%s", t->where);
}

/* Keeps the rotations of a spline, because length and sign are part of the curve. Only zero is invalid. */
static void replace_zero_rotations(track *t)
{
    static const float none[4] = {0, 0, 0, 1};
    const float *before = NULL;
    uint32_t zero = 0;
    for (uint32_t k = 0; k < t->count && !before; k++)
        if (!is_zero_rotation(t->keys[k].value))
            before = t->keys[k].value;
    for (uint32_t k = 0; k < t->count; k++) {
        float *value = t->keys[k].value;
        if (is_zero_rotation(value)) {
            memcpy(value, before ? before : none, sizeof none);
            zero++;
        }
        before = value;
    }
    warn(t->s, WARN_ROTATION_ZERO, zero, "%s", t->where);
}

/* Converts tangents to change per tick and makes them finite. The in-tangent of the first key and the out-tangent of
 * the last are never used and become 0. */
static const float *finish_tangents(track *t, double ticks_per_second)
{
    assert(t->spline && t->count > 1 && ticks_per_second > 0);
    uint32_t width = (uint32_t)t->width, broken = 0;
    float *tangents = make(t->s, float, 2 * (size_t)t->count * width);
    for (uint32_t k = 0; k < t->count; k++)
        for (uint32_t side = 0; side < 2; side++) {
            const float *in = t->spline + (3 * (size_t)t->keys[k].order + 2 * side) * width;
            bool used = side ? k + 1 < t->count : k > 0, good = true;
            for (uint32_t i = 0; i < width; i++)
                good &= isfinite(in[i]);
            for (uint32_t i = 0; used && good && i < width; i++)
                tangents[(2 * (size_t)k + side) * width + i] = (float)((double)in[i] / ticks_per_second);
            broken += used && !good;
        }
    warn(t->s, WARN_TANGENT_NOT_FINITE, broken, "%s", t->where);
    return tangents;
}

th_track finish_track(track *t, const double rest[], double ticks_per_second)
{
    drop_not_finite(t);
    sort(t);
    drop_repeated(t);
    if (t->count == 0) {
        for (int i = 0; i < t->width; i++)
            t->keys[0].value[i] = (float)rest[i];
        t->keys[0].time = 0;
        t->count = 1;
        t->filled = true;
    }
    bool spline = t->spline && t->count > 1;
    if (t->width == 4)
        (spline ? replace_zero_rotations : make_rotations_good)(t);

    double *times = make(t->s, double, t->count);
    float *values = make(t->s, float, (size_t)t->count *(size_t)t->width);
    for (uint32_t k = 0; k < t->count; k++) {
        times[k] = t->keys[k].time;
        memcpy(values + (size_t)k * (size_t)t->width, t->keys[k].value, (size_t)t->width * sizeof *values);
    }
    const float *tangents = spline ? finish_tangents(t, ticks_per_second) : NULL;
    free(t->keys);
    return (th_track){t->count, times, values, tangents, t->steps && t->count > 1};
}

#include "bounds_private.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STRIDE         0.1 /* this and below: times the model's size */
#define CONTACT        0.015
#define SLOWEST        0.05
#define MAX_VELOCITIES ((size_t)1 << 18)

/* ---- by the root ---- */

static void mean_centre(const th_bounds_proxy *b, double out[3])
{
    double centre[3];
    out[0] = out[1] = out[2] = 0;
    for (uint32_t n = 0; n < b->sphere_count; n++) {
        th_dmat34_point(&b->pose[b->joint[n]], b->sphere[n].centre, centre);
        for (int i = 0; i < 3; i++)
            out[i] += centre[i] / b->sphere_count;
    }
}

static bool is_root_motion(th_bounds_proxy *b, const th_clip *clip, th_root_motion *out)
{
    assert(clip->duration_ticks > 0);
    double from[3], to[3], loop_s = clip->duration_ticks / clip->ticks_per_second;
    th_bounds_proxy_pose(b, clip, 0);
    mean_centre(b, from);
    th_bounds_proxy_pose(b, clip, clip->duration_ticks);
    mean_centre(b, to);
    double x = to[0] - from[0], z = to[2] - from[2], way = hypot(x, z);
    if (!(way > STRIDE * b->model->size))
        return false;
    *out = (th_root_motion){TH_ROOT_MOTION_BAKED, way / loop_s, atan2(x, z), loop_s};
    return true;
}

/* ---- by the feet ---- */

/* Horizontal velocities, per tick, of points below a height, and the total time with such points. */
typedef struct contact {
    double reach;
    double *x, *z;
    size_t count, room;
    double ticks;
} contact;

/* Feet are assumed on the ground at the lowest point of the clip (LOWEST). If hooves swing through that point, this is
 * wrong. Points near the height that the lowest point stays below half of the time (USUAL) then move the opposite way,
 * and the result is discarded. */
enum { LOWEST, USUAL, GROUNDS };

/* Keeps the points that get below `reach`, up to the capacity. */
static void keep_low(th_ground_contacts *s, double reach, uint32_t moment_count)
{
    size_t low = 0, kept = 0, seen = 0;
    for (size_t n = 0; n < s->count; n++)
        low += s->point[n].lowest < reach;
    size_t step = low * moment_count / MAX_VELOCITIES + 1;
    for (size_t n = 0; n < s->count; n++)
        if (s->point[n].lowest < reach && seen++ % step == 0)
            s->point[kept++] = s->point[n];
    s->count = kept;
}

static void add_velocity(contact *c, const double before[3], const double now[3], double ticks)
{
    assert(c->count < c->room);
    c->x[c->count] = (now[0] - before[0]) / ticks;
    c->z[c->count++] = (now[2] - before[2]) / ticks;
}

/* before: positions of the points `ticks` earlier; updated. */
static void see_contacts(contact c[GROUNDS], const th_bounds_proxy *b, const th_ground_contacts *s, double ticks,
                         double (*before)[3])
{
    const size_t had[GROUNDS] = {c[LOWEST].count, c[USUAL].count};
    for (size_t n = 0; n < s->count; n++) {
        double now[3];
        th_ground_contact_position(b, &s->point[n], now);
        for (int g = 0; g < GROUNDS; g++)
            if (ticks > 0 && now[1] < c[g].reach && before[n][1] < c[g].reach)
                add_velocity(&c[g], before[n], now, ticks);
        memcpy(before[n], now, sizeof now);
    }
    for (int g = 0; g < GROUNDS; g++)
        c[g].ticks += c[g].count > had[g] ? ticks : 0;
}

static bool find_contacts(th_bounds_proxy *b, const th_clip *clip, const th_moments *moments, th_ground_contacts *s,
                          contact c[GROUNDS])
{
    if (!th_ground_contacts_init(s, b, clip, moments))
        return false;
    c[LOWEST].reach = s->ground + CONTACT * b->model->size;
    c[USUAL].reach = s->usual + CONTACT * b->model->size;
    th_ground_contacts_measure(s, b, clip, moments, c[USUAL].reach);
    keep_low(s, c[USUAL].reach, moments->count);
    double(*before)[3] = calloc(s->count + 1, sizeof *before);
    bool good = before;
    for (int g = 0; g < GROUNDS; g++) {
        c[g].room = s->count * moments->count;
        c[g].x = calloc(c[g].room + 1, sizeof *c[g].x);
        c[g].z = calloc(c[g].room + 1, sizeof *c[g].z);
        good = good && c[g].x && c[g].z;
    }
    for (uint32_t i = 0; i < moments->count && good; i++) {
        th_bounds_proxy_pose(b, clip, moments->ticks[i]);
        see_contacts(c, b, s, i > 0 ? moments->ticks[i] - moments->ticks[i - 1] : 0, before);
    }
    free(before);
    return good;
}

/* The value that would be at `wanted` if they were sorted (Hoare's quickselect). Reorders them. */
static double select_value(double *values, size_t count, size_t wanted)
{
    assert(wanted < count);
    size_t begin = 0, end = count;
    while (end - begin > 1) {
        const double pivot = values[begin + (end - begin) / 2];
        size_t i = begin, j = end - 1;
        for (;; i++, j--) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i >= j)
                break;
            const double swap = values[i];
            values[i] = values[j];
            values[j] = swap;
        }
        /* [begin, i) is at most the pivot, [i, end) at least the pivot. */
        if (i == begin)
            i++;
        if (wanted < i)
            end = i;
        else
            begin = i;
    }
    return values[begin];
}

static double median(double *values, size_t count)
{
    return select_value(values, count, count / 2);
}

/* Distance between the quartiles. */
static double spread_of(double *values, size_t count)
{
    return select_value(values, count, count - 1 - count / 4) - select_value(values, count, count / 4);
}

/* The ground moves opposite to the character. */
static void judge_contacts(contact c[GROUNDS], const th_bounds_proxy *b, const th_clip *clip, th_root_motion *out)
{
    contact *low = &c[LOWEST], *usual = &c[USUAL];
    if (low->count == 0 || low->ticks < clip->duration_ticks / 4)
        return;
    const double x = median(low->x, low->count), z = median(low->z, low->count);
    const double speed = hypot(x, z) * clip->ticks_per_second;
    const double spread = hypot(spread_of(low->x, low->count), spread_of(low->z, low->count)) * clip->ticks_per_second;
    const bool agree = x * median(usual->x, usual->count) + z * median(usual->z, usual->count) > 0;
    if (speed > SLOWEST * b->model->size && spread < speed && agree)
        *out = (th_root_motion){TH_ROOT_MOTION_IN_PLACE, speed, atan2(-x, -z), 0};
}

static bool find_root_motion(th_bounds_proxy *b, const th_clip *clip, th_root_motion *out)
{
    if (!(clip->duration_ticks > 0) || is_root_motion(b, clip, out))
        return true;
    th_moments moments;
    th_ground_contacts points = {0};
    contact c[GROUNDS] = {0};
    bool good = th_moments_init(&moments, b->model, clip, 1) && find_contacts(b, clip, &moments, &points, c);
    if (good)
        judge_contacts(c, b, clip, out);
    for (int g = 0; g < GROUNDS; g++) {
        free(c[g].x);
        free(c[g].z);
    }
    th_ground_contacts_fini(&points);
    th_moments_fini(&moments);
    return good;
}

th_result th_clip_root_motion(const th_model *model, uint32_t clip, th_interpolation interpolation, th_root_motion *out,
                              th_error *err)
{
    assert(model && out && (clip < model->clip_count || clip == TH_NO_INDEX));
    assert((unsigned)interpolation < TH_INTERPOLATION_COUNT);
    *out = (th_root_motion){.kind = TH_ROOT_MOTION_NONE};
    if (clip == TH_NO_INDEX)
        return TH_OK;
    th_bounds_proxy b;
    bool good = th_bounds_proxy_init(&b, model, interpolation);
    if (good && b.sphere_count > 0)
        good = find_root_motion(&b, &model->clips[clip], out);
    th_bounds_proxy_fini(&b);
    return good ? TH_OK : th_fail(err, TH_ERR_MEMORY, "there is no memory left to watch %s walk", model->name);
}

#include "bounds_private.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STRIDE         0.1 /* these: of the model's size */
#define CONTACT        0.015
#define SLOWEST        0.05
#define MAX_VELOCITIES ((size_t)1 << 18)

/* ---- by the root ---- */

static void mean_centre(const th_body *b, double out[3])
{
    double centre[3];
    out[0] = out[1] = out[2] = 0;
    for (uint32_t n = 0; n < b->ball_count; n++) {
        th_dmat34_point(&b->pose[b->joint[n]], b->ball[n].centre, centre);
        for (int i = 0; i < 3; i++)
            out[i] += centre[i] / b->ball_count;
    }
}

static bool root_travels(th_body *b, const th_clip *clip, th_travel *out)
{
    double from[3], to[3], loop_s = clip->duration_ticks / clip->ticks_per_second;
    th_body_pose(b, clip, 0);
    mean_centre(b, from);
    th_body_pose(b, clip, clip->duration_ticks);
    mean_centre(b, to);
    double x = to[0] - from[0], z = to[2] - from[2], way = hypot(x, z);
    if (!(way > STRIDE * b->model->size))
        return false;
    *out = (th_travel){TH_TRAVEL_ROOT, way / loop_s, atan2(x, z), loop_s};
    return true;
}

/* ---- by the feet ---- */

/* Velocities along the ground of points on it, per tick, and for how long there were any. */
typedef struct contact {
    double *x, *z;
    size_t count, room;
    double ticks;
} contact;

/* Keeps the soles that get to the ground, and no more than there is room for. Returns how high that reaches. */
static double keep_low(th_soles *s, const th_body *b, uint32_t moment_count)
{
    double reach = s->ground + CONTACT * b->model->size;
    size_t low = 0, kept = 0, seen = 0;
    for (size_t n = 0; n < s->count; n++)
        low += s->sole[n].lowest < reach;
    size_t step = low * moment_count / MAX_VELOCITIES + 1;
    for (size_t n = 0; n < s->count; n++)
        if (s->sole[n].lowest < reach && seen++ % step == 0)
            s->sole[kept++] = s->sole[n];
    s->count = kept;
    return reach;
}

/* before: where the soles were `ticks` earlier; updated. */
static void see_contact(contact *c, const th_body *b, const th_soles *s, double reach, double ticks,
                        double (*before)[3])
{
    size_t had = c->count;
    for (size_t n = 0; n < s->count; n++) {
        double now[3];
        th_sole_place(b, &s->sole[n], now);
        if (ticks > 0 && now[1] < reach && before[n][1] < reach) {
            assert(c->count < c->room);
            c->x[c->count] = (now[0] - before[n][0]) / ticks;
            c->z[c->count++] = (now[2] - before[n][2]) / ticks;
        }
        memcpy(before[n], now, sizeof now);
    }
    if (c->count > had)
        c->ticks += ticks;
}

static bool find_contact(th_body *b, const th_clip *clip, const th_moments *moments, th_soles *s, contact *c)
{
    if (!th_soles_init(s, b, clip, moments))
        return false;
    double reach = keep_low(s, b, moments->count);
    c->room = s->count * moments->count;
    c->x = calloc(c->room + 1, sizeof *c->x);
    c->z = calloc(c->room + 1, sizeof *c->z);
    double(*before)[3] = calloc(s->count + 1, sizeof *before);
    bool good = before && c->x && c->z;
    for (uint32_t i = 0; i < moments->count && good; i++) {
        th_body_pose(b, clip, moments->ticks[i]);
        see_contact(c, b, s, reach, i > 0 ? moments->ticks[i] - moments->ticks[i - 1] : 0, before);
    }
    free(before);
    return good;
}

/* The ground moves against the walker. */
static void judge_contact(contact *c, const th_body *b, const th_clip *clip, th_travel *out)
{
    if (c->count == 0 || c->ticks < clip->duration_ticks / 4)
        return;
    qsort(c->x, c->count, sizeof *c->x, th_compare_doubles);
    qsort(c->z, c->count, sizeof *c->z, th_compare_doubles);
    const size_t middle = c->count / 2, low = c->count / 4, high = c->count - 1 - low;
    double speed = hypot(c->x[middle], c->z[middle]) * clip->ticks_per_second;
    double spread = hypot(c->x[high] - c->x[low], c->z[high] - c->z[low]) * clip->ticks_per_second;
    if (speed > SLOWEST * b->model->size && spread < speed)
        *out = (th_travel){TH_TRAVEL_FEET, speed, atan2(-c->x[middle], -c->z[middle]), 0};
}

static bool find_travel(th_body *b, const th_clip *clip, th_travel *out)
{
    if (!(clip->duration_ticks > 0) || root_travels(b, clip, out))
        return true;
    th_moments moments;
    th_soles soles = {0};
    contact c = {0};
    bool good = th_moments_init(&moments, b->model, clip, 1) && find_contact(b, clip, &moments, &soles, &c);
    if (good)
        judge_contact(&c, b, clip, out);
    free(c.x);
    free(c.z);
    th_soles_fini(&soles);
    th_moments_fini(&moments);
    return good;
}

th_result th_clip_travel(const th_model *model, uint32_t clip, th_interpolation interpolation, th_travel *out,
                         th_error *err)
{
    assert(model && out && (clip < model->clip_count || clip == TH_NO_INDEX));
    *out = (th_travel){.kind = TH_TRAVEL_NONE};
    if (clip == TH_NO_INDEX)
        return TH_OK;
    th_body b;
    bool good = th_body_init(&b, model, interpolation);
    if (good && b.ball_count > 0)
        good = find_travel(&b, &model->clips[clip], out);
    th_body_fini(&b);
    return good ? TH_OK : th_fail(err, TH_ERR_MEMORY, "there is no memory left to watch %s walk", model->name);
}

#include <bench/sight.h>

#include <math.h>

#define ROUNDING  1e-5   /* relative to all lengths that are added */
#define FAR_SLACK 1.1e-3 /* what a matrix of floats may add to the distance of the far plane */

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Plane p: normal and offset, inside positive. */
static void find_plane(const th_sight_view *v, int p, double out[4])
{
    for (int i = 0; i < 4; i++) {
        const double depth = (double)v->clip_from_scene[4 * i + 3],
                     side = (double)v->clip_from_scene[4 * i + p / 2 % 2];
        out[i] = p >= 6 ? (double)v->map[p - 6][i] : p == 5 ? -depth : p == 4 ? depth : depth + (p % 2 ? -side : side);
    }
    out[3] += p == 4 ? -(double)v->near_z : p == 5 ? (double)v->far_z : 0;
}

th_sight th_sight_of(const th_sight_view *v, const float centre[3], float radius)
{
    double at[3], way[3], to_light[3], up[3], length = 0;
    for (int i = 0; i < 3; i++) {
        at[i] = (double)centre[i];
        way[i] = at[i] - (double)v->eye[i];
        to_light[i] = (double)v->to_light[i];
        up[i] = (double)v->clip_from_scene[4 * i + 1];
        length += fabs(at[i]) + fabs((double)v->eye[i]);
    }
    const double r = (double)radius, away = sqrt(dot(way, way)), rounding = ROUNDING * (length + r);
    double seen = HUGE_VAL, surely_seen = HUGE_VAL, cast = HUGE_VAL, surely_cast = HUGE_VAL;
    for (int p = 0; p < (v->has_shadows ? 12 : 6); p++) {
        double plane[4];
        find_plane(v, p, plane);
        const double scale = 1 / sqrt(dot(plane, plane)), reach = (dot(plane, at) + plane[3]) * scale + r;
        const double push = v->has_shadows ? fmax(0, -dot(plane, to_light) * scale) / to_light[1] : 0;
        const double moved = reach + push * fmax(0, at[1] + r - (double)v->ground);
        const double off = rounding * (1 + push), slack = off + (p == 5 ? FAR_SLACK * (double)v->far_z : 0);
        seen = p < 6 ? fmin(seen, reach + slack) : seen;
        surely_seen = p < 6 ? fmin(surely_seen, reach - off) : surely_seen;
        cast = fmin(cast, moved + slack);
        surely_cast = fmin(surely_cast, moved - off);
    }
    th_sight out = {.may_be_seen = seen >= 0,
                    .must_be_seen = surely_seen > 0,
                    .may_cast = v->has_shadows && cast >= 0 && surely_seen <= 0,
                    .must_cast = v->has_shadows && surely_cast > 0 && seen < 0};
    if (!out.may_be_seen && !out.may_cast)
        return out;
    const double px = r / away * sqrt(dot(up, up)) * (double)v->height_px, off = rounding / r + rounding / away;
    for (int n = 1; n < TH_SIGHT_LEVELS; n++) {
        const double error_px = 1.25 + (0.4 - 1.25) * (n - 1) / (TH_SIGHT_LEVELS - 2);
        const double limit_px = error_px / (0.007 * pow(2, (n - 1) / 2.0));
        out.finest += px * (1 + off) < limit_px;
        out.coarsest += px * (1 - off) < limit_px;
    }
    return out;
}

#include "feet.h"

#include <anim/exact.h>

#include <math.h>
#include <stdlib.h>

#define TOUCHING    0.003 /* a point on the ground: this far above the lowest, times the model's size */
#define MOST_POINTS 10000u
#define AIRBORNE    0.015 /* nothing is on the ground: the lowest point is this far above that of all clips */
#define GROUND      24    /* poses of a clip in which the ground is looked for */

void th_feet_advance(th_feet *f)
{
    double(*swap)[3] = f->before;
    f->before = f->now;
    f->now = swap;
    f->lowest_before = f->lowest;
}

void th_feet_locate(th_feet *f)
{
    f->lowest = HUGE_VAL;
    for (size_t n = 0; n < f->points.count; n++) {
        th_ground_contact_position(&f->proxy, &f->points.point[n], f->now[n]);
        f->lowest = fmin(f->lowest, f->now[n][1]);
    }
}

void th_feet_pose(th_feet *f, const th_layer *layers, uint32_t count)
{
    const th_model *model = f->proxy.model;
    th_exact_layers(model, layers, count, NULL, 0, f->proxy.interpolation, f->local, f->weights);
    th_exact_resolve(model, f->local, f->proxy.pose);
    th_exact_palette(model, f->proxy.pose, f->proxy.palette);
    th_feet_advance(f);
    th_feet_locate(f);
}

void th_feet_find_ground(th_feet *f, const uint32_t *clips, uint32_t count)
{
    f->ground = HUGE_VAL;
    for (uint32_t c = 0; c < count; c++)
        for (uint32_t n = 0; n < GROUND; n++) {
            const th_clip *clip = &f->proxy.model->clips[clips[c]];
            th_bounds_proxy_pose(&f->proxy, clip, clip->duration_ticks * n / GROUND);
            th_feet_locate(f);
            f->ground = fmin(f->ground, f->lowest);
        }
}

bool th_feet_init(th_feet *f, const th_model *model, th_interpolation interpolation, uint32_t clip)
{
    double begin = 0;
    const th_moments moments = {&begin, 1};
    if (!th_bounds_proxy_init(&f->proxy, model, interpolation) ||
        !th_ground_contacts_init(&f->points, &f->proxy, &model->clips[clip], &moments))
        return false;
    /* Some hundred poses of all points of a large mesh would take seconds. */
    const size_t step = (f->points.count + MOST_POINTS - 1) / MOST_POINTS;
    size_t kept = 0;
    for (size_t n = 0; n < f->points.count; n += step)
        f->points.point[kept++] = f->points.point[n];
    f->points.count = kept;
    f->arena = th_arena_create();
    f->before = th_arena_alloc(f->arena, kept, sizeof *f->before);
    f->now = th_arena_alloc(f->arena, kept, sizeof *f->now);
    f->moved = th_arena_new(f->arena, double, kept);
    f->slid = th_arena_alloc(f->arena, kept, sizeof *f->slid);
    f->local = th_arena_new(f->arena, th_dmat34, model->joint_count);
    f->weights = th_arena_new(f->arena, double, model->weight_count);
    f->poses = th_arena_new(f->arena, th_dmat34, (size_t)model->joint_count * TH_GAIT_LEAD_POSES);
    return !th_arena_failed(f->arena);
}

void th_feet_fini(th_feet *f)
{
    th_ground_contacts_fini(&f->points);
    th_bounds_proxy_fini(&f->proxy);
    th_arena_destroy(f->arena);
}

/* In both poses. */
static bool is_on_ground(const th_feet *f, size_t n)
{
    const double touching = TOUCHING * f->proxy.model->size;
    return f->before[n][1] <= fmax(f->lowest_before, f->ground) + touching &&
           f->now[n][1] <= fmax(f->lowest, f->ground) + touching;
}

static bool is_airborne(const th_feet *f)
{
    return f->lowest > f->ground + AIRBORNE * f->proxy.model->size;
}

double th_feet_step(const th_feet *f, double heading_rad)
{
    const double x = sin(heading_rad), z = cos(heading_rad);
    size_t count = 0;
    if (is_airborne(f))
        return (double)NAN;
    for (size_t n = 0; n < f->points.count; n++) {
        const double *a = f->before[n], *b = f->now[n];
        if (is_on_ground(f, n))
            f->moved[count++] = (a[0] - b[0]) * x + (a[2] - b[2]) * z;
    }
    qsort(f->moved, count, sizeof *f->moved, th_compare_doubles);
    return count > 0 ? f->moved[count * 2 / 3] : (double)NAN;
}

double th_feet_slide(th_feet *f, double heading_rad, double step)
{
    double most = 0;
    for (size_t n = 0; n < f->points.count; n++) {
        const bool stands = is_on_ground(f, n) && !is_airborne(f);
        f->slid[n][0] = stands ? f->slid[n][0] + f->now[n][0] - f->before[n][0] + step * sin(heading_rad) : 0;
        f->slid[n][1] = stands ? f->slid[n][1] + f->now[n][2] - f->before[n][2] + step * cos(heading_rad) : 0;
        most = fmax(most, hypot(f->slid[n][0], f->slid[n][1]));
    }
    return most;
}

size_t th_feet_mark_standing(th_feet *f, uint32_t clip)
{
    size_t count = 0;
    th_bounds_proxy_pose(&f->proxy, &f->proxy.model->clips[clip], 0);
    th_feet_locate(f);
    for (size_t n = 0; n < f->points.count; n++)
        if (f->now[n][1] <= f->lowest + TOUCHING * f->proxy.model->size)
            f->moved[count++] = (double)n;
    return count;
}

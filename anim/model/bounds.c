#include "bounds_private.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define MARGIN     (1.0 / 500)
#define BARE_JOINT (1.0 / 20) /* of the model's size */

static double distance(const double a[3], const double b[3])
{
    double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return sqrt(x * x + y * y + z * z);
}

/* ---- spheres in motion ---- */

/* An upper bound of the largest stretch of the matrix; exact if its axes are orthogonal. The eigenvalues of A^T A are
 * at most the largest absolute row sum (S. Gershgorin, 1931). */
static double stretch(const th_dmat34 *a)
{
    double largest = 0;
    for (int i = 0; i < 3; i++) {
        double sum = 0;
        for (int j = 0; j < 3; j++)
            sum += fabs(a->m[i] * a->m[j] + a->m[4 + i] * a->m[4 + j] + a->m[8 + i] * a->m[8 + j]);
        largest = fmax(largest, sum);
    }
    return sqrt(largest);
}

static void spheres_now(const th_bounds_proxy *b, th_bounds_sphere *out)
{
    for (uint32_t i = 0; i < b->sphere_count; i++) {
        const th_dmat34 *joint = &b->pose[b->joint[i]];
        th_dmat34_point(joint, b->sphere[i].centre, out[i].centre);
        out[i].radius = b->vertex_count > 0 ? b->sphere[i].radius * stretch(joint) : b->model->size * BARE_JOINT;
    }
}

/* A path that is d away from the middle of its chord is a curve at most d / 4 away from the chords of its halves. A
 * sphere that encloses the ends and a sphere of radius d in the middle has a margin of d / 2 there. */
static void grow_middle(const th_bounds_sphere *before, th_bounds_sphere *middle, const th_bounds_sphere *after)
{
    double chord[3];
    for (int i = 0; i < 3; i++)
        chord[i] = before->centre[i] / 2 + after->centre[i] / 2;
    double bulge = middle->radius - (before->radius / 2 + after->radius / 2);
    middle->radius += distance(chord, middle->centre) + fabs(bulge);
}

typedef void balls_fn(void *ctx, const th_bounds_sphere *spheres, uint32_t count);

/* Calls fn for the spheres at each moment of the clip, enlarged to cover the motion between moments. */
static bool each_moment(th_bounds_proxy *b, const th_clip *clip, const th_moments *moments, balls_fn *fn, void *ctx)
{
    assert(moments->count % 2 == 1); /* both ends, and midpoints */
    th_bounds_sphere *store = calloc(3 * (size_t)b->sphere_count + 1, sizeof *store);
    th_bounds_sphere *before = store, *middle = store + b->sphere_count, *after = middle + b->sphere_count;
    for (uint32_t i = 0; store && i < moments->count; i++) {
        th_bounds_sphere *now = i % 2 ? middle : after;
        th_bounds_proxy_pose(b, clip, moments->ticks[i]);
        spheres_now(b, now);
        if (i % 2)
            continue;
        for (uint32_t n = 0; i > 0 && n < b->sphere_count; n++)
            grow_middle(&before[n], &middle[n], &after[n]);
        if (i > 0)
            fn(ctx, middle, b->sphere_count);
        fn(ctx, after, b->sphere_count);
        after = before;
        before = now;
    }
    free(store);
    return store != NULL;
}

typedef bool clip_fn(th_bounds_proxy *b, const th_clip *clip, const th_moments *moments, void *ctx);

/* Calls fn for one clip, the rest pose, or all. Returns false if out of memory. */
static bool each_clip(th_bounds_proxy *b, uint32_t clip, clip_fn *fn, void *ctx)
{
    const th_model *model = b->model;
    bool good = true;
    for (uint32_t c = 0; c <= model->clip_count && good; c++) { /* the last index is the rest pose */
        bool rest = c == model->clip_count;
        if (clip != TH_ALL_CLIPS && clip != (rest ? TH_NO_INDEX : c))
            continue;
        const th_clip *played = rest ? NULL : &model->clips[c];
        th_moments moments;
        good = th_moments_init(&moments, model, played, clip == TH_ALL_CLIPS ? model->clip_count + 1 : 1) &&
               fn(b, played, &moments, ctx);
        th_moments_fini(&moments);
    }
    return good;
}

/* ---- the sphere ---- */

typedef struct box {
    double low[3], high[3];
} box;

static void grow_box(void *ctx, const th_bounds_sphere *spheres, uint32_t count)
{
    box *whole = ctx;
    for (uint32_t n = 0; n < count; n++)
        for (int i = 0; i < 3; i++) {
            whole->low[i] = fmin(whole->low[i], spheres[n].centre[i] - spheres[n].radius);
            whole->high[i] = fmax(whole->high[i], spheres[n].centre[i] + spheres[n].radius);
        }
}

static bool box_clip(th_bounds_proxy *b, const th_clip *clip, const th_moments *moments, void *ctx)
{
    return each_moment(b, clip, moments, grow_box, ctx);
}

static void grow_bounds(void *ctx, const th_bounds_sphere *spheres, uint32_t count)
{
    th_bounds *sphere = ctx;
    for (uint32_t n = 0; n < count; n++) {
        const th_bounds_sphere *b = &spheres[n];
        sphere->radius = fmax(sphere->radius, distance(sphere->centre, b->centre) + b->radius);
        sphere->reach = fmax(sphere->reach, hypot(b->centre[0], b->centre[2]) + b->radius);
    }
}

static bool bound_clip(th_bounds_proxy *b, const th_clip *clip, const th_moments *moments, void *ctx)
{
    th_bounds *bounds = ctx;
    th_ground_contacts points = {0};
    bool good =
        each_moment(b, clip, moments, grow_bounds, bounds) && th_ground_contacts_init(&points, b, clip, moments);
    if (good)
        bounds->lowest_y = fmin(bounds->lowest_y, points.ground);
    th_ground_contacts_fini(&points);
    return good;
}

static bool find_bounds(th_bounds_proxy *b, uint32_t clip, th_bounds *out)
{
    assert(b->sphere_count > 0);
    box whole = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
    if (!each_clip(b, clip, box_clip, &whole))
        return false;
    for (int i = 0; i < 3; i++)
        out->centre[i] = whole.low[i] / 2 + whole.high[i] / 2;
    out->lowest_y = HUGE_VAL;
    if (!each_clip(b, clip, bound_clip, out))
        return false;
    out->radius += MARGIN * (out->radius + distance(out->centre, (double[3]){0, 0, 0}));
    return true;
}

th_result th_model_bounds(const th_model *model, uint32_t clip, th_interpolation interpolation, th_bounds *out,
                          th_error *err)
{
    assert(model && out && (clip < model->clip_count || clip == TH_NO_INDEX || clip == TH_ALL_CLIPS));
    assert((unsigned)interpolation < TH_INTERPOLATION_COUNT);
    *out = (th_bounds){.radius = 0};
    th_bounds_proxy b;
    bool good = th_bounds_proxy_init(&b, model, interpolation);
    if (good && b.sphere_count > 0)
        good = find_bounds(&b, clip, out);
    th_bounds_proxy_fini(&b);
    return good ? TH_OK : th_fail(err, TH_ERR_MEMORY, "there is no memory left to bound %s", model->name);
}

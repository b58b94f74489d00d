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

static void spheres_now(const th_bounds_proxy *b, th_bounds_sphere *out)
{
    size_t at = 0;
    for (uint32_t i = 0; i < b->sphere_count; i++) {
        const th_dmat34 *joint = &b->pose[b->joint[i]];
        const double radius = b->sphere[i].radius + th_bounds_morphs_growth(b, i, &at);
        th_dmat34_point(joint, b->sphere[i].centre, out[i].centre);
        out[i].radius = b->vertex_count > 0 ? radius * th_dmat34_stretch(joint) : b->model->size * BARE_JOINT;
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

/* Parts of a clip, both included. */
typedef struct parts {
    uint32_t first, last;
} parts;

static uint32_t part_at(const th_clip *clip, double ticks)
{
    const uint32_t last = TH_BOUNDS_PARTS - 1;
    const double part = ticks / clip->duration_ticks * TH_BOUNDS_PARTS;
    return part < last ? (uint32_t)part : last;
}

/* A pose belongs to all parts. */
static parts parts_between(const th_clip *clip, double from, double to)
{
    if (!clip || !(clip->duration_ticks > 0))
        return (parts){0, TH_BOUNDS_PARTS - 1};
    return (parts){part_at(clip, from), part_at(clip, to)};
}

typedef void balls_fn(void *ctx, parts during, const th_bounds_sphere *spheres, uint32_t count);

/* Calls fn for the spheres at each moment of the clip, enlarged to cover the motion between moments. */
static bool each_moment(th_bounds_proxy *b, const th_clip *clip, const th_moments *moments, balls_fn *fn, void *ctx)
{
    assert(moments->count % 2 == 1); /* both ends, and midpoints */
    const double *ticks = moments->ticks;
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
        const parts during = parts_between(clip, ticks[i > 0 ? i - 2 : 0], ticks[i]);
        if (i > 0) {
            fn(ctx, during, before, b->sphere_count);
            fn(ctx, during, middle, b->sphere_count);
        }
        fn(ctx, during, after, b->sphere_count);
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

/* ---- the spheres ---- */

typedef struct box {
    double low[3], high[3];
} box;

/* The last one is of the whole clip. */
typedef struct boxes {
    box of[TH_BOUNDS_PARTS + 1];
} boxes;

static void grow_box(box *b, const th_bounds_sphere *sphere)
{
    for (int i = 0; i < 3; i++) {
        b->low[i] = fmin(b->low[i], sphere->centre[i] - sphere->radius);
        b->high[i] = fmax(b->high[i], sphere->centre[i] + sphere->radius);
    }
}

static void grow_boxes(void *ctx, parts during, const th_bounds_sphere *spheres, uint32_t count)
{
    boxes *b = ctx;
    for (uint32_t n = 0; n < count; n++) {
        for (uint32_t p = during.first; p <= during.last; p++)
            grow_box(&b->of[p], &spheres[n]);
        grow_box(&b->of[TH_BOUNDS_PARTS], &spheres[n]);
    }
}

static bool box_clip(th_bounds_proxy *b, const th_clip *clip, const th_moments *moments, void *ctx)
{
    return each_moment(b, clip, moments, grow_boxes, ctx);
}

static void grow_sphere(th_bounds_sphere *sphere, const th_bounds_sphere *inner)
{
    sphere->radius = fmax(sphere->radius, distance(sphere->centre, inner->centre) + inner->radius);
}

static void grow_bounds(void *ctx, parts during, const th_bounds_sphere *spheres, uint32_t count)
{
    th_bounds *bounds = ctx;
    for (uint32_t n = 0; n < count; n++) {
        const th_bounds_sphere *b = &spheres[n];
        grow_sphere(&bounds->all, b);
        for (uint32_t p = during.first; p <= during.last; p++)
            grow_sphere(&bounds->parts[p], b);
        bounds->reach = fmax(bounds->reach, hypot(b->centre[0], b->centre[2]) + b->radius);
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

static void set_centre(th_bounds_sphere *sphere, const box *around)
{
    for (int i = 0; i < 3; i++)
        sphere->centre[i] = around->low[i] / 2 + around->high[i] / 2;
}

static void add_margin(th_bounds_sphere *sphere)
{
    sphere->radius += MARGIN * (sphere->radius + distance(sphere->centre, (double[3]){0, 0, 0}));
}

static bool find_bounds(th_bounds_proxy *b, uint32_t clip, th_bounds *out)
{
    assert(b->sphere_count > 0);
    boxes around;
    for (uint32_t p = 0; p <= TH_BOUNDS_PARTS; p++)
        around.of[p] = (box){{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
    if (!each_clip(b, clip, box_clip, &around))
        return false;
    for (uint32_t p = 0; p < TH_BOUNDS_PARTS; p++)
        set_centre(&out->parts[p], &around.of[p]);
    set_centre(&out->all, &around.of[TH_BOUNDS_PARTS]);
    out->lowest_y = HUGE_VAL;
    if (!each_clip(b, clip, bound_clip, out))
        return false;
    for (uint32_t p = 0; p < TH_BOUNDS_PARTS; p++)
        add_margin(&out->parts[p]);
    add_margin(&out->all);
    return true;
}

th_result th_model_bounds(const th_model *model, uint32_t clip, th_interpolation interpolation, th_bounds *out,
                          th_error *err)
{
    assert(model && out && (clip < model->clip_count || clip == TH_NO_INDEX || clip == TH_ALL_CLIPS));
    assert((unsigned)interpolation < TH_INTERPOLATION_COUNT);
    *out = (th_bounds){.reach = 0};
    th_bounds_proxy b;
    bool good = th_bounds_proxy_init(&b, model, interpolation);
    if (good && b.sphere_count > 0)
        good = find_bounds(&b, clip, out);
    th_bounds_proxy_fini(&b);
    return good ? TH_OK : th_fail(err, TH_ERR_MEMORY, "there is no memory left to bound %s", model->name);
}

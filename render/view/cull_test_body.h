/* The body of a th_cull_test_fn, for WIDTH spheres at a time. Each instruction set compiles it in a file of its own.
 * Written in vectors, because compilers vectorize the plain loop only by luck. */
#include "view/cull_test.h"

#include <string.h>

typedef float wide_float __attribute__((vector_size(4 * WIDTH)));
typedef int32_t wide_int __attribute__((vector_size(4 * WIDTH)));

typedef struct wide_sphere {
    wide_float x, y, z, radius;
} wide_sphere;

static inline wide_float load(const float *from)
{
    wide_float out;
    memcpy(&out, from, sizeof out);
    return out;
}

static inline wide_float magnitude(wide_float v)
{
    return (wide_float)((wide_int)v & INT32_MAX);
}

/* Zero instead of a negative number or NaN. */
static inline wide_float positive(wide_float v)
{
    return (wide_float)((wide_int)v & (v > 0));
}

/* How far spheres reach to the inner side of a plane; below 0: they are outside. */
static inline wide_float reach(const float *plane, const wide_sphere *s)
{
    return plane[0] * s->x + plane[1] * s->y + plane[2] * s->z + plane[3] + s->radius;
}

/* In two's complement, so that `true` is all ones. */
static inline wide_int lod_of(const th_cull_test *t, const wide_sphere *s)
{
    const wide_float x = s->x - t->eye[0], y = s->y - t->eye[1], z = s->z - t->eye[2];
    const wide_float distance2 = x * x + y * y + z * z, radius2 = s->radius * s->radius;
    wide_int lod = {0};
    for (int n = 0; n < (int)TH_CULL_MAX_LODS - 1; n++)
        lod -= radius2 < t->limit2[n] * distance2;
    return lod;
}

/* A sphere with NaN is visible, because only a true comparison hides it. */
static inline wide_int level_of(const th_cull_test *t, const wide_sphere *s)
{
    const wide_float height = positive(s->y + s->radius - t->ground);
    wide_int hidden = {0}, casts_nothing = {0};
    for (int p = 0; p < TH_CULL_CAMERA_PLANES; p++) {
        const wide_float in = reach(t->plane[p], s);
        hidden |= in < 0;
        casts_nothing |= in + t->push[p] * height < 0;
    }
    for (int p = TH_CULL_CAMERA_PLANES; p < t->plane_count; p++)
        casts_nothing |= reach(t->plane[p], s) + t->push[p] * height < 0;
    if (t->plane_count == TH_CULL_CAMERA_PLANES)
        casts_nothing |= -1;
    return (lod_of(t, s) + (hidden & t->lod_count)) | (hidden & casts_nothing);
}

static inline void test_tile(const th_cull_test *test, const th_cull_spheres *spheres, int32_t *level)
{
    const th_cull_test t = *test; /* a local copy cannot alias the arrays */
    for (int i = 0; i < TH_CULL_TILE; i += WIDTH) {
        wide_sphere s = {load(spheres->x + i), load(spheres->y + i), load(spheres->z + i), load(spheres->radius + i)};
        s.radius += TH_CULL_SLACK * magnitude(s.z);
        const wide_int own = level_of(&t, &s);
        memcpy(level + i, &own, sizeof own);
    }
}

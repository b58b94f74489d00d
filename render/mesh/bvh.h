/* Distances from points to a surface of triangles. */
#ifndef TH_RENDER_MESH_BVH_H
#define TH_RENDER_MESH_BVH_H

#include <stddef.h>
#include <stdint.h>

typedef struct th_bvh th_bvh;

/* positions: three floats per vertex. Positions and indices are borrowed. NULL when out of memory. */
th_bvh *th_bvh_create(const float *positions, const uint32_t *indices, size_t triangle_count);
void th_bvh_destroy(th_bvh *bvh);

/* Returns the index of the triangle nearest to a point. out_weights: approximate weights of its corners for the nearest
 * position on it; their sum is 1. Needs at least one triangle. */
uint32_t th_bvh_nearest(const th_bvh *bvh, const double point[3], double out_weights[3]);

/* The largest distance of any point from the surface, but not below `least`; HUGE_VAL without triangles if there are
 * points. Stops early once a distance exceeds `limit`, and then returns some value above it. Positions that are not
 * finite may make the result NaN, but do no other harm. */
double th_bvh_max_distance(const th_bvh *bvh, const float *points, size_t point_count, double least, double limit);

#endif

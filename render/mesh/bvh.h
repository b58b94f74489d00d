/* Distances from a surface of triangles. */
#ifndef TH_RENDER_MESH_BVH_H
#define TH_RENDER_MESH_BVH_H

#include <stddef.h>
#include <stdint.h>

typedef struct th_bvh th_bvh;

/* positions: three floats a vertex; borrowed, as the indices. NULL when out of memory. */
th_bvh *th_bvh_create(const float *positions, const uint32_t *indices, size_t triangle_count);
void th_bvh_destroy(th_bvh *bvh);

/* The triangle, counted from 0, that is nearest to a point; weights: about where on it, of its corners, which sum to 1.
 * There is at least one triangle. */
uint32_t th_bvh_nearest(const th_bvh *bvh, const double point[3], double out_weights[3]);

/* Distance of the point that is farthest from the surface; 0 without points, HUGE_VAL without triangles. May stop with
 * any value above `limit` once one is that far. Positions that are not finite may make it NaN, and do no other harm. */
double th_bvh_max_distance(const th_bvh *bvh, const float *points, size_t point_count, double limit);

#endif

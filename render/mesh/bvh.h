/* Distances from a surface of triangles. */
#ifndef TH_RENDER_MESH_BVH_H
#define TH_RENDER_MESH_BVH_H

#include <stddef.h>
#include <stdint.h>

typedef struct th_surface th_surface;

/* positions: three floats a vertex; borrowed, as the indices. NULL when out of memory. */
th_surface *th_surface_create(const float *positions, const uint32_t *indices, size_t triangle_count);
void th_surface_destroy(th_surface *surface);

/* The triangle, counted from 0, that is nearest to a point; weights: about where on it, of its corners, which sum to 1.
 * There is at least one triangle. */
uint32_t th_surface_nearest(const th_surface *surface, const double point[3], double out_weights[3]);

/* Distance of the point that is farthest from the surface; 0 without points, HUGE_VAL without triangles. May stop with
 * any value above `limit` once one is that far. Positions that are not finite may make it NaN, and do no other harm. */
double th_surface_farthest(const th_surface *surface, const float *points, size_t point_count, double limit);

#endif

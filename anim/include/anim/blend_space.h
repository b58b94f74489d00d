/* A blend space: the weights of samples (clips) as a function of one or two parameters, such as speed, or direction and
 * speed.
 *
 * In one dimension the two neighbours of a parameter are mixed linearly. In two dimensions the samples are the corners
 * of triangles, and the three around a point are mixed by its barycentric coordinates. Outside, the nearest point of
 * the samples' convex hull counts. So weights are continuous, interpolate linear functions exactly, and are 1 at a
 * sample.
 *
 * The triangulation is Delaunay's. It measures distances, so choose units in which a step along x matters as much as a
 * step along y. Of samples on a common circle, the one with the smallest x, then y, is joined to all others: a
 * rectangle is cut from its lower left to its upper right. Only positions decide, not the order of the samples. */
#ifndef THRONG_ANIM_BLEND_SPACE_H
#define THRONG_ANIM_BLEND_SPACE_H

#include <core/error.h>

#include <stdint.h>

#define TH_BLEND_SPACE_MAX_SAMPLES  64
#define TH_BLEND_SPACE_MAX_POSITION 1e9

typedef struct th_blend_space_desc {
    const double *x; /* [sample_count]; not needed after creation */
    const double *y; /* [sample_count]; NULL: one dimension */
    uint32_t sample_count;
} th_blend_space_desc;

/* Immutable: any number of threads may read it. */
typedef struct th_blend_space th_blend_space;

/* Takes milliseconds at most. Errors: TH_ERR_LIMIT for too many samples; TH_ERR_MEMORY; TH_ERR_INPUT, naming the
 * sample, if there is none, if a position is not within +-TH_BLEND_SPACE_MAX_POSITION, if two samples are closer than
 * 1e-9 or 1e-5 of the space's extent, or if in two dimensions all samples are on one line, or one with all around it.
 */
th_result th_blend_space_create(const th_blend_space_desc *desc, th_blend_space **out, th_error *err);
void th_blend_space_destroy(th_blend_space *space); /* NULL is allowed */

/* Returns how many samples have a weight above 0: 1 to 3. Their indices are in ascending order. Their weights, added in
 * this order, are exactly 1. The rest of both arrays is left as it is. Weights below 2^-22 count as 0. y is ignored in
 * one dimension. Parameters beyond the largest position count as that, NaN as the smallest. Never allocates. */
uint32_t th_blend_space_weights(const th_blend_space *space, double x, double y, uint32_t out_index[3],
                                float out_weight[3]);

#endif

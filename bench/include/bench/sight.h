/* Who is in a picture, and how finely drawn: the plain reference of culling, which shares nothing with the renderer.
 *
 * A character is visible if its sphere reaches into all half-spaces that the camera sees. Out of sight it is drawn into
 * the shadow map if what the sphere passes through on its way from the light to the ground reaches into these and into
 * those of the map. Its level of detail is n or coarser if its diameter over its distance is below the size at which
 * the error of level n, 0.7 % of it times 2^((n-1)/2), is 1.25 pixels for level 1 down to 0.4 for the last. */
#ifndef THRONG_BENCH_SIGHT_H
#define THRONG_BENCH_SIGHT_H

#include <stdbool.h>
#include <stdint.h>

enum { TH_SIGHT_LEVELS = 10 };

typedef struct th_sight_view {
    float clip_from_scene[16], eye[3], near_z, far_z, height_px; /* of a perspective camera; OpenGL's matrix */
    bool has_shadows;                                            /* otherwise the rest says nothing */
    float to_light[3], ground, map[6][4];                        /* map: half-spaces, normals of length 1 */
} th_sight_view;

/* Within rounding of a plane or of a level's limit either side is right. */
typedef struct th_sight {
    bool may_be_seen, must_be_seen, may_cast, must_cast; /* cast: drawn for its shadow alone */
    uint32_t finest, coarsest;                           /* level of detail */
} th_sight;

th_sight th_sight_of(const th_sight_view *view, const float centre[3], float radius);

#endif

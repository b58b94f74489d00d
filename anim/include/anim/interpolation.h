/* Interpolation modes: the value of a track between two keys.
 *
 * AUTHORED interpolates each track as the file says, or evaluates the curves that it was made of (curves.h). Every
 * other mode overrides all tracks.
 *
 *   STEP        the last key at or before the time.
 *   NLERP       linear. Rotations: linear between the keys along the shorter arc, then normalised.
 *   SLERP       linear. Rotations: along the great circle, the shorter arc, at constant angular speed (K. Shoemake,
 *               Animating Rotation with Quaternion Curves, 1985).
 *   CUBIC       cubic Hermite splines (Khronos, glTF 2.0 Specification, 2021, appendix C, CUBICSPLINE) through all
 *               keys. A track with tangents uses them. Other tracks use the tangents of E. Catmull and R. Rom (A Class
 *               of Local Interpolating Splines, 1974) over their own times,
 *                   m[k] = (v[k+1] - v[k-1]) / (t[k+1] - t[k-1]),
 *               and at the first and last key, and on both sides of a jump, the slope of the line to the neighbour.
 *               Rotations: per component, then normalised. Each of the four keys of an interval takes the sign nearer
 * to its neighbour, so the tangent at a key is the same from both sides.
 *
 * All modes normalise rotation keys first, except CUBIC on a track with tangents. Before the first key a track has
 * the first key's value, after the last key the last key's. STEP, NLERP and SLERP ignore tangents. Only AUTHORED
 * honours th_track.steps. */
#ifndef THRONG_ANIM_INTERPOLATION_H
#define THRONG_ANIM_INTERPOLATION_H

#include <core/api.h>

TH_API_BEGIN

typedef enum th_interpolation {
    TH_INTERPOLATION_AUTHORED = 0, /* curves, CUBIC for tracks with tangents, STEP for stepped ones, SLERP for others */
    TH_INTERPOLATION_STEP,
    TH_INTERPOLATION_NLERP,
    TH_INTERPOLATION_SLERP,
    TH_INTERPOLATION_CUBIC,
    TH_INTERPOLATION_COUNT,
} th_interpolation;

/* "authored", "step", "nlerp", "slerp", "cubic"; "unknown" for anything else. */
const char *th_interpolation_name(th_interpolation interpolation);

TH_API_END

#endif

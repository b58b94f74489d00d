/* Interpolation: how a track's value between two keys is found.
 *
 * AUTHORED does what the file says, track by track. Every other mode overrides all tracks, whatever the file says.
 *
 *   STEP        the key at or before the time.
 *   NLERP       straight lines. Rotations: the line between the keys, the shorter way round, normalised.
 *   SLERP       straight lines. Rotations along the great circle, the shorter way round, at constant angular speed
 *               (K. Shoemake, Animating Rotation with Quaternion Curves, 1985).
 *   FAST_SLERP  SLERP, which a kernel may approximate. Exact sampling does not: there the two are one.
 *   CUBIC       Hermite curves (Khronos, glTF 2.0 Specification, 2021, appendix C, CUBICSPLINE) through all keys. A
 *               track with tangents is its spline. Any other gets the tangents of E. Catmull and R. Rom (A Class of
 *               Local Interpolating Splines, 1974) over its own times,
 *                   m[k] = (v[k+1] - v[k-1]) / (t[k+1] - t[k-1]),
 *               at the first and the last key the slope of the line to their only neighbour. Rotations: each component
 *               for itself, then normalised; of the four keys that shape an interval each has the sign nearer to its
 *               neighbour, so that the tangent at a key is the same from both sides.
 *
 * All but splines take rotations from normalised keys. Before the first key that one holds, after the last the last.
 * STEP, NLERP and SLERP ignore tangents. Tracks that step are tracks like any other to all modes but AUTHORED. */
#ifndef THRONG_ANIM_INTERPOLATION_H
#define THRONG_ANIM_INTERPOLATION_H

typedef enum th_interpolation {
    TH_INTERPOLATION_AUTHORED = 0, /* CUBIC for tracks with tangents, STEP for those that step, SLERP for the others */
    TH_INTERPOLATION_STEP,
    TH_INTERPOLATION_NLERP,
    TH_INTERPOLATION_SLERP,
    TH_INTERPOLATION_FAST_SLERP,
    TH_INTERPOLATION_CUBIC,
    TH_INTERPOLATION_COUNT,
} th_interpolation;

/* "authored", "step", "nlerp", "slerp", "fast-slerp", "cubic"; "unknown" for anything else. */
const char *th_interpolation_name(th_interpolation interpolation);

#endif

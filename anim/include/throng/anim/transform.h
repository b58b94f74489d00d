/* Transforms: plain data that may cross module borders, and the arithmetic on it.
 *
 * Right-handed, Y up, metres, radians; column vectors, so that `a * b` applies b first. A 3x4 matrix is the upper part
 * of an affine 4x4 one whose last row is 0 0 0 1; it is stored row-major, m[row * 4 + column], translation in column 3.
 * Quaternions are x, y, z, w.
 *
 * These are our own types because cglm's mat4 changes its alignment with the instruction set a file is compiled for.
 * th_mat34 carries data; th_dmat34 is what the double-precision reference computes with. */
#ifndef THRONG_ANIM_TRANSFORM_H
#define THRONG_ANIM_TRANSFORM_H

#include <stdbool.h>

typedef struct th_mat34 {
    float m[12];
} th_mat34;

typedef struct th_dmat34 {
    double m[12];
} th_dmat34;

/* Translation, then rotation, then scale, applied in the order S, R, T: M = T * R * S. */
typedef struct th_trs {
    double translation[3];
    double rotation[4]; /* x y z w, unit length */
    double scale[3];
} th_trs;

#define TH_MAT34_IDENTITY  ((th_mat34){{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}})
#define TH_DMAT34_IDENTITY ((th_dmat34){{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}})

th_dmat34 th_dmat34_from(th_mat34 a);
th_mat34 th_mat34_from(th_dmat34 a);

th_dmat34 th_dmat34_mul(th_dmat34 a, th_dmat34 b);

/* Applies the matrix to a point. */
void th_dmat34_point(const th_dmat34 *a, const double point[3], double out[3]);

/* The rotation need not be of unit length: the matrix is that of the normalised quaternion. A zero quaternion gives
 * no rotation. */
th_dmat34 th_dmat34_from_trs(const th_trs *trs);

/* Returns false, and leaves *out alone, when the matrix has no inverse (or a value that is not finite). */
bool th_dmat34_invert(const th_dmat34 *a, th_dmat34 *out);

/* Splits a matrix without shear into its parts. A mirrored matrix gets its sign on the x scale (a mirror has no unique
 * home; any choice rebuilds the same matrix). With shear, th_dmat34_from_trs of the result differs from `a`: the
 * return value is that largest difference of an element, relative to the largest element. */
double th_dmat34_decompose(const th_dmat34 *a, th_trs *out);

/* The same with another choice of signs: a matrix without shear has four splits, since a half turn about one axis is
 * two mirrors across the others. The scale gets the signs of `like` (0 counts as positive), unless the matrix is
 * mirrored and they are not, or the other way round. */
double th_dmat34_decompose_like(const th_dmat34 *a, const double like[3], th_trs *out);

/* Largest absolute difference of two elements; NaN when one is. */
double th_dmat34_distance(const th_dmat34 *a, const th_dmat34 *b);

/* Interpolates the short way along the great circle (K. Shoemake, Animating Rotation with Quaternion Curves, 1985).
 * a, b: unit length. out: unit length; may alias. */
void th_quat_slerp(const double a[4], const double b[4], double t, double out[4]);

/* The rotation b, then a. out may alias. */
void th_quat_mul(const double a[4], const double b[4], double out[4]);

/* Makes q unit length. Returns false, and leaves q alone, when it is too short (below 1e-12) or not finite. */
bool th_quat_normalize(double q[4]);

#endif

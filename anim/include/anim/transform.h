/* Arithmetic on transforms. Pure functions; any thread.
 *
 * th_mat34 is for storage, th_dmat34 for the double-precision reference. cglm's mat4 is not used because its alignment
 * depends on the instruction set that a file is compiled for. */
#ifndef THRONG_ANIM_TRANSFORM_H
#define THRONG_ANIM_TRANSFORM_H

#include <throng/throng.h>

#define TH_MAT34_IDENTITY  ((th_mat34){{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}})
#define TH_TRS_IDENTITY    ((th_trs){{0, 0, 0}, {0, 0, 0, 1}, {1, 1, 1}})
#define TH_DMAT34_IDENTITY ((th_dmat34){{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}})

th_dmat34 th_dmat34_from(th_mat34 a);
th_mat34 th_mat34_from(th_dmat34 a);

static inline th_dmat34 th_dmat34_mul(th_dmat34 a, th_dmat34 b)
{
    th_dmat34 product;
    for (int row = 0; row < 3; row++) {
        const double *r = a.m + 4 * row;
        for (int col = 0; col < 4; col++)
            product.m[4 * row + col] = r[0] * b.m[col] + r[1] * b.m[4 + col] + r[2] * b.m[8 + col];
        product.m[4 * row + 3] += r[3];
    }
    return product;
}

/* Transforms a point. */
void th_dmat34_point(const th_dmat34 *a, const double point[3], double out[3]);

/* The rotation need not have unit length; the matrix is that of the normalised quaternion. A zero quaternion is no
 * rotation. */
th_dmat34 th_dmat34_from_trs(const th_trs *trs);

/* Returns false and does not change *out if the matrix is singular or not finite. */
bool th_dmat34_invert(const th_dmat34 *a, th_dmat34 *out);

/* Decomposes a matrix without shear. A mirrored matrix gets a negative x scale; any axis would give the same matrix.
 * With shear, th_dmat34_from_trs of the result differs from `a`. Returns the largest difference of an element, relative
 * to the largest element. */
double th_dmat34_decompose(const th_dmat34 *a, th_trs *out);

/* The same with chosen signs. A matrix without shear has four decompositions, because a half turn about one axis equals
 * mirroring the two others. The scale gets the signs of `like` (0 counts as positive), unless only one of `like` and
 * the matrix is mirrored. */
double th_dmat34_decompose_like(const th_dmat34 *a, const double like[3], th_trs *out);

/* Reverses two signs of the scale and turns by half a turn about the third axis, which is the same transform, if
 * `scale` has the signs of `like` then. scale: of `trs`, at this or another time; where it is 0, it has any sign. */
void th_trs_take_signs(th_trs *trs, const double scale[3], const double like[3]);

/* Largest absolute difference of two elements; NaN if an element is NaN. */
double th_dmat34_distance(const th_dmat34 *a, const th_dmat34 *b);

/* An upper bound of the largest factor by which lengths grow; exact if the axes are orthogonal. */
double th_dmat34_stretch(const th_dmat34 *a);

/* Slerp along the shorter arc (K. Shoemake, Animating Rotation with Quaternion Curves, 1985) of two quaternions of unit
 * length, in two steps: an arc can have many points. */
typedef struct th_quat_arc {
    double from[4], to[4]; /* with signs less than half a turn apart */
    double angle, sine;    /* between them in four dimensions */
} th_quat_arc;

th_quat_arc th_quat_arc_between(const double a[4], const double b[4]);
void th_quat_arc_at(const th_quat_arc *arc, double t, double out[4]);

/* a * b: the rotation b, then a. out may alias a or b. */
void th_quat_mul(const double a[4], const double b[4], double out[4]);

/* Normalises q. Returns false and does not change q if its length is below 1e-12 or not finite. */
bool th_quat_normalize(double q[4]);

#endif

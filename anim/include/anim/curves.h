/* Curves: numbers over time as FBX stores them, and the transforms and morph weights that are made of them.
 *
 * Plain data, part of a model (model.h). Times are in ticks of the clip, angles in radians. Pure functions in double
 * precision; no allocation; any thread. Source of the formulas: Autodesk, FBX SDK Help, "Computing transformation
 * matrices" and "Animation layers". */
#ifndef THRONG_ANIM_CURVES_H
#define THRONG_ANIM_CURVES_H

#include <anim/transform.h>

#include <stdbool.h>
#include <stdint.h>

/* From a key to the next: a cubic Bezier curve of time and value, or a step. */
typedef struct th_curve_piece {
    bool holds;                    /* the first key's value until the second; the rest is then ignored */
    float leave_time, arrive_time; /* of the inner control points, as a part of the piece, from 0 to 1. Where they are
                                      a third and two thirds, as floats, time runs evenly */
    float leave_value, arrive_value;
} th_curve_piece;

/* Before the first key the curve has its value, after the last key that of the last. */
typedef struct th_curve {
    uint32_t key_count;           /* 0: the curve does not exist */
    const double *times;          /* finite, strictly ascending */
    const float *values;          /* finite */
    const th_curve_piece *pieces; /* key_count - 1; NULL if that is 0 */
} th_curve;

/* The numbers of a transform: translation, angles and scale, x y z each. */
enum { TH_CURVE_TRANSLATION = 0, TH_CURVE_ANGLES = 3, TH_CURVE_SCALE = 6, TH_TRANSFORM_CURVES = 9 };

/* Some numbers over time, and how they join what the layers before it have made. Layers move translation, angles or
 * scale as a whole: either all three curves exist or none. */
typedef struct th_curve_layer {
    th_curve weight;         /* below 0 it counts as 0, above 1 as 1; without keys: 1 */
    bool adds;               /* to the layers before it; else it replaces them, as far as its weight goes */
    bool combines_rotations; /* angles are joined as rotations: products and slerp. Else angle by angle */
    bool multiplies_scales;  /* scales are joined by products of powers. Else by sums */
    const th_curve *curves;  /* TH_TRANSFORM_CURVES; of a morph weight: 1 */
} th_curve_layer;

/* What of a transform a joint has. A node whose children do not inherit its scale becomes two joints: one without the
 * scale, to which these are attached, and below it one with nothing else. */
typedef enum th_curve_part {
    TH_CURVE_WHOLE = 0,
    TH_CURVE_UNSCALED,
    TH_CURVE_SCALE_ALONE,
    TH_CURVE_PART_COUNT
} th_curve_part;

/* The transform of a node:
 *
 *    Translation RotationOffset RotationPivot Before Rotation After RotationPivot^-1
 *      ScalingOffset ScalingPivot Scaling ScalingPivot^-1
 *
 * which is a translation, a rotation and a scale at every time. The scale that a joint has, and that it passes on, is
 * its own times that which `scale_from` passes on. If there is `scaled_by`, the scale which that passes on multiplies
 * the translation of the whole product.
 */
struct th_transform_curves {
    float numbers[TH_TRANSFORM_CURVES]; /* where no layer moves them */
    uint32_t order;                     /* of the angles: 0 xyz, 1 xzy, 2 yzx, 3 yxz, 4 zxy, 5 zyx; the first axis turns
                                           first */
    double before[4], after[4];         /* rotations, of unit length */
    double rotation_offset[3], rotation_pivot[3], scaling_offset[3], scaling_pivot[3];
    th_trs frame;     /* what it moves in: its scale multiplies translations alone; the identity in a file */
    double travel[3]; /* a tick: taken off the translation at last, time by time (see motion.h); 0 in a file */
    th_curve_part part;
    const struct th_transform_curves *scaled_by, *scale_from; /* NULL: none. At most TH_MOST_INHERITED in a row */
    uint32_t layer_count;
    const th_curve_layer *layers;
};

#define TH_MOST_INHERITED 64u

/* A morph weight. A number leads along places, of which one is 0 and has no shape, the others one shape each. Between
 * two places the shapes of both are mixed in a straight line, which goes on beyond the ends. A shape alone has the
 * places 0 and 1, so that its weight is the number. */
struct th_weight_curves {
    float number;                /* without layers */
    uint32_t place_count, place; /* place: that of this weight */
    const float *places;         /* ascending; at least 2 */
    uint32_t layer_count;
    const th_curve_layer *layers;
};

/* The curve exists. Two keys may have one time here, at which the second counts. */
double th_curve_at(const th_curve *curve, double ticks);

void th_transform_curves_at(const th_transform_curves *curves, double ticks, th_trs *out);
double th_weight_curves_at(const th_weight_curves *curves, double ticks);

#endif

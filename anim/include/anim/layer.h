/* Layers: clips that an instance plays at the same time, and how they become one pose.
 *
 * The pose is defined for each joint by its transforms relative to the parent, as ozz-animation's blending job defines
 * it. First the layers that override are blended, in their order. Layer i has the weight w_i, its own times that of its
 * mask for the joint:
 *
 *    rotation      sum of w_i s_i q_i, normalised; q_i has unit length, and s_i is 1 or -1, so that s_i q_i has no
 *                  negative dot product with the sum of the layers before
 *    translation   sum of w_i t_i / sum of w_i; scale and morph weights likewise, morph weights without masks
 *
 * Where the sum of w_i is below TH_REST_WEIGHT, the rest pose follows as one more layer with what is missing as its
 * weight. Then the layers that add change the result, in their order. With r the transform that such a layer starts
 * from, d = conj(q_r) q_i, and the sign of d such that its w is not negative:
 *
 *    rotation      rotation * (w_i d + (1 - w_i)), normalised
 *    translation   + w_i (t_i - t_r); morph weights likewise
 *    scale         * (1 + w_i (s_i / s_r - 1)), by component
 *
 * Scales count with the signs that the rest transform has, where a clip differs from it in two of them: that is the
 * same transform, turned by half a turn about the third axis.
 *
 * Where a joint has the same value in all layers, it has that value. A single layer that overrides without a mask, with
 * a weight of at least TH_REST_WEIGHT, is the clip alone, to the last bit. Layers of weight 0 change nothing. */
#ifndef THRONG_ANIM_LAYER_H
#define THRONG_ANIM_LAYER_H

#include <anim/interpolation.h>
#include <anim/model.h>
#include <core/api.h>

TH_API_BEGIN

#define TH_MAX_LAYERS  8u
#define TH_REST_WEIGHT 0.1F

/* A weight for each joint, such as 1 for the upper body and 0 for the rest. */
typedef struct th_mask {
    const char *name;
    const float *weights; /* by joint, 0 to 1 */
} th_mask;

#define TH_MAX_MASKS 255u
#define TH_NO_MASK   255u

/* Sets the weights of a joint and of all below it to 1, those of others to 0. weights: joint_count elements. */
void th_mask_from_joint(const th_model *model, uint32_t joint, float *weights);

typedef enum th_layer_mode {
    TH_LAYER_OVERRIDE = 0,
    TH_LAYER_ADD,      /* what the clip changes since its first frame */
    TH_LAYER_ADD_REST, /* what the clip changes of the rest pose */
    TH_LAYER_MODE_COUNT,
} th_layer_mode;

const char *th_layer_mode_name(th_layer_mode mode); /* "override", "add", "add-rest" */

#define TH_REST_CLIP UINT16_MAX

/* A clip at a time, with a weight. */
typedef struct th_layer {
    double ratio;  /* position in the clip: 0 is its begin, 1 its end */
    float weight;  /* 0 to 1 */
    uint16_t clip; /* index into th_model.clips; TH_REST_CLIP: the rest pose */
    uint8_t mode;  /* th_layer_mode */
    uint8_t mask;  /* index into the masks of the compiled model; TH_NO_MASK: weight 1 for all joints */
} th_layer;

/* The joint for which layers cannot add what this clip changes, by name; NULL if they can. A scale is a factor, and
 * nothing is a multiple of a scale of 0, which it starts from. */
const char *th_layer_add_obstacle(const th_model *model, uint32_t clip, th_layer_mode mode);

/* The reference, in double precision, from authored keys: local transforms of all joints, joint_count elements, and
 * morph weights, weight_count elements. masks: as layers name them. interpolation: between keys, as for th_exact_pose.
 * count: at most TH_MAX_LAYERS. Pure; no allocation; any thread. */
void th_exact_layers(const th_model *model, const th_layer *layers, uint32_t count, const th_mask *masks,
                     th_interpolation interpolation, th_dmat34 *out_local, double *out_weights);

TH_API_END

#endif

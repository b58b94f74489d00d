/* Models: what their builders and readers use beyond throng.h. */
#ifndef THRONG_ANIM_MODEL_H
#define THRONG_ANIM_MODEL_H

#include <throng/throng.h>

#include <anim/appearance.h>
#include <anim/curves.h>
#include <anim/palette.h>
#include <anim/transform.h>
#include <core/error.h>

/* Whether the library has made, and so checked, a model. */
#define TH_VALID_MODEL(model) TH_VALID((model) && (model)->arena)

/* The joint's position in mesh space in the bind pose. Returns false, with `out` unchanged, if inverse_bind has no
 * usable inverse. */
bool th_bone_place(const th_bone *bone, float out[3]);

/* The rest transform in parts: as the file states them, or else decomposed. What is open then, signs of scale, is that
 * of a channel of the joint, as its keys have them first; NULL: positive. */
th_trs th_joint_rest(const th_joint *joint, const th_channel *like);

/* Whether any of its channels or weight tracks has some. */
bool th_clip_has_curves(const th_clip *clip);

const char *th_alpha_name(th_alpha alpha); /* "opaque", "mask", "blend" */

/* Computes th_model.size: the largest extent along an axis of what moves in the rest pose, the vertices and the joints
 * that they follow, morphed by the weights at rest. So cameras, lights and nodes parked far away do not count. Without
 * meshes all joints do. Returns 1 if the model has no extent, and 0, which th_model_check rejects, when out of memory.
 */
double th_model_measure(const th_model *model);

/* Creates a copy with the parts that an appearance has, and without appearances: widths and colours are in its
 * vertices, and morph targets are not allowed. It refers to the model's names, skeleton and clips, so free it with
 * th_model_destroy before the model. TH_ERR_MEMORY. */
th_result th_model_dress(const th_model *model, uint32_t appearance, th_model **out, th_error *err);

/* Checks the invariants of this header, except that names are unique. Builders of models call it last. Returns
 * TH_ERR_INPUT for the first violation, or TH_ERR_LIMIT if that is a limit. */
th_result th_model_check(const th_model *model, th_error *err);

#endif

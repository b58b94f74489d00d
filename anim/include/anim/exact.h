/* The reference evaluation: authored keys, binary search, double precision. All other evaluations are checked against
 * it. Pure functions; no allocation; any thread. */
#ifndef THRONG_ANIM_EXACT_H
#define THRONG_ANIM_EXACT_H

#include <anim/interpolation.h>
#include <anim/model.h>
#include <core/api.h>

TH_API_BEGIN

/* Clip time in ticks: time_s * ticks_per_second, wrapped into [0, duration). Negative times wrap from the end. 0 for a
 * clip without duration. */
double th_clip_ticks(const th_clip *clip, double time_s);

/* Models, clips and channels have passed th_model_check, here and below.
 *
 * Local transform of the channel's joint at `ticks`, which is not wrapped but clamped to the keys of each track. */
void th_exact_channel(const th_channel *channel, double ticks, th_interpolation interpolation, th_trs *out);

/* Model-space matrices of all joints: out[j] = scene_from_joint, joint_count elements.
 * clip: NULL for the rest pose; `ticks` and `interpolation` are then ignored. */
void th_exact_pose(const th_model *model, const th_clip *clip, double ticks, th_interpolation interpolation,
                   th_dmat34 *out);

/* The two stages of th_exact_pose: local transforms relative to the parents, then model space. out may equal local. */
void th_exact_sample(const th_model *model, const th_clip *clip, double ticks, th_interpolation interpolation,
                     th_dmat34 *out_local);
void th_exact_resolve(const th_model *model, const th_dmat34 *local, th_dmat34 *out);

/* Value of the track's weight at `ticks`, clamped as above. Weights have no arcs: slerp is linear. */
double th_exact_weight(const th_weight_track *track, double ticks, th_interpolation interpolation);

/* Values of all weights, weight_count elements. clip, ticks, interpolation: as for th_exact_pose. */
void th_exact_weights(const th_model *model, const th_clip *clip, double ticks, th_interpolation interpolation,
                      double *out);

/* The palette of a pose: out[b] = pose[bones[b].joint] * bones[b].inverse_bind, bone_count elements. out must not be
 * pose. */
void th_exact_palette(const th_model *model, const th_dmat34 *pose, th_dmat34 *out);

TH_API_END

#endif

/* The reference: authored keys, binary search, double precision. Simple, slow, right.
 *
 * Everything else that computes a pose is held against this. Pure functions; no allocation; any thread. */
#ifndef THRONG_ANIM_EXACT_H
#define THRONG_ANIM_EXACT_H

#include <throng/anim/interpolation.h>
#include <throng/anim/model.h>

/* Ticks into the clip at `time_s`: time_s * ticks_per_second wrapped over the duration into [0, duration). A clip
 * without duration is always at 0; a negative time wraps from the end. */
double th_clip_ticks(const th_clip *clip, double time_s);

/* Local transform of a channel's joint at `ticks` (not wrapped, clamped to the keys of each track). */
void th_exact_channel(const th_channel *channel, double ticks, th_interpolation interpolation, th_trs *out);

/* Model-space matrices of all joints: out[j] = scene_from_joint, joint_count of them.
 * clip: NULL for the rest pose; then neither `ticks` nor `interpolation` matters. */
void th_exact_pose(const th_model *model, const th_clip *clip, double ticks, th_interpolation interpolation,
                   th_dmat34 *out);

/* The two halves of th_exact_pose: each joint's transform relative to its parent, then model space. out: may be local.
 */
void th_exact_sample(const th_model *model, const th_clip *clip, double ticks, th_interpolation interpolation,
                     th_dmat34 *out_local);
void th_exact_resolve(const th_model *model, const th_dmat34 *local, th_dmat34 *out);

/* Palette from such a pose: out[b] = pose[binds[b].joint] * binds[b].inverse_bind, bind_count of them. */
void th_exact_palette(const th_model *model, const th_dmat34 *pose, th_dmat34 *out);

#endif

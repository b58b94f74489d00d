/* The stages of the reference evaluation. */
#ifndef THRONG_ANIM_EXACT_H
#define THRONG_ANIM_EXACT_H

#include <anim/model.h>
#include <throng/throng.h>

/* Models, clips and channels have passed th_model_check, here and below.
 *
 * Local transform of the channel's joint at `ticks`, which is not wrapped but clamped to the keys of each track. */
void th_exact_channel(const th_channel *channel, double ticks, th_interpolation interpolation, th_trs *out);

/* The two stages of th_exact_pose: local transforms relative to the parents, then model space. out may equal local. */
void th_exact_sample(const th_model *model, const th_clip *clip, double ticks, th_interpolation interpolation,
                     th_dmat34 *out_local);
void th_exact_resolve(const th_model *model, const th_dmat34 *local, th_dmat34 *out);

/* Value of the track's weight at `ticks`, clamped as above. Weights have no arcs: slerp is linear. */
double th_exact_weight(const th_weight_track *track, double ticks, th_interpolation interpolation);

/* Values of all weights, weight_count elements. clip, ticks, interpolation: as for th_exact_pose. */
void th_exact_weights(const th_model *model, const th_clip *clip, double ticks, th_interpolation interpolation,
                      double *out);

#endif

/* Cuts a spline to the length of its clip. */
#ifndef TH_ANIM_EXPORT_SPLINE_H
#define TH_ANIM_EXPORT_SPLINE_H

#include <throng/anim/model.h>

#include <stdbool.h>

/* Writes to *out a track with the same motion from 0 to the duration and no keys outside. Its arrays come from malloc;
 * free them with th_spline_free. width: 3, or 4 for rotations. Returns false if out of memory.
 *
 * A piece of a cubic is a cubic, so vectors are exact. A piece of a rotation's cubic need not begin at unit length,
 * which glTF requires, so it becomes many short pieces that do; the error is usually below float precision. */
bool th_spline_cut(const th_track *track, uint32_t width, double duration, th_track *out);
void th_spline_free(th_track *track);

#endif

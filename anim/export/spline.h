/* A spline cut to the length of its clip. */
#ifndef TH_ANIM_EXPORT_SPLINE_H
#define TH_ANIM_EXPORT_SPLINE_H

#include <throng/anim/model.h>

#include <stdbool.h>

/* Writes to *out a track that goes the same way from 0 to the duration and has no key outside. Its arrays are from
 * malloc, for th_spline_free. width: 3, or 4 for rotations. False when out of memory.
 *
 * A piece of a cubic is a cubic, so vectors stay as they are. A piece of a rotation's does not begin at unit length as
 * the format asks; so it becomes many short ones that do, which stray by less than floats show as a rule. */
bool th_spline_cut(const th_track *track, uint32_t width, double duration, th_track *out);
void th_spline_free(th_track *track);

#endif

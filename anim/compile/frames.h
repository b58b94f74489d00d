/* Frames: a clip sampled at the frames of its stretches, as keys in the kernel's space and format. For resample.c.
 * Private to anim. */
#ifndef TH_ANIM_COMPILE_FRAMES_H
#define TH_ANIM_COMPILE_FRAMES_H

#include "compiled_data.h"

/* Stepped keys may miss their frame by this part of an interval. Frames are sampled half of that late, so that rounding
 * never selects the key before. */
#define TH_STEPPED_KEY_TOLERANCE 0.02

/* Number of frames that th_frames_write writes: the ends of the intervals, and two beyond them for CUBIC. */
uint32_t th_frames_count(const th_program *program, uint32_t intervals);

/* Clip time of a position among the frames, in one of the stretches. */
double th_frames_ticks(const th_compiled_clip *compiled_clip, const th_stretch *stretch, double frame);

/* Writes the clip of `compiled_clip`, which has no keys yet, or the rest pose for NULL. first: a frame near the first
 * one, whose signs rotations take; NULL: the rest pose. out: th_frames_count frames of program.frame_bytes, aligned to
 * 16. Returns false if out of memory. */
bool th_frames_write(const th_compiled_model *compiled, const th_compiled_clip *compiled_clip, const void *first,
                     void *out);

/* Finds the range of each 16-bit key over all clips and the rest pose, and sets program.ranges. *budget: see
 * th_compile_clips; stops early when it is spent. Returns false if out of memory. */
bool th_frames_find_ranges(th_compiled_model *compiled, int64_t *budget);

#endif

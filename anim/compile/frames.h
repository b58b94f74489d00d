/* Frames: a clip at equal distances, as keys in the kernel's space and format. For resample.c. Private to anim. */
#ifndef TH_ANIM_COMPILE_FRAMES_H
#define TH_ANIM_COMPILE_FRAMES_H

#include "compiled_data.h"

/* Keys that hold may miss their frame by so much of an interval. Frames are taken half of that late, so that rounding
 * does not catch the key before. */
#define TH_STEPPED_KEY_TOLERANCE 0.02

/* Frames that th_frames_write writes: the intervals' ends, and what a cubic curve wants beyond them. */
uint32_t th_frames_count(const th_program *program, uint32_t intervals);

/* Writes the clip of a compiled_clip, which has no keys yet, or the rest pose for NULL. out: th_frames_count of
 * program.frame_bytes each, aligned to 16. False when memory is out. */
bool th_frames_write(const th_compiled_model *compiled, const th_compiled_clip *compiled_clip, void *out);

/* Finds out what the numbers of 16-bit keys range over in all clips and the rest pose, and sets program.ranges.
 * *budget: see th_compile_clips; ends early when it is spent. False when memory is out. */
bool th_frames_find_ranges(th_compiled_model *compiled, int64_t *budget);

#endif

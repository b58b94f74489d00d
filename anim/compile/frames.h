/* Frames: a clip sampled at the frames of its stretches, as keys in the kernel's space and format. For resample.c.
 * Private to anim. */
#ifndef TH_ANIM_COMPILE_FRAMES_H
#define TH_ANIM_COMPILE_FRAMES_H

#include "compiled_data.h"
#include "exact_cursor.h"

/* Stepped keys may miss their frame by this part of an interval. Frames are sampled half of that late, so that rounding
 * never selects the key before. */
#define TH_STEPPED_KEY_TOLERANCE 0.02

/* Number of frames that th_frames_write writes: the ends of the intervals, and two beyond them for CUBIC. */
uint32_t th_frames_count(const th_program *program, uint32_t intervals);

/* Clip time of a position among the frames, in one of the stretches. */
double th_frames_ticks(const th_compiled_clip *compiled_clip, const th_stretch *stretch, double frame);

/* Writes the frames of a clip in order, as far as they are needed: most attempts at a rate fail at their beginning. */
typedef struct th_frame_writer {
    const th_compiled_model *compiled;
    const th_compiled_clip *compiled_clip;
    th_exact_cursor *cursors;
    const th_stretch *stretch; /* of the last frame */
    float *numbers;            /* scratch: three frames, */
    float *now, *before, *beyond;
    double *weights; /* and the weights of a frame */
    char *out;
    uint32_t written; /* frames */
} th_frame_writer;

/* Of the clip of `compiled_clip`, or of the rest pose for NULL. first: a frame near the first one, whose signs
 * rotations take; NULL: the rest pose. cursors: of the clip's channels. out: th_frames_count frames of
 * program.frame_bytes, aligned to 16. All are borrowed. Returns false if out of memory; th_frame_writer_fini is right
 * then, too. */
bool th_frame_writer_init(th_frame_writer *writer, const th_compiled_model *compiled,
                          const th_compiled_clip *compiled_clip, const void *first, th_exact_cursor *cursors,
                          void *out);
void th_frame_writer_fini(th_frame_writer *writer);

/* Writes what is missing of the frames that `interval` is computed from. Returns how many frames it wrote. */
uint32_t th_frame_writer_reach(th_frame_writer *writer, uint32_t interval);

/* Finds the range of each 16-bit key over all clips and the rest pose, and sets program.ranges. *budget: see
 * th_compile_clips; stops early when it is spent. Returns false if out of memory. */
bool th_frames_find_ranges(th_compiled_model *compiled, int64_t *budget);

#endif

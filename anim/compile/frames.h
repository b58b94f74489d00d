/* Frames: a clip sampled at the frames of its stretches, as keys in the kernel's space and format. Private to anim. */
#ifndef TH_ANIM_COMPILE_FRAMES_H
#define TH_ANIM_COMPILE_FRAMES_H

#include "compiled_data.h"
#include "exact_cursor.h"

/* Stepped keys may miss their frame by this part of an interval. Frames are sampled half of that late, so that rounding
 * never selects the key before. */
#define TH_STEPPED_KEY_TOLERANCE 0.02

/* Clip time of a position among the frames, in one of the stretches. */
double th_frames_ticks(const th_compiled_clip *compiled_clip, const th_stretch *stretch, double frame);

/* What evaluating a channel costs, compared with one of tracks: as many times as there are layers. */
uint32_t th_channel_cost(const th_channel *channel);

/* Whether curves, those of one part, may take it further than this from the nearest of its keys. first: TH_CURVE_... */
bool th_curves_bend(const th_transform_curves *curves, uint32_t first, double tolerance);

/* Rotations of curves may turn several times between two keys, and then stand at a part of the way as they stood
 * before. Calls fn with times within the clip between which, on average, no angle of a curve turns by more than an
 * eighth of half a turn, for the pieces that turn by more than a quarter. Up to a limit, and ascending for each curve.
 */
void th_each_turn(const th_channel *channel, double duration_ticks, void (*fn)(void *ctx, double ticks), void *ctx);

/* Writes the frames of a clip in order, as far as they are needed: most attempts at a rate fail at their beginning. */
typedef struct th_frame_writer {
    const th_compiled_model *compiled;     /* the caller sets all these, which are borrowed */
    const th_compiled_clip *compiled_clip; /* whose frames are written; its clip is NULL for the rest pose */
    th_exact_cursor *cursors;              /* of the clip's channels */
    float *numbers;                        /* scratch: three frames of th_frame_numbers, */
    double *weights;                       /* and the weights of the model */
    char *out;                             /* th_frames_count frames of program.frame_bytes, aligned to 16 */

    const th_stretch *stretch; /* of the last frame */
    float *now, *before, *beyond;
    uint32_t written; /* frames */
} th_frame_writer;

/* first: a frame near the first one, whose signs rotations take; NULL: the rest pose. */
void th_frame_writer_begin(th_frame_writer *writer, const void *first);

/* Writes what is missing of the frames that `interval` is computed from. Returns how many frames it wrote. */
uint32_t th_frame_writer_reach(th_frame_writer *writer, uint32_t interval);

/* Finds the range of each 16-bit key over all clips and the rest pose, and sets program.ranges. *budget: see
 * th_resample_clip; stops early when it is spent. Returns false if out of memory. */
bool th_frames_find_ranges(th_compiled_model *compiled, int64_t *budget);

#endif

/* What a rig is made of; for this folder, which makes it, and crowd.c, which plays it. Private to anim. */
#ifndef TH_ANIM_COMPILE_COMPILED_DATA_H
#define TH_ANIM_COMPILE_COMPILED_DATA_H

#include "kernels/pose.h"

#include <throng/anim/compiled_model.h>
#include <throng/core/arena.h>

/* How the authored transforms of a joint become keys of its step, which has some: for
 * X = scale * [rotation | translation] of the joint and of its parent (see kernels/pose.h),
 * rotation key = before * q * after, scale key = s * scale, translation key = from_parent * t + offset. */
typedef struct th_mover {
    uint32_t joint;
    uint16_t flags;             /* of the step */
    th_trs rest;                /* what a clip without a channel for this joint plays */
    double before[4], after[4]; /* rotations of inverse(X_parent) and X */
    double scale;               /* of inverse(X_parent) */
    th_dmat34 from_parent;      /* inverse(X_parent) */
    double offset[3];
} th_mover;

/* A clip as an instance plays it. */
typedef struct th_playable {
    const th_clip *clip; /* NULL for the rest pose */
    const char *keys; /* frames of program.frame_bytes, aligned to 16; CUBIC: with one before the first and one behind
                       * the last; NULL when played exact */
    uint32_t interval_count; /* frames - 1; a single pose is two equal frames */
    bool holds;              /* each frame until the next one, whatever the curve */
    double pace;             /* frames in a whole clip: interval_count, a little more where frames hold */
} th_playable;

struct th_rig {
    const th_model *model;
    double bound;
    th_interpolation interpolation;
    th_program program;
    const th_mover *movers; /* in the order of the steps */
    uint32_t mover_count;
    th_playable *playables;  /* the model's clips, then the rest pose */
    th_clip_report *reports; /* likewise */
    th_arena *arena;
};

/* Files have times in single precision. Where frames hold, each begins so much of the time since 0 early that a key is
 * shown at its time as it was meant and as it is written. */
#define TH_TIME_ROUNDING 0x1p-22

/* Points a lane at a compiled playable's keys at `part` of its clip, from 0 to 1. */
static inline void th_playable_seek(const th_playable *playable, size_t frame_bytes, double part, th_lanes *lanes,
                                    uint32_t lane)
{
    double at = part * playable->pace;
    uint32_t last = playable->interval_count - 1, interval = at < (double)last ? (uint32_t)at : last;
    lanes->frame[lane] = playable->keys + (size_t)interval * frame_bytes;
    lanes->alpha[lane] = playable->holds ? 0 : (float)(at - interval);
}

#endif

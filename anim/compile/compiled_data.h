/* The contents of a compiled model, for this folder, which builds it, and crowd.c, which plays it. Private to anim. */
#ifndef TH_ANIM_COMPILE_COMPILED_DATA_H
#define TH_ANIM_COMPILE_COMPILED_DATA_H

#include "kernels/pose.h"

#include <anim/compiled_model.h>
#include <anim/repertoire.h>
#include <core/arena.h>

/* How the authored transforms of a joint become keys of its op. For X = scale * [rotation | translation] of the joint
 * and of its parent (see kernels/pose.h):
 *
 *    rotation key    = before * q * after
 *    scale key       = s * scale
 *    translation key = from_parent * t + offset */
typedef struct th_compiled_track {
    uint32_t joint;
    uint16_t flags;             /* of the op */
    th_trs rest;                /* used if a clip has no channel for this joint */
    double before[4], after[4]; /* rotations of inverse(X_parent) and X */
    double scale;               /* of inverse(X_parent) */
    th_dmat34 from_parent;      /* inverse(X_parent) */
    double offset[3];
} th_compiled_track;

/* A joint's transform G is from_op after M of an op, which is that of the joint or of one above it. In the quaternion
 * form M is taken about the op's place b: as scale * rotation, then p. */
typedef struct th_socket {
    uint32_t op; /* TH_NO_PARENT: none, the joint never moves */
    th_mat34 from_op[TH_POSE_FORMS];
} th_socket;

/* Writes G of sockets, 12 floats each, one after the other. scratch: as th_kernels_pose left it. out: by lane; NULL:
 * not of this one. */
void th_sockets_write(const th_socket *sockets, uint32_t count, th_pose_form form, uint32_t width, float *scratch,
                      float *const *out);

#define TH_MAX_STRETCHES 16u

/* A part of a clip whose frames are at equal distances. It shares its last frame with the next stretch. */
typedef struct th_stretch {
    double begin; /* in clip lengths */
    double rate;  /* intervals per clip length; in stepped clips slightly more */
    uint32_t first_frame, last_frame;
} th_stretch;

/* A clip in the kernel's format. */
typedef struct th_compiled_clip {
    const th_clip *clip; /* NULL for the rest pose */
    const char *keys;    /* frames of program.frame_bytes, aligned to 16. CUBIC: plus one before the first and one after
                            the last. NULL: played exact */
    uint32_t first_frame;    /* number of frames of all clips before it, as th_device_program.frames has them */
    uint32_t interval_count; /* frames - 1; a single pose is two equal frames */
    uint16_t stretch_count;  /* 1 for CUBIC, whose curves need equal distances, and for stepped clips */
    bool is_stepped;         /* each frame holds until the next, in any interpolation mode */
    bool seeks_stretch;      /* some stretch does not begin at 0 */
    th_stretch stretches[TH_MAX_STRETCHES]; /* in order; the unused begin at infinity */
} th_compiled_clip;

struct th_compiled_model {
    const th_model *model, *authored; /* authored: before its clips were taken in place; otherwise the same */
    double bound;
    size_t max_bytes;  /* of clips; 0: no limit */
    bool holds_shifts; /* holds joints still that move a little */
    th_interpolation interpolation;
    th_program program;
    const char *quat_obstacle;       /* why program.quat is NULL */
    const char *quat16_obstacle;     /* the same, or why 16 bytes are too few */
    const th_compiled_track *tracks; /* in the order of the ops that have keys */
    uint32_t track_count;
    const uint32_t *weight_entries; /* those of weights that a clip moves, ascending; 0 is the first after the bones */
    uint32_t weight_entry_count;
    const uint32_t *socket_joints; /* as the caller gave them */
    th_socket *sockets;            /* of these */
    uint32_t socket_count;
    th_repertoire *repertoire; /* may be NULL */
    const th_mask *masks;      /* borrowed, or those of the repertoire */
    uint32_t mask_count;
    const float **mask_weights;       /* by mask, then ones: by op, whole blocks, aligned to 16 */
    th_compiled_clip *compiled_clips; /* the model's clips, then the rest pose */
    th_clip_report *reports;          /* of the same clips */
    th_arena *arena;
};

/* Number of keys that a joint has in a frame. flags: of its op. */
static inline uint32_t th_joint_keys(uint16_t flags)
{
    return (uint32_t)__builtin_popcount(flags & (TH_JOINT_OP_ROTATION | TH_JOINT_OP_SCALE | TH_JOINT_OP_TRANSLATION));
}

/* Palette entries that hold the morph weights of a model, twelve each. Their keys come last in a frame. */
static inline uint32_t th_weights_entries(const th_model *model)
{
    return th_palette_entries(0, model->weight_count);
}

/* Numbers in a frame. */
static inline size_t th_frame_numbers(const th_program *program)
{
    return program->frame_bytes / th_keys_bytes(program->keys) * TH_KEY;
}

/* Whether a curve needs the frames before and after its interval. */
static inline bool th_is_cubic(const th_program *program)
{
    return program->curve == TH_INTERPOLATION_CUBIC;
}

/* Number of frames of a compiled clip: the ends of the intervals, and two beyond them for CUBIC. */
static inline uint32_t th_frames_count(const th_program *program, uint32_t intervals)
{
    return intervals + 1 + (th_is_cubic(program) ? 2 : 0);
}

/* Files store times in single precision. In a stepped clip each frame begins early by this part of the time since 0, so
 * that a key shows at its nominal time and at its stored time. */
#define TH_TIME_ROUNDING 0x1p-22

/* The stretch at `ratio` of the clip's length. A binary search without branches. */
static inline const th_stretch *th_compiled_clip_stretch(const th_compiled_clip *compiled_clip, double ratio)
{
    const th_stretch *stretch = compiled_clip->stretches;
    for (uint32_t step = TH_MAX_STRETCHES / 2; step > 0; step /= 2)
        stretch += ratio >= stretch[step].begin ? step : 0;
    return stretch;
}

/* The interval at `ratio` of the clip's length, in [0, 1], and how far into it that is. */
static inline uint32_t th_compiled_clip_interval(const th_compiled_clip *compiled_clip, double ratio, float *alpha)
{
    const th_stretch *stretch = compiled_clip->stretches;
    double at = ratio * stretch->rate;
    if (compiled_clip->seeks_stretch) {
        stretch = th_compiled_clip_stretch(compiled_clip, ratio);
        at = (ratio - stretch->begin) * stretch->rate + stretch->first_frame;
    }
    uint32_t last = stretch->last_frame - 1, interval = at < (double)last ? (uint32_t)at : last;
    *alpha = compiled_clip->is_stepped ? 0 : (float)(at - interval);
    return interval;
}

/* Points a lane at the keys there. */
static inline void th_compiled_clip_seek(const th_compiled_clip *compiled_clip, size_t frame_bytes, double ratio,
                                         th_lanes *lanes, uint32_t lane)
{
    float alpha;
    const uint32_t interval = th_compiled_clip_interval(compiled_clip, ratio, &alpha);
    th_lanes_set(lanes, lane, compiled_clip->keys + (size_t)interval * frame_bytes, alpha);
}

#endif

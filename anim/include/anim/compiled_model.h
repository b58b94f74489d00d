/* A compiled model: a model prepared for playback. Joints become a list of joint ops that a kernel runs front to back,
 * clips are resampled at equal distances, or in a few stretches with a distance each, so that seeking takes no search
 * through keys, and what never moves is stored once.
 *
 * Immutable after creation; threads may share it. It borrows the model, which must outlive it. */
#ifndef THRONG_ANIM_COMPILED_MODEL_H
#define THRONG_ANIM_COMPILED_MODEL_H

#include <anim/interpolation.h>
#include <anim/keys.h>
#include <anim/layer.h>
#include <anim/model.h>
#include <anim/palette.h>
#include <anim/repertoire.h>
#include <core/api.h>

TH_API_BEGIN

typedef enum th_sampling {
    TH_SAMPLING_COMPILED = 0, /* compiled clips; exact ones where the error bound cannot be met */
    TH_SAMPLING_EXACT,        /* authored keys for all clips */
} th_sampling;

/* Reference scale for errors, a human of 1.8 m. Errors are measured at virtual vertices TH_SHELL_M from each joint and
 * bounded by TH_DEFAULT_BOUND_M; both scale with model size / TH_REFERENCE_SIZE_M. The bound holds in layers that
 * override, too: where a clip scales joints to less than half of what they have elsewhere, it is measured with that
 * scale as well. A layer that adds brings its own error, up to twice. */
#define TH_REFERENCE_SIZE_M 1.8
#define TH_SHELL_M          0.03
#define TH_DEFAULT_BOUND_M  0.0001

/* Calls fn with each of [0, count), in any order and on any threads, and returns when all calls have returned. */
typedef void th_parallel_fn(uint32_t count, void (*fn)(uint32_t item, void *ctx), void *ctx, void *parallel_ctx);

typedef struct th_compiled_model_desc {
    const th_model *model; /* required */
    th_sampling sampling;
    /* Evaluated twice: between authored keys when a clip is resampled, and between resampled keys when it is played.
     * bound_m limits the error of the second.
     * AUTHORED compiles clips for NLERP, the fastest smooth mode. A clip whose moving tracks all step becomes frames on
     * a regular grid that has the times of its keys, each held until the next. */
    th_interpolation interpolation;
    th_keys keys;     /* of compiled clips */
    size_t max_bytes; /* of compiled clips, about; those for which no room is left play exact; 0: no limit */
    double bound_m;   /* finite; largest error of a compiled clip, for a model of 1.8 m; 0 = TH_DEFAULT_BOUND_M */
    /* Not negative; 0 = 1. Times of the default limit on the work of measuring errors, a few seconds; clips beyond it
     * are played exact. Work instead of time, so that the result does not depend on the machine. */
    double effort;
    /* Joints whose model-space matrices crowds write (th_crowd_pose_layers), with a bone or without, in this order;
     * may repeat; copied. Errors are measured at them, too. Palettes stay as they are, unless a clip needs more frames
     * for that, or more work or memory than it may take; and scaled joints above sockets rule out quaternion palettes,
     * as above bones. */
    const uint32_t *sockets;
    uint32_t socket_count;
    const th_mask *masks; /* that layers may name; borrowed, as the model */
    uint32_t mask_count;  /* at most TH_MAX_MASKS */
    bool repertoire;      /* finds the repertoire, whose masks take the place of `masks` */
    bool in_place; /* clips that walk and carry the model away (TH_ROOT_MOTION_BAKED) do not carry it: their root stays
                      where it began, so that they can be gaits. th_compiled_model_source has them like this */
    /* Of a joint level: its source, compiled with in_place, which decides for both; borrowed meanwhile. NULL: none. */
    const struct th_compiled_model *in_place_as;
    th_parallel_fn
        *parallel; /* compiles several clips at a time, to the same result; not with max_bytes; may be NULL */
    void *parallel_ctx;
} th_compiled_model_desc;

typedef struct th_compiled_model th_compiled_model;

/* Result of compiling one clip. Lengths are in scene units, times in seconds. */
typedef struct th_clip_report {
    bool compiled;          /* false: played exact; `reason` says why */
    const char *reason;     /* static storage; "" when compiled */
    uint32_t frame_count;   /* from 0 to the duration, both included */
    uint32_t stretch_count; /* parts with a frame rate of their own, at most 16; 1: frames at equal distances */
    double rate_hz;         /* frames per second, on average */
    size_t bytes;           /* of compiled keys */
    size_t raw_bytes;       /* of the authored keys: times, values and tangents, or all of curves; as 4-byte numbers */
    double max_error;       /* measured on and between keys; compiled clips only */
    uint32_t error_joint;   /* joint of max_error */
    double error_time_s;    /* time of max_error */
} th_clip_report;

/* Errors: TH_ERR_MEMORY; TH_ERR_USAGE if a socket is no joint of the model. The caller frees *out with
 * th_compiled_model_destroy. */
th_result th_compiled_model_create(const th_compiled_model_desc *desc, th_compiled_model **out, th_error *err);
void th_compiled_model_destroy(th_compiled_model *compiled);

const th_model *th_compiled_model_source(const th_compiled_model *compiled);
double th_compiled_model_bound(const th_compiled_model *compiled); /* in scene units */
th_interpolation th_compiled_model_interpolation(const th_compiled_model *compiled);
const th_repertoire *th_compiled_model_repertoire(const th_compiled_model *compiled); /* NULL: not asked for */
const th_mask *th_compiled_model_masks(const th_compiled_model *compiled);            /* that layers name */
const th_clip_report *th_compiled_model_clip_report(const th_compiled_model *compiled, uint32_t clip);
const uint32_t *th_compiled_model_sockets(const th_compiled_model *compiled, uint32_t *count);
uint32_t th_compiled_model_exact_clips(
    const th_compiled_model *compiled); /* clips that are not compiled: they cost many times as much */
/* Why its palettes cannot have this format, such as "joint Hips is scaled, sheared or mirrored". NULL: they can. */
const char *th_compiled_model_obstacle(const th_compiled_model *compiled, th_format palette);
size_t th_compiled_model_bytes(const th_compiled_model *compiled);          /* memory that the compiled model owns */
double th_compiled_model_bytes_per_clip(const th_compiled_model *compiled); /* mean of the clips that are compiled; NAN
                                                                               if none is */

TH_API_END

#endif

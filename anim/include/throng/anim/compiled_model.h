/* A rig: a model compiled for playing. Joints become a list of steps that a kernel walks front to back, clips are
 * resampled so that finding a key is one multiply, and everything that never moves is stored once.
 *
 * Immutable once created: share between threads. The model is borrowed and must outlive the rig. */
#ifndef THRONG_ANIM_COMPILED_MODEL_H
#define THRONG_ANIM_COMPILED_MODEL_H

#include <throng/anim/interpolation.h>
#include <throng/anim/keys.h>
#include <throng/anim/model.h>

typedef enum th_sampling {
    TH_SAMPLING_COMPILED = 0, /* compiled where the error bound can be met, exact where it cannot */
    TH_SAMPLING_EXACT,        /* authored keys throughout */
} th_sampling;

/* A human of 1.8 m is the measure of all models: errors are taken at a virtual vertex this far from its joint, and
 * bounded by this much, both scaled by model size / 1.8 m. */
#define TH_REFERENCE_SIZE_M 1.8
#define TH_SHELL_M          0.03
#define TH_DEFAULT_BOUND_M  0.0001

typedef struct th_rig_desc {
    const th_model *model; /* required */
    th_sampling sampling;
    /* Between authored keys, and again between compiled ones: the bound is on what the second adds. AUTHORED clips are
     * compiled for NLERP, the fastest that turns smoothly; but those whose tracks step, all that move, to frames at the
     * times of their keys, which hold until the next one. */
    th_interpolation interpolation;
    th_keys keys;   /* of compiled clips */
    double bound_m; /* largest error of a compiled clip for a model of 1.8 m; 0 = TH_DEFAULT_BOUND_M */
} th_rig_desc;

typedef struct th_rig th_rig;

/* What compiling made of one clip. Lengths are in scene units; times in seconds. */
typedef struct th_clip_report {
    bool compiled;        /* false: played exact; `reason` says why */
    const char *reason;   /* static storage; "" when compiled */
    uint32_t frame_count; /* at equal distances from 0 to the duration, both ends included */
    double rate_hz;       /* frames a second */
    size_t bytes;         /* of compiled keys */
    size_t raw_bytes;     /* of the authored keys: a time, its value and its tangents, as 4-byte numbers */
    double max_error;     /* measured at points between and on keys; compiled clips only */
    uint32_t error_joint; /* where */
    double error_time_s;  /* and when */
} th_clip_report;

/* TH_ERR_MEMORY is all that can go wrong. */
th_result th_rig_create(const th_rig_desc *desc, th_rig **out, th_error *err);
void th_rig_destroy(th_rig *rig);

const th_model *th_rig_model(const th_rig *rig);
double th_rig_bound(const th_rig *rig); /* in scene units */
th_interpolation th_rig_interpolation(const th_rig *rig);
const th_clip_report *th_rig_clip_report(const th_rig *rig, uint32_t clip);
uint32_t th_rig_exact_clips(const th_rig *rig); /* how many clips are not compiled: they cost many times as much */
size_t th_rig_bytes(const th_rig *rig);         /* everything the rig holds */

#endif

/* Holds palettes against a reference: a fast wrong answer must not pass for a good one.
 *
 * The error of a palette entry is how far a point of the mesh lands from where it should: the joint itself, and points
 * TH_SHELL_M around it (on a model of 1.8 m; scaled with the model), in scene units. */
#ifndef THRONG_BENCH_VALIDATE_H
#define THRONG_BENCH_VALIDATE_H

#include <throng/core/api.h>
#include <throng/runtime/scene.h>

TH_API_BEGIN

/* A compiled clip may miss its bound by a quarter: the compiler measures it at many points, but not at this one. Beyond
 * that, single precision may cost this much of the model's size and of the distance from the origin; half as much was
 * too little for the tutorials' way on a joint that turns by nearly 180 degrees between two keys. Palettes in half
 * precision may be off by its rounding as well. */
#define TH_VALIDATE_BOUND_FACTOR 1.25
#define TH_VALIDATE_ROUNDING     2e-5

/* Where a clip jumps within this part of the time into it, what is on either side of the jump passes: files have times
 * in single precision, and compiled clips are played accordingly. */
#define TH_VALIDATE_TIME_ROUNDING 0x1p-21

/* Zero to begin with; th_validate_palettes keeps the worst of all calls. */
typedef struct th_validation {
    double max_error;  /* scene units */
    double excess;     /* largest error / what is allowed there; above 1 the validation has failed */
    uint32_t instance; /* where that was */
    uint32_t joint;
    double allowed; /* scene units, there */
} th_validation;

typedef struct th_validation_desc {
    const th_scene *scene;
    const th_crowd *crowd; /* made from the scene */
    const void *palette;   /* of the crowd at */
    double time_s;
    uint32_t sample; /* at most so many instances are looked at, spread over the crowd */
    /* What to hold them against: f32 palettes of the same crowd, itself f32, that must agree up to rounding. NULL: the
     * double-precision evaluation of the authored keys, interpolated as the scene's compiled models say, */
    const void *reference;
    bool as_authored; /* or as the file says; then only max_error means anything */
} th_validation_desc;

th_result th_validate_palettes(const th_validation_desc *desc, th_validation *validation, th_error *err);

TH_API_END

#endif

/* Holds palettes against a reference: a fast wrong answer must not pass for a good one.
 *
 * The error of a palette entry is how far a point of the mesh lands from where it should: the joint itself, and points
 * TH_SHELL_M around it (on a model of 1.8 m; scaled with the model), in scene units. */
#ifndef THRONG_CHECK_H
#define THRONG_CHECK_H

#include <throng/scene.h>

/* A compiled clip may miss its bound by a quarter: the compiler measures it at many points, but not at this one. Beyond
 * that, single precision may cost this much of the model's size and of the distance from the origin; half as much was
 * too little for the tutorials' way on a joint that turns by nearly 180 degrees between two keys. Palettes in half
 * precision may be off by its rounding as well. */
#define TH_CHECK_BOUND_FACTOR 1.25
#define TH_CHECK_ROUNDING     2e-5

/* Zero to begin with; th_check_palettes keeps the worst of all calls. */
typedef struct th_check {
    double max_error;  /* scene units */
    double excess;     /* largest error / what is allowed there; above 1 the check has failed */
    uint32_t instance; /* where that was */
    uint32_t joint;
    double allowed; /* scene units, there */
} th_check;

/* Checks the palettes of `crowd` (made from `scene`) at time_s, for up to `sample` instances spread over the crowd.
 * reference: f32 palettes of the same crowd, which is f32 as well, that must agree up to rounding; NULL: the double-precision evaluation of
 * the authored keys. */
th_result th_check_palettes(const th_scene *scene, const th_crowd *crowd, const void *palette, const void *reference,
                            double time_s, uint32_t sample, th_check *check, th_error *err);

#endif

/* The embedded character: a human of our own, built by code, so that the program has something to animate without any
 * file. 1.8 m tall, facing +Z, left hand at +X, feet on Y = 0, in metres; rigid (no scale anywhere). */
#ifndef THRONG_ANIM_HUMAN_H
#define THRONG_ANIM_HUMAN_H

#include <throng/anim/model.h>

#define TH_HUMAN_NAME "human"

/* The clips stay in place; over the ground, these are the speeds at which the standing foot does not slide, m/s. */
#define TH_HUMAN_WALK_SPEED 1.2
#define TH_HUMAN_JOG_SPEED  2.2
#define TH_HUMAN_RUN_SPEED  3.2

/* Same bytes on every call. The caller frees it with th_model_free. */
th_result th_human_create(th_model **out, th_error *err);

#endif

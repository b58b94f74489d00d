/* The embedded human, for use without a model file. 1.8 m tall, in metres, facing +Z, left hand at +X,
 * feet on Y = 0, without scale. */
#ifndef THRONG_ANIM_HUMAN_H
#define THRONG_ANIM_HUMAN_H

#include <anim/model.h>
#include <core/api.h>

TH_API_BEGIN

#define TH_HUMAN_NAME "human"

/* The clips walk in place. At these speeds over the ground, in m/s, the standing foot does not slide. */
#define TH_HUMAN_WALK_SPEED 1.2
#define TH_HUMAN_JOG_SPEED  2.2
#define TH_HUMAN_RUN_SPEED  3.2

/* The same bytes on every call and everywhere. TH_ERR_MEMORY. The caller frees *out with th_model_destroy. */
th_result th_human_create(th_model **out, th_error *err);

TH_API_END

#endif

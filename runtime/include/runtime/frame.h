/* A frame: who posed whom, and what they played. */
#ifndef THRONG_RUNTIME_FRAME_H
#define THRONG_RUNTIME_FRAME_H

#include <throng/throng.h>

#include <anim/behaviour.h>
#include <anim/crowd.h>
#include <jobs/jobs.h>

#define TH_FRAME_DEFAULT_GRAIN   2u
#define TH_FRAME_BEHAVIOUR_GRAIN 8u /* with a behaviour, if there are enough batches */

/* Frames per second of scene time, wherever frames are numbered. */
#define TH_FRAME_RATE 60.0

/* th_frame_create with a behaviour of the crowd's instances; borrowed; NULL: each plays its own clip. */
th_result th_frame_create_with(const th_frame_desc *desc, const th_behaviour *behaviour, th_frame **out, th_error *err);

/* What the active instances have played in the last th_frame_run. NULL: their own clips, or nothing yet. */
const th_crowd_layers *th_frame_layers(const th_frame *frame);

/* Returns the worker (0: the calling thread) that wrote the palette of this instance in the last th_frame_run. The
 * instance must be active, and the active instances unchanged since. */
uint32_t th_frame_worker(const th_frame *frame, uint32_t instance);

/* Called on a worker before and after it poses characters of a frame, once or several times a frame. */
typedef struct th_frame_observer {
    void (*begin)(void *ctx, uint32_t worker);
    void (*end)(void *ctx, uint32_t worker);
    void *ctx;
} th_frame_observer;

/* Observes the workers of the next frames; NULL ends that. The observer is copied. Frames without one pay nothing. */
void th_frame_observe(th_frame *frame, const th_frame_observer *observer);

#endif

/* A frame: animates a crowd on a thread pool into palette memory.
 *
 * Joins a crowd and a pool; anim and jobs do not know each other. th_frame_create allocates everything;
 * th_frame_run allocates nothing. */
#ifndef THRONG_RUNTIME_FRAME_H
#define THRONG_RUNTIME_FRAME_H

#include <anim/behaviour.h>
#include <anim/crowd.h>
#include <core/api.h>
#include <jobs/jobs.h>

TH_API_BEGIN

#define TH_FRAME_DEFAULT_GRAIN   2u
#define TH_FRAME_BEHAVIOUR_GRAIN 8u /* with a behaviour, if there are enough batches */

/* Frames per second of scene time, wherever frames are numbered. */
#define TH_FRAME_RATE 60.0

typedef struct th_frame_desc {
    const th_crowd *crowd;         /* required; borrowed */
    th_jobs *jobs;                 /* required; borrowed */
    uint32_t grain;                /* batches per chunk; 0 = as above */
    const th_behaviour *behaviour; /* of the crowd's instances; borrowed; NULL: each plays its own clip */
    bool workers;                  /* records which worker posed each batch, for th_frame_worker */
} th_frame_desc;

typedef struct th_frame th_frame;

/* Has room for any active instances of the crowd. The only error is TH_ERR_MEMORY. */
th_result th_frame_create(const th_frame_desc *desc, th_frame **out, th_error *err);
void th_frame_destroy(th_frame *frame);

/* Writes the palettes of all active instances at time_s and returns when they are complete. palette:
 * th_crowd_palette_bytes, aligned to 64. One call at a time. */
void th_frame_run(th_frame *frame, double time_s, void *palette);

/* What the active instances have played in the last th_frame_run. NULL: their own clips, or nothing yet. */
const th_crowd_layers *th_frame_layers(const th_frame *frame);

/* Matrices of the sockets of an instance, 12 floats each (th_crowd_pose_layers): of the last th_frame_run that
 * posed it by itself, 0 before that. NULL: its compiled model has none. Valid until the next. */
const float *th_frame_sockets(const th_frame *frame, uint32_t instance);

/* Returns the worker (0: the calling thread) that wrote the palette of this instance in the last th_frame_run. The
 * instance must be active, and the active instances unchanged since. Requires th_frame_desc.workers. */
uint32_t th_frame_worker(const th_frame *frame, uint32_t instance);

/* Called on a worker before and after it poses characters of a frame, once or several times a frame. */
typedef struct th_frame_observer {
    void (*begin)(void *ctx, uint32_t worker);
    void (*end)(void *ctx, uint32_t worker);
    void *ctx;
} th_frame_observer;

/* Observes the workers of the next frames; NULL ends that. The observer is copied. Frames without one pay nothing. */
void th_frame_observe(th_frame *frame, const th_frame_observer *observer);

/* th_jobs_create with a th_error: TH_ERR_MEMORY or TH_ERR_ENVIRONMENT. */
th_result th_threads_create(const th_jobs_desc *desc, th_jobs **out, th_error *err);

/* Allocates palette memory for a crowd. Pages are not touched, so on a NUMA machine each page is placed near the worker
 * that first writes it. Returns TH_ERR_MEMORY if the machine has not enough memory. The caller releases *out with
 * free(). */
th_result th_palette_create(const th_crowd *crowd, void **out, th_error *err);

TH_API_END

#endif

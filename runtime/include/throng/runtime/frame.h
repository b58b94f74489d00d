/* A frame: animates a crowd on a pool of threads into palette memory.
 *
 * The only place that sees the crowd and the pool together. Everything is allocated when it is created; a frame
 * allocates nothing. */
#ifndef THRONG_RUNTIME_FRAME_H
#define THRONG_RUNTIME_FRAME_H

#include <throng/anim/crowd.h>
#include <throng/jobs/jobs.h>
#include <throng/runtime/tracer.h>

#define TH_FRAME_DEFAULT_GRAIN 2u

/* Frames in a second of the scene, wherever frames are numbered. */
#define TH_FRAME_RATE 60.0

typedef enum th_stages {
    TH_STAGES_FUSED = 0, /* keys to palettes in one pass */
    TH_STAGES_SEPARATE,  /* all poses, and when the last is there, all palettes: slower, but each stage can be timed */
    TH_STAGES_COUNT,
} th_stages;

/* "fused", "separate". */
const char *th_stages_name(th_stages stages);

typedef struct th_frame_desc {
    const th_crowd *crowd; /* required; borrowed */
    th_jobs *jobs;         /* required; borrowed */
    uint32_t grain;        /* batches in a chunk of work; 0 = TH_FRAME_DEFAULT_GRAIN */
    th_stages stages;      /* separate ones take memory for the poses of the whole crowd */
    bool workers;          /* remembers who posed whom, for th_frame_worker */
} th_frame_desc;

typedef struct th_frame th_frame;

th_result th_frame_create(const th_frame_desc *desc, th_frame **out, th_error *err);
void th_frame_destroy(th_frame *frame);

/* Writes the palettes of the whole crowd at time_s and returns when they are there. palette: th_crowd_palette_bytes,
 * aligned to 64. One call at a time. */
void th_frame_animate(th_frame *frame, double time_s, void *palette);

/* The worker (0: the thread that called) that wrote this instance's palette in the last th_frame_animate, which is one
 * of those that the crowd has shown since. Only with th_frame_desc.workers. */
uint32_t th_frame_worker(const th_frame *frame, uint32_t instance);

/* How long separate stages took, all frames since the frame was created together; 0 for fused ones. */
typedef struct th_stage_times {
    uint64_t sample_ns, resolve_ns;
} th_stage_times;

th_stage_times th_frame_stage_times(const th_frame *frame);

/* From now on separate stages are spans of the tracer (NULL: of none), which the calling thread must be the main one
 * of. */
void th_frame_trace(th_frame *frame, th_tracer *tracer);

/* th_jobs_create, with its errors in words. */
th_result th_threads_create(const th_jobs_desc *desc, th_jobs **out, th_error *err);

/* Palette memory for a crowd, not yet touched, so that on a NUMA machine a page ends up near the worker that writes it
 * first. TH_ERR_MEMORY when it does not fit the machine. The caller frees it with free(). */
th_result th_palette_create(const th_crowd *crowd, void **out, th_error *err);

#endif

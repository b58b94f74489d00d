/* The scaling study: the same crowd on more and more threads, and what stops it.
 *
 * Every thread count writes the same palettes into the same memory, checked before anything is timed; repetitions of
 * all counts take turns. A repetition lies between th_jobs_frame_begin and th_jobs_frame_end, and begins with a frame
 * that is not timed: so workers are awake, as a program that draws would find them. In the end each count runs one more
 * frame, not timed, of which every chunk is recorded. */
#ifndef THRONG_SCALE_H
#define THRONG_SCALE_H

#include <throng/frame.h>
#include <throng/measure.h>
#include <throng/scene.h>

typedef struct th_scale_desc {
    th_scene_desc scene;
    th_isa isa;
    th_palette palette;
    th_scheduler scheduler;
    th_placement placement;
    uint32_t grain;          /* as th_frame_desc */
    th_stages stages;        /* likewise */
    const uint32_t *threads; /* ascending; NULL: as th_scale_threads */
    uint32_t thread_count;
    th_measure_desc measure;
} th_scale_desc;

/* Thread counts worth comparing on `usable` CPUs: all up to 8, beyond that powers of two and the last. */
uint32_t th_scale_threads(uint32_t usable, uint32_t out[TH_JOBS_MAX_THREADS]);

typedef struct th_scale_point {
    double frame_ns;   /* median of the repetitions */
    double spread;     /* as th_stats_spread */
    double speed_up;   /* over the first point */
    double efficiency; /* speed-up / how many times the threads: 1.8 on 2 is 0.9; 1 is perfect */
    double busy;       /* share of all threads' time that went into posing */
    double tail;       /* share that threads with nothing left to do waited for the last one of the frame */
    double work_ns;    /* time inside the work, all threads together, a frame; grows when they hinder each other */
} th_scale_point;

typedef struct th_scale {
    th_report report; /* one row for each thread count: */
    th_scale_point *points;
    th_isa isa; /* that really ran */
    th_palette palette;
    th_scheduler scheduler;
    th_placement placement; /* none where the scheduler takes none */
    uint32_t grain;
    th_stages stages;
} th_scale;

/* Checks, then times. A row says so when its palettes are wrong or differ from those of the first. th_scale_fini in the
 * end when TH_OK. */
th_result th_scale_run(const th_scale_desc *desc, th_scale *out, th_error *err);
void th_scale_fini(th_scale *scale);

/* One or two plain sentences: how well it scales, and what limits it where the counters show that. Returns out. */
char *th_scale_verdict(const th_scale *scale, char *out, size_t size);

/* The study for people, as text or Markdown. False when memory is out. */
bool th_scale_print(const th_scale *scale, th_format format, FILE *file);

#endif

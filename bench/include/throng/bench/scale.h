/* The scaling study: the same crowd on more and more threads, and what stops it.
 *
 * Every thread count writes the same palettes into the same memory, checked before anything is timed; repetitions of
 * all counts take turns. A repetition lies between th_jobs_frame_begin and th_jobs_frame_end, and begins with a frame
 * that is not timed: so workers are awake, as a program that draws would find them. In the end each count runs one more
 * frame, not timed, of which every chunk is recorded.
 *
 * Several schedulers, crowd sizes or grains give a curve each. Of the first curve more is found out: frames of which a
 * part is left out, in turns with the whole ones, and what memory can do, afterwards. From these comes the bottleneck.
 */
#ifndef THRONG_BENCH_SCALE_H
#define THRONG_BENCH_SCALE_H

#include <throng/bench/fit.h>
#include <throng/bench/measure.h>
#include <throng/core/api.h>
#include <throng/runtime/frame.h>
#include <throng/runtime/scene.h>
#include <throng/runtime/tracer.h>

TH_API_BEGIN

/* Lists that are NULL have one value. */
typedef struct th_scale_desc {
    th_scene_desc scene;
    th_isa isa;
    th_palette palette;
    th_placement placement;
    th_stages stages;               /* as th_frame_desc */
    const th_scheduler *schedulers; /* NULL: TH_SCHEDULER_WORK_STEALING */
    const uint32_t *counts;         /* characters; NULL: scene.instance_count */
    const uint32_t *grains;         /* as th_frame_desc; NULL: 0 */
    const uint32_t *threads;        /* ascending; NULL: as th_scale_threads */
    uint32_t scheduler_count, count_count, grain_count, thread_count;
    size_t memory_bytes; /* of the block whose bandwidth is measured; 0: as th_bandwidth_default_bytes */
    th_measure_desc measure;
    th_tracer *tracer; /* NULL, or gets some more frames of each row, not timed */
} th_scale_desc;

/* Thread counts worth comparing on `usable` CPUs: all up to 8, beyond that powers of two and the last. */
uint32_t th_scale_threads(uint32_t usable, uint32_t out[TH_JOBS_MAX_THREADS]);

/* ---- points and curves ---- */

/* Zero but for the number of threads where the row has a failure. */
typedef struct th_scale_point {
    uint32_t threads;
    bool oversubscribed; /* more threads than usable CPUs: they take turns, and the point is in no fit or bottleneck */
    double frame_ns;     /* median of the repetitions */
    double relative_mad; /* as th_stats_relative_mad */
    double speed_up;     /* over the first point of the curve */
    double efficiency;   /* speed-up / how many times the threads: 1.8 on 2 is 0.9; 1 is perfect */
    double karp_flatt;   /* as th_fit_karp_flatt; NaN for the first point */
    double busy;         /* share of all threads' time in calls that went into posing */
    double idle_at_end;  /* share that threads with nothing left to do waited for the last one of the frame */
    double serial;       /* share of the frame outside of calls, when one thread ran */
    double imbalance;    /* time in the work of the busiest worker / the mean - 1, over all frames */
    double work_ns;      /* time inside the work, all threads together, a frame; grows when they hinder each other */
} th_scale_point;

/* The same crowd, scheduler and grain on more and more threads. */
typedef struct th_scale_curve {
    th_scheduler scheduler;
    uint32_t characters, grain;
    uint32_t first, count; /* of its points, and their rows */
    th_fit fits[TH_FIT_LAW_COUNT];
} th_scale_curve;

/* ---- what is left of a frame when a part of it is left out ---- */

typedef enum th_ablation {
    TH_ABLATION_NO_WRITE = 0, /* poses in full, the palettes of a batch over those of the one before: in the cache */
    TH_ABLATION_NO_HIERARCHY, /* keys sampled as in the next, then palettes filled with a constant */
    TH_ABLATION_SAMPLING,     /* transforms relative to the parents, over those of the batch before */
    TH_ABLATION_WRITE,        /* palettes filled with a constant */
    TH_ABLATION_EMPTY,        /* as many chunks, nothing done in them */
    TH_ABLATION_COUNT,
} th_ablation;

/* "no_palette_write", "no_hierarchy", "sampling", "write", "empty". */
const char *th_ablation_name(th_ablation ablation);

typedef struct th_scale_parts {
    uint32_t threads;
    double frame_ns[TH_ABLATION_COUNT]; /* medians */
    double work_ns[TH_ABLATION_COUNT];  /* as that of a point */
} th_scale_parts;

/* ---- memory ---- */

typedef enum th_bandwidth_kind {
    TH_BANDWIDTH_WRITE = 0,
    TH_BANDWIDTH_READ,
    TH_BANDWIDTH_STREAM, /* writes past the caches; not every build has it */
    TH_BANDWIDTH_COUNT,
} th_bandwidth_kind;

/* "write", "read", "streaming_write". */
const char *th_bandwidth_kind_name(th_bandwidth_kind kind);

/* Four times all last-level caches, so that next to nothing is still there on the next pass (J. McCalpin, STREAM:
 * Sustainable Memory Bandwidth in High Performance Computers, 1995), but at most an eighth of the memory, half of what
 * is available, and 2 GiB. */
size_t th_bandwidth_default_bytes(const th_context *context);

/* Bytes that the program moves: that an ordinary write makes the CPU read the line first is not counted. */
typedef struct th_scale_memory {
    uint32_t threads;
    double bytes_per_s[TH_BANDWIDTH_COUNT]; /* NaN where this build has no such instruction */
} th_scale_memory;

/* ---- the bottleneck ---- */

typedef enum th_bottleneck_kind {
    TH_BOTTLENECK_UNCLEAR = 0,
    TH_BOTTLENECK_COMPUTE, /* next to nothing is lost: more CPUs, or a quicker kernel */
    TH_BOTTLENECK_MEMORY,  /* the same work takes longer, unless its results stay in the cache; or writing is most of it
                            */
    TH_BOTTLENECK_CORES,   /* the same work takes longer even in the cache: cores with several threads, or the clock */
    TH_BOTTLENECK_IMBALANCE,     /* threads wait for the last one to end its part */
    TH_BOTTLENECK_WAKE_UPS,      /* threads wait for something to do */
    TH_BOTTLENECK_SERIAL,        /* threads wait while one works outside of calls */
    TH_BOTTLENECK_CPUS,          /* there are no more CPUs */
    TH_BOTTLENECK_EXTERNAL_LOAD, /* other programs used them */
    TH_BOTTLENECK_COUNT,
} th_bottleneck_kind;

/* "unclear", "compute", "memory", "cores", "imbalance", "wake_ups", "serial", "cpus", "others". */
const char *th_bottleneck_kind_name(th_bottleneck_kind limit);

/* All that the bottleneck looks at. */
typedef struct th_bottleneck_input {
    uint32_t usable_cpus, most_threads; /* most: measured, oversubscribed or not */
    uint32_t fastest_threads;           /* of those points that have a CPU for each thread */
    double external_cpu_load;           /* as th_interference */
    uint64_t characters;
    double palette_bytes;      /* written in a frame */
    th_scale_point base, last; /* the first, and the one with most threads that have a CPU each; may be the same */
    th_scale_parts base_parts, parts; /* of these */
    th_scale_memory memory;           /* on the threads of the last */
} th_bottleneck_input;

typedef struct th_bottleneck {
    th_bottleneck_kind kind;
    double lost;                        /* share of the threads' time: 1 - efficiency of the last point */
    double losses[TH_BOTTLENECK_COUNT]; /* of that, as far as it is explained; may add up to less or more */
    char text[640];                     /* some plain sentences */
} th_bottleneck;

/* Depends on nothing else. */
void th_bottleneck_analyze(const th_bottleneck_input *figures, th_bottleneck *out);

/* ---- the study ---- */

typedef struct th_scale {
    /* A row for each point, in the order of the points; then for each ablation, and each kind. */
    th_report report;
    th_scale_point *points;
    th_scale_curve *curves;  /* by scheduler, then characters, then grain */
    th_scale_parts parts[2]; /* on the first and the most threads that have a CPU each; one if these are the same */
    th_scale_memory *memory; /* on each number of threads that have a CPU each */
    uint32_t point_count, curve_count, part_count, memory_count;
    uint64_t palette_bytes, memory_bytes; /* written in a frame of the first curve; the block that memory is about */
    th_bottleneck bottleneck;
    th_isa isa; /* that really ran */
    th_palette palette;
    th_placement placement; /* none where the scheduler takes none */
    th_stages stages;
} th_scale;

/* Checks, then times. A row says so when its palettes are wrong or differ from those of the first of as many
 * characters. th_scale_fini in the end when TH_OK. */
th_result th_scale_run(const th_scale_desc *desc, th_scale *out, th_error *err);
void th_scale_fini(th_scale *scale);

/* The report's document, and an object "scaling" beside its benchmarks, unless nothing was timed. NULL when memory is
 * out. */
json_t *th_scale_json(const th_scale *scale);

/* The study for people, as text or Markdown. False when memory is out. */
bool th_scale_print(const th_scale *scale, th_format format, FILE *file);

TH_API_END

#endif

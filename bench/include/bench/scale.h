/* The scaling experiment: the same crowd on more and more threads (strong scaling), or a crowd that grows with them
 * (weak scaling), how it scales, and the bottleneck.
 *
 * Every thread count writes the same palettes of a crowd to the same memory; they are checked before anything is timed.
 * Repetitions of all counts are interleaved. A repetition runs between th_jobs_frame_begin and th_jobs_frame_end and
 * begins with a frame that is not timed, so workers are awake as in an application that draws. Finally each count runs
 * one more frame, not timed, of which every chunk is recorded.
 *
 * Each scheduler, crowd size and grain gives a curve. For the first curve it also runs ablations, interleaved with full
 * frames, and afterwards measures memory bandwidth. The bottleneck follows from these.
 *
 * A first point of one thread is held against a loop: the same batches, without pool and frame, interleaved with the
 * rest. Where the loop is faster, speed-ups are against it.
 *
 * With sharing a frame also decides which characters share a pose, on the same threads. The frame of TH_VALIDATE_FRAME
 * says how many poses are evaluated; these count as characters, and ablations pose only them. Characters that show the
 * pose of another are counted apart. Palettes are checked against the exact evaluation at the time of their step.
 *
 * All subjects have one repetition in each round. Intervals (TH_CONFIDENCE) come from resampling whole rounds, so that
 * what slows a round down affects all subjects of a resample alike (a paired percentile bootstrap). They are of one
 * process; another one places memory elsewhere, which such intervals do not cover. th_scale_merge adds whole
 * experiments of other processes: all figures are then means over the processes, and intervals are Student's
 * (student.h). */
#ifndef THRONG_BENCH_SCALE_H
#define THRONG_BENCH_SCALE_H

#include <bench/counters.h>
#include <bench/fit.h>
#include <bench/measure.h>
#include <bench/pop.h>
#include <bench/result_file.h>
#include <runtime/frame.h>
#include <runtime/scene.h>
#include <runtime/tracer.h>

/* A list that is NULL has one value, the default. */
typedef struct th_scale_desc {
    th_scene_desc scene;
    th_isa isa;
    th_format palette;
    th_placement placement;
    double share_hz; /* steps per second in which characters share poses (sharing.h), all of them; 0: never */
    const th_scheduler *schedulers; /* NULL: TH_SCHEDULER_WORK_STEALING */
    const uint32_t *counts;         /* characters, of weak scaling a thread; NULL: scene.instance_count */
    const uint32_t *grains;         /* as th_frame_desc; NULL: 0 */
    const uint32_t *threads;        /* ascending; NULL: as th_scale_threads */
    uint32_t scheduler_count, count_count, grain_count, thread_count;
    bool is_weak;        /* the crowd grows with the threads; without TH_SCHEDULER_SERIAL, which has one */
    bool counters;       /* counts additional frames of each point, not timed */
    size_t memory_bytes; /* of the block whose bandwidth is measured; 0: as th_bandwidth_default_bytes */
    th_measure_desc measure;
    th_tracer *tracer; /* may be NULL; gets a few additional frames of each row, not timed */
} th_scale_desc;

/* Thread counts worth comparing on `usable` CPUs: all up to 8, beyond that powers of two and the last. */
uint32_t th_scale_threads(uint32_t usable, uint32_t out[TH_JOBS_MAX_THREADS]);

/* ---- points and curves ---- */

/* Zero except for `threads` and `characters` where the row has a failure. */
typedef struct th_scale_point {
    uint32_t threads;
    uint32_t characters; /* whose poses are evaluated, and */
    uint32_t shared;     /* more characters, which show one of these poses, in a fixed frame */
    double share_error; /* largest distance of what is shown from what characters play, scene units; 0: nobody shares */
    /* More threads than usable CPUs: they share them. Fits and the bottleneck ignore this point. */
    bool oversubscribed;
    double frame_ns;                 /* median of the repetitions */
    double relative_mad;             /* as th_stats_relative_mad */
    double speed_up;                 /* characters a second over those of the first point of the curve, or the loop */
    double efficiency;               /* speed-up / ratio of threads: 1.8 on 2 threads is 0.9; 1 is ideal */
    th_interval efficiency_interval; /* NaN for fewer than two repetitions; of the first point (1, 1) */
    double karp_flatt;               /* as th_fit_karp_flatt; NaN for the first point, and of weak scaling */
    double busy;                     /* share of all threads' time in calls that was spent on posing */
    double idle_at_end;              /* the same, of threads that had no work left and waited for the last one */
    double serial;                   /* share of the frame outside of calls, when only one thread runs */
    double imbalance;                /* work time of the busiest worker / the mean - 1, over all frames */
    double work_ns;                  /* work time of all threads in a frame; grows when they slow each other down */
    th_pop pop;
    th_counters counters;   /* of one frame; where th_scale.has_counters */
    th_hash128 palette_sum; /* of the checked frame, as th_crowd_sum: throng-mpi gets the same */
} th_scale_point;

/* The same crowd, scheduler and grain on more and more threads. */
typedef struct th_scale_curve {
    th_scheduler scheduler;
    uint32_t characters, grain;    /* characters: of weak scaling a thread */
    uint32_t first, count;         /* range of its points, and of their rows */
    th_fit fits[TH_FIT_LAW_COUNT]; /* of strong scaling */
} th_scale_curve;

/* ---- ablations: frames with a part left out ---- */

typedef enum th_ablation {
    TH_ABLATION_NO_WRITE = 0, /* poses in full; each batch overwrites the same palettes, in the cache */
    TH_ABLATION_NO_HIERARCHY, /* samples as TH_ABLATION_SAMPLING, then fills palettes with a constant */
    TH_ABLATION_SAMPLING,     /* samples local transforms; each batch overwrites the same memory */
    TH_ABLATION_WRITE,        /* fills palettes with a constant */
    TH_ABLATION_EMPTY,        /* the same chunks, with no work in them */
    TH_ABLATION_COUNT,
} th_ablation;

/* "no_palette_write", "no_hierarchy", "sampling", "write", "empty". */
const char *th_ablation_name(th_ablation ablation);

typedef struct th_scale_parts {
    uint32_t threads;
    double frame_ns[TH_ABLATION_COUNT];    /* medians */
    th_estimate shares[TH_ABLATION_COUNT]; /* of the whole frame at the same point */
    double work_ns[TH_ABLATION_COUNT];     /* as th_scale_point */
} th_scale_parts;

/* What one of several processes measured. */
typedef struct th_scale_process {
    th_scale_point *points;
    th_scale_parts parts[2];
} th_scale_process;

/* ---- memory ---- */

typedef enum th_bandwidth_kind {
    TH_BANDWIDTH_WRITE = 0,
    TH_BANDWIDTH_READ,
    TH_BANDWIDTH_STREAM, /* non-temporal writes; not in every build */
    TH_BANDWIDTH_COUNT,
} th_bandwidth_kind;

/* "write", "read", "streaming_write". */
const char *th_bandwidth_kind_name(th_bandwidth_kind kind);

/* Four times all last-level caches, so that almost nothing of it is still cached on the next pass (J. McCalpin, STREAM:
 * Sustainable Memory Bandwidth in High Performance Computers, 1995). At most an eighth of the memory, half of the
 * available memory, and 1 GiB. */
size_t th_bandwidth_default_bytes(const th_context *context);

/* Counts the bytes that the program reads or writes. An ordinary write makes the CPU read the line first, too; that is
 * not counted. */
typedef struct th_scale_memory {
    uint32_t threads;
    double bytes_per_s[TH_BANDWIDTH_COUNT]; /* NaN where this build has no such instruction */
} th_scale_memory;

/* ---- the bottleneck ---- */

typedef enum th_bottleneck_kind {
    TH_BOTTLENECK_UNCLEAR = 0,
    TH_BOTTLENECK_COMPUTE, /* almost no loss: use more CPUs, or a faster kernel */
    /* The same work takes longer unless its results stay in the cache, or most of a frame is writing. */
    TH_BOTTLENECK_MEMORY,
    /* The same work takes longer even in the cache: SMT threads share a core, or the clock falls. */
    TH_BOTTLENECK_CORES,
    TH_BOTTLENECK_IMBALANCE,     /* threads wait for the last one to finish */
    TH_BOTTLENECK_WAKE_UPS,      /* threads wait for work */
    TH_BOTTLENECK_SERIAL,        /* threads wait while one runs outside of calls */
    TH_BOTTLENECK_CPUS,          /* no more CPUs are usable */
    TH_BOTTLENECK_EXTERNAL_LOAD, /* other programs, the hypervisor or a quota took the CPUs: nothing can be said */
    TH_BOTTLENECK_COUNT,
} th_bottleneck_kind;

/* "unclear", "compute", "memory", "cores", "imbalance", "wake_ups", "serial", "cpus", "external_load". */
const char *th_bottleneck_kind_name(th_bottleneck_kind limit);

/* Everything that th_bottleneck_analyze uses. */
typedef struct th_bottleneck_input {
    uint32_t usable_cpus, most_threads; /* most_threads: measured, oversubscribed or not */
    uint32_t fastest_threads;           /* among the points that are not oversubscribed */
    th_interference interference;
    uint64_t characters;  /* of the last point */
    double palette_bytes; /* written in its frame */
    /* The first point, and the one with most threads that is not oversubscribed; may be the same. Work of the first one
     * is that of as many characters as the last one has. */
    th_scale_point base, last;
    th_scale_parts base_parts, parts; /* at base and at last */
    th_scale_memory memory;           /* at last */
} th_bottleneck_input;

typedef struct th_bottleneck {
    th_bottleneck_kind kind;
    bool is_impossible;                      /* the efficiency is above TH_REPORT_MAX_EFFICIENCY, or unknown */
    th_estimate speed_up, efficiency;        /* of the last point */
    th_estimate lost;                        /* share of the threads' time: 1 - efficiency of the last point */
    th_estimate losses[TH_BOTTLENECK_COUNT]; /* the explained parts of it; their sum may differ from `lost` */
    /* The weakest factor of the last point where more than noise is lost, and by this factor, whose interval excludes
     * 1; TH_POP_GLOBAL: none is named. */
    th_pop_factor factor;
    char text[1536]; /* the result in sentences */
} th_bottleneck;

/* Depends only on its arguments. samples: the same figures from resampled rounds, or of each process; without any,
 * intervals are NaN and nothing is concluded. Intervals are percentiles of resamples, or Student's over processes. A
 * loss is named as the bottleneck only if it is the largest in all resamples but (1 - TH_CONFIDENCE) / 2 of them, or in
 * so many processes that a sign test finds as little risk: in all of TH_BOTTLENECK_MIN_PROCESSES. */
enum { TH_BOTTLENECK_MAX_SAMPLES = 1000, TH_BOTTLENECK_MIN_PROCESSES = 6 };
void th_bottleneck_analyze(const th_bottleneck_input *figures, const th_bottleneck_input *samples, uint32_t count,
                           bool are_processes, th_bottleneck *out);

/* ---- the experiment ---- */

typedef struct th_scale {
    /* The rows: points in their order, then ablations, the loop, bandwidths. */
    th_report report;
    th_scale_point *points;
    th_scale_curve *curves; /* by scheduler, then characters, then grain */
    /* At the first point and at that with most threads that is not oversubscribed; one if these are the same. */
    th_scale_parts parts[2];
    th_scale_memory *memory;     /* for each number of threads that is not oversubscribed */
    th_scale_process *processes; /* [TH_REPORT_MAX_PROCESSES], report.process_count of them filled in; NULL for one */
    uint32_t point_count, curve_count, part_count, memory_count;
    bool is_weak, has_counters;
    bool has_loop; /* a row of it, behind the ablations: the first point has one thread */
    /* Written in a frame of the first curve's last point; and the size of the block whose bandwidth is measured. */
    uint64_t palette_bytes, memory_bytes;
    th_bottleneck bottleneck;
    th_isa isa; /* that was used */
    th_format palette;
    th_placement placement; /* TH_PLACEMENT_NONE where the scheduler ignores it */
    double share_hz;
} th_scale;

/* Checks, then times. A row has a failure when its palettes are wrong, or differ from those of the first row with as
 * many characters. Call th_scale_fini in the end if it returned TH_OK. */
th_result th_scale_run(const th_scale_desc *desc, th_scale *out, th_error *err);
void th_scale_fini(th_scale *scale);

/* Merges the result of another process that ran the same experiment: its rows as th_result_file_merge_into, and its
 * figures into their means. Workers and traces stay those of the first process. */
th_result th_scale_merge(th_scale *scale, const th_result_file *results, th_error *err);

/* The report's document with an additional object "scaling", left out when nothing was timed. NULL when memory is
 * out. */
json_t *th_scale_json(const th_scale *scale);

/* For people, as text or Markdown. False when memory is out. */
bool th_scale_print(const th_scale *scale, th_output_format format, FILE *file);

#endif

/* The stress test: the largest crowd whose frames meet a time budget (defined in capacity.h).
 *
 * Frames begin on the ticks of a fixed schedule whose period is the budget, and threads sleep until then. A frame is
 * timed from its tick until it ends. Counted are (th_capacity_ticks)
 *
 *   scheduled  ticks from the first frame of a run to the end of its last one. Each is either run or missed
 *   run        frames, one on each tick that is not missed
 *   late       frames that ended after the next tick, which is their deadline
 *   missed     ticks that passed before the last frame had ended, because it took too long or the process was stopped.
 *              A late frame misses at least one, so missed ticks include all deadline misses. The next frame begins on
 *              the next tick to come: the schedule does not wait, and nothing is made up for
 *
 * The miss rate is missed / scheduled. Lost time is missed ticks times the budget. A freeze is a budget or longer, and
 * at least 1 ms, in which the process did not run: stopped, throttled, or without a CPU. Freezes count as all else
 * does, but the result is then called not reproducible. A frame is either
 *
 *   posed   th_jobs_frame_begin, every character animated into palette memory, th_jobs_frame_end
 *   drawn   a whole frame by a renderer: posed and submitted to the driver. It does not wait for its own picture,
 *           but before it poses it waits for the frame whose memory it reuses, as an application does. So it misses
 *           the deadline when the CPUs or the GPU cannot keep up. The latency of the picture is not measured
 *
 * Each number of characters that is tried is a new crowd, made as an application would make it. Its first frames do not
 * count, until one meets the budget, or MAX_WARM_UP of load_test_harness.c have run: this drains the driver's queue.
 *
 * For each number of threads, a crowd is posed and checked before anything is timed, and the crowd that was found once
 * more afterwards, in ordinary memory. What was drawn the renderer checks, after each run that counts.
 *
 * The error on screen is measured last of all, in frames of its own, which have no ticks: the crowd that was found is
 * made anew and posed from its first frame on, as many frames as a confirmation run has ticks. So nothing that was
 * timed holds any of it, no tick can be missed because of it, and the same crowd has the same errors in each run. */
#ifndef THRONG_BENCH_STRESS_H
#define THRONG_BENCH_STRESS_H

#include <bench/capacity.h>
#include <bench/report.h>
#include <runtime/frame.h>
#include <runtime/scene.h>
#include <runtime/tracer.h>

/* Of the last frame: poses evaluated; characters beyond that, who show the pose of another, or one of a frame before;
 * characters that were to share, but have a behaviour. */
typedef struct th_stress_poses {
    uint32_t evaluated, shared, held, apart;
    uint64_t bones;      /* of the evaluated poses; 0: from frame to frame as many as a budget of time allows */
    double tolerance_px; /* of a renderer that keeps to a budget; 0: it has none, or shares nothing */
} th_stress_poses;

/* The error on screen of the visible characters in a frame, in pixels: nearest ranks. */
typedef struct th_stress_error {
    uint32_t frame; /* at frame / TH_FRAME_RATE */
    double p50_px, p99_px, max_px;
    double tolerance_px; /* of the budget; infinite: it has none */
} th_stress_error;

/* Whether a budget states it. Sizes are those of spheres: what is near in a character looks larger by perspective; one
 * moment in twenty is faster than what is stated of motion; palettes are rounded. */
static inline bool th_stress_error_is_stated(double max_px, double tolerance_px)
{
    return max_px <= 1.25 * tolerance_px + 0.02;
}

typedef struct th_stress_error_desc {
    uint32_t frames, every;            /* measures every n-th of so many frames, the first one included */
    const volatile sig_atomic_t *stop; /* not 0: ends before the next frame; may be NULL */
} th_stress_error_desc;

/* The renderer, supplied by the program: this library does not draw. */
typedef struct th_stress_renderer {
    /* Replaces the crowd by one of the scene with this many characters and threads. When it returns, as many frames are
     * in flight as in steady state. */
    th_result (*prepare)(void *ctx, uint32_t threads, uint32_t characters, th_error *err);
    void (*frame)(void *ctx, uint64_t number); /* at number / TH_FRAME_RATE */
    uint32_t (*visible)(const void *ctx);      /* characters in the picture of the last frame */
    th_stress_poses (*poses)(const void *ctx); /* NULL: each character is posed by itself, with all bones */
    /* Makes the crowd of the last prepare anew, poses its first frames without drawing them, and measures the error on
     * screen of those in which somebody is visible. out: room for all of them; out_count is set. NULL: it cannot. */
    th_result (*errors)(void *ctx, const th_stress_error_desc *desc, th_stress_error *out, uint32_t *out_count,
                        th_error *err);
    /* Records frames (th_tracer_frame_begin and _end) from now on; NULL: stops. */
    void (*trace)(void *ctx, th_tracer *tracer);
    /* Fills in row->failure if frames show what they should not. Those so far have been timed. */
    void (*check)(void *ctx, th_row *row);
    /* Waits for all frames and destroys the crowd. Reports what failed meanwhile. */
    th_result (*finish)(void *ctx, th_error *err);
    json_t *(*describe)(const void *ctx); /* th_report.picture; NULL before there was a crowd */
    double palette_copies;                /* memory for palettes, relative to those of the crowd, and */
    size_t character_bytes;               /* additional memory for each character */
    bool needs_cpus;                      /* it has threads of its own that need CPUs */
    void *ctx;
} th_stress_renderer;

/* Progress. */
typedef struct th_stress_state {
    uint32_t threads;
    const th_capacity_probe *probe; /* in progress */
    uint32_t frames;                /* maximum for this probe */
} th_stress_state;

typedef struct th_stress_desc {
    /* instance_count: skip the search and test exactly this many characters; 0: search. */
    th_scene_desc scene;
    th_isa isa;
    th_format palette;
    th_placement placement;
    const uint32_t *threads; /* ascending */
    uint32_t thread_count;
    double budget_ns;
    double share_hz; /* steps per second in which characters share poses (sharing.h), all of them; 0: never. A renderer
                        shares as it was told */
    uint32_t frames; /* as th_capacity_desc */
    const th_stress_renderer *renderer; /* NULL: frames are only posed */
    uint32_t error_every; /* measures the error on screen of every n-th frame; 0: of none; needs a renderer that can */
    bool counters;        /* counts additional frames of the crowd that was found, without ticks; not with a renderer */
    /* May be NULL. Gets a few additional frames for each number of threads, which do not count. */
    th_tracer *tracer;
    /* Bytes for the crowd and its palettes; 0: four fifths of the available memory. */
    uint64_t memory;
    uint64_t check_seed;                                       /* of what is checked; 0: from entropy */
    bool is_dry_run;                                           /* check the palettes, time nothing */
    void (*progress)(void *ctx, const th_stress_state *state); /* after each frame; may be NULL */
    void *progress_ctx;
    const volatile sig_atomic_t *stop; /* as th_capacity_desc: the numbers of threads that are not done are skipped */
} th_stress_desc;

/* Zero except for `threads` where the row's failure says that palettes are wrong. Times are latencies of ticks
 * (th_capacity_add_latencies). */
typedef struct th_stress_point {
    uint32_t threads;
    uint32_t characters; /* that meet the budget; without a search: that were tested */
    /* False: not even one character does; without a search: these characters do not. */
    bool meets_budget;
    uint32_t visible; /* characters in the picture, where frames were drawn */
    th_stress_poses poses;
    double share_error; /* largest distance of what is shown from what characters play, scene units; where frames are
                           drawn, or nobody shares, 0 */
    th_stress_error *errors; /* [error_count] of the measured frames, ascending; NULL: none */
    uint32_t error_count;
    th_stress_error error; /* the largest of all of them, each by itself; `frame` is that of max_px */
    bool out_of_memory;    /* more characters may meet the budget, but do not fit into memory */
    /* Of the kept frames: */
    th_capacity_ticks ticks;
    uint32_t preempted; /* frames in which a thread waited preemption_threshold_ns or longer for a CPU */
    /* The system does not report it, or our own threads compete for CPUs. */
    bool preempted_unknown;
    th_stats times;
    th_stats unpreempted; /* without preempted frames; NaN when none is left */
    th_capacity search;
} th_stress_point;

typedef struct th_stress {
    th_report report;        /* a row for each number of threads; a repetition is a kept frame */
    th_stress_point *points; /* a point for each row */
    uint32_t point_count;
    double budget_ns, share_hz;
    uint32_t frames, error_every;
    /* 1 % of the budget, but longer than a wake-up takes. */
    double preemption_threshold_ns;
    bool searched, drawn;
    uint64_t memory; /* available to the crowd */
    double bytes_per_character;
    th_isa isa; /* that was used */
    th_format palette;
    th_placement placement;
    /* The result in one sentence: the point with most characters. It begins with the reasons to doubt it, if any.
     * Another sentence says what an interrupted search has found. */
    char headline[1024];
} th_stress;

/* The point whose search was interrupted after at least one of its probes; NULL: none. */
const th_stress_point *th_stress_interrupted(const th_stress *stress);

/* TH_ERR_MEMORY when the requested characters do not fit. Call th_stress_fini in the end if it returned TH_OK. */
th_result th_stress_run(const th_stress_desc *desc, th_stress *out, th_error *err);
void th_stress_fini(th_stress *stress);

/* The report's document with an additional object "stress", left out when nothing was timed. NULL when memory is
 * out. */
json_t *th_stress_json(const th_stress *stress);

/* For people, as text or Markdown. False when memory is out. */
bool th_stress_print(const th_stress *stress, th_output_format format, FILE *file);

#endif

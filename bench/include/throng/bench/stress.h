/* The stress test: the largest crowd whose frames hold a time budget (capacity.h says what that means).
 *
 * A frame is timed from its tick, that of a clock with the period of the budget, until it ends; threads sleep until the
 * next tick, and after a late frame the next one begins at once. Either it is
 *
 *   posed   th_jobs_frame_begin, every character animated into palette memory, th_jobs_frame_end
 *   drawn   a whole one, by a renderer: posed as well, and told to the driver. Nobody waits for its picture, but before
 * it poses for that of some frames ago, whose memory it needs: as a program does that shows frames. So a frame is late
 * when the CPUs or the GPU cannot keep up; how old a picture is when it is shown is not in it
 *
 * Every number of characters that is tried is a crowd of its own, made as a program would make it, and its first
 * frames, until one is in time, or MAX_WARM_UP of load_test_harness.c, do not count: with them goes what waits in the
 * driver.
 *
 * For each number of threads the crowd is posed and checked before anything is timed, and the crowd found once more
 * after it was; in ordinary memory, also where frames are drawn, since what the GPU reads is not to be read back. */
#ifndef THRONG_BENCH_STRESS_H
#define THRONG_BENCH_STRESS_H

#include <throng/bench/capacity.h>
#include <throng/bench/report.h>
#include <throng/core/api.h>
#include <throng/runtime/frame.h>
#include <throng/runtime/scene.h>
#include <throng/runtime/tracer.h>

TH_API_BEGIN

/* Who draws: this library knows nothing of that. */
typedef struct th_stress_renderer {
    /* Makes a crowd of the scene, of so many characters on so many threads, in place of the one before. As many frames
     * are under way when it returns as there ever are. */
    th_result (*prepare)(void *ctx, uint32_t threads, uint32_t characters, th_error *err);
    void (*frame)(void *ctx, uint64_t number);     /* at number / TH_FRAME_RATE */
    uint32_t (*visible)(const void *ctx);          /* characters in the picture of the last frame */
    void (*trace)(void *ctx, th_tracer *tracer);   /* records frames (th_tracer_frame_begin and _end); NULL: no more */
    th_result (*finish)(void *ctx, th_error *err); /* waits for all frames, and destroys the crowd. Tells what failed */
    json_t *(*describe)(const void *ctx);          /* th_report.picture; NULL before there was a crowd */
    uint32_t palette_copies;                       /* memory of the crowd: its palettes so many times, */
    size_t character_bytes;                        /* and so much for each character */
    bool needs_cpus;                               /* threads of its own work on the CPUs meanwhile */
    void *ctx;
} th_stress_renderer;

/* How far it has come. */
typedef struct th_stress_state {
    uint32_t threads;
    const th_capacity_probe *probe; /* under way */
    uint32_t frames;                /* that it has at most */
} th_stress_state;

typedef struct th_stress_desc {
    th_scene_desc scene; /* instance_count: no search, so many characters hold the budget or do not; 0: the search */
    th_isa isa;
    th_palette palette;
    th_placement placement;
    const uint32_t *threads; /* ascending */
    uint32_t thread_count;
    double budget_ns;
    uint32_t frames;                    /* that count, as th_capacity_desc */
    const th_stress_renderer *renderer; /* NULL: frames are posed, and that is all */
    th_tracer *tracer; /* NULL, or gets some frames more of each number of threads, none of those that count */
    uint64_t memory;   /* bytes that the crowd and its palettes may take; 0: four fifths of what is available */
    bool is_dry_run;   /* check the palettes, time nothing */
    void (*progress)(void *ctx, const th_stress_state *state); /* after each frame; may be NULL */
    void *progress_ctx;
} th_stress_desc;

/* Zero but for the number of threads where the row has a failure that says that palettes are wrong. */
typedef struct th_stress_point {
    uint32_t threads;
    uint32_t characters; /* that hold the budget; of no search: that were tried */
    bool meets_budget;   /* false: not even one does; of no search: these do not */
    uint32_t visible;    /* of them, in the picture, where frames were drawn */
    bool out_of_memory;  /* more may hold it, but do not fit */
    /* Of the frames that count: */
    uint32_t frames, deadline_misses;
    uint32_t preempted;     /* in which one of our threads waited for a CPU for so long as matters (th_stress) */
    bool preempted_unknown; /* the system does not tell, or threads of our own take CPUs from each other */
    th_stats times;         /* all of them */
    th_stats unpreempted;   /* those left; NaN when there are none */
    th_capacity search;
} th_stress_point;

typedef struct th_stress {
    th_report report;        /* a row for each number of threads: a repetition is a frame that counts */
    th_stress_point *points; /* likewise */
    uint32_t point_count;
    double budget_ns;
    uint32_t frames;
    double preemption_threshold_ns; /* a wait that matters: 1 % of the budget, and more than waking up takes */
    bool searched, drawn;
    uint64_t memory; /* that could be used */
    double bytes_per_character;
    th_isa isa; /* that really ran */
    th_palette palette;
    th_placement placement;
    char headline[512]; /* what to quote: of the point with most characters */
} th_stress;

/* TH_ERR_MEMORY when the characters asked for do not fit. th_stress_fini in the end when TH_OK. */
th_result th_stress_run(const th_stress_desc *desc, th_stress *out, th_error *err);
void th_stress_fini(th_stress *stress);

/* "posed", "drawn": what was timed. */
const char *th_stress_frame_name(const th_stress *stress);

/* Between which numbers, of three digits, the limit of a point lies (th_capacity.likely). False where nobody knows: not
 * even one holds the budget, or memory is the limit. */
bool th_stress_interval(const th_stress_point *point, uint32_t *out_low, uint32_t *out_high);

/* The report's document, and an object "stress" beside its benchmarks, unless nothing was timed. NULL when memory is
 * out. */
json_t *th_stress_json(const th_stress *stress);

/* For people, as text or Markdown. False when memory is out. */
bool th_stress_print(const th_stress *stress, th_format format, FILE *file);

TH_API_END

#endif

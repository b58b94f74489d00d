/* The stress test: the largest crowd whose frames hold a time budget (capacity.h says what that means).
 *
 * A frame is one of a program that draws: th_jobs_frame_begin, every character animated into palette memory,
 * th_jobs_frame_end, all of it timed. Frames begin on the ticks of a clock with the period of the budget, and threads
 * sleep in between; after a late frame the next one begins at once. Every number of characters that is tried is a crowd
 * of its own, made as a program would make it.
 *
 * For each number of threads the crowd is posed and checked before anything is timed, and the crowd found once more
 * after it was. */
#ifndef THRONG_STRESS_H
#define THRONG_STRESS_H

#include <throng/capacity.h>
#include <throng/frame.h>
#include <throng/report.h>
#include <throng/scene.h>

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
    uint32_t frames;   /* that count, as th_capacity_desc */
    uint64_t memory;   /* bytes that the crowd and its palettes may take; 0: four fifths of what is available */
    bool is_rehearsal; /* check the palettes, time nothing */
    void (*progress)(void *ctx, const th_stress_state *state); /* after each frame; may be NULL */
    void *progress_ctx;
} th_stress_desc;

/* Zero but for the number of threads where the row has a failure that says that palettes are wrong. */
typedef struct th_stress_point {
    uint32_t threads;
    uint32_t characters; /* that hold the budget; of no search: that were tried */
    bool held;           /* false: not even one does; of no search: these do not */
    bool out_of_memory;  /* more may hold it, but do not fit */
    /* Of the frames that count: */
    uint32_t frames, late;
    uint32_t disturbed;     /* in which one of our threads waited for a CPU for so long as matters (th_stress) */
    bool disturbed_unknown; /* the system does not tell, or threads of our own take CPUs from each other */
    th_stats times;         /* all of them */
    th_stats undisturbed;   /* those left; NaN when there are none */
    th_capacity search;
} th_stress_point;

typedef struct th_stress {
    th_report report;        /* a row for each number of threads: a repetition is a frame that counts */
    th_stress_point *points; /* likewise */
    uint32_t point_count;
    double budget_ns;
    uint32_t frames;
    double disturbed_ns; /* a wait that matters: 1 % of the budget, and more than waking up takes */
    bool searched;
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

/* The report's document, and an object "stress" beside its benchmarks, unless nothing was timed. NULL when memory is
 * out. */
json_t *th_stress_json(const th_stress *stress);

/* For people, as text or Markdown. False when memory is out. */
bool th_stress_print(const th_stress *stress, th_format format, FILE *file);

#endif

/* The scaling experiment over ranks: processes that share one crowd, on one machine or many. What each rank measured
 * comes in; figures, tables and a document go out. No MPI here: throng-mpi runs the ranks.
 *
 * A crowd is split into blocks of consecutive characters. A frame of the stage "poses" lasts from one barrier of the
 * point's ranks to the next: each rank poses its block. The stage "gather" adds that all palettes go to rank 0. Beside
 * the stages the same collectives run without poses. */
#ifndef THRONG_BENCH_RANK_SCALING_H
#define THRONG_BENCH_RANK_SCALING_H

#include <anim/crowd.h>
#include <bench/pop.h>
#include <bench/report.h>
#include <bench/stats.h>
#include <core/arena.h>
#include <runtime/scene.h>

enum { TH_RANKS_MAX = 4096, TH_HOST_MAX = 64 };

/* The begins of `ranks` blocks of about equal cost, and the end of the last one: bounds[0] is 0, bounds[ranks] is
 * `count`. models[i]: the model of character i; costs: of a character of each model. Depends on its arguments only, so
 * all ranks find the same blocks. bounds: [ranks + 1]. */
void th_rank_split(const th_spawn *instances, uint32_t count, const uint32_t *costs, uint32_t ranks, uint32_t *bounds);

/* The numbers of ranks worth comparing: as th_scale_threads. */
uint32_t th_rank_counts(uint32_t ranks, uint32_t out[TH_RANKS_MAX]);

typedef enum th_rank_stage {
    TH_RANK_POSES = 0,    /* poses and a barrier */
    TH_RANK_GATHER,       /* poses, then all palettes to rank 0 */
    TH_RANK_BARE_BARRIER, /* the same without poses */
    TH_RANK_BARE_GATHER,
    TH_RANK_STAGE_COUNT,
} th_rank_stage;

/* A rank's block at a point, and its poses in a frame of the stage "poses". */
typedef struct th_rank_share {
    uint32_t characters;
    uint64_t bones;
    double mean_ns, median_ns, p99_ns, max_ns; /* by th_rank_scaling_analyze */
} th_rank_share;

typedef struct th_rank_point {
    uint32_t ranks, characters;
    uint64_t bones, palette_bytes;          /* of all ranks */
    th_samples stages[TH_RANK_STAGE_COUNT]; /* time of each frame on rank 0 */
    double *poses_ns;                       /* each rank's part of the frames of "poses": [frame * ranks + rank] */
    th_rank_share *shares;                  /* [ranks] */
    th_hash128 sum;                         /* of all palettes of the checked frame, as th_crowd_sum */
    /* By th_rank_scaling_analyze: */
    double frame_ns, p99_ns; /* median and p99 of the stage "poses" */
    double slowest_ns;       /* median over frames of the slowest rank's poses */
    double speed_up, efficiency, grind_ns, bones_per_s;
    th_pop pop; /* over ranks; instructions 1 by construction, frequency and IPC unknown */
} th_rank_point;

typedef struct th_rank_scaling {
    th_arena *arena;  /* has the points and what they hold but samples */
    th_report report; /* conditions and scene; no rows */
    th_rank_point *points;
    uint32_t point_count;
    uint32_t rounds, rounds_done; /* each round has `frames` frames of each stage of each point; fewer done: partial */
    uint32_t frames;
    uint32_t ranks, threads;    /* of the job; of each rank */
    char (*hosts)[TH_HOST_MAX]; /* [ranks] */
    bool is_weak;
    bool has_gather;  /* else only poses and barriers were run */
    double budget_ns; /* that p99 must not exceed; 0: none */
    th_isa isa;
    th_format palette;
} th_rank_scaling;

/* Sets up `out`, whose counts and flags must be filled in and the rest zero: room for all frames. counts: of ranks, for
 * each point. Call th_rank_scaling_fini in the end, even if it failed. */
th_result th_rank_scaling_init(th_rank_scaling *out, const uint32_t *counts, th_error *err);
void th_rank_scaling_fini(th_rank_scaling *scaling);

/* Describes the scene in the report. characters: of the largest point. */
void th_rank_scaling_describe(th_rank_scaling *scaling, const th_scene *scene, const th_scene_desc *desc,
                              uint32_t characters);

/* The figures of the rounds that are done. False when memory is out. */
bool th_rank_scaling_analyze(th_rank_scaling *scaling);

/* Whether the last point's p99 exceeds the budget. */
bool th_rank_scaling_misses_budget(const th_rank_scaling *scaling);

/* NULL when memory is out. */
json_t *th_rank_scaling_json(const th_rank_scaling *scaling);

/* For people. False when memory is out. */
bool th_rank_scaling_print(const th_rank_scaling *scaling, th_output_format format, FILE *file);

#endif

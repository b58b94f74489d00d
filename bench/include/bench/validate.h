/* Validates code before it is timed: it must first pose a crowd correctly. A fast wrong answer must not pass for a good
 * one.
 *
 * The error of a palette entry is the distance between where it puts a mesh point and where that point belongs, in
 * scene units. The points are the joint itself and points that are TH_SHELL_M from it where the model rests (for a
 * model of 1.8 m; scaled with the model). Weights are compared as th_weight_error says. */
#ifndef THRONG_BENCH_VALIDATE_H
#define THRONG_BENCH_VALIDATE_H

#include <bench/report.h>
#include <runtime/scene.h>

/* What single precision may cost, of the model's size and of the distance from the origin. Half of that was too little
 * for the tutorial method, on a joint that turns by nearly 180 degrees between two keys. Beside the error bound of a
 * compiled clip that is played alone and as authored, TH_VALIDATE_BETWEEN: the measured error includes rounding, and at
 * times at which the compiler does not measure, clips of 700 files exceed the bound by 1e-6 at most. */
#define TH_VALIDATE_ROUNDING 2e-5
#define TH_VALIDATE_BETWEEN  4e-6

/* Where a clip jumps within this share of the time into it, both sides of the jump are accepted: files store times in
 * single precision, and compiled clips are played accordingly. */
#define TH_VALIDATE_TIME_ROUNDING 0x1p-21

/* Initialize to zero; th_validate_palettes keeps the worst of all calls. */
typedef struct th_validation {
    double max_error;  /* scene units */
    double excess;     /* largest error / allowed error; above 1 the validation has failed */
    uint32_t instance; /* the instance with that error */
    uint32_t joint;
    double allowed; /* allowed error there, scene units */
} th_validation;

typedef struct th_validation_desc {
    const th_scene *scene;
    const th_crowd *crowd; /* created from `scene` */
    const void *palette;   /* the crowd's palettes at time_s */
    double time_s;
    /* Check at most this many instances, one drawn from each of as many parts of the crowd; and of each model one of
     * each kind that may be posed by code of its own: left over by batches of 16 or not, by what it plays. */
    uint32_t sample;
    uint64_t seed; /* of the draw */
    /* The reference: f32 palettes of the same f32 crowd, which must agree up to rounding. NULL: the double-precision
     * evaluation of the authored keys, interpolated as the scene's compiled models are. */
    const void *reference;
    const th_crowd_layers *layers; /* that the crowd plays at time_s; NULL: its clips */
    bool as_authored;              /* without `reference`: interpolate as the file says; only max_error is valid then */
    bool plays_keys;               /* clips with curves are played by their keys, with slerp between them */
} th_validation_desc;

th_result th_validate_palettes(const th_validation_desc *desc, th_validation *validation, th_error *err);

/* Code that poses is compared at four frames: 0, TH_VALIDATE_FRAME, and two in a row that are drawn anew in each run.
 * So palettes that do not change while the scene moves, or change only every other frame, are wrong in at least one of
 * them. They are drawn from row->draws, so that nothing can be right where it is looked at only. Errors in reports are
 * those of the fixed frames, so that runs can be compared. What is timed is judged again afterwards, with
 * th_validate_left. */
enum {
    TH_VALIDATE_FRAME = 100,   /* its hash is reported */
    TH_VALIDATE_SAMPLE = 1000, /* characters compared with the double-precision evaluation, drawn anew for each frame */
    TH_VALIDATE_LEFT = 50,     /* characters, after a timed repetition */
};

typedef struct th_validate_run_desc {
    const th_scene *scene;
    const th_crowd *crowd;                                       /* created from `scene` */
    void *palette;                                               /* where `run` writes */
    void (*run)(void *ctx, uint64_t frame);                      /* poses the crowd at that frame */
    double (*time_s)(uint64_t frame);                            /* NULL: frame / TH_FRAME_RATE */
    const th_crowd_layers *(*layers)(void *ctx, uint64_t frame); /* that `run` plays; NULL: clips */
    void *ctx;
    bool plays_keys; /* see th_validation_desc; the row says so as if its interpolation were not that of the file */
    /* Palettes of the scalar kernel at TH_VALIDATE_FRAME, which all characters must match up to rounding. NULL: not
     * compared. */
    const void *reference;
} th_validate_run_desc;

/* Fills in the row's palette fields, and `failure` when palettes are wrong. `palette` then holds TH_VALIDATE_FRAME. */
th_result th_validate_run(const th_validate_run_desc *desc, th_row *row, th_error *err);

/* Fails a row whose scene's behaviour is not as behaviour.h says: follows some instances from time_s on. */
void th_validate_behaviour(const th_scene *scene, th_behaviour_kind kind, double time_s, th_row *row);

/* Fails a row whose frames take clearly less time than its threads need to write their palettes and do nothing else:
 * then they have not done their work. Overwrites the palettes; keeps the crowd's th_writes. row: has its samples and
 * threads. */
void th_validate_floor(th_crowd *crowd, void *palette, th_row *row);

/* Validates what a run of `frame` has left in `palette`, without running it again. Fills in `failure` when they are
 * wrong. */
th_result th_validate_left(const th_validate_run_desc *desc, uint64_t frame, th_row *row, th_error *err);

#endif

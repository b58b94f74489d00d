/* Validates code before it is timed: it must first pose a crowd correctly. A fast wrong answer must not pass for a good
 * one.
 *
 * Four frames are compared with the double-precision evaluation: 0, TH_VALIDATE_FRAME, and two in a row that are drawn
 * anew in each run. So palettes that do not change while the scene moves, or change only every other frame, are wrong
 * in at least one of them. Errors in reports are those of the fixed frames, so that runs can be compared. What is timed
 * is judged again afterwards, with th_validate_left. */
#ifndef THRONG_BENCH_VALIDATE_RUN_H
#define THRONG_BENCH_VALIDATE_RUN_H

#include <bench/report.h>
#include <throng/core/api.h>
#include <throng/runtime/scene.h>

TH_API_BEGIN

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
    /* Palettes of the scalar kernel at TH_VALIDATE_FRAME, which all characters must match up to rounding. NULL: not
     * compared. */
    const void *reference;
} th_validate_run_desc;

/* Fills in the row's palette fields, and `failure` when palettes are wrong. `palette` then holds TH_VALIDATE_FRAME. */
th_result th_validate_run(const th_validate_run_desc *desc, th_row *row, th_error *err);

/* Fails a row whose frames take clearly less time than its threads need to write their palettes and do nothing else:
 * then they have not done their work. Overwrites the palettes; keeps the crowd's th_writes. row: has its samples and
 * threads. */
void th_validate_floor(th_crowd *crowd, void *palette, th_row *row);

/* Validates what a run of `frame` has left in `palette`, without running it again. Fills in `failure` when they are
 * wrong. */
th_result th_validate_left(const th_validate_run_desc *desc, uint64_t frame, th_row *row, th_error *err);

TH_API_END

#endif

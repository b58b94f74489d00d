/* Validates code before it is timed: it must first pose a crowd correctly. A fast wrong answer must not pass for a good
 * one.
 *
 * Two frames are compared with the double-precision evaluation: palettes that do not change while the scene moves are
 * wrong in at least one of them. */
#ifndef THRONG_BENCH_VALIDATE_RUN_H
#define THRONG_BENCH_VALIDATE_RUN_H

#include <throng/bench/report.h>
#include <throng/core/api.h>
#include <throng/runtime/scene.h>

TH_API_BEGIN

enum {
    TH_VALIDATE_FRAME = 100,  /* its hash is reported; the other frame is 0 */
    TH_VALIDATE_SAMPLE = 100, /* characters compared with the double-precision evaluation */
};

typedef struct th_validate_run_desc {
    const th_scene *scene;
    const th_crowd *crowd;                  /* created from `scene` */
    void *palette;                          /* where `run` writes */
    void (*run)(void *ctx, uint64_t frame); /* poses the crowd at that frame */
    double (*time_s)(uint64_t frame);       /* NULL: frame / TH_FRAME_RATE */
    void *ctx;
    /* Palettes of the scalar kernel at TH_VALIDATE_FRAME, which all characters must match up to rounding. NULL: not
     * compared. */
    const void *reference;
} th_validate_run_desc;

/* Fills in the row's palette fields, and `failure` when palettes are wrong. `palette` then holds TH_VALIDATE_FRAME. */
th_result th_validate_run(const th_validate_run_desc *desc, th_row *row, th_error *err);

TH_API_END

#endif

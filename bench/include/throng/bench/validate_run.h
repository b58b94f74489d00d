/* A desc: what is about to be timed has to pose a crowd right first. A fast wrong answer must not pass for a good one.
 *
 * Two frames are held against the double-precision evaluation: whoever stands still while the scene moves is right in
 * one of them at most. */
#ifndef THRONG_BENCH_VALIDATE_RUN_H
#define THRONG_BENCH_VALIDATE_RUN_H

#include <throng/bench/report.h>
#include <throng/core/api.h>
#include <throng/runtime/scene.h>

TH_API_BEGIN

enum {
    TH_VALIDATE_FRAME = 100,  /* the frame whose hash is reported; the other is frame 0 */
    TH_VALIDATE_SAMPLE = 100, /* characters that are held against the double-precision evaluation */
};

typedef struct th_validate_run_desc {
    const th_scene *scene;
    const th_crowd *crowd;                  /* of that scene */
    void *palette;                          /* that is where run writes */
    void (*run)(void *ctx, uint64_t frame); /* poses the crowd as it is at */
    double (*time_s)(uint64_t frame);       /* NULL: frame / TH_FRAME_RATE */
    void *ctx;
    /* Palettes of the scalar kernel at TH_VALIDATE_FRAME, which all characters must match up to rounding; NULL: no such
     * comparison. */
    const void *reference;
} th_validate_run_desc;

/* Fills in what the row tells of its palettes, and `failure` when they are wrong. Leaves those of TH_VALIDATE_FRAME. */
th_result th_validate_run(const th_validate_run_desc *desc, th_row *row, th_error *err);

TH_API_END

#endif

/* Frame times: the last ones one by one, and a histogram of all. */
#ifndef TH_VIEW_HISTORY_H
#define TH_VIEW_HISTORY_H

#include <bench/histogram.h>

#include <stdint.h>

/* Parts of a frame's time on the drawing thread. */
typedef enum th_frame_part {
    TH_FRAME_EVALUATE, /* placing, culling, posing */
    TH_FRAME_WAIT,     /* for the GPU to finish with palettes of earlier frames */
    TH_FRAME_DRAW,     /* issuing GL commands */
    TH_FRAME_PRESENT,  /* everything else: the display, and drivers that finish their work late */
    TH_FRAME_PARTS,
} th_frame_part;

/* "evaluate", "wait", "draw", "present". */
const char *th_frame_part_name(th_frame_part part);

#define TH_HISTORY_FRAMES 240u /* kept one by one */

/* Zero: no frames. */
typedef struct th_history {
    float ms[TH_FRAME_PARTS][TH_HISTORY_FRAMES]; /* ring buffers */
    uint32_t next;                               /* the oldest frame, which the next one overwrites */
    double sum_ms[TH_FRAME_PARTS];               /* of all frames */
    th_histogram all;                            /* of all frames */
} th_history;

void th_history_add(th_history *history, const float ms[TH_FRAME_PARTS]);

/* Mean over the last frames in ms; 0 without frames. */
double th_history_mean(const th_history *history, th_frame_part part);

/* Percentile by nearest rank; `part` is above 0, up to 1. Returns 0 without frames. Exact for the last frames; for all
 * frames as th_histogram_quantile. */
double th_history_last(const th_history *history, double part);
double th_history_all(const th_history *history, double part);

#endif

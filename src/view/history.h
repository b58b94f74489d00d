/* How long frames took: the last ones one by one, all of them together. */
#ifndef TH_VIEW_HISTORY_H
#define TH_VIEW_HISTORY_H

#include <stdint.h>

/* Where a frame's time goes, on the thread that draws. */
typedef enum th_frame_part {
    TH_FRAME_EVALUATE, /* places, culling, poses */
    TH_FRAME_WAIT,     /* for the GPU to be done with palettes of frames before */
    TH_FRAME_DRAW,     /* telling the driver */
    TH_FRAME_PRESENT,  /* everything else: the display, and where drivers catch up */
    TH_FRAME_PARTS,
} th_frame_part;

/* "evaluate", "wait", "draw", "present". */
const char *th_frame_part_name(th_frame_part part);

#define TH_HISTORY_FRAMES  240u  /* the last ones */
#define TH_HISTORY_BUCKETS 2048u /* of a per cent each, from 0.001 ms to 12 minutes */

/* All zero: no frames. */
typedef struct th_history {
    float ms[TH_FRAME_PARTS][TH_HISTORY_FRAMES]; /* rings */
    uint32_t next;                               /* the oldest, and where the next one goes */
    uint64_t count;                              /* of all frames */
    double sum_ms[TH_FRAME_PARTS];               /* of all frames */
    uint32_t buckets[TH_HISTORY_BUCKETS];        /* frames by how long they took */
} th_history;

void th_history_add(th_history *history, const float ms[TH_FRAME_PARTS]);

/* Of the last frames, in ms; 0 for none. */
double th_history_mean(const th_history *history, th_frame_part part);

/* The time that a `part` (above 0, up to 1) of the frames do not exceed, by the nearest rank; 0 for no frames. Of the
 * last ones it is exact, of all of them up to 1 % too long. */
double th_history_last(const th_history *history, double part);
double th_history_all(const th_history *history, double part);

#endif

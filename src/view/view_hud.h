/* What stands on the picture of `view`: figures, help, messages. All calls on the context's thread, between
 * th_hud_begin and th_hud_end. */
#ifndef TH_VIEW_VIEW_HUD_H
#define TH_VIEW_VIEW_HUD_H

#include "cli/options.h"
#include "history.h"
#include "viewpoint.h"

#include <throng/render/hud.h>

/* Numbers that change too fast to be read: taken a few times a second. */
typedef struct th_readings {
    double frames_per_s;
    double mean_ms[TH_FRAME_PARTS];
    double median_ms, p95_ms, p99_ms;
    double gpu_ms; /* below 0: unknown */
    uint32_t threads;
    float busy[TH_JOBS_MAX_THREADS]; /* share of its time, while there was work */
} th_readings;

/* What is to be seen. */
typedef struct th_board {
    th_hud *hud;
    uint32_t width, height; /* of the picture */
    const th_gl_info *gl;
    const th_show *show;
    const th_options *options; /* of the show */
    const th_history *history;
    const th_readings *readings;
    const th_viewpoint *viewpoint;
    double time_s, rate;
    bool paused;
    bool vsync;
} th_board;

void th_board_figures(const th_board *board);                   /* top left */
void th_board_help(const th_board *board);                      /* in the middle */
void th_board_message(const th_board *board, const char *text); /* at the bottom */

/* Instead of a picture, while there is none. */
void th_board_wait(const th_board *board, const char *doing, double waited_s);

#endif

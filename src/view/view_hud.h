/* Draws on the picture of `throng view`: statistics, help, messages, buttons. All calls on the context's thread,
 * between th_hud_begin and th_hud_end. */
#ifndef TH_VIEW_VIEW_HUD_H
#define TH_VIEW_VIEW_HUD_H

#include "history.h"
#include "live_settings.h"
#include "viewpoint.h"

#include <render/hud.h>

/* Values that would change too fast to read; updated a few times a second. */
typedef struct th_hud_readings {
    double frames_per_s;
    double mean_ms[TH_FRAME_PARTS];
    double median_ms, p95_ms, p99_ms;
    double gpu_ms; /* below 0: unknown */
    uint32_t threads;
    float busy[TH_JOBS_MAX_THREADS]; /* busy share of the time in which there was work */
} th_hud_readings;

/* What the HUD shows: the state of the window. */
typedef struct th_view_hud {
    th_hud *hud;
    const th_gl_info *gl;
    uint32_t width, height;    /* of the picture */
    float bottom;              /* height at the bottom that is taken */
    th_crowd_view *crowd_view; /* NULL while the models are loaded */
    th_live_settings settings; /* of the crowd view */
    th_history history;
    th_hud_readings readings;
    th_viewpoint viewpoint;
    double time_s, rate;
    bool paused, vsync;
} th_view_hud;

void th_view_hud_statistics(const th_view_hud *view_hud);                /* top left */
void th_view_hud_help(const th_view_hud *view_hud, uint32_t page);       /* in the middle */
void th_view_hud_message(const th_view_hud *view_hud, const char *text); /* at the bottom */

/* How many pages the help has in this picture: several where it is small. The first is page 0. */
uint32_t th_view_hud_help_pages(const th_view_hud *view_hud);

/* Replaces the picture while loading. */
void th_view_hud_loading(const th_view_hud *view_hud, const char *doing, double waited_s);

/* Buttons for those who do not know the keys: in the lower right corner, in rows that are as wide as the picture
 * allows. Writes where they are; a click on one is a hotspot of the controls. cursor: in pixels of the picture; the
 * button under it is brighter. Returns the height that they take. */
float th_view_hud_buttons(const th_view_hud *view_hud, const double cursor[2], th_hotspots *out);

#endif

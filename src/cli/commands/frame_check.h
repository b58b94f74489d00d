/* Holds a frame that was drawn against the truth: who is drawn, and at which level of detail, against a plain reference
 * that tests every character (bench/sight.h); and palettes of characters drawn at random, read back from the buffers
 * that the draw calls name, against double precision, at the moments that the options allow. */
#ifndef TH_CLI_FRAME_CHECK_H
#define TH_CLI_FRAME_CHECK_H

#include <core/random.h>
#include <render/crowd_view.h>

enum { TH_SHOWN_FRAMES = 100000 }; /* frames that are drawn only to be checked are any below */

/* What was to be drawn. */
typedef struct th_shown {
    th_crowd_view *crowd_view;
    th_crowd_view_desc asked; /* whose options say who may share or hold a pose, or have fewer joints */
    th_camera camera;
    th_target_desc size;
    uint64_t frame;                           /* a number, for what is said */
    double moments_s[TH_CROWD_VIEW_MAX_HOLD]; /* of the frame, then of those before */
} th_shown;

/* Notes the next frame. */
void th_shown_next(th_shown *shown, uint64_t frame, double time_s);

/* Of the last picture that was drawn. Waits for it. draws: of whose palettes are checked. False: it shows what it
 * should not, and err says what, of which frame and character. */
bool th_shown_check(const th_shown *shown, th_draws *draws, th_error *err);

#endif

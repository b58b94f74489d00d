/* A picture without a window, and frames drawn into it as a program draws those that it shows: the driver begins at
 * once, and nobody waits. What is measured is drawn like that. */
#ifndef TH_CLI_PICTURE_H
#define TH_CLI_PICTURE_H

#include "options.h"

#include <throng/render/crowd_view.h>

#include <jansson.h>

typedef struct th_picture {
    const th_options *options; /* size, samples, and what th_picture_json tells */
    th_gl *gl;
    th_target *target;
    th_tracer *tracer; /* NULL, or gets the stages behind a crowd_view's */
} th_picture;

/* The options must outlive it. th_picture_close in the end; zero is fine, and what a failure leaves. */
th_result th_picture_open(th_picture *picture, const th_options *options, th_error *err);
void th_picture_close(th_picture *picture);

float th_picture_aspect(const th_picture *picture);

/* Behind what was drawn to the target. */
void th_picture_submit(const th_picture *picture);

/* A frame of the crowd_view, handed over. */
void th_picture_draw(const th_picture *picture, th_crowd_view *crowd_view, double time_s, const th_camera *camera);

/* For th_report.picture: what was drawn, how large, and by whom. */
json_t *th_picture_json(const th_picture *picture, const th_crowd_view *crowd_view);

#endif

/* The window of `throng view`: shows the moving crowd until the user closes it. */
#ifndef TH_VIEW_VIEWER_H
#define TH_VIEW_VIEWER_H

#include "live_settings.h"
#include <cli/model_set.h>

#include <throng/render/target.h>

#include <jansson.h>
#include <signal.h>
#include <stdio.h>

typedef struct th_viewer_desc {
    const th_model_options *models;    /* to load while the window is open; borrowed */
    th_live_settings settings;         /* at the start */
    uint32_t software_count;           /* characters instead, at the start, if the renderer is software */
    th_target_desc picture;            /* size of the window in screen coordinates, and samples */
    uint32_t frames;                   /* after which it ends by itself; 0: none */
    const volatile sig_atomic_t *stop; /* not 0: end before the next frame */
    th_tracer *tracer;                 /* borrowed; may be NULL */
} th_viewer_desc;

typedef struct th_viewer th_viewer;

/* Opens the window. *out is NULL on failure. TH_ERR_ENVIRONMENT: no display, or no OpenGL 4.3. */
th_result th_viewer_create(const th_viewer_desc *desc, th_viewer **out, th_error *err);
void th_viewer_destroy(th_viewer *viewer); /* NULL does nothing */

/* Loads the models and shows the crowd. Returns when the window is closed, when `stop` says so, or when there is no
 * crowd to show: the models cannot be loaded, or the driver fails. Complains of what fails later; the window then stays
 * open. */
th_result th_viewer_run(th_viewer *viewer, th_error *err);

/* Whether a thread still loads models or rebuilds the crowd after th_viewer_run. The view must not be destroyed then.
 */
bool th_viewer_is_rebuilding(const th_viewer *viewer);

/* What was shown: statistics of all frames. NULL or false when out of memory. */
json_t *th_viewer_json(const th_viewer *viewer);
bool th_viewer_print(const th_viewer *viewer, FILE *file);

#endif

/* Replaces the crowd view that is drawn by another one. The slow part runs on a thread of its own, so frames continue.
 *
 *     th_async_rebuild_begin(&rebuild, ...);
 *     ... frames of the old crowd view, if there is one ...
 *     if (th_async_rebuild_ready(&rebuild))
 *         th_async_rebuild_end(&rebuild, gl, &crowd_view, &err);
 *
 * One rebuild at a time. These calls belong to the context's thread. */
#ifndef TH_VIEW_ASYNC_REBUILD_H
#define TH_VIEW_ASYNC_REBUILD_H

#include "live_settings.h"

#include <pthread.h>
#include <stdatomic.h>

/* Zero: no rebuild. Callers only read it. */
typedef struct th_async_rebuild {
    bool under_way;
    uint64_t began_ns;
    _Atomic(const char *) doing; /* the current step, for display; static storage */

    const th_model_options *models;
    th_live_settings settings;
    th_model_set *model_set;
    const th_crowd_view *base;
    pthread_t thread;
    atomic_bool ready;
    th_result result;
    th_error err;
    th_crowd_view *crowd_view;
} th_async_rebuild;

/* base: the crowd view that is drawn; it must not be released during the rebuild. NULL for the first one; then the
 * model set is loaded, too, from the models. TH_ERR_ENVIRONMENT: the system refuses a thread. */
th_result th_async_rebuild_begin(th_async_rebuild *rebuild, const th_model_options *models,
                                 const th_live_settings *settings, th_model_set *model_set, const th_crowd_view *base,
                                 th_error *err);

bool th_async_rebuild_ready(th_async_rebuild *rebuild);

/* Call it when ready. On success replaces *crowd_view and releases the base. Otherwise *crowd_view is unchanged. */
th_result th_async_rebuild_end(th_async_rebuild *rebuild, th_gl *gl, th_crowd_view **crowd_view, th_error *err);

#endif

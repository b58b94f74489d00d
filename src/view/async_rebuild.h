/* Another crowd_view in the place of the one that is drawn: what takes long happens on a thread of its own, and nobody
 * waits.
 *
 *     th_async_rebuild_begin(&rebuild, ...);
 *     ... frames of the old crowd_view, if there is one ...
 *     if (th_async_rebuild_ready(&rebuild))
 *         th_async_rebuild_end(&rebuild, gl, &crowd_view, &err);
 *
 * One at a time. These calls belong to the context's thread. */
#ifndef TH_VIEW_ASYNC_REBUILD_H
#define TH_VIEW_ASYNC_REBUILD_H

#include "cli/model_set.h"

#include <throng/render/crowd_view.h>

#include <pthread.h>
#include <stdatomic.h>

/* All zero: none. Read only. */
typedef struct th_async_rebuild {
    bool under_way;
    uint64_t began_ns;
    _Atomic(const char *) doing; /* what just now, in some words; static storage */

    th_options options;
    th_model_set *model_set;
    const th_crowd_view *base;
    pthread_t thread;
    atomic_bool ready;
    int code;
    th_result result;
    th_error err;
    th_crowd_view *crowd_view;
} th_async_rebuild;

/* base: the crowd_view that is drawn, which must not be retired meanwhile; NULL: the first one, for which the model_set
 * is loaded, too. TH_ERR_ENVIRONMENT when the system refuses a thread. */
th_result th_async_rebuild_begin(th_async_rebuild *rebuild, const th_options *options, th_model_set *model_set,
                                 const th_crowd_view *base, th_error *err);

bool th_async_rebuild_ready(th_async_rebuild *rebuild);

/* Of one that is ready. *crowd_view: the new one takes the place of the base, which is retired. Else it stays what it
 * is, and there is an exit code to go with the text, which is empty where it has been said already. */
int th_async_rebuild_end(th_async_rebuild *rebuild, th_gl *gl, th_crowd_view **crowd_view, th_error *err);

#endif

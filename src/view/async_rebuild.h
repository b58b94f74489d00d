/* Another show in the place of the one that is drawn: what takes long happens on a thread of its own, and nobody waits.
 *
 *     th_change_begin(&change, ...);
 *     ... frames of the old show, if there is one ...
 *     if (th_change_ready(&change))
 *         th_change_end(&change, gl, &show, &err);
 *
 * One at a time. These calls belong to the context's thread. */
#ifndef TH_VIEW_ASYNC_REBUILD_H
#define TH_VIEW_ASYNC_REBUILD_H

#include "cli/model_set.h"

#include <throng/render/crowd_view.h>

#include <pthread.h>
#include <stdatomic.h>

/* All zero: none. Read only. */
typedef struct th_change {
    bool under_way;
    uint64_t began_ns;
    _Atomic(const char *) doing; /* what just now, in some words; static storage */

    th_options options;
    th_cast *cast;
    const th_show *base;
    pthread_t thread;
    atomic_bool ready;
    int code;
    th_result result;
    th_error err;
    th_show *show;
} th_change;

/* base: the show that is drawn, which must not be retired meanwhile; NULL: the first one, for which the cast is loaded,
 * too. TH_ERR_ENVIRONMENT when the system refuses a thread. */
th_result th_change_begin(th_change *change, const th_options *options, th_cast *cast, const th_show *base,
                          th_error *err);

bool th_change_ready(th_change *change);

/* Of one that is ready. *show: the new one takes the place of the base, which is retired. Else it stays what it is, and
 * there is an exit code to go with the text, which is empty where it has been said already. */
int th_change_end(th_change *change, th_gl *gl, th_show **show, th_error *err);

#endif

#include "async_rebuild.h"

#include "cli/crowd_view_options.h"

#include <throng/core/clock.h>

#include <string.h>

static void *work(void *ctx)
{
    th_async_rebuild *c = ctx;
    if (!c->base)
        c->code = th_model_set_init(c->model_set, &c->options);
    if (c->code == TH_EXIT_GOOD) {
        c->doing = "Compiling clips and meshes";
        c->result = th_options_prepare_crowd_view(&c->options, c->model_set, c->base, &c->crowd_view, &c->err);
    }
    atomic_store_explicit(&c->ready, true, memory_order_release); /* th_async_rebuild_ready acquires */
    return NULL;
}

th_result th_async_rebuild_begin(th_async_rebuild *c, const th_options *options, th_model_set *model_set,
                                 const th_crowd_view *base, th_error *err)
{
    c->began_ns = th_clock_ns();
    c->doing = base ? "Rebuilding" : "Reading models";
    c->options = *options;
    c->model_set = model_set;
    c->base = base;
    c->ready = false;
    c->code = TH_EXIT_GOOD;
    c->result = TH_OK;
    c->crowd_view = NULL;
    const int error = pthread_create(&c->thread, NULL, work, c);
    c->under_way = error == 0;
    return error == 0 ? TH_OK : th_fail(err, TH_ERR_ENVIRONMENT, "the system refuses a thread: %s", strerror(error));
}

bool th_async_rebuild_ready(th_async_rebuild *c)
{
    return c->under_way && atomic_load_explicit(&c->ready, memory_order_acquire);
}

int th_async_rebuild_end(th_async_rebuild *c, th_gl *gl, th_crowd_view **crowd_view, th_error *err)
{
    pthread_join(c->thread, NULL);
    c->under_way = false;
    *err = c->err;
    if (c->code != TH_EXIT_GOOD) {
        err->text[0] = '\0';
        return c->code;
    }
    if (c->result == TH_OK)
        c->result = th_crowd_view_complete(c->crowd_view, gl, err);
    if (c->result != TH_OK) {
        th_crowd_view_release(c->crowd_view, *crowd_view);
        return th_exit_code(err);
    }
    th_crowd_view_release(*crowd_view, c->crowd_view);
    *crowd_view = c->crowd_view;
    return TH_EXIT_GOOD;
}

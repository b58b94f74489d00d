#include "async_rebuild.h"

#include <core/clock.h>

#include <assert.h>
#include <string.h>

static th_result prepare(th_async_rebuild *c)
{
    th_result result = c->base ? TH_OK : th_model_set_init(c->model_set, c->models, NULL, &c->err);
    if (result != TH_OK)
        return result;
    if (!c->base)
        th_model_set_complain_of_missing_meshes(c->model_set);
    c->doing = "Compiling clips and meshes";
    th_model_set chosen = *c->model_set;
    result = th_model_set_choose_clip(&chosen, c->settings.clip, &c->err);
    const th_crowd_view_desc desc = th_model_set_crowd_view_desc(&chosen, &c->settings.crowd);
    return result == TH_OK ? th_crowd_view_prepare(&desc, c->base, &c->crowd_view, &c->err) : result;
}

static void *work(void *ctx)
{
    th_async_rebuild *c = ctx;
    c->result = prepare(c);
    atomic_store_explicit(&c->ready, true, memory_order_release); /* th_async_rebuild_ready acquires */
    return NULL;
}

th_result th_async_rebuild_begin(th_async_rebuild *c, const th_model_options *models, const th_live_settings *settings,
                                 th_model_set *model_set, const th_crowd_view *base, th_error *err)
{
    assert(!c->under_way && settings && (model_set || !base));
    c->began_ns = th_clock_ns();
    c->doing = base ? "Rebuilding" : "Reading models";
    c->models = models;
    c->settings = *settings;
    c->model_set = model_set;
    c->base = base;
    c->ready = false;
    c->crowd_view = NULL;
    const int error = pthread_create(&c->thread, NULL, work, c);
    c->under_way = error == 0;
    return error == 0 ? TH_OK : th_fail(err, TH_ERR_ENVIRONMENT, "the system refuses a thread: %s", strerror(error));
}

bool th_async_rebuild_ready(th_async_rebuild *c)
{
    return c->under_way && atomic_load_explicit(&c->ready, memory_order_acquire);
}

th_result th_async_rebuild_end(th_async_rebuild *c, th_gl *gl, th_crowd_view **crowd_view, th_error *err)
{
    assert(c->under_way && gl && crowd_view);
    pthread_join(c->thread, NULL);
    c->under_way = false;
    if (c->result == TH_OK)
        c->result = th_crowd_view_complete(c->crowd_view, gl, &c->err);
    if (c->result == TH_OK) {
        th_crowd_view_release(*crowd_view, c->crowd_view);
        *crowd_view = c->crowd_view;
    } else {
        th_crowd_view_release(c->crowd_view, *crowd_view);
        *err = c->err;
    }
    return c->result;
}

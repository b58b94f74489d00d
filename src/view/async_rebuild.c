#include "async_rebuild.h"

#include "cli/crowd_view_options.h"

#include <throng/core/clock.h>

#include <string.h>

static void *work(void *ctx)
{
    th_change *c = ctx;
    if (!c->base)
        c->code = th_cast_init(c->cast, &c->options);
    if (c->code == TH_EXIT_GOOD) {
        c->doing = "Compiling clips and meshes";
        c->result = th_cast_prepare_show(&c->options, c->cast, c->base, &c->show, &c->err);
    }
    atomic_store_explicit(&c->ready, true, memory_order_release); /* th_change_ready acquires */
    return NULL;
}

th_result th_change_begin(th_change *c, const th_options *options, th_cast *cast, const th_show *base, th_error *err)
{
    c->began_ns = th_clock_ns();
    c->doing = base ? "Changing" : "Reading models";
    c->options = *options;
    c->cast = cast;
    c->base = base;
    c->ready = false;
    c->code = TH_EXIT_GOOD;
    c->result = TH_OK;
    c->show = NULL;
    const int error = pthread_create(&c->thread, NULL, work, c);
    c->under_way = error == 0;
    return error == 0 ? TH_OK : th_fail(err, TH_ERR_ENVIRONMENT, "the system refuses a thread: %s", strerror(error));
}

bool th_change_ready(th_change *c)
{
    return c->under_way && atomic_load_explicit(&c->ready, memory_order_acquire);
}

int th_change_end(th_change *c, th_gl *gl, th_show **show, th_error *err)
{
    pthread_join(c->thread, NULL);
    c->under_way = false;
    *err = c->err;
    if (c->code != TH_EXIT_GOOD) {
        err->text[0] = '\0';
        return c->code;
    }
    if (c->result == TH_OK)
        c->result = th_show_complete(c->show, gl, err);
    if (c->result != TH_OK) {
        th_show_retire(c->show, *show);
        return th_exit_code(err);
    }
    th_show_retire(*show, c->show);
    *show = c->show;
    return TH_EXIT_GOOD;
}

#include "load_test_gl.h"

#include "crowd_view_options.h"

/* Of a character, in lists of places, of who is seen, and of who is posed. */
enum { LISTED_BYTES = 96 };

th_result th_drawn_crowd_init(th_drawn_crowd *c, const th_options *options, const th_cast *cast, th_error *err)
{
    *c = (th_drawn_crowd){.options = *options, .cast = cast};
    return th_picture_open(&c->picture, options, err);
}

void th_drawn_crowd_fini(th_drawn_crowd *c)
{
    th_show_retire(c->all, c->one);
    th_show_destroy(c->one);
    th_picture_close(&c->picture);
}

/* ---- crowds ---- */

static th_result make_show(const th_drawn_crowd *c, uint32_t characters, const th_show *base, th_show **out,
                           th_error *err)
{
    th_options options = c->options;
    options.count = characters;
    th_result result = th_cast_prepare_show(&options, c->cast, base, out, err);
    if (result == TH_OK)
        result = th_show_complete(*out, c->picture.gl, err);
    if (result != TH_OK) {
        th_show_retire(*out, base);
        *out = NULL;
    }
    return result;
}

static void dismiss(th_drawn_crowd *c)
{
    th_show_retire(c->all, c->one);
    c->all = NULL;
}

static th_result hire(th_drawn_crowd *c, uint32_t threads, th_error *err)
{
    th_show *heir;
    if (c->one && c->options.threads.counts[0] == threads)
        return TH_OK;
    c->options.threads.counts[0] = threads;
    const th_result result = make_show(c, 1, c->one, &heir, err);
    if (result == TH_OK) {
        th_show_retire(c->one, heir);
        c->one = heir;
    }
    return result;
}

/* ---- frames ---- */

static void draw(void *host, uint64_t number)
{
    const th_drawn_crowd *c = host;
    th_jobs *jobs = th_show_jobs(c->all);
    th_tracer_frame_begin(c->picture.tracer, jobs, number);
    th_picture_draw(&c->picture, c->all, (double)number / TH_FRAME_RATE, &c->camera);
    th_tracer_frame_end(c->picture.tracer, jobs);
}

static th_result prepare(void *host, uint32_t threads, uint32_t characters, th_error *err)
{
    th_drawn_crowd *c = host;
    dismiss(c);
    th_result result = hire(c, threads, err);
    if (result == TH_OK)
        result = make_show(c, characters, c->one, &c->all, err);
    if (result != TH_OK)
        return result;
    c->camera = th_show_camera(c->all, th_picture_aspect(&c->picture));
    for (uint64_t slot = 0; slot < TH_RING_SLOTS; slot++)
        draw(c, slot);
    return TH_OK;
}

static uint32_t count_seen(const void *host)
{
    const th_drawn_crowd *c = host;
    return th_show_get_stats(c->all).shown;
}

static void trace(void *host, th_tracer *tracer)
{
    th_drawn_crowd *c = host;
    c->picture.tracer = tracer;
    th_show_trace(c->all, tracer);
}

static th_result finish(void *host, th_error *err)
{
    th_drawn_crowd *c = host;
    th_gl_finish(c->picture.gl);
    dismiss(c);
    return th_gl_check(c->picture.gl, "while the crowd was drawn", err);
}

static json_t *describe(const void *host)
{
    const th_drawn_crowd *c = host;
    return c->one ? th_picture_json(&c->picture, c->one) : NULL;
}

th_stress_guest th_drawn_crowd_guest(th_drawn_crowd *c)
{
    return (th_stress_guest){
        .prepare = prepare,
        .frame = draw,
        .seen = count_seen,
        .trace = trace,
        .finish = finish,
        .describe = describe,
        .palette_copies = TH_RING_SLOTS,
        .character_bytes = TH_RING_SLOTS * sizeof(th_stand) + LISTED_BYTES,
        .needs_cpus = th_gl_get_info(c->picture.gl)->software,
        .host = c,
    };
}

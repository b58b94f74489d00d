/* throng view: the moving crowd in a window until the user closes it.
 *
 * The loop draws one frame after another. A key that changes a setting starts to build another crowd view, on a thread
 * of its own, which replaces the current one when it is ready. Loading the models is the first such rebuild. */
#include "cli/measuring.h"
#include "picture.h"
#include "view/view_hud.h"
#include "view/window.h"
#include <cli/options.h>

#include <core/clock.h>
#include <core/json.h>
#include <core/table.h>
#include <render/frame_writer.h>
#include <render/gpu_clock.h>
#include <runtime/frame.h>

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SOFTWARE_COUNT 100u  /* characters if the renderer is software, unless given */
#define TEXT_PX        16.0F /* line height on an ordinary display */
#define LEAST_TEXT_PX  9.0F  /* smallest line height in small windows; below it statistics and help are cut off */
#define MESSAGE_S      5.0
#define READINGS_S     0.3
#define LONGEST_STEP_S 0.25 /* longest time step; after a slower frame the crowd moves by this */
#define MOST_RATE      64.0
#define MOST_PICTURES  9999

typedef struct viewer {
    const th_options *options;
    const volatile sig_atomic_t *stop; /* not 0: end before the next frame */
    th_tracer *tracer;
    th_live_settings start, wanted;
    bool stale; /* the crowd view does not match the wanted settings */
    th_model_set model_set;
    struct {
        bool under_way;
        uint64_t began_ns;
        _Atomic(const char *) doing; /* the current step, for display; static storage */
        pthread_t thread;
        atomic_bool ready;
        /* Until then of the thread, which also reads the models, and the crowd view that is drawn. */
        th_live_settings settings;
        th_result result;
        th_error err;
        th_crowd_view *crowd_view;
    } rebuild;

    th_window *window;
    const th_canvas *canvas; /* NULL while there is nothing to draw to */
    float text_px;
    th_gpu_clock *gpu_clock;

    th_view_hud view;
    float aspect; /* of the picture when the camera last showed the whole crowd; 0: not yet */
    bool hides_hud, takes_screenshot, quits;
    uint32_t help_page; /* from 1; 0: none */
    char message[256];
    double message_until_s;
    char fallback[256];         /* th_crowd_view_fallback that was said last */
    th_gpu_mapping gpu_mapping; /* that was said last */

    uint64_t frames;      /* in which the crowd was drawn */
    double readings_s;    /* time of the last readings */
    double began_s;       /* time at which the first crowd view was ready */
    uint64_t last_end_ns; /* end of the last frame; 0: none */
    th_result result;     /* of the whole */
    th_error err;
} viewer;

static double now_s(void)
{
    return (double)th_clock_ns() / 1e9;
}

/* Shows a message in the picture for some seconds. Truncates it to fit. */
__attribute__((format(printf, 2, 3))) static void tell(viewer *v, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(v->message, sizeof v->message, format, args);
    va_end(args);
    v->message_until_s = now_s() + MESSAGE_S;
}

static void fail(viewer *v, th_result result, const th_error *err)
{
    v->result = result;
    v->err = *err;
    v->quits = true;
}

/* ---- rebuilding ---- */

static void *prepare(void *ctx)
{
    viewer *v = ctx;
    const th_crowd_view *base = v->view.crowd_view;
    th_error *err = &v->rebuild.err;
    th_result result = base ? TH_OK : th_model_set_init(&v->model_set, &v->options->models, NULL, err);
    if (result == TH_OK) {
        v->rebuild.doing = "Compiling clips and meshes";
        th_model_set chosen = v->model_set;
        result = th_model_set_choose_clip(&chosen, v->rebuild.settings.clip, err);
        const th_crowd_view_desc desc = th_model_set_crowd_view_desc(&chosen, &v->rebuild.settings.crowd);
        if (result == TH_OK)
            result = th_crowd_view_prepare(&desc, &v->rebuild.settings.behaviour, base, &v->rebuild.crowd_view, err);
    }
    v->rebuild.result = result;
    atomic_store_explicit(&v->rebuild.ready, true, memory_order_release); /* `show` acquires */
    return NULL;
}

/* Keeps the current crowd view. Without one, ends the program. */
static void give_up_rebuild(viewer *v, th_result result, const th_error *err)
{
    if (!v->view.crowd_view) {
        fail(v, result, err);
        return;
    }
    th_complain("%s", err->text);
    tell(v, "%s", err->text);
    v->wanted = v->view.settings;
    v->stale = false;
}

static void begin_rebuild(viewer *v)
{
    th_error err;
    v->stale = false;
    v->rebuild.began_ns = th_clock_ns();
    v->rebuild.doing = v->view.crowd_view ? "Rebuilding" : "Reading models";
    v->rebuild.settings = v->wanted;
    v->rebuild.ready = false;
    v->rebuild.crowd_view = NULL;
    const int error = pthread_create(&v->rebuild.thread, NULL, prepare, v);
    v->rebuild.under_way = error == 0;
    if (error)
        give_up_rebuild(v, th_fail(&err, TH_ERR_ENVIRONMENT, "the system refuses a thread: %s", strerror(error)), &err);
}

/* What belongs to the context's thread: completes what was prepared, and shows it from now on. */
static void end_rebuild(viewer *v)
{
    th_view_hud *view = &v->view;
    th_crowd_view *old = view->crowd_view, *next = v->rebuild.crowd_view;
    th_tracer_begin(v->tracer, "rebuild");
    pthread_join(v->rebuild.thread, NULL);
    v->rebuild.under_way = false;
    th_result result = v->rebuild.result;
    if (result == TH_OK)
        result = th_crowd_view_complete(next, v->window->gl, &v->rebuild.err);
    th_crowd_view_release(result == TH_OK ? old : next, result == TH_OK ? next : old);
    th_tracer_end(v->tracer);
    if (result != TH_OK) {
        give_up_rebuild(v, result, &v->rebuild.err);
        return;
    }
    view->crowd_view = next;
    if (!old)
        th_complain_of_meshes(next);
    view->settings = v->rebuild.settings;

    /* How it is evaluated is said when the reason is another than before, or the mapping that was measured to be
     * faster. */
    char mapping[128];
    const th_crowd_view_parts parts = th_crowd_view_get_parts(next);
    const char *fallback = th_crowd_view_fallback(next);
    th_gpu_mapping_text(&parts.gpu_mapping, mapping, sizeof mapping);
    if (mapping[0] && parts.gpu_mapping.mapping != v->gpu_mapping)
        th_complain("the GPU poses with %s", mapping);
    v->gpu_mapping = parts.gpu_mapping.mapping;
    if (fallback[0] && strcmp(fallback, v->fallback) != 0) {
        th_complain("%s", fallback);
        tell(v, "%s", fallback);
    }
    snprintf(v->fallback, sizeof v->fallback, "%s", fallback);

    view->settings.behaviour.blend = v->wanted.behaviour.blend; /* may have changed meanwhile */
    th_crowd_view_set_blend(next, &v->wanted.behaviour.blend, view->time_s);
    th_jobs_stats_reset(parts.jobs);
    th_crowd_view_trace(next, v->tracer);
    view->viewpoint.followed %= view->settings.crowd.count;
    v->aspect = 0;
    if (!old)
        v->began_s = now_s();
}

/* ---- actions ---- */

static float aspect_of(const th_canvas *canvas)
{
    return (float)canvas->width / (float)canvas->height;
}

static void see(viewer *v, th_camera (*camera_of)(const th_crowd_view *, float, double))
{
    v->aspect = aspect_of(v->canvas);
    const th_camera camera = camera_of(v->view.crowd_view, v->aspect, HUGE_VAL);
    th_viewpoint_see_all(&v->view.viewpoint, &camera);
}

/* What needs a crowd and a picture of it. */
static void act_on_crowd(viewer *v, th_action action)
{
    th_view_hud *view = &v->view;
    th_viewpoint *viewpoint = &view->viewpoint;
    const th_camera_mode mode = viewpoint->mode;
    if (action == TH_ACTION_SEE_ALL) {
        see(v, th_crowd_view_see_all);
    } else if (action == TH_ACTION_CAMERA && mode != TH_CAMERA_MODE_FLY) {
        th_viewpoint_set(viewpoint, mode == TH_CAMERA_MODE_ORBIT ? TH_CAMERA_MODE_FLY : TH_CAMERA_MODE_ORBIT);
    } else if (action == TH_ACTION_CAMERA || action % TH_ACTION_BACK == TH_ACTION_FOLLOW) {
        const uint32_t instance =
            th_crowd_view_next_walker(view->crowd_view, viewpoint->followed, action >= TH_ACTION_BACK);
        const th_follow_target subject = th_crowd_view_follow_target(view->crowd_view, instance, view->time_s);
        th_viewpoint_follow(viewpoint, instance, &subject);
    }
    if (th_live_settings_blend(&v->wanted, action, &v->model_set)) {
        th_crowd_view_set_blend(view->crowd_view, &v->wanted.behaviour.blend, view->time_s);
        view->settings.behaviour.blend = v->wanted.behaviour.blend;
    }
    if (th_live_settings_apply(&v->wanted, action, &v->model_set, &v->start))
        v->stale = true;
}

static void act(viewer *v, th_action action)
{
    th_view_hud *view = &v->view;
    const bool back = action >= TH_ACTION_BACK;
    switch (action % TH_ACTION_BACK) {
    case TH_ACTION_HELP: /* a page that there is not in this window is none: draw_frame */
        v->help_page++;
        break;
    case TH_ACTION_QUIT:
        v->quits |= v->help_page == 0;
        v->help_page = 0;
        break;
    case TH_ACTION_HUD:
        v->hides_hud = !v->hides_hud;
        break;
    case TH_ACTION_FULL_SCREEN:
        th_window_toggle_full_screen(v->window);
        break;
    case TH_ACTION_SCREENSHOT:
        v->takes_screenshot = true;
        break;
    case TH_ACTION_VSYNC:
        view->vsync = !view->vsync;
        th_window_set_vsync(v->window, view->vsync);
        break;
    case TH_ACTION_PAUSE:
        view->paused = !view->paused;
        break;
    case TH_ACTION_STEP:
        view->paused = true;
        view->time_s += (back ? -1 : 1) / TH_FRAME_RATE;
        break;
    case TH_ACTION_RATE:
        view->rate = fmin(fmax(back ? view->rate / 2 : view->rate * 2, 1 / MOST_RATE), MOST_RATE);
        break;
    case TH_ACTION_REAL_TIME:
        view->rate = 1;
        break;
    default:
        if (view->crowd_view && v->canvas)
            act_on_crowd(v, action);
    }
}

/* ---- a frame ---- */

/* Writes throng-0001.png into the current folder, or the first free name after it; never overwrites a file. */
static th_result write_screenshot(const th_canvas *c, char *path, size_t size, th_error *err)
{
    int number = 0;
    do
        snprintf(path, size, "throng-%04d.png", ++number);
    while (access(path, F_OK) == 0 && number < MOST_PICTURES);
    if (access(path, F_OK) == 0)
        return th_fail(err, TH_ERR_INPUT, "all names up to %s are taken", path);
    uint8_t *pixels = malloc(th_target_bytes(c->target));
    if (!pixels)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a screenshot");
    const th_frame_writer_desc desc = {
        .path = path, .width = c->width, .height = c->height, .frame_count = 1, .frames_per_s = 1};
    th_frame_writer *writer;
    th_target_read(c->target, pixels);
    th_result result = th_frame_writer_open(&desc, &writer, err);
    if (result == TH_OK) {
        result = th_frame_writer_add(writer, pixels, err);
        if (result == TH_OK)
            result = th_frame_writer_close(writer, err);
        else
            th_frame_writer_abandon(writer);
    }
    free(pixels);
    return result;
}

static void draw_frame(viewer *v)
{
    const th_canvas *c = v->canvas;
    th_view_hud *view = &v->view;
    th_controls *controls = &v->window->controls;
    th_jobs *jobs = view->crowd_view ? th_crowd_view_get_parts(view->crowd_view).jobs : NULL;
    th_error err;
    th_tracer_frame_begin(v->tracer, jobs, v->frames);
    th_gpu_clock_begin(v->gpu_clock);
    if (view->crowd_view) /* if the driver loses data, the next frame draws again */
        th_crowd_view_frame(view->crowd_view, view->time_s, &view->viewpoint.camera, c->target);
    th_tracer_begin(v->tracer, "resolve");
    if (view->crowd_view)
        th_target_resolve(c->target);

    th_tracer_next(v->tracer, "hud");
    th_target_bind_resolved(c->target);
    const double waited_s = v->rebuild.under_way ? (double)(th_clock_ns() - v->rebuild.began_ns) / 1e9 : 0;
    view->width = c->width;
    view->height = c->height;
    view->bottom = 0;
    th_hud_begin(view->hud, c->width, c->height);
    controls->hotspots.count = 0;
    if (!view->crowd_view)
        th_view_hud_loading(view, v->rebuild.doing, waited_s);
    if (v->help_page > th_view_hud_help_pages(view))
        v->help_page = 0;
    if (v->help_page > 0) {
        th_view_hud_help(view, v->help_page - 1);
    } else if (view->crowd_view && !v->hides_hud) {
        th_view_hud_statistics(view);
        view->bottom = th_view_hud_buttons(view, controls->cursor, &controls->hotspots);
        view->bottom += th_crowd_view_legend(view->crowd_view, view->hud, 0, (float)view->height - view->bottom);
    }
    if (now_s() < v->message_until_s && !v->takes_screenshot)
        th_view_hud_message(view, v->message);
    else if (view->crowd_view && waited_s > 0.5)
        th_view_hud_message(view, v->rebuild.doing);
    th_hud_end(view->hud);
    th_gpu_clock_end(v->gpu_clock);
    if (v->takes_screenshot) {
        char path[32];
        if (write_screenshot(c, path, sizeof path, &err) == TH_OK)
            tell(v, "wrote %s", path);
        else
            tell(v, "%s", err.text);
        th_complain("%s", v->message);
    }
    v->takes_screenshot = false;
    th_tracer_next(v->tracer, "swap");
    th_target_show(c->target, v->window->gl);
    th_gl_swap(v->window->gl);
    th_tracer_end(v->tracer);
    th_tracer_frame_end(v->tracer, jobs);

    /* Its time is from the end of the last frame to the end of this one. */
    if (view->crowd_view) {
        const th_crowd_view_stats stats = th_crowd_view_get_stats(view->crowd_view);
        const uint64_t last_ns = v->last_end_ns, end_ns = th_clock_ns();
        uint64_t gpu_ns;
        if (th_gpu_clock_read(v->gpu_clock, &gpu_ns))
            view->readings.gpu_ms = (double)gpu_ns / 1e6;
        float ms[TH_FRAME_PARTS] = {
            [TH_FRAME_EVALUATE] = (float)(stats.cull_ns + stats.pose_ns) / 1e6F,
            [TH_FRAME_WAIT] = (float)stats.wait_ns / 1e6F,
            [TH_FRAME_DRAW] = (float)stats.draw_ns / 1e6F,
        };
        const float known = ms[TH_FRAME_EVALUATE] + ms[TH_FRAME_WAIT] + ms[TH_FRAME_DRAW];
        ms[TH_FRAME_PRESENT] = fmaxf(0, (float)(end_ns - last_ns) / 1e6F - known);
        if (last_ns > 0)
            th_history_add(&view->history, ms);
        v->last_end_ns = end_ns;
        v->frames++;
    }
#ifndef NDEBUG
    const th_result result = th_gl_check(v->window->gl, "while a frame was drawn", &err);
    if (result != TH_OK)
        fail(v, result, &err);
#endif
}

/* ---- the loop ---- */

/* Fits picture and letters to the window. */
static void fit(viewer *v)
{
    th_error err;
    const th_result result = th_window_fit(v->window, &v->canvas, &err);
    if (result != TH_OK) {
        tell(v, "%s", err.text);
        if (!v->canvas)
            fail(v, result, &err);
    }
    if (!v->canvas)
        return;
    /* The same letter size on every display, but small enough that statistics and help fit. */
    const th_canvas *c = v->canvas;
    const float px = fminf(TEXT_PX * c->density, fminf((float)c->height / 28, (float)c->width / 80));
    const float text_px = roundf(fminf(fmaxf(px, LEAST_TEXT_PX), TH_HUD_MAX_TEXT_PX));
    if (text_px == v->text_px)
        return;
    v->text_px = text_px;
    if (th_hud_set_text_px(v->view.hud, text_px, &err) != TH_OK)
        tell(v, "%s", err.text);
}

static void take_readings(viewer *v)
{
    th_hud_readings *r = &v->view.readings;
    th_worker_stats workers[TH_JOBS_MAX_THREADS];
    th_jobs *jobs = th_crowd_view_get_parts(v->view.crowd_view).jobs;
    double total_ms = 0;
    for (uint32_t part = 0; part < TH_FRAME_PARTS; part++) {
        r->mean_ms[part] = th_history_mean(&v->view.history, (th_frame_part)part);
        total_ms += r->mean_ms[part];
    }
    r->frames_per_s = total_ms > 0 ? 1000 / total_ms : 0;
    r->median_ms = th_history_last(&v->view.history, 0.5);
    r->p95_ms = th_history_last(&v->view.history, 0.95);
    r->p99_ms = th_history_last(&v->view.history, 0.99);
    th_jobs_stats(jobs, workers);
    th_jobs_stats_reset(jobs);
    r->threads = th_jobs_threads(jobs);
    for (uint32_t w = 0; w < r->threads; w++) {
        const double all_ns = (double)(workers[w].busy_ns + workers[w].idle_ns);
        r->busy[w] = all_ns > 0 ? (float)((double)workers[w].busy_ns / all_ns) : 0;
    }
    v->readings_s = now_s();
}

/* Loads the models and shows the crowd. Returns when the window is closed, when `stop` says so, or when there is no
 * crowd to show: the models cannot be loaded, or the driver fails. Complains of what fails later; the window then stays
 * open. */
static void show(viewer *v)
{
    th_view_hud *view = &v->view;
    th_viewpoint *viewpoint = &view->viewpoint;
    const uint32_t most = v->options->view.frames;
    double last_s = now_s();
    begin_rebuild(v);
    while (!v->quits && !*v->stop && !th_window_closing(v->window) && (most == 0 || v->frames < most)) {
        /* Sleeps while there is nothing to draw, and draws less often while loading, which needs the CPUs. */
        th_tracer_begin(v->tracer, "events");
        th_window_poll(v->window, !v->canvas ? 0.1 : !view->crowd_view ? 0.02 : 0);
        th_tracer_end(v->tracer);
        const double s = now_s(), elapsed_s = fmin(s - last_s, LONGEST_STEP_S);
        last_s = s;
        th_tracer_begin(v->tracer, "fit");
        fit(v);
        th_tracer_end(v->tracer);
        for (th_action action; (action = th_controls_next(&v->window->controls)) != TH_ACTION_NONE;)
            act(v, action);
        if (v->rebuild.under_way && atomic_load_explicit(&v->rebuild.ready, memory_order_acquire))
            end_rebuild(v);
        if (v->stale && !v->rebuild.under_way)
            begin_rebuild(v);

        /* The title has the state, for window lists and for programs that watch. */
        char state[160], rate[24] = "", title[256];
        const bool orbits = viewpoint->mode == TH_CAMERA_MODE_ORBIT;
        th_live_settings_describe(view->crowd_view ? &view->settings : &v->wanted, state, sizeof state);
        if (view->rate != 1)
            snprintf(rate, sizeof rate, ", x%g", view->rate);
        snprintf(title, sizeof title, "Throng - %s%s%s%s%s%s%s", view->crowd_view ? "" : "loading ", state,
                 orbits ? "" : ", ", orbits ? "" : th_camera_mode_name(viewpoint->mode), rate,
                 view->vsync ? "" : ", no vsync", view->paused ? ", paused" : "");
        th_window_set_title(v->window, title);
        if (v->quits || !v->canvas) {
            v->last_end_ns = 0;
            continue;
        }

        /* This frame's time and camera. */
        if (view->crowd_view) {
            view->time_s += view->paused ? 0 : elapsed_s * view->rate;
            const th_motion motion = th_controls_take(&v->window->controls);
            const th_follow_target subject =
                th_crowd_view_follow_target(view->crowd_view, viewpoint->followed, view->time_s);
            if (!viewpoint->touched && v->aspect != aspect_of(v->canvas))
                see(v, th_crowd_view_camera); /* refit to the current crowd and window */
            if (viewpoint->mode == TH_CAMERA_MODE_FOLLOW)
                th_viewpoint_track(viewpoint, &subject);
            th_viewpoint_move(viewpoint, &motion, subject.height, (float)elapsed_s);
            th_crowd_view_fit_depth(view->crowd_view, &viewpoint->camera);
            if (now_s() - v->readings_s > READINGS_S)
                take_readings(v);
        }
        draw_frame(v);
    }
}

/* ---- the result: what was shown, with statistics of all frames ---- */

static bool write_view(const void *result, th_form form, FILE *file)
{
    const viewer *v = result;
    const bool is_drawn = v->view.crowd_view;
    const th_crowd_view_parts parts = is_drawn ? th_crowd_view_get_parts(v->view.crowd_view) : (th_crowd_view_parts){0};
    const th_history *h = &v->view.history;
    const double s = now_s() - v->began_s, frames_per_s = is_drawn && s > 0 ? (double)v->frames / s : 0;
    if (form == TH_FORM_TEXT && v->frames == 0)
        return true;
    if (form == TH_FORM_TEXT) {
        fprintf(file, "%s frame%s, %.1f a second; ms: median %.2f, p95 %.2f, p99 %.2f\n",
                th_digits_from(v->frames).text, th_plural(v->frames), frames_per_s, th_history_all(h, 0.5),
                th_history_all(h, 0.95), th_history_all(h, 0.99));
        return true;
    }
    const th_crowd_view_desc *crowd = is_drawn ? &v->view.settings.crowd : &v->wanted.crowd;
    const th_gl_info *gl = v->view.gl;
    json_t *ms = json_pack("{s:o, s:o, s:o}", "median", th_json_real(th_history_all(h, 0.5)), "p95",
                           th_json_real(th_history_all(h, 0.95)), "p99", th_json_real(th_history_all(h, 0.99)));
    json_t *mean_ms = json_object();
    for (uint32_t part = 0; part < TH_FRAME_PARTS; part++)
        json_object_set_new(mean_ms, th_frame_part_name((th_frame_part)part),
                            th_json_real(h->sum_ms[part] / (double)h->all.total));
    json_t *json = json_pack(
        "{s:o, s:f, s:o, s:o, s:o, s:o, s:s, s:s, s:s, s:o, s:o, s:b, s:o, s:o, s:o, s:o}", "frames",
        th_json_count(v->frames), "frames_per_s", frames_per_s, "frame_ms", ms, "mean_ms", mean_ms, "characters",
        th_json_count(crowd->count), "threads", th_json_count(crowd->jobs.threads), "scheduler",
        th_scheduler_name(crowd->jobs.scheduler), "palette", is_drawn ? th_format_name(parts.palette) : "none",
        "interpolation", th_interpolation_name(crowd->compile.interpolation), "renderer", th_json_text(gl->renderer),
        "version", th_json_text(gl->version), "software", (int)gl->software, "fetch",
        th_json_text(is_drawn ? th_fetch_name(parts.fetch) : NULL), "upload",
        th_json_text(is_drawn ? th_ring_upload_name(parts.upload) : NULL), "evaluator",
        th_json_text(is_drawn ? th_evaluator_name(parts.evaluator) : NULL), "gpu_mapping",
        th_json_text(parts.evaluator == TH_EVALUATOR_GPU ? th_gpu_mapping_name(parts.gpu_mapping.mapping) : NULL));
    return th_output_json(json, 6, file);
}

int th_command_view(const th_options *o, th_run *run)
{
    const th_live_settings start = {.crowd = o->crowd, .behaviour = o->behaviour, .clip = o->models.clip};
    viewer v = {.options = o,
                .stop = th_interrupt_begin(),
                .tracer = run->tracer,
                .start = start,
                .wanted = start,
                .view = {.readings.gpu_ms = -1, .time_s = o->crowd.start_s, .rate = 1, .vsync = true}};
    th_tracer_begin(v.tracer, "prepare");
    v.result = th_window_open(&o->picture, &v.window, &v.err);
    if (v.result == TH_OK) {
        const th_gl *gl = v.window->gl;
        v.view.gl = th_gl_get_info(gl);
        v.wanted.crowd.palette = th_palette_for(v.wanted.crowd.palette, gl);
        if (v.view.gl->software && !th_run_has_option(run, "count"))
            v.wanted.crowd.count = SOFTWARE_COUNT;
        v.result = th_hud_create(gl, TEXT_PX, &v.view.hud, &v.err);
        if (v.result == TH_OK)
            v.result = th_gpu_clock_create(gl, &v.gpu_clock, &v.err);
    }
    th_tracer_end(v.tracer);
    if (v.result == TH_OK)
        show(&v);

    int code = TH_EXIT_GOOD; /* Ctrl-C also reaches the importer, and that it fails then is no news */
    if (v.result == TH_OK)
        code = th_output_write(run, &o->output, write_view, &v);
    else if (!th_interrupt_is_requested())
        code = th_fail_with(&v.err);
    if (code == TH_EXIT_GOOD && th_interrupt_is_requested())
        code = th_interrupt_code();
    if (v.rebuild.under_way) {
        /* The result of the rebuild is not needed. The program exits without waiting for its thread; the system frees
         * its memory. */
        code = th_run_end_trace(run, o->trace, code);
        const int finish = th_output_finish();
        _exit(code != TH_EXIT_GOOD ? code : finish);
    }
    th_tracer_begin(v.tracer, "finish");
    th_crowd_view_destroy(v.view.crowd_view);
    th_model_set_fini(&v.model_set);
    th_gpu_clock_destroy(v.gpu_clock);
    th_hud_destroy(v.view.hud);
    th_window_close(v.window);
    th_tracer_end(v.tracer);
    return code;
}

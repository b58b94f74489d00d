/* throng view: shows the moving crowd in a window.
 *
 * The loop draws one frame after another. A key that changes a setting starts to build another crowd view, which
 * replaces the current one when it is ready (async_rebuild.h). Loading is the first such rebuild. */
#include "async_rebuild.h"
#include "cli/output.h"
#include "cli/tracing.h"
#include "live_settings.h"
#include "screenshot.h"
#include "view_hud.h"
#include "window.h"

#include <throng/core/clock.h>
#include <throng/core/json.h>
#include <throng/core/table.h>
#include <throng/render/gpu_clock.h>

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_PX        16.0F /* line height on an ordinary display */
#define LEAST_TEXT_PX  9.0F  /* smallest line height in small windows; below it statistics and help are cut off */
#define MESSAGE_S      5.0
#define READINGS_S     0.3
#define LONGEST_STEP_S 0.25 /* longest time step; after a slower frame the crowd moves by this */
#define SOFTWARE_COUNT 100u
#define MOST_RATE      64.0

typedef struct viewer {
    const th_options *given;
    th_options wanted, shown;
    bool stale; /* the crowd view does not match the options */
    th_model_set model_set;
    th_crowd_view *crowd_view; /* NULL while the model set is loaded */
    th_async_rebuild rebuild;

    th_window *window;
    const th_canvas *canvas; /* NULL while there is nothing to draw to */
    th_hud *hud;
    float text_px;
    th_gpu_clock *gpu_clock;

    th_viewpoint viewpoint;
    float aspect; /* of the picture when the camera last showed the whole crowd; 0: not yet */
    double time_s, rate;
    bool paused, vsync, shows_help, hides_hud, takes_screenshot, quits;
    char message[256];
    double message_until_s;

    uint64_t frames; /* frames in which the crowd was drawn */
    th_history history;
    th_hud_readings readings;
    double readings_s;    /* time of the last readings */
    double began_s;       /* time at which the first crowd view was ready */
    uint64_t last_end_ns; /* end of the last frame; 0: none */
    int code;
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

static void end_with(viewer *v, int code)
{
    v->code = code;
    v->quits = true;
}

/* ---- rebuilding ---- */

/* Keeps the current crowd view. Without one, ends the program. */
static void give_up_rebuild(viewer *v, int code, const th_error *err)
{
    if (err->text[0])
        th_complain("%s", err->text);
    if (!v->crowd_view) {
        end_with(v, code);
        return;
    }
    tell(v, "%s", err->text);
    v->wanted = v->shown;
    v->stale = false;
}

static void begin_rebuild(viewer *v)
{
    th_error err;
    v->stale = false;
    if (th_async_rebuild_begin(&v->rebuild, &v->wanted, &v->model_set, v->crowd_view, &err) != TH_OK)
        give_up_rebuild(v, TH_EXIT_ENVIRONMENT, &err);
}

static void end_rebuild(viewer *v)
{
    th_error err;
    const bool first = !v->crowd_view;
    th_tracer_begin(v->given->tracer, "rebuild");
    const int code = th_async_rebuild_end(&v->rebuild, th_window_gl(v->window), &v->crowd_view, &err);
    th_tracer_end(v->given->tracer);
    if (code != TH_EXIT_GOOD) {
        give_up_rebuild(v, code, &err);
        return;
    }
    v->shown = v->rebuild.options;
    th_jobs_stats_reset(th_crowd_view_jobs(v->crowd_view));
    th_crowd_view_trace(v->crowd_view, v->given->tracer);
    v->viewpoint.followed %= v->shown.count;
    v->aspect = 0;
    if (first)
        v->began_s = now_s();
}

/* ---- actions ---- */

static float aspect_of(const th_canvas *canvas)
{
    return (float)canvas->width / (float)canvas->height;
}

static void see_all(viewer *v)
{
    v->aspect = aspect_of(v->canvas);
    const th_camera camera = th_crowd_view_camera(v->crowd_view, v->aspect);
    th_viewpoint_see_all(&v->viewpoint, &camera);
}

static void follow(viewer *v, bool before)
{
    const uint32_t instance = th_crowd_view_next_walker(v->crowd_view, v->viewpoint.followed, before);
    const th_follow_target subject = th_crowd_view_follow_target(v->crowd_view, instance, v->time_s);
    th_viewpoint_follow(&v->viewpoint, instance, &subject);
}

static void act_on_camera(viewer *v, th_action action)
{
    if (action == TH_ACTION_SEE_ALL)
        see_all(v);
    if (action == TH_ACTION_FOLLOW_NEXT || action == TH_ACTION_FOLLOW_PREVIOUS)
        follow(v, action == TH_ACTION_FOLLOW_PREVIOUS);
    if (action != TH_ACTION_CAMERA)
        return;
    if (v->viewpoint.mode == TH_CAMERA_MODE_FLY)
        follow(v, false);
    else
        th_viewpoint_set(&v->viewpoint,
                         v->viewpoint.mode == TH_CAMERA_MODE_ORBIT ? TH_CAMERA_MODE_FLY : TH_CAMERA_MODE_ORBIT);
}

static void act_on_time(viewer *v, th_action action)
{
    if (action == TH_ACTION_PAUSE)
        v->paused = !v->paused;
    if (action == TH_ACTION_SLOWER)
        v->rate = fmax(v->rate / 2, 1 / MOST_RATE);
    if (action == TH_ACTION_FASTER)
        v->rate = fmin(v->rate * 2, MOST_RATE);
    if (action == TH_ACTION_REAL_TIME)
        v->rate = 1;
    if (action == TH_ACTION_STEP || action == TH_ACTION_STEP_BACK) {
        v->paused = true;
        v->time_s += (action == TH_ACTION_STEP ? 1 : -1) / TH_FRAME_RATE;
    }
}

static void act_on_window(viewer *v, th_action action)
{
    if (action == TH_ACTION_HELP || (action == TH_ACTION_QUIT && v->shows_help))
        v->shows_help = !v->shows_help;
    else if (action == TH_ACTION_QUIT)
        v->quits = true;
    if (action == TH_ACTION_HUD)
        v->hides_hud = !v->hides_hud;
    if (action == TH_ACTION_FULL_SCREEN)
        th_window_toggle_full_screen(v->window);
    if (action == TH_ACTION_SCREENSHOT)
        v->takes_screenshot = true;
    if (action == TH_ACTION_VSYNC) {
        v->vsync = !v->vsync;
        th_window_set_vsync(v->window, v->vsync);
    }
}

static void act(viewer *v)
{
    th_controls *controls = th_window_controls(v->window);
    for (th_action action; (action = th_controls_next(controls)) != TH_ACTION_NONE;) {
        act_on_window(v, action);
        act_on_time(v, action);
        if (!v->crowd_view || !v->canvas)
            continue;
        act_on_camera(v, action);
        if (th_live_settings_apply(&v->wanted, action, &v->model_set, v->given))
            v->stale = true;
    }
}

/* Moves this frame's camera. */
static void move(viewer *v, double elapsed_s)
{
    const th_motion motion = th_controls_take(th_window_controls(v->window));
    const th_follow_target subject = th_crowd_view_follow_target(v->crowd_view, v->viewpoint.followed, v->time_s);
    if (!v->viewpoint.touched && v->aspect != aspect_of(v->canvas))
        see_all(v); /* refit to the current crowd and window */
    if (v->viewpoint.mode == TH_CAMERA_MODE_FOLLOW)
        th_viewpoint_track(&v->viewpoint, &subject);
    th_viewpoint_move(&v->viewpoint, &motion, subject.height, (float)elapsed_s);
    th_crowd_view_fit_depth(v->crowd_view, &v->viewpoint.camera);
}

/* ---- statistics ---- */

static void take_readings(viewer *v)
{
    th_hud_readings *r = &v->readings;
    th_worker_stats workers[TH_JOBS_MAX_THREADS];
    th_jobs *jobs = th_crowd_view_jobs(v->crowd_view);
    double total_ms = 0;
    for (uint32_t part = 0; part < TH_FRAME_PARTS; part++) {
        r->mean_ms[part] = th_history_mean(&v->history, (th_frame_part)part);
        total_ms += r->mean_ms[part];
    }
    r->frames_per_s = total_ms > 0 ? 1000 / total_ms : 0;
    r->median_ms = th_history_last(&v->history, 0.5);
    r->p95_ms = th_history_last(&v->history, 0.95);
    r->p99_ms = th_history_last(&v->history, 0.99);
    th_jobs_stats(jobs, workers);
    th_jobs_stats_reset(jobs);
    r->threads = th_jobs_threads(jobs);
    for (uint32_t w = 0; w < r->threads; w++) {
        const double all_ns = (double)(workers[w].busy_ns + workers[w].idle_ns);
        r->busy[w] = all_ns > 0 ? (float)((double)workers[w].busy_ns / all_ns) : 0;
    }
    v->readings_s = now_s();
}

/* From the end of the last frame to the end of this one. */
static void time_frame(viewer *v)
{
    const th_crowd_view_stats stats = th_crowd_view_get_stats(v->crowd_view);
    const uint64_t last_ns = v->last_end_ns, end_ns = th_clock_ns();
    uint64_t gpu_ns;
    v->last_end_ns = end_ns;
    if (th_gpu_clock_read(v->gpu_clock, &gpu_ns))
        v->readings.gpu_ms = (double)gpu_ns / 1e6;
    if (last_ns == 0)
        return;
    float ms[TH_FRAME_PARTS] = {
        [TH_FRAME_EVALUATE] = (float)(stats.cull_ns + stats.pose_ns) / 1e6F,
        [TH_FRAME_WAIT] = (float)stats.wait_ns / 1e6F,
        [TH_FRAME_DRAW] = (float)stats.draw_ns / 1e6F,
    };
    const float known = ms[TH_FRAME_EVALUATE] + ms[TH_FRAME_WAIT] + ms[TH_FRAME_DRAW];
    ms[TH_FRAME_PRESENT] = fmaxf(0, (float)(end_ns - last_ns) / 1e6F - known);
    th_history_add(&v->history, ms);
}

/* Puts the frame rate into the title, for window lists and for programs that watch. */
static void set_title(viewer *v)
{
    char state[160], rate[24] = "", title[256];
    const th_camera_mode mode = v->viewpoint.mode;
    th_live_settings_describe(v->crowd_view ? &v->shown : &v->wanted, state, sizeof state);
    if (v->rate != 1)
        snprintf(rate, sizeof rate, ", x%g", v->rate);
    snprintf(title, sizeof title, "Throng - %s%s%s%s%s%s%s", v->crowd_view ? "" : "loading ", state,
             mode != TH_CAMERA_MODE_ORBIT ? ", " : "", mode != TH_CAMERA_MODE_ORBIT ? th_camera_mode_name(mode) : "",
             rate, v->vsync ? "" : ", no vsync", v->paused ? ", paused" : "");
    th_window_set_title(v->window, title);
}

/* ---- a frame ---- */

static void draw_hud(viewer *v)
{
    const th_view_hud view_hud = {.hud = v->hud,
                                  .width = v->canvas->width,
                                  .height = v->canvas->height,
                                  .gl = th_gl_get_info(th_window_gl(v->window)),
                                  .crowd_view = v->crowd_view,
                                  .options = &v->shown,
                                  .history = &v->history,
                                  .readings = &v->readings,
                                  .viewpoint = &v->viewpoint,
                                  .time_s = v->time_s,
                                  .rate = v->rate,
                                  .paused = v->paused,
                                  .vsync = v->vsync};
    const double waited_s = v->rebuild.under_way ? (double)(th_clock_ns() - v->rebuild.began_ns) / 1e9 : 0;
    th_hud_begin(v->hud, view_hud.width, view_hud.height);
    if (!v->crowd_view)
        th_view_hud_loading(&view_hud, v->rebuild.doing, waited_s);
    else if (!v->hides_hud && !v->shows_help)
        th_view_hud_statistics(&view_hud);
    if (v->shows_help)
        th_view_hud_help(&view_hud);
    if (now_s() < v->message_until_s && !v->takes_screenshot)
        th_view_hud_message(&view_hud, v->message);
    else if (v->crowd_view && waited_s > 0.5)
        th_view_hud_message(&view_hud, v->rebuild.doing);
    th_hud_end(v->hud);
}

/* Takes a screenshot. */
static void shoot(viewer *v)
{
    const th_canvas *c = v->canvas;
    char path[TH_SCREENSHOT_PATH];
    th_error err;
    uint8_t *pixels = malloc(th_target_bytes(c->target));
    th_result result = pixels ? TH_OK : th_fail(&err, TH_ERR_MEMORY, "no memory for a screenshot");
    if (result == TH_OK) {
        th_target_read(c->target, pixels);
        result = th_screenshot_write(pixels, c->width, c->height, path, &err);
    }
    free(pixels);
    if (result == TH_OK)
        th_fail(&err, TH_OK, "wrote %s", path);
    tell(v, "%s", err.text);
    th_complain("%s", err.text);
}

static void draw_frame(viewer *v)
{
    const th_canvas *c = v->canvas;
    th_tracer *tracer = v->given->tracer;
    th_jobs *jobs = v->crowd_view ? th_crowd_view_jobs(v->crowd_view) : NULL;
    th_tracer_frame_begin(tracer, jobs, v->frames);
    th_gpu_clock_begin(v->gpu_clock);
    if (v->crowd_view) /* if the driver loses data, the next frame draws again */
        th_crowd_view_frame(v->crowd_view, v->time_s, &v->viewpoint.camera, c->target, c->width, c->height);
    th_tracer_begin(tracer, "resolve");
    if (v->crowd_view)
        th_target_resolve(c->target);
    th_tracer_next(tracer, "hud");
    th_target_bind_resolved(c->target);
    draw_hud(v);
    th_gpu_clock_end(v->gpu_clock);
    if (v->takes_screenshot)
        shoot(v);
    v->takes_screenshot = false;
    th_tracer_next(tracer, "swap");
    th_target_show(c->target, th_window_gl(v->window));
    th_gl_swap(th_window_gl(v->window));
    th_tracer_end(tracer);
    th_tracer_frame_end(tracer, jobs);
    if (v->crowd_view) {
        time_frame(v);
        v->frames++;
    }
#ifndef NDEBUG
    th_error err;
    if (th_gl_check(th_window_gl(v->window), "while a frame was drawn", &err) != TH_OK)
        end_with(v, th_fail_with(&err));
#endif
}

/* ---- the loop ---- */

/* The same letter size on every display, but small enough that statistics and help fit. */
static float text_px(const th_canvas *c)
{
    const float px = fminf(TEXT_PX * c->density, fminf((float)c->height / 28, (float)c->width / 80));
    return roundf(fminf(fmaxf(px, LEAST_TEXT_PX), TH_HUD_MAX_TEXT_PX));
}

static void fit(viewer *v)
{
    th_error err;
    if (th_window_fit(v->window, &v->canvas, &err) != TH_OK) {
        tell(v, "%s", err.text);
        if (!v->canvas)
            end_with(v, th_fail_with(&err));
    }
    if (!v->canvas || text_px(v->canvas) == v->text_px)
        return;
    v->text_px = text_px(v->canvas);
    if (th_hud_set_text_px(v->hud, v->text_px, &err) != TH_OK)
        tell(v, "%s", err.text);
}

static void run_frame(viewer *v, double elapsed_s)
{
    th_tracer_begin(v->given->tracer, "fit");
    fit(v);
    th_tracer_end(v->given->tracer);
    act(v);
    if (th_async_rebuild_ready(&v->rebuild))
        end_rebuild(v);
    if (v->stale && !v->rebuild.under_way)
        begin_rebuild(v);
    set_title(v);
    if (v->quits || !v->canvas) {
        v->last_end_ns = 0;
        return;
    }
    if (v->crowd_view) {
        v->time_s += v->paused ? 0 : elapsed_s * v->rate;
        move(v, elapsed_s);
        if (now_s() - v->readings_s > READINGS_S)
            take_readings(v);
    }
    draw_frame(v);
}

static bool is_running(const viewer *v)
{
    const uint32_t most = v->given->frames;
    return !v->quits && !th_window_closing(v->window) && (most == 0 || v->frames < most);
}

static void loop(viewer *v)
{
    double last_s = now_s();
    begin_rebuild(v);
    while (is_running(v)) {
        /* Sleeps while there is nothing to draw, and draws less often while loading, which needs the CPUs. */
        const double wait_s = !v->canvas ? 0.1 : !v->crowd_view ? 0.02 : 0;
        th_tracer_begin(v->given->tracer, "events");
        th_window_poll(v->window, wait_s);
        th_tracer_end(v->given->tracer);
        const double s = now_s();
        run_frame(v, fmin(s - last_s, LONGEST_STEP_S));
        last_s = s;
    }
}

static th_result begin(viewer *v, th_error *err)
{
    th_result result = th_window_open(v->given, &v->window, err);
    if (result != TH_OK)
        return result;
    th_gl *gl = th_window_gl(v->window);
    if (th_gl_get_info(gl)->software && !th_options_given(v->given, "count"))
        v->wanted.count = SOFTWARE_COUNT;
    result = th_hud_create(gl, TEXT_PX, &v->hud, err);
    if (result == TH_OK)
        result = th_gpu_clock_create(gl, &v->gpu_clock, err);
    return result;
}

static void end(viewer *v)
{
    th_crowd_view_destroy(v->crowd_view);
    th_model_set_fini(&v->model_set);
    th_gpu_clock_destroy(v->gpu_clock);
    th_hud_destroy(v->hud);
    th_window_close(v->window);
}

/* ---- result ---- */

static double frames_per_s(const viewer *v)
{
    const double s = now_s() - v->began_s;
    return v->crowd_view && s > 0 ? (double)v->frames / s : 0;
}

static json_t *parts_json(const th_history *h)
{
    json_t *parts = json_object();
    for (uint32_t part = 0; part < TH_FRAME_PARTS; part++)
        json_object_set_new(parts, th_frame_part_name((th_frame_part)part),
                            th_json_real(h->sum_ms[part] / (double)h->all.total));
    return parts;
}

static json_t *view_json(const void *ctx)
{
    const viewer *v = ctx;
    const th_options *o = v->crowd_view ? &v->shown : &v->wanted;
    const th_gl_info *info = th_gl_get_info(th_window_gl(v->window));
    const th_history *h = &v->history;
    json_t *ms = json_pack("{s:o, s:o, s:o}", "median", th_json_real(th_history_all(h, 0.5)), "p95",
                           th_json_real(th_history_all(h, 0.95)), "p99", th_json_real(th_history_all(h, 0.99)));
    return json_pack(
        "{s:o, s:f, s:o, s:o, s:o, s:o, s:s, s:s, s:s, s:o, s:o, s:b, s:o, s:o}", "frames", th_json_count(v->frames),
        "frames_per_s", frames_per_s(v), "frame_ms", ms, "mean_ms", parts_json(h), "characters",
        th_json_count(o->count), "threads", th_json_count(o->threads.counts[0]), "scheduler",
        th_scheduler_name(o->scheduler), "palette", th_palette_name(o->palette), "interpolation",
        th_interpolation_name(o->interpolation), "renderer", th_json_text(info->renderer), "version",
        th_json_text(info->version), "software", (int)info->software, "fetch",
        th_json_text(v->crowd_view ? th_fetch_name(th_crowd_renderer_get_fetch(th_crowd_view_renderer(v->crowd_view)))
                                   : NULL),
        "upload",
        th_json_text(v->crowd_view ? th_ring_upload_name(th_ring_get_upload(th_crowd_view_ring(v->crowd_view)))
                                   : NULL));
}

static bool print_view(const void *ctx, FILE *file)
{
    const viewer *v = ctx;
    const th_history *h = &v->history;
    if (v->frames == 0)
        return true;
    fprintf(file, "%s frame%s, %.1f a second; ms: median %.2f, p95 %.2f, p99 %.2f\n", th_digits_from(v->frames).text,
            th_plural(v->frames), frames_per_s(v), th_history_all(h, 0.5), th_history_all(h, 0.95),
            th_history_all(h, 0.99));
    return true;
}

int th_command_view(const th_options *o)
{
    th_error err;
    viewer v = {.given = o, .wanted = *o, .rate = 1, .vsync = o->vsync == TH_VSYNC_ON};
    v.time_s = o->start_s;
    v.readings.gpu_ms = -1;
    th_tracer_begin(o->tracer, "prepare");
    const th_result begun = begin(&v, &err);
    th_tracer_end(o->tracer);
    if (begun == TH_OK)
        loop(&v);
    else
        v.code = th_fail_with(&err);
    if (v.code == TH_EXIT_GOOD)
        v.code = th_output_result(o, &(th_output){.document = view_json, .digits = 6, .print = print_view}, &v);
    if (v.rebuild.under_way) {
        /* A rebuild may still be running, and its result is not needed. The program exits without waiting for the
         * thread; the system frees its memory. */
        v.code = th_tracing_end(o, v.code);
        const int code = th_output_finish();
        _exit(v.code != TH_EXIT_GOOD ? v.code : code);
    }
    th_tracer_begin(o->tracer, "finish");
    end(&v);
    th_tracer_end(o->tracer);
    return v.code;
}

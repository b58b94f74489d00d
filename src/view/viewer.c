/* The loop draws one frame after another. A key that changes a setting starts to build another crowd view, which
 * replaces the current one when it is ready (async_rebuild.h). Loading is the first such rebuild. */
#include "viewer.h"

#include "async_rebuild.h"
#include "screenshot.h"
#include "toolbar.h"
#include "view_hud.h"
#include "window.h"
#include <cli/command.h>

#include <core/clock.h>
#include <core/json.h>
#include <core/table.h>
#include <render/gpu_clock.h>
#include <throng/runtime/frame.h>

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_PX        16.0F /* line height on an ordinary display */
#define LEAST_TEXT_PX  9.0F  /* smallest line height in small windows; below it statistics and help are cut off */
#define MESSAGE_S      5.0
#define READINGS_S     0.3
#define LONGEST_STEP_S 0.25 /* longest time step; after a slower frame the crowd moves by this */
#define MOST_RATE      64.0

struct th_viewer {
    th_viewer_desc desc;
    th_live_settings wanted, shown;
    bool stale; /* the crowd view does not match the wanted settings */
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
    bool paused, vsync, hides_hud, takes_screenshot, quits;
    uint32_t help_page; /* from 1; 0: none */
    char message[256];
    double message_until_s;
    char fallback[256];         /* th_crowd_view_parts.fallback that was said last */
    th_gpu_mapping gpu_mapping; /* that was said last */

    uint64_t frames; /* frames in which the crowd was drawn */
    th_history history;
    th_hud_readings readings;
    double readings_s;    /* time of the last readings */
    double began_s;       /* time at which the first crowd view was ready */
    uint64_t last_end_ns; /* end of the last frame; 0: none */
    th_result result;     /* of the whole */
    th_error err;
};

static double now_s(void)
{
    return (double)th_clock_ns() / 1e9;
}

/* Shows a message in the picture for some seconds. Truncates it to fit. */
__attribute__((format(printf, 2, 3))) static void tell(th_viewer *v, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(v->message, sizeof v->message, format, args);
    va_end(args);
    v->message_until_s = now_s() + MESSAGE_S;
}

static void fail(th_viewer *v, th_result result, const th_error *err)
{
    v->result = result;
    v->err = *err;
    v->quits = true;
}

/* ---- rebuilding ---- */

/* Keeps the current crowd view. Without one, ends the program. */
static void give_up_rebuild(th_viewer *v, th_result result, const th_error *err)
{
    if (!v->crowd_view) {
        fail(v, result, err);
        return;
    }
    th_complain("%s", err->text);
    tell(v, "%s", err->text);
    v->wanted = v->shown;
    v->stale = false;
}

static void begin_rebuild(th_viewer *v)
{
    th_error err;
    v->stale = false;
    const th_result result =
        th_async_rebuild_begin(&v->rebuild, v->desc.models, &v->wanted, &v->model_set, v->crowd_view, &err);
    if (result != TH_OK)
        give_up_rebuild(v, result, &err);
}

/* Says it when the reason is another than before, or the mapping that was measured to be faster. */
static void complain_of_evaluator(th_viewer *v)
{
    const th_crowd_view_parts parts = th_crowd_view_get_parts(v->crowd_view);
    char mapping[128];
    th_gpu_mapping_text(&parts.gpu_mapping, mapping, sizeof mapping);
    if (mapping[0] && parts.gpu_mapping.mapping != v->gpu_mapping)
        th_complain("the GPU poses with %s", mapping);
    v->gpu_mapping = parts.gpu_mapping.mapping;
    if (parts.fallback[0] && strcmp(parts.fallback, v->fallback) != 0) {
        th_complain("%s", parts.fallback);
        tell(v, "%s", parts.fallback);
    }
    snprintf(v->fallback, sizeof v->fallback, "%s", parts.fallback);
}

static void end_rebuild(th_viewer *v)
{
    th_error err;
    const bool first = !v->crowd_view;
    th_tracer_begin(v->desc.tracer, "rebuild");
    const th_result result = th_async_rebuild_end(&v->rebuild, th_window_gl(v->window), &v->crowd_view, &err);
    th_tracer_end(v->desc.tracer);
    if (result != TH_OK) {
        give_up_rebuild(v, result, &err);
        return;
    }
    v->shown = v->rebuild.settings;
    complain_of_evaluator(v);
    v->shown.crowd.blend = v->wanted.crowd.blend; /* may have changed meanwhile */
    th_crowd_view_set_blend(v->crowd_view, &v->wanted.crowd.blend, v->time_s);
    th_jobs_stats_reset(th_crowd_view_get_parts(v->crowd_view).jobs);
    th_crowd_view_trace(v->crowd_view, v->desc.tracer);
    v->viewpoint.followed %= v->shown.crowd.count;
    v->aspect = 0;
    if (first)
        v->began_s = now_s();
}

/* ---- actions ---- */

static float aspect_of(const th_canvas *canvas)
{
    return (float)canvas->width / (float)canvas->height;
}

static void see_all(th_viewer *v)
{
    v->aspect = aspect_of(v->canvas);
    const th_camera camera = th_crowd_view_camera(v->crowd_view, v->aspect, HUGE_VAL);
    th_viewpoint_see_all(&v->viewpoint, &camera);
}

static void follow(th_viewer *v, bool before)
{
    const uint32_t instance = th_crowd_view_next_walker(v->crowd_view, v->viewpoint.followed, before);
    const th_follow_target subject = th_crowd_view_follow_target(v->crowd_view, instance, v->time_s);
    th_viewpoint_follow(&v->viewpoint, instance, &subject);
}

static void act_on_camera(th_viewer *v, th_action action)
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

static void act_on_time(th_viewer *v, th_action action)
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

static void act_on_window(th_viewer *v, th_action action)
{
    if (action == TH_ACTION_HELP) /* a page that there is not in this window is none: draw_hud */
        v->help_page++;
    else if (action == TH_ACTION_QUIT && v->help_page > 0)
        v->help_page = 0;
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

static void act(th_viewer *v)
{
    th_controls *controls = th_window_controls(v->window);
    for (th_action action; (action = th_controls_next(controls)) != TH_ACTION_NONE;) {
        act_on_window(v, action);
        act_on_time(v, action);
        if (!v->crowd_view || !v->canvas)
            continue;
        act_on_camera(v, action);
        if (th_live_settings_blend(&v->wanted, action, &v->model_set)) {
            th_crowd_view_set_blend(v->crowd_view, &v->wanted.crowd.blend, v->time_s);
            v->shown.crowd.blend = v->wanted.crowd.blend;
        }
        if (th_live_settings_apply(&v->wanted, action, &v->model_set, &v->desc.settings))
            v->stale = true;
    }
}

/* Moves this frame's camera. */
static void move(th_viewer *v, double elapsed_s)
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

static void take_readings(th_viewer *v)
{
    th_hud_readings *r = &v->readings;
    th_worker_stats workers[TH_JOBS_MAX_THREADS];
    th_jobs *jobs = th_crowd_view_get_parts(v->crowd_view).jobs;
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
static void time_frame(th_viewer *v)
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
static void set_title(th_viewer *v)
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

static void draw_hud(th_viewer *v)
{
    th_controls *controls = th_window_controls(v->window);
    th_view_hud view_hud = {.hud = v->hud,
                            .width = v->canvas->width,
                            .height = v->canvas->height,
                            .gl = th_gl_get_info(th_window_gl(v->window)),
                            .crowd_view = v->crowd_view,
                            .settings = &v->shown,
                            .history = &v->history,
                            .readings = &v->readings,
                            .viewpoint = &v->viewpoint,
                            .time_s = v->time_s,
                            .rate = v->rate,
                            .paused = v->paused,
                            .vsync = v->vsync};
    const double waited_s = v->rebuild.under_way ? (double)(th_clock_ns() - v->rebuild.began_ns) / 1e9 : 0;
    th_hud_begin(v->hud, view_hud.width, view_hud.height);
    controls->hotspots.count = 0;
    if (!v->crowd_view)
        th_view_hud_loading(&view_hud, v->rebuild.doing, waited_s);
    if (v->help_page > th_view_hud_help_pages(&view_hud))
        v->help_page = 0;
    if (v->help_page > 0) {
        th_view_hud_help(&view_hud, v->help_page - 1);
    } else if (v->crowd_view && !v->hides_hud) {
        th_view_hud_statistics(&view_hud);
        view_hud.bottom =
            th_toolbar_draw(v->hud, view_hud.width, view_hud.height, controls->cursor, v->paused, &controls->hotspots);
    }
    if (now_s() < v->message_until_s && !v->takes_screenshot)
        th_view_hud_message(&view_hud, v->message);
    else if (v->crowd_view && waited_s > 0.5)
        th_view_hud_message(&view_hud, v->rebuild.doing);
    th_hud_end(v->hud);
}

/* Takes a screenshot. */
static void shoot(th_viewer *v)
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
        tell(v, "wrote %s", path);
    else
        tell(v, "%s", err.text);
    th_complain("%s", v->message);
}

static void draw_frame(th_viewer *v)
{
    const th_canvas *c = v->canvas;
    th_tracer *tracer = v->desc.tracer;
    th_jobs *jobs = v->crowd_view ? th_crowd_view_get_parts(v->crowd_view).jobs : NULL;
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
    const th_result result = th_gl_check(th_window_gl(v->window), "while a frame was drawn", &err);
    if (result != TH_OK)
        fail(v, result, &err);
#endif
}

/* ---- the loop ---- */

/* The same letter size on every display, but small enough that statistics and help fit. */
static float text_px(const th_canvas *c)
{
    const float px = fminf(TEXT_PX * c->density, fminf((float)c->height / 28, (float)c->width / 80));
    return roundf(fminf(fmaxf(px, LEAST_TEXT_PX), TH_HUD_MAX_TEXT_PX));
}

static void fit(th_viewer *v)
{
    th_error err;
    const th_result result = th_window_fit(v->window, &v->canvas, &err);
    if (result != TH_OK) {
        tell(v, "%s", err.text);
        if (!v->canvas)
            fail(v, result, &err);
    }
    if (!v->canvas || text_px(v->canvas) == v->text_px)
        return;
    v->text_px = text_px(v->canvas);
    if (th_hud_set_text_px(v->hud, v->text_px, &err) != TH_OK)
        tell(v, "%s", err.text);
}

static void run_frame(th_viewer *v, double elapsed_s)
{
    th_tracer_begin(v->desc.tracer, "fit");
    fit(v);
    th_tracer_end(v->desc.tracer);
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

static bool is_running(const th_viewer *v)
{
    const uint32_t most = v->desc.frames;
    return !v->quits && !*v->desc.stop && !th_window_closing(v->window) && (most == 0 || v->frames < most);
}

th_result th_viewer_run(th_viewer *v, th_error *err)
{
    double last_s = now_s();
    begin_rebuild(v);
    while (is_running(v)) {
        /* Sleeps while there is nothing to draw, and draws less often while loading, which needs the CPUs. */
        const double wait_s = !v->canvas ? 0.1 : !v->crowd_view ? 0.02 : 0;
        th_tracer_begin(v->desc.tracer, "events");
        th_window_poll(v->window, wait_s);
        th_tracer_end(v->desc.tracer);
        const double s = now_s();
        run_frame(v, fmin(s - last_s, LONGEST_STEP_S));
        last_s = s;
    }
    *err = v->err;
    return v->result;
}

bool th_viewer_is_rebuilding(const th_viewer *v)
{
    return v->rebuild.under_way;
}

static th_result open_window(th_viewer *v, th_error *err)
{
    th_result result = th_window_open(&v->desc.picture, &v->window, err);
    if (result != TH_OK)
        return result;
    th_gl *gl = th_window_gl(v->window);
    v->wanted.crowd.palette = th_palette_for(v->wanted.crowd.palette, gl);
    if (th_gl_get_info(gl)->software)
        v->wanted.crowd.count = v->desc.software_count;
    result = th_hud_create(gl, TEXT_PX, &v->hud, err);
    return result == TH_OK ? th_gpu_clock_create(gl, &v->gpu_clock, err) : result;
}

th_result th_viewer_create(const th_viewer_desc *desc, th_viewer **out, th_error *err)
{
    assert(desc && desc->models && out);
    th_viewer *v = *out = calloc(1, sizeof *v);
    if (!v)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a viewer");
    v->desc = *desc;
    v->wanted = desc->settings;
    v->vsync = true;
    v->rate = 1;
    v->time_s = desc->settings.crowd.start_s;
    v->readings.gpu_ms = -1;
    th_tracer_begin(desc->tracer, "prepare");
    const th_result result = open_window(v, err);
    th_tracer_end(desc->tracer);
    if (result != TH_OK) {
        th_viewer_destroy(v);
        *out = NULL;
    }
    return result;
}

void th_viewer_destroy(th_viewer *v)
{
    if (!v)
        return;
    th_tracer *tracer = v->desc.tracer;
    th_tracer_begin(tracer, "finish");
    th_crowd_view_destroy(v->crowd_view);
    th_model_set_fini(&v->model_set);
    th_gpu_clock_destroy(v->gpu_clock);
    th_hud_destroy(v->hud);
    th_window_close(v->window);
    free(v);
    th_tracer_end(tracer);
}

/* ---- result ---- */

static double frames_per_s(const th_viewer *v)
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

json_t *th_viewer_json(const th_viewer *v)
{
    const th_crowd_view_parts parts = v->crowd_view ? th_crowd_view_get_parts(v->crowd_view) : (th_crowd_view_parts){0};
    const th_crowd_view_desc *crowd = v->crowd_view ? &v->shown.crowd : &v->wanted.crowd;
    const th_gl_info *info = th_gl_get_info(th_window_gl(v->window));
    const th_history *h = &v->history;
    const bool is_drawn = v->crowd_view, is_on_gpu = parts.evaluator == TH_EVALUATOR_GPU;
    json_t *ms = json_pack("{s:o, s:o, s:o}", "median", th_json_real(th_history_all(h, 0.5)), "p95",
                           th_json_real(th_history_all(h, 0.95)), "p99", th_json_real(th_history_all(h, 0.99)));
    return json_pack("{s:o, s:f, s:o, s:o, s:o, s:o, s:s, s:s, s:s, s:o, s:o, s:b, s:o, s:o, s:o, s:o}", "frames",
                     th_json_count(v->frames), "frames_per_s", frames_per_s(v), "frame_ms", ms, "mean_ms",
                     parts_json(h), "characters", th_json_count(crowd->count), "threads",
                     th_json_count(crowd->jobs.threads), "scheduler", th_scheduler_name(crowd->jobs.scheduler),
                     "palette", is_drawn ? th_palette_name(parts.palette) : "none", "interpolation",
                     th_interpolation_name(crowd->compile.interpolation), "renderer", th_json_text(info->renderer),
                     "version", th_json_text(info->version), "software", (int)info->software, "fetch",
                     th_json_text(is_drawn ? th_fetch_name(parts.fetch) : NULL), "upload",
                     th_json_text(is_drawn ? th_ring_upload_name(parts.upload) : NULL), "evaluator",
                     th_json_text(is_drawn ? th_evaluator_name(parts.evaluator) : NULL), "gpu_mapping",
                     th_json_text(is_on_gpu ? th_gpu_mapping_name(parts.gpu_mapping.mapping) : NULL));
}

bool th_viewer_print(const th_viewer *v, FILE *file)
{
    const th_history *h = &v->history;
    if (v->frames == 0)
        return true;
    fprintf(file, "%s frame%s, %.1f a second; ms: median %.2f, p95 %.2f, p99 %.2f\n", th_digits_from(v->frames).text,
            th_plural(v->frames), frames_per_s(v), th_history_all(h, 0.5), th_history_all(h, 0.95),
            th_history_all(h, 0.99));
    return true;
}

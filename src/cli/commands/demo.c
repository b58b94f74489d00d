/* throng demo: a camera path over the scenes, in a window or as a film, and a card of figures at its end. */
#include "cli/measuring.h"
#include "picture.h"
#include "view/history.h"
#include "view/window.h"
#include <cli/options.h>

#include <bench/context.h>
#include <bench/figures.h>
#include <core/clock.h>
#include <core/text_format.h>
#include <render/hud.h>
#include <throng/throng.h>

#include <math.h>
#include <stdlib.h>

#define SOFTWARE_COUNT 1000u
#define CARD_S         6.0  /* how long the card is shown, */
#define CARD_PART      0.25 /* but no longer than this part of the whole */
#define TRIAL_PX       64.0F
#define DEGREE         (3.14159265358979 / 180)

/* ---- the camera path ---- */

enum { SHOTS = 3 };

typedef struct shot {
    th_layout_kind scene;
    th_behaviour_kind behaviour;
    double begin, end;   /* parts of the whole, from 0 to 1 */
    double crowd;        /* characters, of the largest crowd */
    double yaw_deg[2];   /* this and below: at its begin and end, in addition to the scene's own camera */
    double pitch_deg[2]; /* the sum is above 0 */
    double zoom[2];      /* above 0 */
    double walked[2];    /* along -Z, in sizes of the model */
} shot;

static const shot shots[SHOTS] = {
    {TH_LAYOUT_PLAZA, TH_BEHAVIOUR_NONE, 0, 0.28, 0.25, {-50, 20}, {7, -2}, {0.8, 1.25}, {0, 0}},
    {TH_LAYOUT_STREET, TH_BEHAVIOUR_GRAPH, 0.28, 0.6, 0.3, {8, -22}, {7, -1}, {0.7, 1.1}, {0, 9}},
    {TH_LAYOUT_STADIUM, TH_BEHAVIOUR_NONE, 0.6, 1, 1, {-34, 2}, {-3, 3}, {1.3, 0.75}, {0, 0}},
};

static uint32_t characters_of(const shot *s, uint32_t most)
{
    return (uint32_t)fmax(1, s->crowd * most);
}

/* Begins and ends gently. */
static float between(const double ends[2], double part)
{
    const double gentle = part * part * (3 - 2 * part);
    return (float)(ends[0] + (ends[1] - ends[0]) * gentle);
}

/* The camera at a part of the whole. scene: the scene's own; size: of the model. */
static th_camera camera_at(const shot *s, const th_camera *scene, double size, double part)
{
    const double own = (part - s->begin) / (s->end - s->begin);
    th_camera camera = *scene;
    th_camera_orbit(&camera, (float)DEGREE * between(s->yaw_deg, own), (float)DEGREE * between(s->pitch_deg, own));
    th_camera_zoom(&camera, 1 / between(s->zoom, own));
    camera.target[2] -= (float)size * between(s->walked, own);
    return camera;
}

/* ---- a demo ---- */

/* What the card says. */
typedef struct card {
    uint32_t characters, threads;
    uint64_t frames;
    double posed, pose_ms; /* people in a frame of this shot, and how long that took; means */
    double bones_per_s, p50_ms, p99_ms;
    char cpu[96], renderer[128];
} card;

typedef struct demo {
    const th_options *options;
    uint32_t most; /* characters of the largest crowd */
    th_frame_writer_desc file;
    th_picture picture; /* of a film */
    th_window *window;  /* otherwise */
    th_gl *gl;          /* of either */
    th_canvas canvas;
    th_model *model;
    th_crowd_view *crowd_views[SHOTS];
    th_hud *hud, *headline; /* headline: NULL until there is a card */
    th_frame_writer *writer;
    uint8_t *pixels;
    th_history history;
    uint64_t frames, bones, evaluate_ns;
    uint32_t shot;
    uint64_t shot_frames, shot_evaluated, shot_ns; /* of this shot so far */
    bool has_card;
    card card; /* from when it is first shown */
} demo;

static bool is_film(const demo *d)
{
    return d->file.path != NULL;
}

static th_result begin(demo *d, bool has_count, th_error *err)
{
    const th_options *o = d->options;
    th_result result;
    if (is_film(d)) {
        result = th_frame_writer_open(&d->file, &d->writer, err);
        if (result == TH_OK)
            result = th_picture_open(&d->picture, &o->picture, err);
        if (result != TH_OK)
            return result;
        d->gl = d->picture.gl;
        d->canvas = (th_canvas){d->picture.target, o->picture.width, o->picture.height, 1};
        d->pixels = malloc(th_target_bytes(d->picture.target));
        if (!d->pixels)
            return th_fail(err, TH_ERR_MEMORY, "no memory for a picture");
    } else {
        result = th_window_open(&o->picture, &d->window, err);
        if (result != TH_OK) {
            th_append(err->text, sizeof err->text, "; --out demo.mp4 writes a film instead");
            return result;
        }
        d->gl = d->window->gl;
    }
    d->most = has_count || !th_gl_get_info(d->gl)->software ? o->crowd.count : SOFTWARE_COUNT;

    /* The scenes, as `throng render` draws by default. */
    th_options render;
    th_run none;
    result = th_human_create(&d->model, err);
    if (result == TH_OK)
        result = th_options_parse(&render, &none, th_command_find("render"), 0, NULL, err);
    for (uint32_t s = 0; s < SHOTS && result == TH_OK; s++) {
        th_crowd_view_desc desc = render.crowd;
        th_crowd_view_desc_set_scene(&desc, shots[s].scene);
        const th_crowd_behaviour behaviour = {.kind = shots[s].behaviour};
        desc.count = characters_of(&shots[s], d->most);
        desc.jobs = o->crowd.jobs;
        desc.shadow_pixels = o->crowd.shadow_pixels;
        desc.models[0] = d->model;
        desc.clips[0] = TH_NO_INDEX;
        desc.model_count = 1;
        result = th_crowd_view_build(&desc, &behaviour, NULL, d->gl, &d->crowd_views[s], err);
    }
    return result == TH_OK ? th_hud_create(d->gl, TH_HUD_MIN_TEXT_PX, &d->hud, err) : result;
}

/* ---- the card ---- */

static void take_figures(demo *d)
{
    th_context context;
    th_context_read(&context);
    card *c = &d->card;
    const double frames = fmax(1, (double)d->shot_frames);
    *c = (card){.posed = (double)d->shot_evaluated / frames,
                .pose_ms = (double)d->shot_ns / frames / 1e6,
                .characters = d->most,
                .threads = th_jobs_threads(th_crowd_view_get_parts(d->crowd_views[SHOTS - 1]).jobs),
                .frames = d->frames,
                .bones_per_s = d->evaluate_ns > 0 ? (double)d->bones * 1e9 / (double)d->evaluate_ns : 0,
                .p50_ms = th_history_all(&d->history, 0.5),
                .p99_ms = th_history_all(&d->history, 0.99)};
    snprintf(c->cpu, sizeof c->cpu, "%s", context.cpu[0] ? context.cpu : "an unknown CPU");
    snprintf(c->renderer, sizeof c->renderer, "%s", th_gl_get_info(d->gl)->renderer);
}

static void write_headline(const card *c, char *text, size_t size)
{
    snprintf(text, size, "%s people posed in %.2f ms on %u thread%s", th_digits_from((uint64_t)llround(c->posed)).text,
             c->pose_ms, c->threads, th_plural(c->threads));
}

static void write_card(const card *c, char *text, size_t size)
{
    snprintf(text, size,
             "characters  %s\n"
             "poses       %.0f million bones a second\n"
             "frames      %.1f ms median, %.1f ms p99, of %llu\n"
             "machine     %s, %u thread%s\n"
             "pictures    %s\n",
             th_digits_from(c->characters).text, c->bones_per_s / 1e6, c->p50_ms, c->p99_ms,
             (unsigned long long)c->frames, c->cpu, c->threads, th_plural(c->threads), c->renderer);
}

/* ---- frames ---- */

/* The name of the scene at the bottom, or the card. */
static th_result draw_hud(demo *d, const shot *s, th_error *err)
{
    const th_rgba dark = {14, 18, 24, 216}, light = {240, 242, 244, 255}, warm = {255, 196, 110, 255};
    const float canvas_width = (float)d->canvas.width, canvas_height = (float)d->canvas.height;
    const float px = roundf(fminf(fmaxf(canvas_height / 36, TH_HUD_MIN_TEXT_PX), TH_HUD_MAX_TEXT_PX));
    th_result result = th_hud_set_text_px(d->hud, px, err);
    char text[512], headline[96];
    write_headline(&d->card, headline, sizeof headline);
    if (result == TH_OK && d->has_card && !d->headline) { /* as large as fits */
        result = th_hud_create(d->gl, TRIAL_PX, &d->headline, err);
        const float fits =
            result == TH_OK ? TRIAL_PX * 0.9F * canvas_width / th_hud_text_width(d->headline, headline) : 0;
        if (result == TH_OK)
            result = th_hud_set_text_px(d->headline, fmaxf(fminf(fits, canvas_height / 10), TH_HUD_MIN_TEXT_PX), err);
    }
    if (result != TH_OK)
        return result;
    th_target_bind_resolved(d->canvas.target);
    th_hud_begin(d->hud, d->canvas.width, d->canvas.height);
    if (d->has_card) {
        write_card(&d->card, text, sizeof text);
        const float line = th_hud_line_px(d->headline), top = 0.62F * canvas_height;
        th_hud_panel(d->hud, -line, top, canvas_width + 2 * line, canvas_height - top + line, dark);
        th_hud_text(d->hud, 0.05F * canvas_width, top + 2.2F * line, light, text);
        th_hud_begin(d->headline, d->canvas.width, d->canvas.height);
        th_hud_text(d->headline, 0.05F * canvas_width, top + 0.5F * line, warm, headline);
    } else {
        snprintf(text, sizeof text, "%s, %s characters", th_layout_name(s->scene),
                 th_digits_from(characters_of(s, d->most)).text);
        th_hud_panel(d->hud, px, canvas_height - 3 * px, th_hud_text_width(d->hud, text) + 2 * px, 2 * px,
                     (th_rgba){14, 18, 24, 150});
        th_hud_text(d->hud, 2 * px, canvas_height - 2.5F * px, light, text);
    }
    th_hud_end(d->hud);
    if (d->has_card)
        th_hud_end(d->headline);
    return TH_OK;
}

static double length_s(const demo *d)
{
    return d->file.frame_count / d->file.frames_per_s;
}

/* part: of the whole, from 0 to 1 */
static th_result draw_frame(demo *d, double part, double time_s, th_error *err)
{
    const uint64_t began_ns = th_clock_ns();
    uint32_t s = 0;
    while (s + 1 < SHOTS && part >= shots[s].end)
        s++;
    const th_canvas *c = &d->canvas;
    th_crowd_view *crowd_view = d->crowd_views[s];
    const th_camera scene = th_crowd_view_camera(crowd_view, (float)c->width / (float)c->height, HUGE_VAL);
    th_camera camera = camera_at(&shots[s], &scene, d->model->size, part);
    th_crowd_view_fit_depth(crowd_view, &camera);
    if (!th_crowd_view_frame(crowd_view, time_s, &camera, c->target))
        return th_fail(err, TH_ERR_ENVIRONMENT, "the driver lost, or has no memory for, the palettes of a frame");
    th_target_resolve(c->target);
    if (!d->has_card && d->frames > 0 && part >= 1 - fmin(CARD_S / length_s(d), CARD_PART)) {
        take_figures(d);
        d->has_card = true;
    }
    const th_result result = draw_hud(d, &shots[s], err);
    if (is_film(d)) {
        th_target_read(c->target, d->pixels);
    } else {
        th_target_show(c->target, d->gl);
        th_gl_swap(d->gl);
    }
    const th_crowd_view_stats stats = th_crowd_view_get_stats(crowd_view);
    const float ms[TH_FRAME_PARTS] = {[TH_FRAME_PRESENT] = (float)(th_clock_ns() - began_ns) / 1e6F};
    th_history_add(&d->history, ms);
    d->bones += stats.bones;
    d->evaluate_ns += stats.evaluate_ns;
    if (d->shot != s)
        d->shot_frames = d->shot_evaluated = d->shot_ns = 0;
    d->shot = s;
    d->shot_frames++;
    d->shot_evaluated += stats.evaluated;
    d->shot_ns += stats.evaluate_ns;
    d->frames++;
    return result;
}

static th_result make_film(demo *d, th_error *err)
{
    const uint32_t count = d->file.frame_count;
    uint32_t frame = 0;
    th_result result = TH_OK;
    th_progress_begin();
    for (; frame < count && result == TH_OK && !(frame > 0 && th_interrupt_is_requested()); frame++) {
        result = draw_frame(d, count > 1 ? (double)frame / (count - 1) : 1, frame / d->file.frames_per_s, err);
        if (result == TH_OK)
            result = th_frame_writer_add(d->writer, d->pixels, err);
        th_progress_frames(frame + 1, count);
    }
    th_progress_end();
    return result == TH_OK ? th_film_end(&d->writer, &d->file, frame, err) : result;
}

static th_result show(demo *d, th_error *err)
{
    const double seconds = length_s(d);
    const uint64_t begin_ns = th_clock_ns();
    th_result result = TH_OK;
    th_window_set_title(d->window, "Throng - demo");
    for (double s = 0; s < seconds && result == TH_OK; s = (double)(th_clock_ns() - begin_ns) / 1e9) {
        /* Escape ends it, as closing the window does. */
        bool is_left = th_window_closing(d->window) || th_interrupt_is_requested();
        for (th_action action; (action = th_controls_next(&d->window->controls)) != TH_ACTION_NONE;)
            is_left = is_left || action == TH_ACTION_QUIT;
        if (is_left)
            break;
        const th_canvas *canvas;
        th_window_poll(d->window, d->canvas.target ? 0 : 0.1);
        result = th_window_fit(d->window, &canvas, err);
        d->canvas = canvas ? *canvas : (th_canvas){0};
        if (result == TH_OK && canvas)
            result = draw_frame(d, s / seconds, s, err);
    }
    return result;
}

/* ---- the command ---- */

static bool write_demo(const void *result, th_form form, FILE *file)
{
    const demo *d = result;
    const card *c = &d->card;
    char text[512];
    if (form == TH_FORM_TEXT) {
        write_headline(c, text, sizeof text);
        fprintf(file, "%s\n", text);
        write_card(c, text, sizeof text);
        fputs(text, file);
        return true;
    }
    json_t *frame_ms = json_pack("{s:f, s:f}", "p50", c->p50_ms, "p99", c->p99_ms);
    const th_figure figures[] = {
        TH_FIELD("out", TH_TEXT(d->file.path)),
        TH_FIELD("seconds", TH_NUMBER(length_s(d))),
        TH_FIELD("characters", TH_COUNT(c->characters)),
        TH_FIELD("posed_per_frame", TH_NUMBER(c->posed)),
        TH_FIELD("pose_ms_per_frame", TH_NUMBER(c->pose_ms)),
        TH_FIELD("bones_per_s", TH_NUMBER(c->bones_per_s)),
        TH_FIELD("frame_ms", TH_JSON(frame_ms)),
        TH_FIELD("frames", TH_COUNT(c->frames)),
        TH_FIELD("threads", TH_COUNT(c->threads)),
        TH_FIELD("cpu", TH_TEXT(c->cpu)),
        TH_FIELD("software", TH_FLAG(th_gl_get_info(d->gl)->software)),
        TH_FIELD("renderer", TH_TEXT(c->renderer)),
    };
    json_t *json = th_figures_json(figures, sizeof figures / sizeof *figures);
    json_decref(frame_ms);
    return th_output_json(json, 6, file);
}

int th_command_demo(const th_options *o, th_run *run)
{
    th_error err;
    demo d = {.options = o, .file = o->render};
    d.file.width = o->picture.width;
    d.file.height = o->picture.height;
    if (is_film(&d) && th_frame_writer_check(&d.file, &err) != TH_OK) /* can fail only because of the options */
        return th_refuse("%s", err.text);
    th_interrupt_begin();
    th_result result = begin(&d, th_run_has_option(run, "count"), &err);
    if (result == TH_OK)
        result = is_film(&d) ? make_film(&d, &err) : show(&d, &err);
    if (result == TH_OK)
        result = th_gl_check(d.gl, "while the crowd was drawn", &err);
    int code = result == TH_OK ? TH_EXIT_GOOD : th_fail_with(&err);
    if (result == TH_OK && th_interrupt_is_requested() && (!is_film(&d) || d.frames < d.file.frame_count))
        code = th_interrupt_code();
    if (code == TH_EXIT_GOOD && !d.has_card)
        take_figures(&d); /* left early */
    if (code == TH_EXIT_GOOD)
        code = th_output_write(run, &o->output, write_demo, &d);
    free(d.pixels);
    th_frame_writer_abandon(d.writer);
    th_hud_destroy(d.headline);
    th_hud_destroy(d.hud);
    for (uint32_t s = 0; s < SHOTS; s++)
        th_crowd_view_destroy(d.crowd_views[s]);
    th_model_destroy(d.model);
    th_window_close(d.window);
    th_picture_close(&d.picture);
    return code;
}

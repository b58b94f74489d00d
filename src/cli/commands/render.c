/* throng render: writes pictures of a crowd, without a window. */
#include "aim.h"
#include "cli/measuring.h"
#include "frame_check.h"
#include "picture.h"
#include <cli/options.h>

#include <bench/figures.h>
#include <bench/stress.h>
#include <core/json.h>
#include <render/frame_writer.h>
#include <runtime/tracer.h>

#include <math.h>
#include <stdlib.h>

#define DEGREE (3.14159265358979 / 180)

typedef struct rendering {
    const th_options *options;
    th_frame_writer_desc file;
    th_tracer *tracer;
    th_picture picture;
    th_crowd_view *crowd_view;
    th_hud *hud; /* for legends; NULL: the look needs none */
    th_frame_writer *writer;
    uint8_t *pixels;
    uint64_t cull_ns, wait_ns, pose_ns, draw_ns, read_ns, write_ns;   /* sums over all frames */
    uint64_t listed[TH_RENDER_MESH_LODS], drawn[TH_RENDER_MESH_LODS]; /* by level of detail, sums over all frames */
    uint64_t joints[TH_RENDER_MESH_LODS];                             /* listed, by joint level, the same */
    uint64_t evaluated, shared, held, apart, bones, palette_bytes;    /* the same */
    uint64_t triangles, draw_calls;                                   /* the same */
    th_screen_error_stats error;                                      /* the largest of all measured frames */
    uint64_t evaluate_ns;
    double tolerance_px; /* the largest of all frames */
    th_shown shown;
    th_draws draws; /* of what is checked */
    bool is_wrong;  /* a check of it failed */
} rendering;

static void draw_legend(rendering *r)
{
    if (!r->hud)
        return;
    th_crowd_view_await_stats(r->crowd_view);
    th_target_bind_resolved(r->picture.target);
    th_hud_begin(r->hud, r->file.width, r->file.height);
    th_crowd_view_legend(r->crowd_view, r->hud, 0, (float)r->file.height);
    th_hud_end(r->hud);
}

static th_result draw_frame(rendering *r, const th_camera *camera, uint32_t frame, th_error *err)
{
    const th_frame_writer_desc *file = &r->file;
    th_jobs *jobs = th_crowd_view_get_parts(r->crowd_view).jobs;
    th_result result = TH_OK;
    th_tracer_frame_begin(r->tracer, jobs, frame);
    const double time_s = r->options->crowd.start_s + frame / file->frames_per_s;
    th_shown_next(&r->shown, frame, time_s);
    r->shown.camera = *camera;
    if (th_crowd_view_frame(r->crowd_view, time_s, camera, r->picture.target)) {
        const uint64_t drawn = th_tracer_begin(r->tracer, "read");
        th_target_resolve(r->picture.target);
        draw_legend(r);
        th_target_read(r->picture.target, r->pixels);
        const uint64_t read = th_tracer_next(r->tracer, "write");
        result = th_frame_writer_add(r->writer, r->pixels, err);
        r->read_ns += read - drawn;
        r->write_ns += th_tracer_end(r->tracer) - read;
    } else {
        result =
            th_fail(err, TH_ERR_ENVIRONMENT, "the driver lost, or has no memory for, the palettes of frame %u", frame);
    }
    th_crowd_view_await_stats(r->crowd_view); /* the picture has been read, so there is nothing to wait for */
    const th_crowd_view_stats stats = th_crowd_view_get_stats(r->crowd_view);
    r->cull_ns += stats.cull_ns;
    r->wait_ns += stats.wait_ns;
    r->pose_ns += stats.pose_ns;
    r->draw_ns += stats.draw_ns;
    r->error.count = stats.error.count > r->error.count ? stats.error.count : r->error.count;
    r->error.p50 = fmaxf(r->error.p50, stats.error.p50);
    r->error.p99 = fmaxf(r->error.p99, stats.error.p99);
    r->error.max = fmaxf(r->error.max, stats.error.max);
    for (uint32_t lod = 0; lod < TH_RENDER_MESH_LODS; lod++) {
        r->listed[lod] += stats.listed_by_lod[lod];
        r->drawn[lod] += stats.visible_by_lod[lod];
        r->joints[lod] += stats.listed_by_joint_level[lod];
    }
    r->evaluated += stats.evaluated;
    r->shared += stats.shared;
    r->held += stats.held;
    r->apart += stats.apart;
    r->bones += stats.bones;
    r->palette_bytes += stats.palette_bytes;
    r->triangles += stats.triangles;
    r->draw_calls += stats.draw_calls;
    r->evaluate_ns += stats.evaluate_ns;
    r->tolerance_px = stats.tolerance_px > r->tolerance_px ? stats.tolerance_px : r->tolerance_px;
    th_tracer_frame_end(r->tracer, jobs);
    if (result != TH_OK || r->options->crowd.error_every == 0)
        return result;
    r->is_wrong = !th_shown_check(&r->shown, &r->draws, err);
    if (!r->is_wrong && stats.error_ns > 0 && th_budget_is_set(&r->options->crowd.budget) &&
        !th_stress_error_is_stated((double)stats.error.max, stats.tolerance_px)) {
        th_fail(err, TH_ERR_INPUT, "frame %u: a character is %g pixels off; the budget states at most %g", frame,
                (double)stats.error.max, stats.tolerance_px);
        r->is_wrong = true;
    }
    return r->is_wrong ? err->code : TH_OK;
}

static th_result draw_frames(rendering *r, th_error *err)
{
    const th_crowd_view_desc *from = &r->options->crowd;
    const double *to = r->options->camera.to;
    const uint32_t count = r->file.frame_count; /* but for what an interruption leaves out */
    const double shown_s = (count - 1) / r->file.frames_per_s;
    const double nearer = (to[2] > 0 ? to[2] : 1) / (from->zoom > 0 ? from->zoom : 1);
    const th_camera start = th_crowd_view_camera(r->crowd_view, th_picture_aspect(&r->picture), shown_s);
    uint32_t frame = 0;
    th_aim aim;
    th_result result = r->options->target ? th_aim_at(r->options->target, r->crowd_view, &aim, err) : TH_OK;
    if (count > 1)
        th_interrupt_begin();
    th_progress_begin();
    for (; frame < count && result == TH_OK && !(frame > 0 && th_interrupt_is_requested()); frame++) {
        th_camera camera = start;
        if (r->options->target)
            th_aim_camera(&aim, r->crowd_view, from->start_s + frame / r->file.frames_per_s,
                          from->zoom > 0 ? from->zoom : 1, &camera);
        if (count > 1) { /* on the way to where it flies: turning evenly, coming nearer by the same factor each time */
            const double way = frame / (count - 1.0);
            th_camera_orbit(&camera, (float)(way * (to[0] - from->yaw_deg) * DEGREE),
                            (float)(way * (to[1] - from->pitch_deg) * DEGREE));
            th_camera_zoom(&camera, (float)pow(1 / nearer, way));
            th_crowd_view_fit_depth(r->crowd_view, &camera);
        }
        result = draw_frame(r, &camera, frame, err);
        th_progress_frames(frame + 1, count);
    }
    th_progress_end();
    if (result == TH_OK)
        result = th_gl_check(r->picture.gl, "while the crowd was drawn", err);
    if (result != TH_OK)
        return result;
    result = th_film_end(&r->writer, &r->file, frame, err);
    r->file.frame_count = frame;
    return result;
}

/* ---- result ---- */

static double milliseconds(const rendering *r, uint64_t ns)
{
    return (double)ns / 1e6 / r->file.frame_count;
}

static double per_frame(const rendering *r, uint64_t sum)
{
    return (double)sum / r->file.frame_count;
}

static double of_levels(const rendering *r, const uint64_t by_lod[TH_RENDER_MESH_LODS])
{
    uint64_t sum = 0;
    for (uint32_t lod = 0; lod < TH_RENDER_MESH_LODS; lod++)
        sum += by_lod[lod];
    return per_frame(r, sum);
}

static json_t *levels_json(const rendering *r, const uint64_t by_lod[TH_RENDER_MESH_LODS])
{
    double levels[TH_RENDER_MESH_LODS];
    for (uint32_t lod = 0; lod < TH_RENDER_MESH_LODS; lod++)
        levels[lod] = per_frame(r, by_lod[lod]);
    return th_json_reals(levels, TH_RENDER_MESH_LODS);
}

/* Levels without characters are left out. */
static void print_levels(const rendering *r, const uint64_t by_lod[TH_RENDER_MESH_LODS], FILE *file)
{
    const char *comma = "";
    for (uint32_t lod = 0; lod < TH_RENDER_MESH_LODS; lod++)
        if (by_lod[lod] > 0) {
            fprintf(file, "%s %u: %.0f", comma, lod, per_frame(r, by_lod[lod]));
            comma = ",";
        }
    fputs(*comma ? "\n" : " none\n", file);
}

static json_t *rendering_json(const rendering *r)
{
    const th_frame_writer_desc *file = &r->file;
    const th_crowd_view_desc *crowd = &r->options->crowd;
    const th_gl_info *info = th_gl_get_info(r->picture.gl);
    const th_crowd_view_parts view = th_crowd_view_get_parts(r->crowd_view);
    const bool is_on_gpu = view.evaluator == TH_EVALUATOR_GPU;
    json_t *error = r->error.count == 0
                        ? json_null()
                        : json_pack("{s:o, s:o, s:o}", "p50", th_json_real((double)r->error.p50), "p99",
                                    th_json_real((double)r->error.p99), "max", th_json_real((double)r->error.max));
    json_t *ms =
        json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "cull", milliseconds(r, r->cull_ns), "wait",
                  milliseconds(r, r->wait_ns), "pose", milliseconds(r, r->pose_ns), "draw", milliseconds(r, r->draw_ns),
                  "read", milliseconds(r, r->read_ns), "write", milliseconds(r, r->write_ns));
    json_t *listed = levels_json(r, r->listed), *drawn = levels_json(r, r->drawn), *joints = levels_json(r, r->joints);
    const th_figure figures[] = {
        TH_FIELD("out", TH_TEXT(file->path)),
        TH_FIELD("width", TH_COUNT(file->width)),
        TH_FIELD("height", TH_COUNT(file->height)),
        TH_FIELD("frames", TH_COUNT(file->frame_count)),
        TH_FIELD("characters", TH_COUNT(crowd->count)),
        TH_FIELD("listed_per_frame", TH_NUMBER(of_levels(r, r->listed))),
        TH_FIELD("listed_by_lod", TH_JSON(listed)),
        TH_FIELD("drawn_per_frame", TH_NUMBER(of_levels(r, r->drawn))),
        TH_FIELD("drawn_by_lod", TH_JSON(drawn)),
        TH_FIELD("triangles_per_frame", TH_NUMBER(per_frame(r, r->triangles))),
        TH_FIELD("draw_calls_per_frame", TH_NUMBER(per_frame(r, r->draw_calls))),
        TH_FIELD("evaluated_per_frame", TH_NUMBER(per_frame(r, r->evaluated))),
        TH_FIELD("shared_per_frame", TH_NUMBER(per_frame(r, r->shared))),
        TH_FIELD("held_per_frame", TH_NUMBER(per_frame(r, r->held))),
        TH_FIELD("apart_per_frame", TH_NUMBER(per_frame(r, r->apart))),
        TH_FIELD("palette_bytes_per_frame", TH_NUMBER(per_frame(r, r->palette_bytes))),
        TH_FIELD("share_hz", TH_NUMBER(crowd->share_hz)),
        TH_FIELD("hold", TH_COUNT(crowd->hold)),
        TH_FIELD("far", TH_COUNT(crowd->far_lod)),
        TH_FIELD("evaluate_ms_per_frame", TH_NUMBER(milliseconds(r, r->evaluate_ns))),
        TH_FIELD("tolerance_px", TH_NUMBER(r->tolerance_px)),
        TH_FIELD("joint_lod", TH_FLAG(crowd->joint_lod)),
        TH_FIELD("listed_by_joint_level", TH_JSON(joints)),
        TH_FIELD("bones_per_frame", TH_NUMBER(per_frame(r, r->bones))),
        TH_FIELD("context", TH_TEXT(th_gl_kind_name(info->kind))),
        TH_FIELD("renderer", TH_TEXT(info->renderer)),
        TH_FIELD("version", TH_TEXT(info->version)),
        TH_FIELD("software", TH_FLAG(info->software)),
        TH_FIELD("palette", TH_TEXT(th_format_name(view.palette))),
        TH_FIELD("fetch", TH_TEXT(th_fetch_name(view.fetch))),
        TH_FIELD("upload", TH_TEXT(th_ring_upload_name(view.upload))),
        TH_FIELD("evaluator", TH_TEXT(th_evaluator_name(view.evaluator))),
        TH_FIELD("gpu_mapping", TH_TEXT(is_on_gpu ? th_gpu_mapping_name(view.gpu_mapping.mapping) : NULL)),
        TH_FIELD("isa", TH_TEXT(is_on_gpu ? NULL : th_isa_name(th_crowd_isa(view.crowd)))),
        TH_FIELD("error_px", TH_JSON(error)),
        TH_FIELD("ms_per_frame", TH_JSON(ms)),
        TH_FIELD("culling", TH_IF_GIVEN(view.culling == TH_EVALUATOR_GPU, TH_TEXT("gpu"))),
    };
    th_sheet sheet = th_sheet_json(0);
    TH_SHEET_ADD(&sheet, figures);
    json_t *const parts[] = {error, ms, listed, drawn, joints};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        json_decref(parts[i]);
    return th_sheet_object(&sheet);
}

/* As text, or as JSON. */
static bool write_rendering(const void *result, th_form form, FILE *file)
{
    const rendering *r = result;
    if (form != TH_FORM_TEXT)
        return th_output_json(rendering_json(r), 6, file);
    const th_frame_writer_desc *out = &r->file;
    const th_crowd_view_desc *crowd = &r->options->crowd;
    const th_gl_info *info = th_gl_get_info(r->picture.gl);
    const double shared = per_frame(r, r->shared), held = per_frame(r, r->held);
    fprintf(file, "%s: %u of %u x %u, %s character%s\n", out->path, out->frame_count, out->width, out->height,
            th_digits_from(crowd->count).text, th_plural(crowd->count));
    fprintf(file, "listed %.0f per frame; by level of detail:", of_levels(r, r->listed));
    print_levels(r, r->listed, file);
    fprintf(file, "drawn %.0f per frame; by level of detail:", of_levels(r, r->drawn));
    print_levels(r, r->drawn, file);
    fprintf(file, "triangles of characters: %.0f per frame; draw calls, with the shadow map's: %.0f\n",
            per_frame(r, r->triangles), per_frame(r, r->draw_calls));
    if (crowd->joint_lod || th_budget_is_set(&crowd->budget)) {
        fputs("listed by joint level:", file);
        print_levels(r, r->joints, file);
    }

    fprintf(file, "evaluated %.0f poses per frame, %.0f bones, %.3g MB of palettes\n", per_frame(r, r->evaluated),
            per_frame(r, r->bones), per_frame(r, r->palette_bytes) / 1e6);
    if (crowd->share_hz > 0)
        fprintf(file, "shared at %g Hz from level %u on: %.0f characters per frame show the pose of another\n",
                crowd->share_hz, crowd->far_lod, shared);
    if (crowd->hold > 1)
        fprintf(file, "held for %u frames from level %u on: %.0f characters per frame show a pose of a frame before\n",
                crowd->hold, crowd->far_lod, held);
    if (th_budget_is_set(&crowd->budget))
        fprintf(
            file,
            "budget: %.3f ms per frame to evaluate poses; %.0f characters per frame show the pose of another and %.0f "
            "one of a frame before, by at most %g pixels\n",
            milliseconds(r, r->evaluate_ns), shared, held, r->tolerance_px);
    if (r->apart > 0)
        fprintf(file, "warning: %.0f characters per frame do not share although they are far: they have a behaviour\n",
                per_frame(r, r->apart));

    const th_crowd_view_parts view = th_crowd_view_get_parts(r->crowd_view);
    fprintf(file, "%s, %s, %s palettes by %s, %s%s\n", info->renderer, th_gl_kind_name(info->kind),
            th_format_name(view.palette), th_fetch_name(view.fetch), th_ring_upload_name(view.upload),
            view.culling == TH_EVALUATOR_GPU     ? ", culled and posed by the GPU"
            : view.evaluator == TH_EVALUATOR_GPU ? ", posed by the GPU"
                                                 : "");
    fprintf(file, "ms per frame: cull %.2f, wait %.2f, pose %.2f, draw %.2f, read %.2f, write %.2f\n",
            milliseconds(r, r->cull_ns), milliseconds(r, r->wait_ns), milliseconds(r, r->pose_ns),
            milliseconds(r, r->draw_ns), milliseconds(r, r->read_ns), milliseconds(r, r->write_ns));
    if (r->error.count > 0)
        fprintf(file, "error on screen, pixels: p50 %.2g, p99 %.2g, max %.2g\n", (double)r->error.p50,
                (double)r->error.p99, (double)r->error.max);
    return true;
}

int th_command_render(const th_options *o, th_run *run)
{
    th_model_set model_set;
    th_error err;
    rendering r = {.options = o, .file = o->render, .tracer = run->tracer, .draws = {th_check_seed(), 0}};
    r.file.width = o->picture.width;
    r.file.height = o->picture.height;
    if (th_frame_writer_check(&r.file, &err) != TH_OK) /* can fail only because of the options */
        return th_refuse("%s", err.text);
    uint32_t width, height;
    th_frame_writer_size(&r.file, &width, &height);
    if (width != r.file.width || height != r.file.height)
        th_complain("%s is %u x %u pixels, because a video needs even sides; the last row or column is duplicated",
                    r.file.path, width, height);
    th_result result = th_model_set_init(&model_set, &o->models, r.tracer, &err);
    th_tracer_begin(r.tracer, "prepare");
    if (result == TH_OK)
        result = th_frame_writer_open(&r.file, &r.writer, &err);
    if (result == TH_OK)
        result = th_picture_open(&r.picture, &o->picture, &err);
    if (result == TH_OK) {
        const th_crowd_view_desc crowd = th_model_set_crowd_view_desc(&model_set, &o->crowd);
        result = th_crowd_view_build(&crowd, &o->behaviour, NULL, r.picture.gl, &r.crowd_view, &err);
        r.shown = (th_shown){.crowd_view = r.crowd_view, .asked = crowd, .size = o->picture};
    }
    if (result == TH_OK && o->crowd.look != TH_LOOK_NATURAL)
        result = th_hud_create(r.picture.gl, fmaxf((float)r.file.height / 40, TH_HUD_MIN_TEXT_PX), &r.hud, &err);
    if (result == TH_OK) {
        th_complain_of_meshes(r.crowd_view);
        th_complain_of_evaluator(r.crowd_view);
        th_crowd_view_trace(r.crowd_view, r.tracer);
        r.pixels = malloc(th_target_bytes(r.picture.target));
        result = r.pixels ? TH_OK : th_fail(&err, TH_ERR_MEMORY, "no memory for a picture");
    }
    th_tracer_next(r.tracer, "draw frames");
    if (result == TH_OK)
        result = draw_frames(&r, &err);
    th_tracer_next(r.tracer, "finish");
    int code = result == TH_OK ? th_output_write(run, &o->output, write_rendering, &r) : th_fail_with(&err);
    if (r.is_wrong)
        code = TH_EXIT_CHECK;
    else if (result == TH_OK && r.file.frame_count < o->render.frame_count)
        code = th_interrupt_code();
    if (code == TH_EXIT_GOOD && of_levels(&r, r.drawn) == 0) {
        th_complain("nothing is drawn: the camera sees no character");
        code = TH_EXIT_CHECK;
    }
    free(r.pixels);
    th_frame_writer_abandon(r.writer);
    th_hud_destroy(r.hud);
    th_crowd_view_destroy(r.crowd_view);
    th_picture_close(&r.picture);
    th_model_set_fini(&model_set);
    th_tracer_end(r.tracer);
    return code;
}

/* throng render: writes pictures of a crowd, without a window. */
#include "cli/progress.h"
#include "picture.h"
#include <cli/options.h>

#include <core/json.h>
#include <core/table.h>
#include <throng/render/frame_writer.h>
#include <throng/runtime/tracer.h>

#include <math.h>
#include <stdlib.h>

#define DEGREE (3.14159265358979 / 180)

typedef struct rendering {
    const th_options *options;
    th_frame_writer_desc file;
    th_tracer *tracer;
    th_picture picture;
    th_crowd_view *crowd_view;
    th_frame_writer *writer;
    uint8_t *pixels;
    uint64_t cull_ns, wait_ns, pose_ns, draw_ns, read_ns, write_ns;   /* sums over all frames */
    uint64_t listed[TH_RENDER_MESH_LODS], drawn[TH_RENDER_MESH_LODS]; /* by level of detail, sums over all frames */
    uint64_t joints[TH_LOD_LEVELS];                                   /* listed, by joint level, the same */
    uint64_t evaluated, shared, held, apart, bones, palette_bytes;    /* the same */
    th_screen_error_stats error;                                      /* the largest of all measured frames */
    uint64_t evaluate_ns;
    double tolerance_px; /* the largest of all frames */
} rendering;

static void complain_of_size(const th_frame_writer_desc *writer)
{
    uint32_t width, height;
    th_frame_writer_size(writer, &width, &height);
    if (width != writer->width || height != writer->height)
        th_complain("%s is %u x %u pixels, because a video needs even sides; the last row or column is duplicated",
                    writer->path, width, height);
}

static th_result begin(rendering *r, const th_model_set *model_set, th_error *err)
{
    const th_crowd_view_desc crowd = th_model_set_crowd_view_desc(model_set, &r->options->crowd);
    th_result result = th_frame_writer_open(&r->file, &r->writer, err);
    if (result == TH_OK)
        result = th_picture_open(&r->picture, &r->options->picture, err);
    if (result == TH_OK)
        result = th_crowd_view_create(&crowd, r->picture.gl, &r->crowd_view, err);
    if (result != TH_OK)
        return result;
    th_complain_of_evaluator(r->crowd_view);
    th_crowd_view_trace(r->crowd_view, r->tracer);
    r->pixels = malloc(th_target_bytes(r->picture.target));
    return r->pixels ? TH_OK : th_fail(err, TH_ERR_MEMORY, "no memory for a picture");
}

static void add_stats(rendering *r)
{
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
    r->evaluate_ns += stats.evaluate_ns;
    r->tolerance_px = stats.tolerance_px > r->tolerance_px ? stats.tolerance_px : r->tolerance_px;
}

static th_result keep_frame(rendering *r, th_error *err)
{
    const uint64_t drawn = th_tracer_begin(r->tracer, "read");
    th_target_resolve(r->picture.target);
    th_target_read(r->picture.target, r->pixels);
    const uint64_t read = th_tracer_next(r->tracer, "write");
    th_result result = th_frame_writer_add(r->writer, r->pixels, err);
    r->read_ns += read - drawn;
    r->write_ns += th_tracer_end(r->tracer) - read;
    return result;
}

static th_result draw_frame(rendering *r, const th_camera *camera, uint32_t frame, th_error *err)
{
    const th_frame_writer_desc *file = &r->file;
    th_tracer_frame_begin(r->tracer, th_crowd_view_jobs(r->crowd_view), frame);
    const double time_s = r->options->crowd.start_s + frame / file->frames_per_s;
    const bool drawn = th_crowd_view_frame(r->crowd_view, time_s, camera, r->picture.target, file->width, file->height);
    th_result result = drawn ? keep_frame(r, err)
                             : th_fail(err, TH_ERR_ENVIRONMENT,
                                       "the driver lost, or has no memory for, the palettes of frame %u", frame);
    th_crowd_view_await_stats(r->crowd_view); /* the picture has been read, so there is nothing to wait for */
    add_stats(r);
    th_tracer_frame_end(r->tracer, th_crowd_view_jobs(r->crowd_view));
    return result;
}

/* On the way from the start to where it flies to: turning evenly, coming nearer by the same factor in each frame. */
static th_camera camera_at(const rendering *r, const th_camera *start, uint32_t frame)
{
    const th_crowd_view_desc *from = &r->options->crowd;
    const double *to = r->options->camera.to;
    th_camera camera = *start;
    if (r->file.frame_count == 1)
        return camera;
    const double way = frame / (r->file.frame_count - 1.0);
    th_camera_orbit(&camera, (float)(way * (to[0] - from->yaw_deg) * DEGREE),
                    (float)(way * (to[1] - from->pitch_deg) * DEGREE));
    th_camera_zoom(&camera, (float)pow(from->zoom / to[2], way));
    th_crowd_view_fit_depth(r->crowd_view, &camera);
    return camera;
}

static th_result draw_frames(rendering *r, th_error *err)
{
    const uint32_t count = r->file.frame_count;
    const double shown_s = (count - 1) / r->file.frames_per_s;
    const th_camera start = th_crowd_view_camera(r->crowd_view, th_picture_aspect(&r->picture), shown_s);
    const bool is_seen = th_progress_wanted();
    th_result result = TH_OK;
    for (uint32_t frame = 0; frame < count && result == TH_OK; frame++) {
        const th_camera camera = camera_at(r, &start, frame);
        result = draw_frame(r, &camera, frame, err);
        if (is_seen && frame + 1 < count)
            th_progress_show("%3u %% of %u frame%s", 100 * (frame + 1) / count, count, th_plural(count));
    }
    th_progress_end();
    if (result == TH_OK)
        result = th_gl_check(r->picture.gl, "while the crowd was drawn", err);
    if (result != TH_OK)
        return result;
    th_frame_writer *writer = r->writer;
    r->writer = NULL;
    return th_frame_writer_close(writer, err);
}

static void end(rendering *r)
{
    free(r->pixels);
    th_frame_writer_abandon(r->writer);
    th_crowd_view_destroy(r->crowd_view);
    th_picture_close(&r->picture);
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
    json_t *levels = json_array();
    for (uint32_t lod = 0; levels && lod < TH_RENDER_MESH_LODS; lod++)
        json_array_append_new(levels, json_real(per_frame(r, by_lod[lod])));
    return levels;
}

static json_t *error_json(const th_screen_error_stats *e)
{
    return e->count == 0 ? json_null()
                         : json_pack("{s:o, s:o, s:o}", "p50", th_json_real((double)e->p50), "p99",
                                     th_json_real((double)e->p99), "max", th_json_real((double)e->max));
}

/* NULL: none poses. */
static const char *kernel_of(const th_crowd_view *crowd_view)
{
    return th_crowd_view_evaluator(crowd_view) == TH_EVALUATOR_GPU
               ? NULL
               : th_isa_name(th_crowd_isa(th_crowd_view_crowd(crowd_view)));
}

static const char *by_whom(const th_crowd_view *crowd_view)
{
    if (th_crowd_view_culling(crowd_view) == TH_EVALUATOR_GPU)
        return ", culled and posed by the GPU";
    return th_crowd_view_evaluator(crowd_view) == TH_EVALUATOR_GPU ? ", posed by the GPU" : "";
}

/* NULL: the CPU poses. */
static const char *mapping_of(const th_crowd_view *crowd_view)
{
    return th_crowd_view_evaluator(crowd_view) == TH_EVALUATOR_GPU
               ? th_gpu_mapping_name(th_crowd_view_gpu_mapping(crowd_view).mapping)
               : NULL;
}

static json_t *rendering_json(const rendering *r)
{
    const th_frame_writer_desc *file = &r->file;
    const th_crowd_view_desc *crowd = &r->options->crowd;
    const th_gl_info *info = th_gl_get_info(r->picture.gl);
    return json_pack(
        "{s:o, s:i, s:i, s:o, s:o, s:f, s:o, s:f, s:o, s:f, s:f, s:f, s:f, s:f, s:f, s:i, s:i, s:f, s:f, s:b, s:o, "
        "s:f, s:s, "
        "s:o, s:o, s:b, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:{s:f, s:f, s:f, s:f, s:f, s:f}}",
        "out", th_json_text(file->path), "width", (int)file->width, "height", (int)file->height, "frames",
        th_json_count(file->frame_count), "characters", th_json_count(crowd->count), "listed_per_frame",
        of_levels(r, r->listed), "listed_by_lod", levels_json(r, r->listed), "drawn_per_frame", of_levels(r, r->drawn),
        "drawn_by_lod", levels_json(r, r->drawn), "evaluated_per_frame", per_frame(r, r->evaluated), "shared_per_frame",
        per_frame(r, r->shared), "held_per_frame", per_frame(r, r->held), "apart_per_frame", per_frame(r, r->apart),
        "palette_bytes_per_frame", per_frame(r, r->palette_bytes), "share_hz", crowd->share_hz, "hold",
        (int)crowd->hold, "far", (int)crowd->far_lod, "evaluate_ms_per_frame", milliseconds(r, r->evaluate_ns),
        "tolerance_px", r->tolerance_px, "joint_lod", (int)crowd->joint_lod, "listed_by_joint_level",
        levels_json(r, r->joints), "bones_per_frame", per_frame(r, r->bones), "context", th_gl_kind_name(info->kind),
        "renderer", th_json_text(info->renderer), "version", th_json_text(info->version), "software",
        (int)info->software, "palette", th_palette_name(th_crowd_palette(th_crowd_view_crowd(r->crowd_view))), "fetch",
        th_fetch_name(th_crowd_renderer_get_fetch(th_crowd_view_renderer(r->crowd_view))), "upload",
        th_ring_upload_name(th_ring_get_upload(th_crowd_view_ring(r->crowd_view))), "evaluator",
        th_evaluator_name(th_crowd_view_evaluator(r->crowd_view)), "gpu_mapping",
        th_json_text(mapping_of(r->crowd_view)), "isa", th_json_text(kernel_of(r->crowd_view)), "error_px",
        error_json(&r->error), "ms_per_frame", "cull", milliseconds(r, r->cull_ns), "wait", milliseconds(r, r->wait_ns),
        "pose", milliseconds(r, r->pose_ns), "draw", milliseconds(r, r->draw_ns), "read", milliseconds(r, r->read_ns),
        "write", milliseconds(r, r->write_ns));
}

/* Levels without characters are left out. */
static void print_levels(const rendering *r, const char *what, const uint64_t by_lod[TH_RENDER_MESH_LODS], FILE *file)
{
    const char *comma = "";
    fprintf(file, "%s %.0f per frame; by level of detail:", what, of_levels(r, by_lod));
    for (uint32_t lod = 0; lod < TH_RENDER_MESH_LODS; lod++)
        if (by_lod[lod] > 0) {
            fprintf(file, "%s %u: %.0f", comma, lod, per_frame(r, by_lod[lod]));
            comma = ",";
        }
    fputs(*comma ? "\n" : " none\n", file);
}

static void print_joints(const rendering *r, FILE *file)
{
    fputs("listed by joint level:", file);
    const char *comma = "";
    for (uint32_t level = 0; level < TH_LOD_LEVELS; level++)
        if (r->joints[level] > 0) {
            fprintf(file, "%s %u: %.0f", comma, level, per_frame(r, r->joints[level]));
            comma = ",";
        }
    fputs("\n", file);
}

static void print_poses(const rendering *r, FILE *file)
{
    const th_crowd_view_desc *crowd = &r->options->crowd;
    fprintf(file, "evaluated %.0f poses per frame, %.0f bones, %.3g MB of palettes\n", per_frame(r, r->evaluated),
            per_frame(r, r->bones), per_frame(r, r->palette_bytes) / 1e6);
    if (crowd->share_hz > 0)
        fprintf(file, "shared at %g Hz from level %u on: %.0f characters per frame show the pose of another\n",
                crowd->share_hz, crowd->far_lod, per_frame(r, r->shared));
    if (crowd->hold > 1)
        fprintf(file, "held for %u frames from level %u on: %.0f characters per frame show a pose of a frame before\n",
                crowd->hold, crowd->far_lod, per_frame(r, r->held));
    if (th_budget_is_set(&crowd->budget))
        fprintf(
            file,
            "budget: %.3f ms per frame to evaluate poses; %.0f characters per frame show the pose of another and %.0f "
            "one of a frame before, by at most %g pixels\n",
            milliseconds(r, r->evaluate_ns), per_frame(r, r->shared), per_frame(r, r->held), r->tolerance_px);
    if (r->apart > 0)
        fprintf(file, "warning: %.0f characters per frame do not share although they are far: they have a behaviour\n",
                per_frame(r, r->apart));
}

static bool print_rendering(const rendering *r, FILE *file)
{
    const th_frame_writer_desc *out = &r->file;
    const th_crowd_view_desc *crowd = &r->options->crowd;
    const th_gl_info *info = th_gl_get_info(r->picture.gl);
    fprintf(file, "%s: %u of %u x %u, %s character%s\n", out->path, out->frame_count, out->width, out->height,
            th_digits_from(crowd->count).text, th_plural(crowd->count));
    print_levels(r, "listed", r->listed, file);
    print_levels(r, "drawn", r->drawn, file);
    if (crowd->joint_lod || th_budget_is_set(&crowd->budget))
        print_joints(r, file);
    print_poses(r, file);
    fprintf(file, "%s, %s, %s palettes by %s, %s%s\n", info->renderer, th_gl_kind_name(info->kind),
            th_palette_name(th_crowd_palette(th_crowd_view_crowd(r->crowd_view))),
            th_fetch_name(th_crowd_renderer_get_fetch(th_crowd_view_renderer(r->crowd_view))),
            th_ring_upload_name(th_ring_get_upload(th_crowd_view_ring(r->crowd_view))), by_whom(r->crowd_view));
    fprintf(file, "ms per frame: cull %.2f, wait %.2f, pose %.2f, draw %.2f, read %.2f, write %.2f\n",
            milliseconds(r, r->cull_ns), milliseconds(r, r->wait_ns), milliseconds(r, r->pose_ns),
            milliseconds(r, r->draw_ns), milliseconds(r, r->read_ns), milliseconds(r, r->write_ns));
    if (r->error.count > 0)
        fprintf(file, "error on screen, pixels: p50 %.2g, p99 %.2g, max %.2g\n", (double)r->error.p50,
                (double)r->error.p99, (double)r->error.max);
    return true;
}

static bool write_rendering(const void *result, th_form form, FILE *file)
{
    const rendering *r = result;
    if (form == TH_FORM_TEXT)
        return print_rendering(r, file);
    json_t *json = rendering_json(r);
    if (th_crowd_view_culling(r->crowd_view) == TH_EVALUATOR_GPU)
        json = th_json_set(json, "culling", json_string("gpu"));
    return th_output_json(json, 6, file);
}

int th_command_render(const th_options *o, th_run *run)
{
    th_model_set model_set;
    th_error err;
    rendering r = {.options = o, .file = o->render, .tracer = run->tracer};
    r.file.width = o->picture.width;
    r.file.height = o->picture.height;
    if (th_frame_writer_check(&r.file, &err) != TH_OK) { /* can fail only because of the options */
        th_complain("%s", err.text);
        return TH_EXIT_USAGE;
    }
    complain_of_size(&r.file);
    th_result result = th_model_set_init(&model_set, &o->models, r.tracer, &err);
    th_tracer_begin(r.tracer, "prepare");
    if (result == TH_OK) {
        th_model_set_complain_of_missing_meshes(&model_set);
        result = begin(&r, &model_set, &err);
    }
    th_tracer_next(r.tracer, "draw frames");
    if (result == TH_OK)
        result = draw_frames(&r, &err);
    th_tracer_next(r.tracer, "finish");
    int code = result == TH_OK ? th_output_write(run, &o->output, write_rendering, &r) : th_fail_with(&err);
    if (code == TH_EXIT_GOOD && of_levels(&r, r.drawn) == 0) {
        th_complain("nothing is drawn: the camera sees no character");
        code = TH_EXIT_CHECK;
    }
    end(&r);
    th_model_set_fini(&model_set);
    th_tracer_end(r.tracer);
    return code;
}

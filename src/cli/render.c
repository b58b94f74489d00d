/* throng render: writes pictures of a crowd, without a window. */
#include "crowd_view_options.h"
#include "output.h"
#include "picture.h"
#include "progress.h"

#include <throng/core/json.h>
#include <throng/core/table.h>
#include <throng/render/frame_writer.h>
#include <throng/runtime/tracer.h>

#include <stdlib.h>

typedef struct rendering {
    const th_options *options;
    th_picture picture;
    th_crowd_view *crowd_view;
    th_frame_writer *writer;
    uint8_t *pixels;
    uint64_t cull_ns, wait_ns, pose_ns, draw_ns, read_ns, write_ns;      /* sums over all frames */
    uint64_t evaluated[TH_RENDER_MESH_LODS], drawn[TH_RENDER_MESH_LODS]; /* by level of detail, sums over all frames */
} rendering;

static th_frame_writer_desc writer_desc(const th_options *o)
{
    return (th_frame_writer_desc){.path = o->picture_path,
                                  .width = o->picture.width,
                                  .height = o->picture.height,
                                  .frame_count = o->frames,
                                  .frames_per_s = o->fps};
}

static void say_size(const th_frame_writer_desc *writer)
{
    uint32_t width, height;
    th_frame_writer_size(writer, &width, &height);
    if (width != writer->width || height != writer->height)
        th_complain("%s is %u x %u pixels, because a video needs even sides; the last row or column is duplicated",
                    writer->path, width, height);
}

static th_result begin(rendering *r, const th_model_set *model_set, th_error *err)
{
    const th_options *o = r->options;
    const th_frame_writer_desc writer = writer_desc(o);
    th_result result = th_frame_writer_open(&writer, &r->writer, err);
    if (result == TH_OK)
        result = th_picture_open(&r->picture, o, err);
    if (result == TH_OK)
        result = th_options_create_crowd_view(o, model_set, r->picture.gl, &r->crowd_view, err);
    if (result != TH_OK)
        return result;
    th_crowd_view_trace(r->crowd_view, o->tracer);
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
    for (uint32_t lod = 0; lod < TH_RENDER_MESH_LODS; lod++) {
        r->evaluated[lod] += stats.posed_by_lod[lod];
        r->drawn[lod] += stats.visible_by_lod[lod];
    }
}

static th_result keep_frame(rendering *r, th_error *err)
{
    th_tracer *tracer = r->options->tracer;
    const uint64_t drawn = th_tracer_begin(tracer, "read");
    th_target_resolve(r->picture.target);
    th_target_read(r->picture.target, r->pixels);
    const uint64_t read = th_tracer_next(tracer, "write");
    th_result result = th_frame_writer_add(r->writer, r->pixels, err);
    r->read_ns += read - drawn;
    r->write_ns += th_tracer_end(tracer) - read;
    return result;
}

static th_result draw_frame(rendering *r, const th_camera *camera, uint32_t frame, th_error *err)
{
    const th_options *o = r->options;
    const th_target *target = r->picture.target;
    th_tracer_frame_begin(o->tracer, th_crowd_view_jobs(r->crowd_view), frame);
    const bool drawn = th_crowd_view_frame(r->crowd_view, o->start_s + frame / o->fps, camera, target, o->picture.width,
                                           o->picture.height);
    add_stats(r);
    th_result result = drawn ? keep_frame(r, err)
                             : th_fail(err, TH_ERR_ENVIRONMENT, "the driver lost the palettes of frame %u", frame);
    th_tracer_frame_end(o->tracer, th_crowd_view_jobs(r->crowd_view));
    return result;
}

static th_result draw_frames(rendering *r, th_error *err)
{
    const th_options *o = r->options;
    const th_camera camera = th_crowd_view_camera(r->crowd_view, th_picture_aspect(&r->picture));
    th_progress_fn *progress = th_progress();
    th_result result = TH_OK;
    for (uint32_t frame = 0; frame < o->frames && result == TH_OK; frame++) {
        result = draw_frame(r, &camera, frame, err);
        if (progress)
            progress(NULL, frame + 1, o->frames);
    }
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
    return (double)ns / 1e6 / r->options->frames;
}

static double per_frame(const rendering *r, const uint64_t by_lod[TH_RENDER_MESH_LODS])
{
    double sum = 0;
    for (uint32_t lod = 0; lod < TH_RENDER_MESH_LODS; lod++)
        sum += (double)by_lod[lod];
    return sum / r->options->frames;
}

static json_t *levels_json(const rendering *r, const uint64_t by_lod[TH_RENDER_MESH_LODS])
{
    json_t *levels = json_array();
    for (uint32_t lod = 0; levels && lod < TH_RENDER_MESH_LODS; lod++)
        json_array_append_new(levels, json_real((double)by_lod[lod] / r->options->frames));
    return levels;
}

static json_t *rendering_json(const void *ctx)
{
    const rendering *r = ctx;
    const th_options *o = r->options;
    const th_gl_info *info = th_gl_get_info(r->picture.gl);
    return json_pack(
        "{s:o, s:i, s:i, s:o, s:o, s:f, s:o, s:f, s:o, s:s, s:o, s:o, s:b, s:s, s:s, s:s, s:s, s:{s:f, s:f, s:f, s:f, "
        "s:f, s:f}}",
        "out", th_json_text(o->picture_path), "width", (int)o->picture.width, "height", (int)o->picture.height,
        "frames", th_json_count(o->frames), "characters", th_json_count(o->count), "evaluated_per_frame",
        per_frame(r, r->evaluated), "evaluated_by_lod", levels_json(r, r->evaluated), "drawn_per_frame",
        per_frame(r, r->drawn), "drawn_by_lod", levels_json(r, r->drawn), "context", th_gl_kind_name(info->kind),
        "renderer", th_json_text(info->renderer), "version", th_json_text(info->version), "software",
        (int)info->software, "palette", th_palette_name(o->palette), "fetch",
        th_fetch_name(th_crowd_renderer_get_fetch(th_crowd_view_renderer(r->crowd_view))), "upload",
        th_ring_upload_name(th_ring_get_upload(th_crowd_view_ring(r->crowd_view))), "isa",
        th_isa_name(th_crowd_isa(th_crowd_view_crowd(r->crowd_view))), "ms_per_frame", "cull",
        milliseconds(r, r->cull_ns), "wait", milliseconds(r, r->wait_ns), "pose", milliseconds(r, r->pose_ns), "draw",
        milliseconds(r, r->draw_ns), "read", milliseconds(r, r->read_ns), "write", milliseconds(r, r->write_ns));
}

static void print_levels(const rendering *r, const char *what, const uint64_t by_lod[TH_RENDER_MESH_LODS], FILE *file)
{
    fprintf(file, "%s %.0f per frame; by level of detail:", what, per_frame(r, by_lod));
    for (uint32_t lod = 0; lod < TH_RENDER_MESH_LODS; lod++)
        fprintf(file, "%s %u: %.0f", lod > 0 ? "," : "", lod, (double)by_lod[lod] / r->options->frames);
    fputc('\n', file);
}

static bool print_rendering(const void *ctx, FILE *file)
{
    const rendering *r = ctx;
    const th_options *o = r->options;
    const th_gl_info *info = th_gl_get_info(r->picture.gl);
    fprintf(file, "%s: %u of %u x %u, %s character%s\n", o->picture_path, o->frames, o->picture.width,
            o->picture.height, th_digits_from(o->count).text, th_plural(o->count));
    print_levels(r, "evaluated", r->evaluated, file);
    print_levels(r, "drawn", r->drawn, file);
    fprintf(file, "%s, %s, %s palettes by %s, %s\n", info->renderer, th_gl_kind_name(info->kind),
            th_palette_name(o->palette),
            th_fetch_name(th_crowd_renderer_get_fetch(th_crowd_view_renderer(r->crowd_view))),
            th_ring_upload_name(th_ring_get_upload(th_crowd_view_ring(r->crowd_view))));
    fprintf(file, "ms per frame: cull %.2f, wait %.2f, pose %.2f, draw %.2f, read %.2f, write %.2f\n",
            milliseconds(r, r->cull_ns), milliseconds(r, r->wait_ns), milliseconds(r, r->pose_ns),
            milliseconds(r, r->draw_ns), milliseconds(r, r->read_ns), milliseconds(r, r->write_ns));
    return true;
}

int th_command_render(const th_options *o)
{
    th_model_set model_set;
    th_error err;
    rendering r = {.options = o};
    const th_frame_writer_desc writer = writer_desc(o);
    if (th_frame_writer_check(&writer, &err) != TH_OK) { /* can fail only because of the options */
        th_complain("%s", err.text);
        return TH_EXIT_USAGE;
    }
    say_size(&writer);
    th_tracer_begin(o->tracer, "load");
    int code = th_model_set_init(&model_set, o);
    if (code == TH_EXIT_GOOD) {
        th_tracer_next(o->tracer, "prepare");
        th_result result = begin(&r, &model_set, &err);
        th_tracer_next(o->tracer, "draw frames");
        if (result == TH_OK)
            result = draw_frames(&r, &err);
        th_tracer_next(o->tracer, "finish");
        code = result == TH_OK
                   ? th_output_result(
                         o, &(th_output){.document = rendering_json, .digits = 6, .print = print_rendering}, &r)
                   : th_fail_with(&err);
        end(&r);
    }
    th_model_set_fini(&model_set);
    th_tracer_end(o->tracer);
    return code;
}

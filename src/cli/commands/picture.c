#include "picture.h"

#include <cli/command.h>
#include <cli/model_set.h>

#include <bench/figures.h>
#include <core/build_checks.h>
#include <core/clock.h>

#include <stdlib.h>
#include <string.h>

th_result th_picture_open(th_picture *p, const th_target_desc *size, th_error *err)
{
    const th_gl_desc gl = {.want = TH_GL_HEADLESS, .debug = TH_BUILD_CHECKS};
    *p = (th_picture){.size = *size};
    th_result result = th_gl_create(&gl, &p->gl, err);
    if (result == TH_OK)
        result = th_target_create(size, &p->target, err);
    if (result != TH_OK)
        th_picture_close(p);
    return result;
}

void th_picture_close(th_picture *p)
{
    th_target_destroy(p->target);
    th_gl_destroy(p->gl);
    *p = (th_picture){0};
}

float th_picture_aspect(const th_picture *p)
{
    return (float)p->size.width / (float)p->size.height;
}

void th_picture_submit(const th_picture *p)
{
    th_tracer_begin(p->tracer, "resolve");
    th_target_resolve(p->target);
    th_tracer_next(p->tracer, "swap");
    th_gl_swap(p->gl);
    th_tracer_end(p->tracer);
}

bool th_picture_draw(const th_picture *p, th_crowd_view *crowd_view, double time_s, const th_camera *camera)
{
    const bool drawn = th_crowd_view_frame(crowd_view, time_s, camera, p->target);
    th_picture_submit(p);
    return drawn;
}

th_result th_film_end(th_frame_writer **writer, const th_frame_writer_desc *film, uint32_t added, th_error *err)
{
    th_frame_writer *from = *writer;
    *writer = NULL;
    const th_result result = th_frame_writer_close(from, err);
    if (result == TH_OK && added < film->frame_count)
        th_complain("interrupted: %s has the first %u of %u frames", film->path, added, film->frame_count);
    return result;
}

void th_complain_of_meshes(const th_crowd_view *crowd_view)
{
    const th_crowd_view_parts parts = th_crowd_view_get_parts(crowd_view);
    for (uint32_t m = 0; m < parts.scene->compiled_model_count; m++) {
        const th_model *model = th_compiled_model_source(parts.scene->compiled_models[m]);
        if (model->mesh_count == 0)
            th_complain("%s has no mesh: its skeleton is drawn", model->name);
        th_complain_of_warnings(model->name, parts.meshes[m]->warnings, parts.meshes[m]->warning_count);
    }
}

void th_complain_of_evaluator(const th_crowd_view *crowd_view)
{
    const th_crowd_view_parts parts = th_crowd_view_get_parts(crowd_view);
    char mapping[128];
    th_gpu_mapping_text(&parts.gpu_mapping, mapping, sizeof mapping);
    if (th_crowd_view_fallback(crowd_view)[0])
        th_complain("%s", th_crowd_view_fallback(crowd_view));
    if (mapping[0])
        th_complain("the GPU poses with %s", mapping);
}

json_t *th_picture_json(const th_picture *p, const th_crowd_view *crowd_view, const th_crowd_view_desc *crowd)
{
    const th_crowd_view_parts parts = th_crowd_view_get_parts(crowd_view);
    const th_gl_info *info = th_gl_get_info(p->gl);
    const bool is_on_gpu = parts.evaluator == TH_EVALUATOR_GPU;
    const th_budget_desc *budget = &crowd->budget;
    const th_figure figures[] = {
        TH_FIELD("width", TH_COUNT(p->size.width)),
        TH_FIELD("height", TH_COUNT(p->size.height)),
        TH_FIELD("samples", TH_COUNT(p->size.samples)),
        TH_FIELD("shadow", TH_COUNT(crowd->shadow_pixels)),
        TH_FIELD("renderer", TH_TEXT(info->renderer)),
        TH_FIELD("context", TH_TEXT(th_gl_kind_name(info->kind))),
        TH_FIELD("version", TH_TEXT(info->version)),
        TH_FIELD("software", TH_FLAG(info->software)),
        TH_FIELD("palette", TH_TEXT(th_format_name(parts.palette))),
        TH_FIELD("layout", TH_TEXT(th_layout_name(crowd->layout))),
        TH_FIELD("fetch", TH_TEXT(th_fetch_name(parts.fetch))),
        TH_FIELD("upload", TH_TEXT(th_ring_upload_name(parts.upload))),
        TH_FIELD("evaluator", TH_TEXT(th_evaluator_name(parts.evaluator))),
        TH_FIELD("ring_bytes", TH_COUNT(parts.ring_bytes)),
        TH_FIELD("gpu_mapping", TH_IF_GIVEN(is_on_gpu, TH_TEXT(th_gpu_mapping_name(parts.gpu_mapping.mapping)))),
        TH_FIELD("culling", TH_IF_GIVEN(parts.culling == TH_EVALUATOR_GPU, TH_TEXT("gpu"))),
        TH_FIELD("scene", TH_IF_GIVEN(crowd->surroundings, TH_TEXT(th_layout_name(crowd->layout)))),
        TH_FIELD("joint_lod", TH_IF_GIVEN(crowd->joint_lod, TH_FLAG(true))),
        TH_FIELD("share_hz", TH_IF_GIVEN(crowd->share_hz > 0, TH_NUMBER(crowd->share_hz))),
        TH_FIELD("hold", TH_IF_GIVEN(crowd->hold > 1, TH_COUNT(crowd->hold))),
        TH_FIELD("far", TH_IF_GIVEN(crowd->share_hz > 0 || crowd->hold > 1, TH_COUNT(crowd->far_lod))),
        TH_FIELD("animation_budget_ms", TH_IF_GIVEN(budget->ms > 0, TH_NUMBER(budget->ms))),
        TH_FIELD("animation_budget_bones", TH_IF_GIVEN(budget->bones > 0, TH_COUNT(budget->bones))),
    };
    return th_figures_json(figures, sizeof figures / sizeof *figures);
}

/* ---- whether its palettes stay until it is drawn ---- */

enum { WARM_UP = 4, BUSY_PIXELS = 1024 };

#define BUSY_NS  200000000u
#define GRACE_NS 1000000u /* the driver's own point in its work and ours are not reached at the same time */

/* Work that keeps the GPU busy: averaging the samples of a large target. */
static void resolve(const th_picture *p, const th_target *target, uint32_t times)
{
    for (uint32_t i = 0; i < times; i++)
        th_target_resolve(target);
    th_gl_swap(p->gl);
}

/* Palettes show it only where a GPU is that late; without one, vertices are moved when they are drawn. So the GPU is
 * kept busy, and asked how far it is. */
void th_picture_check(const th_picture *p, th_crowd_view *crowd_view, const th_camera *camera, th_row *row)
{
    const th_target_desc size = {
        .width = BUSY_PIXELS, .height = BUSY_PIXELS, .samples = th_gl_get_info(p->gl)->max_samples};
    th_target *busy;
    th_error err;
    if (th_target_create(&size, &busy, &err) != TH_OK) {
        th_row_fail(row, "its fences cannot be checked: %s", err.text);
        return;
    }
    const uint64_t begin_ns = th_clock_ns();
    resolve(p, busy, WARM_UP);
    th_gl_finish(p->gl);
    resolve(p, busy, 1 + (uint32_t)((uint64_t)BUSY_NS * WARM_UP / (th_clock_ns() - begin_ns)));
    th_crowd_view_frame(crowd_view, 0, camera, p->target);
    th_gl_point *drawn = th_gl_point_now(p->gl);
    th_picture_submit(p);
    for (int slot = 0; slot < TH_RING_SLOTS; slot++)
        th_crowd_view_pose(crowd_view, 0, camera, p->size.width, p->size.height);
    if (!th_gl_passed(p->gl, drawn, GRACE_NS))
        th_row_fail(row, "palettes are written again before the GPU has drawn the frame that reads them");
    th_gl_finish(p->gl);
    th_target_destroy(busy);
}

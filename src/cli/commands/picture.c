#include "picture.h"

#include <cli/command.h>

#include <core/build_checks.h>
#include <core/json.h>

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
    const bool drawn = th_crowd_view_frame(crowd_view, time_s, camera, p->target, p->size.width, p->size.height);
    th_picture_submit(p);
    return drawn;
}

void th_complain_of_evaluator(const th_crowd_view *crowd_view)
{
    const th_crowd_view_parts parts = th_crowd_view_get_parts(crowd_view);
    char mapping[128];
    th_gpu_mapping_text(&parts.gpu_mapping, mapping, sizeof mapping);
    if (parts.fallback[0])
        th_complain("%s", parts.fallback);
    if (mapping[0])
        th_complain("the GPU poses with %s", mapping);
}

json_t *th_picture_json(const th_picture *p, const th_crowd_view *crowd_view, const th_crowd_view_desc *crowd)
{
    const th_crowd_view_parts parts = th_crowd_view_get_parts(crowd_view);
    const th_gl_info *info = th_gl_get_info(p->gl);
    json_t *json = json_pack(
        "{s:i, s:i, s:i, s:i, s:o, s:s, s:o, s:b, s:s, s:s, s:s, s:s, s:s, s:o}", "width", (int)p->size.width, "height",
        (int)p->size.height, "samples", (int)p->size.samples, "shadow", (int)crowd->shadow_pixels, "renderer",
        th_json_text(info->renderer), "context", th_gl_kind_name(info->kind), "version", th_json_text(info->version),
        "software", (int)info->software, "palette", th_palette_name(parts.palette), "layout",
        th_layout_name(crowd->layout), "fetch", th_fetch_name(parts.fetch), "upload", th_ring_upload_name(parts.upload),
        "evaluator", th_evaluator_name(parts.evaluator), "ring_bytes", th_json_count(parts.ring_bytes));
    if (parts.evaluator == TH_EVALUATOR_GPU)
        json = th_json_set(json, "gpu_mapping", json_string(th_gpu_mapping_name(parts.gpu_mapping.mapping)));
    if (parts.culling == TH_EVALUATOR_GPU)
        json = th_json_set(json, "culling", json_string("gpu"));
    if (crowd->surroundings)
        json = th_json_set(json, "scene", json_string(th_layout_name(crowd->layout)));
    if (crowd->joint_lod)
        json = th_json_set(json, "joint_lod", json_true());
    if (crowd->share_hz > 0)
        json = th_json_set(json, "share_hz", th_json_real(crowd->share_hz));
    if (crowd->hold > 1)
        json = th_json_set(json, "hold", th_json_count(crowd->hold));
    if (crowd->share_hz > 0 || crowd->hold > 1)
        json = th_json_set(json, "far", th_json_count(crowd->far_lod));
    if (crowd->budget.ms > 0)
        json = th_json_set(json, "animation_budget_ms", th_json_real(crowd->budget.ms));
    if (crowd->budget.bones > 0)
        json = th_json_set(json, "animation_budget_bones", th_json_count(crowd->budget.bones));
    return json;
}

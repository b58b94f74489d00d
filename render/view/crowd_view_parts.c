#include "crowd_view_parts.h"

#include <throng/anim/bounds.h>
#include <throng/core/build_checks.h>

#include <stdlib.h>
#include <string.h>

/* ---- what models become ---- */

static th_result make_rigs(th_show *show, th_error *err)
{
    if (show->rigs)
        return TH_OK;
    show->rigs = calloc((size_t)show->desc.model_count + 1, sizeof *show->rigs);
    if (!show->rigs)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %u rigs", show->desc.model_count);
    for (uint32_t r = 0; r < show->desc.model_count; r++) {
        if (show->desc.rigs) {
            show->rigs[r] = (th_rig *)show->desc.rigs[r];
            continue;
        }
        th_rig_desc desc = show->desc.rig;
        desc.model = show->desc.models[r];
        th_result result = th_rig_create(&desc, &show->rigs[r], err);
        if (result != TH_OK)
            return result;
    }
    return TH_OK;
}

static th_result make_figures(th_show *show, th_error *err)
{
    if (show->figures)
        return TH_OK;
    show->figures = calloc((size_t)show->desc.model_count + 1, sizeof *show->figures);
    th_result result =
        show->figures ? TH_OK : th_fail(err, TH_ERR_MEMORY, "no memory for %u figures", show->desc.model_count);
    for (uint32_t r = 0; r < show->desc.model_count && result == TH_OK; r++)
        result = th_figure_create(show->desc.models[r], &show->figures[r], err);
    return result;
}

/* ---- who stands how ---- */

static th_result make_stance(th_interpolation interpolation, const th_model *model, uint32_t clip, float scale,
                             th_stance *out, th_error *err)
{
    th_bounds bounds;
    th_travel travel;
    const uint32_t which = clip < model->clip_count ? clip : TH_NO_INDEX;
    th_result result = th_model_bounds(model, which, interpolation, &bounds, err);
    if (result == TH_OK)
        result = th_clip_travel(model, which, interpolation, &travel, err);
    if (result != TH_OK)
        return result;
    *out = (th_stance){
        .sphere = {{(float)bounds.centre[0], (float)bounds.centre[1], (float)bounds.centre[2]}, (float)bounds.radius},
        .reach = (float)bounds.reach,
        .lowest_y = (float)bounds.lowest_y,
        .scale = scale,
        .speed = (float)travel.speed,
        .facing_rad = (float)travel.heading_rad,
        .loop_s = travel.loop_s,
    };
    return TH_OK;
}

/* Models of very different units would not be seen together: they are brought to the size of the first. */
static float scale_of(const th_show *show, uint32_t rig)
{
    const double ratio = show->desc.models[rig]->size / show->desc.models[0]->size;
    return ratio > 10 || ratio < 0.1 ? (float)(1 / ratio) : 1;
}

static th_result make_stances(th_show *show, th_error *err)
{
    if (show->stances)
        return TH_OK;
    const uint32_t models = show->desc.model_count;
    show->stance_count = 0;
    show->first_stance = calloc((size_t)models + 1, sizeof *show->first_stance);
    for (uint32_t r = 0; show->first_stance && r < models; r++) {
        show->first_stance[r] = show->stance_count;
        show->stance_count += show->desc.models[r]->clip_count + 1;
    }
    show->stances = calloc((size_t)show->stance_count + 1, sizeof *show->stances);
    if (!show->first_stance || !show->stances)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %u clips", show->stance_count);
    for (uint32_t r = 0; r < models; r++) {
        const th_model *model = show->desc.models[r];
        for (uint32_t c = 0; c <= model->clip_count; c++) {
            th_stance *stance = &show->stances[show->first_stance[r] + c];
            th_result result = make_stance(show->desc.rig.interpolation, model, c, scale_of(show, r), stance, err);
            if (result != TH_OK)
                return result;
        }
    }
    return TH_OK;
}

/* ---- the crowd ---- */

static th_result make_scene(th_show *show, th_error *err)
{
    if (show->scene)
        return TH_OK;
    const th_scene_desc desc = {
        .models = show->desc.models,
        .model_count = show->desc.model_count,
        .clips = show->desc.clips,
        .instance_count = show->desc.count,
        .seed = show->desc.seed,
        .rig = show->desc.rig,
        .rigs = (const th_rig *const *)show->rigs,
        .instances = show->desc.instances,
    };
    th_result result = th_scene_create(&desc, &show->scene, err);
    if (result != TH_OK)
        return result;
    const th_scene *scene = show->scene;
    show->standers = calloc((size_t)scene->instance_count + 1, sizeof *show->standers);
    if (!show->standers)
        return th_fail(err, TH_ERR_MEMORY, "no memory for the places of %u characters", scene->instance_count);
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        const th_instance *instance = &scene->instances[i];
        const uint32_t clips = show->desc.models[instance->rig]->clip_count;
        const uint32_t clip = instance->clip < clips ? instance->clip : clips;
        show->standers[i] = (th_stander){show->first_stance[instance->rig] + clip, instance->phase_s, instance->speed};
    }
    return TH_OK;
}

static void make_layout(th_show *show)
{
    const th_layout_desc desc = {
        .kind = show->desc.layout,
        .seed = show->desc.seed,
        .stances = show->stances,
        .stance_count = show->stance_count,
        .standers = show->standers,
        .count = show->scene->instance_count,
        .scale_spread = 0.06F,
    };
    show->layout = th_layout_make(&desc);
}

static th_result make_places(th_show *show, th_error *err)
{
    const uint32_t count = show->scene->instance_count;
    if (!show->places)
        show->places = calloc((size_t)count + 1, sizeof *show->places);
    return show->places ? TH_OK : th_fail(err, TH_ERR_MEMORY, "no memory for the places of %u characters", count);
}

static th_result make_cull(th_show *show, th_error *err)
{
    if (show->cull)
        return TH_OK;
    const uint32_t kinds = show->stance_count, count = show->scene->instance_count;
    th_cull_kind *kind = calloc((size_t)kinds + 1, sizeof *kind);
    uint32_t *of_instance = calloc((size_t)count + 1, sizeof *of_instance);
    th_result result = kind && of_instance ? TH_OK : th_fail(err, TH_ERR_MEMORY, "no memory for %u characters", count);
    if (result == TH_OK) {
        for (uint32_t r = 0, k = 0; r < show->desc.model_count; r++)
            for (uint32_t c = 0; c <= show->desc.models[r]->clip_count; c++, k++)
                kind[k] = (th_cull_kind){show->stances[k].sphere, r};
        for (uint32_t i = 0; i < count; i++)
            of_instance[i] = show->standers[i].stance;
        const th_cull_desc desc = {.kinds = kind,
                                   .kind_count = kinds,
                                   .instance_kinds = of_instance,
                                   .instance_count = count,
                                   .figure_count = show->desc.model_count,
                                   .lod_count = TH_FIGURE_LODS,
                                   .view_count = TH_SHOW_LISTS};
        result = th_cull_create(&desc, &show->cull, err);
    }
    free(kind);
    free(of_instance);
    return result;
}

static th_result make_crowd(th_show *show, th_error *err)
{
    if (show->crowd)
        return TH_OK;
    th_result result = th_scene_crowd(show->scene, show->desc.isa, show->desc.palette, &show->crowd, err);
    if (result == TH_OK)
        show->stands_offset = th_crowd_palette_bytes(show->crowd);
    return result;
}

/* ---- between two frames ---- */

static th_result make_threads(th_show *show, th_error *err)
{
    if (show->jobs)
        return TH_OK;
    return th_threads_create(&show->desc.jobs, &show->jobs, err);
}

static th_result make_frame(th_show *show, th_error *err)
{
    if (show->frame)
        return TH_OK;
    th_crowd_show(show->crowd, NULL, show->scene->instance_count); /* a frame has room for as many as it finds */
    return th_frame_create(&(th_frame_desc){.crowd = show->crowd, .jobs = show->jobs, .workers = true}, &show->frame,
                           err);
}

static th_result make_ring(th_show *show, th_gl *gl, th_error *err)
{
    const size_t stands = show->scene->instance_count * sizeof(th_stand);
    const th_ring_desc desc = {.bytes = show->stands_offset + stands, .upload = show->desc.upload, .guard = TH_CHECKS};
    th_result result = show->ring ? TH_OK : th_ring_create(gl, &desc, &show->ring, err);
    if (result == TH_OK)
        th_crowd_set_writes(show->crowd, th_ring_write_combined(show->ring) ? TH_WRITES_STREAMED : TH_WRITES_CACHED);
    return result;
}

static th_result make_painter(th_show *show, th_gl *gl, th_error *err)
{
    if (show->painter)
        return TH_OK;
    const th_painter_desc desc = {
        .gl = gl,
        .figures = (const th_figure *const *)show->figures,
        .figure_count = show->desc.model_count,
        .palette = show->desc.palette,
        .fetch = show->desc.fetch,
        .shadow_pixels = show->desc.shadow_pixels,
    };
    return th_painter_create(&desc, &show->painter, err);
}

static th_result make_draws(th_show *show, th_error *err)
{
    const uint32_t count = show->scene->instance_count;
    show->posed = calloc((size_t)count + 1, sizeof *show->posed);
    show->draws = calloc((size_t)TH_SHOW_LISTS * show->desc.model_count * TH_FIGURE_LODS + 1, sizeof *show->draws);
    return show->posed && show->draws ? TH_OK
                                      : th_fail(err, TH_ERR_MEMORY, "no memory for a list of %u characters", count);
}

/* ---- all ---- */

/* What depends on nothing that is different. */
static void share(th_show *show, const th_show *base)
{
    const th_show_desc *a = &show->desc, *b = &base->desc;
    const bool stances = a->rig.interpolation == b->rig.interpolation;
    const bool rigs =
        stances && a->rig.sampling == b->rig.sampling && a->rig.keys == b->rig.keys && a->rig.bound_m == b->rig.bound_m;
    const bool scene =
        rigs && a->count == b->count && a->seed == b->seed && memcmp(a->clips, b->clips, sizeof a->clips) == 0;
    const bool places = scene && a->layout == b->layout; /* found once, as a rule */
    const bool crowd = scene && a->isa == b->isa && a->palette == b->palette;
    const bool jobs = a->jobs.threads == b->jobs.threads && a->jobs.scheduler == b->jobs.scheduler &&
                      a->jobs.placement == b->jobs.placement;
    show->figures = base->figures;
    show->first_stance = stances ? base->first_stance : NULL;
    show->stances = stances ? base->stances : NULL;
    show->stance_count = base->stance_count;
    show->rigs = rigs ? base->rigs : NULL;
    show->scene = scene ? base->scene : NULL;
    show->standers = scene ? base->standers : NULL;
    show->places = places ? base->places : NULL;
    show->cull = places ? base->cull : NULL;
    show->crowd = crowd ? base->crowd : NULL;
    show->stands_offset = base->stands_offset;
    show->jobs = jobs ? base->jobs : NULL;
    show->frame = crowd && jobs ? base->frame : NULL;
    show->ring = crowd && a->upload == b->upload ? base->ring : NULL;
    show->painter =
        a->palette == b->palette && a->fetch == b->fetch && a->shadow_pixels == b->shadow_pixels ? base->painter : NULL;
}

th_result th_show_prepare(const th_show_desc *desc, const th_show *base, th_show **out, th_error *err)
{
    *out = NULL;
    th_show *show = calloc(1, sizeof *show);
    if (!show)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a show");
    show->desc = *desc;
    if (base)
        share(show, base);
    th_result result = make_rigs(show, err);
    if (result == TH_OK)
        result = make_figures(show, err);
    if (result == TH_OK)
        result = make_stances(show, err);
    if (result == TH_OK)
        result = make_scene(show, err);
    if (result == TH_OK)
        result = make_places(show, err);
    if (result == TH_OK)
        result = make_cull(show, err);
    if (result == TH_OK)
        result = make_crowd(show, err);
    if (result == TH_OK)
        *out = show;
    else
        th_show_retire(show, base);
    return result;
}

th_result th_show_complete(th_show *show, th_gl *gl, th_error *err)
{
    make_layout(show);
    th_result result = make_threads(show, err);
    if (result == TH_OK)
        result = make_frame(show, err);
    if (result == TH_OK)
        result = make_draws(show, err);
    if (result == TH_OK)
        result = make_ring(show, gl, err);
    if (result == TH_OK)
        result = make_painter(show, gl, err);
    return result;
}

th_result th_show_create(const th_show_desc *desc, th_gl *gl, th_show **out, th_error *err)
{
    th_result result = th_show_prepare(desc, NULL, out, err);
    if (result == TH_OK)
        result = th_show_complete(*out, gl, err);
    if (result != TH_OK) {
        th_show_destroy(*out);
        *out = NULL;
    }
    return result;
}

/* NULL when the heir has it, too. */
static void *own(void *part, const void *heirs)
{
    return part != heirs ? part : NULL;
}

static void retire_models(th_show *show, const th_show *heir)
{
    th_rig **rigs = own(show->rigs, heir->rigs);
    th_figure **figures = own(show->figures, heir->figures);
    for (uint32_t r = 0; rigs && !show->desc.rigs && r < show->desc.model_count; r++)
        th_rig_destroy(rigs[r]);
    for (uint32_t r = 0; figures && r < show->desc.model_count; r++)
        th_figure_destroy(figures[r]);
    free(rigs);
    free(figures);
    free(own(show->first_stance, heir->first_stance));
    free(own(show->stances, heir->stances));
}

void th_show_retire(th_show *show, const th_show *heir)
{
    static const th_show nobody;
    if (!show)
        return;
    if (!heir)
        heir = &nobody;
    th_painter_destroy(own(show->painter, heir->painter));
    th_ring_destroy(own(show->ring, heir->ring));
    th_frame_destroy(own(show->frame, heir->frame));
    th_jobs_destroy(own(show->jobs, heir->jobs));
    th_crowd_destroy(own(show->crowd, heir->crowd));
    th_cull_destroy(own(show->cull, heir->cull));
    th_scene_destroy(own(show->scene, heir->scene));
    free(own(show->standers, heir->standers));
    free(own(show->places, heir->places));
    retire_models(show, heir);
    free(show->posed);
    free(show->draws);
    free(show);
}

void th_show_destroy(th_show *show)
{
    th_show_retire(show, NULL);
}

#include "crowd_view_options.h"

#include <string.h>

_Static_assert((int)TH_CROWD_VIEW_MAX_MODELS >= (int)TH_OPTIONS_MAX_FILES,
               "a crowd view takes as many models as the options");

static th_result describe(const th_options *o, const th_model_set *model_set, th_crowd_view_desc *out, th_error *err)
{
    th_model_set chosen = *model_set;
    th_result result = th_model_set_choose_clip(&chosen, o->clip, err);
    *out = (th_crowd_view_desc){
        .model_count = model_set->count,
        .compile = th_model_set_compile_desc(o),
        .compiled_models = model_set->compiled_models,
        .instances = model_set->instances,
        .count = o->count,
        .seed = o->seed,
        .layout = o->layout,
        .look = o->look,
        .isa = o->isa,
        .palette = o->palette,
        .jobs = {.threads = o->threads.counts[0], .scheduler = o->scheduler, .placement = o->placement},
        .upload = o->upload,
        .fetch = o->fetch,
        .shadow_pixels = o->shadow,
        .start_s = o->start_s,
        .yaw_deg = o->yaw_deg,
        .pitch_deg = o->pitch_deg,
        .zoom = o->zoom,
    };
    for (uint32_t m = 0; m < model_set->count; m++) {
        out->models[m] = model_set->models[m];
        out->clips[m] = chosen.clips[m];
    }
    return result;
}

th_result th_options_create_crowd_view(const th_options *options, const th_model_set *model_set, th_gl *gl,
                                       th_crowd_view **out, th_error *err)
{
    th_crowd_view_desc desc;
    *out = NULL;
    th_result result = describe(options, model_set, &desc, err);
    return result == TH_OK ? th_crowd_view_create(&desc, gl, out, err) : result;
}

th_result th_options_prepare_crowd_view(const th_options *options, const th_model_set *model_set,
                                        const th_crowd_view *base, th_crowd_view **out, th_error *err)
{
    th_crowd_view_desc desc;
    *out = NULL;
    th_result result = describe(options, model_set, &desc, err);
    return result == TH_OK ? th_crowd_view_prepare(&desc, base, out, err) : result;
}

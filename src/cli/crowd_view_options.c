#include "crowd_view_options.h"

#include <string.h>

_Static_assert((int)TH_SHOW_MAX_MODELS >= (int)TH_OPTIONS_MAX_FILES, "a show takes as many models as the options");

static th_result describe(const th_options *o, const th_cast *cast, th_show_desc *out, th_error *err)
{
    th_cast chosen = *cast;
    th_result result = th_cast_choose(&chosen, o->clip, err);
    *out = (th_show_desc){
        .model_count = cast->count,
        .rig = th_cast_rig(o),
        .rigs = cast->rigs,
        .instances = cast->instances,
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
    for (uint32_t m = 0; m < cast->count; m++) {
        out->models[m] = cast->models[m];
        out->clips[m] = chosen.clips[m];
    }
    return result;
}

th_result th_cast_create_show(const th_options *options, const th_cast *cast, th_gl *gl, th_show **out, th_error *err)
{
    th_show_desc desc;
    *out = NULL;
    th_result result = describe(options, cast, &desc, err);
    return result == TH_OK ? th_show_create(&desc, gl, out, err) : result;
}

th_result th_cast_prepare_show(const th_options *options, const th_cast *cast, const th_show *base, th_show **out,
                               th_error *err)
{
    th_show_desc desc;
    *out = NULL;
    th_result result = describe(options, cast, &desc, err);
    return result == TH_OK ? th_show_prepare(&desc, base, out, err) : result;
}

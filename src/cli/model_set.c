#include "model_set.h"

#include "synthetic_text.h"

#include <throng/anim/clip_choice.h>
#include <throng/anim/human.h>
#include <throng/anim/import.h>

#include <string.h>

static th_result load(const th_options *o, const char *path, th_model **out, th_error *err)
{
    if (strcmp(path, TH_HUMAN_NAME) == 0)
        return th_human_create(out, err);
    if (th_synthetic_named(path)) {
        th_synthetic_desc synthetic;
        return th_synthetic_parse(path, &synthetic, err) ? th_synthetic_create(&synthetic, out, err) : err->code;
    }
    th_import_desc desc = {.path = path, .timeout_s = o->import_timeout_s};
    return th_import(&desc, out, err);
}

bool th_cast_is_file(const char *path)
{
    return strcmp(path, TH_HUMAN_NAME) != 0 && !th_synthetic_named(path);
}

static th_result load_models(th_cast *cast, const th_options *o, th_error *err)
{
    static const char *const human[] = {TH_HUMAN_NAME};
    uint32_t count = o->models.count ? o->models.count : 1;
    const char *const *paths = o->models.count ? o->models.paths : human;
    for (uint32_t i = 0; i < count; i++) {
        th_result result = load(o, paths[i], &cast->models[i], err);
        if (result != TH_OK)
            return result;
        cast->count++;
    }
    return TH_OK;
}

static th_result lend_to(th_model **model, const th_model *donor, th_error *err)
{
    th_model *richer;
    th_result result = th_model_lend_clips(*model, donor, &richer, err);
    if (result == TH_OK) {
        th_model_free(*model);
        *model = richer;
    }
    return result;
}

static th_result lend_clips(th_cast *cast, const th_options *o, th_error *err)
{
    for (uint32_t a = 0; a < o->animations.count; a++) {
        th_model *donor;
        th_result result = load(o, o->animations.paths[a], &donor, err);
        if (result != TH_OK)
            return result;
        for (uint32_t m = 0; m < cast->count && result == TH_OK; m++)
            result = lend_to(&cast->models[m], donor, err);
        th_model_free(donor);
        if (result != TH_OK)
            return result;
    }
    return TH_OK;
}

/* With several models, one of them having the clip is enough: the others stand in their rest pose. */
th_result th_cast_choose(th_cast *cast, const char *clip, th_error *err)
{
    bool all = !clip || strcmp(clip, "all") == 0, found = all;
    for (uint32_t m = 0; m < cast->count; m++) {
        cast->clips[m] = all ? TH_NO_INDEX : th_clip_find(cast->models[m], clip);
        found = found || cast->clips[m] != TH_NO_INDEX;
        if (!all && cast->clips[m] == TH_NO_INDEX)
            cast->clips[m] = cast->models[m]->clip_count; /* one that it does not have */
    }
    return found ? TH_OK : th_clip_refuse(clip, cast->models, cast->count, err);
}

static void say_who_stands(const th_cast *cast, const char *clip)
{
    for (uint32_t m = 0; m < cast->count; m++)
        if (cast->clips[m] == cast->models[m]->clip_count)
            th_complain("%s has no clip \"%s\": it stands in its rest pose", cast->models[m]->name, clip);
}

int th_cast_init(th_cast *cast, const th_options *o)
{
    th_error err;
    *cast = (struct th_cast){0};
    const bool good = load_models(cast, o, &err) == TH_OK && lend_clips(cast, o, &err) == TH_OK &&
                      th_cast_choose(cast, o->clip, &err) == TH_OK;
    if (!good)
        return th_fail_with(&err);
    say_who_stands(cast, o->clip);
    return TH_EXIT_GOOD;
}

void th_cast_fini(th_cast *cast)
{
    for (uint32_t m = 0; m < cast->count; m++)
        th_model_free(cast->models[m]);
}

th_result th_cast_load(const th_options *o, const char *path, th_model **out, th_error *err)
{
    th_cast one = {0};
    th_result result = load(o, path, &one.models[0], err);
    *out = NULL;
    if (result != TH_OK)
        return result;
    one.count = 1;
    result = lend_clips(&one, o, err);
    if (result == TH_OK)
        *out = one.models[0];
    else
        th_cast_fini(&one);
    return result;
}

th_rig_desc th_cast_rig(const th_options *o)
{
    return (th_rig_desc){
        .sampling = o->sampling,
        .interpolation = o->interpolation,
        .keys = o->keys,
        .bound_m = o->error_bound_mm / 1000,
    };
}

th_scene_desc th_cast_scene(const th_cast *cast, const th_options *o)
{
    return (th_scene_desc){
        .models = (const th_model *const *)cast->models,
        .model_count = cast->count,
        .clips = cast->clips,
        .instance_count = o->count,
        .seed = o->seed,
        .rig = th_cast_rig(o),
        .rigs = cast->rigs,
        .instances = cast->instances,
    };
}

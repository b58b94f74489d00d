#include "report/scene_json.h"

#include <core/json.h>

/* The palette of a character in single precision, as in a crowd. */
static size_t character_bytes(const th_model *model)
{
    return th_palette_stride(TH_PALETTE_F32, th_palette_entries(model->bone_count, model->weight_count));
}

static json_t *model_json(const th_model *model, const th_compiled_model *compiled, uint32_t clip)
{
    const char *name = clip < model->clip_count ? model->clips[clip].name : clip == TH_NO_INDEX ? "all" : NULL;
    return json_pack("{s:o, s:i, s:i, s:i, s:o, s:o, s:o, s:o}", "name", th_json_text(model->name), "joints",
                     (int)model->joint_count, "bones", (int)model->bone_count, "clips", (int)model->clip_count,
                     "exact_clips", compiled ? th_json_count(th_compiled_model_exact_clips(compiled)) : json_null(),
                     "bytes_per_character", th_json_count(character_bytes(model)), "bytes_per_clip",
                     compiled ? th_json_real(th_compiled_model_bytes_per_clip(compiled)) : json_null(), "clip",
                     th_json_text(name));
}

json_t *th_scene_json(const th_scene *scene, const th_scene_desc *desc)
{
    json_t *models = json_array();
    for (uint32_t m = 0; m < desc->model_count; m++)
        models = th_json_append(models, model_json(desc->models[m], scene ? scene->compiled_models[m] : NULL,
                                                   desc->clips ? desc->clips[m] : TH_NO_INDEX));
    const double bound_m = desc->compile.bound_m > 0 ? desc->compile.bound_m : TH_DEFAULT_BOUND_M;
    return json_pack(
        "{s:o, s:o, s:s, s:s, s:i, s:o, s:o}", "models", models, "characters", th_json_count(desc->instance_count),
        "sampling", desc->compile.sampling == TH_SAMPLING_EXACT ? "exact" : "compiled", "interpolation",
        th_interpolation_name(desc->compile.interpolation), "key_bits", desc->compile.keys == TH_KEYS_16 ? 16 : 32,
        "seed", json_sprintf("%llu", (unsigned long long)desc->seed), "error_bound_mm", th_json_real(bound_m * 1000));
}

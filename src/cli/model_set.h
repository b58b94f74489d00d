/* The models that the options name, with the clips attached to them and the clip that was chosen. */
#ifndef TH_CLI_MODEL_SET_H
#define TH_CLI_MODEL_SET_H

#include "options.h"

#include <throng/runtime/scene.h>

typedef struct th_model_set {
    th_model *models[TH_OPTIONS_MAX_FILES];
    uint32_t clips[TH_OPTIONS_MAX_FILES]; /* [model] TH_NO_INDEX: all clips, or the model has none */
    uint32_t count;
    /* Borrowed results of others; NULL: none. th_model_set_init sets them to NULL. */
    const th_compiled_model *const *compiled_models; /* [model] compiled as the options say */
    const th_instance *instances;                    /* [options' count] */
} th_model_set;

/* Loads all models. On failure reports the error and returns its exit code. Call th_model_set_fini in any case. */
int th_model_set_init(th_model_set *model_set, const th_options *options);
void th_model_set_fini(th_model_set *model_set);

/* Whether a model name means a file. human and synthetic:... do not. */
bool th_model_name_is_file(const char *path);

/* Chooses another clip, by name or index; NULL or "all": a mix of all. TH_ERR_USAGE: no model has it. */
th_result th_model_set_choose_clip(th_model_set *model_set, const char *clip, th_error *err);

/* Loads a model and attaches the clips of the options' animation files. */
th_result th_model_set_load(const th_options *options, const char *path, th_model **out, th_error *err);

/* The options' settings for compiling models. */
th_compiled_model_desc th_model_set_compile_desc(const th_options *options);

/* A scene with the options' settings. The model set must outlive it. */
th_scene_desc th_model_set_scene_desc(const th_model_set *model_set, const th_options *options);

#endif

/* Who plays: the models that the options name, with the clips that were lent to them and the clip that was chosen.
 */
#ifndef TH_CLI_MODEL_SET_H
#define TH_CLI_MODEL_SET_H

#include "options.h"

#include <throng/runtime/scene.h>

typedef struct th_model_set {
    th_model *models[TH_OPTIONS_MAX_FILES];
    uint32_t clips[TH_OPTIONS_MAX_FILES]; /* for each model; TH_NO_INDEX: all of them, or there is none */
    uint32_t count;
    /* What others have made of them already, borrowed; NULL: nothing. th_model_set_init leaves them NULL. */
    const th_compiled_model *const *compiled_models; /* for each model, compiled as the options say */
    const th_instance *instances;                    /* as many as the options' count */
} th_model_set;

/* Loads all; complains and returns an exit code when something is amiss. th_model_set_fini in any case. */
int th_model_set_init(th_model_set *model_set, const th_options *options);
void th_model_set_fini(th_model_set *model_set);

/* Whether models of this name come from a file; human and synthetic:... do not. */
bool th_model_name_is_file(const char *path);

/* Another clip, by name or by number; NULL or "all": a mix. TH_ERR_USAGE when no model has it. */
th_result th_model_set_choose_clip(th_model_set *model_set, const char *clip, th_error *err);

/* One more model, with the clips that the options lend. */
th_result th_model_set_load(const th_options *options, const char *path, th_model **out, th_error *err);

/* How the options want models compiled. */
th_compiled_model_desc th_model_set_compile_desc(const th_options *options);

/* A crowd of them, as the options ask for. The model_set must outlive it. */
th_scene_desc th_model_set_scene_desc(const th_model_set *model_set, const th_options *options);

#endif

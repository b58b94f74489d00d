/* Who plays: the models that the options name, with the clips that were lent to them and the clip that was chosen.
 */
#ifndef TH_CLI_MODEL_SET_H
#define TH_CLI_MODEL_SET_H

#include "options.h"

#include <throng/runtime/scene.h>

typedef struct th_cast {
    th_model *models[TH_OPTIONS_MAX_FILES];
    uint32_t clips[TH_OPTIONS_MAX_FILES]; /* for each model; TH_NO_INDEX: all of them, or there is none */
    uint32_t count;
    /* What others have made of them already, borrowed; NULL: nothing. th_cast_init leaves them NULL. */
    const th_rig *const *rigs;    /* for each model, compiled as the options say */
    const th_instance *instances; /* as many as the options' count */
} th_cast;

/* Loads all; complains and returns an exit code when something is amiss. th_cast_fini in any case. */
int th_cast_init(th_cast *cast, const th_options *options);
void th_cast_fini(th_cast *cast);

/* Whether models of this name come from a file; human and synthetic:... do not. */
bool th_cast_is_file(const char *path);

/* Another clip, by name or by number; NULL or "all": a mix. TH_ERR_USAGE when no model has it. */
th_result th_cast_choose(th_cast *cast, const char *clip, th_error *err);

/* One more model, with the clips that the options lend. */
th_result th_cast_load(const th_options *options, const char *path, th_model **out, th_error *err);

/* How the options want models compiled. */
th_rig_desc th_cast_rig(const th_options *options);

/* A crowd of them, as the options ask for. The cast must outlive it. */
th_scene_desc th_cast_scene(const th_cast *cast, const th_options *options);

#endif

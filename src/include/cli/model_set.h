/* The models that the options name, with the clips attached to them and the clip that was chosen. */
#ifndef TH_CLI_MODEL_SET_H
#define TH_CLI_MODEL_SET_H

#include <anim/sandbox.h>
#include <core/arena.h>
#include <render/crowd_view.h>
#include <runtime/scene.h>
#include <runtime/tracer.h>
#include <throng/throng.h>

enum { TH_FILE_LIST_MAX = 64 };

typedef struct th_file_list {
    const char *paths[TH_FILE_LIST_MAX];
    uint32_t count;
} th_file_list;

typedef struct th_model_options {
    th_file_list models;     /* none: the embedded human */
    th_file_list animations; /* files, and folders of such, whose clips are attached to all models */
    const char *clip;        /* by name or index; NULL or "all": a mix of all */
    double import_timeout_s;
    uint64_t import_bytes; /* for the importer, its answer and the model, beyond TH_IMPORT_BASE_MEMORY; 0: no limit but
                              the importer's own */
    bool allow_outside;    /* see th_import_desc */
    bool is_listed;        /* the command lists all warnings itself */
} th_model_options;

typedef struct th_model_set {
    th_model *models[TH_FILE_LIST_MAX];
    uint32_t clips[TH_FILE_LIST_MAX]; /* [model] TH_NO_INDEX: all clips, or the model has none */
    uint32_t count;
} th_model_set;

/* Loads all models, and complains of those without the clip and those with warnings. TH_ERR_USAGE: no model has the
 * clip. The tracer may be NULL. Call th_model_set_fini in any case. */
th_result th_model_set_init(th_model_set *model_set, const th_model_options *options, th_tracer *tracer, th_error *err);
void th_model_set_fini(th_model_set *model_set);

/* Says the first of them, and that there are more. */
void th_complain_of_warnings(const char *model, const char *const *warnings, uint32_t count);

/* Whether a model name means a file. human and synthetic:... do not. */
bool th_model_name_is_file(const char *path);

/* The files of the animations, and instead of folders those in them, by name, that may have clips. Paths are in the
 * arena or the options'. TH_ERR_INPUT: a folder that has none, or cannot be read; TH_ERR_MEMORY. */
th_result th_animation_files(const th_model_options *options, th_arena *arena, const char *const **out,
                             uint32_t *out_count, th_error *err);

/* What is missing here to confine imports, for one warning in the life of the program: 0 from the second call on. */
uint32_t th_sandbox_gaps_once(const char *out[TH_SANDBOX_MAX_GAPS]);

/* Chooses another clip. TH_ERR_USAGE: no model has it. */
th_result th_model_set_choose_clip(th_model_set *model_set, const char *clip, th_error *err);

/* Loads one model and attaches the clips of the animations. The options' own models are ignored. */
th_result th_model_load(const th_model_options *options, const char *path, th_model **out, th_error *err);

/* The crowd with the set's models and clips. The set must outlive what is made of it. */
th_crowd_view_desc th_model_set_crowd_view_desc(const th_model_set *model_set, const th_crowd_view_desc *crowd);

/* The same for crowds that are not drawn: count, seed and compile of the desc are used. */
th_scene_desc th_model_set_scene_desc(const th_model_set *model_set, const th_crowd_view_desc *crowd,
                                      const th_crowd_behaviour *behaviour);

#endif

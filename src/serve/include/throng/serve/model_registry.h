/* The models that may be asked for, by name: those that the server was started with, and the files of folders that it
 * was told. Names from the network are never paths. */
#ifndef THRONG_SERVE_MODEL_REGISTRY_H
#define THRONG_SERVE_MODEL_REGISTRY_H

#include <throng/core/api.h>
#include <throng/core/error.h>

#include <jansson.h>
#include <limits.h>
#include <stdint.h>

TH_API_BEGIN

enum { TH_MODEL_REGISTRY_FOLDERS = 64, TH_MODEL_REGISTRY_FILES = 64, TH_MODEL_REGISTRY_MAX_NAMES = 1000 };

/* Borrowed texts. */
typedef struct th_model_registry {
    const char *files[TH_MODEL_REGISTRY_FILES]; /* paths or built-in names; the name is what follows the last slash */
    uint32_t file_count;
    const char *folders[TH_MODEL_REGISTRY_FOLDERS];
    uint32_t folder_count;
} th_model_registry;

/* What a file is called. */
const char *th_model_registry_name(const char *path);

/* TH_ERR_INPUT when two files have one name. */
th_result th_model_registry_check(const th_model_registry *registry, th_error *err);

/* The path of a name: a file given at the start, else a regular file that lies in a folder itself, without a leading
 * dot, behind no symbolic link that leads out of the folder. TH_ERR_INPUT when there is none. Any thread. */
th_result th_model_registry_find(const th_model_registry *registry, const char *name, char out_path[PATH_MAX],
                                 th_error *err);

/* An array of names, each once: files, then those of the folders, sorted, at most TH_MODEL_REGISTRY_MAX_NAMES. Folders
 * are read each time. */
json_t *th_model_registry_json(const th_model_registry *registry);

TH_API_END

#endif

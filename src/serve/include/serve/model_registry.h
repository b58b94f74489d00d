/* The models that clients may request, by name: the files on the command line, and the files in the given folders.
 * Names from the network are never paths. */
#ifndef THRONG_SERVE_MODEL_REGISTRY_H
#define THRONG_SERVE_MODEL_REGISTRY_H

#include <core/error.h>

#include <jansson.h>
#include <limits.h>
#include <stdint.h>

enum { TH_MODEL_REGISTRY_FOLDERS = 64, TH_MODEL_REGISTRY_FILES = 64, TH_MODEL_REGISTRY_MAX_NAMES = 1000 };

/* Strings are borrowed. */
typedef struct th_model_registry {
    const char *files[TH_MODEL_REGISTRY_FILES]; /* paths or built-in names; the name is the part after the last slash */
    uint32_t file_count;
    const char *folders[TH_MODEL_REGISTRY_FOLDERS];
    uint32_t folder_count;
} th_model_registry;

/* The name of a file. */
const char *th_model_registry_name(const char *path);

/* TH_ERR_INPUT if two files have the same name. */
th_result th_model_registry_check(const th_model_registry *registry, th_error *err);

/* The path of a name, for th_import: a file from the command line, otherwise a regular file directly in a folder,
 * without a leading dot and without a symbolic link out of the folder. That folder is *out_folder, which the caller
 * closes after the import, and the path is of the form TH_PATH_IN_FOLDER, so that what a link becomes meanwhile leads
 * nowhere; -1 without a folder. TH_ERR_INPUT if there is none. Any thread. */
th_result th_model_registry_find(const th_model_registry *registry, const char *name, char out_path[PATH_MAX],
                                 int *out_folder, th_error *err);

/* An array of unique names: first the files, then the contents of folders, sorted, at most TH_MODEL_REGISTRY_MAX_NAMES,
 * of the first 20,000 entries that a folder has. Reads the folders on each call. */
json_t *th_model_registry_json(const th_model_registry *registry);

#endif

#include <serve/model_registry.h>

#include <core/file.h>
#include <core/json.h>

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ENTRIES = 20000 }; /* of a folder that are looked at: a few MB of names */

const char *th_model_registry_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

th_result th_model_registry_check(const th_model_registry *c, th_error *err)
{
    for (uint32_t a = 0; a < c->file_count; a++)
        for (uint32_t b = 0; b < a; b++)
            if (strcmp(c->files[a], c->files[b]) != 0 &&
                strcmp(th_model_registry_name(c->files[a]), th_model_registry_name(c->files[b])) == 0)
                return th_fail(err, TH_ERR_INPUT, "--model %s and --model %s have the same name here: %s", c->files[b],
                               c->files[a], th_model_registry_name(c->files[a]));
    return TH_OK;
}

static bool has_file(int folder, const char *name)
{
    struct stat status;
    const int file = th_open_beneath(folder, name, O_PATH);
    const bool is_file = file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode);
    if (file >= 0)
        close(file);
    return is_file;
}

th_result th_model_registry_find(const th_model_registry *c, const char *name, char out_path[PATH_MAX], int *out_folder,
                                 th_error *err)
{
    assert(name && out_path && out_folder);
    assert(c->file_count <= TH_MODEL_REGISTRY_FILES && c->folder_count <= TH_MODEL_REGISTRY_FOLDERS);
    *out_folder = -1;
    for (uint32_t f = 0; f < c->file_count; f++)
        if (strcmp(th_model_registry_name(c->files[f]), name) == 0 && strlen(c->files[f]) < PATH_MAX) {
            strcpy(out_path, c->files[f]);
            return TH_OK;
        }
    const bool plain = name[0] != '\0' && name[0] != '.' && !strchr(name, '/') && strlen(name) < 256;
    for (uint32_t f = 0; plain && f < c->folder_count; f++) {
        const int folder = th_open_folder(c->folders[f]);
        if (folder >= 0 && has_file(folder, name)) {
            *out_folder = folder;
            snprintf(out_path, PATH_MAX, TH_PATH_IN_FOLDER, folder, name);
            return TH_OK;
        }
        if (folder >= 0)
            close(folder);
    }
    return th_fail(err, TH_ERR_INPUT, "there is no model \"%.128s\"", name);
}

static bool seems_readable(const char *name)
{
    static const char *const companions[] = {".bin", ".png", ".jpg", ".jpeg", ".txt", ".md", ".mtl", NULL};
    const char *dot = strrchr(name, '.');
    for (int i = 0; dot && companions[i]; i++)
        if (strcasecmp(dot, companions[i]) == 0)
            return false;
    return dot != NULL && name[0] != '.';
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* If several share a name, th_model_registry_find returns the first. */
static json_t *add_name(json_t *names, const char *name)
{
    json_t *fresh = th_json_text(name);
    for (size_t n = 0; n < json_array_size(names); n++)
        if (json_equal(json_array_get(names, n), fresh)) {
            json_decref(fresh);
            return names;
        }
    return th_json_append(names, fresh);
}

json_t *th_model_registry_json(const th_model_registry *c)
{
    json_t *names = json_array();
    for (uint32_t f = 0; f < c->file_count; f++)
        names = add_name(names, th_model_registry_name(c->files[f]));
    for (uint32_t f = 0; f < c->folder_count; f++) {
        DIR *folder = opendir(c->folders[f]);
        char **entries = calloc(ENTRIES, sizeof *entries);
        size_t count = 0;
        for (struct dirent *e; folder && entries && count < ENTRIES && (e = readdir(folder));)
            if (seems_readable(e->d_name) && (entries[count] = strdup(e->d_name)))
                count++;
        qsort(entries, count, sizeof *entries, by_text);
        for (size_t e = 0; e < count; e++) {
            if (json_array_size(names) < TH_MODEL_REGISTRY_MAX_NAMES && has_file(dirfd(folder), entries[e]))
                names = add_name(names, entries[e]);
            free(entries[e]);
        }
        free(entries);
        if (folder)
            closedir(folder);
    }
    return names;
}

/* A model of a program's own arrays: checked where they are, then copied by way of an archive, which has all of a
 * model.
 */
#include <anim/archive.h>

#include <core/arena.h>
#include <core/error.h>

#include <stdlib.h>
#include <string.h>

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Importers see to it that clips and layers find joints by name. */
static th_result check_names(const th_model *model, th_error *err)
{
    th_arena *scratch = th_arena_create();
    const char **names = th_arena_new(scratch, const char *, model->joint_count);
    bool *counts = th_arena_new(scratch, bool, model->joint_count);
    uint32_t count = 0;
    th_result result = TH_OK;
    if (th_arena_failed(scratch)) {
        th_arena_destroy(scratch);
        return th_fail(err, TH_ERR_MEMORY, "out of memory");
    }
    for (uint32_t b = 0; b < model->bone_count; b++)
        counts[model->bones[b].joint] = true;
    for (uint32_t c = 0; c < model->clip_count; c++)
        for (uint32_t i = 0; i < model->clips[c].channel_count; i++)
            counts[model->clips[c].channels[i].joint] = true;
    for (uint32_t j = 0; j < model->joint_count; j++)
        if (counts[j])
            names[count++] = model->joints[j].name;
    qsort(names, count, sizeof *names, compare_names);
    for (uint32_t i = 1; result == TH_OK && i < count; i++)
        if (strcmp(names[i - 1], names[i]) == 0)
            result = th_fail(err, TH_ERR_INPUT, "two joints with bones or channels are called %s", names[i]);
    th_arena_destroy(scratch);
    return result;
}

th_result th_model_create(const th_model *data, th_model **out, th_error *err)
{
    if (!TH_VALID(data && out))
        return th_fail(err, TH_ERR_USAGE, "th_model_create: data or out is NULL");
    *out = NULL;
    th_model model = *data;
    model.warning_count = 0;
    model.size = 1;
    th_result result = th_model_check(&model, err);
    if (result == TH_OK)
        result = check_names(&model, err);
    if (result != TH_OK)
        return result;
    size_t size;
    uint8_t *bytes = th_archive_write(&model, &size);
    if (!bytes)
        return th_fail(err, TH_ERR_MEMORY, "%s: out of memory", model.name);
    result = th_archive_read(bytes, size, out, err);
    free(bytes);
    if (result != TH_OK)
        return result;
    (*out)->size = th_model_measure(*out);
    if ((*out)->size > 0)
        return TH_OK;
    th_model_destroy(*out);
    *out = NULL;
    return th_fail(err, TH_ERR_MEMORY, "%s: out of memory", model.name);
}

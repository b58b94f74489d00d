/* A program of the build: `human FILE` builds the human and writes it as a model archive, which becomes part of the
 * library. The same bytes by every compiler and on every processor that computes as IEEE 754 says. */
#include "parts.h"

#include <throng/anim/archive.h>
#include <throng/core/arena.h>
#include <throng/core/file.h>

#include <stdio.h>
#include <stdlib.h>

static bool add_material(th_model *model)
{
    th_material *material = th_arena_new(model->arena, th_material, 1);
    if (!material)
        return false;
    /* White: the colours are in the appearances. Here and there the surface is open: at silhouettes a back shows. */
    *material =
        (th_material){.name = TH_HUMAN_NAME, .base_color = {1, 1, 1, 1}, .texture = TH_NO_INDEX, .double_sided = true};
    model->materials = material;
    model->material_count = 1;
    return true;
}

/* Returns NULL if out of memory. */
static th_model *build(void)
{
    th_arena *arena = th_arena_create();
    th_model *model = arena ? th_arena_new(arena, th_model, 1) : NULL;
    if (!model)
        return NULL;
    *model = (th_model){.name = TH_HUMAN_NAME, .arena = arena};
    const bool is_whole = th_human_add_skeleton(model) && add_material(model) && th_human_add_mesh(model) &&
                          th_human_add_appearances(model) && th_human_add_clips(model);
    model->size = is_whole ? th_model_measure(model) : 0;
    return model->size > 0 ? model : NULL;
}

static th_result write_archive(const th_model *model, const char *path, th_error *err)
{
    size_t size = 0;
    uint8_t *bytes = th_archive_write(model, &size);
    th_result result = bytes ? th_file_replace(path, &(struct iovec){bytes, size}, 1, err)
                             : th_fail(err, TH_ERR_MEMORY, "out of memory");
    free(bytes);
    return result;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: human FILE\n");
        return 2;
    }
    th_error err;
    th_model *model = build();
    th_result result = model ? th_model_check(model, &err) : th_fail(&err, TH_ERR_MEMORY, "out of memory");
    if (result == TH_OK)
        result = write_archive(model, argv[1], &err);
    if (result != TH_OK)
        fprintf(stderr, "human: %s\n", err.text);
    th_model_free(model);
    return result == TH_OK ? 0 : 1;
}

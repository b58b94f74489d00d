/* A program of the build: `human human.thm` builds the human and writes it as a model archive, which becomes part of
 * the library. The same bytes by every compiler and on every processor that computes as IEEE 754 says.
 *
 * For tests and for other engines it writes a file that ends in .glb as binary glTF, also of a synthetic model:
 * `human synthetic:joints=8,clips=2 model.glb`, with the keys of `throng help synthetic`. */
#include "parts.h"
#include <anim/glb.h>

#include <anim/archive.h>
#include <anim/synthetic_text.h>
#include <core/arena.h>
#include <core/file.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static th_result create_human(th_model **out, th_error *err)
{
    th_arena *arena = th_arena_create();
    th_model *model = th_arena_new(arena, th_model, 1);
    th_material *material = th_arena_new(arena, th_material, 1);
    if (th_arena_failed(arena))
        return th_fail(err, TH_ERR_MEMORY, "out of memory");
    /* White: the colours are in the appearances. Here and there the surface is open: at silhouettes a back shows. */
    *material =
        (th_material){.name = TH_HUMAN_NAME, .base_color = {1, 1, 1, 1}, .texture = TH_NO_INDEX, .double_sided = true};
    *model = (th_model){.name = TH_HUMAN_NAME, .arena = arena, .materials = material, .material_count = 1};
    if (!th_human_add_skeleton(model) || !th_human_add_mesh(model) || !th_human_add_appearances(model) ||
        !th_human_add_clips(model) || (model->size = th_model_measure(model)) == 0)
        return th_fail(err, TH_ERR_MEMORY, "out of memory");
    *out = model;
    return th_model_check(model, err);
}

int main(int argc, char **argv)
{
    const bool is_synthetic = argc == 3 && th_synthetic_named(argv[1]);
    if (argc != 2 && !is_synthetic) {
        fprintf(stderr, "usage: human [synthetic:KEY=VALUE,...] FILE.thm|FILE.glb\n");
        return 2;
    }
    th_error err;
    th_model *model = NULL;
    th_synthetic_desc desc;
    th_result result = is_synthetic ? th_synthetic_parse(argv[1], &desc, &err) : create_human(&model, &err);
    desc.name = NULL;
    if (is_synthetic && result == TH_OK)
        result = th_synthetic_create(&desc, &model, &err);
    const char *path = argv[argc - 1], *dot = strrchr(path, '.');
    if (result == TH_OK && dot && strcmp(dot, ".glb") == 0) {
        result = th_glb_write(model, path, &err);
    } else if (result == TH_OK) {
        size_t size = 0;
        uint8_t *bytes = th_archive_write(model, &size);
        result = bytes ? th_file_replace(path, &(struct iovec){bytes, size}, 1, &err)
                       : th_fail(&err, TH_ERR_MEMORY, "out of memory");
        free(bytes);
    }
    if (result != TH_OK)
        fprintf(stderr, "human: %s\n", err.text);
    th_model_destroy(model);
    return result == TH_OK ? 0 : 1;
}

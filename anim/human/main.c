/* A program of the build: `human human.thm` builds the human and writes it as a model archive, which becomes part of
 * the library. The same bytes by every compiler and on every processor that computes as IEEE 754 says.
 *
 * For tests and for other engines it writes a file that ends in .glb as binary glTF, also of a synthetic model:
 * `human synthetic:joints=8,clips=2 model.glb`, with the keys of `throng help synthetic`. */
#include "glb.h"
#include "parts.h"

#include <core/arena.h>
#include <core/file.h>
#include <throng/anim/archive.h>
#include <throng/anim/synthetic.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the human ---- */

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

/* ---- synthetic models ---- */

/* Words are numbers: "shape=star", "scale=on". */
static bool read_number(const char *text, uint64_t *out)
{
    static const char *const words[][3] = {{"tree", "chain", "star"}, {"off", "on"}};
    for (size_t i = 0; i < 2; i++)
        for (uint64_t w = 0; w < 3; w++)
            if (words[i][w] && strcmp(words[i][w], text) == 0) {
                *out = w;
                return true;
            }
    char *end;
    *out = strtoull(text, &end, 10);
    return end != text && !*end;
}

static bool set_key(th_synthetic_desc *d, const char *key, uint64_t number)
{
    const struct {
        const char *key;
        uint32_t *value;
    } keys[] = {{"joints", &d->joints}, {"depth", &d->depth},   {"clips", &d->clips},    {"keys", &d->keys},
                {"rate", &d->rate},     {"moving", &d->moving}, {"weights", &d->weights}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i].key, key) == 0) {
            *keys[i].value = (uint32_t)number;
            return true;
        }
    if (strcmp(key, "shape") == 0)
        d->shape = (th_synthetic_shape)number;
    else if (strcmp(key, "scale") == 0)
        d->moving_scale = number;
    else if (strcmp(key, "mesh") == 0)
        d->no_mesh = !number;
    else if (strcmp(key, "seed") == 0)
        d->seed = number;
    else
        return false;
    return true;
}

static th_result create_synthetic(char *text, th_model **out, th_error *err)
{
    th_synthetic_desc desc = TH_SYNTHETIC_DEFAULT;
    strtok(text, ":");
    for (char *key = strtok(NULL, "="); key; key = strtok(NULL, "=")) {
        const char *word = strtok(NULL, ",");
        uint64_t number;
        if (!word || !read_number(word, &number) || !set_key(&desc, key, number))
            return th_fail(err, TH_ERR_INPUT, "no such key, or not its value: %s", key);
    }
    return th_synthetic_create(&desc, out, err);
}

/* ---- files ---- */

int main(int argc, char **argv)
{
    const char *const prefix = TH_SYNTHETIC_NAME ":";
    const bool is_synthetic = argc == 3 && strncmp(argv[1], prefix, strlen(prefix)) == 0;
    if (argc != 2 && !is_synthetic) {
        fprintf(stderr, "usage: human [synthetic:KEY=VALUE,...] FILE.thm|FILE.glb\n");
        return 2;
    }
    th_error err;
    th_model *model = NULL;
    th_result result = is_synthetic ? create_synthetic(argv[1], &model, &err) : create_human(&model, &err);
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
    th_model_free(model);
    return result == TH_OK ? 0 : 1;
}

#include <serve/model_cache.h>

#include "memory_budget.h"

#include <core/arena.h>
#include <serve/model_registry.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* With at most that much memory. Nothing is made without a behaviour. */
static th_result make_routines(th_model_cache *model_cache, const th_model_cache_desc *desc, uint32_t m,
                               uint64_t most_bytes, th_error *err)
{
    if (model_cache->behaviour == TH_BEHAVIOUR_NONE)
        return TH_OK;
    th_routines *routines;
    th_routines_desc routines_desc = desc->routines;
    routines_desc.compiled = model_cache->compiled_models[m];
    routines_desc.kind = model_cache->behaviour;
    routines_desc.max_bytes = most_bytes;
    const th_result result = th_routines_create(&routines_desc, &routines, err);
    if (result != TH_OK || !routines)
        return result;
    model_cache->routines[m] = routines;
    model_cache->bytes += th_routines_bytes(routines);
    model_cache->reserved += th_routines_bytes(routines);
    return TH_OK;
}

/* Loads and compiles with at most that much memory. Compiling may try twice. */
static th_result load(th_model_cache *model_cache, const th_model_cache_desc *desc, const char *name,
                      uint64_t most_bytes, th_error *err)
{
    char path[PATH_MAX];
    th_compiled_model *compiled;
    const uint32_t m = model_cache->count;
    th_result result = th_model_registry_find(desc->registry, name, path, err);
    if (result == TH_OK)
        result = desc->load(desc->load_ctx, path, most_bytes, &model_cache->models[m], err);
    if (result != TH_OK)
        return result;
    model_cache->count++;
    const size_t bytes = th_arena_bytes(model_cache->models[m]->arena);
    if (bytes >= most_bytes)
        return th_fail(err, TH_ERR_LIMIT, "%s takes %.1f MB; %.1f MB are left for it", name, (double)bytes / 1e6,
                       (double)most_bytes / 1e6);
    th_compiled_model_desc compiled_desc = desc->compile;
    compiled_desc.model = model_cache->models[m];
    compiled_desc.interpolation = model_cache->interpolation;
    compiled_desc.repertoire = compiled_desc.in_place = th_behaviour_needs_repertoire(model_cache->behaviour);
    compiled_desc.max_bytes = (most_bytes - bytes + 1) / 2;
    result = th_compiled_model_create(&compiled_desc, &compiled, err);
    if (result != TH_OK)
        return result;
    model_cache->compiled_models[m] = compiled;
    model_cache->bytes += th_compiled_model_bytes(compiled);
    model_cache->reserved += bytes + th_compiled_model_bytes(compiled);
    strcpy(model_cache->names[m], name);
    const uint64_t used = bytes + th_compiled_model_bytes(compiled);
    return make_routines(model_cache, desc, m, used < most_bytes ? most_bytes - used : 1, err);
}

/* All that is left is reserved meanwhile. What a model needs besides its clips is small, but might be more. */
static th_result add(th_model_cache *model_cache, const th_model_cache_desc *desc, const char *name, th_error *err)
{
    const uint64_t before = model_cache->reserved;
    const uint64_t most = th_memory_reserve_part(desc->memory, TH_MEMORY_MODELS, 1);
    th_result result = load(model_cache, desc, name, most, err);
    const uint64_t kept = model_cache->reserved - before;
    if (kept > most) {
        result = th_fail(err, TH_ERR_LIMIT, "%s takes %.1f MB; %.1f MB are left for it", name, (double)kept / 1e6,
                         (double)most / 1e6);
        model_cache->reserved = before;
    }
    th_memory_release(desc->memory, TH_MEMORY_MODELS, most - (model_cache->reserved - before));
    return result;
}

th_result th_model_cache_create(const th_model_cache_desc *desc, const th_settings *settings, th_model_cache **out,
                                th_error *err)
{
    assert(desc->registry && desc->memory && desc->load && out);
    assert(settings->model_count > 0 && settings->model_count <= TH_SETTINGS_MODELS);
    *out = NULL;
    th_model_cache *model_cache = calloc(1, sizeof *model_cache);
    if (!model_cache)
        return th_fail(err, TH_ERR_MEMORY, "no memory for models");
    model_cache->users = 1;
    model_cache->memory = desc->memory;
    model_cache->interpolation = settings->interpolation;
    model_cache->behaviour = settings->behaviour;
    for (uint32_t m = 0; m < settings->model_count; m++) {
        th_result result = add(model_cache, desc, settings->models[m], err);
        if (result != TH_OK) {
            th_model_cache_release(model_cache);
            return result;
        }
    }
    *out = model_cache;
    return TH_OK;
}

void th_model_cache_retain(th_model_cache *model_cache)
{
    __atomic_fetch_add(&model_cache->users, 1, __ATOMIC_RELAXED);
}

void th_model_cache_release(th_model_cache *model_cache)
{
    if (!model_cache || __atomic_fetch_sub(&model_cache->users, 1, __ATOMIC_ACQ_REL) > 1)
        return;
    for (uint32_t m = 0; m < model_cache->count; m++) {
        th_routines_destroy((th_routines *)model_cache->routines[m]);
        th_compiled_model_destroy((th_compiled_model *)model_cache->compiled_models[m]);
        th_model_free(model_cache->models[m]);
    }
    th_memory_release(model_cache->memory, TH_MEMORY_MODELS, model_cache->reserved);
    free(model_cache);
}

bool th_model_cache_matches(const th_model_cache *model_cache, const th_settings *settings)
{
    bool fits = model_cache->count == settings->model_count && model_cache->interpolation == settings->interpolation &&
                model_cache->behaviour == settings->behaviour;
    for (uint32_t m = 0; fits && m < model_cache->count; m++)
        fits = strcmp(model_cache->names[m], settings->models[m]) == 0;
    return fits;
}

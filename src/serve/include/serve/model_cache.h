/* Models, loaded and compiled, and their routines: the expensive part of a crowd that does not depend on its size.
 * Crowds that differ in count, threads or clips share it. */
#ifndef THRONG_SERVE_MODEL_CACHE_H
#define THRONG_SERVE_MODEL_CACHE_H

#include <serve/settings.h>
#include <throng/anim/behaviour.h>
#include <throng/anim/compiled_model.h>
#include <throng/core/api.h>

TH_API_BEGIN

/* Loads the file of a registry name with at most that much memory, in all processes together. Any thread. */
typedef th_result th_load_fn(void *ctx, const char *path, uint64_t most_bytes, th_model **out, th_error *err);

struct th_memory_budget;
struct th_model_registry;

/* Options of the server that do not change. */
typedef struct th_model_cache_desc {
    const struct th_model_registry *registry;
    struct th_memory_budget *memory;
    th_load_fn *load;
    void *load_ctx;
    th_compiled_model_desc compile; /* its model and interpolation are ignored */
    th_routines_desc routines;      /* its compiled model, kind and limit are ignored */
} th_model_cache_desc;

/* Read only, except the reference count. */
typedef struct th_model_cache {
    char names[TH_SETTINGS_MODELS][TH_SETTINGS_NAME];
    th_interpolation interpolation;
    th_behaviour_kind behaviour;
    th_model *models[TH_SETTINGS_MODELS];
    const th_compiled_model *compiled_models[TH_SETTINGS_MODELS];
    const th_routines *routines[TH_SETTINGS_MODELS]; /* NULL: without a behaviour, or nothing to choose from */
    uint32_t count;
    size_t bytes; /* of the compiled models and the routines */
    struct th_memory_budget *memory;
    uint64_t reserved; /* there: models, compiled models, routines */
    uint32_t users;    /* changed by th_model_cache_retain and _release alone, atomically */
} th_model_cache;

/* Starts with one reference. May take seconds. */
th_result th_model_cache_create(const th_model_cache_desc *desc, const th_settings *settings, th_model_cache **out,
                                th_error *err);

/* Adds a reference, for a caller that has one; releases one, and frees the cache with the last. NULL is allowed. Any
 * thread. */
void th_model_cache_retain(th_model_cache *model_cache);
void th_model_cache_release(th_model_cache *model_cache);

bool th_model_cache_matches(const th_model_cache *model_cache, const th_settings *settings);

TH_API_END

#endif

/* The options that all crowds of the server share; clients cannot change them. */
#ifndef THRONG_SERVE_SIMULATION_DESC_H
#define THRONG_SERVE_SIMULATION_DESC_H

#include <serve/settings.h>
#include <throng/anim/behaviour.h>
#include <throng/anim/compiled_model.h>
#include <throng/anim/crowd.h>
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

typedef struct th_simulation_desc {
    th_isa isa;
    th_palette palette;
    uint64_t seed;
    struct th_memory_budget *memory;
} th_simulation_desc;

typedef struct th_controller_desc {
    th_model_cache_desc model_cache;
    th_simulation_desc simulation;
} th_controller_desc;

TH_API_END

#endif

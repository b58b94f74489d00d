/* The options that all crowds of the server share; clients cannot change them. */
#ifndef THRONG_SERVE_SIMULATION_DESC_H
#define THRONG_SERVE_SIMULATION_DESC_H

#include <serve/model_cache.h>
#include <throng/anim/crowd.h>
#include <throng/core/api.h>

TH_API_BEGIN

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

/* Everything that a tick needs: instances, what they play, crowd, workers, palettes. Built outside the tick thread,
 * passed to it as a whole and returned as a whole. */
#ifndef TH_SERVE_SIMULATION_SIMULATION_H
#define TH_SERVE_SIMULATION_SIMULATION_H

#include <runtime/frame.h>
#include <serve/settings.h>

/* Models, loaded and compiled, and their routines: the expensive part of a crowd that does not depend on its size.
 * Crowds that differ in count, threads or clips share it. Read only, except the reference count. */
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

/* Read only, except for the one thread that animates, which uses the frame, the jobs and the palettes. */
typedef struct th_simulation {
    th_settings settings;
    th_model_cache *model_cache;
    th_jobs *jobs;
    th_crowd *crowd;
    th_behaviour *behaviour; /* NULL: each instance plays its own clip */
    th_frame *frame;
    void *palettes;
    struct th_memory_budget *memory;
    uint64_t reserved; /* there: instances, crowd, layers and palettes */
} th_simulation;

/* Two steps, because workers inherit the priority of the thread that creates them. th_simulation_build may run at low
 * priority. th_simulation_warm_up creates the workers and animates one frame, which touches all memory and measures the
 * clock, so that the first tick is like any other.
 *
 * TH_ERR_USAGE: a clip that no model has; TH_ERR_LIMIT: there is not enough left of the memory budget. The simulation
 * retains the model cache. */
th_result th_simulation_build(const th_simulation_desc *desc, const th_settings *settings, th_model_cache *model_cache,
                              th_simulation **out, th_error *err);
th_result th_simulation_warm_up(th_simulation *simulation, th_error *err);

void th_simulation_destroy(th_simulation *simulation); /* NULL is allowed */

/* TH_ERR_USAGE: a clip that no model has. */
th_result th_simulation_check_clips(const th_settings *settings, const th_model_cache *model_cache, th_error *err);

/* Chooses model and clip of settings->count instances. Clips are drawn by weight: instance i depends on the seed, the
 * weights and i only, not on the count; of a crowd that blends, not on the weights. */
th_result th_simulation_assign_clips(const th_settings *settings, const th_model_cache *model_cache, uint64_t seed,
                                     th_spawn *out, th_error *err);

/* Bytes of palettes, instances and layers, and of the compiled models, which count for each crowd that uses them. */
size_t th_simulation_bytes(const th_simulation *simulation);

#endif

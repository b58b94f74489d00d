/* The settings of the crowd, as clients send them in JSON and as the server stores them, and the options that all
 * crowds of the server share. */
#ifndef THRONG_SERVE_SETTINGS_H
#define THRONG_SERVE_SETTINGS_H

#include <anim/behaviour.h>
#include <anim/compiled_model.h>
#include <anim/crowd.h>
#include <core/error.h>

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { TH_SETTINGS_MODELS = 8, TH_SETTINGS_CLIPS = 16, TH_SETTINGS_NAME = 128 };

/* Of a rate that is not 0. */
#define TH_SETTINGS_MIN_RATE_HZ 0.1
#define TH_SETTINGS_MAX_RATE_HZ 1000.0

#define TH_SETTINGS_MAX_PACE 1000.0

typedef struct th_clip_weight {
    char name[TH_SETTINGS_NAME];
    double weight; /* above 0; a clip's share is its weight over the sum of weights. With BLEND everyone plays all */
} th_clip_weight;

typedef struct th_settings {
    uint32_t count;   /* characters */
    uint32_t threads; /* for animation, including the tick thread */
    double rate_hz;   /* ticks per second; 0: as fast as possible */
    bool paused;
    char models[TH_SETTINGS_MODELS][TH_SETTINGS_NAME]; /* registry names; characters take them in turn */
    uint32_t model_count;
    th_clip_weight clips[TH_SETTINGS_CLIPS]; /* none: all clips equally */
    uint32_t clip_count;
    th_interpolation interpolation;
    th_behaviour_kind behaviour;
    double pace; /* as in th_blend */
} th_settings;

typedef struct th_limits {
    uint32_t max_count, max_threads;
    uint64_t max_memory_bytes; /* of the server and of its processes (process.h) */
} th_limits;

/* {"count", "threads", "rate_hz", "paused", "models": [name...], "clips": {name: weight...}, "interpolation",
 * "behaviour", "pace"}. */
json_t *th_settings_json(const th_settings *settings);

/* Replaces the members of *settings that the JSON object has, all or none. TH_ERR_INPUT: not an object, an unknown
 * member or an invalid value; TH_ERR_LIMIT: a value beyond a limit. Does not check that models and clips exist. */
th_result th_settings_patch(th_settings *settings, const json_t *patch, const th_limits *limits, th_error *err);

/* What the crowd plays if its behaviour is BLEND. The clips borrow their names from the settings. */
th_blend th_settings_blend(const th_settings *settings);

/* Whether a crowd that blends plays the same with both: pace and weights. */
bool th_settings_same_blend(const th_settings *a, const th_settings *b);

/* Whether the same crowd serves both: only rate and pause may differ, and pace and weights of a blend. */
bool th_settings_same_crowd(const th_settings *a, const th_settings *b);

/* ---- what clients cannot change ---- */

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
    th_format palette;
    uint64_t seed;
    struct th_memory_budget *memory;
} th_simulation_desc;

typedef struct th_controller_desc {
    th_model_cache_desc model_cache;
    th_simulation_desc simulation;
} th_controller_desc;

#endif

/* What the crowd is asked to be, as JSON says it and as the server keeps it. */
#ifndef THRONG_SERVE_SETTINGS_H
#define THRONG_SERVE_SETTINGS_H

#include <throng/anim/interpolation.h>
#include <throng/core/api.h>
#include <throng/core/error.h>

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

TH_API_BEGIN

enum { TH_SETTINGS_MODELS = 8, TH_SETTINGS_CLIPS = 16, TH_SETTINGS_NAME = 128 };

#define TH_SETTINGS_MAX_RATE_HZ 1000.0

typedef struct th_clip_weight {
    char name[TH_SETTINGS_NAME];
    double weight; /* above 0; shares are weight over the sum of weights */
} th_clip_weight;

typedef struct th_settings {
    uint32_t count;   /* characters */
    uint32_t threads; /* that animate, the one that ticks included */
    double rate_hz;   /* ticks a second; 0: one after the other, as fast as they come */
    bool paused;
    char models[TH_SETTINGS_MODELS][TH_SETTINGS_NAME]; /* names of the registry; characters take them in turn */
    uint32_t model_count;
    th_clip_weight clips[TH_SETTINGS_CLIPS]; /* none: all clips alike */
    uint32_t clip_count;
    th_interpolation interpolation;
} th_settings;

typedef struct th_limits {
    uint32_t max_count, max_threads;
    uint64_t max_memory_bytes; /* of a crowd: palettes, keys, instances */
} th_limits;

/* {"count", "threads", "rate_hz", "paused", "models": [name...], "clips": {name: weight...}, "interpolation"}. */
json_t *th_settings_json(const th_settings *settings);

/* Puts the members of a JSON object in the place of those of *settings, all or none: TH_ERR_INPUT for what is no such
 * object, for a member that does not exist and for a value that makes no sense, TH_ERR_LIMIT beyond a limit. Whether
 * models and clips exist is not looked at. */
th_result th_settings_patch(th_settings *settings, const json_t *patch, const th_limits *limits, th_error *err);

/* Whether a crowd for one does for the other: they differ in rate and pause at most. */
bool th_settings_same_crowd(const th_settings *a, const th_settings *b);

TH_API_END

#endif

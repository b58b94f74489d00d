#include "layer_mix.h"

#include <core/arena.h>
#include <throng/anim/behaviour.h>
#include <throng/anim/blend_space.h>
#include <throng/anim/playback.h>

#include <assert.h>
#include <math.h>

struct th_layer_mix {
    th_arena *arena; /* of all but the space */
    const th_scene *scene;
    const th_layer_mix_desc *desc;
    th_blend_space *space;
    th_layer *layers;
    uint8_t *counts;
    th_playback *playbacks; /* of each layer */
    th_crowd_layers table;
};

/* A clip of the instance's model; TH_REST_CLIP if there is none. */
static uint16_t clip_of(const th_scene *scene, uint32_t instance, uint32_t layer)
{
    const uint32_t count = th_scene_model(scene, instance)->clip_count, first = scene->instances[instance].clip;
    if (count == 0)
        return TH_REST_CLIP;
    return (uint16_t)(((first == TH_NO_INDEX ? 0 : first) + layer) % count);
}

th_result th_layer_mix_create(const th_scene *scene, const th_layer_mix_desc *desc, th_layer_mix **out, th_error *err)
{
    assert(scene && desc && out && desc->override_count > 0);
    const uint32_t stride = desc->override_count + desc->add_count;
    assert(stride <= TH_MAX_LAYERS);
    const size_t count = (size_t)scene->instance_count * stride;
    th_arena *arena = th_arena_create();
    th_layer_mix *mix = *out = th_arena_new(arena, th_layer_mix, 1);
    th_layer *layers = th_arena_new(arena, th_layer, count);
    th_playback *playbacks = th_arena_new(arena, th_playback, count);
    uint8_t *counts = th_arena_new(arena, uint8_t, scene->instance_count);
    if (th_arena_failed(arena)) {
        th_arena_destroy(arena);
        *out = NULL;
        return th_fail(err, TH_ERR_MEMORY, "no memory for layers");
    }
    *mix = (th_layer_mix){.arena = arena,
                          .scene = scene,
                          .desc = desc,
                          .layers = layers,
                          .counts = counts,
                          .playbacks = playbacks,
                          .table = {layers, counts, stride}};
    for (size_t at = 0; at < count; at++) {
        const uint32_t i = (uint32_t)(at / stride), k = (uint32_t)(at % stride);
        const th_instance *from = &scene->instances[i];
        const bool overrides = k < desc->override_count;
        const bool is_masked = overrides && k + desc->masked_count >= desc->override_count;
        const uint16_t clip = clip_of(scene, i, k);
        counts[i] = (uint8_t)stride;
        layers[at] = (th_layer){.weight = 1.0F / (float)(k + 1),
                                .clip = clip,
                                .mode = overrides ? TH_LAYER_OVERRIDE : TH_LAYER_ADD,
                                .mask = is_masked ? (uint8_t)from->model : TH_NO_MASK};
        const th_clip *c = clip == TH_REST_CLIP ? NULL : &th_scene_model(scene, i)->clips[clip];
        if (c && c->duration_ticks > 0)
            playbacks[at] = th_playback_of(c->duration_ticks / c->ticks_per_second, from->phase_s, from->speed);
    }
    if (desc->space_dimensions == 0)
        return TH_OK;

    double x[TH_MAX_LAYERS], y[TH_MAX_LAYERS]; /* in one dimension on a line, in two on a square */
    for (uint32_t k = 0; k < desc->override_count; k++) {
        x[k] = desc->space_dimensions == 1 ? k : k % 2;
        y[k] = k / 2;
    }
    const th_blend_space_desc space = {x, desc->space_dimensions == 1 ? NULL : y, desc->override_count};
    const th_result result = th_blend_space_create(&space, &mix->space, err);
    if (result != TH_OK) {
        th_layer_mix_destroy(mix);
        *out = NULL;
    }
    return result;
}

void th_layer_mix_destroy(th_layer_mix *mix)
{
    if (!mix)
        return;
    th_blend_space_destroy(mix->space);
    th_arena_destroy(mix->arena);
}

/* A smooth step up and down again in two seconds, at a time of its own for each instance. */
static float swing_at(uint32_t instance, double time_s)
{
    const double x = fmod(time_s + instance * 0.37, 2), up = x < 1 ? x : 2 - x;
    return th_fade_weight(up);
}

const th_crowd_layers *th_layer_mix_at(th_layer_mix *mix, double time_s)
{
    assert(mix);
    const th_layer_mix_desc *desc = mix->desc;
    const uint32_t last = desc->space_dimensions == 1 ? desc->override_count - 1 : 1;
    for (uint32_t i = 0; i < mix->scene->instance_count; i++) {
        const size_t first = (size_t)i * mix->table.stride;
        th_layer *of = mix->layers + first;
        for (uint32_t k = 0; k < mix->table.stride; k++)
            of[k].ratio = th_playback_ratio(mix->playbacks[first + k], time_s);
        if (desc->fades) {
            of[1].weight = swing_at(i, time_s);
            of[0].weight = 1 - of[1].weight;
        }
        if (!mix->space)
            continue;

        /* Moves through the space and plays the samples around. */
        const double x = last * (double)swing_at(i, time_s), y = (double)swing_at(i + 1, 0.6 * time_s);
        uint32_t samples[3];
        float weights[3];
        const uint32_t count = th_blend_space_weights(mix->space, x, y, samples, weights);
        mix->counts[i] = (uint8_t)count;
        for (uint32_t k = 0; k < count; k++) {
            of[k].ratio = of[0].ratio;
            of[k].weight = weights[k];
            of[k].clip = clip_of(mix->scene, i, samples[k]);
        }
    }
    return &mix->table;
}

#include "layer_mix.h"

#include <throng/anim/behaviour.h>
#include <throng/anim/blend_space.h>
#include <throng/anim/playback.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>

struct th_layer_mix {
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

static void set_layer(th_layer_mix *mix, uint32_t instance, uint32_t k)
{
    const th_layer_mix_desc *desc = mix->desc;
    const bool overrides = k < desc->override_count;
    const th_instance *from = &mix->scene->instances[instance];
    const uint16_t clip = clip_of(mix->scene, instance, k);
    const size_t at = (size_t)instance * mix->table.stride + k;
    mix->layers[at] = (th_layer){.weight = 1.0F / (float)(k + 1),
                                 .clip = clip,
                                 .mode = overrides ? TH_LAYER_OVERRIDE : TH_LAYER_ADD,
                                 .mask = TH_NO_MASK};
    if (overrides && k + desc->masked_count >= desc->override_count)
        mix->layers[at].mask = (uint8_t)from->model;
    const th_clip *c = clip == TH_REST_CLIP ? NULL : &th_scene_model(mix->scene, instance)->clips[clip];
    if (c && c->duration_ticks > 0)
        mix->playbacks[at] = th_playback_of(c->duration_ticks / c->ticks_per_second, from->phase_s, from->speed);
}

/* In one dimension on a line, in two on a square. */
static th_result create_space(const th_layer_mix_desc *desc, th_blend_space **out, th_error *err)
{
    double x[TH_MAX_LAYERS], y[TH_MAX_LAYERS];
    for (uint32_t k = 0; k < desc->override_count; k++) {
        x[k] = desc->space_dimensions == 1 ? k : k % 2;
        y[k] = k / 2;
    }
    return th_blend_space_create(
        &(th_blend_space_desc){x, desc->space_dimensions == 1 ? NULL : y, desc->override_count}, out, err);
}

th_result th_layer_mix_create(const th_scene *scene, const th_layer_mix_desc *desc, th_layer_mix **out, th_error *err)
{
    assert(scene && desc && out && desc->override_count > 0);
    const uint32_t stride = desc->override_count + desc->add_count;
    assert(stride <= TH_MAX_LAYERS);
    th_layer_mix *mix = *out = calloc(1, sizeof *mix);
    if (!mix)
        return th_fail(err, TH_ERR_MEMORY, "no memory for layers");
    const size_t count = (size_t)scene->instance_count * stride;
    mix->scene = scene;
    mix->desc = desc;
    mix->layers = calloc(count + 1, sizeof *mix->layers);
    mix->playbacks = calloc(count + 1, sizeof *mix->playbacks);
    mix->counts = calloc(scene->instance_count + 1, 1);
    if (!mix->layers || !mix->playbacks || !mix->counts) {
        th_layer_mix_destroy(mix);
        *out = NULL;
        return th_fail(err, TH_ERR_MEMORY, "no memory for layers");
    }
    mix->table = (th_crowd_layers){mix->layers, mix->counts, stride};
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        mix->counts[i] = (uint8_t)stride;
        for (uint32_t k = 0; k < stride; k++)
            set_layer(mix, i, k);
    }
    const th_result result = desc->space_dimensions > 0 ? create_space(desc, &mix->space, err) : TH_OK;
    if (result == TH_OK)
        return TH_OK;
    th_layer_mix_destroy(mix);
    *out = NULL;
    return result;
}

void th_layer_mix_destroy(th_layer_mix *mix)
{
    if (!mix)
        return;
    th_blend_space_destroy(mix->space);
    free(mix->layers);
    free(mix->playbacks);
    free(mix->counts);
    free(mix);
}

/* A smooth step up and down again in two seconds, at a time of its own for each instance. */
static float swing_at(uint32_t instance, double time_s)
{
    const double x = fmod(time_s + instance * 0.37, 2), up = x < 1 ? x : 2 - x;
    return th_fade_weight(up);
}

static void fade(th_layer_mix *mix, uint32_t instance, double time_s)
{
    th_layer *of = mix->layers + (size_t)instance * mix->table.stride;
    of[1].weight = swing_at(instance, time_s);
    of[0].weight = 1 - of[1].weight;
}

/* Moves through the space and plays the samples around. */
static void play_space(th_layer_mix *mix, uint32_t instance, double time_s)
{
    th_layer *of = mix->layers + (size_t)instance * mix->table.stride;
    const uint32_t last = mix->desc->space_dimensions == 1 ? mix->desc->override_count - 1 : 1;
    const double x = last * (double)swing_at(instance, time_s), y = (double)swing_at(instance + 1, 0.6 * time_s);
    uint32_t samples[3];
    float weights[3];
    const uint32_t count = th_blend_space_weights(mix->space, x, y, samples, weights);
    mix->counts[instance] = (uint8_t)count;
    for (uint32_t k = 0; k < count; k++) {
        of[k].ratio = of[0].ratio;
        of[k].weight = weights[k];
        of[k].clip = clip_of(mix->scene, instance, samples[k]);
    }
}

const th_crowd_layers *th_layer_mix_at(th_layer_mix *mix, double time_s)
{
    assert(mix);
    const size_t stride = mix->table.stride, count = mix->scene->instance_count * stride;
    for (size_t at = 0; at < count; at++)
        mix->layers[at].ratio = th_playback_ratio(mix->playbacks[at], time_s);
    for (uint32_t i = 0; i < mix->scene->instance_count; i++) {
        if (mix->desc->fades)
            fade(mix, i, time_s);
        if (mix->space)
            play_space(mix, i, time_s);
    }
    return &mix->table;
}

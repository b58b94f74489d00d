#include "simulation.h"

#include "memory_budget.h"

#include <anim/clip_choice.h>
#include <core/random.h>
#include <core/text_format.h>

#include <assert.h>
#include <stdlib.h>

/* ---- assigning clips ---- */

th_result th_simulation_check_clips(const th_settings *s, const th_model_cache *model_cache, th_error *err)
{
    for (uint32_t c = 0; c < s->clip_count; c++) {
        bool found = false;
        for (uint32_t m = 0; m < model_cache->count; m++)
            found = found || th_clip_find(model_cache->models[m], s->clips[c].name) != TH_NO_INDEX;
        if (!found)
            return th_clip_not_found(s->clips[c].name, model_cache->models, model_cache->count, err);
    }
    return TH_OK;
}

/* The clip that instance i plays, of the clips that its model has; s->clip_count if it has none of them. */
static uint32_t choose_clip(const th_settings *s, const th_model *model, uint64_t seed, uint32_t i)
{
    double sum = 0, at;
    for (uint32_t c = 0; c < s->clip_count; c++)
        if (th_clip_find(model, s->clips[c].name) != TH_NO_INDEX)
            sum += s->clips[c].weight;
    at = th_random_unit(th_random_bits(seed, 77), i) * sum;
    uint32_t chosen = s->clip_count;
    for (uint32_t c = 0; c < s->clip_count; c++) {
        if (th_clip_find(model, s->clips[c].name) == TH_NO_INDEX)
            continue;
        chosen = c;
        at -= s->clips[c].weight;
        if (at < 0)
            break;
    }
    return chosen;
}

/* An instance depends only on the seed and its index. So this scatters a whole crowd for each clip, and takes each
 * instance from the crowd of its clip. */
static void assign_clip(const th_settings *s, const th_model_cache *model_cache, uint32_t model, uint32_t c,
                        uint64_t seed, const uint8_t *chosen, th_instance *scattered, th_instance *out)
{
    const uint32_t clip = c < s->clip_count ? th_clip_find(model_cache->models[model], s->clips[c].name) : TH_NO_INDEX;
    th_instances_scatter(model_cache->compiled_models, model_cache->count, clip, seed, scattered, s->count);
    for (uint32_t i = model; i < s->count; i += model_cache->count)
        if (chosen[i] == c) {
            out[i] = scattered[i];
            if (c == s->clip_count)
                out[i].clip = TH_NO_INDEX; /* rest pose */
        }
}

th_result th_simulation_assign_clips(const th_settings *s, const th_model_cache *model_cache, uint64_t seed,
                                     th_instance *out, th_error *err)
{
    assert(model_cache->count > 0 && (out || s->count == 0));
    if (s->clip_count == 0 || s->behaviour == TH_BEHAVIOUR_BLEND) {
        th_instances_scatter(model_cache->compiled_models, model_cache->count, TH_NO_INDEX, seed, out, s->count);
        return TH_OK;
    }
    th_instance *scattered = calloc(s->count, sizeof *scattered);
    uint8_t *chosen = calloc(s->count, 1);
    th_result result =
        scattered && chosen ? TH_OK : th_fail(err, TH_ERR_MEMORY, "no memory for %u characters", s->count);
    for (uint32_t i = 0; result == TH_OK && i < s->count; i++)
        chosen[i] = (uint8_t)choose_clip(s, model_cache->models[i % model_cache->count], seed, i);
    for (uint32_t m = 0; result == TH_OK && m < model_cache->count; m++)
        for (uint32_t c = 0; c <= s->clip_count; c++)
            assign_clip(s, model_cache, m, c, seed, chosen, scattered, out);
    free(scattered);
    free(chosen);
    return result;
}

/* ---- the simulation ---- */

/* At most, of an instance: what a crowd keeps of it, and itself, twice while clips are assigned. */
#define INSTANCE_BYTES 112u
/* Besides, at most, of an instance with a behaviour: what it follows, and what it plays in a frame. */
#define FOLLOWER_BYTES 40u
/* Of a model with one. */
#define MODEL_BYTES 640u

static uint64_t layers_bytes(const th_settings *s)
{
    return th_behaviour_most_layers(s->behaviour) * sizeof(th_layer) + 1;
}

static uint64_t instance_bytes(const th_settings *s)
{
    if (s->behaviour == TH_BEHAVIOUR_NONE)
        return (uint64_t)s->count * INSTANCE_BYTES;
    return s->count * (INSTANCE_BYTES + FOLLOWER_BYTES + layers_bytes(s)) + (s->model_count + 1) * MODEL_BYTES;
}

static th_result reserve(th_simulation *simulation, uint64_t bytes, th_error *err)
{
    const uint32_t count = simulation->settings.count;
    const uint64_t more = bytes - simulation->reserved;
    if (!th_memory_reserve(simulation->memory, TH_MEMORY_CROWDS, more))
        return th_fail(err, TH_ERR_LIMIT,
                       "%u character%s would take %.1f MB or more; the limit is %.1f MB, and %.1f MB "
                       "are left",
                       count, th_plural(count), (double)bytes / 1e6, (double)simulation->memory->limit / 1e6,
                       (double)(th_memory_left(simulation->memory) + simulation->reserved) / 1e6);
    simulation->reserved = bytes;
    return TH_OK;
}

static th_result make_behaviour(th_simulation *simulation, const th_simulation_desc *desc, const th_instance *instances,
                                th_error *err)
{
    const th_settings *s = &simulation->settings;
    if (s->behaviour == TH_BEHAVIOUR_NONE)
        return TH_OK;
    const th_behaviour_desc behaviour = {simulation->model_cache->routines, instances, s->count, desc->seed,
                                         th_settings_blend(s)};
    const th_result result = th_behaviour_create(&behaviour, &simulation->behaviour, err);
    assert(result != TH_OK || th_behaviour_bytes(simulation->behaviour) <=
                                  (uint64_t)s->count * FOLLOWER_BYTES + (s->model_count + 1) * MODEL_BYTES);
    return result;
}

static th_result make_crowd(th_simulation *simulation, const th_simulation_desc *desc, th_error *err)
{
    const th_settings *s = &simulation->settings;
    th_instance *instances = calloc(s->count, sizeof *instances);
    if (!instances)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %u characters", s->count);
    th_result result = th_simulation_check_clips(s, simulation->model_cache, err);
    if (result == TH_OK)
        result = th_simulation_assign_clips(s, simulation->model_cache, desc->seed, instances, err);
    const th_crowd_desc crowd = {
        .compiled_models = simulation->model_cache->compiled_models,
        .compiled_model_count = simulation->model_cache->count,
        .instances = instances,
        .instance_count = s->count,
        .isa = desc->isa,
        .palette = desc->palette,
    };
    if (result == TH_OK)
        result = th_crowd_create(&crowd, &simulation->crowd, err);
    if (result == TH_OK)
        result = make_behaviour(simulation, desc, instances, err);
    free(instances);
    return result;
}

th_result th_simulation_build(const th_simulation_desc *desc, const th_settings *settings, th_model_cache *model_cache,
                              th_simulation **out, th_error *err)
{
    assert(desc && model_cache && out);
    assert(settings->count > 0 && settings->threads > 0);
    *out = NULL;
    th_simulation *simulation = calloc(1, sizeof *simulation);
    if (!simulation)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a crowd");
    simulation->settings = *settings;
    simulation->model_cache = model_cache;
    simulation->memory = desc->memory;
    th_model_cache_retain(model_cache);
    th_result result = reserve(simulation, instance_bytes(settings), err);
    if (result == TH_OK)
        result = make_crowd(simulation, desc, err);
    if (result == TH_OK)
        result = reserve(simulation, simulation->reserved + th_crowd_palette_bytes(simulation->crowd), err);
    if (result == TH_OK)
        result = th_palette_create(simulation->crowd, &simulation->palettes, err);
    if (result == TH_OK)
        *out = simulation;
    else
        th_simulation_destroy(simulation);
    return result;
}

th_result th_simulation_warm_up(th_simulation *simulation, th_error *err)
{
    th_worker_stats stats[TH_JOBS_MAX_THREADS];
    th_result result =
        th_threads_create(&(th_jobs_desc){.threads = simulation->settings.threads}, &simulation->jobs, err);
    if (result == TH_OK)
        result = th_frame_create(
            &(th_frame_desc){.crowd = simulation->crowd, .jobs = simulation->jobs, .behaviour = simulation->behaviour},
            &simulation->frame, err);
    if (result != TH_OK)
        return result;
    th_frame_animate(simulation->frame, 0, simulation->palettes);
    th_jobs_stats(simulation->jobs, stats);
    th_jobs_stats_reset(simulation->jobs);
    return TH_OK;
}

void th_simulation_destroy(th_simulation *simulation)
{
    if (!simulation)
        return;
    th_frame_destroy(simulation->frame);
    th_jobs_destroy(simulation->jobs);
    free(simulation->palettes);
    th_behaviour_destroy(simulation->behaviour);
    th_crowd_destroy(simulation->crowd);
    th_model_cache_release(simulation->model_cache);
    th_memory_release(simulation->memory, TH_MEMORY_CROWDS, simulation->reserved);
    free(simulation);
}

size_t th_simulation_bytes(const th_simulation *simulation)
{
    const size_t behaviour = simulation->behaviour
                                 ? th_behaviour_bytes(simulation->behaviour) +
                                       simulation->settings.count * layers_bytes(&simulation->settings)
                                 : 0;
    return th_crowd_palette_bytes(simulation->crowd) + th_crowd_bytes(simulation->crowd) + behaviour +
           simulation->model_cache->bytes;
}

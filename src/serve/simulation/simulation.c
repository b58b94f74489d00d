#include "simulation.h"

#include "process.h"

#include <anim/clip_choice.h>
#include <core/arena.h>
#include <core/random.h>
#include <core/text_format.h>
#include <serve/model_registry.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- models ---- */

static th_result too_large(const char *name, uint64_t bytes, uint64_t most_bytes, th_error *err)
{
    return th_fail(err, TH_ERR_LIMIT, "%s takes %.1f MB; %.1f MB are left for it", name, (double)bytes / 1e6,
                   (double)most_bytes / 1e6);
}

/* Loads, compiles and finds what characters may do next, with at most that much memory. Compiling may try twice. */
static th_result add_model(th_model_cache *model_cache, const th_model_cache_desc *desc, const char *name,
                           uint64_t most_bytes, th_error *err)
{
    char path[PATH_MAX];
    th_compiled_model *compiled;
    const uint32_t m = model_cache->count;
    int folder;
    th_result result = th_model_registry_find(desc->registry, name, path, &folder, err);
    if (result == TH_OK)
        result = desc->load(desc->load_ctx, path, most_bytes, &model_cache->models[m], err);
    if (folder >= 0)
        close(folder);
    if (result != TH_OK)
        return result;
    model_cache->count++;
    const size_t bytes = th_arena_bytes(model_cache->models[m]->arena);
    if (bytes >= most_bytes)
        return too_large(name, bytes, most_bytes, err);

    th_compiled_model_desc compiled_desc = desc->compile;
    compiled_desc.model = model_cache->models[m];
    compiled_desc.interpolation = model_cache->interpolation;
    compiled_desc.in_place = th_behaviour_needs_repertoire(model_cache->behaviour);
    compiled_desc.max_bytes = (most_bytes - bytes + 1) / 2;
    result = th_compiled_model_create_with(&compiled_desc, &(th_compiled_more){.repertoire = compiled_desc.in_place},
                                           &compiled, err);
    if (result != TH_OK)
        return result;
    const size_t compiled_bytes = th_compiled_model_bytes(compiled);
    model_cache->compiled_models[m] = compiled;
    model_cache->bytes += compiled_bytes;
    model_cache->reserved += bytes + compiled_bytes;
    strcpy(model_cache->names[m], name);
    if (model_cache->behaviour == TH_BEHAVIOUR_NONE)
        return TH_OK;

    th_routines *routines;
    th_routines_desc routines_desc = desc->routines;
    routines_desc.compiled = compiled;
    routines_desc.kind = model_cache->behaviour;
    routines_desc.max_bytes = bytes + compiled_bytes < most_bytes ? most_bytes - bytes - compiled_bytes : 1;
    result = th_routines_create(&routines_desc, &routines, err);
    if (result != TH_OK || !routines)
        return result;
    model_cache->routines[m] = routines;
    model_cache->bytes += th_routines_get_extent(routines).bytes;
    model_cache->reserved += th_routines_get_extent(routines).bytes;
    return TH_OK;
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
    th_result result = TH_OK;
    for (uint32_t m = 0; result == TH_OK && m < settings->model_count; m++) {
        /* All that is left is reserved meanwhile. What a model needs besides its clips is small, but might be more. */
        const uint64_t before = model_cache->reserved;
        const uint64_t most = th_memory_reserve_part(desc->memory, TH_MEMORY_MODELS, 1);
        result = add_model(model_cache, desc, settings->models[m], most, err);
        if (model_cache->reserved - before > most) {
            result = too_large(settings->models[m], model_cache->reserved - before, most, err);
            model_cache->reserved = before;
        }
        th_memory_release(desc->memory, TH_MEMORY_MODELS, most - (model_cache->reserved - before));
    }
    if (result == TH_OK)
        *out = model_cache;
    else
        th_model_cache_release(model_cache);
    return result;
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
        th_model_destroy(model_cache->models[m]);
    }
    th_memory_release(model_cache->memory, TH_MEMORY_MODELS, model_cache->reserved);
    free(model_cache);
}

bool th_model_cache_matches(const th_model_cache *model_cache, const th_settings *settings)
{
    bool matches = model_cache->count == settings->model_count &&
                   model_cache->interpolation == settings->interpolation &&
                   model_cache->behaviour == settings->behaviour;
    for (uint32_t m = 0; matches && m < model_cache->count; m++)
        matches = strcmp(model_cache->names[m], settings->models[m]) == 0;
    return matches;
}

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

th_result th_simulation_assign_clips(const th_settings *s, const th_model_cache *model_cache, uint64_t seed,
                                     th_spawn *out, th_error *err)
{
    assert(model_cache->count > 0 && (out || s->count == 0));
    if (s->clip_count == 0 || s->behaviour == TH_BEHAVIOUR_BLEND) {
        th_spawns_scatter(model_cache->compiled_models, model_cache->count, TH_NO_INDEX, seed, out, s->count);
        return TH_OK;
    }
    th_spawn *scattered = calloc(s->count, sizeof *scattered);
    uint8_t *chosen = calloc(s->count, 1);
    th_result result =
        scattered && chosen ? TH_OK : th_fail(err, TH_ERR_MEMORY, "no memory for %u characters", s->count);
    for (uint32_t i = 0; result == TH_OK && i < s->count; i++)
        chosen[i] = (uint8_t)choose_clip(s, model_cache->models[i % model_cache->count], seed, i);
    /* An instance depends only on the seed and its index. So a whole crowd is scattered for each clip, and each
     * instance is taken from the crowd of its clip. The last one stands for the rest pose. */
    for (uint32_t m = 0; result == TH_OK && m < model_cache->count; m++)
        for (uint32_t c = 0; c <= s->clip_count; c++) {
            const bool rests = c == s->clip_count;
            const uint32_t clip = rests ? TH_NO_INDEX : th_clip_find(model_cache->models[m], s->clips[c].name);
            th_spawns_scatter(model_cache->compiled_models, model_cache->count, clip, seed, scattered, s->count);
            for (uint32_t i = m; i < s->count; i += model_cache->count)
                if (chosen[i] == c) {
                    out[i] = scattered[i];
                    out[i].clip = rests ? TH_NO_INDEX : out[i].clip;
                }
        }
    free(scattered);
    free(chosen);
    return result;
}

/* ---- the simulation ---- */

/* At most, of an instance: what a crowd keeps of it, and itself, twice while clips are assigned. */
#define INSTANCE_BYTES 152u
/* Besides, at most, of an instance with a behaviour: what it follows, and what it plays in a frame. */
#define FOLLOWER_BYTES 40u
/* Of a model with one. */
#define MODEL_BYTES 640u

static uint64_t layers_bytes(const th_settings *s)
{
    return th_behaviour_most_layers(s->behaviour) * sizeof(th_layer) + 1;
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

th_result th_simulation_build(const th_simulation_desc *desc, const th_settings *settings, th_model_cache *model_cache,
                              th_simulation **out, th_error *err)
{
    assert(desc && model_cache && out);
    assert(settings->count > 0 && settings->threads > 0);
    *out = NULL;
    th_simulation *simulation = calloc(1, sizeof *simulation);
    if (!simulation)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a crowd");
    *simulation = (th_simulation){.settings = *settings, .model_cache = model_cache, .memory = desc->memory};
    th_model_cache_retain(model_cache);

    const bool behaves = settings->behaviour != TH_BEHAVIOUR_NONE;
    const uint64_t follower_bytes = behaves ? FOLLOWER_BYTES + layers_bytes(settings) : 0;
    const uint64_t model_bytes = behaves ? (settings->model_count + 1) * MODEL_BYTES : 0;
    th_spawn *instances = NULL;
    th_result result = reserve(simulation, settings->count * (INSTANCE_BYTES + follower_bytes) + model_bytes, err);
    if (result == TH_OK && !(instances = calloc(settings->count, sizeof *instances)))
        result = th_fail(err, TH_ERR_MEMORY, "no memory for %u characters", settings->count);
    if (result == TH_OK)
        result = th_simulation_check_clips(settings, model_cache, err);
    if (result == TH_OK)
        result = th_simulation_assign_clips(settings, model_cache, desc->seed, instances, err);
    if (result == TH_OK)
        result = th_crowd_create_with(&(th_crowd_desc){.compiled_models = model_cache->compiled_models,
                                                       .compiled_model_count = model_cache->count,
                                                       .isa = desc->isa,
                                                       .format = desc->palette},
                                      instances, settings->count, &simulation->crowd, err);
    if (result == TH_OK && behaves) {
        const th_behaviour_desc behaviour = {model_cache->routines, instances, settings->count, desc->seed,
                                             th_settings_blend(&simulation->settings)};
        result = th_behaviour_create(&behaviour, &simulation->behaviour, err);
        assert(result != TH_OK ||
               th_behaviour_bytes(simulation->behaviour) <= settings->count * (uint64_t)FOLLOWER_BYTES + model_bytes);
    }
    free(instances);
    if (result == TH_OK)
        result = reserve(simulation, simulation->reserved + th_crowd_palette_bytes(simulation->crowd), err);
    if (result == TH_OK)
        result = th_palettes_create(simulation->crowd, &simulation->palettes, err);
    if (result == TH_OK)
        *out = simulation;
    else
        th_simulation_destroy(simulation);
    return result;
}

th_result th_simulation_warm_up(th_simulation *simulation, th_error *err)
{
    th_worker_stats stats[TH_JOBS_MAX_THREADS];
    th_result result = th_jobs_create(&(th_jobs_desc){.threads = simulation->settings.threads}, &simulation->jobs, err);
    if (result == TH_OK)
        result = th_frame_create_with(&(th_frame_desc){.crowd = simulation->crowd, .jobs = simulation->jobs},
                                      simulation->behaviour, &simulation->frame, err);
    if (result != TH_OK)
        return result;
    th_frame_run(simulation->frame, 0, simulation->palettes);
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
    th_palettes_destroy(simulation->palettes);
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

/* The characters of a crowd: who is in it, and what they play. Those of a model have places next to each other, so that
 * whoever comes or goes moves one of each model behind. */
#include "crowd_data.h"

#include <core/error.h>
#include <core/random.h>

#include <math.h>
#include <string.h>

/* ---- what they play ---- */

static bool contains(const th_crowd *crowd, th_character character)
{
    return crowd && character.slot < crowd->capacity && crowd->model_of[character.slot] != TH_NO_INDEX &&
           crowd->lives[character.slot].generation == character.generation;
}

static bool can_play(const th_compiled_model *compiled, const th_play *play)
{
    return play && (play->clip == TH_NO_INDEX || play->clip < compiled->model->clip_count) && isfinite(play->phase_s) &&
           isfinite(play->speed) && isfinite(play->at_s);
}

static th_result cannot_play(const th_compiled_model *compiled, const th_play *play, th_error *err)
{
    const th_model *model = compiled->model;
    if (play && play->clip != TH_NO_INDEX && play->clip >= model->clip_count)
        return th_fail(err, TH_ERR_USAGE, "%s has no clip %u, it has %u", model->name, play->clip, model->clip_count);
    return th_fail(err, TH_ERR_USAGE, "%s is to play a clip whose phase, speed and time are not all finite numbers",
                   model->name);
}

static th_result nobody(th_character character, th_error *err)
{
    return th_fail(err, TH_ERR_USAGE, "nobody in the crowd is %u of generation %u", character.slot,
                   character.generation);
}

/* 0: it has no length. */
static double duration_of(const th_compiled_model *compiled, const th_play *play)
{
    const th_clip *clip = play->clip == TH_NO_INDEX ? NULL : &compiled->model->clips[play->clip];
    return clip ? clip->duration_ticks / clip->ticks_per_second : 0;
}

static th_playback playback_of(const th_compiled_model *compiled, const th_play *play)
{
    const double duration_s = duration_of(compiled, play);
    if (!(duration_s > 0))
        return (th_playback){0};
    return th_playback_of(duration_s, play->phase_s - play->speed * play->at_s, play->speed);
}

static th_character_layer *layers_of(const th_crowd *crowd, uint32_t slot)
{
    return crowd->layers + (size_t)slot * crowd->max_layers;
}

static th_play *played(th_crowd *crowd, uint32_t slot)
{
    crowd_life *life = &crowd->lives[slot];
    return life->layer_count > 0 ? &layers_of(crowd, slot)->play : &life->play;
}

/* Takes over what lives[slot] plays. */
static void set_playing(th_crowd *crowd, uint32_t slot)
{
    const th_compiled_model *compiled = crowd->models[crowd->model_of[slot]].compiled;
    const th_play *play = &crowd->lives[slot].play;
    const uint32_t clip = play->clip == TH_NO_INDEX ? compiled->model->clip_count : play->clip;
    crowd->characters[slot] = (crowd_character){&compiled->compiled_clips[clip], playback_of(compiled, play)};
    if (is_active(crowd, slot))
        th_crowd_activate(crowd, crowd->posed_in[slot], crowd->place_of[slot], slot);
}

/* ---- who is in it ---- */

/* Where no generation is left to follow, nobody takes the slot again. */
void th_crowd_leave(th_crowd *crowd, uint32_t slot)
{
    crowd->model_of[slot] = TH_NO_INDEX;
    if (++crowd->lives[slot].generation == 0)
        return;
    crowd->place_of[slot] = crowd->free_slot;
    crowd->free_slot = slot;
    crowd->free_count++;
}

/* Takes a slot for a character that is not active yet, and returns it. */
static uint32_t enter(th_crowd *crowd, uint32_t model, const th_play *play)
{
    const uint32_t slot = crowd->free_slot;
    assert(crowd->free_count > 0 && can_play(crowd->models[model].compiled, play));
    crowd->free_slot = crowd->place_of[slot];
    crowd->free_count--;
    crowd->count++;
    crowd->model_of[slot] = model;
    crowd->place_of[slot] = TH_NO_INDEX;
    crowd->lives[slot].play = *play;
    crowd->lives[slot].layer_count = 0;
    set_playing(crowd, slot);
    return slot;
}

/* Makes all active who are in the crowd. */
static void make_whole(th_crowd *crowd)
{
    if (!crowd->is_whole)
        th_crowd_set_active(crowd, NULL, crowd->count);
}

static void move_place(th_crowd *crowd, uint32_t from, uint32_t to)
{
    crowd->active[to] = crowd->active[from];
    crowd->instance_of[to] = crowd->instance_of[from];
    crowd->place_of[crowd->instance_of[to]] = to;
}

static th_result full(const th_crowd *crowd, th_error *err)
{
    return th_fail(err, TH_ERR_LIMIT, "the crowd has room for %u characters, of whom %u are there", crowd->capacity,
                   crowd->count);
}

th_result th_crowd_spawn(th_crowd *crowd, uint32_t model, const th_play *play, th_character *out, th_error *err)
{
    if (out)
        *out = (th_character){0};
    if (!TH_VALID(crowd && model < crowd->model_count))
        return th_fail(err, TH_ERR_USAGE, "the crowd has no model %u, it has %u", model,
                       crowd ? crowd->model_count : 0);
    if (!TH_VALID(can_play(crowd->models[model].compiled, play)))
        return cannot_play(crowd->models[model].compiled, play, err);
    if (crowd->free_count == 0)
        return full(crowd, err);
    make_whole(crowd);
    for (uint32_t m = crowd->model_count - 1; m > model; m--) /* the first of each group behind it goes to the end */
        if (crowd->models[m].count > 0)
            move_place(crowd, crowd->models[m].first, crowd->models[m].first + crowd->models[m].count);
    crowd->models[model].count++;
    crowd->active_count++;
    th_crowd_place_models(crowd);
    const uint32_t slot = enter(crowd, model, play);
    th_crowd_activate(crowd, model, crowd->models[model].first + crowd->models[model].count - 1, slot);
    if (out)
        *out = (th_character){slot, crowd->lives[slot].generation};
    return TH_OK;
}

th_result th_crowd_remove(th_crowd *crowd, th_character character, th_error *err)
{
    if (!TH_VALID(contains(crowd, character) && !crowd->is_fixed))
        return nobody(character, err);
    make_whole(crowd);
    uint32_t hole = crowd->place_of[character.slot];
    for (uint32_t m = crowd->model_of[character.slot]; m < crowd->model_count; m++) { /* its last one takes the place */
        if (crowd->models[m].count == 0)
            continue;
        const uint32_t last = crowd->models[m].first + crowd->models[m].count - 1;
        move_place(crowd, last, hole);
        hole = last;
    }
    crowd->models[crowd->model_of[character.slot]].count--;
    crowd->active_count--;
    crowd->count--;
    th_crowd_place_models(crowd);
    th_crowd_leave(crowd, character.slot);
    return TH_OK;
}

uint32_t th_crowd_count(const th_crowd *crowd)
{
    return TH_VALID(crowd) ? crowd->count : 0;
}

th_result th_crowd_play(th_crowd *crowd, th_character character, const th_play *play, th_error *err)
{
    if (!TH_VALID(contains(crowd, character)))
        return nobody(character, err);
    const th_compiled_model *compiled = crowd->models[crowd->model_of[character.slot]].compiled;
    if (!TH_VALID(can_play(compiled, play)))
        return cannot_play(compiled, play, err);
    crowd->lives[character.slot].play = *play;
    crowd->lives[character.slot].layer_count = 0;
    set_playing(crowd, character.slot);
    return TH_OK;
}

th_result th_crowd_seek(th_crowd *crowd, th_character character, double phase_s, double at_s, th_error *err)
{
    if (!TH_VALID(contains(crowd, character)))
        return nobody(character, err);
    if (!TH_VALID(isfinite(phase_s) && isfinite(at_s)))
        return th_fail(err, TH_ERR_USAGE, "phase %g at time %g: not finite", phase_s, at_s);
    th_play *play = played(crowd, character.slot);
    play->phase_s = phase_s;
    play->at_s = at_s;
    set_playing(crowd, character.slot);
    return TH_OK;
}

th_result th_crowd_set_speed(th_crowd *crowd, th_character character, double speed, double at_s, th_error *err)
{
    if (!TH_VALID(contains(crowd, character)))
        return nobody(character, err);
    if (!TH_VALID(isfinite(speed) && isfinite(at_s)))
        return th_fail(err, TH_ERR_USAGE, "speed %g at time %g: not finite", speed, at_s);
    th_play *play = played(crowd, character.slot);
    const double duration_s = duration_of(crowd->models[crowd->model_of[character.slot]].compiled, play);
    if (duration_s > 0) {
        const double begin_s = play->phase_s - play->speed * play->at_s;
        play->phase_s =
            duration_s * th_playback_ratio((th_playback){begin_s / duration_s, play->speed / duration_s}, at_s);
    }
    play->speed = speed;
    play->at_s = at_s;
    set_playing(crowd, character.slot);
    return TH_OK;
}

static bool is_layer(const th_compiled_model *compiled, const th_character_layer *layer)
{
    return can_play(compiled, &layer->play) && layer->weight >= 0 && layer->weight <= 1 &&
           layer->mode < TH_LAYER_MODE_COUNT && (layer->mask == TH_NO_MASK || layer->mask < compiled->mask_count);
}

th_result th_crowd_set_layers(th_crowd *crowd, th_character character, const th_character_layer *layers, uint32_t count,
                              th_error *err)
{
    if (!TH_VALID(contains(crowd, character)))
        return nobody(character, err);
    if (!TH_VALID(count <= crowd->max_layers && (layers || count == 0)))
        return th_fail(err, TH_ERR_USAGE, "%u layers, and th_crowd_desc.max_layers is %u", count, crowd->max_layers);
    const crowd_model *model = &crowd->models[crowd->model_of[character.slot]];
    for (uint32_t i = 0; i < count; i++)
        if (!TH_VALID(is_layer(model->compiled, &layers[i])))
            return th_fail(err, TH_ERR_USAGE,
                           "layer %u has a clip, mode or mask that is none, a weight outside of 0 to 1, or a time that "
                           "is not finite",
                           i);
    for (uint32_t i = 0; i < count; i++)
        if (layers[i].play.clip != TH_NO_INDEX && model->obstacles[layers[i].play.clip] >> layers[i].mode & 1)
            return th_fail(err, TH_ERR_INPUT, "%s cannot be added: it starts from a scale of 0",
                           model->compiled->model->clips[layers[i].play.clip].name);
    if (count > 0)
        memmove(layers_of(crowd, character.slot), layers, count * sizeof *layers);
    crowd->lives[character.slot].layer_count = count;
    return TH_OK;
}

uint32_t th_crowd_layers_at(const th_crowd *crowd, uint32_t instance, double time_s, th_layer *out)
{
    assert(crowd && instance < crowd->capacity && out);
    const th_compiled_model *compiled = crowd->models[crowd->model_of[instance]].compiled;
    const th_character_layer *layers = layers_of(crowd, instance);
    const uint32_t count = crowd->lives[instance].layer_count;
    for (uint32_t i = 0; i < count; i++)
        out[i] = (th_layer){.ratio = i > 0 && layers[i].in_step
                                         ? out->ratio
                                         : th_playback_ratio(playback_of(compiled, &layers[i].play), time_s),
                            .weight = layers[i].weight,
                            .clip = layers[i].play.clip == TH_NO_INDEX ? TH_REST_CLIP : (uint16_t)layers[i].play.clip,
                            .mode = layers[i].mode,
                            .mask = layers[i].mask};
    return count;
}

bool th_crowd_get(const th_crowd *crowd, th_character character, th_character_info *out)
{
    if (!TH_VALID(crowd) || !contains(crowd, character))
        return false;
    const uint32_t slot = character.slot;
    if (out)
        *out = (th_character_info){.model = crowd->model_of[slot],
                                   .palette = is_active(crowd, slot)
                                                  ? crowd->place_of[slot] - crowd->models[crowd->posed_in[slot]].first
                                                  : TH_NO_INDEX,
                                   .play = crowd->lives[slot].play,
                                   .layers = layers_of(crowd, slot),
                                   .layer_count = crowd->lives[slot].layer_count};
    return true;
}

/* ---- crowds at random, and from lists ---- */

static th_spawn scatter(const th_compiled_model *compiled, uint32_t model, uint32_t clip, uint64_t seed, uint32_t i)
{
    const uint64_t own = th_random_bits(seed, i);
    const uint32_t clips = compiled->model->clip_count;
    th_spawn out = {.model = model, .clip = TH_NO_INDEX, .speed = 0.9 + 0.2 * th_random_unit(own, 1)};
    if (clip == TH_NO_INDEX && clips > 0)
        clip = (uint32_t)(th_random_unit(own, 0) * clips);
    if (clip < clips) {
        const th_clip *played = &compiled->model->clips[clip];
        out.clip = clip;
        out.phase_s = th_random_unit(own, 2) * played->duration_ticks / played->ticks_per_second;
    }
    return out;
}

static uint32_t enter_spawn(th_crowd *crowd, const th_spawn *spawn)
{
    assert(spawn->model < crowd->model_count);
    return enter(crowd, spawn->model,
                 &(th_play){.clip = spawn->clip, .phase_s = spawn->phase_s, .speed = spawn->speed});
}

void th_spawns_scatter(const th_compiled_model *const *compiled_models, uint32_t compiled_model_count, uint32_t clip,
                       uint64_t seed, th_spawn *out, uint32_t count)
{
    assert((out && compiled_models && compiled_model_count > 0) || count == 0);
    for (uint32_t i = 0, model = 0; i < count; i++, model = (model + 1) % compiled_model_count)
        out[i] = scatter(compiled_models[model], model, clip, seed, i);
}

th_result th_crowd_scatter(th_crowd *crowd, uint32_t count, uint32_t clip, uint64_t seed, th_character *out,
                           th_error *err)
{
    if (!TH_VALID(crowd))
        return th_fail(err, TH_ERR_USAGE, "there is no crowd to add characters to");
    if (count > crowd->free_count)
        return full(crowd, err);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t model = i % crowd->model_count;
        const th_spawn spawn = scatter(crowd->models[model].compiled, model, clip, seed, i);
        const uint32_t slot = enter_spawn(crowd, &spawn);
        if (out)
            out[i] = (th_character){slot, crowd->lives[slot].generation};
    }
    th_crowd_set_active(crowd, NULL, crowd->count);
    return TH_OK;
}

th_result th_crowd_create_with(const th_crowd_desc *desc, const th_spawn *spawns, uint32_t count, th_crowd **out,
                               th_error *err)
{
    assert(desc && (spawns || count == 0));
    th_crowd_desc all = *desc;
    all.capacity = count;
    const th_result result = th_crowd_create(&all, out, err);
    if (result != TH_OK)
        return result;
    for (uint32_t i = 0; i < count; i++)
        enter_spawn(*out, &spawns[i]);
    th_crowd_set_active(*out, NULL, count);
    (*out)->is_fixed = true;
    return TH_OK;
}

/* A crowd: which of its characters are posed, in which model and where. characters.c sets who is in it and plays what,
 * pose.c computes their poses. */
#include "crowd_data.h"

#include "kernels/isa.h"

#include <core/cache_line.h>

#include <assert.h>
#include <stdlib.h>
#include <xxhash.h>

/* ---- creation ---- */

/* Whether clips can be added takes too long to find out again whenever a weight changes. */
static void find_obstacles(th_crowd *crowd, crowd_model *model)
{
    const th_model *source = model->compiled->model;
    model->obstacles = th_arena_new(crowd->arena, uint8_t, source->clip_count);
    for (uint32_t c = 0; model->obstacles && c < source->clip_count; c++)
        for (th_layer_mode mode = TH_LAYER_ADD; mode <= TH_LAYER_ADD_REST; mode++)
            model->obstacles[c] |= (uint8_t)((th_layer_add_obstacle(source, c, mode) != NULL) << mode);
}

/* Sets what does not depend on who is active. */
static void set_model(th_crowd *crowd, crowd_model *model, const th_compiled_model *compiled)
{
    const th_pose_form form = th_pose_form_of(crowd->format);
    const th_program *program = &compiled->program;
    model->compiled = compiled;
    if (crowd->max_layers > 0)
        find_obstacles(crowd, model);
    for (uint32_t c = 0; c <= compiled->model->clip_count; c++)
        model->plays_exact |= !compiled->compiled_clips[c].keys;
    model->palette_bytes = program->entry_count * th_palette_entry_bytes(crowd->format);
    model->palette_stride = th_palette_stride(crowd->format, program->entry_count);
    /* Exact transforms of all joints, then weights, twelve in place of a matrix. */
    const size_t exact = (compiled->model->joint_count + th_weights_entries(compiled->model)) * sizeof(th_dmat34);
    const size_t kernel = th_scratch_floats(program, form, crowd->kernels->width) * sizeof(float);
    model->scratch_bytes = th_cache_line_round(kernel > exact ? kernel : exact);
    if (model->palette_stride > crowd->largest_stride)
        crowd->largest_stride = model->palette_stride;
    const size_t scratch = model->scratch_bytes + model->palette_stride;
    crowd->scratch_bytes = scratch > crowd->scratch_bytes ? scratch : crowd->scratch_bytes;
    crowd->socket_stride =
        compiled->socket_count > crowd->socket_stride ? compiled->socket_count : crowd->socket_stride;
}

static const char *wrong_field(const th_crowd_desc *d)
{
    for (uint32_t m = 0; m < d->compiled_model_count; m++)
        if (!d->compiled_models || !d->compiled_models[m])
            return "compiled_models";
    return d->compiled_model_count == 0 && d->capacity > 0 ? "compiled_model_count"
           : (unsigned)d->isa >= TH_ISA_COUNT              ? "isa"
           : (unsigned)d->format > TH_FORMAT_AUTO          ? "format"
           : (unsigned)d->writes >= TH_WRITES_COUNT        ? "writes"
           : d->max_layers > TH_MAX_LAYERS                 ? "max_layers"
           : !th_reserved_is_zero(d->reserved)             ? "reserved"
                                                           : NULL;
}

th_result th_crowd_create(const th_crowd_desc *desc, th_crowd **out, th_error *err)
{
    if (!TH_VALID(desc && out))
        return th_fail(err, TH_ERR_USAGE, "th_crowd_create: desc or out is NULL");
    *out = NULL;
    if (!TH_VALID(!wrong_field(desc)))
        return th_fail(err, TH_ERR_USAGE, "th_crowd_desc.%s is not valid", wrong_field(desc));
    const th_isa isa = desc->isa == TH_ISA_AUTO ? th_isa_best() : desc->isa;
    if (!th_isa_available(isa))
        return th_fail(err, TH_ERR_ENVIRONMENT, "this machine does not run %s", th_isa_name(isa));
    const bool is_auto = desc->format == TH_FORMAT_AUTO;
    th_format format = is_auto ? TH_FORMAT_QUAT : desc->format;
    for (uint32_t m = 0; m < desc->compiled_model_count; m++) {
        const char *obstacle = th_compiled_model_obstacle(desc->compiled_models[m], format);
        if (obstacle && !is_auto)
            return th_fail(err, TH_ERR_INPUT, "%s cannot have %s palettes: %s", desc->compiled_models[m]->model->name,
                           th_format_name(format), obstacle);
        format = obstacle ? TH_FORMAT_F32 : format;
    }

    const uint32_t capacity = desc->capacity;
    th_arena *arena = th_arena_create();
    const th_crowd made = {.isa = isa,
                           .format = format,
                           .writes = desc->writes,
                           .kernels = th_isa_kernels(isa),
                           .arena = arena,
                           .models = th_arena_new(arena, crowd_model, desc->compiled_model_count),
                           .model_count = desc->compiled_model_count,
                           .lives = th_arena_new(arena, crowd_life, capacity),
                           .layers = th_arena_new(arena, th_character_layer, (size_t)capacity * desc->max_layers),
                           .max_layers = desc->max_layers,
                           .characters = th_arena_new(arena, crowd_character, capacity),
                           .active = th_arena_new(arena, crowd_character, capacity),
                           .instance_of = th_arena_new(arena, uint32_t, capacity),
                           .place_of = th_arena_new(arena, uint32_t, capacity),
                           .model_of = th_arena_new(arena, uint32_t, capacity),
                           .posed_in = th_arena_new(arena, uint32_t, capacity),
                           .capacity = capacity};
    th_crowd *crowd = th_arena_copy(arena, &made, 1, sizeof made);
    for (uint32_t m = 0; crowd && m < crowd->model_count; m++)
        set_model(crowd, &crowd->models[m], desc->compiled_models[m]);
    if (th_arena_failed(arena)) {
        th_arena_destroy(arena);
        return th_fail(err, TH_ERR_MEMORY, "out of memory for a crowd of %u", capacity);
    }
    for (uint32_t slot = capacity; slot-- > 0;)
        th_crowd_leave(crowd, slot);
    th_crowd_set_active(crowd, NULL, 0);
    *out = crowd;
    return TH_OK;
}

void th_crowd_destroy(th_crowd *crowd)
{
    if (crowd)
        th_arena_destroy(crowd->arena);
}

/* ---- who is active ---- */

/* Palettes that fit into a second-level cache are not prefetched, which would cost 1 to 3 %. */
#define PREFETCH_BYTES ((size_t)2 << 20)

/* Call after th_crowd_place_models. */
static void choose_writes(th_crowd *crowd)
{
    const bool large = crowd->palette_bytes > th_stream_bytes();
    crowd->streamed = crowd->writes == TH_WRITES_STREAMED || (crowd->writes == TH_WRITES_AUTO && large);
    crowd->prefetches = !crowd->streamed && crowd->palette_bytes > PREFETCH_BYTES && crowd->format == TH_FORMAT_F32 &&
                        th_isa_prefetches();
}

void th_crowd_place_models(th_crowd *crowd)
{
    crowd->changes++;
    uint32_t active = 0;
    crowd->batch_count = 0;
    crowd->palette_bytes = 0;
    for (uint32_t m = 0; m < crowd->model_count; m++) {
        crowd_model *model = &crowd->models[m];
        assert(model->palette_stride % TH_CACHE_LINE == 0);
        model->first = active;
        model->first_batch = crowd->batch_count;
        model->batch_count = model->count < BATCH ? model->count > 0 : model->count / BATCH;
        model->palette_offset = crowd->palette_bytes;
        active += model->count;
        crowd->batch_count += model->batch_count;
        crowd->palette_bytes += model->count * model->palette_stride;
    }
    choose_writes(crowd);
}

void th_crowd_activate(th_crowd *crowd, uint32_t model, uint32_t place, uint32_t instance)
{
    const crowd_model *own = &crowd->models[crowd->model_of[instance]], *posed = &crowd->models[model];
    assert(place - posed->first < posed->count);
    crowd->active[place] = crowd->characters[instance];
    if (posed != own) {
        assert(posed->compiled->model->clip_count == own->compiled->model->clip_count);
        crowd->active[place].compiled_clip =
            posed->compiled->compiled_clips +
            (crowd->characters[instance].compiled_clip - own->compiled->compiled_clips);
    }
    crowd->instance_of[place] = instance;
    crowd->place_of[instance] = place;
    crowd->posed_in[instance] = model;
}

void th_crowd_set_active_counts(th_crowd *crowd, const uint32_t *counts)
{
    assert(crowd && (counts || crowd->model_count == 0));
    crowd->active_count = 0;
    crowd->is_whole = false;
    for (uint32_t m = 0; m < crowd->model_count; m++) {
        assert(counts[m] <= crowd->capacity - crowd->active_count);
        crowd->models[m].count = counts[m];
        crowd->active_count += counts[m];
    }
    th_crowd_place_models(crowd);
}

void th_crowd_set_active_range(th_crowd *crowd, uint32_t first, const uint32_t *instances, uint32_t count)
{
    assert(crowd && (instances || count == 0));
    assert(first <= crowd->active_count && count <= crowd->active_count - first);
    for (uint32_t k = 0; k < count; k++) {
        assert(instances[k] < crowd->capacity);
        th_crowd_activate(crowd, crowd->model_of[instances[k]], first + k, instances[k]);
    }
}

void th_crowd_set_active_in(th_crowd *crowd, uint32_t model, uint32_t first, const uint32_t *instances, uint32_t count)
{
    assert(crowd && model < crowd->model_count && (instances || count == 0));
    assert(first <= crowd->active_count && count <= crowd->active_count - first);
    for (uint32_t k = 0; k < count; k++) {
        assert(instances[k] < crowd->capacity);
        th_crowd_activate(crowd, model, first + k, instances[k]);
    }
}

void th_crowd_set_active_poses(th_crowd *crowd, uint32_t first, const th_shared_pose *poses, uint32_t count)
{
    assert(crowd && (poses || count == 0));
    assert(first <= crowd->active_count && count <= crowd->active_count - first);
    for (uint32_t k = 0; k < count; k++) {
        assert(poses[k].model < crowd->model_count && poses[k].ratio >= 0 && poses[k].ratio <= 1);
        const crowd_model *model = &crowd->models[poses[k].model];
        assert(first + k - model->first < model->count); /* in the order of palettes */
        assert(poses[k].clip <= model->compiled->model->clip_count);
        crowd->active[first + k] =
            (crowd_character){&model->compiled->compiled_clips[poses[k].clip], {.phase = poses[k].ratio}};
        crowd->instance_of[first + k] = TH_NO_INDEX;
    }
}

void th_crowd_set_palettes_of(th_crowd *crowd, uint32_t model, const uint32_t *instances, const uint32_t *palettes,
                              uint32_t count)
{
    assert(crowd && model < crowd->model_count && ((instances && palettes) || count == 0));
    for (uint32_t k = 0; k < count; k++) {
        assert(instances[k] < crowd->capacity);
        assert(palettes[k] - crowd->models[model].first < crowd->models[model].count);
        crowd->place_of[instances[k]] = palettes[k];
        crowd->posed_in[instances[k]] = model;
    }
}

void th_crowd_set_active(th_crowd *crowd, const uint32_t *instances, uint32_t count)
{
    assert(crowd && count <= crowd->count);
    assert(instances || count == crowd->count); /* NULL: all */
    const uint32_t listed = instances ? count : crowd->capacity;
    for (uint32_t m = 0; m < crowd->model_count; m++)
        crowd->models[m].count = 0;
    for (uint32_t k = 0; k < listed; k++) {
        const uint32_t instance = instances ? instances[k] : k;
        assert(instance < crowd->capacity && (!instances || crowd->model_of[instance] != TH_NO_INDEX));
        if (crowd->model_of[instance] != TH_NO_INDEX)
            crowd->models[crowd->model_of[instance]].count++;
    }
    th_crowd_place_models(crowd);
    for (uint32_t m = 0; m < crowd->model_count; m++)
        crowd->models[m].count = 0;
    for (uint32_t k = 0; k < listed; k++) {
        const uint32_t instance = instances ? instances[k] : k, model = crowd->model_of[instance];
        if (model != TH_NO_INDEX)
            th_crowd_activate(crowd, model, crowd->models[model].first + crowd->models[model].count++, instance);
    }
    crowd->active_count = count;
    crowd->is_whole = !instances;
}

void th_crowd_set_writes(th_crowd *crowd, th_writes writes)
{
    assert(crowd);
    assert((unsigned)writes < TH_WRITES_COUNT);
    crowd->writes = writes;
    choose_writes(crowd);
}

th_palette_range th_crowd_palettes(const th_crowd *crowd, uint32_t model)
{
    if (!TH_VALID(crowd && model < crowd->model_count))
        return (th_palette_range){0};
    const crowd_model *of = &crowd->models[model];
    return (th_palette_range){of->palette_offset, of->palette_stride, of->count};
}

/* ---- what it is ---- */

th_isa th_crowd_isa(const th_crowd *crowd)
{
    return TH_VALID(crowd) ? crowd->isa : TH_ISA_AUTO;
}

th_format th_crowd_format(const th_crowd *crowd)
{
    return TH_VALID(crowd) ? crowd->format : TH_FORMAT_F32;
}

th_writes th_crowd_writes(const th_crowd *crowd)
{
    assert(crowd);
    return crowd->streamed ? TH_WRITES_STREAMED : TH_WRITES_CACHED;
}

uint32_t th_crowd_capacity(const th_crowd *crowd)
{
    assert(crowd);
    return crowd->capacity;
}

uint32_t th_crowd_max_layers(const th_crowd *crowd)
{
    assert(crowd);
    return crowd->max_layers;
}

uint32_t th_crowd_model_count(const th_crowd *crowd)
{
    assert(crowd);
    return crowd->model_count;
}

uint64_t th_crowd_bone_count(const th_crowd *crowd)
{
    assert(crowd);
    uint64_t joints = 0;
    for (uint32_t m = 0; m < crowd->model_count; m++)
        joints += (uint64_t)crowd->models[m].count * crowd->models[m].compiled->model->bone_count;
    return joints;
}

uint64_t th_crowd_entry_count(const th_crowd *crowd)
{
    assert(crowd);
    uint64_t entries = 0;
    for (uint32_t m = 0; m < crowd->model_count; m++)
        entries += (uint64_t)crowd->models[m].count * crowd->models[m].compiled->program.entry_count;
    return entries;
}

uint32_t th_crowd_batch_count(const th_crowd *crowd)
{
    assert(crowd);
    return crowd->batch_count;
}

uint32_t th_crowd_most_batches(const th_crowd *crowd)
{
    assert(crowd);
    return crowd->capacity / BATCH + crowd->model_count;
}

uint32_t th_crowd_batch_instances(const th_crowd *crowd, uint32_t index, const uint32_t **out)
{
    assert(crowd && index < crowd->batch_count && out);
    const batch b = batch_at(crowd->models, index);
    *out = crowd->instance_of + b.first;
    return b.count;
}

uint32_t th_crowd_batch_of(const th_crowd *crowd, uint32_t instance)
{
    assert(crowd && instance < crowd->capacity);
    const crowd_model *model = &crowd->models[crowd->posed_in[instance]];
    assert(crowd->place_of[instance] - model->first < model->count); /* the instance is active */
    const uint32_t within = (crowd->place_of[instance] - model->first) / BATCH, last = model->batch_count - 1;
    return model->first_batch + (within < last ? within : last);
}

size_t th_crowd_palette_bytes(const th_crowd *crowd)
{
    if (!TH_VALID(crowd))
        return 0;
    return crowd->is_fixed ? crowd->palette_bytes : crowd->capacity * crowd->largest_stride;
}

size_t th_crowd_scratch_bytes(const th_crowd *crowd)
{
    assert(crowd);
    return crowd->scratch_bytes;
}

size_t th_crowd_batch_bytes(const th_crowd *crowd)
{
    assert(crowd);
    return MAX_BATCH * crowd->largest_stride;
}

uint32_t th_crowd_changes(const th_crowd *crowd)
{
    assert(crowd);
    return crowd->changes;
}

uint32_t th_crowd_generation(const th_crowd *crowd, uint32_t instance)
{
    assert(crowd && instance < crowd->capacity);
    return crowd->lives[instance].generation;
}

uint32_t th_crowd_socket_stride(const th_crowd *crowd)
{
    assert(crowd);
    return crowd->socket_stride;
}

uint32_t th_crowd_socket_count(const th_crowd *crowd, uint32_t instance)
{
    assert(crowd && instance < crowd->capacity);
    return crowd->models[crowd->model_of[instance]].compiled->socket_count;
}

size_t th_crowd_bytes(const th_crowd *crowd)
{
    assert(crowd);
    return sizeof *crowd + crowd->model_count * sizeof *crowd->models +
           (size_t)crowd->capacity * crowd->max_layers * sizeof *crowd->layers +
           (size_t)crowd->capacity * (sizeof *crowd->lives + 2 * sizeof *crowd->active + 4 * sizeof *crowd->place_of);
}

size_t th_crowd_palette_offset(const th_crowd *crowd, uint32_t instance)
{
    assert(crowd && instance < crowd->capacity);
    return palette_offset(&crowd->models[crowd->posed_in[instance]], crowd->place_of[instance]);
}

uint32_t th_crowd_batch_cost(const th_crowd *crowd, uint32_t index)
{
    enum { EXACT_JOINT = 4 }; /* in ops of all lanes: 105 ns against 16 * 1.7 ns or 8 * 3 ns */
    assert(crowd && index < crowd->batch_count);
    const batch b = batch_at(crowd->models, index);
    const th_compiled_model *compiled = b.model->compiled;
    uint32_t exact = 0;
    for (uint32_t i = b.first; b.model->plays_exact && i < b.first + b.count; i++)
        exact += !crowd->active[i].compiled_clip->keys;
    const uint32_t width = crowd->kernels->width, runs = (b.count - exact + width - 1) / width;
    return runs * compiled->program.op_count + exact * EXACT_JOINT * compiled->model->joint_count;
}

uint64_t th_crowd_hash(const th_crowd *crowd, const void *palette)
{
    if (!TH_VALID(crowd && (palette || crowd->count == 0)))
        return 0;
    XXH3_state_t *state = XXH3_createState();
    if (!state)
        abort(); /* a missing hash would look like a wrong result */
    XXH3_64bits_reset(state);
    for (uint32_t i = 0; i < crowd->capacity; i++) {
        if (crowd->model_of[i] == TH_NO_INDEX)
            continue;
        const crowd_model *model = &crowd->models[crowd->posed_in[i]];
        XXH3_64bits_update(state, (const char *)palette + palette_offset(model, crowd->place_of[i]),
                           model->palette_bytes);
    }
    uint64_t hash = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    return hash;
}

th_hash128 th_hash128_add(th_hash128 a, th_hash128 b)
{
    const uint64_t low = a.low + b.low;
    return (th_hash128){a.high + b.high + (low < a.low), low};
}

th_hash128 th_crowd_instance_hash(const th_crowd *crowd, const void *palette, uint32_t instance, uint64_t number)
{
    assert(crowd && palette && instance < crowd->capacity);
    const crowd_model *model = &crowd->models[crowd->posed_in[instance]];
    const char *at = (const char *)palette + palette_offset(model, crowd->place_of[instance]);
    const XXH128_hash_t hash = XXH3_128bits_withSeed(at, model->palette_bytes, number);
    return (th_hash128){hash.high64, hash.low64};
}

th_hash128 th_crowd_sum(const th_crowd *crowd, const void *palette, uint64_t first)
{
    assert(crowd);
    th_hash128 sum = {0};
    for (uint32_t i = 0; i < crowd->capacity; i++)
        if (crowd->model_of[i] != TH_NO_INDEX)
            sum = th_hash128_add(sum, th_crowd_instance_hash(crowd, palette, i, first + i));
    return sum;
}

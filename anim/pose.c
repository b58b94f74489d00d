/* A frame: batches of characters become palettes.
 *
 * Characters of a batch are posed in lanes: a kernel works on as many as fit a register. With layers, characters that
 * have the same number of layers are taken together, out of several batches. Characters whose clip plays exact are
 * computed one by one, from authored keys. */
#include "crowd_data.h"

#include <anim/exact.h>
#include <core/cache_line.h>

#include <string.h>

/* What a call writes, the caller's memory. */
typedef struct memory {
    char *palettes;
    float *sockets; /* as th_crowd_pose_layers has them; may be NULL */
    char *scratch;
} memory;

/* Where the sockets of the character at a place go; NULL: nowhere. */
static float *sockets_of(const th_crowd *crowd, uint32_t place, const memory *to)
{
    const uint32_t instance = crowd->instance_of[place];
    return to->sockets && instance != TH_NO_INDEX ? to->sockets + (size_t)instance * crowd->socket_stride * TH_ENTRY
                                                  : NULL;
}

/* ---- from authored keys ---- */

/* Writes the exact local transforms of all joints, then the weights, twelve in place of a matrix. */
static void sample_exact(const th_compiled_model *compiled, const th_clip *clip, double ratio, th_dmat34 *out)
{
    const th_model *model = compiled->model;
    const double ticks = clip ? ratio * clip->duration_ticks : 0;
    th_dmat34 *weights = out + model->joint_count;
    memset(weights, 0, th_weights_entries(model) * sizeof *weights);
    th_exact_sample(model, clip, ticks, compiled->interpolation, out);
    th_exact_weights(model, clip, ticks, compiled->interpolation, weights->m);
}

/* Resolves what sample_exact writes, and writes the palette and the sockets of the character at a place. local may be
 * the beginning of the scratch. */
static void resolve_exact(const th_crowd *crowd, const crowd_model *of, const th_dmat34 *local, uint32_t place,
                          const memory *to)
{
    const th_model *model = of->compiled->model;
    const size_t entry_bytes = th_palette_entry_bytes(crowd->format);
    th_dmat34 *pose = (th_dmat34 *)(void *)to->scratch;
    char *palette = to->palettes + palette_offset(of, place), *whole = to->scratch + of->scratch_bytes;
    float *sockets = sockets_of(crowd, place, to);
    th_exact_resolve(model, local, pose);
    for (uint32_t s = 0; sockets && s < of->compiled->socket_count; s++)
        memcpy(sockets + s * TH_ENTRY, th_mat34_from(pose[of->compiled->socket_joints[s]]).m, sizeof(th_mat34));
    for (uint32_t b = 0; b < model->bone_count; b++) {
        const th_bone *bone = &model->bones[b];
        th_mat34 entry = th_mat34_from(th_dmat34_mul(pose[bone->joint], th_dmat34_from(bone->inverse_bind)));
        const th_palette_base base = th_model_palette_base(model, b);
        th_palette_write(crowd->format, entry.m, &base, whole + b * entry_bytes);
    }
    for (uint32_t e = 0; e < th_weights_entries(model); e++) {
        th_mat34 entry = th_mat34_from(local[model->joint_count + e]);
        th_palette_write(crowd->format, entry.m, NULL, whole + (model->bone_count + e) * entry_bytes);
    }
    memset(whole + of->palette_bytes, 0, of->palette_stride - of->palette_bytes);
    if (crowd->streamed)
        crowd->kernels->stream(palette, whole, of->palette_stride);
    else
        memcpy(palette, whole, of->palette_stride);
}

/* ---- one clip each ---- */

_Static_assert(TH_MAX_WIDTH <= MAX_BATCH, "one character fills all lanes");

/* Finds the characters of a batch whose clips are compiled, and returns how many. If they are fewer than lanes, the
 * first one fills the rest, and is posed several times, to the same bytes. */
static uint32_t find_compiled(const th_crowd *crowd, const batch *b, uint32_t places[MAX_BATCH])
{
    uint32_t count = 0;
    assert(b->count <= MAX_BATCH);
    for (uint32_t i = b->first; i < b->first + b->count; i++)
        if (crowd->active[i].compiled_clip->keys)
            places[count++] = i;
    for (uint32_t i = count; count > 0 && i < crowd->kernels->width; i++)
        places[i] = places[0];
    return count;
}

/* Where the n-th lanes begin among those places. The last ones overlap those before to be full: posing a character
 * twice gives the same bytes. */
static uint32_t first_lane(uint32_t n, uint32_t count, uint32_t width)
{
    assert(width > 0 && width <= TH_MAX_WIDTH && n * width < count);
    if (n * width + width <= count)
        return n * width;
    return count > width ? count - width : 0;
}

/* Poses the characters of some lanes: either `keys` or, if that is not NULL, `layering`. */
static void pose_lanes(const th_crowd *crowd, const crowd_model *model, const uint32_t places[TH_MAX_WIDTH],
                       const th_lanes *keys, const th_layering *layering, const memory *to)
{
    const th_compiled_model *compiled = model->compiled;
    const th_output output = {crowd->format, crowd->streamed, crowd->prefetches};
    const uint32_t width = crowd->kernels->width;
    float *const scratch = (float *)(void *)to->scratch, *sockets[TH_MAX_WIDTH];
    char *palettes[TH_MAX_WIDTH];
    for (uint32_t i = 0; i < width; i++)
        palettes[i] = to->palettes + palette_offset(model, places[i]);
    th_kernels_pose(crowd->kernels, &compiled->program, keys, layering, output, scratch, palettes);
    if (!to->sockets)
        return;
    for (uint32_t i = 0; i < width; i++)
        sockets[i] = sockets_of(crowd, places[i], to);
    th_sockets_write(compiled->sockets, compiled->socket_count, th_pose_form_of(crowd->format), width, scratch,
                     sockets);
}

/* Points lanes at what the characters at these places play. */
static inline void seek_lanes(const th_crowd *crowd, const th_program *program, const uint32_t *places, double time_s,
                              th_lanes *keys)
{
    const uint32_t width = crowd->kernels->width;
    for (uint32_t i = 0; i < width; i++) {
        const crowd_character *character = &crowd->active[places[i]];
        th_compiled_clip_seek(character->compiled_clip, program->frame_bytes,
                              th_playback_ratio(character->playback, time_s), keys, i);
    }
}

static void pose_batch(const th_crowd *crowd, const batch *b, double time_s, const memory *to)
{
    const crowd_model *model = b->model;
    const uint32_t width = crowd->kernels->width;
    uint32_t places[MAX_BATCH]; /* not zeroed, because that takes a tenth of the time of find_compiled */
    const uint32_t count = find_compiled(crowd, b, places);
    for (uint32_t i = b->first; count < b->count && i < b->first + b->count; i++) {
        const crowd_character *character = &crowd->active[i];
        if (character->compiled_clip->keys)
            continue;
        th_dmat34 *local = (th_dmat34 *)(void *)to->scratch;
        sample_exact(model->compiled, character->compiled_clip->clip, th_playback_ratio(character->playback, time_s),
                     local);
        resolve_exact(crowd, model, local, i, to);
    }
    for (uint32_t n = 0; n * width < count; n++) {
        const uint32_t *lanes = places + first_lane(n, count, width);
        th_lanes keys;
        seek_lanes(crowd, &model->compiled->program, lanes, time_s, &keys);
        pose_lanes(crowd, model, lanes, &keys, NULL, to);
    }
}

/* Call after the last palette. Cached writes need no fence, and would wait for their own stores. */
static void finish_writes(const th_crowd *crowd)
{
    if (crowd->streamed)
        crowd->kernels->fence();
}

/* ---- layers ---- */

/* Batches whose characters are sorted together: enough that few lanes wait, few enough for the stack. */
#define WINDOW     16u
#define MAX_WINDOW ((WINDOW - 1) * BATCH + MAX_BATCH)

/* What a character plays: the layers that count, which are those with a weight. */
typedef struct layered {
    const th_layer *layers;
    const th_compiled_clip *single; /* one clip: that of the only layer, or without layers its own; NULL: several */
    double ratio;                   /* in this clip */
    uint32_t place;
    uint8_t override_count, add_count;
    uint8_t order[TH_MAX_LAYERS]; /* those that override, then those that add */
} layered;

/* The characters of some batches of one model. */
typedef struct window {
    const th_crowd *crowd;
    const crowd_model *model;
    const th_compiled_clip *rest;
    double time_s;
    uint32_t count;
    layered characters[MAX_WINDOW];
    uint16_t sorted[MAX_WINDOW];
} window;

static const th_compiled_clip *clip_of(const crowd_model *model, const th_layer *layer)
{
    const uint32_t count = model->compiled->model->clip_count;
    assert(layer->clip == TH_REST_CLIP || layer->clip < count);
    return &model->compiled->compiled_clips[layer->clip == TH_REST_CLIP ? count : layer->clip];
}

static const th_layer *layer_at(const layered *character, uint32_t index)
{
    return &character->layers[character->order[index]];
}

/* A shared pose has none. */
static uint32_t layer_count(const th_crowd *crowd, uint32_t place, const th_crowd_layers *table)
{
    const uint32_t instance = crowd->instance_of[place];
    return instance == TH_NO_INDEX ? 0 : table->counts[instance];
}

/* Returns whether some clip plays exact. out: written in place and not read at once, because a load of what several
 * smaller stores have written waits. */
static bool read_layers(const window *w, const th_crowd_layers *table, uint32_t place, layered *out)
{
    const crowd_character *own = &w->crowd->active[place];
    const uint32_t count = layer_count(w->crowd, place, table);
    const th_layer *layers = count > 0 ? table->layers + (size_t)w->crowd->instance_of[place] * table->stride : NULL;
    const th_layer *first = layers;
    uint32_t override_count = 0, add_count = 0;
    uint8_t adds[TH_MAX_LAYERS];
    bool is_exact = false;
    assert(count <= TH_MAX_LAYERS && count <= table->stride);
    for (uint32_t i = 0; i < count; i++) {
        assert(layers[i].weight >= 0 && layers[i].weight <= 1 && layers[i].ratio >= 0 && layers[i].ratio <= 1);
        assert(layers[i].mask == TH_NO_MASK || layers[i].mask < w->model->compiled->mask_count);
        if (!(layers[i].weight > 0))
            continue;
        is_exact |= !clip_of(w->model, &layers[i])->keys;
        if (layers[i].mode != TH_LAYER_OVERRIDE) {
            adds[add_count++] = (uint8_t)i;
            continue;
        }
        first = override_count == 0 ? &layers[i] : first;
        out->order[override_count++] = (uint8_t)i;
    }
    for (uint32_t i = 0; i < add_count; i++)
        out->order[override_count + i] = adds[i];
    out->layers = layers;
    out->place = place;
    out->override_count = (uint8_t)override_count;
    out->add_count = (uint8_t)add_count;
    if (count == 0) {
        out->single = own->compiled_clip;
        out->ratio = th_playback_ratio(own->playback, w->time_s);
        return !own->compiled_clip->keys;
    }
    if (override_count == 1 && add_count == 0 && first->mask == TH_NO_MASK && first->weight >= TH_REST_WEIGHT) {
        out->single = clip_of(w->model, first);
        out->ratio = first->ratio;
        return is_exact;
    }
    out->single = NULL;
    return is_exact || !w->rest->keys;
}

/* A single clip is sampled as pose_batch does it: blending it with nothing would round it once more. */
static void pose_exact(const window *w, const layered *character, const memory *to)
{
    const th_compiled_model *compiled = w->model->compiled;
    th_dmat34 *local = (th_dmat34 *)(void *)to->scratch, *weights = local + compiled->model->joint_count;
    if (character->single) {
        sample_exact(compiled, character->single->clip, character->ratio, local);
    } else {
        const uint32_t count = character->override_count + character->add_count;
        th_layer layers[TH_MAX_LAYERS];
        for (uint32_t i = 0; i < count; i++)
            layers[i] = *layer_at(character, i);
        memset(weights, 0, th_weights_entries(compiled->model) * sizeof *weights);
        th_exact_layers(compiled->model, layers, count, compiled->masks, compiled->mask_count, compiled->interpolation,
                        local, weights->m);
    }
    resolve_exact(w->crowd, w->model, local, character->place, to);
}

/* Frames of a stepped clip hold until the next one, of which the last has none. Playback never gets there, as clips
 * repeat; a layer may stand there. */
static void seek(const window *w, const th_compiled_clip *clip, double ratio, th_lanes *lanes, uint32_t lane)
{
    const th_program *program = &w->model->compiled->program;
    th_compiled_clip_seek(clip, program->frame_bytes, ratio, lanes, lane);
    if (ratio < 1 || !clip->is_stepped)
        return;
    if (program->curve == TH_INTERPOLATION_STEP)
        lanes->frame[lane] = th_lanes_at(lanes, (int)lane, program->frame_bytes);
    else
        th_lanes_set(lanes, lane, lanes->frame[lane], 1);
}

/* Points a lane at the frame that a layer starts from, not at the one before it that cubic curves begin with. */
static void seek_start(const window *w, const th_compiled_clip *clip, th_lanes *lanes, uint32_t lane)
{
    const th_program *program = &w->model->compiled->program;
    seek(w, clip, 0, lanes, lane);
    if (th_is_cubic(program))
        lanes->frame[lane] = th_lanes_at(lanes, (int)lane, program->frame_bytes);
}

/* Sets what lanes play, layer by layer. A lane without a layer that others have plays nothing in it. */
static void set_layering(const window *w, const layered *const lanes[TH_MAX_WIDTH], th_layering *out)
{
    static const th_layer nothing[] = {{.clip = TH_REST_CLIP, .mask = TH_NO_MASK},
                                       {.clip = TH_REST_CLIP, .mask = TH_NO_MASK, .mode = TH_LAYER_ADD_REST}};
    const th_compiled_model *compiled = w->model->compiled;
    const uint32_t width = w->crowd->kernels->width;
    out->override_count = 1;
    out->add_count = 0;
    out->has_rest = false;
    for (uint32_t i = 0; i < width; i++) {
        const layered *character = lanes[i];
        float sum = 0;
        out->override_count =
            character->override_count > out->override_count ? character->override_count : out->override_count;
        out->add_count = character->add_count > out->add_count ? character->add_count : out->add_count;
        for (uint32_t k = 0; k < character->override_count; k++)
            sum += layer_at(character, k)->mask == TH_NO_MASK ? layer_at(character, k)->weight : 0;
        /* The rest pose may have to fill up some joint's weights, whatever the order in which the kernel sums. */
        out->has_rest |= !(sum > TH_REST_WEIGHT * 1.0001F);
    }
    for (uint32_t i = 0; out->has_rest && i < width; i++)
        seek_start(w, w->rest, &out->rest, i);
    for (uint32_t k = 0; k < out->override_count + out->add_count; k++) {
        const bool adds = k >= out->override_count;
        const uint32_t index = adds ? k - out->override_count : k;
        th_lane_layer *set = &out->layers[k];
        set->is_masked = false;
        for (uint32_t i = 0; i < width; i++) {
            const layered *of = lanes[i];
            const uint32_t has = adds ? of->add_count : of->override_count, first = adds ? of->override_count : 0;
            const th_layer *layer = index < has ? layer_at(of, first + index) : &nothing[adds];
            const th_compiled_clip *clip = clip_of(w->model, layer);
            seek(w, clip, layer->ratio, &set->keys, i);
            if (layer->mode != TH_LAYER_OVERRIDE)
                seek_start(w, layer->mode == TH_LAYER_ADD ? clip : w->rest, &set->start, i);
            const uint32_t mask = layer->mask == TH_NO_MASK ? compiled->mask_count : layer->mask;
            set->masks.frame[i] = compiled->mask_weights[mask];
            set->is_masked |= mask != compiled->mask_count;
            set->weight[i] = layer->weight;
        }
    }
}

enum { KINDS = 1 + (TH_MAX_LAYERS + 1) * (TH_MAX_LAYERS + 1) };

/* Single clips first, then by the numbers of layers. */
static uint32_t kind_of(const layered *character)
{
    return character->single ? 0 : 1 + character->override_count * (TH_MAX_LAYERS + 1) + character->add_count;
}

/* Not where plain crowds pass, which need not have the window on their stack. */
__attribute__((noinline)) static void pose_window(const th_crowd *crowd, const batch *b, double time_s,
                                                  const th_crowd_layers *table, const memory *to)
{
    const uint32_t width = crowd->kernels->width;
    window w; /* not zeroed, which would take longer than some batches */
    w.crowd = crowd;
    w.model = b->model;
    w.rest = &b->model->compiled->compiled_clips[b->model->compiled->model->clip_count];
    w.time_s = time_s;
    w.count = 0;
    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        layered *character = &w.characters[w.count];
        if (read_layers(&w, table, i, character))
            pose_exact(&w, character, to);
        else
            w.count++;
    }

    /* Characters with the same number of layers go together. */
    uint16_t begins[KINDS + 1] = {0};
    for (uint32_t i = 0; i < w.count; i++)
        begins[kind_of(&w.characters[i]) + 1]++;
    for (uint32_t k = 0; k < KINDS; k++)
        begins[k + 1] = (uint16_t)(begins[k + 1] + begins[k]);
    const uint32_t single_count = begins[1];
    for (uint32_t i = 0; i < w.count; i++)
        w.sorted[begins[kind_of(&w.characters[i])]++] = (uint16_t)i;

    for (uint32_t first = 0, end; first<w.count; first = end - first> width ? first + width : end) {
        const bool are_single = first < single_count;
        const layered *lanes[TH_MAX_WIDTH]; /* unused ones repeat the first */
        uint32_t places[TH_MAX_WIDTH];
        th_lanes keys;
        th_layering layering;
        end = are_single ? single_count : w.count;
        for (uint32_t i = 0; i < width; i++) {
            lanes[i] = &w.characters[w.sorted[first + i < end ? first + i : first]];
            places[i] = lanes[i]->place;
            if (are_single)
                seek(&w, lanes[i]->single, lanes[i]->ratio, &keys, i);
        }
        if (!are_single)
            set_layering(&w, lanes, &layering);
        pose_lanes(crowd, b->model, places, &keys, are_single ? NULL : &layering, to);
    }
}

void th_crowd_pose_layers(const th_crowd *crowd, uint32_t begin, uint32_t end, double time_s,
                          const th_crowd_layers *layers, void *palette, float *sockets, void *scratch)
{
    assert(crowd && begin <= end && end <= crowd->batch_count);
    assert(begin == end || (palette && scratch && palette != scratch));
    assert(!layers || (layers->counts && layers->layers));
    assert((uintptr_t)palette % TH_CACHE_LINE == 0 && (uintptr_t)scratch % TH_CACHE_LINE == 0);
    const memory to = {palette, sockets, scratch};
    batch b = {.model = crowd->models};
    for (uint32_t i = begin, next; i < end; i = next) {
        b = batch_at(b.model, i);
        next = i + 1;
        bool has_layers = false;
        for (uint32_t k = b.first; layers && k < b.first + b.count; k++)
            has_layers |= layer_count(crowd, k, layers) > 0;
        if (!has_layers) { /* so that whoever plays one clip pays nothing for layers */
            pose_batch(crowd, &b, time_s, &to);
            continue;
        }
        for (; next < end && next - i < WINDOW && next - b.model->first_batch < b.model->batch_count; next++)
            b.count += batch_at(b.model, next).count;
        pose_window(crowd, &b, time_s, layers, &to);
    }
    finish_writes(crowd);
}

void th_crowd_pose(const th_crowd *crowd, uint32_t begin, uint32_t end, double time_s, void *palette, void *scratch)
{
    th_crowd_pose_layers(crowd, begin, end, time_s, NULL, palette, NULL, scratch);
}

/* ---- parts of a frame ---- */

void th_crowd_pose_apart(const th_crowd *crowd, uint32_t index, double time_s, void *palettes, void *scratch)
{
    assert(crowd && index < crowd->batch_count && palettes && scratch);
    batch b = batch_at(crowd->models, index);
    crowd_model model = *b.model;
    th_crowd cached = *crowd;
    model.first = b.first;
    model.count = b.count;
    model.palette_offset = 0;
    b.model = &model;
    cached.streamed = cached.prefetches = false;
    pose_batch(&cached, &b, time_s, &(memory){palettes, NULL, scratch});
}

void th_crowd_sample(const th_crowd *crowd, uint32_t begin, uint32_t end, double time_s, void *scratch)
{
    assert(crowd && begin <= end && end <= crowd->batch_count);
    assert((begin == end || scratch) && (uintptr_t)scratch % TH_CACHE_LINE == 0);
    const uint32_t width = crowd->kernels->width;
    batch b = {.model = crowd->models};
    for (uint32_t k = begin; k < end; k++) {
        b = batch_at(b.model, k);
        const th_program *program = &b.model->compiled->program;
        th_sample_fn *const sample =
            crowd->kernels->sample[th_pose_form_of(crowd->format)][program->keys][program->curve];
        uint32_t places[MAX_BATCH];
        const uint32_t count = find_compiled(crowd, &b, places);
        for (uint32_t n = 0; program->op_count > 0 && n * width < count; n++) {
            th_lanes keys;
            seek_lanes(crowd, program, places + first_lane(n, count, width), time_s, &keys);
            sample(program, 0, program->op_count, &keys, scratch);
        }
        for (uint32_t i = b.first; count < b.count && i < b.first + b.count; i++) {
            const crowd_character *character = &crowd->active[i];
            if (!character->compiled_clip->keys)
                sample_exact(b.model->compiled, character->compiled_clip->clip,
                             th_playback_ratio(character->playback, time_s), scratch);
        }
    }
}

void th_crowd_fill(const th_crowd *crowd, uint32_t begin, uint32_t end, float value, void *palette)
{
    assert(crowd && begin <= end && end <= crowd->batch_count);
    assert((begin == end || palette) && (uintptr_t)palette % TH_CACHE_LINE == 0);
    th_fill_fn *const fill = crowd->kernels->fill[crowd->streamed];
    batch b = {.model = crowd->models};
    for (uint32_t k = begin; k < end; k++) {
        b = batch_at(b.model, k);
        for (uint32_t i = b.first; i < b.first + b.count; i++)
            fill((float *)((char *)palette + palette_offset(b.model, i)),
                 th_cache_line_round(b.model->palette_bytes) / sizeof(float), value);
    }
    finish_writes(crowd);
}

/* A frame in which instances play layers. */
#include "crowd_data.h"

#include <throng/anim/exact.h>
#include <throng/core/cache_line.h>

#include <string.h>

/* Batches whose members are sorted together: enough that few lanes wait, few enough for the stack. */
#define WINDOW      16u
#define MAX_MEMBERS ((WINDOW - 1) * BATCH + MAX_BATCH)

/* The layers of a member that count: those with a weight. */
typedef struct member_layers {
    const th_layer *layers;
    uint32_t member;
    uint8_t override_count, add_count;
    uint8_t order[TH_MAX_LAYERS]; /* those that override, then those that add */
    bool is_single;               /* one clip: that of the only layer, or without layers the member's own */
    bool is_exact;                /* some clip plays exact */
} member_layers;

typedef struct window {
    const th_crowd *crowd;
    const crowd_group *group;
    const th_compiled_clip *rest;
    double time_s;
    uint32_t count;
    member_layers members[MAX_MEMBERS];
    uint16_t sorted[MAX_MEMBERS];
} window;

static const th_compiled_clip *clip_of(const crowd_group *group, const th_layer *layer)
{
    const uint32_t count = group->compiled->model->clip_count;
    assert(layer->clip == TH_REST_CLIP || layer->clip < count);
    return &group->compiled->compiled_clips[layer->clip == TH_REST_CLIP ? count : layer->clip];
}

static const th_layer *layer_at(const member_layers *m, uint32_t index)
{
    return &m->layers[m->order[index]];
}

/* Whether the rest pose may have to fill up what is missing of some joint's weights. */
static bool needs_rest(const member_layers *m)
{
    float sum = 0;
    for (uint32_t i = 0; i < m->override_count; i++)
        sum += layer_at(m, i)->mask == TH_NO_MASK ? layer_at(m, i)->weight : 0;
    return !(sum > TH_REST_WEIGHT * 1.0001F); /* whatever the order in which the kernel sums */
}

static bool counts(const window *w, const th_layer *layer)
{
    assert(layer->weight >= 0 && layer->weight <= 1 && layer->ratio >= 0 && layer->ratio <= 1);
    assert(layer->mask == TH_NO_MASK || layer->mask < w->group->compiled->mask_count);
    (void)w;
    return layer->weight > 0;
}

/* A shared pose has none. */
static uint32_t layer_count(const th_crowd *crowd, uint32_t member, const th_crowd_layers *layers)
{
    const uint32_t instance = crowd->instance_of[member];
    return instance == TH_NO_INDEX ? 0 : layers->counts[instance];
}

/* out: written in place and not read at once, because a load of what several smaller stores have written waits. */
static void read_member(const window *w, const th_crowd_layers *table, uint32_t member, member_layers *out)
{
    const uint32_t count = layer_count(w->crowd, member, table);
    const th_layer *layers = count > 0 ? table->layers + (size_t)w->crowd->instance_of[member] * table->stride : NULL;
    const th_layer *first = layers;
    uint32_t override_count = 0, add_count = 0;
    uint8_t adds[TH_MAX_LAYERS];
    bool is_exact = false;
    assert(count <= TH_MAX_LAYERS && count <= table->stride);
    for (uint32_t i = 0; i < count; i++) {
        if (!counts(w, &layers[i]))
            continue;
        is_exact |= !clip_of(w->group, &layers[i])->keys;
        if (layers[i].mode != TH_LAYER_OVERRIDE) {
            adds[add_count++] = (uint8_t)i;
            continue;
        }
        first = override_count == 0 ? &layers[i] : first;
        out->order[override_count++] = (uint8_t)i;
    }
    for (uint32_t i = 0; i < add_count; i++)
        out->order[override_count + i] = adds[i];
    const bool is_single = count == 0 || (override_count == 1 && add_count == 0 && first->mask == TH_NO_MASK &&
                                          first->weight >= TH_REST_WEIGHT);
    out->layers = layers;
    out->member = member;
    out->override_count = (uint8_t)override_count;
    out->add_count = (uint8_t)add_count;
    out->is_single = is_single;
    out->is_exact =
        count == 0 ? !w->crowd->members[member].compiled_clip->keys : is_exact || (!is_single && !w->rest->keys);
}

static const th_compiled_clip *single_clip(const window *w, const member_layers *m)
{
    return m->override_count > 0 ? clip_of(w->group, layer_at(m, 0)) : w->crowd->members[m->member].compiled_clip;
}

static double single_ratio(const window *w, const member_layers *m)
{
    if (m->override_count > 0)
        return layer_at(m, 0)->ratio;
    return th_playback_ratio(w->crowd->members[m->member].playback, w->time_s);
}

/* ---- exact ---- */

static void sample_single(const window *w, const member_layers *m, th_dmat34 *local, double *weights)
{
    const th_compiled_model *compiled = w->group->compiled;
    const th_clip *clip = single_clip(w, m)->clip;
    const double ticks = clip ? single_ratio(w, m) * clip->duration_ticks : 0;
    th_exact_sample(compiled->model, clip, ticks, compiled->interpolation, local);
    th_exact_weights(compiled->model, clip, ticks, compiled->interpolation, weights);
}

static void sample_layers(const window *w, const member_layers *m, th_dmat34 *local, double *weights)
{
    const th_compiled_model *compiled = w->group->compiled;
    const uint32_t count = m->override_count + m->add_count;
    th_layer layers[TH_MAX_LAYERS];
    for (uint32_t i = 0; i < count; i++)
        layers[i] = *layer_at(m, i);
    th_exact_layers(compiled->model, layers, count, compiled->masks, compiled->interpolation, local, weights);
}

/* A single clip is sampled as th_crowd_update does it: blending it with nothing would round it once more. */
static void update_exact(const window *w, const member_layers *m, char *palettes, char *scratch)
{
    const uint32_t joints = w->group->compiled->model->joint_count;
    th_dmat34 *local = (th_dmat34 *)(void *)scratch, *weights = local + joints;
    memset(weights, 0, w->group->exact_stride - joints * sizeof *local);
    (m->is_single ? sample_single : sample_layers)(w, m, local, weights->m);
    th_crowd_resolve_exact(w->crowd, w->group, local, palettes + palette_offset(w->group, m->member), scratch);
}

/* ---- lanes ---- */

/* The members that lanes play; unused lanes repeat the first. */
typedef struct lane_members {
    const member_layers *of[TH_MAX_WIDTH];
} lane_members;

static lane_members lane_members_at(const window *w, uint32_t first, uint32_t end)
{
    lane_members lanes = {{0}};
    for (uint32_t i = 0; i < w->crowd->kernels->width; i++)
        lanes.of[i] = &w->members[w->sorted[first + i < end ? first + i : first]];
    return lanes;
}

/* Frames of a stepped clip hold until the next one, of which the last has none. Playback never gets there, as clips
 * repeat; a layer may stand there. */
static void seek(const window *w, const th_compiled_clip *clip, double ratio, th_lanes *lanes, uint32_t lane)
{
    const th_program *program = &w->group->compiled->program;
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
    const th_program *program = &w->group->compiled->program;
    seek(w, clip, 0, lanes, lane);
    if (program->curve == TH_INTERPOLATION_CUBIC)
        lanes->frame[lane] = th_lanes_at(lanes, (int)lane, program->frame_bytes);
}

static void set_lane(const window *w, const th_layer *layer, uint32_t lane, th_lane_layer *out)
{
    const th_compiled_model *compiled = w->group->compiled;
    const th_compiled_clip *clip = clip_of(w->group, layer);
    seek(w, clip, layer->ratio, &out->keys, lane);
    if (layer->mode != TH_LAYER_OVERRIDE)
        seek_start(w, layer->mode == TH_LAYER_ADD ? clip : w->rest, &out->start, lane);
    const uint32_t mask = layer->mask == TH_NO_MASK ? compiled->mask_count : layer->mask;
    out->masks.frame[lane] = compiled->mask_weights[mask];
    out->is_masked |= mask != compiled->mask_count;
    out->weight[lane] = layer->weight;
}

/* Sets the layers of all lanes that override, or those that add. */
static void set_layers(const window *w, const lane_members *lanes, bool adds, uint32_t count, th_lane_layer *out)
{
    static const th_layer nothing[] = {{.clip = TH_REST_CLIP, .mask = TH_NO_MASK},
                                       {.clip = TH_REST_CLIP, .mask = TH_NO_MASK, .mode = TH_LAYER_ADD_REST}};
    for (uint32_t k = 0; k < count; k++) {
        out[k].is_masked = false;
        for (uint32_t i = 0; i < w->crowd->kernels->width; i++) {
            const member_layers *m = lanes->of[i];
            const uint32_t has = adds ? m->add_count : m->override_count, first = adds ? m->override_count : 0;
            set_lane(w, k < has ? layer_at(m, first + k) : &nothing[adds], i, &out[k]);
        }
    }
}

static void set_layering(const window *w, const lane_members *lanes, th_layering *out)
{
    out->override_count = 1;
    out->add_count = 0;
    out->has_rest = false;
    for (uint32_t i = 0; i < w->crowd->kernels->width; i++) {
        const member_layers *m = lanes->of[i];
        out->override_count = m->override_count > out->override_count ? m->override_count : out->override_count;
        out->add_count = m->add_count > out->add_count ? m->add_count : out->add_count;
        out->has_rest |= needs_rest(m);
    }
    for (uint32_t i = 0; out->has_rest && i < w->crowd->kernels->width; i++)
        seek_start(w, w->rest, &out->rest, i);
    set_layers(w, lanes, false, out->override_count, out->layers);
    set_layers(w, lanes, true, out->add_count, out->layers + out->override_count);
}

static void pose(const window *w, const lane_members *lanes, bool single, char *palettes, char *scratch)
{
    const th_crowd *crowd = w->crowd;
    const th_output output = {crowd->format, crowd->streamed, crowd->prefetches};
    char *out[TH_MAX_WIDTH];
    th_lanes keys;
    th_layering layering;
    for (uint32_t i = 0; i < crowd->kernels->width; i++)
        out[i] = palettes + palette_offset(w->group, lanes->of[i]->member);
    for (uint32_t i = 0; single && i < crowd->kernels->width; i++)
        seek(w, single_clip(w, lanes->of[i]), single_ratio(w, lanes->of[i]), &keys, i);
    if (!single)
        set_layering(w, lanes, &layering);
    th_kernels_pose(crowd->kernels, &w->group->compiled->program, &keys, single ? NULL : &layering, output,
                    (float *)(void *)scratch, out);
}

/* ---- windows ---- */

enum { KINDS = 1 + (TH_MAX_LAYERS + 1) * (TH_MAX_LAYERS + 1) };

/* Single clips first, then by the numbers of layers. */
static uint32_t kind_of(const member_layers *m)
{
    return m->is_single ? 0 : 1 + m->override_count * (TH_MAX_LAYERS + 1) + m->add_count;
}

/* Sorts members by kind. Returns how many are single. */
static uint32_t sort(window *w)
{
    uint16_t counts[KINDS + 1] = {0};
    for (uint32_t i = 0; i < w->count; i++)
        counts[kind_of(&w->members[i]) + 1]++;
    for (uint32_t k = 0; k < KINDS; k++)
        counts[k + 1] = (uint16_t)(counts[k + 1] + counts[k]);
    const uint32_t single = counts[1];
    for (uint32_t i = 0; i < w->count; i++)
        w->sorted[counts[kind_of(&w->members[i])]++] = (uint16_t)i;
    return single;
}

static void update_window(window *w, const batch *b, const th_crowd_layers *table, char *palettes, char *scratch)
{
    const uint32_t width = w->crowd->kernels->width;
    w->count = 0;
    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        member_layers *m = &w->members[w->count];
        read_member(w, table, i, m);
        if (m->is_exact)
            update_exact(w, m, palettes, scratch);
        else
            w->count++;
    }
    const uint32_t single = sort(w);
    for (uint32_t i = 0; i < w->count;) {
        const uint32_t end = i < single ? single : w->count;
        const lane_members lanes = lane_members_at(w, i, end);
        pose(w, &lanes, i < single, palettes, scratch);
        i = end - i > width ? i + width : end;
    }
}

static bool has_layers(const th_crowd *crowd, const batch *b, const th_crowd_layers *layers)
{
    bool any = false;
    for (uint32_t i = b->first; i < b->first + b->count; i++)
        any |= layer_count(crowd, i, layers) > 0;
    return any;
}

void th_crowd_update_layers(const th_crowd *crowd, uint32_t begin, uint32_t end, double time_s,
                            const th_crowd_layers *layers, void *palette, void *scratch)
{
    assert(crowd && begin <= end && end <= crowd->batch_count);
    assert(begin == end || (layers && layers->counts && layers->layers && palette && scratch && palette != scratch));
    assert((uintptr_t)palette % TH_CACHE_LINE == 0 && (uintptr_t)scratch % TH_CACHE_LINE == 0);
    window w; /* not zeroed, which would take longer than some batches */
    w.crowd = crowd;
    w.time_s = time_s;
    batch b = {.group = crowd->groups};
    for (uint32_t i = begin, next; i < end; i = next) {
        b = batch_at(b.group, i);
        if (!has_layers(crowd, &b, layers)) { /* so that whoever plays one clip pays nothing for layers */
            next = i + 1;
            th_crowd_update(crowd, i, next, time_s, palette, scratch);
            continue;
        }
        w.group = b.group;
        w.rest = &b.group->compiled->compiled_clips[b.group->compiled->model->clip_count];
        for (next = i + 1; next < end && next - i < WINDOW && next - b.group->first_batch < b.group->batch_count;
             next++)
            b.count += batch_at(b.group, next).count;
        update_window(&w, &b, layers, palette, scratch);
    }
    finish_writes(crowd);
}

#include "exact_cache.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <throng/core/cache_line.h>

#define MOST_BYTES ((size_t)64 << 20)

bool th_exact_cache_init(th_exact_cache *cache, const th_model *model, th_interpolation interpolation)
{
    assert(cache && model);
    const size_t joints = model->joint_count + 1u, bones = model->bone_count + 1u;
    *cache = (th_exact_cache){
        .model = model,
        .interpolation = interpolation,
        .moves = malloc(joints * sizeof(bool)),
        .local = malloc(joints * sizeof(th_dmat34)),
        .pose = malloc(joints * sizeof(th_dmat34)),
        .cursors = malloc(joints * sizeof(th_exact_cursor)),
        .bones = malloc(bones * sizeof(uint32_t)),
        .inverse_binds = malloc(bones * sizeof(th_dmat34)),
        .rest = malloc(bones * sizeof(th_dmat34)),
    };
    return cache->moves && cache->local && cache->pose && cache->cursors && cache->bones && cache->inverse_binds &&
           cache->rest;
}

void th_exact_cache_fini(th_exact_cache *cache)
{
    free(cache->moves);
    free(cache->local);
    free(cache->pose);
    free(cache->cursors);
    free(cache->bones);
    free(cache->inverse_binds);
    free(cache->rest);
    free(cache->palettes);
    free(cache->ticks);
    free(cache->places);
}

static void find_moving_joints(th_exact_cache *cache)
{
    const th_model *model = cache->model;
    const th_clip *clip = cache->clip;
    memset(cache->moves, 0, model->joint_count * sizeof *cache->moves);
    for (uint32_t i = 0; clip && i < clip->channel_count; i++)
        cache->moves[clip->channels[i].joint] = true;
    for (uint32_t j = 0; j < model->joint_count; j++)
        if (model->joints[j].parent != TH_NO_INDEX)
            cache->moves[j] |= cache->moves[model->joints[j].parent];
}

/* Appends the bones of joints that move, or of those that do not. Returns how many there are then. */
static uint32_t append_bones(th_exact_cache *cache, uint32_t count, bool moving)
{
    const th_model *model = cache->model;
    for (uint32_t b = 0; b < model->bone_count; b++) {
        const uint32_t joint = model->bones[b].joint;
        if (cache->moves[joint] != moving)
            continue;
        cache->bones[count] = b;
        cache->inverse_binds[count] = th_dmat34_from(model->bones[b].inverse_bind);
        cache->rest[count] = th_dmat34_mul(cache->pose[joint], cache->inverse_binds[count]);
        count++;
    }
    return count;
}

static void begin_at_rest(th_exact_cache *cache)
{
    for (uint32_t j = 0; j < cache->model->joint_count; j++)
        cache->local[j] = th_dmat34_from(cache->model->joints[j].rest);
    th_exact_resolve(cache->model, cache->local, cache->pose);
    find_moving_joints(cache);
    cache->moving_count = append_bones(cache, 0, true);
    append_bones(cache, cache->moving_count, false);
    th_exact_cursors_reset(cache->cursors, cache->clip ? cache->clip->channel_count : 0);
}

bool th_exact_cache_begin(th_exact_cache *cache, const th_clip *clip, size_t times)
{
    assert(cache && cache->pose);
    const size_t palette_bytes = (cache->model->bone_count + 1u) * sizeof(th_dmat34);
    size_t slots = 1;
    while (slots < times && 2 * slots * palette_bytes <= MOST_BYTES)
        slots *= 2;
    if (slots > cache->capacity) {
        free(cache->palettes);
        free(cache->ticks);
        free(cache->places);
        cache->palettes = th_huge_page_alloc(slots * palette_bytes);
        cache->ticks = malloc(slots * sizeof *cache->ticks);
        cache->places = malloc(slots * sizeof *cache->places);
        cache->capacity = slots;
    }
    cache->clip = clip;
    cache->slots = slots;
    cache->used = 0;
    begin_at_rest(cache);
    const bool ok = cache->palettes && cache->ticks && cache->places;
    for (size_t i = 0; ok && i < cache->slots; i++)
        cache->ticks[i] = (double)NAN;
    return ok;
}

/* The slot that has the palette, else an empty one nearby, else one to overwrite. */
static size_t find_slot(const th_exact_cache *cache, double ticks)
{
    enum { NEARBY = 8 };
    uint64_t hash;
    memcpy(&hash, &ticks, sizeof hash);
    hash ^= hash >> 32; /* whole numbers have only high bits */
    hash *= UINT64_C(0x9E3779B97F4A7C15);
    hash ^= hash >> 32;
    for (uint64_t i = 0; i < NEARBY; i++) {
        const size_t slot = (hash + i) & (cache->slots - 1);
        if (cache->ticks[slot] == ticks || isnan(cache->ticks[slot]))
            return slot;
    }
    return hash & (cache->slots - 1);
}

/* Poses the joints that move. The same numbers as th_exact_pose and th_exact_palette give. */
static void find_palette(th_exact_cache *cache, double ticks, th_dmat34 *palette)
{
    const th_model *model = cache->model;
    for (uint32_t i = 0; cache->clip && i < cache->clip->channel_count; i++) {
        const th_channel *channel = &cache->clip->channels[i];
        th_trs trs;
        th_exact_cursor_channel(&cache->cursors[i], channel, ticks, cache->interpolation, &trs);
        cache->local[channel->joint] = th_dmat34_from_trs(&trs);
    }
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const uint32_t parent = model->joints[j].parent;
        if (cache->moves[j])
            cache->pose[j] =
                parent == TH_NO_INDEX ? cache->local[j] : th_dmat34_mul(cache->pose[parent], cache->local[j]);
    }
    for (uint32_t i = 0; i < cache->moving_count; i++)
        palette[i] = th_dmat34_mul(cache->pose[model->bones[cache->bones[i]].joint], cache->inverse_binds[i]);
}

const th_dmat34 *th_exact_cache_palette(th_exact_cache *cache, double ticks, bool *kept)
{
    assert(cache && cache->palettes && cache->ticks && cache->places && kept);
    const size_t slot = find_slot(cache, ticks);
    if (isnan(cache->ticks[slot]))
        cache->places[slot] = cache->used++;
    th_dmat34 *palette = cache->palettes + cache->places[slot] * cache->moving_count;
    *kept = cache->ticks[slot] == ticks;
    if (!*kept)
        find_palette(cache, ticks, palette);
    cache->ticks[slot] = ticks;
    return palette;
}

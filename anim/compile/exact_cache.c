#include "exact_cache.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES ((size_t)64 << 20)

bool th_exact_cache_init(th_exact_cache *cache, const th_model *model, th_interpolation interpolation)
{
    assert(cache && model);
    *cache = (th_exact_cache){
        .model = model,
        .interpolation = interpolation,
        .local = malloc((model->joint_count + 1u) * sizeof(th_dmat34)),
        .pose = malloc((model->joint_count + 1u) * sizeof(th_dmat34)),
        .inverse_binds = malloc((model->bone_count + 1u) * sizeof(th_dmat34)),
        .cursors = malloc((model->joint_count + 1u) * sizeof(th_exact_cursor)),
    };
    for (uint32_t b = 0; cache->inverse_binds && b < model->bone_count; b++)
        cache->inverse_binds[b] = th_dmat34_from(model->bones[b].inverse_bind);
    return cache->local && cache->pose && cache->inverse_binds && cache->cursors;
}

void th_exact_cache_fini(th_exact_cache *cache)
{
    free(cache->local);
    free(cache->pose);
    free(cache->inverse_binds);
    free(cache->cursors);
    free(cache->palettes);
    free(cache->ticks);
}

bool th_exact_cache_begin(th_exact_cache *cache, const th_clip *clip, size_t times)
{
    assert(cache && cache->pose);
    for (uint32_t j = 0; j < cache->model->joint_count; j++)
        cache->local[j] = th_dmat34_from(cache->model->joints[j].rest);
    th_exact_cursors_reset(cache->cursors, clip ? clip->channel_count : 0);
    const size_t palette_bytes = (cache->model->bone_count + 1u) * sizeof(th_dmat34);
    size_t slots = 1;
    while (slots < times && 2 * slots * palette_bytes <= MOST_BYTES)
        slots *= 2;
    if (slots > cache->capacity) {
        free(cache->palettes);
        free(cache->ticks);
        cache->palettes = malloc(slots * palette_bytes);
        cache->ticks = malloc(slots * sizeof *cache->ticks);
        cache->capacity = slots;
    }
    cache->clip = clip;
    cache->slots = slots;
    for (size_t i = 0; cache->palettes && cache->ticks && i < cache->slots; i++)
        cache->ticks[i] = (double)NAN;
    return cache->palettes && cache->ticks;
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

/* Poses the clip. The same numbers as th_exact_pose and th_exact_palette give. */
static void find_palette(th_exact_cache *cache, double ticks, th_dmat34 *palette)
{
    const th_model *model = cache->model;
    for (uint32_t i = 0; cache->clip && i < cache->clip->channel_count; i++) {
        const th_channel *channel = &cache->clip->channels[i];
        th_trs trs;
        th_exact_cursor_channel(&cache->cursors[i], channel, ticks, cache->interpolation, &trs);
        cache->local[channel->joint] = th_dmat34_from_trs(&trs);
    }
    th_exact_resolve(model, cache->local, cache->pose);
    for (uint32_t b = 0; b < model->bone_count; b++)
        palette[b] = th_dmat34_mul(cache->pose[model->bones[b].joint], cache->inverse_binds[b]);
}

const th_dmat34 *th_exact_cache_palette(th_exact_cache *cache, double ticks, bool *kept)
{
    assert(cache && cache->palettes && cache->ticks && kept);
    const size_t slot = find_slot(cache, ticks);
    th_dmat34 *palette = cache->palettes + slot * (cache->model->bone_count + 1u);
    *kept = cache->ticks[slot] == ticks;
    if (!*kept)
        find_palette(cache, ticks, palette);
    cache->ticks[slot] = ticks;
    return palette;
}

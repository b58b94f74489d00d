#include "exact_cache.h"

#include <throng/anim/exact.h>

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
        .model = model, .interpolation = interpolation, .pose = malloc((model->joint_count + 1u) * sizeof(th_dmat34))};
    return cache->pose != NULL;
}

void th_exact_cache_fini(th_exact_cache *cache)
{
    free(cache->pose);
    free(cache->palettes);
    free(cache->ticks);
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

const th_dmat34 *th_exact_cache_palette(th_exact_cache *cache, double ticks, bool *kept)
{
    assert(cache && cache->palettes && cache->ticks && kept);
    const size_t slot = find_slot(cache, ticks);
    th_dmat34 *palette = cache->palettes + slot * (cache->model->bone_count + 1u);
    *kept = cache->ticks[slot] == ticks;
    if (*kept)
        return palette;
    cache->ticks[slot] = ticks;
    th_exact_pose(cache->model, cache->clip, ticks, cache->interpolation, cache->pose);
    th_exact_palette(cache->model, cache->pose, palette);
    return palette;
}

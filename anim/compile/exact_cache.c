#include "exact_cache.h"

#include <assert.h>
#include <core/cache_line.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES ((size_t)64 << 20)

void th_exact_cache_init(th_exact_cache *cache, const th_model *model, th_interpolation interpolation, th_arena *arena)
{
    assert(cache && model);
    *cache = (th_exact_cache){
        .model = model,
        .interpolation = interpolation,
        .moves = th_arena_new(arena, bool, model->joint_count),
        .local = th_arena_new(arena, th_dmat34, model->joint_count),
        .pose = th_arena_new(arena, th_dmat34, model->joint_count),
        .cursors = th_arena_new(arena, th_exact_cursor, model->joint_count),
        .bones = th_arena_new(arena, uint32_t, model->bone_count),
        .inverse_binds = th_arena_new(arena, th_dmat34, model->bone_count),
        .rest = th_arena_new(arena, th_dmat34, model->bone_count),
    };
}

void th_exact_cache_fini(th_exact_cache *cache)
{
    free(cache->palettes);
    free(cache->slots);
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

bool th_exact_cache_begin(th_exact_cache *cache, const th_clip *clip, size_t times)
{
    assert(cache && cache->pose);
    const th_model *model = cache->model;
    const size_t palette_bytes = (model->bone_count + 1u) * sizeof(th_dmat34);
    size_t slots = 1;
    while (slots < times && 2 * slots * palette_bytes <= MOST_BYTES)
        slots *= 2;
    if (slots > cache->capacity) {
        free(cache->palettes);
        free(cache->slots);
        cache->palettes = th_huge_page_alloc(slots * palette_bytes);
        cache->slots = malloc(slots * sizeof *cache->slots);
        cache->capacity = slots;
    }
    if (!cache->palettes || !cache->slots)
        return false;
    cache->clip = clip;
    cache->slot_count = slots;
    cache->used = 0;
    for (size_t i = 0; i < slots; i++)
        cache->slots[i].ticks = (double)NAN;

    for (uint32_t j = 0; j < model->joint_count; j++)
        cache->local[j] = th_dmat34_from(model->joints[j].rest);
    th_exact_resolve(model, cache->local, cache->pose);
    memset(cache->moves, 0, model->joint_count * sizeof *cache->moves);
    for (uint32_t i = 0; clip && i < clip->channel_count; i++)
        cache->moves[clip->channels[i].joint] = true;
    for (uint32_t j = 0; j < model->joint_count; j++)
        if (model->joints[j].parent != TH_NO_INDEX)
            cache->moves[j] |= cache->moves[model->joints[j].parent];
    cache->moving_count = append_bones(cache, 0, true);
    append_bones(cache, cache->moving_count, false);
    th_exact_cursors_reset(cache->cursors, clip ? clip->channel_count : 0);
    return true;
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
        const size_t slot = (hash + i) & (cache->slot_count - 1);
        if (cache->slots[slot].ticks == ticks || isnan(cache->slots[slot].ticks))
            return slot;
    }
    return hash & (cache->slot_count - 1);
}

const th_dmat34 *th_exact_cache_palette(th_exact_cache *cache, double ticks, bool *kept)
{
    assert(cache && cache->palettes && cache->slots && kept);
    const th_model *model = cache->model;
    th_exact_slot *slot = &cache->slots[find_slot(cache, ticks)];
    if (isnan(slot->ticks))
        slot->place = cache->used++;
    th_dmat34 *palette = cache->palettes + slot->place * cache->moving_count;
    *kept = slot->ticks == ticks;
    if (*kept)
        return palette;
    slot->ticks = ticks;

    /* Poses the joints that move. The same numbers as th_exact_pose and th_exact_palette give. */
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
    return palette;
}

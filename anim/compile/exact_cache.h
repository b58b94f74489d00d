/* Exact palettes of a clip, kept while it is measured again and again. For resample.c. Private to anim. */
#ifndef TH_ANIM_COMPILE_EXACT_CACHE_H
#define TH_ANIM_COMPILE_EXACT_CACHE_H

#include "exact_cursor.h"

#include <core/arena.h>

#include <stdbool.h>

typedef struct th_exact_slot {
    double ticks; /* NaN: empty */
    size_t place; /* its palette */
} th_exact_slot;

/* A hash table by time. When it is full, a new palette replaces another one. Bones that the clip leaves at rest are
 * kept once. */
typedef struct th_exact_cache {
    const th_model *model;
    const th_clip *clip;
    th_interpolation interpolation;
    bool *moves;              /* by joint: a channel moves it, or one above it */
    th_dmat34 *local, *pose;  /* by joint: local at rest where no channel moves the joint */
    th_exact_cursor *cursors; /* by channel of the clip; room for a channel a joint */
    uint32_t *bones;          /* of the model: first those that move, then those at rest */
    uint32_t moving_count;
    th_dmat34 *inverse_binds, *rest; /* of `bones`; rest: the palette entries of those at rest */
    th_dmat34 *palettes;             /* moving_count each, in the order in which they were computed */
    size_t used;                     /* palettes */
    th_exact_slot *slots;
    size_t slot_count; /* a power of two */
    size_t capacity;   /* of slots */
} th_exact_cache;

/* The arena may have failed afterwards; it must outlive the cache. Call th_exact_cache_begin before the first palette.
 */
void th_exact_cache_init(th_exact_cache *cache, const th_model *model, th_interpolation interpolation, th_arena *arena);
void th_exact_cache_fini(th_exact_cache *cache);

/* Empties the cache for another clip, NULL for the rest pose. times: how many palettes may be worth keeping. Returns
 * false if out of memory. */
bool th_exact_cache_begin(th_exact_cache *cache, const th_clip *clip, size_t times);

/* Returns the entries of the moving bones at `ticks`, valid until the next call. *kept: whether they were in the cache.
 */
const th_dmat34 *th_exact_cache_palette(th_exact_cache *cache, double ticks, bool *kept);

#endif

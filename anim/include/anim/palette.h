/* Palettes: how they lie in memory. */
#ifndef THRONG_ANIM_PALETTE_H
#define THRONG_ANIM_PALETTE_H

#include <throng/throng.h>

#include <core/cache_line.h>

/* Palettes larger than this are posed faster past the caches of this machine's kind of processor. */
size_t th_stream_bytes(void);

static inline size_t th_palette_entry_bytes(th_format format)
{
    static const size_t bytes[TH_FORMAT_COUNT] = {48, 32, 16};
    return bytes[format];
}

/* Entries of the palette of a model. */
static inline uint32_t th_palette_entries(uint32_t bone_count, uint32_t weight_count)
{
    return bone_count + (weight_count + 11) / 12;
}

/* Bytes from the palette of an instance to the next: whole cache lines, but never whole pages. A kernel writes the same
 * entry of all its lanes at once. Lines that are whole pages apart compete for one set of the first-level cache, which
 * has fewer ways than AVX-512 has lanes: a bone took 7.3 ns instead of 1.9. */
static inline size_t th_palette_stride(th_format format, uint32_t entries)
{
    const size_t page = 4096, bytes = th_cache_line_round(entries * th_palette_entry_bytes(format));
    return bytes > 0 && bytes % page == 0 ? bytes + TH_CACHE_LINE : bytes;
}

#define TH_PALETTE_ROW_BYTES 16 /* four numbers, as shaders read them */

/* Of the places of QUAT16, in scene units; 1.7 um for a human of 1.8 m. size: th_model.size. */
static inline float th_palette_step(double size)
{
    return (float)(size * 0x1p-20);
}

#define TH_TURN_STEPS 500000 /* of the rotations of QUAT16, in one */

/* Encodes one entry. What is no rotation, translation or uniform scale is lost in quaternions. */
void th_palette_write(th_format format, const float in[12], const th_palette_base *base, void *entry);

#endif

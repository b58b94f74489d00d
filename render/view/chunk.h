/* Splits a draw into chunks whose palettes a driver can bind at once. Private to render. */
#ifndef TH_RENDER_VIEW_CHUNK_H
#define TH_RENDER_VIEW_CHUNK_H

#include <render/crowd_renderer.h>

#include <assert.h>

/* What to bind, and which characters of the draw it is for. */
typedef struct th_chunk {
    size_t offset, bytes;  /* range in the ring slot; offset has the driver's alignment */
    size_t lead;           /* bytes before the first palette */
    uint32_t first, count; /* characters */
} th_chunk;

/* Replaces *chunk by the next one; start with a zeroed chunk. False when there is none. palette_bytes: per character. A
 * chunk has at least one character, even if block_bytes is too small for it. */
static inline bool th_chunk_next(const th_draw *draw, size_t palette_bytes, size_t block_bytes, size_t alignment,
                                 th_chunk *chunk)
{
    assert(palette_bytes > 0 && alignment > 0);
    const uint32_t first = chunk->first + chunk->count;
    if (first >= draw->count)
        return false;
    if (draw->shared > 0) { /* all characters at once, with all palettes that they share */
        const size_t lead = draw->palette_offset % alignment;
        *chunk = (th_chunk){.offset = draw->palette_offset - lead,
                            .bytes = lead + (draw->shared - 1) * draw->palette_stride + palette_bytes,
                            .lead = lead,
                            .count = draw->count};
        return true;
    }
    const size_t begin = draw->palette_offset + first * draw->palette_stride;
    const size_t lead = begin % alignment,
                 room = block_bytes > lead + palette_bytes ? block_bytes - lead - palette_bytes : 0;
    const size_t fit = 1 + (draw->palette_stride > 0 ? room / draw->palette_stride : 0);
    const uint32_t rest = draw->count - first, count = fit < rest ? (uint32_t)fit : rest;
    *chunk = (th_chunk){.offset = begin - lead,
                        .bytes = lead + (count - 1) * draw->palette_stride + palette_bytes,
                        .lead = lead,
                        .first = first,
                        .count = count};
    return true;
}

#endif

/* Cutting a draw into pieces whose palettes a driver can bind at once. Private to render. */
#ifndef TH_RENDER_VIEW_CHUNK_H
#define TH_RENDER_VIEW_CHUNK_H

#include <throng/render/crowd_renderer.h>

/* A piece: what to bind, and which of the draw's characters it is for. */
typedef struct th_chunk {
    size_t offset, bytes;  /* of the slot; offset as aligned as the driver wants */
    size_t lead;           /* bytes of it before the first palette */
    uint32_t first, count; /* characters */
} th_chunk;

/* The piece behind *chunk; a zeroed one for the first. False when there is none. palette_bytes: of one character; a
 * piece has at least one, even if block_bytes are too few. */
static inline bool th_chunk_next(const th_draw *draw, size_t palette_bytes, size_t block_bytes, size_t alignment,
                                 th_chunk *chunk)
{
    const uint32_t first = chunk->first + chunk->count;
    if (first >= draw->count)
        return false;
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

/* Formats of bone palettes. An entry is a 3x4 row-major matrix, the translation in its last column; shaders take it as
 * three rows. */
#ifndef THRONG_ANIM_PALETTE_H
#define THRONG_ANIM_PALETTE_H

#include <throng/core/cache_line.h>

#include <stddef.h>
#include <stdint.h>

typedef enum th_palette {
    TH_PALETTE_F32 = 0, /* 48 bytes an entry */
    TH_PALETTE_F16, /* 24: each number rounded to half precision, off by 1 part in 2048 at most, below 2^-14 by 2^-25
                       at most; beyond 65504, infinity */
    TH_PALETTE_COUNT,
} th_palette;

typedef enum th_writes {
    TH_WRITES_AUTO = 0, /* streamed when a crowd's palettes are more than TH_STREAM_BYTES, else cached */
    TH_WRITES_CACHED,   /* for those who read them soon, or write them over */
    TH_WRITES_STREAMED, /* past the caches: for memory that is write-combined, or is not read soon and would push out
                         * what is */
    TH_WRITES_COUNT,
} th_writes;

/* More than caches hold of what is written once a frame, and have room for beside keys. */
#define TH_STREAM_BYTES ((size_t)8 << 20)

/* "f32", "f16". */
const char *th_palette_name(th_palette format);

static inline size_t th_palette_entry_bytes(th_palette format)
{
    return format == TH_PALETTE_F16 ? 24 : 48;
}

/* From a character's palette to the next: whole lines, but not whole pages. A kernel writes the same entry of all its
 * lanes at once, and lines that are whole pages apart compete for one set of the first cache, which has fewer ways than
 * AVX-512 has lanes: a joint took 7.3 ns to write instead of 1.9. */
static inline size_t th_palette_stride(th_palette format, uint32_t entries)
{
    const size_t page = 4096, bytes = th_line_round(entries * th_palette_entry_bytes(format));
    return bytes > 0 && bytes % page == 0 ? bytes + TH_LINE : bytes;
}

/* Reads one entry. */
void th_palette_read(th_palette format, const void *entry, float out[12]);

/* Writes one entry. */
void th_palette_write(th_palette format, const float in[12], void *entry);

#endif

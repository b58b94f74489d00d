/* Formats of bone palettes. An entry is a 3x4 row-major matrix, the translation in its last column; shaders take it as
 * three rows. */
#ifndef THRONG_PALETTE_H
#define THRONG_PALETTE_H

#include <stddef.h>

typedef enum th_palette {
    TH_PALETTE_F32 = 0, /* 48 bytes an entry */
    TH_PALETTE_F16, /* 24: each number rounded to half precision, off by 1 part in 2048 at most, below 2^-14 by 2^-25
                       at most; beyond 65504, infinity */
    TH_PALETTE_COUNT,
} th_palette;

typedef enum th_writes {
    TH_WRITES_CACHED = 0, /* where the kernel has them, in pieces of 8 and 16 bytes to many palettes at a time */
    TH_WRITES_STREAMED,   /* one palette after the other, in order, in whole lines past the caches: for memory that is
                           * write-combined, or is not read soon and would push out what is */
    TH_WRITES_COUNT,
} th_writes;

/* "f32", "f16". */
const char *th_palette_name(th_palette format);

static inline size_t th_palette_entry_bytes(th_palette format)
{
    return format == TH_PALETTE_F16 ? 24 : 48;
}

/* Reads one entry. */
void th_palette_read(th_palette format, const void *entry, float out[12]);

/* Writes one entry. */
void th_palette_write(th_palette format, const float in[12], void *entry);

#endif

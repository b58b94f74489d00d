/* stb_image 2.27 (Debian 12) writes beyond its Huffman tables when a JPEG declares one with more than 256 symbols. So
 * this checks the tables first. It walks from marker to marker as stb does, and stops where stb gives up. */
#include "image.h"

typedef struct reader {
    const uint8_t *bytes;
    size_t count, at;
} reader;

/* Returns 0 at the end, as stb does. */
static uint32_t next(reader *r)
{
    return r->at < r->count ? r->bytes[r->at++] : 0;
}

static bool tables_fit(reader r, uint32_t length)
{
    for (uint32_t used = 0; used < length;) {
        uint32_t symbols = 0;
        next(&r); /* the table's index */
        for (int i = 0; i < 16; i++)
            symbols += next(&r);
        if (symbols > 256)
            return false;
        for (uint32_t s = 0; s < symbols; s++)
            next(&r);
        used += 17 + symbols;
    }
    return true;
}

/* Skips to the next marker: 0xff, any number of further 0xff, then a byte that is neither 0 (an escaped data byte) nor
 * a restart marker. */
static uint32_t find_marker(reader *r)
{
    while (r->at < r->count) {
        if (next(r) != 0xff)
            continue;
        uint32_t marker = 0xff;
        while (marker == 0xff && r->at < r->count)
            marker = next(r);
        if (marker != 0 && marker != 0xff && (marker < 0xd0 || marker > 0xd7))
            return marker;
    }
    return 0;
}

bool th_image_jpeg_sound(const uint8_t *bytes, size_t byte_count)
{
    enum { HUFFMAN = 0xc4, START = 0xd8, END = 0xd9 };
    reader r = {bytes, byte_count, 0};
    if (byte_count == 0 || bytes[0] != 0xff || find_marker(&r) != START)
        return true; /* not a JPEG */
    for (uint32_t marker; (marker = find_marker(&r)) != 0 && marker != END;) {
        const uint32_t high = next(&r), length = high << 8 | next(&r);
        if (marker == HUFFMAN && length >= 2 && !tables_fit(r, length - 2))
            return false;
        r.at += length < 2 ? 0 : length - 2;
    }
    return true;
}

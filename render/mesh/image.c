#include "image.h"

#include <assert.h>
#include <math.h>
#include <stb/stb_image.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef TH_HAVE_WEBP
#include <webp/decode.h>
#endif

/* ---- JPEGs that are not sound ----
 *
 * stb_image 2.27 (Debian 12) writes beyond its Huffman tables when a JPEG declares one with more than 256 symbols. So
 * this checks the tables first. It walks from marker to marker as stb does, and stops where stb gives up. */

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

/* ---- decoding ---- */

/* The limits of th_image_decode; the text continues the same sentence. */
static th_result check_size(int width, int height, size_t most_bytes, th_error *err)
{
    if (width <= 0 || height <= 0)
        return th_fail(err, TH_ERR_INPUT, "has no pixels");
    if ((uint32_t)width > TH_RENDER_MESH_MAX_IMAGE_SIDE || (uint32_t)height > TH_RENDER_MESH_MAX_IMAGE_SIDE)
        return th_fail(err, TH_ERR_LIMIT, "has %d x %d pixels, the limit is %u each way", width, height,
                       TH_RENDER_MESH_MAX_IMAGE_SIDE);
    const size_t bytes = 4 * (size_t)width * (size_t)height;
    if (bytes > most_bytes)
        return th_fail(err, TH_ERR_LIMIT, "has %d x %d pixels, %zu bytes; there is room for %zu", width, height, bytes,
                       most_bytes);
    return TH_OK;
}

#ifdef TH_HAVE_WEBP
static th_result decode_webp(const uint8_t *bytes, size_t byte_count, size_t most_bytes, th_render_mesh_image *out,
                             th_error *err)
{
    WebPBitstreamFeatures found;
    if (WebPGetFeatures(bytes, byte_count, &found) != VP8_STATUS_OK)
        return th_fail(err, TH_ERR_INPUT, "cannot be read (a damaged WebP)");
    if (found.has_animation)
        return th_fail(err, TH_ERR_INPUT, "cannot be read (an animated WebP)");
    const th_result result = check_size(found.width, found.height, most_bytes, err);
    if (result != TH_OK)
        return result;
    const size_t size = 4 * (size_t)found.width * (size_t)found.height;
    uint8_t *rgba = malloc(size);
    if (!rgba || !WebPDecodeRGBAInto(bytes, byte_count, rgba, size, 4 * found.width)) {
        free(rgba);
        return th_fail(err, TH_ERR_INPUT, "cannot be decoded (%s)", rgba ? "a damaged WebP" : "out of memory");
    }
    *out = (th_render_mesh_image){.width = (uint32_t)found.width, .height = (uint32_t)found.height, .rgba = rgba};
    return TH_OK;
}
#endif

/* stb writes into its reason the bytes that it does not understand. */
static th_result fail_as_stb(const char *what, th_error *err)
{
    char reason[64];
    snprintf(reason, sizeof reason, "%s", stbi_failure_reason());
    for (char *c = reason; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    return th_fail(err, TH_ERR_INPUT, "cannot be %s (%s)", what, reason[0] ? reason : "corrupt");
}

th_result th_image_decode(const uint8_t *bytes, size_t byte_count, size_t most_bytes, th_render_mesh_image *out,
                          th_error *err)
{
    assert(out);
    *out = (th_render_mesh_image){0};
    if (!bytes || byte_count == 0)
        return th_fail(err, TH_ERR_INPUT, "is missing");
    if (byte_count > TH_RENDER_MESH_MAX_IMAGE_BYTES)
        return th_fail(err, TH_ERR_LIMIT, "is a file of %zu bytes, the limit is %zu", byte_count,
                       TH_RENDER_MESH_MAX_IMAGE_BYTES);
#ifdef TH_HAVE_WEBP
    if (byte_count >= 12 && memcmp(bytes, "RIFF", 4) == 0 && memcmp(bytes + 8, "WEBP", 4) == 0)
        return decode_webp(bytes, byte_count, most_bytes, out, err);
#endif
    if (!th_image_jpeg_sound(bytes, byte_count))
        return th_fail(err, TH_ERR_INPUT, "cannot be read (a Huffman table has too many symbols)");
    const int length = (int)byte_count;
    int width, height, channels;
    if (!stbi_info_from_memory(bytes, length, &width, &height, &channels))
        return fail_as_stb("read", err);
    const th_result result = check_size(width, height, most_bytes, err);
    if (result != TH_OK)
        return result;

    int got_width, got_height;
    uint8_t *rgba = stbi_load_from_memory(bytes, length, &got_width, &got_height, &channels, 4);
    if (!rgba)
        return fail_as_stb("decoded", err);
    *out = (th_render_mesh_image){.width = (uint32_t)got_width, .height = (uint32_t)got_height, .rgba = rgba};
    if (got_width != width || got_height != height) {
        th_image_free(out);
        return th_fail(err, TH_ERR_INPUT, "has another size than its header says");
    }
    return TH_OK;
}

void th_image_free(th_render_mesh_image *image)
{
    stbi_image_free((uint8_t *)image->rgba);
    *image = (th_render_mesh_image){0};
}

/* ---- smaller levels ---- */

/* IEC 61966-2-1, like the other way below. */
static uint8_t srgb_of(float linear)
{
    const float c = linear <= 0.0031308F ? 12.92F * linear : 1.055F * powf(linear, 1 / 2.4F) - 0.055F;
    return (uint8_t)lrintf(255 * c);
}

void th_mipmap_halve(const uint8_t *rgba, uint32_t width, uint32_t height, uint8_t *out)
{
    assert(rgba && out && width > 0 && height > 0 && (width > 1 || height > 1));
    float linear[256];
    for (int i = 0; i < 256; i++) {
        const float c = (float)i / 255;
        linear[i] = c <= 0.04045F ? c / 12.92F : powf((c + 0.055F) / 1.055F, 2.4F);
    }
    const uint32_t right = width > 1 ? 1 : 0, down = height > 1 ? 1 : 0;
    for (uint32_t y = 0; y < (height + !down) / 2; y++)
        for (uint32_t x = 0; x < (width + !right) / 2; x++) {
            const uint8_t *at = rgba + 4 * ((size_t)(y << down) * width + (x << right)),
                          *below = at + 4 * (size_t)(down * width);
            const uint8_t *const texels[4] = {at, at + 4 * right, below, below + 4 * right};
            uint8_t mean[4]; /* stored when all four are read, because out may be rgba */
            uint32_t alpha = 0;
            for (int t = 0; t < 4; t++)
                alpha += texels[t][3];
            for (int i = 0; i < 3; i++) {
                float sum = 0;
                for (int t = 0; t < 4; t++)
                    sum += linear[texels[t][i]] * (alpha > 0 ? (float)texels[t][3] : 1);
                mean[i] = srgb_of(sum / (alpha > 0 ? (float)alpha : 4));
            }
            mean[3] = (uint8_t)((alpha + 2) / 4);
            memcpy(out, mean, sizeof mean);
            out += 4;
        }
}

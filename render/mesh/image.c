#include "image.h"

#include <assert.h>
#include <stb/stb_image.h>
#include <stdio.h>

th_result th_image_check_size(int width, int height, size_t most_bytes, th_error *err)
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
    if (th_image_is_webp(bytes, byte_count))
        return th_image_webp_decode(bytes, byte_count, most_bytes, out, err);
#endif
    if (!th_image_jpeg_sound(bytes, byte_count))
        return th_fail(err, TH_ERR_INPUT, "cannot be read (a Huffman table has too many symbols)");
    const int length = (int)byte_count;
    int width, height, channels;
    if (!stbi_info_from_memory(bytes, length, &width, &height, &channels))
        return fail_as_stb("read", err);
    const th_result result = th_image_check_size(width, height, most_bytes, err);
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

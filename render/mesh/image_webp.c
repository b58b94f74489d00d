#include "image.h"

#include <stdlib.h>
#include <string.h>
#include <webp/decode.h>

bool th_image_is_webp(const uint8_t *bytes, size_t byte_count)
{
    return byte_count >= 12 && memcmp(bytes, "RIFF", 4) == 0 && memcmp(bytes + 8, "WEBP", 4) == 0;
}

th_result th_image_webp_decode(const uint8_t *bytes, size_t byte_count, size_t most_bytes, th_render_mesh_image *out,
                               th_error *err)
{
    WebPBitstreamFeatures found;
    if (WebPGetFeatures(bytes, byte_count, &found) != VP8_STATUS_OK)
        return th_fail(err, TH_ERR_INPUT, "cannot be read (a damaged WebP)");
    if (found.has_animation)
        return th_fail(err, TH_ERR_INPUT, "cannot be read (an animated WebP)");
    const th_result result = th_image_check_size(found.width, found.height, most_bytes, err);
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

/* Textures: PNG, JPEG, BMP, TGA and WebP. */
#include "render/mesh/image.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    th_render_mesh_image image;
    th_error err;
    if (th_image_decode(data, size, 1 << 20, &image, &err) == TH_OK)
        th_image_free(&image);
    return 0;
}

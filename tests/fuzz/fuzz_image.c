/* Inside, since models reach it only in a process of its own. Textures: PNG, JPEG, BMP, TGA and WebP. There are
 * pixels, or a message that can be printed. */
#include "render/mesh/image.h"

#include "fuzz.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    th_render_mesh_image image;
    th_error err = {0};
    const bool good = th_image_decode(data, size, 1 << 20, &image, &err) == TH_OK;
    if (good != (image.rgba != NULL) || good != (err.text[0] == '\0'))
        abort();
    for (const char *c = err.text; *c; c++)
        if (*c < ' ' || *c > '~')
            abort();
    if (good)
        th_image_free(&image);
    return 0;
}

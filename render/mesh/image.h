/* Pictures from the bytes of a file: JPEG, PNG, BMP, TGA. */
#ifndef TH_RENDER_MESH_IMAGE_H
#define TH_RENDER_MESH_IMAGE_H

#include <throng/render/render_mesh.h>

/* For any bytes. The caller frees out->rgba with th_image_free; the image has no name. TH_ERR_LIMIT: larger than
 * TH_RENDER_MESH_MAX_IMAGE_SIDE or than `most_bytes`, both of which its header says. TH_ERR_INPUT: anything else. The
 * text says what is wrong as the end of a sentence about the image. */
th_result th_image_decode(const uint8_t *bytes, size_t byte_count, size_t most_bytes, th_render_mesh_image *out,
                          th_error *err);

/* False for a JPEG that stb_image must not see. */
bool th_image_jpeg_sound(const uint8_t *bytes, size_t byte_count);

void th_image_free(th_render_mesh_image *image);

#endif

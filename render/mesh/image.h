/* Decodes images from a file's bytes: JPEG, PNG, BMP, TGA. */
#ifndef TH_RENDER_MESH_IMAGE_H
#define TH_RENDER_MESH_IMAGE_H

#include <throng/render/render_mesh.h>

/* Accepts any bytes. The caller frees out->rgba with th_image_free; the image gets no name. TH_ERR_LIMIT: its header
 * says that it is larger than TH_RENDER_MESH_MAX_IMAGE_SIDE or `most_bytes`. TH_ERR_INPUT: anything else. The error
 * text continues a sentence that begins with the image. */
th_result th_image_decode(const uint8_t *bytes, size_t byte_count, size_t most_bytes, th_render_mesh_image *out,
                          th_error *err);

/* False for a JPEG that must not reach stb_image (image_jpeg.c). */
bool th_image_jpeg_sound(const uint8_t *bytes, size_t byte_count);

void th_image_free(th_render_mesh_image *image);

#endif

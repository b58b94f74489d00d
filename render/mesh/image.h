/* Decodes images from a file's bytes: JPEG, PNG, BMP, TGA, and WebP if the build has libwebp. */
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

#ifdef TH_HAVE_WEBP
/* th_image_decode of a WebP, and whether the bytes are one. */
bool th_image_is_webp(const uint8_t *bytes, size_t byte_count);
th_result th_image_webp_decode(const uint8_t *bytes, size_t byte_count, size_t most_bytes, th_render_mesh_image *out,
                               th_error *err);
#endif

/* The limits above; the text continues the same sentence. */
th_result th_image_check_size(int width, int height, size_t most_bytes, th_error *err);

void th_image_free(th_render_mesh_image *image);

#endif

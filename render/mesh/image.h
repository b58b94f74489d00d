/* Decodes images from a file's bytes: JPEG, PNG, BMP, TGA, and WebP if the build has libwebp. */
#ifndef TH_RENDER_MESH_IMAGE_H
#define TH_RENDER_MESH_IMAGE_H

#include <render/render_mesh.h>

/* Accepts any bytes. The caller frees out->rgba with th_image_free; the image gets no name. TH_ERR_LIMIT: its header
 * says that it is larger than TH_RENDER_MESH_MAX_IMAGE_SIDE or `most_bytes`. TH_ERR_INPUT: anything else. The error
 * text continues a sentence that begins with the image. */
th_result th_image_decode(const uint8_t *bytes, size_t byte_count, size_t most_bytes, th_render_mesh_image *out,
                          th_error *err);

/* False for a JPEG that must not reach stb_image. */
bool th_image_jpeg_sound(const uint8_t *bytes, size_t byte_count);

void th_image_free(th_render_mesh_image *image);

/* Writes the next smaller level of an image with transparent texels: half the width and height, rounded down but at
 * least 1. Each texel is the mean of the four that it covers, in linear light, and colours count as much as their
 * alpha: what is transparent has a colour too, often white or black, that must not show at the edges. Where all four
 * are transparent their plain mean is used. rgba: sRGB and linear alpha, as decoded. out may be rgba. */
void th_mipmap_halve(const uint8_t *rgba, uint32_t width, uint32_t height, uint8_t *out);

#endif

/* Smaller levels of images with transparent texels. */
#ifndef TH_RENDER_MESH_MIPMAPS_H
#define TH_RENDER_MESH_MIPMAPS_H

#include <stdint.h>

/* Writes the next level: half the width and height, rounded down but at least 1. Each texel is the mean of the four
 * that it covers, in linear light, and colours count as much as their alpha: what is transparent has a colour too,
 * often white or black, that must not show at the edges. Where all four are transparent their plain mean is used. rgba:
 * sRGB and linear alpha, as decoded. out may be rgba. */
void th_mipmap_halve(const uint8_t *rgba, uint32_t width, uint32_t height, uint8_t *out);

#endif

/* Converts a model's vertices to the GPU's format. */
#ifndef TH_RENDER_MESH_PACK_H
#define TH_RENDER_MESH_PACK_H

#include <throng/render/render_mesh.h>

/* Whole image repeats to subtract from all texture coordinates of a mesh. They then lie around 0, where half precision
 * is finest. */
void th_pack_uv_offset(const th_mesh *mesh, double offset[2]);

uint32_t th_pack_normal(const float normal[3]); /* any length; a zero vector gives (0, 0, 1) */
void th_unpack_normal(uint32_t packed, float out[3]);

/* Without deltas. */
void th_pack_vertex(const th_vertex *vertex, const double uv_offset[2], th_render_mesh_vertex *out);

/* The largest change of a texture coordinate by packing, in pixels of an image of this size. */
double th_pack_uv_error(const th_mesh *mesh, uint32_t width, uint32_t height);

#endif

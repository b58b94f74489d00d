/* Vertices of a model in the form a GPU reads. */
#ifndef TH_RENDER_MESH_PACK_H
#define TH_RENDER_MESH_PACK_H

#include <throng/render/render_mesh.h>

/* Whole repeats of the image to take off all texture coordinates of a mesh, so that they lie about 0, where half
 * precision is finest. */
void th_pack_uv_offset(const th_mesh *mesh, double offset[2]);

uint32_t th_pack_normal(const float normal[3]); /* of any length; without one, (0, 0, 1) */
void th_unpack_normal(uint32_t packed, float out[3]);

void th_pack_vertex(const th_vertex *vertex, const double uv_offset[2], th_render_mesh_vertex *out);

/* Largest difference that packing made to a texture coordinate, in pixels of an image of that size. */
double th_pack_uv_error(const th_mesh *mesh, uint32_t width, uint32_t height);

#endif

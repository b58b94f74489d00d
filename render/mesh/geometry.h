/* The meshes of a render mesh while they are built. Steps, in this order: pack, coarsen, correct normals, order. */
#ifndef TH_RENDER_MESH_GEOMETRY_H
#define TH_RENDER_MESH_GEOMETRY_H

#include <core/arena.h>
#include <render/render_mesh.h>

typedef struct th_geometry {
    th_render_mesh_part *parts;
    th_render_mesh_vertex *vertices; /* these three are blocks of their own */
    uint32_t *indices;
    th_render_mesh_delta *deltas;
    uint32_t part_count, vertex_count, index_count, delta_count, lod_count;
} th_geometry;

/* Level 0 of all meshes with triangles. Merges vertices that packing made equal, and drops unused ones. Parts and their
 * names are in the arena; the caller frees the three blocks, even after an error. */
th_result th_geometry_pack(const th_model *model, th_arena *arena, th_geometry *out, th_error *err);

/* Adds the coarser levels. */
th_result th_geometry_coarsen(const th_model *model, th_geometry *geometry, th_error *err);

/* Where the normals of a coarse level differ too much from those of level 0, gives its triangles vertices of their own.
 */
th_result th_geometry_correct_normals(th_geometry *geometry, th_error *err);

/* Sorts each part's triangles and vertices for the GPU's caches. */
th_result th_geometry_order(th_geometry *geometry, th_error *err);

/* Sets the culling of each part. */
th_result th_geometry_set_culling(const th_model *model, th_geometry *geometry, th_error *err);

/* Whether the part repeats the previous level because it has none of its own here. */
bool th_geometry_repeats(const th_render_mesh_part *part, uint32_t lod);

uint32_t th_pack_normal(const float normal[3]); /* any length; a zero vector gives (0, 0, 1) */
void th_unpack_normal(uint32_t packed, float out[3]);

/* The largest change of a texture coordinate by packing, in pixels of an image of this size. */
double th_pack_uv_error(const th_model *model, const th_mesh *mesh, uint32_t width, uint32_t height);

/* Connected surfaces, such as an eye or a button: triangles that share a corner belong to one island. places: [vertex]
 * an id below vertex_count, shared by the vertices at the same position. scratch: [2 * vertex_count]. out_sizes:
 * [vertex] how many triangles its island has. */
void th_islands_measure(const uint32_t *places, uint32_t vertex_count, const uint32_t *indices, size_t index_count,
                        uint32_t *scratch, uint32_t *out_sizes);

#endif

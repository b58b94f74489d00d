/* The meshes of a render mesh while they are built. Steps, in this order: pack, coarsen, correct normals, order. */
#ifndef TH_RENDER_MESH_GEOMETRY_H
#define TH_RENDER_MESH_GEOMETRY_H

#include <throng/render/render_mesh.h>

typedef struct th_geometry {
    th_render_mesh_part *parts; /* they own their names */
    th_render_mesh_vertex *vertices;
    uint32_t *indices;
    th_render_mesh_delta *deltas;
    uint32_t part_count, vertex_count, index_count, delta_count, lod_count;
} th_geometry;

/* Level 0 of all meshes with triangles. Merges vertices that packing made equal, and drops unused ones. The caller
 * frees *out, even after an error. */
th_result th_geometry_pack(const th_model *model, th_geometry *out, th_error *err);

/* Appends the deltas of a mesh and points its packed vertices at them. Vertices that move alike share deltas, so that
 * equal vertices stay equal. False when out of memory. */
bool th_geometry_add_deltas(const th_mesh *mesh, th_geometry *geometry, th_render_mesh_vertex *packed);

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

void th_geometry_free(th_geometry *geometry);

#endif

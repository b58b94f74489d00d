/* A render_mesh's meshes while they are built. Steps, in this order: pack, coarsen, correct the normals,
 * order. */
#ifndef TH_RENDER_MESH_GEOMETRY_H
#define TH_RENDER_MESH_GEOMETRY_H

#include <throng/render/render_mesh.h>

typedef struct th_geometry {
    th_render_mesh_part *parts; /* own their names */
    th_render_mesh_vertex *vertices;
    uint32_t *indices;
    uint32_t part_count, vertex_count, index_count, lod_count;
} th_geometry;

/* Level 0 of all meshes with triangles; vertices that packing made equal are one, those that no triangle uses gone.
 * *out is to be freed, whatever comes back. */
th_result th_geometry_pack(const th_model *model, th_geometry *out, th_error *err);

/* Adds the coarser levels. */
th_result th_geometry_coarsen(const th_model *model, th_geometry *geometry, th_error *err);

/* Where the normals of coarse levels are not like those of level 0, their triangles get vertices of their own. */
th_result th_geometry_correct_normals(th_geometry *geometry, th_error *err);

/* Puts triangles and vertices of each part in the order a GPU likes best. */
th_result th_geometry_order(th_geometry *geometry, th_error *err);

/* Whether a part has no level of its own here, but again the one before. */
bool th_geometry_repeats(const th_render_mesh_part *part, uint32_t lod);

void th_geometry_free(th_geometry *geometry);

#endif

/* What is true of any render_mesh, and a model to make render_meshes of. What is made ends with the test. */
#ifndef FIXTURE_RENDER_MESH_H
#define FIXTURE_RENDER_MESH_H

#include "fixture_end.h"

#include <render/render_mesh.h>

enum { STICK_JOINTS = 300 };

/* An upright chain of joints, 1 cm apart and each with a bone, and whatever meshes a test hangs on it. All of it can be
 * written. */
typedef struct stick {
    th_joint joints[STICK_JOINTS];
    th_bone bones[STICK_JOINTS];
    th_material materials[2];
    th_mesh meshes[3];
    th_texture textures[2];
    th_model model;
} stick;

/* Without meshes and textures; both materials are plain. */
stick *make_stick(void);

/* A vertex at a place, on one bone. */
th_vertex stick_vertex(float x, float y, float z, uint16_t bone);

/* The test fails unless it can be created. */
th_render_mesh *create_render_mesh(const th_model *model);

bool has_warning(const th_render_mesh *render_mesh, const char *part);

/* Ranges, orders, sums and limits. */
void check_render_mesh(const th_model *model, const th_render_mesh *render_mesh);

/* Level 0 has the triangles of the model, no more and no fewer, with all that their vertices have. */
void check_same_triangles(const th_model *model, const th_render_mesh *render_mesh);

/* Palettes of the poses that errors are measured in, one behind the other. */
enum { ERROR_POSES = 3 };
th_dmat34 *make_error_poses(const th_model *model);

/* Largest distance of a vertex from a level, in a pose. */
double farthest_from_level(const th_render_mesh *render_mesh, uint32_t lod, const th_dmat34 *palette);

/* Largest distance of the middle of a level's triangle from the mesh itself, in a pose. */
double farthest_from_mesh(const th_render_mesh *render_mesh, uint32_t lod, const th_dmat34 *palette);

/* Edges without an edge that goes the other way at the same places; with `weights`, places are the same in any pose. */
uint32_t count_open_edges(const th_render_mesh *render_mesh, uint32_t lod, bool weights);

#endif

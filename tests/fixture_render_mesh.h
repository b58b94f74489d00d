/* What is true of any figure, and a model to make figures of. */
#ifndef FIXTURE_RENDER_MESH_H
#define FIXTURE_RENDER_MESH_H

#include <throng/render/render_mesh.h>

enum { STICK_JOINTS = 300 };

/* An upright chain of joints, 1 cm apart and each with a bind, and whatever meshes a test hangs on it. All of it can be
 * written. */
typedef struct stick {
    th_joint joints[STICK_JOINTS];
    th_bind binds[STICK_JOINTS];
    th_material materials[2];
    th_mesh meshes[3];
    th_texture textures[2];
    th_model model;
} stick;

/* Without meshes and textures; both materials are plain. The caller frees it with free(). */
stick *make_stick(void);

/* A vertex at a place, on one bind. */
th_vertex stick_vertex(float x, float y, float z, uint16_t bind);

/* The test fails unless it can be created. Free with th_figure_destroy. */
th_figure *create_figure(const th_model *model);

bool figure_notes(const th_figure *figure, const char *part);

/* Ranges, orders, sums and limits. */
void check_figure(const th_model *model, const th_figure *figure);

/* Level 0 has the triangles of the model, no more and no fewer, with all that their vertices have. */
void check_same_triangles(const th_model *model, const th_figure *figure);

/* Palettes of the poses that errors are measured in, one behind the other; the caller frees them with free(). */
enum { ERROR_POSES = 3 };
th_dmat34 *make_error_poses(const th_model *model);

/* Largest distance of a vertex from a level, in a pose. */
double farthest_from_level(const th_figure *figure, uint32_t lod, const th_dmat34 *palette);

/* Scene space. */
void skin_vertex(const th_dmat34 *palette, const th_figure_vertex *vertex, double out[3]);

/* Edges without an edge that goes the other way at the same places; with `weights`, places are the same in any pose. */
uint32_t count_open_edges(const th_figure *figure, uint32_t lod, bool weights);

#endif

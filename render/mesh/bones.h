/* What a render_mesh knows of the skeleton. */
#ifndef TH_RENDER_MESH_BONES_H
#define TH_RENDER_MESH_BONES_H

#include <throng/render/render_mesh.h>

/* out: one for each bone of the model. */
void th_bone_spheres(const th_model *model, const th_render_mesh_vertex *vertices, uint32_t vertex_count,
                     th_render_mesh_bone *out);

/* Two ends for each line, into `out` with room for 2 * joint_count; how many of them. False when out of memory. */
bool th_skeleton_lines(const th_model *model, const th_render_mesh_bone *bones, th_render_mesh_line_end *out,
                       uint32_t *count);

#endif

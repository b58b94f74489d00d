/* Bone spheres and skeleton lines of a render mesh. */
#ifndef TH_RENDER_MESH_BONES_H
#define TH_RENDER_MESH_BONES_H

#include <throng/render/render_mesh.h>

/* out: [bone_count]. */
void th_bone_spheres(const th_model *model, const th_render_mesh_vertex *vertices, uint32_t vertex_count,
                     th_render_mesh_bone *out);

/* Writes two ends per line. `out` has room for 2 * joint_count; *count is the number of ends. False when out of memory.
 */
bool th_skeleton_lines(const th_model *model, const th_render_mesh_bone *bones, th_render_mesh_line_end *out,
                       uint32_t *count);

#endif

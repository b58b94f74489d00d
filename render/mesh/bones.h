/* What a figure knows of the skeleton. */
#ifndef TH_RENDER_MESH_BONES_H
#define TH_RENDER_MESH_BONES_H

#include <throng/render/render_mesh.h>

/* out: one for each bind of the model. */
void th_bones_bound(const th_model *model, const th_figure_vertex *vertices, uint32_t vertex_count,
                    th_figure_bind *out);

/* Two ends for each line, into `out` with room for 2 * joint_count; how many of them. False when out of memory. */
bool th_bones_lines(const th_model *model, const th_figure_bind *binds, th_figure_line_end *out, uint32_t *count);

#endif

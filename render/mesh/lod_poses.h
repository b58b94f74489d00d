/* Vertices in poses that represent what clips may do. */
#ifndef TH_RENDER_MESH_LOD_POSES_H
#define TH_RENDER_MESH_LOD_POSES_H

#include <throng/render/render_mesh.h>

/* At rest, and with every joint turned forth and back by an angle about an axis oblique to its own axes. */
enum { TH_LOD_POSE_REST, TH_LOD_POSE_BENT, TH_LOD_POSE_BENT_BACK, TH_LOD_POSE_COUNT };

/* Palettes: [pose][bone_count]. NULL when out of memory; the caller frees them. */
th_dmat34 *th_lod_poses_create(const th_model *model);

/* out: scene space. */
void th_lod_pose_vertex(const th_dmat34 *palette, const th_render_mesh_vertex *vertex, float out[3]);

#endif

/* Vertices in poses that stand for all that clips may do. */
#ifndef TH_RENDER_MESH_LOD_POSES_H
#define TH_RENDER_MESH_LOD_POSES_H

#include <throng/render/render_mesh.h>

/* At rest; and with every joint turned by an angle about an axis that is oblique to its own, forth and back. */
enum { TH_LOD_POSE_REST, TH_LOD_POSE_BENT, TH_LOD_POSE_BENT_BACK, TH_LOD_POSE_COUNT };

/* Palettes: bone_count entries for each pose. NULL when out of memory; the caller frees them. */
th_dmat34 *th_lod_poses_create(const th_model *model);

/* Scene space. */
void th_lod_pose_vertex(const th_dmat34 *palette, const th_render_mesh_vertex *vertex, float out[3]);

#endif

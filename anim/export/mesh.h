/* A mesh as a glTF mesh of one primitive. */
#ifndef TH_ANIM_EXPORT_MESH_H
#define TH_ANIM_EXPORT_MESH_H

#include "skin.h"

/* Adds the mesh, which must have triangles, with its joints as the skin lists them: skins->place is that of `skin`.
 * Material indices are those of the model. Returns the index of the glTF mesh. */
uint32_t th_export_mesh(const th_mesh *mesh, const th_skins *skins, const th_skin *skin, th_glb *glb);

#endif

/* A mesh as a glTF mesh of one primitive. */
#ifndef TH_ANIM_EXPORT_MESH_H
#define TH_ANIM_EXPORT_MESH_H

#include "skin.h"

/* Adds a mesh, which must have triangles. skins->place must be that of `skin`. Material indices are those of the model.
 * Returns the index of the glTF mesh. */
uint32_t th_export_mesh(const th_model *model, const th_mesh *mesh, const th_skins *skins, const th_skin *skin,
                        th_glb *glb);

#endif

/* Writes a model as binary glTF 2.0 (.glb): nodes, skin, meshes, materials, textures and clips. */
#ifndef THRONG_EXPORT_H
#define THRONG_EXPORT_H

#include <throng/model.h>

/* Writes to a temporary file beside `path`, then renames it: `path` holds the old bytes or the new ones, never half.
 * Imported again, the model is the same: joints, binds, meshes, clips. TH_ERR_INPUT when the file cannot be written. */
th_result th_export_glb(const th_model *model, const char *path, th_error *err);

#endif

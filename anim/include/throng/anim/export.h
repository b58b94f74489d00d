/* Writes a model as binary glTF 2.0 (.glb): nodes, skin, meshes, materials, textures and clips. */
#ifndef THRONG_ANIM_EXPORT_H
#define THRONG_ANIM_EXPORT_H

#include <throng/anim/model.h>

/* Writes to a temporary file beside `path`, then renames it: `path` holds the old bytes or the new ones, never half.
 * TH_ERR_INPUT: the file cannot be written, or glTF cannot say what the model does: a joint whose rest transform is
 * sheared, a mesh bound to one joint in two ways. TH_ERR_LIMIT: 4 GiB or more.
 *
 * Imported again, the model is the same: joints, binds, meshes, clips. Only that each mesh has a node, which is a joint
 * more; that binds no vertex follows, meshes without triangles, and images other than PNG and JPEG are gone; that key
 * times, in seconds, are floats; and that a rotation's spline that reaches beyond its clip has more keys, close
 * together, where it is cut. */
th_result th_export_glb(const th_model *model, const char *path, th_error *err);

#endif

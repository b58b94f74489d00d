/* Writes a model as binary glTF 2.0 (.glb): nodes, skin, meshes, materials, textures and clips. */
#ifndef THRONG_ANIM_EXPORT_H
#define THRONG_ANIM_EXPORT_H

#include <throng/anim/model.h>
#include <throng/core/api.h>

TH_API_BEGIN

/* Replaces `path` atomically (core/file.h).
 * Errors: TH_ERR_MEMORY. TH_ERR_INPUT: the file cannot be written, or glTF cannot represent the model: a sheared rest
 * transform, or a mesh bound to one joint with two inverse bind matrices. TH_ERR_LIMIT: 4 GiB or more.
 *
 * Importing the file gives the same joints, bones, meshes and clips, with these exceptions:
 *   - of appearances the file has the first, in the colours of the vertices;
 *   - each mesh has a node, which becomes a joint, and has its morph weights;
 *   - bones that no vertex follows, meshes without triangles, and images other than PNG and JPEG are dropped;
 *   - colours are between 0 and 1, and the cutoff of a material that is no mask is lost;
 *   - key times are floats in seconds;
 *   - tracks of a mesh's weights get each other's keys; where they differ in kind, lines become splines, and steps
 *     become steep lines;
 *   - a rotation spline that reaches beyond its clip gets more keys, close together, where it is cut. */
th_result th_export_glb(const th_model *model, const char *path, th_error *err);

TH_API_END

#endif

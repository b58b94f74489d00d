#ifndef THRONG_ANIM_GLB_H
#define THRONG_ANIM_GLB_H

#include <anim/model.h>

/* Writes a model as binary glTF 2.0, of appearances the first. The model is of the kind that the program makes: one
 * tree of joints with a bone each, at rest without scale or shear; one mesh or none, of four influences a vertex and a
 * material without texture; clips of lines from 0 to their duration. Errors: TH_ERR_MEMORY, TH_ERR_INPUT. */
th_result th_glb_write(const th_model *model, const char *path, th_error *err);

#endif

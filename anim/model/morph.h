/* Vertices moved by morph targets, before bones move them. Private to anim. */
#ifndef TH_ANIM_MODEL_MORPH_H
#define TH_ANIM_MODEL_MORPH_H

#include <throng/anim/model.h>

/* weights: of the model. out: by vertex, in mesh space. */
void th_morph_positions(const th_mesh *mesh, const double *weights, double (*out)[3]);

#endif

/* A clip as a glTF animation. */
#ifndef TH_ANIM_EXPORT_CLIP_H
#define TH_ANIM_EXPORT_CLIP_H

#include "glb.h"

#include <throng/anim/model.h>

/* rest: transforms of the nodes, one for each joint of the model. Node indices are joint indices. */
void th_export_clip(th_glb *glb, const th_clip *clip, const th_trs *rest);

#endif

/* A clip as a glTF animation. */
#ifndef TH_ANIM_EXPORT_CLIP_H
#define TH_ANIM_EXPORT_CLIP_H

#include "glb.h"

#include <throng/anim/model.h>

/* The nodes of the file. Those of joints have the indices of the joints. */
typedef struct th_export_nodes {
    const th_model *model;
    const th_trs *rest;      /* by joint */
    const uint32_t *of_mesh; /* by mesh; TH_NO_INDEX: not in the file */
} th_export_nodes;

void th_export_clip(th_glb *glb, const th_clip *clip, const th_export_nodes *nodes);

/* Makes times ascend: moves some back or, where that would be before 0, others forward. */
void th_export_spread(float *times, uint32_t count);

#endif

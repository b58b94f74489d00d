/* The vertices of all meshes of a model. Private to anim. */
#ifndef TH_ANIM_MODEL_VERTICES_H
#define TH_ANIM_MODEL_VERTICES_H

#include <throng/anim/model.h>

static inline uint32_t th_vertices_count(const th_model *model)
{
    uint32_t count = 0;
    for (uint32_t m = 0; m < model->mesh_count; m++)
        count += model->meshes[m].vertex_count;
    return count;
}

#endif

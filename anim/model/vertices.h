/* The vertices of a model, before bones move them. Private to anim. */
#ifndef TH_ANIM_MODEL_VERTICES_H
#define TH_ANIM_MODEL_VERTICES_H

#include <anim/model.h>

#include <math.h>

/* Of all meshes. */
static inline uint32_t th_vertices_count(const th_model *model)
{
    uint32_t count = 0;
    for (uint32_t m = 0; m < model->mesh_count; m++)
        count += model->meshes[m].vertex_count;
    return count;
}

/* Where morph targets move the vertices of a mesh. weights: of the model. out: by vertex, in mesh space. (model.c) */
void th_morph_positions(const th_mesh *mesh, const double *weights, double (*out)[3]);

/* Around points, of which there may be none. */
typedef struct th_box {
    double low[3], high[3];
} th_box;

#define TH_BOX_EMPTY ((th_box){{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}})

static inline void th_box_add(th_box *box, const double point[3])
{
    for (int i = 0; i < 3; i++) {
        box->low[i] = fmin(box->low[i], point[i]);
        box->high[i] = fmax(box->high[i], point[i]);
    }
}

static inline void th_box_add_origin(th_box *box, const th_dmat34 *space)
{
    th_box_add(box, (double[]){space->m[3], space->m[7], space->m[11]});
}

/* The longest side. */
static inline double th_box_extent(const th_box *box)
{
    const double *low = box->low, *high = box->high;
    return fmax(high[0] - low[0], fmax(high[1] - low[1], high[2] - low[2]));
}

#endif

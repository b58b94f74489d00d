/* What stands around the crowd of a layout: facades and trees along a street and around a plaza, the stands of a
 * stadium. A layout with its surroundings is a scene. Private to render. */
#ifndef TH_RENDER_VIEW_SURROUNDINGS_H
#define TH_RENDER_VIEW_SURROUNDINGS_H

#include "shape.h"

#include <throng/render/camera.h>
#include <throng/render/layout.h>

typedef struct th_surroundings {
    float unit;                 /* a metre, in scene units */
    float shape[4];             /* what the shader of the ground needs, see shaders/ground_*.glsl */
    unsigned buffers[2], array; /* OpenGL's: vertices, indices */
    uint32_t index_count;
} th_surroundings;

/* Whether there are any; a grid and a ring lie on the plain ground. */
bool th_surroundings_has(th_layout_kind kind);

/* All solids of the layout. unit: as above. May fail. */
void th_surroundings_build(const th_layout *layout, double unit, th_shape *out);

/* On the context's thread. TH_ERR_MEMORY. */
th_result th_surroundings_create(const th_layout *layout, double unit, th_surroundings **out, th_error *err);
void th_surroundings_destroy(th_surroundings *surroundings); /* NULL does nothing */

/* The camera with its angles, which fills the picture with the scene. */
void th_surroundings_frame(const th_layout *layout, double unit, double zoom, th_camera *camera);

#endif

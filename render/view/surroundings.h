/* What stands around the crowd of a layout: facades and trees along a street and around a plaza, the stands of a
 * stadium. A layout with its surroundings is a scene. Private to render. */
#ifndef TH_RENDER_VIEW_SURROUNDINGS_H
#define TH_RENDER_VIEW_SURROUNDINGS_H

#include <throng/render/camera.h>
#include <throng/render/layout.h>

#include <stdbool.h>
#include <stdint.h>

/* sRGB, and 255 for walls with windows. The macros are initialisers. */
typedef struct th_paint {
    uint8_t rgba[4];
} th_paint;

/* clang-format off */
#define TH_PAINT(r, g, b) {{r, g, b, 0}}
#define TH_WALL(r, g, b)  {{r, g, b, 255}}
/* clang-format on */

typedef struct th_shape_vertex {
    float position[3];
    int8_t normal[4]; /* of 127 */
    th_paint paint;
} th_shape_vertex;

/* Simple solids, put together to one mesh. Zero is an empty one. */
typedef struct th_shape {
    th_shape_vertex *vertices;
    uint32_t *indices;
    uint32_t vertex_count, index_count, capacity; /* capacity: quads */
    bool failed;                                  /* out of memory; it then stays as it is */
} th_shape;

void th_shape_fini(th_shape *shape);

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

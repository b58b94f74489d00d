/* What stands around the crowd of a layout: facades and trees along a street and around a plaza, the stands of a
 * stadium. A layout with its surroundings is a scene. Private to render. */
#ifndef TH_RENDER_VIEW_SURROUNDINGS_H
#define TH_RENDER_VIEW_SURROUNDINGS_H

#include <render/camera.h>
#include <render/layout.h>

#include <stdbool.h>
#include <stdint.h>

/* The stands of TH_LAYOUT_STADIUM: rows of seats on rounded rectangles around the origin, each row behind and above the
 * one before. Closed forms, so that a seat costs the same wherever it is. */
typedef struct th_stadium {
    uint32_t rows;
    uint32_t straight[2]; /* seats of a row along X, and along Z */
    uint32_t corner;      /* seats in each corner of the first row */
    double seat;          /* from a seat to the next; this and below: scene units */
    double depth, rise;   /* from a row to the next */
    double base;          /* height of the first row */
    double half[2];       /* half of the straight parts along X, and along Z */
    double radius;        /* of the corners of the first row */
    bool is_one_stand;    /* of few: straight, along X on the -Z side */
} th_stadium;

/* Of TH_LAYOUT_STADIUM, with at least as many seats as characters. */
th_stadium th_layout_stadium(const th_layout *layout);

uint64_t th_stadium_seats(const th_stadium *stadium);

/* Where one sits: X, Y of the floor, Z, and the heading towards the pitch. */
typedef struct th_stadium_place {
    double position[3], heading_rad;
} th_stadium_place;

/* A point of the rounded rectangle that lies `out` behind the first row. quarter: 0 for the straight on the +Z side and
 * the corner after it, then +X, -Z, -X. along: from -1 to 1 on the straight, from 1 to 2 in the corner. */
th_stadium_place th_stadium_at(const th_stadium *stadium, double out, uint32_t quarter, double along);

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
    float ground[4];                              /* as th_surroundings.shape */
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

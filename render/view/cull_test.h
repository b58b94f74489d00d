/* The test of a tile of bounding spheres against a camera and a light. Private to render. */
#ifndef TH_RENDER_VIEW_CULL_TEST_H
#define TH_RENDER_VIEW_CULL_TEST_H

#include <render/cull.h>

enum { TH_CULL_TILE = 512, TH_CULL_CAMERA_PLANES = 6, TH_CULL_PLANES = 12 };

/* Relative rounding error of evaluating a plane in floats. */
#define TH_CULL_SLACK 1e-6f

/* The constants of a test, equal for all instances. */
typedef struct th_cull_test {
    float plane[TH_CULL_PLANES][4]; /* the camera's, then those of the light's map */
    /* A shadow is tested as the path of the sphere away from the light until it is below the ground. `push` is how far
     * this path moves towards the inner side of a plane, per unit of height. */
    float push[TH_CULL_PLANES];
    float ground;
    float eye[3];
    float limit2[TH_CULL_MAX_LODS - 1]; /* levels get coarser while (radius / distance)^2 is below these */
    int32_t lod_count;
    int plane_count; /* without shadows only those of the camera */
} th_cull_test;

/* Spheres in scene space, TH_CULL_TILE of each. radius: without the rounding error of z. */
typedef struct th_cull_spheres {
    const float *x, *y, *z, *radius;
} th_cull_spheres;

/* light: NULL where shadows are not drawn. */
th_cull_test th_cull_test_of(const th_cull *cull, const th_cull_view *visible, const th_cull_light *light);

th_cull_test_fn th_cull_test_tile, th_cull_test_tile_avx2;

#endif

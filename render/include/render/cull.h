/* Finds the characters that a camera sees, those out of sight that cast a visible shadow, and their levels of detail,
 * and sorts them for drawing.
 *
 * No threads, no GL: "do blocks [begin, end)". Each frame: classify all blocks, in any ranges at the same time; then
 * sum once; then scatter all blocks, again in any ranges. The result does not depend on the ranges. Only classifying
 * takes time for each character; sum takes time for each block, of which there are at most TH_CULL_MAX_BLOCKS, and
 * scatter for each listed character. Only th_cull_create allocates, and only it can fail.
 *
 * Culling is conservative: it may list a character that is not visible, but never drops a visible one whose sphere
 * holds it. Spheres grow by the rounding error of the tests. Bounding spheres are not rotated; an off-axis sphere is
 * enlarged to cover every heading. */
#ifndef THRONG_RENDER_CULL_H
#define THRONG_RENDER_CULL_H

#include <anim/crowd.h>
#include <render/camera.h>
#include <render/layout.h>
#include <runtime/pose_plan.h>

#define TH_CULL_MAX_BLOCKS 256u
#define TH_CULL_MAX_LODS   10u
#define TH_CULL_MAX_MODELS 3276u

/* Instances of one kind share a sphere and a model. Usually a kind is a model with one of its clips. */
typedef struct th_cull_kind {
    th_sphere sphere; /* model units, relative to the instance's position; radius at least 0 */
    uint32_t model;   /* instances of one model are listed together */
} th_cull_kind;

typedef struct th_cull_desc {
    const th_cull_kind *kinds; /* copied, like instance_kinds */
    uint32_t kind_count;
    const uint32_t *instance_kinds;
    uint32_t instance_count; /* may be 0 */
    uint32_t model_count;
    uint32_t lod_count; /* from 1 to TH_CULL_MAX_LODS */
    th_isa isa;         /* the result is the same for all */
} th_cull_desc;

/* What the camera sees, and its levels of detail. */
typedef struct th_cull_view {
    th_frustum frustum;
    float eye[3];                       /* for levels of detail, also of those who only cast a shadow */
    float pixels;                       /* height in pixels of a scene unit at distance 1 (th_camera_pixels); above 0 */
    float lod_px[TH_CULL_MAX_LODS - 1]; /* descending. A character smaller than lod_px[n] gets level n + 1 or coarser.
                                           Its size is the diameter of its sphere divided by distance, not depth, so
                                           that no level changes when the camera turns */
} th_cull_view;

/* A distant light with a shadow map. */
typedef struct th_cull_light {
    float to_light[3]; /* length 1; points upwards */
    float ground;      /* lowest height at which a shadow is visible */
    th_frustum map;    /* the map's frustum, without an end towards the light */
} th_cull_light;

/* The constants of a test, and spheres in scene space (view/cull_test.h). */
struct th_cull_test;
struct th_cull_spheres;

/* Writes for each sphere its level of detail; plus lod_count if only its shadow is visible; or a negative number if
 * nothing is. All instruction sets write the same. */
typedef void th_cull_test_fn(const struct th_cull_test *test, const struct th_cull_spheres *spheres, int32_t *level);

/* Only to be read, but for Z. Classifying compacts the listed instances of each block and counts those of each draw
 * list; the sums of these counts say where in the list each block continues each draw list. */
typedef struct th_cull {
    /* Valid from th_cull_sum until the next th_cull_classify. Draw lists are ordered by model, then by shadow_only,
     * then by level, each ascending; they may be empty. What a plan of poses says of them is the caller's. */
    th_draw_list *draw_lists; /* [model_count * 2 * lod_count] */
    uint32_t draw_list_count;
    uint32_t visible, listed; /* characters: of all that are not shadow_only, and of all */

    uint32_t *list; /* valid from th_cull_scatter on: the instances of all draw lists in order */

    /* Spheres in scene space, padded to whole blocks with spheres that are never visible. Z is that of the positions;
     * of characters that move along Z only the caller writes it himself, under the rules of th_cull_move. Radii include
     * the rounding error of x and y.
     */
    float *x, *y, *z, *radius;

    struct th_arena *arena;
    uint32_t instance_count, block, block_count, lod_count; /* block: instances of one */
    uint32_t row;         /* length of a row of counts; whole cache lines, because different threads count the blocks */
    th_cull_kind *kinds;  /* with spheres centred on the axis */
    uint32_t *kind;       /* [instance] */
    uint16_t *first_list; /* [instance] draw list of its model at level 0 */
    th_cull_test_fn *test;
    uint32_t *found;       /* each block's listed instances, from its first on */
    uint16_t *list_of;     /* [found] its draw list */
    uint32_t *found_count; /* [block] */
    uint32_t *counts; /* [block][draw list] first the count, then the sum of earlier blocks; then a row of totals */
} th_cull;

/* TH_ERR_LIMIT: more models than TH_CULL_MAX_MODELS. TH_ERR_MEMORY. No character is visible before th_cull_move. */
th_result th_cull_create(const th_cull_desc *desc, th_cull **out, th_error *err);
void th_cull_destroy(th_cull *cull); /* NULL does nothing */

uint32_t th_cull_block_begin(const th_cull *cull, uint32_t block); /* its first instance; of the block after the last:
                                                                      the number of instances */

/* Sets the positions of instances [begin, end); transforms[0] belongs to `begin`. Ranges that do not overlap may run at
 * the same time, but not while the same instances are being classified. Static characters need only one call. */
void th_cull_move(th_cull *cull, uint32_t begin, uint32_t end, const th_instance_transform *transforms);

/* light: NULL where shadows are not drawn. */
void th_cull_classify(th_cull *cull, const th_cull_view *visible, const th_cull_light *light, uint32_t begin_block,
                      uint32_t end_block);
void th_cull_sum(th_cull *cull);
void th_cull_scatter(th_cull *cull, uint32_t begin_block, uint32_t end_block);

#endif

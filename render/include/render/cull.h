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

#include <throng/anim/crowd.h>
#include <throng/core/api.h>
#include <throng/render/camera.h>
#include <throng/render/layout.h>

TH_API_BEGIN

#define TH_CULL_MAX_BLOCKS 256u
#define TH_CULL_MAX_LODS   10u
#define TH_CULL_MAX_MESHES 3276u

/* Instances of one kind share a sphere and a mesh. Usually a kind is a model with one of its clips. */
typedef struct th_cull_kind {
    th_sphere sphere; /* model units, relative to the instance's position; radius at least 0 */
    uint32_t mesh;    /* instances of one mesh are listed together */
} th_cull_kind;

typedef struct th_cull_desc {
    const th_cull_kind *kinds; /* copied, like instance_kinds */
    uint32_t kind_count;
    const uint32_t *instance_kinds;
    uint32_t instance_count; /* may be 0 */
    uint32_t mesh_count;
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

/* Characters of one mesh at one level of detail: list[first] to list[first + count - 1], ascending. */
typedef struct th_cull_group {
    uint32_t mesh, lod;
    bool shadow_only; /* out of sight, but with a visible shadow */
    uint32_t first, count;
} th_cull_group;

typedef struct th_cull th_cull;

/* TH_ERR_LIMIT: more meshes than TH_CULL_MAX_MESHES. TH_ERR_MEMORY. No character is visible before th_cull_move. */
th_result th_cull_create(const th_cull_desc *desc, th_cull **out, th_error *err);
void th_cull_destroy(th_cull *cull); /* NULL does nothing */

size_t th_cull_bytes(const th_cull *cull);
uint32_t th_cull_block_count(const th_cull *cull);
uint32_t th_cull_block_begin(const th_cull *cull, uint32_t block); /* its first instance; of the block after the last:
                                                                      the number of instances */

/* Sets the positions of instances [begin, end); transforms[0] belongs to `begin`. Ranges that do not overlap may run at
 * the same time, but not while the same instances are being classified. Static characters need only one call. */
void th_cull_move(th_cull *cull, uint32_t begin, uint32_t end, const th_instance_transform *transforms);

/* [instance] Z of the positions, to read, and to write where characters move along Z only; as th_cull_move. */
float *th_cull_z(th_cull *cull);

/* light: NULL where shadows are not drawn. */
void th_cull_classify(th_cull *cull, const th_cull_view *visible, const th_cull_light *light, uint32_t begin_block,
                      uint32_t end_block);
void th_cull_sum(th_cull *cull);
void th_cull_scatter(th_cull *cull, uint32_t begin_block, uint32_t end_block);

/* Valid from th_cull_sum until the next th_cull_classify. Groups are ordered by mesh, then by shadow_only, then by
 * level: [mesh_count * 2 * lod_count], and their count may be 0. */
const th_cull_group *th_cull_groups(const th_cull *cull);
uint32_t th_cull_visible_count(const th_cull *cull); /* of all groups that are not shadow_only */
uint32_t th_cull_listed_count(const th_cull *cull);  /* of all groups */

/* Valid from th_cull_scatter on: the instances of all groups in order. */
const uint32_t *th_cull_list(const th_cull *cull);

TH_API_END

#endif

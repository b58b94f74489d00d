/* Which characters a camera sees, at which level of detail, sorted for drawing.
 *
 * No threads, no GL: "do blocks [begin, end)". A frame is, for each view: classify all blocks, in any ranges at the
 * same time; then sum, once; then scatter all blocks, again in any ranges. The result does not depend on the ranges.
 * Nothing here allocates but th_cull_create, and nothing else can fail.
 *
 * Conservative: a character may be listed that is not visible, never the other way round, as long as its sphere holds
 * it; what floats round away is added to the spheres. The spheres are tested, not turned: one whose centre is beside
 * the axis about which headings turn grows until it holds itself at any heading. */
#ifndef THRONG_RENDER_CULL_H
#define THRONG_RENDER_CULL_H

#include <throng/core/api.h>
#include <throng/render/camera.h>
#include <throng/render/layout.h>

TH_API_BEGIN

#define TH_CULL_BLOCK      512u /* instances; fewer in the last block */
#define TH_CULL_MAX_LODS   4u
#define TH_CULL_MAX_MESHES 16383u

/* Instances of one kind share sphere and mesh: as a rule a model in one of its clips. */
typedef struct th_cull_kind {
    th_sphere sphere; /* in the model's units, relative to where it is placed; radius at least 0 */
    uint32_t mesh;    /* what is drawn: instances of one mesh are listed together */
} th_cull_kind;

typedef struct th_cull_desc {
    const th_cull_kind *kinds; /* copied, like instance_kinds */
    uint32_t kind_count;
    const uint32_t *instance_kinds;
    uint32_t instance_count; /* 0 is fine */
    uint32_t mesh_count;
    uint32_t lod_count;  /* from 1 to TH_CULL_MAX_LODS */
    uint32_t view_count; /* cameras and lights that want a list of their own */
} th_cull_desc;

/* A view and what it makes of sizes. */
typedef struct th_cull_view {
    th_frustum frustum;
    float eye[3]; /* from here sizes are judged; for shadows, too, that of the camera, so that levels agree */
    float pixels; /* how tall a scene unit is at distance 1 (th_camera_pixels) */
    float lod_px[TH_CULL_MAX_LODS - 1]; /* descending: who is shown smaller than lod_px[n] gets level n + 1, or a
                                           coarser one. Sizes are the diameters of spheres; by distance and not by
                                           depth, so that no level changes when the camera turns */
} th_cull_view;

/* A light from far away whose shadows are drawn by a map. */
typedef struct th_cull_light {
    float to_light[3]; /* of length 1; upwards */
    float ground;      /* the lowest height at which a shadow is visible */
    th_frustum map;    /* what is in the map, and would be in one without an end towards the light */
} th_cull_light;

/* Characters of one mesh at one level of detail: list[first] to list[first + count - 1], ascending. */
typedef struct th_cull_group {
    uint32_t mesh, lod;
    uint32_t first, count;
} th_cull_group;

typedef struct th_cull th_cull;

/* TH_ERR_LIMIT for more meshes than TH_CULL_MAX_MESHES; TH_ERR_MEMORY. Nobody is visible before th_cull_move. */
th_result th_cull_create(const th_cull_desc *desc, th_cull **out, th_error *err);
void th_cull_destroy(th_cull *cull); /* NULL is fine */

uint32_t th_cull_block_count(const th_cull *cull);

/* Tells where instances [begin, end) are: transforms[0] is that of `begin`. Any ranges that do not overlap at the same
 * time, none while a view is being classified. Once is enough for who does not move. */
void th_cull_move(th_cull *cull, uint32_t begin, uint32_t end, const th_instance_transform *transforms);

void th_cull_classify(th_cull *cull, uint32_t view, const th_cull_view *visible, uint32_t begin_block,
                      uint32_t end_block);

/* Instead of th_cull_classify, for a list of those who are out of sight but throw their shadows into it: they are not
 * in the list of `camera`, another view, whose blocks have been classified for the same `visible`. */
void th_cull_classify_casters(th_cull *cull, uint32_t view, uint32_t camera, const th_cull_view *visible,
                              const th_cull_light *light, uint32_t begin_block, uint32_t end_block);

void th_cull_sum(th_cull *cull, uint32_t view);
void th_cull_scatter(th_cull *cull, uint32_t view, uint32_t begin_block, uint32_t end_block);

/* Valid from th_cull_scatter until the view's next th_cull_classify. */
const th_cull_group *th_cull_groups(const th_cull *cull, uint32_t view); /* mesh_count * lod_count, ordered by mesh,
                                                                            then by level; count may be 0 */
const uint32_t *th_cull_list(const th_cull *cull, uint32_t view); /* instances: those of all groups, then the hidden */
uint32_t th_cull_visible_count(const th_cull *cull, uint32_t view);

TH_API_END

#endif

/* The renderer draws crowds: meshes (render_mesh.h) moved by bone palettes that lie in a ring (ring.h), on a ground
 * under a sky, with one sun and its shadows. It knows no clips and no time.
 *
 * Palettes are not copied: the vertex shader reads them where workers wrote them, palette k of a draw for the instance
 * that gl_InstanceID counts as k. What is larger than a driver's storage block is drawn in chunks of whole characters.
 *
 * All calls on the context's thread. */
#ifndef THRONG_RENDER_CROWD_RENDERER_H
#define THRONG_RENDER_CROWD_RENDERER_H

#include <throng/anim/palette.h>
#include <throng/core/api.h>
#include <throng/render/camera.h>
#include <throng/render/render_mesh.h>
#include <throng/render/ring.h>
#include <throng/render/target.h>

TH_API_BEGIN

typedef struct th_crowd_renderer th_crowd_renderer;

/* How the vertex shader reads palettes; the pictures are the same. */
typedef enum th_fetch {
    TH_FETCH_AUTO = 0, /* texture for software renderers, which read storage blocks slowly; else storage */
    TH_FETCH_STORAGE,  /* a shader storage block */
    TH_FETCH_TEXTURE,  /* a buffer texture on the same memory */
} th_fetch;

typedef struct th_crowd_renderer_desc {
    const th_gl *gl;
    const th_render_mesh *const *meshes; /* may be destroyed afterwards */
    uint32_t mesh_count;
    th_palette palette;
    th_fetch fetch;
    uint32_t shadow_pixels; /* a side of the shadow map; 0: no shadows */
    size_t block_bytes;     /* palettes in one chunk at most; 0: what the driver takes */
} th_crowd_renderer_desc;

/* TH_ERR_MEMORY, TH_ERR_ENVIRONMENT (shaders; a shadow map, an image or a palette too large for the driver). */
th_result th_crowd_renderer_create(const th_crowd_renderer_desc *desc, th_crowd_renderer **out, th_error *err);
void th_crowd_renderer_destroy(th_crowd_renderer *renderer); /* NULL does nothing */

th_fetch th_crowd_renderer_get_fetch(const th_crowd_renderer *renderer); /* never AUTO */
const char *th_fetch_name(th_fetch fetch);                               /* "storage", "texture" */

/* Per-instance data, as the GPU reads it: 32 bytes. */
typedef struct th_gpu_instance {
    float position[3], scale; /* scene units; of the model's size */
    float heading[2]; /* cosine and sine of the angle about the vertical axis: (0, 0, 1) turns to (sin, 0, cos) */
    uint8_t tint[4];  /* sRGB, and how much of it */
    uint32_t unused;
} th_gpu_instance;

/* Some characters of one mesh at one level of detail. */
typedef struct th_draw {
    uint32_t mesh, lod;
    uint32_t count;
    size_t palette_offset, palette_stride; /* of the first, and from one to the next; bytes in the ring's slot, a
                                              multiple of 64 */
    size_t instance_offset;                /* of the first th_gpu_instance; bytes in the slot, a multiple of 16 */
    bool shadow_only;                      /* they are out of sight, and their shadows are not */
} th_draw;

/* What the picture is of. Matrices are column-major, for OpenGL's clip space. */
typedef struct th_view {
    float clip_from_world[16];
    float eye[3];
    float to_sun[3];                       /* of length 1 */
    float shadow_center[3], shadow_radius; /* the ball within which shadows fall */
    float ground_height, ground_cell;      /* cell: between lines; 0: no ground */
    float ground_reach;                    /* half a side of the ground, around the eye */
    float fog_density;                     /* as exp(-density * distance squared) */
    bool plain;                            /* tints alone, no materials: for heat maps */
    bool skeletons;                        /* bones as lines, instead of meshes */
} th_view;

/* What would be in the shadow map. It goes on towards the sun: what is there is drawn as if it were at that end. False
 * and all zero where there are no shadows. */
bool th_crowd_renderer_shadow_frustum(const th_crowd_renderer *renderer, const th_view *view, th_frustum *out);

/* Draws to the target, which is bound afterwards and not resolved. The ring's current slot holds what draws speak of,
 * and has ended (th_ring_end); th_ring_fence is the caller's. */
void th_crowd_renderer_draw(th_crowd_renderer *renderer, const th_target *target, const th_view *view,
                            const th_ring *ring, const th_draw *draws, uint32_t draw_count);

TH_API_END

#endif

/* Draws crowds: meshes (render_mesh.h) moved by bone palettes in a ring buffer (ring.h), with a ground, a sky, one sun
 * and its shadows. It knows no clips and no time.
 *
 * Palettes are not copied. The vertex shader reads them where the workers wrote them; instance gl_InstanceID of a draw
 * uses that draw's palette of the same index, unless the draw's instances share palettes. A draw whose palettes exceed
 * the driver's storage block is split into chunks of whole characters.
 *
 * All calls on the context's thread. */
#ifndef THRONG_RENDER_CROWD_RENDERER_H
#define THRONG_RENDER_CROWD_RENDERER_H

#include <anim/palette.h>
#include <render/camera.h>
#include <render/layout.h>
#include <render/render_mesh.h>
#include <render/ring.h>
#include <render/target.h>

typedef struct th_crowd_renderer th_crowd_renderer;

typedef struct th_crowd_renderer_desc {
    const th_gl *gl;
    const th_render_mesh *const *meshes; /* may be destroyed after th_crowd_renderer_create */
    uint32_t mesh_count;
    th_format palette;
    th_fetch fetch;
    uint32_t shadow_pixels; /* width and height of the shadow map; 0: no shadows */
    size_t block_bytes;     /* most palette bytes per chunk; 0: the driver's limit */
    th_layout_kind ground;  /* of which layout; a grid and a ring have the plain one */
} th_crowd_renderer_desc;

/* TH_ERR_MEMORY. TH_ERR_ENVIRONMENT: a shader does not compile, or a shadow map, an image or a palette exceeds the
 * driver's limits. */
th_result th_crowd_renderer_create(const th_crowd_renderer_desc *desc, th_crowd_renderer **out, th_error *err);
void th_crowd_renderer_destroy(th_crowd_renderer *renderer); /* NULL does nothing */

/* What a draw can bind at once, and so the most that palettes may take which its instances share. */
size_t th_crowd_renderer_most_shared_bytes(const th_crowd_renderer *renderer);

th_fetch th_crowd_renderer_get_fetch(const th_crowd_renderer *renderer); /* never AUTO */
const char *th_fetch_name(th_fetch fetch);                               /* "storage", "texture" */

enum { TH_GPU_INSTANCE_PALETTE_BITS = 22 };
#define TH_GPU_INSTANCE_PALETTES (1u << TH_GPU_INSTANCE_PALETTE_BITS)

/* Per-instance data as the GPU reads it; 32 bytes. */
typedef struct th_gpu_instance {
    float position[3], scale; /* position in scene units; scale relative to the model */
    float heading[2]; /* cosine and sine of the rotation about the Y axis, which turns (0, 0, 1) to (sin, 0, cos) */
    uint8_t tint[4];  /* sRGB, and the strength of the tint */
    uint32_t palette : TH_GPU_INSTANCE_PALETTE_BITS;         /* in a draw that shares: which of its palettes */
    uint32_t appearance : 32 - TH_GPU_INSTANCE_PALETTE_BITS; /* of a mesh with appearances: which, below their count */
} th_gpu_instance;

/* Characters of one mesh at one level of detail. */
typedef struct th_draw {
    uint32_t mesh, lod;  /* lod: beyond the last level of the mesh, the last */
    uint32_t shadow_lod; /* the least level in the shadow map, which may be coarser than the picture */
    uint32_t count;
    uint32_t shared; /* palettes that its instances share, in at most th_crowd_renderer_most_shared_bytes; 0: each has
                        its own */
    uint32_t frames_ago; /* the ring slot with the palettes: of the frame, 0, or of one before (th_ring_get_held) */
    size_t palette_offset,
        palette_stride;     /* of the first palette, and from one to the next; bytes in that slot, multiples of 64 */
    size_t instance_offset; /* of the first th_gpu_instance; bytes in the ring slot, a multiple of 16 */
    float footprint;        /* reach of the soft shadow on the ground below its first bone, in model units; 0: none */
    bool shadow_only;       /* out of sight, but with a visible shadow */
} th_draw;

/* What to draw besides the characters, and from where. Matrices are column-major, to OpenGL's clip space. */
typedef struct th_view {
    float clip_from_world[16];
    float eye[3];
    float to_sun[3];                            /* length 1 */
    float shadow_center[3], shadow_radius;      /* shadows fall within this sphere */
    float ground_height, ground_cell;           /* cell: distance between grid lines; 0: no ground */
    float ground_reach;                         /* half the side of the ground, which is centred on the eye */
    const struct th_surroundings *surroundings; /* of the layout that `ground` names; NULL: none. Private to render */
    float fog_density;                          /* the fog lets through exp(-density * distance^2) */
    bool plain;                                 /* tints without materials, for heat maps */
    bool skeletons;                             /* bones as lines instead of meshes; always of models without a mesh */
} th_view;

/* The frustum of the shadow map, for culling. It has no end towards the sun: what lies beyond that end is drawn at it.
 * Returns false and zeros when there are no shadows. */
bool th_crowd_renderer_shadow_frustum(const th_crowd_renderer *renderer, const th_view *view, th_frustum *out);

/* Draws to the target. Leaves it bound and not resolved. The ring's current slot must hold the palettes and instances
 * of all draws and must have ended (th_ring_end). The caller calls th_ring_fence. */
void th_crowd_renderer_draw(th_crowd_renderer *renderer, const th_target *target, const th_view *view,
                            const th_ring *ring, const th_draw *draws, uint32_t draw_count);

/* Calls that drew the last picture and its shadow map. */
uint32_t th_crowd_renderer_draw_calls(const th_crowd_renderer *renderer);

/* ---- what was drawn, for checks ---- */

/* A character of the last picture, as the calls that draw it name it. */
typedef struct th_drawn {
    th_gpu_instance at;
    uint32_t mesh;
    uint32_t finest, coarsest; /* levels of detail with the triangles that are drawn; TH_NO_INDEX: none has them */
    bool shadow_only;          /* levels: all */
    th_ring_binding palette;
} th_drawn;

/* Reads back from the buffers that are drawn from, which waits for the GPU. The caller frees *out. TH_ERR_MEMORY. */
th_result th_crowd_renderer_read(const th_crowd_renderer *renderer, th_drawn **out, uint32_t *out_count, th_error *err);

#endif

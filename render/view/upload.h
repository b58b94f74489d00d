/* A render mesh in GPU memory. Private to render. */
#ifndef TH_RENDER_VIEW_UPLOAD_H
#define TH_RENDER_VIEW_UPLOAD_H

#include <glad/gl.h>
#include <render/render_mesh.h>

#include <assert.h>

/* Vertex buffer bindings. */
enum { TH_UPLOAD_VERTICES, TH_UPLOAD_INSTANCES };

/* Parts of the render mesh that are drawn alike are one, so that each of its levels is one call. */
typedef struct th_upload_part {
    th_render_mesh_lod lods[TH_RENDER_MESH_LODS]; /* [th_upload.lod_count] indices count from the first vertex of all */
    th_culling culling;
    th_render_mesh_material material;
    GLuint image; /* white if the material has none */
} th_upload_part;

/* What a mesh's vertex shader has to do: bits of its variant. */
enum { TH_UPLOAD_MORPH = 1, TH_UPLOAD_EIGHT = 2, TH_UPLOAD_APPEARANCES = 4, TH_UPLOAD_VARIANTS = 8 };

typedef struct th_upload {
    struct th_arena *arena;
    GLuint buffers[6];  /* vertices, indices, line ends, deltas, places, appearances */
    GLuint places;      /* a texture of the bones' places in the bind pose */
    GLuint deltas;      /* a texture of the deltas; 0 if the model has no morph targets */
    GLuint appearances; /* a texture of the regions of all appearances; 0 if the model has none */
    GLuint mesh_array, skeleton_array;
    GLuint *images; /* the render mesh's images, then a white one; NULL: those of the base */
    uint32_t image_count;
    th_upload_part *parts;
    uint32_t alphas;  /* of all parts: bits 1 << TH_ALPHA_... */
    uint32_t variant; /* bits TH_UPLOAD_... */
    uint32_t part_count, lod_count, line_end_count, bone_count, palette_entries, region_count;
} th_upload;

/* All levels that a mesh lacks are its last. */
static inline uint32_t th_upload_level(const th_upload *upload, uint32_t lod)
{
    assert(upload->lod_count > 0);
    const uint32_t last = upload->lod_count - 1;
    return lod < last ? lod : last;
}

/* base: of mesh->base, and in use as long; NULL: none, or it is not uploaded. Call th_upload_fini in any case.
 */
th_result th_upload_init(th_upload *upload, const th_render_mesh *mesh, const th_upload *base, th_error *err);
void th_upload_fini(th_upload *upload);

#endif

/* Draws of which the GPU knows the counts: gpu_cull.c writes them, crowd_renderer.c draws them. Private to render.
 *
 * All commands of a mesh lie together: those of its skeleton, of the shadows at its feet, and of each of its parts.
 * Each has as many for every chunk of the mesh's characters: a level of detail each of the picture, of the shadow map,
 * and of those that are only in the map. */
#ifndef TH_RENDER_VIEW_INDIRECT_H
#define TH_RENDER_VIEW_INDIRECT_H

#include <render/crowd_renderer.h>

enum { TH_INDIRECT_COMMANDS = 3 * TH_RENDER_MESH_LODS };

/* What is drawn of a mesh: these, then its parts. */
enum { TH_INDIRECT_SKELETON, TH_INDIRECT_CONTACTS, TH_INDIRECT_PARTS };

/* For glMultiDrawElementsIndirect. Of what has no indices for glMultiDrawArraysIndirect: then base_vertex is the base
 * instance, and what follows is not read. */
typedef struct th_indirect_command {
    uint32_t count, instance_count, first, base_vertex, base_instance;
} th_indirect_command;

/* Instance i of a draw has the palette at its th_gpu_instance.palette in the chunk. */
typedef struct th_indirect_mesh {
    uint32_t first_command;
    uint32_t most;               /* characters */
    uint32_t chunk, chunk_count; /* how many are in a chunk, so that their palettes can be bound at once */
    size_t palette_offset, palette_stride;
    uint32_t shadow_lod; /* as in th_draw, like the next */
    float footprint;
} th_indirect_mesh;

typedef struct th_indirect {
    uint32_t commands, instances, palettes; /* buffers */
    const th_indirect_mesh *meshes;         /* [mesh] */
} th_indirect;

/* Characters of the k-th chunk, at most. */
static inline uint32_t th_indirect_chunk(const th_indirect_mesh *mesh, uint32_t k)
{
    const uint32_t rest = mesh->most - k * mesh->chunk;
    return rest < mesh->chunk ? rest : mesh->chunk;
}

/* As th_crowd_renderer_draw. */
void th_crowd_renderer_draw_indirect(th_crowd_renderer *renderer, const th_target *target, const th_view *view,
                                     const th_indirect *indirect);

struct th_upload;

const struct th_upload *th_crowd_renderer_upload(const th_crowd_renderer *renderer, uint32_t mesh);

#endif

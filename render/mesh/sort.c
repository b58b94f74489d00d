#include "geometry.h"

#include <meshoptimizer.h>
#include <stdlib.h>
#include <string.h>

/* Vertex cache misses may grow by this factor to reduce overdraw; meshoptimizer's recommendation. */
#define OVERDRAW_THRESHOLD 1.05F

static void order_triangles(const th_render_mesh_part *part, const th_render_mesh_lod *lod, th_geometry *g,
                            uint32_t *scratch)
{
    uint32_t *indices = g->indices + lod->first_index;
    const float *positions = g->vertices[part->base_vertex].position;
    meshopt_optimizeVertexCache(scratch, indices, lod->index_count, part->vertex_count);
    meshopt_optimizeOverdraw(indices, scratch, lod->index_count, positions, part->vertex_count, sizeof *g->vertices,
                             OVERDRAW_THRESHOLD);
}

/* Orders vertices by first use, starting with the coarsest level. Most of a crowd is far away, and then touches few
 * cache lines. */
static void order_vertices(const th_render_mesh_part *part, th_geometry *g, uint32_t *scratch, uint32_t *remap)
{
    size_t count = 0;
    for (uint32_t l = g->lod_count; l-- > 0;) {
        if (th_geometry_repeats(part, l))
            continue;
        const th_render_mesh_lod *lod = &part->lods[l];
        memcpy(scratch + count, g->indices + lod->first_index, lod->index_count * sizeof *scratch);
        count += lod->index_count;
    }
    meshopt_optimizeVertexFetchRemap(remap, scratch, count, part->vertex_count);
    th_render_mesh_vertex *vertices = g->vertices + part->base_vertex;
    meshopt_remapVertexBuffer(vertices, vertices, part->vertex_count, sizeof *vertices, remap);
    for (uint32_t l = 0; l < g->lod_count; l++) {
        uint32_t *indices = g->indices + part->lods[l].first_index;
        if (!th_geometry_repeats(part, l))
            meshopt_remapIndexBuffer(indices, indices, part->lods[l].index_count, remap);
    }
}

th_result th_geometry_order(th_geometry *g, th_error *err)
{
    uint32_t *scratch = malloc((g->index_count + (size_t)1) * sizeof *scratch);
    uint32_t *remap = malloc((g->vertex_count + (size_t)1) * sizeof *remap);
    for (uint32_t p = 0; scratch && remap && p < g->part_count; p++) {
        for (uint32_t l = 0; l < g->lod_count; l++)
            if (!th_geometry_repeats(&g->parts[p], l))
                order_triangles(&g->parts[p], &g->parts[p].lods[l], g, scratch);
        order_vertices(&g->parts[p], g, scratch, remap);
    }
    const bool done = scratch && remap;
    free(scratch);
    free(remap);
    return done ? TH_OK : th_fail(err, TH_ERR_MEMORY, "out of memory for the order of the meshes");
}

#include "geometry.h"

#include "pack.h"

#include <assert.h>
#include <meshoptimizer.h>
#include <stdlib.h>
#include <string.h>

static th_result no_memory(th_error *err)
{
    return th_fail(err, TH_ERR_MEMORY, "out of memory for the meshes");
}

void th_geometry_free(th_geometry *geometry)
{
    for (uint32_t p = 0; p < geometry->part_count; p++)
        free((char *)geometry->parts[p].name);
    free(geometry->parts);
    free(geometry->vertices);
    free(geometry->indices);
    free(geometry->deltas);
    *geometry = (th_geometry){0};
}

bool th_geometry_repeats(const th_render_mesh_part *part, uint32_t lod)
{
    assert(lod < TH_RENDER_MESH_LODS);
    return lod > 0 && part->lods[lod].first_index == part->lods[lod - 1].first_index &&
           part->lods[lod].index_count == part->lods[lod - 1].index_count;
}

static th_result allocate(const th_model *model, th_geometry *g, th_error *err)
{
    uint64_t parts = 0, vertices = 0, indices = 0;
    for (uint32_t m = 0; m < model->mesh_count; m++) {
        if (model->meshes[m].index_count == 0)
            continue;
        parts++;
        vertices += model->meshes[m].vertex_count;
        indices += model->meshes[m].index_count;
    }
    if (indices > TH_RENDER_MESH_MAX_INDICES)
        return th_fail(err, TH_ERR_LIMIT, "%llu triangles, the limit is %u", (unsigned long long)indices / 3,
                       TH_RENDER_MESH_MAX_INDICES / 3);
    if (parts == 0)
        return TH_OK;
    g->parts = calloc(parts, sizeof *g->parts);
    g->vertices = malloc(vertices * sizeof *g->vertices);
    g->indices = malloc(indices * sizeof *g->indices);
    return g->parts && g->vertices && g->indices ? TH_OK : no_memory(err);
}

/* Appends a part. */
static th_result pack_part(const th_mesh *mesh, uint32_t index, th_geometry *g, th_error *err)
{
    assert(mesh->index_count > 0 && mesh->index_count % 3 == 0);
    char *name = strdup(mesh->name);
    th_render_mesh_vertex *packed = malloc(mesh->vertex_count * sizeof *packed);
    uint32_t *remap = malloc(mesh->vertex_count * sizeof *remap);
    double uv_offset[2];
    th_pack_uv_offset(mesh, uv_offset);
    for (uint32_t v = 0; packed && v < mesh->vertex_count; v++)
        th_pack_vertex(&mesh->vertices[v], uv_offset, &packed[v]);
    if (!name || !packed || !remap || !th_geometry_add_deltas(mesh, g, packed)) {
        free(name);
        free(packed);
        free(remap);
        return no_memory(err);
    }
    const size_t count = meshopt_generateVertexRemap(remap, mesh->indices, mesh->index_count, packed,
                                                     mesh->vertex_count, sizeof *packed);
    meshopt_remapVertexBuffer(g->vertices + g->vertex_count, packed, mesh->vertex_count, sizeof *packed, remap);
    meshopt_remapIndexBuffer(g->indices + g->index_count, mesh->indices, mesh->index_count, remap);
    g->parts[g->part_count++] = (th_render_mesh_part){.name = name,
                                                      .mesh = index,
                                                      .material = mesh->material,
                                                      .base_vertex = g->vertex_count,
                                                      .vertex_count = (uint32_t)count,
                                                      .lods = {{g->index_count, mesh->index_count, 0}}};
    g->vertex_count += (uint32_t)count;
    g->index_count += mesh->index_count;
    assert(count <= mesh->vertex_count);
    free(packed);
    free(remap);
    return TH_OK;
}

th_result th_geometry_pack(const th_model *model, th_geometry *out, th_error *err)
{
    assert(model && out);
    *out = (th_geometry){.lod_count = 1};
    th_result result = allocate(model, out, err);
    for (uint32_t m = 0; result == TH_OK && m < model->mesh_count; m++)
        if (model->meshes[m].index_count > 0)
            result = pack_part(&model->meshes[m], m, out, err);
    return result;
}

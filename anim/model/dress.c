#include "vertices.h"

#include <core/arena.h>
#include <core/random.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define APPEARANCES_STREAM 0x6C6F6F6B73u /* apart from what else is drawn from a seed */

uint32_t th_appearances_pick(const th_appearances *appearances, uint64_t seed, uint32_t instance)
{
    assert(appearances);
    return appearances->count > 0 ? (uint32_t)(th_random_bits(seed ^ APPEARANCES_STREAM, instance) % appearances->count)
                                  : 0;
}

double th_appearance_linear(uint8_t srgb)
{
    const double c = srgb / 255.0;
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

float th_appearance_inwards(const th_appearances *appearances, const th_appearance_region *region)
{
    assert(appearances && region && region->tightness != TH_APPEARANCE_NOT_WORN);
    return appearances->slack * (float)region->tightness / 254;
}

/* As shaders/crowd.vert. */
static th_vertex dress_vertex(const th_appearances *appearances, const th_appearance_region *regions,
                              const th_vertex *vertex)
{
    const th_appearance_region *region = &regions[vertex->color[TH_APPEARANCE_REGION]];
    const double inwards =
        vertex->color[TH_APPEARANCE_SLACK] / 255.0 * (double)th_appearance_inwards(appearances, region);
    const double shade = vertex->color[TH_APPEARANCE_SHADE] / 255.0;
    th_vertex out = *vertex;
    for (int i = 0; i < 3; i++) {
        out.position[i] = (float)((double)vertex->position[i] - inwards * (double)vertex->normal[i]);
        out.color[i] = (uint8_t)lrint(255 * shade * th_appearance_linear(region->color[i]));
    }
    out.color[3] = 255;
    return out;
}

static bool is_worn(const th_appearance_region *regions, const th_vertex *vertex)
{
    return regions[vertex->color[TH_APPEARANCE_REGION]].tightness != TH_APPEARANCE_NOT_WORN;
}

th_result th_model_dress(const th_model *model, uint32_t appearance, th_model **out, th_error *err)
{
    assert(model && appearance < model->appearances.count && out);
    const th_appearance_region *regions =
        model->appearances.regions + (size_t)appearance * model->appearances.region_count;
    th_arena *arena = th_arena_create();
    th_model *dressed = th_arena_copy(arena, model, 1, sizeof *dressed);
    th_mesh *meshes = th_arena_copy(arena, model->meshes, model->mesh_count, sizeof *meshes);
    uint32_t *kept = calloc(th_vertices_count(model) + 1u, sizeof *kept); /* by vertex of a mesh: its new index */
    bool ok = kept && !th_arena_failed(arena);
    for (uint32_t m = 0; ok && m < model->mesh_count; m++) {
        const th_mesh *from = &model->meshes[m];
        th_vertex *vertices = th_arena_new(arena, th_vertex, from->vertex_count);
        uint32_t *indices = th_arena_new(arena, uint32_t, from->index_count), vertex_count = 0, index_count = 0;
        ok = !th_arena_failed(arena);
        for (uint32_t v = 0; ok && v < from->vertex_count; v++) {
            kept[v] = vertex_count;
            if (is_worn(regions, &from->vertices[v]))
                vertices[vertex_count++] = dress_vertex(&model->appearances, regions, &from->vertices[v]);
        }
        for (uint32_t i = 0; ok && i < from->index_count; i++)
            if (is_worn(regions, &from->vertices[from->indices[i]]))
                indices[index_count++] = kept[from->indices[i]];
        meshes[m].vertices = vertices;
        meshes[m].vertex_count = vertex_count;
        meshes[m].indices = indices;
        meshes[m].index_count = index_count;
    }
    free(kept);
    if (!ok) {
        th_arena_destroy(arena);
        return th_fail(err, TH_ERR_MEMORY, "there is no memory left for an appearance of %s", model->name);
    }
    dressed->arena = arena;
    dressed->appearances = (th_appearances){0};
    dressed->meshes = meshes;
    *out = dressed;
    return TH_OK;
}

#include <throng/anim/model.h>

#include <core/arena.h>
#include <core/random.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* Keeps the vertices and triangles that are worn. */
static bool dress_mesh(const th_appearances *appearances, const th_appearance_region *regions, th_arena *arena,
                       th_mesh *mesh)
{
    th_vertex *vertices = th_arena_new(arena, th_vertex, mesh->vertex_count);
    uint32_t *indices = th_arena_new(arena, uint32_t, mesh->index_count);
    uint32_t *kept = malloc((mesh->vertex_count + 1u) * sizeof *kept), vertex_count = 0, index_count = 0;
    const bool ok = vertices && indices && kept;
    for (uint32_t v = 0; ok && v < mesh->vertex_count; v++) {
        kept[v] = vertex_count;
        if (is_worn(regions, &mesh->vertices[v]))
            vertices[vertex_count++] = dress_vertex(appearances, regions, &mesh->vertices[v]);
    }
    for (uint32_t i = 0; ok && i < mesh->index_count; i++)
        if (is_worn(regions, &mesh->vertices[mesh->indices[i]]))
            indices[index_count++] = kept[mesh->indices[i]];
    free(kept);
    mesh->vertices = vertices;
    mesh->vertex_count = vertex_count;
    mesh->indices = indices;
    mesh->index_count = index_count;
    return ok;
}

th_result th_model_dress(const th_model *model, uint32_t appearance, th_model **out, th_error *err)
{
    assert(model && appearance < model->appearances.count && out);
    th_arena *arena = th_arena_create();
    th_model *dressed = arena ? th_arena_new(arena, th_model, 1) : NULL;
    th_mesh *meshes = dressed ? th_arena_copy(arena, model->meshes, model->mesh_count, sizeof *meshes) : NULL;
    const th_appearance_region *regions =
        model->appearances.regions + (size_t)appearance * model->appearances.region_count;
    bool ok = meshes;
    for (uint32_t m = 0; ok && m < model->mesh_count; m++)
        ok = dress_mesh(&model->appearances, regions, arena, &meshes[m]);
    if (!ok) {
        th_arena_destroy(arena);
        return th_fail(err, TH_ERR_MEMORY, "there is no memory left for an appearance of %s", model->name);
    }
    *dressed = *model;
    dressed->arena = arena;
    dressed->appearances = (th_appearances){0};
    dressed->meshes = meshes;
    *out = dressed;
    return TH_OK;
}

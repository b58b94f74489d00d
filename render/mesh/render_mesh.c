#include <throng/render/render_mesh.h>

#include "bones.h"
#include "geometry.h"
#include "image.h"
#include "pack.h"
#include "warnings.h"

#include <throng/anim/joint_lod.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(TH_RENDER_MESH_LODS == TH_LOD_LEVELS, "a joint level for each");

typedef struct builder {
    const th_model *model;
    const th_render_mesh *base;
    th_geometry geometry;
    th_mesh_warnings warnings;
    th_render_mesh_material *materials;
    th_render_mesh_image *images;
    uint32_t image_count;
    th_appearances appearances;
    th_render_mesh_bone *bones;
    th_render_mesh_line_end *line_ends;
    uint32_t line_end_count;
} builder;

static void free_image(th_render_mesh_image *image)
{
    free((char *)image->name);
    th_image_free(image);
}

static void free_builder(builder *b)
{
    th_geometry_free(&b->geometry);
    th_mesh_warnings_free(&b->warnings);
    for (uint32_t i = 0; !b->base && i < b->image_count; i++)
        free_image(&b->images[i]);
    free(b->base ? NULL : b->images);
    free(b->materials);
    free((th_appearance_region *)b->appearances.regions);
    free((float *)b->appearances.statures);
    free(b->bones);
    free(b->line_ends);
}

static th_result no_memory(th_error *err)
{
    return th_fail(err, TH_ERR_MEMORY, "out of memory for the render mesh");
}

/* ---- materials ---- */

/* Textures that no part uses are not decoded. */
static void mark_textures(const builder *b, uint32_t *image_of)
{
    for (uint32_t p = 0; p < b->geometry.part_count; p++) {
        const uint32_t texture = b->model->materials[b->geometry.parts[p].material].texture;
        if (texture != TH_NO_INDEX)
            image_of[texture] = 0;
    }
}

static bool decode(builder *b, uint32_t texture, size_t *room, uint32_t *image)
{
    const th_texture *from = &b->model->textures[texture];
    const size_t most = *room < TH_RENDER_MESH_MAX_IMAGE_BYTES ? *room : TH_RENDER_MESH_MAX_IMAGE_BYTES;
    th_render_mesh_image *to = &b->images[b->image_count];
    th_error why;
    *image = TH_NO_INDEX;
    if (th_image_decode(from->bytes, from->byte_count, most, to, &why) != TH_OK)
        return th_mesh_warnings_add(&b->warnings, "texture %s %s; a plain colour takes its place", from->name,
                                    why.text);
    to->name = strdup(from->name);
    if (!to->name) {
        th_image_free(to);
        return false;
    }
    *room -= 4 * (size_t)to->width * to->height;
    *image = b->image_count++;
    return true;
}

static bool make_images(builder *b, uint32_t *image_of)
{
    size_t room = TH_RENDER_MESH_MAX_IMAGES;
    memset(image_of, 0xff, b->model->texture_count * sizeof *image_of);
    mark_textures(b, image_of);
    for (uint32_t t = 0; t < b->model->texture_count; t++)
        if (image_of[t] != TH_NO_INDEX && !decode(b, t, &room, &image_of[t]))
            return false;
    return true;
}

/* Those of the base: joint levels have the meshes and materials of their model. */
static th_result share_materials(builder *b, th_error *err)
{
    const th_render_mesh *base = b->base;
    assert(base->material_count == b->model->material_count && base->part_count == b->geometry.part_count);
    b->images = (th_render_mesh_image *)base->images;
    b->image_count = base->image_count;
    b->materials = calloc(base->material_count + (size_t)1, sizeof *b->materials);
    if (!b->materials)
        return no_memory(err);
    for (uint32_t m = 0; m < base->material_count; m++)
        b->materials[m] = base->materials[m];
    return TH_OK;
}

static th_result make_materials(builder *b, th_error *err)
{
    const th_model *model = b->model;
    uint32_t *image_of = malloc((model->texture_count + (size_t)1) * sizeof *image_of);
    b->images = calloc(model->texture_count + (size_t)1, sizeof *b->images);
    b->materials = calloc(model->material_count + (size_t)1, sizeof *b->materials);
    if (!image_of || !b->images || !b->materials || !make_images(b, image_of)) {
        free(image_of);
        return no_memory(err);
    }
    for (uint32_t m = 0; m < model->material_count; m++) {
        const th_material *from = &model->materials[m];
        b->materials[m].image = from->texture == TH_NO_INDEX ? TH_NO_INDEX : image_of[from->texture];
        memcpy(b->materials[m].base_color, from->base_color, sizeof from->base_color);
        b->materials[m].alpha = from->alpha;
        b->materials[m].alpha_cutoff = from->alpha_cutoff;
        memcpy(b->materials[m].emissive, from->emissive, sizeof from->emissive);
    }
    free(image_of);
    return TH_OK;
}

static th_result copy_appearances(builder *b, th_error *err)
{
    const th_appearances *from = &b->model->appearances;
    if (from->count == 0)
        return TH_OK;
    const size_t regions = (size_t)from->count * from->region_count;
    th_appearance_region *own = malloc(regions * sizeof *own);
    float *statures = malloc(from->count * sizeof *statures);
    b->appearances = (th_appearances){from->count, from->region_count, from->slack, own, statures};
    if (!own || !statures)
        return no_memory(err);
    memcpy(own, from->regions, regions * sizeof *own);
    memcpy(statures, from->statures, from->count * sizeof *statures);
    return TH_OK;
}

/* Half-precision coordinates resolve one pixel of an image 2048 wide, and less if the image repeats often. Larger
 * errors give a warning. */
static th_result check_coordinates(builder *b, th_error *err)
{
    for (uint32_t p = 0; p < b->geometry.part_count; p++) {
        const th_render_mesh_part *part = &b->geometry.parts[p];
        const uint32_t image = b->materials[part->material].image;
        if (image == TH_NO_INDEX)
            continue;
        const double error =
            th_pack_uv_error(&b->model->meshes[part->mesh], b->images[image].width, b->images[image].height);
        if (error > 1 &&
            !th_mesh_warnings_add(&b->warnings, "mesh %s: texture coordinates are rounded by up to %.3g pixels",
                                  part->name, error))
            return no_memory(err);
    }
    return TH_OK;
}

/* ---- skeleton ---- */

static th_result make_bones(builder *b, th_error *err)
{
    b->bones = malloc((b->model->bone_count + (size_t)1) * sizeof *b->bones);
    b->line_ends = malloc((2 * (size_t)b->model->joint_count + 1) * sizeof *b->line_ends);
    if (!b->bones || !b->line_ends)
        return no_memory(err);
    th_bone_spheres(b->model, b->geometry.vertices, b->geometry.vertex_count, b->bones);
    return th_skeleton_lines(b->model, b->bones, b->line_ends, &b->line_end_count) ? TH_OK : no_memory(err);
}

/* ---- the render mesh ---- */

double th_render_mesh_lod_limit(uint32_t lod)
{
    assert(lod < TH_RENDER_MESH_LODS);
    return th_lod_limit(lod);
}

static th_result build(builder *b, th_error *err)
{
    th_result result = th_geometry_pack(b->model, &b->geometry, err);
    if (result == TH_OK)
        result = b->base ? share_materials(b, err) : make_materials(b, err);
    if (result == TH_OK)
        result = copy_appearances(b, err);
    if (result == TH_OK)
        result = check_coordinates(b, err);
    if (result == TH_OK)
        result = th_geometry_coarsen(b->model, &b->geometry, err);
    if (result == TH_OK)
        result = th_geometry_correct_normals(&b->geometry, err);
    if (result == TH_OK)
        result = th_geometry_order(&b->geometry, err);
    if (result == TH_OK)
        result = make_bones(b, err);
    if (result == TH_OK)
        result = th_geometry_set_culling(b->model, &b->geometry, err);
    return result;
}

/* Shrinks an array to its size; NULL if it is empty. */
static void *fit(void *array, size_t count, size_t size)
{
    if (count == 0) {
        free(array);
        return NULL;
    }
    void *smaller = realloc(array, count * size);
    return smaller ? smaller : array;
}

static uint32_t find_influences(const th_render_mesh *render_mesh)
{
    for (uint32_t v = 0; v < render_mesh->vertex_count; v++)
        if (render_mesh->vertices[v].weight[4] > 0)
            return TH_MAX_INFLUENCES;
    return 4;
}

static void hand_over(builder *b, th_render_mesh *out)
{
    assert(b->geometry.lod_count >= 1 && b->geometry.lod_count <= TH_RENDER_MESH_LODS);
    const th_geometry *g = &b->geometry;
    *out = (th_render_mesh){
        .part_count = g->part_count,
        .parts = fit(g->parts, g->part_count, sizeof *g->parts),
        .vertex_count = g->vertex_count,
        .vertices = fit(g->vertices, g->vertex_count, sizeof *g->vertices),
        .index_count = g->index_count,
        .indices = fit(g->indices, g->index_count, sizeof *g->indices),
        .delta_count = g->delta_count,
        .deltas = fit(g->deltas, g->delta_count, sizeof *g->deltas),
        .lod_count = g->lod_count,
        .material_count = b->model->material_count,
        .materials = fit(b->materials, b->model->material_count, sizeof *b->materials),
        .image_count = b->image_count,
        .images = b->base ? b->images : fit(b->images, b->image_count, sizeof *b->images),
        .base = b->base,
        .appearances = b->appearances,
        .bone_count = b->model->bone_count,
        .weight_count = b->model->weight_count,
        .bones = fit(b->bones, b->model->bone_count, sizeof *b->bones),
        .line_end_count = b->line_end_count,
        .line_ends = fit(b->line_ends, b->line_end_count, sizeof *b->line_ends),
        .warning_count = b->warnings.count,
        .warnings = (const char *const *)b->warnings.texts,
        .size = b->model->size,
    };
    out->influences = find_influences(out);
    for (uint32_t l = 0; l < out->lod_count; l++)
        for (uint32_t p = 0; p < out->part_count; p++)
            out->lod_error[l] = fmaxf(out->lod_error[l], out->parts[p].lods[l].error);
}

th_result th_render_mesh_create(const th_model *model, const th_render_mesh *base, th_render_mesh **out, th_error *err)
{
    assert(model && out);
    assert(model->joint_count > 0 && model->size > 0); /* it has passed th_model_check */
    *out = NULL;
    th_render_mesh *render_mesh = malloc(sizeof *render_mesh);
    builder b = {.model = model, .base = base};
    th_error why;
    const th_result result = render_mesh ? build(&b, &why) : no_memory(&why);
    if (result != TH_OK) {
        free_builder(&b);
        free(render_mesh);
        return th_fail(err, result, "%s: %s", model->name, why.text);
    }
    hand_over(&b, render_mesh);
    *out = render_mesh;
    return TH_OK;
}

void th_render_mesh_destroy(th_render_mesh *render_mesh)
{
    if (!render_mesh)
        return;
    builder b = {.geometry = {.parts = (th_render_mesh_part *)render_mesh->parts,
                              .vertices = (th_render_mesh_vertex *)render_mesh->vertices,
                              .indices = (uint32_t *)render_mesh->indices,
                              .deltas = (th_render_mesh_delta *)render_mesh->deltas,
                              .part_count = render_mesh->part_count},
                 .warnings = {(char **)render_mesh->warnings, render_mesh->warning_count},
                 .materials = (th_render_mesh_material *)render_mesh->materials,
                 .images = (th_render_mesh_image *)render_mesh->images,
                 .image_count = render_mesh->image_count,
                 .base = render_mesh->base,
                 .appearances = render_mesh->appearances,
                 .bones = (th_render_mesh_bone *)render_mesh->bones,
                 .line_ends = (th_render_mesh_line_end *)render_mesh->line_ends};
    free_builder(&b);
    free(render_mesh);
}

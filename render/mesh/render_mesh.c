#include <render/render_mesh.h>

#include "geometry.h"
#include "image.h"

#include <anim/joint_lod.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(TH_RENDER_MESH_LODS == TH_LOD_LEVELS, "a joint level for each");

/* A render mesh, and what its memory is in: the arena, which holds this too; but for the blocks of the geometry, and
 * what images were decoded to. */
typedef struct whole {
    th_render_mesh mesh; /* the first, so that its pointer is one to this */
    th_arena *arena;
    th_geometry geometry;
    char **warnings;
} whole;

double th_render_mesh_lod_limit(uint32_t lod)
{
    assert(lod < TH_RENDER_MESH_LODS);
    return th_lod_limit(lod);
}

/* An array of the arena as a render mesh has it: NULL if it is empty. */
static void *if_any(void *array, uint32_t count)
{
    return count > 0 ? array : NULL;
}

/* Decodes the textures of meshes with triangles. image_of: [texture]. What is missing the model warns of. */
static void make_images(whole *w, const th_model *model, th_render_mesh_image *images, uint32_t *image_of)
{
    size_t room = TH_RENDER_MESH_MAX_IMAGES;
    memset(image_of, 0xff, model->texture_count * sizeof *image_of);
    for (uint32_t m = 0; m < model->mesh_count; m++) {
        const uint32_t texture = model->materials[model->meshes[m].material].texture;
        if (texture != TH_NO_INDEX && model->meshes[m].index_count > 0)
            image_of[texture] = 0;
    }
    for (uint32_t t = 0; t < model->texture_count; t++) {
        const th_texture *from = &model->textures[t];
        const size_t most = room < TH_RENDER_MESH_MAX_IMAGE_BYTES ? room : TH_RENDER_MESH_MAX_IMAGE_BYTES;
        th_render_mesh_image *to = &images[w->mesh.image_count];
        th_error why;
        if (image_of[t] == TH_NO_INDEX)
            continue;
        if (th_image_decode(from->bytes, from->byte_count, most, to, &why) != TH_OK) {
            image_of[t] = TH_NO_INDEX;
            if (from->bytes)
                w->warnings[w->mesh.warning_count++] =
                    th_arena_format(w->arena, "texture %s %s; a plain colour takes its place", from->name, why.text);
            continue;
        }
        to->name = th_arena_string(w->arena, from->name);
        to->sampler = from->sampler;
        room -= 4 * (size_t)to->width * to->height;
        image_of[t] = w->mesh.image_count++;
    }
}

/* Bounding spheres. */
static void make_bones(const th_model *model, const th_geometry *g, th_render_mesh_bone *out)
{
    for (uint32_t b = 0; b < model->bone_count; b++) {
        out[b] = (th_render_mesh_bone){.radius = -1};
        th_bone_place(&model->bones[b], out[b].center);
    }
    for (uint32_t v = 0; v < g->vertex_count; v++) {
        const th_render_mesh_vertex *vertex = &g->vertices[v];
        for (uint32_t k = 0; k < TH_MAX_INFLUENCES && vertex->weight[k] > 0; k++) {
            th_render_mesh_bone *bone = &out[vertex->bone[k]];
            float joint[3];
            double sum = 0;
            if (bone->radius < 0 && !th_bone_place(&model->bones[vertex->bone[k]], joint))
                memcpy(bone->center, vertex->position, sizeof bone->center);
            for (int i = 0; i < 3; i++) {
                const double away = (double)vertex->position[i] - (double)bone->center[i];
                sum += away * away;
            }
            const double distance = sqrt(sum);
            if (distance > (double)bone->radius)
                bone->radius = distance > 0 ? nextafterf((float)distance, INFINITY) : 0;
        }
    }
}

/* Lines of the skeleton. bone_of: [joint] its first bone with a bind position, otherwise that of its nearest ancestor.
 * out has room for 2 * joint_count; returns the number of ends. */
static uint32_t make_lines(const th_model *model, const th_render_mesh_bone *bones, uint32_t *bone_of,
                           th_render_mesh_line_end *out)
{
    uint32_t count = 0;
    for (uint32_t j = 0, b = 0; j < model->joint_count; j++) {
        const uint32_t parent = model->joints[j].parent, above = parent == TH_NO_INDEX ? TH_NO_INDEX : bone_of[parent];
        uint32_t own = TH_NO_INDEX;
        float place[3];
        for (; b < model->bone_count && model->bones[b].joint == j; b++)
            if (own == TH_NO_INDEX && th_bone_place(&model->bones[b], place))
                own = b;
        bone_of[j] = own == TH_NO_INDEX ? above : own;
        for (int end = 0; end < 2 && own != TH_NO_INDEX && above != TH_NO_INDEX; end++) {
            th_render_mesh_line_end *to = &out[count++];
            to->bone = end == 0 ? above : own;
            memcpy(to->position, bones[to->bone].center, sizeof to->position);
        }
    }
    return count;
}

static th_result no_memory(th_error *err)
{
    return th_fail(err, TH_ERR_MEMORY, "out of memory for the render mesh");
}

/* A joint level has the materials of its model's mesh, and its images; that mesh has the warnings. */
static th_result build_materials(whole *w, const th_model *model, th_error *err)
{
    th_render_mesh *mesh = &w->mesh;
    const th_render_mesh *base = mesh->base;
    uint32_t *image_of = th_arena_new(w->arena, uint32_t, model->texture_count); /* needed only here; it is small */
    th_render_mesh_material *materials = th_arena_new(w->arena, th_render_mesh_material, model->material_count);
    th_render_mesh_image *images = th_arena_new(w->arena, th_render_mesh_image, base ? 0 : model->texture_count);
    w->warnings = th_arena_new(w->arena, char *, (size_t)model->texture_count + model->mesh_count);
    if (th_arena_failed(w->arena))
        return no_memory(err);
    if (base) {
        assert(base->material_count == model->material_count);
        images = (th_render_mesh_image *)base->images;
        mesh->image_count = base->image_count;
    } else {
        mesh->images = images;
        make_images(w, model, images, image_of);
    }
    for (uint32_t m = 0; m < model->material_count; m++) {
        const th_material *from = &model->materials[m];
        const uint32_t texture = from->texture;
        materials[m] = (th_render_mesh_material){.alpha = from->alpha, .alpha_cutoff = from->alpha_cutoff};
        materials[m].image = texture == TH_NO_INDEX ? TH_NO_INDEX : base ? base->materials[m].image : image_of[texture];
        memcpy(materials[m].base_color, from->base_color, sizeof from->base_color);
        memcpy(materials[m].emissive, from->emissive, sizeof from->emissive);
    }

    /* Half-precision coordinates resolve one pixel of an image 2048 wide, and less if the image repeats often. Larger
     * errors give a warning. */
    for (uint32_t m = 0; m < model->mesh_count && !base; m++) {
        const uint32_t image = materials[model->meshes[m].material].image;
        if (image == TH_NO_INDEX || model->meshes[m].index_count == 0)
            continue;
        const double error = th_pack_uv_error(model, &model->meshes[m], images[image].width, images[image].height);
        if (error > 1)
            w->warnings[mesh->warning_count++] =
                th_arena_format(w->arena, "mesh %s: texture coordinates are rounded by up to %.3g pixels",
                                model->meshes[m].name, error);
    }
    mesh->material_count = model->material_count;
    mesh->materials = if_any(materials, mesh->material_count);
    mesh->images = if_any(images, mesh->image_count);
    mesh->warnings = if_any(w->warnings, mesh->warning_count);
    return th_arena_failed(w->arena) ? no_memory(err) : TH_OK;
}

static th_result build(whole *w, const th_model *model, th_error *err)
{
    th_render_mesh *mesh = &w->mesh;
    th_geometry *g = &w->geometry;
    const th_appearances *appearances = &model->appearances;
    const size_t regions = (size_t)appearances->count * appearances->region_count;
    th_result result = th_geometry_pack(model, w->arena, g, err);
    if (result == TH_OK)
        result = build_materials(w, model, err);
    if (result != TH_OK)
        return result;
    assert(!mesh->base || mesh->base->part_count == g->part_count);
    uint32_t *bone_of = th_arena_new(w->arena, uint32_t, model->joint_count); /* needed only here; it is small */
    th_render_mesh_bone *bones = th_arena_new(w->arena, th_render_mesh_bone, model->bone_count);
    th_render_mesh_line_end *ends = th_arena_new(w->arena, th_render_mesh_line_end, 2 * (size_t)model->joint_count);
    th_appearance_region *own_regions = th_arena_new(w->arena, th_appearance_region, regions);
    float *statures = th_arena_new(w->arena, float, appearances->count);
    if (th_arena_failed(w->arena))
        return no_memory(err);
    if (regions > 0) {
        memcpy(own_regions, appearances->regions, regions * sizeof *own_regions);
        memcpy(statures, appearances->statures, appearances->count * sizeof *statures);
        mesh->appearances =
            (th_appearances){appearances->count, appearances->region_count, appearances->slack, own_regions, statures};
    }

    result = th_geometry_coarsen(model, g, err);
    if (result == TH_OK)
        result = th_geometry_correct_normals(g, err);
    if (result == TH_OK)
        result = th_geometry_order(g, err);
    if (result == TH_OK)
        result = th_geometry_set_culling(model, g, err);
    if (result != TH_OK)
        return result;
    make_bones(model, g, bones);
    mesh->line_end_count = make_lines(model, bones, bone_of, ends);

    assert(g->lod_count >= 1 && g->lod_count <= TH_RENDER_MESH_LODS);
    mesh->part_count = g->part_count;
    mesh->parts = g->parts;
    mesh->vertex_count = g->vertex_count;
    mesh->vertices = g->vertices;
    mesh->index_count = g->index_count;
    mesh->indices = g->indices;
    mesh->delta_count = g->delta_count;
    mesh->deltas = g->deltas;
    mesh->lod_count = g->lod_count;
    mesh->bone_count = model->bone_count;
    mesh->weight_count = model->weight_count;
    mesh->bones = if_any(bones, mesh->bone_count);
    mesh->line_ends = if_any(ends, mesh->line_end_count);
    mesh->size = model->size;
    mesh->influences = 4;
    for (uint32_t v = 0; v < mesh->vertex_count; v++)
        if (mesh->vertices[v].weight[4] > 0)
            mesh->influences = TH_MAX_INFLUENCES;
    for (uint32_t l = 0; l < mesh->lod_count; l++)
        for (uint32_t p = 0; p < mesh->part_count; p++)
            mesh->lod_error[l] = fmaxf(mesh->lod_error[l], mesh->parts[p].lods[l].error);
    return TH_OK;
}

static th_result create(const th_model *model, const th_render_mesh *base,
                        th_result (*build_of)(whole *w, const th_model *model, th_error *err), th_render_mesh **out,
                        th_error *err)
{
    assert(model && out);
    assert(model->joint_count > 0 && model->size > 0); /* it has passed th_model_check */
    *out = NULL;
    th_arena *arena = th_arena_create();
    whole *w = th_arena_new(arena, whole, 1);
    if (!w) {
        th_arena_destroy(arena);
        return th_fail(err, TH_ERR_MEMORY, "%s: out of memory for the render mesh", model->name);
    }
    w->arena = arena;
    w->mesh.base = base;
    th_error why;
    const th_result result = build_of(w, model, &why);
    if (result != TH_OK) {
        th_render_mesh_destroy(&w->mesh);
        return th_fail(err, result, "%s: %s", model->name, why.text);
    }
    *out = &w->mesh;
    return TH_OK;
}

th_result th_render_mesh_create(const th_model *model, const th_render_mesh *base, th_render_mesh **out, th_error *err)
{
    return create(model, base, build, out, err);
}

th_result th_render_mesh_create_materials(const th_model *model, th_render_mesh **out, th_error *err)
{
    return create(model, NULL, build_materials, out, err);
}

void th_render_mesh_destroy(th_render_mesh *render_mesh)
{
    whole *w = (whole *)render_mesh;
    if (!w)
        return;
    for (uint32_t i = 0; !w->mesh.base && i < w->mesh.image_count; i++)
        th_image_free((th_render_mesh_image *)&w->mesh.images[i]);
    free(w->geometry.vertices);
    free(w->geometry.indices);
    free(w->geometry.deltas);
    th_arena_destroy(w->arena);
}

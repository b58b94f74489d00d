#include "upload.h"

#include "mesh/geometry.h"
#include "mesh/image.h"

#include <render/crowd_renderer.h>

#include <core/arena.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { VERTICES, INDICES, LINE_ENDS, DELTAS, PLACES, APPEARANCES, BUFFERS };

/* Attribute locations, as in the shaders: of vertices and of instances. */
enum { POSITION, NORMAL, UV, COLOR, BONES, WEIGHTS, TRANSLATION, HEADING, TINT };
enum { VERTEX_DELTAS = TINT + 1, MORE_BONES, MORE_WEIGHTS, PALETTE_AND_APPEARANCE };

/* ---- buffers ---- */

static void fill(GLuint buffer, size_t bytes, const void *data)
{
    glBindBuffer(GL_COPY_WRITE_BUFFER, buffer);
    glBufferData(GL_COPY_WRITE_BUFFER, (GLsizeiptr)bytes, data, GL_STATIC_DRAW);
    glBindBuffer(GL_COPY_WRITE_BUFFER, 0);
}

/* A texture of a buffer that is filled. */
static GLuint make_texture(GLuint buffer, size_t bytes, const void *texels)
{
    GLuint texture;
    fill(buffer, bytes, texels);
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_BUFFER, texture);
    glTexBuffer(GL_TEXTURE_BUFFER, GL_RGBA32F, buffer);
    glBindTexture(GL_TEXTURE_BUFFER, 0);
    return texture;
}

enum as { FLOATS, NORMALIZED, INTEGERS };

static void attribute(GLuint index, GLint size, GLenum type, enum as as, size_t offset, GLuint binding)
{
    glEnableVertexAttribArray(index);
    if (as == INTEGERS)
        glVertexAttribIFormat(index, size, type, (GLuint)offset);
    else
        glVertexAttribFormat(index, size, type, as == NORMALIZED, (GLuint)offset);
    glVertexAttribBinding(index, binding);
}

/* The buffer is bound per draw, at the draw's first instance. */
static void describe_instances(void)
{
    attribute(TRANSLATION, 4, GL_FLOAT, FLOATS, offsetof(th_gpu_instance, position), TH_UPLOAD_INSTANCES);
    attribute(HEADING, 2, GL_FLOAT, FLOATS, offsetof(th_gpu_instance, heading), TH_UPLOAD_INSTANCES);
    attribute(TINT, 4, GL_UNSIGNED_BYTE, NORMALIZED, offsetof(th_gpu_instance, tint), TH_UPLOAD_INSTANCES);
    attribute(PALETTE_AND_APPEARANCE, 1, GL_UNSIGNED_INT, INTEGERS, sizeof(th_gpu_instance) - sizeof(uint32_t),
              TH_UPLOAD_INSTANCES);
    glVertexBindingDivisor(TH_UPLOAD_INSTANCES, 1);
}

/* What most meshes need of their vertices: four influences and no deltas. */
typedef struct plain_vertex {
    float position[3];
    uint32_t normal;
    uint16_t uv[2];
    uint8_t color[4];
    uint16_t bone[4];
    uint8_t weight[4];
} plain_vertex;

_Static_assert(offsetof(plain_vertex, bone) == offsetof(th_render_mesh_vertex, bone), "all before it is the same");

/* ---- images ---- */

static void fill_level(GLint level, uint32_t width, uint32_t height, const void *rgba)
{
    glTexImage2D(GL_TEXTURE_2D, level, GL_SRGB8_ALPHA8, (GLsizei)width, (GLsizei)height, 0, GL_RGBA, GL_UNSIGNED_BYTE,
                 rgba);
}

/* Of the image that is bound. */
static void set_sampler(const th_sampler *sampler)
{
    static const GLint wraps[] = {GL_REPEAT, GL_CLAMP_TO_EDGE, GL_MIRRORED_REPEAT}, filters[] = {GL_LINEAR, GL_NEAREST},
                       small[][2] = {{GL_LINEAR_MIPMAP_LINEAR, GL_NEAREST_MIPMAP_LINEAR},
                                     {GL_LINEAR_MIPMAP_NEAREST, GL_NEAREST_MIPMAP_NEAREST},
                                     {GL_LINEAR, GL_NEAREST}};
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, wraps[sampler->wrap[0]]);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, wraps[sampler->wrap[1]]);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, filters[sampler->large]);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, small[sampler->copies][sampler->small]);
}

/* With its smaller levels, weighted if it has transparent texels. False when out of memory. */
static bool fill_image(GLuint name, uint32_t width, uint32_t height, const uint8_t *rgba, bool transparent,
                       th_sampler sampler)
{
    uint8_t *level = transparent ? malloc((size_t)(width / 2 + 1) * (height / 2 + 1) * 4) : NULL;
    const bool done = level || !transparent;
    glBindTexture(GL_TEXTURE_2D, name);
    fill_level(0, width, height, rgba);
    for (GLint l = 1; level && (width > 1 || height > 1); l++) {
        th_mipmap_halve(l == 1 ? rgba : level, width, height, level);
        width = width > 1 ? width / 2 : 1;
        height = height > 1 ? height / 2 : 1;
        fill_level(l, width, height, level);
    }
    free(level);
    if (!transparent)
        glGenerateMipmap(GL_TEXTURE_2D);
    set_sampler(&sampler);
    glBindTexture(GL_TEXTURE_2D, 0);
    return done;
}

static th_result make_images(th_upload *u, const th_render_mesh *mesh, th_error *err)
{
    GLint most = 0;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &most);
    u->image_count = mesh->image_count + 1;
    glGenTextures((GLsizei)u->image_count, u->images);
    fill_image(u->images[mesh->image_count], 1, 1, (const uint8_t[]){255, 255, 255, 255}, false, (th_sampler){0});
    for (uint32_t i = 0; i < mesh->image_count; i++) {
        const th_render_mesh_image *image = &mesh->images[i];
        if (image->width > (uint32_t)most || image->height > (uint32_t)most)
            return th_fail(err, TH_ERR_ENVIRONMENT, "texture %s has %u x %u pixels; the driver takes %d x %d",
                           image->name, image->width, image->height, most, most);
        bool transparent = false; /* a material that is not opaque uses it */
        for (uint32_t m = 0; m < mesh->material_count; m++)
            transparent |= mesh->materials[m].image == i && mesh->materials[m].alpha != TH_ALPHA_OPAQUE;
        if (!fill_image(u->images[i], image->width, image->height, image->rgba, transparent, image->sampler))
            return th_fail(err, TH_ERR_MEMORY, "no memory for texture %s", image->name);
    }
    return TH_OK;
}

/* ---- parts ---- */

static bool are_alike(const th_render_mesh *mesh, uint32_t a, uint32_t b)
{
    return mesh->parts[a].material == mesh->parts[b].material && mesh->parts[a].culling == mesh->parts[b].culling;
}

/* Joins the parts that are drawn alike. indices: room for all levels of all parts. Returns how many it wrote. */
static size_t join_parts(th_upload *u, const th_render_mesh *mesh, const GLuint *images, uint32_t *indices)
{
    size_t count = 0;
    for (uint32_t first = 0; first < mesh->part_count; first++) {
        const th_render_mesh_material *material = &mesh->materials[mesh->parts[first].material];
        bool is_done = false;
        for (uint32_t p = 0; p < first; p++)
            is_done |= are_alike(mesh, p, first);
        if (is_done)
            continue;
        assert(mesh->parts[first].material < mesh->material_count);
        assert(material->image == TH_NO_INDEX || material->image < mesh->image_count);
        th_upload_part *to = &u->parts[u->part_count++];
        *to = (th_upload_part){.culling = mesh->parts[first].culling,
                               .material = *material,
                               .image = images[material->image == TH_NO_INDEX ? mesh->image_count : material->image]};
        u->alphas |= 1u << material->alpha;
        for (uint32_t l = 0; l < mesh->lod_count; l++) {
            bool repeats = l > 0;
            for (uint32_t p = first; p < mesh->part_count; p++)
                repeats &= !are_alike(mesh, p, first) || th_geometry_repeats(&mesh->parts[p], l);
            to->lods[l] = (th_render_mesh_lod){.first_index = (uint32_t)count};
            if (repeats)
                to->lods[l] = to->lods[l - 1];
            for (uint32_t p = first; p < mesh->part_count && !repeats; p++) {
                const th_render_mesh_part *part = &mesh->parts[p];
                if (!are_alike(mesh, p, first))
                    continue;
                for (uint32_t i = 0; i < part->lods[l].index_count; i++)
                    indices[count++] = part->base_vertex + mesh->indices[part->lods[l].first_index + i];
                to->lods[l].index_count = (uint32_t)count - to->lods[l].first_index;
            }
        }
    }
    return count;
}

/* ---- all ---- */

_Static_assert(TH_MAX_APPEARANCES <= 1u << (32 - TH_GPU_INSTANCE_PALETTE_BITS), "an instance can name each");

th_result th_upload_init(th_upload *u, const th_render_mesh *mesh, const th_upload *base, th_error *err)
{
    assert(u && mesh && mesh->lod_count >= 1 && mesh->lod_count <= TH_RENDER_MESH_LODS);
    const th_appearances *appearances = &mesh->appearances;
    const size_t regions = (size_t)appearances->count * appearances->region_count;
    GLint most = 0;
    *u = (th_upload){.arena = th_arena_create(),
                     .lod_count = mesh->lod_count,
                     .line_end_count = mesh->line_end_count,
                     .bone_count = mesh->bone_count,
                     .palette_entries = th_palette_entries(mesh->bone_count, mesh->weight_count),
                     .region_count = regions > 0 ? appearances->region_count : 0};
    u->variant = (mesh->influences > 4 ? TH_UPLOAD_EIGHT : 0u) | (mesh->delta_count > 0 ? TH_UPLOAD_MORPH : 0u) |
                 (regions > 0 ? TH_UPLOAD_APPEARANCES : 0u);
    u->parts = th_arena_new(u->arena, th_upload_part, mesh->part_count);
    u->images = base ? NULL : th_arena_new(u->arena, GLuint, (size_t)mesh->image_count + 1);
    glGenBuffers(BUFFERS, u->buffers);
    glGetIntegerv(GL_MAX_TEXTURE_BUFFER_SIZE, &most);
    if (2 * (uint64_t)mesh->delta_count > (uint64_t)most)
        return th_fail(err, TH_ERR_ENVIRONMENT, "morph targets move %u vertices; the driver takes %d",
                       mesh->delta_count, most / 2);
    const bool is_plain = !(u->variant & (TH_UPLOAD_MORPH | TH_UPLOAD_EIGHT));
    th_arena *scratch = th_arena_create();
    plain_vertex *plain = th_arena_new(scratch, plain_vertex, is_plain ? mesh->vertex_count : 0);
    float(*places)[4] = th_arena_alloc(scratch, (size_t)mesh->bone_count + 1, sizeof *places);
    float(*texels)[4] = th_arena_alloc(scratch, regions, sizeof *texels);
    if (th_arena_failed(u->arena) || th_arena_failed(scratch)) {
        th_arena_destroy(scratch);
        return th_fail(err, TH_ERR_MEMORY, "no memory for %u vertices", mesh->vertex_count);
    }

    for (size_t v = 0; is_plain && v < mesh->vertex_count; v++) {
        memcpy(&plain[v], &mesh->vertices[v], offsetof(plain_vertex, weight));
        memcpy(plain[v].weight, mesh->vertices[v].weight, sizeof plain->weight);
    }
    if (is_plain)
        fill(u->buffers[VERTICES], mesh->vertex_count * sizeof *plain, plain);
    else
        fill(u->buffers[VERTICES], mesh->vertex_count * sizeof *mesh->vertices, mesh->vertices);
    fill(u->buffers[LINE_ENDS], mesh->line_end_count * sizeof *mesh->line_ends, mesh->line_ends);
    if (mesh->delta_count > 0)
        u->deltas = make_texture(u->buffers[DELTAS], mesh->delta_count * sizeof *mesh->deltas, mesh->deltas);
    for (uint32_t b = 0; b < mesh->bone_count; b++) {
        memcpy(places[b], mesh->bones[b].center, sizeof mesh->bones[b].center);
        places[b][3] = th_palette_step(mesh->size);
    }
    u->places = make_texture(u->buffers[PLACES], (mesh->bone_count + 1) * sizeof *places, places);

    /* As shaders/crowd.vert has them. In bytes they would be a quarter as large, but software renderers would convert
     * them for each vertex. */
    for (size_t i = 0; i < regions; i++) {
        const th_appearance_region *region = &appearances->regions[i];
        for (int k = 0; k < 3; k++)
            texels[i][k] = (float)th_appearance_linear(region->color[k]);
        texels[i][3] = region->tightness == TH_APPEARANCE_NOT_WORN ? -1 : th_appearance_inwards(appearances, region);
    }
    if (regions > 0)
        u->appearances = make_texture(u->buffers[APPEARANCES], regions * sizeof *texels, texels);
    th_arena_destroy(scratch);

    const size_t weights = is_plain ? offsetof(plain_vertex, weight) : offsetof(th_render_mesh_vertex, weight);
    glGenVertexArrays(1, &u->mesh_array);
    glBindVertexArray(u->mesh_array);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, u->buffers[INDICES]);
    glBindVertexBuffer(TH_UPLOAD_VERTICES, u->buffers[VERTICES], 0,
                       is_plain ? sizeof(plain_vertex) : sizeof(th_render_mesh_vertex));
    attribute(POSITION, 3, GL_FLOAT, FLOATS, offsetof(plain_vertex, position), TH_UPLOAD_VERTICES);
    attribute(NORMAL, 4, GL_INT_2_10_10_10_REV, NORMALIZED, offsetof(plain_vertex, normal), TH_UPLOAD_VERTICES);
    attribute(UV, 2, GL_HALF_FLOAT, FLOATS, offsetof(plain_vertex, uv), TH_UPLOAD_VERTICES);
    attribute(COLOR, 4, GL_UNSIGNED_BYTE, NORMALIZED, offsetof(plain_vertex, color), TH_UPLOAD_VERTICES);
    attribute(BONES, 4, GL_UNSIGNED_SHORT, INTEGERS, offsetof(plain_vertex, bone), TH_UPLOAD_VERTICES);
    attribute(WEIGHTS, 4, GL_UNSIGNED_BYTE, NORMALIZED, weights, TH_UPLOAD_VERTICES);
    if (!is_plain) {
        const size_t bones = offsetof(th_render_mesh_vertex, bone);
        attribute(VERTEX_DELTAS, 2, GL_UNSIGNED_INT, INTEGERS, offsetof(th_render_mesh_vertex, deltas),
                  TH_UPLOAD_VERTICES);
        attribute(MORE_BONES, 4, GL_UNSIGNED_SHORT, INTEGERS, bones + 4 * sizeof(uint16_t), TH_UPLOAD_VERTICES);
        attribute(MORE_WEIGHTS, 4, GL_UNSIGNED_BYTE, NORMALIZED, weights + 4, TH_UPLOAD_VERTICES);
    }
    describe_instances();
    glGenVertexArrays(1, &u->skeleton_array);
    glBindVertexArray(u->skeleton_array);
    glBindVertexBuffer(TH_UPLOAD_VERTICES, u->buffers[LINE_ENDS], 0, sizeof(th_render_mesh_line_end));
    attribute(POSITION, 3, GL_FLOAT, FLOATS, offsetof(th_render_mesh_line_end, position), TH_UPLOAD_VERTICES);
    attribute(BONES, 1, GL_UNSIGNED_INT, INTEGERS, offsetof(th_render_mesh_line_end, bone), TH_UPLOAD_VERTICES);
    describe_instances();
    glBindVertexArray(0);

    const th_result result = base ? TH_OK : make_images(u, mesh, err);
    if (result != TH_OK)
        return result;
    size_t most_indices = 1;
    for (uint32_t l = 0; l < mesh->lod_count; l++) {
        size_t count = 0;
        bool repeats = l > 0;
        for (uint32_t p = 0; p < mesh->part_count; p++) {
            count += mesh->parts[p].lods[l].index_count;
            repeats &= th_geometry_repeats(&mesh->parts[p], l);
        }
        most_indices += repeats ? 0 : count;
    }
    uint32_t *indices = most_indices <= UINT32_MAX ? malloc(most_indices * sizeof *indices) : NULL;
    if (!indices)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %zu indices", most_indices);
    const size_t index_count = join_parts(u, mesh, base ? base->images : u->images, indices);
    fill(u->buffers[INDICES], index_count * sizeof *indices, indices);
    free(indices);
    return TH_OK;
}

void th_upload_fini(th_upload *u)
{
    glDeleteBuffers(BUFFERS, u->buffers);
    glDeleteTextures(1, &u->deltas);
    glDeleteTextures(1, &u->places);
    glDeleteTextures(1, &u->appearances);
    glDeleteVertexArrays(1, &u->mesh_array);
    glDeleteVertexArrays(1, &u->skeleton_array);
    if (u->images)
        glDeleteTextures((GLsizei)u->image_count, u->images);
    th_arena_destroy(u->arena);
}

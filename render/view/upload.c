#include "upload.h"

#include "mesh/mipmaps.h"

#include <throng/render/crowd_renderer.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { VERTICES, INDICES, LINE_ENDS, DELTAS, PLACES, APPEARANCES, BUFFERS };

/* Attribute locations, as in the shaders. */
enum {
    POSITION,
    NORMAL,
    UV,
    COLOR,
    BONES,
    WEIGHTS,
    TRANSLATION,
    HEADING,
    TINT,
    VERTEX_DELTAS,
    MORE_BONES,
    MORE_WEIGHTS,
    PALETTE_AND_APPEARANCE
};

/* ---- buffers ---- */

static void fill(GLuint buffer, size_t bytes, const void *data)
{
    glBindBuffer(GL_COPY_WRITE_BUFFER, buffer);
    glBufferData(GL_COPY_WRITE_BUFFER, (GLsizeiptr)bytes, data, GL_STATIC_DRAW);
    glBindBuffer(GL_COPY_WRITE_BUFFER, 0);
}

static void attribute(GLuint index, GLint size, GLenum type, bool normalized, size_t offset, GLuint binding)
{
    glEnableVertexAttribArray(index);
    glVertexAttribFormat(index, size, type, normalized, (GLuint)offset);
    glVertexAttribBinding(index, binding);
}

static void integers(GLuint index, GLint size, GLenum type, size_t offset, GLuint binding)
{
    glEnableVertexAttribArray(index);
    glVertexAttribIFormat(index, size, type, (GLuint)offset);
    glVertexAttribBinding(index, binding);
}

/* The buffer is bound per draw, at the draw's first instance. */
static void describe_instances(void)
{
    attribute(TRANSLATION, 4, GL_FLOAT, false, offsetof(th_gpu_instance, position), TH_UPLOAD_INSTANCES);
    attribute(HEADING, 2, GL_FLOAT, false, offsetof(th_gpu_instance, heading), TH_UPLOAD_INSTANCES);
    attribute(TINT, 4, GL_UNSIGNED_BYTE, true, offsetof(th_gpu_instance, tint), TH_UPLOAD_INSTANCES);
    integers(PALETTE_AND_APPEARANCE, 1, GL_UNSIGNED_INT, sizeof(th_gpu_instance) - sizeof(uint32_t),
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

static bool has_plain_vertices(const th_upload *u)
{
    return !(u->variant & (TH_UPLOAD_MORPH | TH_UPLOAD_EIGHT));
}

static bool fill_vertices(const th_upload *u, const th_render_mesh *render_mesh)
{
    const th_render_mesh_vertex *vertices = render_mesh->vertices;
    const size_t count = render_mesh->vertex_count;
    if (!has_plain_vertices(u)) {
        fill(u->buffers[VERTICES], count * sizeof *vertices, vertices);
        return true;
    }
    plain_vertex *plain = malloc((count + 1) * sizeof *plain);
    for (size_t v = 0; plain && v < count; v++) {
        memcpy(&plain[v], &vertices[v], offsetof(plain_vertex, weight));
        memcpy(plain[v].weight, vertices[v].weight, sizeof plain->weight);
    }
    if (plain)
        fill(u->buffers[VERTICES], count * sizeof *plain, plain);
    free(plain);
    return plain != NULL;
}

static void describe_more(void)
{
    const size_t bones = offsetof(th_render_mesh_vertex, bone), weights = offsetof(th_render_mesh_vertex, weight);
    integers(VERTEX_DELTAS, 2, GL_UNSIGNED_INT, offsetof(th_render_mesh_vertex, deltas), TH_UPLOAD_VERTICES);
    integers(MORE_BONES, 4, GL_UNSIGNED_SHORT, bones + 4 * sizeof(uint16_t), TH_UPLOAD_VERTICES);
    attribute(MORE_WEIGHTS, 4, GL_UNSIGNED_BYTE, true, weights + 4, TH_UPLOAD_VERTICES);
}

static void make_mesh_array(th_upload *u)
{
    const bool plain = has_plain_vertices(u);
    const size_t weights = plain ? offsetof(plain_vertex, weight) : offsetof(th_render_mesh_vertex, weight);
    glGenVertexArrays(1, &u->mesh_array);
    glBindVertexArray(u->mesh_array);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, u->buffers[INDICES]);
    glBindVertexBuffer(TH_UPLOAD_VERTICES, u->buffers[VERTICES], 0,
                       plain ? sizeof(plain_vertex) : sizeof(th_render_mesh_vertex));
    attribute(POSITION, 3, GL_FLOAT, false, offsetof(plain_vertex, position), TH_UPLOAD_VERTICES);
    attribute(NORMAL, 4, GL_INT_2_10_10_10_REV, true, offsetof(plain_vertex, normal), TH_UPLOAD_VERTICES);
    attribute(UV, 2, GL_HALF_FLOAT, false, offsetof(plain_vertex, uv), TH_UPLOAD_VERTICES);
    attribute(COLOR, 4, GL_UNSIGNED_BYTE, true, offsetof(plain_vertex, color), TH_UPLOAD_VERTICES);
    integers(BONES, 4, GL_UNSIGNED_SHORT, offsetof(plain_vertex, bone), TH_UPLOAD_VERTICES);
    attribute(WEIGHTS, 4, GL_UNSIGNED_BYTE, true, weights, TH_UPLOAD_VERTICES);
    if (!plain)
        describe_more();
    describe_instances();
    glBindVertexArray(0);
}

static void make_skeleton_array(th_upload *u)
{
    glGenVertexArrays(1, &u->skeleton_array);
    glBindVertexArray(u->skeleton_array);
    glBindVertexBuffer(TH_UPLOAD_VERTICES, u->buffers[LINE_ENDS], 0, sizeof(th_render_mesh_line_end));
    attribute(POSITION, 3, GL_FLOAT, false, offsetof(th_render_mesh_line_end, position), TH_UPLOAD_VERTICES);
    integers(BONES, 1, GL_UNSIGNED_INT, offsetof(th_render_mesh_line_end, bone), TH_UPLOAD_VERTICES);
    describe_instances();
    glBindVertexArray(0);
}

/* ---- places ---- */

static bool make_places(th_upload *u, const th_render_mesh *render_mesh)
{
    float(*places)[4] = calloc((size_t)render_mesh->bone_count + 1, sizeof *places);
    if (!places)
        return false;
    for (uint32_t b = 0; b < render_mesh->bone_count; b++) {
        memcpy(places[b], render_mesh->bones[b].center, sizeof render_mesh->bones[b].center);
        places[b][3] = th_palette_step(render_mesh->size);
    }
    fill(u->buffers[PLACES], (render_mesh->bone_count + 1) * sizeof *places, places);
    free(places);
    glGenTextures(1, &u->places);
    glBindTexture(GL_TEXTURE_BUFFER, u->places);
    glTexBuffer(GL_TEXTURE_BUFFER, GL_RGBA32F, u->buffers[PLACES]);
    glBindTexture(GL_TEXTURE_BUFFER, 0);
    return true;
}

/* ---- morph targets ---- */

static th_result make_deltas(th_upload *u, const th_render_mesh *render_mesh, th_error *err)
{
    GLint most = 0;
    if (render_mesh->delta_count == 0)
        return TH_OK;
    glGetIntegerv(GL_MAX_TEXTURE_BUFFER_SIZE, &most);
    if (2 * (uint64_t)render_mesh->delta_count > (uint64_t)most)
        return th_fail(err, TH_ERR_ENVIRONMENT, "morph targets move %u vertices; the driver takes %d",
                       render_mesh->delta_count, most / 2);
    fill(u->buffers[DELTAS], render_mesh->delta_count * sizeof *render_mesh->deltas, render_mesh->deltas);
    glGenTextures(1, &u->deltas);
    glBindTexture(GL_TEXTURE_BUFFER, u->deltas);
    glTexBuffer(GL_TEXTURE_BUFFER, GL_RGBA32F, u->buffers[DELTAS]);
    glBindTexture(GL_TEXTURE_BUFFER, 0);
    u->variant |= TH_UPLOAD_MORPH;
    return TH_OK;
}

/* ---- appearances ---- */

_Static_assert(TH_MAX_APPEARANCES <= 1u << (32 - TH_GPU_INSTANCE_PALETTE_BITS), "an instance can name each");

/* As shaders/crowd.vert has it. In bytes they would be a quarter as large, but software renderers would convert them
 * for each vertex. */
static bool make_appearances(th_upload *u, const th_appearances *appearances)
{
    const size_t count = (size_t)appearances->count * appearances->region_count;
    if (count == 0)
        return true;
    float(*texels)[4] = malloc(count * sizeof *texels);
    if (!texels)
        return false;
    for (size_t i = 0; i < count; i++) {
        const th_appearance_region *region = &appearances->regions[i];
        for (int k = 0; k < 3; k++)
            texels[i][k] = (float)th_appearance_linear(region->color[k]);
        texels[i][3] = region->tightness == TH_APPEARANCE_NOT_WORN ? -1 : th_appearance_inwards(appearances, region);
    }
    fill(u->buffers[APPEARANCES], count * sizeof *texels, texels);
    free(texels);
    u->region_count = appearances->region_count;
    u->variant |= TH_UPLOAD_APPEARANCES;
    glGenTextures(1, &u->appearances);
    glBindTexture(GL_TEXTURE_BUFFER, u->appearances);
    glTexBuffer(GL_TEXTURE_BUFFER, GL_RGBA32F, u->buffers[APPEARANCES]);
    glBindTexture(GL_TEXTURE_BUFFER, 0);
    return true;
}

/* ---- images ---- */

static void fill_level(GLint level, uint32_t width, uint32_t height, const void *rgba)
{
    glTexImage2D(GL_TEXTURE_2D, level, GL_SRGB8_ALPHA8, (GLsizei)width, (GLsizei)height, 0, GL_RGBA, GL_UNSIGNED_BYTE,
                 rgba);
}

/* The smaller levels of an image with transparent texels. False when out of memory. */
static bool fill_weighted_levels(uint32_t width, uint32_t height, const uint8_t *rgba)
{
    uint8_t *level = malloc((size_t)(width / 2 + 1) * (height / 2 + 1) * 4);
    for (GLint l = 1; level && (width > 1 || height > 1); l++) {
        th_mipmap_halve(l == 1 ? rgba : level, width, height, level);
        width = width > 1 ? width / 2 : 1;
        height = height > 1 ? height / 2 : 1;
        fill_level(l, width, height, level);
    }
    free(level);
    return level != NULL;
}

/* False when out of memory. */
static bool fill_image(GLuint name, uint32_t width, uint32_t height, const uint8_t *rgba, bool transparent)
{
    bool done = true;
    glBindTexture(GL_TEXTURE_2D, name);
    fill_level(0, width, height, rgba);
    if (transparent)
        done = fill_weighted_levels(width, height, rgba);
    else
        glGenerateMipmap(GL_TEXTURE_2D);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
    glBindTexture(GL_TEXTURE_2D, 0);
    return done;
}

/* Whether a material that is not opaque uses the image. */
static bool is_transparent(const th_render_mesh *render_mesh, uint32_t image)
{
    for (uint32_t m = 0; m < render_mesh->material_count; m++)
        if (render_mesh->materials[m].image == image && render_mesh->materials[m].alpha != TH_ALPHA_OPAQUE)
            return true;
    return false;
}

static th_result make_images(th_upload *u, const th_render_mesh *render_mesh, th_error *err)
{
    GLint most = 0;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &most);
    u->images = calloc((size_t)render_mesh->image_count + 1, sizeof *u->images);
    if (!u->images)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %u images", render_mesh->image_count);
    u->image_count = render_mesh->image_count + 1;
    glGenTextures((GLsizei)u->image_count, u->images);
    fill_image(u->images[render_mesh->image_count], 1, 1, (const uint8_t[]){255, 255, 255, 255}, false);
    for (uint32_t i = 0; i < render_mesh->image_count; i++) {
        const th_render_mesh_image *image = &render_mesh->images[i];
        if (image->width > (uint32_t)most || image->height > (uint32_t)most)
            return th_fail(err, TH_ERR_ENVIRONMENT, "texture %s has %u x %u pixels; the driver takes %d x %d",
                           image->name, image->width, image->height, most, most);
        if (!fill_image(u->images[i], image->width, image->height, image->rgba, is_transparent(render_mesh, i)))
            return th_fail(err, TH_ERR_MEMORY, "no memory for texture %s", image->name);
    }
    return TH_OK;
}

/* ---- parts ---- */

static th_result make_parts(th_upload *u, const th_render_mesh *render_mesh, const GLuint *images, th_error *err)
{
    u->parts = calloc((size_t)render_mesh->part_count + 1, sizeof *u->parts);
    if (!u->parts)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %u meshes", render_mesh->part_count);
    u->part_count = render_mesh->part_count;
    for (uint32_t i = 0; i < render_mesh->part_count; i++) {
        const th_render_mesh_part *from = &render_mesh->parts[i];
        assert(from->material < render_mesh->material_count);
        const th_render_mesh_material *material = &render_mesh->materials[from->material];
        assert(material->image == TH_NO_INDEX || material->image < render_mesh->image_count);
        th_upload_part *part = &u->parts[i];
        part->base_vertex = from->base_vertex;
        memcpy(part->lods, from->lods, sizeof part->lods);
        part->alpha = material->alpha;
        part->alpha_cutoff = material->alpha_cutoff;
        part->culling = from->culling;
        u->alphas |= 1u << part->alpha;
        memcpy(part->base_color, material->base_color, sizeof part->base_color);
        memcpy(part->emissive, material->emissive, sizeof part->emissive);
        part->image = images[material->image == TH_NO_INDEX ? render_mesh->image_count : material->image];
    }
    return TH_OK;
}

th_result th_upload_init(th_upload *u, const th_render_mesh *render_mesh, const th_upload *base, th_error *err)
{
    assert(u && render_mesh && render_mesh->lod_count >= 1 && render_mesh->lod_count <= TH_RENDER_MESH_LODS);
    *u = (th_upload){.lod_count = render_mesh->lod_count,
                     .line_end_count = render_mesh->line_end_count,
                     .bone_count = render_mesh->bone_count,
                     .palette_entries = th_palette_entries(render_mesh->bone_count, render_mesh->weight_count)};
    glGenBuffers(BUFFERS, u->buffers);
    u->variant = render_mesh->influences > 4 ? TH_UPLOAD_EIGHT : 0;
    th_result result = make_deltas(u, render_mesh, err);
    if (result != TH_OK)
        return result;
    if (!make_appearances(u, &render_mesh->appearances))
        return th_fail(err, TH_ERR_MEMORY, "no memory for %u appearances", render_mesh->appearances.count);
    if (!make_places(u, render_mesh))
        return th_fail(err, TH_ERR_MEMORY, "no memory for %u bones", render_mesh->bone_count);
    if (!fill_vertices(u, render_mesh))
        return th_fail(err, TH_ERR_MEMORY, "no memory for %u vertices", render_mesh->vertex_count);
    fill(u->buffers[INDICES], render_mesh->index_count * sizeof *render_mesh->indices, render_mesh->indices);
    fill(u->buffers[LINE_ENDS], render_mesh->line_end_count * sizeof *render_mesh->line_ends, render_mesh->line_ends);
    make_mesh_array(u);
    make_skeleton_array(u);
    result = base ? TH_OK : make_images(u, render_mesh, err);
    return result == TH_OK ? make_parts(u, render_mesh, base ? base->images : u->images, err) : result;
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
    free(u->images);
    free(u->parts);
}

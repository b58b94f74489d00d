#include "upload.h"

#include <throng/render/crowd_renderer.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { VERTICES, INDICES, LINE_ENDS, DELTAS, BUFFERS };

/* Attribute locations, as in the shaders. */
enum { POSITION, NORMAL, UV, COLOR, BONES, WEIGHTS, TRANSLATION, HEADING, TINT, VERTEX_DELTAS };

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

static void integers(GLuint index, GLint size, GLenum type, size_t offset)
{
    glEnableVertexAttribArray(index);
    glVertexAttribIFormat(index, size, type, (GLuint)offset);
    glVertexAttribBinding(index, TH_UPLOAD_VERTICES);
}

/* The buffer is bound per draw, at the draw's first instance. */
static void describe_instances(void)
{
    attribute(TRANSLATION, 4, GL_FLOAT, false, offsetof(th_gpu_instance, position), TH_UPLOAD_INSTANCES);
    attribute(HEADING, 2, GL_FLOAT, false, offsetof(th_gpu_instance, heading), TH_UPLOAD_INSTANCES);
    attribute(TINT, 4, GL_UNSIGNED_BYTE, true, offsetof(th_gpu_instance, tint), TH_UPLOAD_INSTANCES);
    glVertexBindingDivisor(TH_UPLOAD_INSTANCES, 1);
}

/* What all vertices have; the rest is for models with morph targets. */
enum { PLAIN_BYTES = offsetof(th_render_mesh_vertex, deltas) };

static bool fill_vertices(const th_upload *u, const th_render_mesh *render_mesh)
{
    const th_render_mesh_vertex *vertices = render_mesh->vertices;
    if (u->deltas) {
        fill(u->buffers[VERTICES], render_mesh->vertex_count * sizeof *vertices, vertices);
        return true;
    }
    char *plain = malloc((size_t)render_mesh->vertex_count * PLAIN_BYTES + 1);
    for (size_t v = 0; plain && v < render_mesh->vertex_count; v++)
        memcpy(plain + v * PLAIN_BYTES, &vertices[v], PLAIN_BYTES);
    if (plain)
        fill(u->buffers[VERTICES], (size_t)render_mesh->vertex_count * PLAIN_BYTES, plain);
    free(plain);
    return plain != NULL;
}

static void make_mesh_array(th_upload *u)
{
    glGenVertexArrays(1, &u->mesh_array);
    glBindVertexArray(u->mesh_array);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, u->buffers[INDICES]);
    glBindVertexBuffer(TH_UPLOAD_VERTICES, u->buffers[VERTICES], 0,
                       u->deltas ? sizeof(th_render_mesh_vertex) : PLAIN_BYTES);
    attribute(POSITION, 3, GL_FLOAT, false, offsetof(th_render_mesh_vertex, position), TH_UPLOAD_VERTICES);
    attribute(NORMAL, 4, GL_INT_2_10_10_10_REV, true, offsetof(th_render_mesh_vertex, normal), TH_UPLOAD_VERTICES);
    attribute(UV, 2, GL_HALF_FLOAT, false, offsetof(th_render_mesh_vertex, uv), TH_UPLOAD_VERTICES);
    attribute(COLOR, 4, GL_UNSIGNED_BYTE, true, offsetof(th_render_mesh_vertex, color), TH_UPLOAD_VERTICES);
    integers(BONES, 4, GL_UNSIGNED_SHORT, offsetof(th_render_mesh_vertex, bone));
    attribute(WEIGHTS, 4, GL_UNSIGNED_BYTE, true, offsetof(th_render_mesh_vertex, weight), TH_UPLOAD_VERTICES);
    if (u->deltas)
        integers(VERTEX_DELTAS, 2, GL_UNSIGNED_INT, offsetof(th_render_mesh_vertex, deltas));
    describe_instances();
    glBindVertexArray(0);
}

static void make_skeleton_array(th_upload *u)
{
    glGenVertexArrays(1, &u->skeleton_array);
    glBindVertexArray(u->skeleton_array);
    glBindVertexBuffer(TH_UPLOAD_VERTICES, u->buffers[LINE_ENDS], 0, sizeof(th_render_mesh_line_end));
    attribute(POSITION, 3, GL_FLOAT, false, offsetof(th_render_mesh_line_end, position), TH_UPLOAD_VERTICES);
    integers(BONES, 1, GL_UNSIGNED_INT, offsetof(th_render_mesh_line_end, bone));
    describe_instances();
    glBindVertexArray(0);
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

/* ---- images ---- */

static void fill_image(GLuint name, uint32_t width, uint32_t height, const void *rgba)
{
    glBindTexture(GL_TEXTURE_2D, name);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_SRGB8_ALPHA8, (GLsizei)width, (GLsizei)height, 0, GL_RGBA, GL_UNSIGNED_BYTE,
                 rgba);
    glGenerateMipmap(GL_TEXTURE_2D);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
    glBindTexture(GL_TEXTURE_2D, 0);
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
    fill_image(u->images[render_mesh->image_count], 1, 1, (const uint8_t[]){255, 255, 255, 255});
    for (uint32_t i = 0; i < render_mesh->image_count; i++) {
        const th_render_mesh_image *image = &render_mesh->images[i];
        if (image->width > (uint32_t)most || image->height > (uint32_t)most)
            return th_fail(err, TH_ERR_ENVIRONMENT, "texture %s has %u x %u pixels; the driver takes %d x %d",
                           image->name, image->width, image->height, most, most);
        fill_image(u->images[i], image->width, image->height, image->rgba);
    }
    return TH_OK;
}

/* ---- parts ---- */

static th_result make_parts(th_upload *u, const th_render_mesh *render_mesh, th_error *err)
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
        part->image = u->images[material->image == TH_NO_INDEX ? render_mesh->image_count : material->image];
    }
    return TH_OK;
}

th_result th_upload_init(th_upload *u, const th_render_mesh *render_mesh, th_error *err)
{
    assert(u && render_mesh && render_mesh->lod_count >= 1 && render_mesh->lod_count <= TH_RENDER_MESH_LODS);
    *u = (th_upload){.lod_count = render_mesh->lod_count,
                     .line_end_count = render_mesh->line_end_count,
                     .bone_count = render_mesh->bone_count,
                     .palette_entries = th_palette_entries(render_mesh->bone_count, render_mesh->weight_count)};
    glGenBuffers(BUFFERS, u->buffers);
    th_result result = make_deltas(u, render_mesh, err);
    if (result != TH_OK)
        return result;
    if (!fill_vertices(u, render_mesh))
        return th_fail(err, TH_ERR_MEMORY, "no memory for %u vertices", render_mesh->vertex_count);
    fill(u->buffers[INDICES], render_mesh->index_count * sizeof *render_mesh->indices, render_mesh->indices);
    fill(u->buffers[LINE_ENDS], render_mesh->line_end_count * sizeof *render_mesh->line_ends, render_mesh->line_ends);
    make_mesh_array(u);
    make_skeleton_array(u);
    result = make_images(u, render_mesh, err);
    return result == TH_OK ? make_parts(u, render_mesh, err) : result;
}

void th_upload_fini(th_upload *u)
{
    glDeleteBuffers(BUFFERS, u->buffers);
    glDeleteTextures(1, &u->deltas);
    glDeleteVertexArrays(1, &u->mesh_array);
    glDeleteVertexArrays(1, &u->skeleton_array);
    if (u->images)
        glDeleteTextures((GLsizei)u->image_count, u->images);
    free(u->images);
    free(u->parts);
}

#include "upload.h"

#include <throng/render/crowd_renderer.h>

#include <stdlib.h>
#include <string.h>

enum { VERTICES, INDICES, LINE_ENDS };

/* As in the shaders. */
enum { POSITION, NORMAL, UV, COLOR, BINDS, WEIGHTS, PLACE, HEADING, TINT };

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

/* The buffer is bound for each draw, where its stands begin. */
static void describe_stands(void)
{
    attribute(PLACE, 4, GL_FLOAT, false, offsetof(th_stand, position), TH_UPLOAD_STANDS);
    attribute(HEADING, 2, GL_FLOAT, false, offsetof(th_stand, heading), TH_UPLOAD_STANDS);
    attribute(TINT, 4, GL_UNSIGNED_BYTE, true, offsetof(th_stand, tint), TH_UPLOAD_STANDS);
    glVertexBindingDivisor(TH_UPLOAD_STANDS, 1);
}

static void make_mesh_array(th_upload *u)
{
    glGenVertexArrays(1, &u->mesh_array);
    glBindVertexArray(u->mesh_array);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, u->buffers[INDICES]);
    glBindVertexBuffer(TH_UPLOAD_VERTICES, u->buffers[VERTICES], 0, sizeof(th_figure_vertex));
    attribute(POSITION, 3, GL_FLOAT, false, offsetof(th_figure_vertex, position), TH_UPLOAD_VERTICES);
    attribute(NORMAL, 4, GL_INT_2_10_10_10_REV, true, offsetof(th_figure_vertex, normal), TH_UPLOAD_VERTICES);
    attribute(UV, 2, GL_HALF_FLOAT, false, offsetof(th_figure_vertex, uv), TH_UPLOAD_VERTICES);
    attribute(COLOR, 4, GL_UNSIGNED_BYTE, true, offsetof(th_figure_vertex, color), TH_UPLOAD_VERTICES);
    integers(BINDS, 4, GL_UNSIGNED_SHORT, offsetof(th_figure_vertex, bind));
    attribute(WEIGHTS, 4, GL_UNSIGNED_BYTE, true, offsetof(th_figure_vertex, weight), TH_UPLOAD_VERTICES);
    describe_stands();
    glBindVertexArray(0);
}

static void make_skeleton_array(th_upload *u)
{
    glGenVertexArrays(1, &u->skeleton_array);
    glBindVertexArray(u->skeleton_array);
    glBindVertexBuffer(TH_UPLOAD_VERTICES, u->buffers[LINE_ENDS], 0, sizeof(th_figure_line_end));
    attribute(POSITION, 3, GL_FLOAT, false, offsetof(th_figure_line_end, position), TH_UPLOAD_VERTICES);
    integers(BINDS, 1, GL_UNSIGNED_INT, offsetof(th_figure_line_end, bind));
    describe_stands();
    glBindVertexArray(0);
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

static th_result make_images(th_upload *u, const th_figure *figure, th_error *err)
{
    GLint most = 0;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &most);
    u->images = calloc((size_t)figure->image_count + 1, sizeof *u->images);
    if (!u->images)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %u images", figure->image_count);
    u->image_count = figure->image_count + 1;
    glGenTextures((GLsizei)u->image_count, u->images);
    fill_image(u->images[figure->image_count], 1, 1, (const uint8_t[]){255, 255, 255, 255});
    for (uint32_t i = 0; i < figure->image_count; i++) {
        const th_figure_image *image = &figure->images[i];
        if (image->width > (uint32_t)most || image->height > (uint32_t)most)
            return th_fail(err, TH_ERR_ENVIRONMENT, "texture %s has %u x %u pixels; the driver takes %d x %d",
                           image->name, image->width, image->height, most, most);
        fill_image(u->images[i], image->width, image->height, image->rgba);
    }
    return TH_OK;
}

/* ---- parts ---- */

static th_result make_parts(th_upload *u, const th_figure *figure, th_error *err)
{
    u->parts = calloc((size_t)figure->part_count + 1, sizeof *u->parts);
    if (!u->parts)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %u meshes", figure->part_count);
    u->part_count = figure->part_count;
    for (uint32_t i = 0; i < figure->part_count; i++) {
        const th_figure_part *from = &figure->parts[i];
        const th_figure_material *material = &figure->materials[from->material];
        th_upload_part *part = &u->parts[i];
        part->base_vertex = from->base_vertex;
        memcpy(part->lods, from->lods, sizeof part->lods);
        memcpy(part->base_color, material->base_color, sizeof part->base_color);
        part->image = u->images[material->image == TH_NO_INDEX ? figure->image_count : material->image];
    }
    return TH_OK;
}

th_result th_upload_init(th_upload *u, const th_figure *figure, th_error *err)
{
    *u = (th_upload){.lod_count = figure->lod_count,
                     .line_end_count = figure->line_end_count,
                     .palette_entries = figure->bind_count};
    glGenBuffers(3, u->buffers);
    fill(u->buffers[VERTICES], figure->vertex_count * sizeof *figure->vertices, figure->vertices);
    fill(u->buffers[INDICES], figure->index_count * sizeof *figure->indices, figure->indices);
    fill(u->buffers[LINE_ENDS], figure->line_end_count * sizeof *figure->line_ends, figure->line_ends);
    make_mesh_array(u);
    make_skeleton_array(u);
    th_result result = make_images(u, figure, err);
    return result == TH_OK ? make_parts(u, figure, err) : result;
}

void th_upload_fini(th_upload *u)
{
    glDeleteBuffers(3, u->buffers);
    glDeleteVertexArrays(1, &u->mesh_array);
    glDeleteVertexArrays(1, &u->skeleton_array);
    if (u->images)
        glDeleteTextures((GLsizei)u->image_count, u->images);
    free(u->images);
    free(u->parts);
}

#include <render/target.h>

#include "gl_backend.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct th_target {
    uint32_t width, height, samples;
    GLuint drawn, resolved;                      /* framebuffers; without antialiasing both are the same */
    GLuint depth, drawn_colour, resolved_colour; /* renderbuffers; drawn_colour is 0 without antialiasing */
};

static GLuint create_buffer(const th_target *t, GLenum format, uint32_t samples)
{
    GLuint buffer;
    glGenRenderbuffers(1, &buffer);
    glBindRenderbuffer(GL_RENDERBUFFER, buffer);
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, (GLsizei)samples, format, (GLsizei)t->width, (GLsizei)t->height);
    return buffer;
}

static GLuint create_framebuffer(GLuint colour, GLuint depth)
{
    GLuint framebuffer;
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, colour);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, depth);
    return framebuffer;
}

static void free_buffers(th_target *t)
{
    if (t->drawn != t->resolved)
        glDeleteFramebuffers(1, &t->drawn);
    glDeleteFramebuffers(1, &t->resolved);
    const GLuint buffers[] = {t->depth, t->drawn_colour, t->resolved_colour};
    glDeleteRenderbuffers(3, buffers);
}

/* Makes all buffers anew. After an error the target is unchanged. */
static th_result remake(th_target *t, const th_target_desc *desc, th_error *err)
{
    GLint size = 0, samples = 0, viewport[2] = {0};
    glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &size);
    glGetIntegerv(GL_MAX_SAMPLES, &samples);
    glGetIntegerv(GL_MAX_VIEWPORT_DIMS, viewport);
    uint32_t width = (uint32_t)(size < viewport[0] ? size : viewport[0]);
    uint32_t height = (uint32_t)(size < viewport[1] ? size : viewport[1]);
    if (desc->width == 0 || desc->height == 0 || desc->width > width || desc->height > height)
        return th_fail(err, TH_ERR_ENVIRONMENT, "a picture of %ux%u pixels: OpenGL draws 1x1 to %ux%u here",
                       desc->width, desc->height, width, height);
    if (desc->samples > 1 && desc->samples > (uint32_t)samples)
        return th_fail(err, TH_ERR_ENVIRONMENT, "%u samples a pixel: OpenGL has up to %d here", desc->samples, samples);

    th_target next = {.width = desc->width, .height = desc->height, .samples = desc->samples > 1 ? desc->samples : 0};
    next.depth = create_buffer(&next, GL_DEPTH_COMPONENT32F, next.samples);
    next.resolved_colour = create_buffer(&next, GL_SRGB8_ALPHA8, 0);
    if (next.samples) {
        next.drawn_colour = create_buffer(&next, GL_SRGB8_ALPHA8, next.samples);
        next.resolved = create_framebuffer(next.resolved_colour, 0);
        next.drawn = create_framebuffer(next.drawn_colour, next.depth);
    } else {
        next.drawn = next.resolved = create_framebuffer(next.resolved_colour, next.depth);
    }
    GLenum error = glGetError();
    bool complete = glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glBindRenderbuffer(GL_RENDERBUFFER, 0);
    if (error || !complete) {
        free_buffers(&next);
        return th_fail(err, error == GL_OUT_OF_MEMORY ? TH_ERR_MEMORY : TH_ERR_ENVIRONMENT,
                       "a picture of %ux%u pixels with %u samples: %s", next.width, next.height, next.samples,
                       error ? th_gl_error_name(error) : "the framebuffer is incomplete");
    }
    free_buffers(t);
    *t = next;
    return TH_OK;
}

th_result th_target_create(const th_target_desc *desc, th_target **out_target, th_error *err)
{
    if (!TH_VALID(desc && out_target && th_reserved_is_zero(desc->reserved)))
        return th_fail(err, TH_ERR_USAGE, "a target has a desc that is not valid");
    th_target *t = *out_target = calloc(1, sizeof *t);
    if (!t)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a picture");
    const th_result result = remake(t, desc, err);
    if (result) {
        free(t);
        *out_target = NULL;
    }
    return result;
}

th_result th_target_resize(th_target *target, uint32_t width, uint32_t height, th_error *err)
{
    if (!TH_VALID(target))
        return th_fail(err, TH_ERR_USAGE, "no target to resize");
    if (width == target->width && height == target->height)
        return TH_OK;
    return remake(target, &(th_target_desc){.width = width, .height = height, .samples = target->samples}, err);
}

static void bind_framebuffer(const th_target *target, GLuint framebuffer)
{
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glViewport(0, 0, (GLsizei)target->width, (GLsizei)target->height);
    glEnable(GL_FRAMEBUFFER_SRGB);
}

void th_target_size(const th_target *target, uint32_t *out_width, uint32_t *out_height)
{
    assert(target && out_width && out_height);
    *out_width = target->width;
    *out_height = target->height;
}

uint32_t th_target_samples(const th_target *target)
{
    assert(target);
    return target->samples;
}

void th_target_bind(const th_target *target)
{
    assert(target);
    bind_framebuffer(target, target->drawn);
}

void th_target_bind_resolved(const th_target *target)
{
    assert(target);
    bind_framebuffer(target, target->resolved);
}

/* With GL_FRAMEBUFFER_SRGB the samples are averaged as linear values; without it, bytes are copied. */
static void copy(GLuint from, uint32_t from_width, uint32_t from_height, GLuint to, uint32_t width, uint32_t height)
{
    bool same = from_width == width && from_height == height;
    glBindFramebuffer(GL_READ_FRAMEBUFFER, from);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, to);
    glBlitFramebuffer(0, 0, (GLint)from_width, (GLint)from_height, 0, 0, (GLint)width, (GLint)height,
                      GL_COLOR_BUFFER_BIT, same ? GL_NEAREST : GL_LINEAR);
}

void th_target_resolve(const th_target *target)
{
    if (!TH_VALID(target))
        return;
    if (target->samples) {
        glDisable(GL_SCISSOR_TEST); /* it would clip the copy */
        glEnable(GL_FRAMEBUFFER_SRGB);
        copy(target->drawn, target->width, target->height, target->resolved, target->width, target->height);
    }
    th_target_bind(target);
}

void th_target_show(const th_target *target, const th_gl *gl)
{
    if (!TH_VALID(target && gl && gl->window))
        return;
    int width, height;
    glfwGetFramebufferSize(gl->window, &width, &height);
    glDisable(GL_SCISSOR_TEST);
    glDisable(GL_FRAMEBUFFER_SRGB);
    copy(target->resolved, target->width, target->height, 0, (uint32_t)width, (uint32_t)height);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

uint32_t th_target_framebuffer(const th_target *target)
{
    return TH_VALID(target) ? target->resolved : 0;
}

size_t th_target_bytes(const th_target *target)
{
    return TH_VALID(target) ? (size_t)target->width * target->height * 4 : 0;
}

void th_target_read(const th_target *target, uint8_t *out_rgba)
{
    if (!TH_VALID(target && out_rgba))
        return;
    glBindFramebuffer(GL_READ_FRAMEBUFFER, target->resolved);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    glPixelStorei(GL_PACK_ROW_LENGTH, 0);
    glPixelStorei(GL_PACK_SKIP_ROWS, 0);
    glPixelStorei(GL_PACK_SKIP_PIXELS, 0);
    glReadPixels(0, 0, (GLsizei)target->width, (GLsizei)target->height, GL_RGBA, GL_UNSIGNED_BYTE, out_rgba);
    th_target_bind(target);

    /* OpenGL's first row is the bottom row. */
    const size_t row = (size_t)target->width * 4, rows = target->height;
    uint8_t piece[4096];
    for (size_t y = 0; y < rows / 2; y++) {
        uint8_t *top = out_rgba + y * row, *bottom = out_rgba + (rows - 1 - y) * row;
        for (size_t at = 0; at < row; at += sizeof piece) {
            const size_t n = row - at < sizeof piece ? row - at : sizeof piece;
            memcpy(piece, top + at, n);
            memcpy(top + at, bottom + at, n);
            memcpy(bottom + at, piece, n);
        }
    }
}

void th_target_destroy(th_target *target)
{
    if (!target)
        return;
    free_buffers(target);
    free(target);
}

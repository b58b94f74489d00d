#include <throng/render/gl.h>

#include "gl_backend.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void th_gl_failed(th_gl_tried *tried, const char *way, const char *format, ...)
{
    size_t room = sizeof tried->text - tried->length;
    int n = snprintf(tried->text + tried->length, room, "%s%s: ", tried->length ? "; " : "", way);
    if (n > 0 && (size_t)n < room) {
        va_list args;
        va_start(args, format);
        vsnprintf(tried->text + tried->length + n, room - (size_t)n, format, args);
        va_end(args);
    }
    tried->length += strlen(tried->text + tried->length);
}

static uint32_t limit(GLenum what)
{
    GLint64 value = 0;
    glGetInteger64v(what, &value);
    return value < 0 ? 0 : value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static bool is_software(const char *renderer)
{
    static const char *const names[] = {"llvmpipe", "softpipe", "swrast", "software", "swiftshader", "lavapipe"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcasestr(renderer, names[i]))
            return true;
    }
    return false;
}

static void read_info(th_gl_info *info)
{
    info->vendor = (const char *)glGetString(GL_VENDOR);
    info->renderer = (const char *)glGetString(GL_RENDERER);
    info->version = (const char *)glGetString(GL_VERSION);
    info->software = is_software(info->renderer);
    info->timer_queries = !info->software;
    info->buffer_storage = GLAD_GL_ARB_buffer_storage;
    info->vertex_storage_blocks = limit(GL_MAX_VERTEX_SHADER_STORAGE_BLOCKS);
    info->storage_offset_alignment = limit(GL_SHADER_STORAGE_BUFFER_OFFSET_ALIGNMENT);
    info->storage_block_bytes = limit(GL_MAX_SHADER_STORAGE_BLOCK_SIZE);
    info->texture_buffer_texels = limit(GL_MAX_TEXTURE_BUFFER_SIZE);
    info->max_samples = limit(GL_MAX_SAMPLES);
}

bool th_gl_load(th_gl *gl, GLADloadfunc load, const char *way, th_gl_tried *tried)
{
    int version = gladLoadGL(load);
    if (version < GLAD_MAKE_VERSION(4, 3)) {
        const char *renderer = version ? (const char *)glGetString(GL_RENDERER) : "the driver";
        th_gl_failed(tried, way, "%s has OpenGL %d.%d, and 4.3 is needed", renderer, GLAD_VERSION_MAJOR(version),
                     GLAD_VERSION_MINOR(version));
        return false;
    }
    read_info(&gl->info);
    if (gl->info.vertex_storage_blocks == 0) {
        th_gl_failed(tried, way, "vertex shaders cannot read storage blocks, where palettes lie, with %s",
                     gl->info.renderer);
        return false;
    }
    return true;
}

static bool open_any(th_gl *gl, const th_gl_desc *desc, th_gl_tried *tried)
{
    if (desc->want != TH_GL_HEADLESS && th_gl_open_window(gl, desc, tried))
        return true;
    if (desc->want == TH_GL_WINDOW)
        return false;
    return th_gl_open_devices(gl, desc, true, tried) || th_gl_open_surfaceless(gl, desc, tried) ||
           th_gl_open_devices(gl, desc, false, tried);
}

th_result th_gl_create(const th_gl_desc *desc, th_gl **out_gl, th_error *err)
{
    assert(desc->width <= INT32_MAX && desc->height <= INT32_MAX);
    *out_gl = NULL;
    th_gl *gl = calloc(1, sizeof *gl);
    if (!gl)
        return th_fail(err, TH_ERR_MEMORY, "no memory for an OpenGL context");

    th_gl_tried tried = {0};
    if (!open_any(gl, desc, &tried)) {
        free(gl);
        return th_fail(err, TH_ERR_ENVIRONMENT, "%s: %s",
                       desc->want == TH_GL_WINDOW ? "no window with OpenGL 4.3" : "no OpenGL 4.3", tried.text);
    }
    gl->debug = desc->debug;
    if (gl->debug)
        th_gl_debug_init();
    *out_gl = gl;
    return TH_OK;
}

void th_gl_destroy(th_gl *gl)
{
    if (!gl)
        return;
    if (gl->window)
        th_gl_close_window(gl);
    else
        th_gl_close_egl(gl);
    free(gl);
}

const th_gl_info *th_gl_get_info(const th_gl *gl)
{
    return &gl->info;
}

const char *th_gl_kind_name(th_gl_kind kind)
{
    static const char *const names[] = {"window", "EGL device", "EGL surfaceless"};
    return names[kind];
}

struct GLFWwindow *th_gl_window(const th_gl *gl)
{
    return gl->window;
}

void th_gl_swap(th_gl *gl)
{
    if (gl->window)
        glfwSwapBuffers(gl->window);
    else
        glFlush();
}

void th_gl_finish(th_gl *gl)
{
    (void)gl;
    glFinish();
}

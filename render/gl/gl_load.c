/* What every backend does after it has a context, or has failed to get one. */
#include "gl_backend.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *th_gl_kind_name(th_gl_kind kind)
{
    static const char *const names[] = {"window", "EGL device", "EGL surfaceless"};
    return names[kind];
}

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
    info->shared_memory_bytes = limit(GL_MAX_COMPUTE_SHARED_MEMORY_SIZE);
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

#include <throng/render/gl.h>

#include "gl_backend.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what every backend does after it has a context, or has failed to get one ---- */

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

bool th_gl_load(th_gl *gl, GLADloadfunc load, const char *way, th_gl_tried *tried)
{
    static const char *const software[] = {"llvmpipe", "softpipe", "swrast", "software", "swiftshader", "lavapipe"};
    const int version = gladLoadGL(load);
    if (version < GLAD_MAKE_VERSION(4, 3)) {
        const char *renderer = version ? (const char *)glGetString(GL_RENDERER) : "the driver";
        th_gl_failed(tried, way, "%s has OpenGL %d.%d, and 4.3 is needed", renderer, GLAD_VERSION_MAJOR(version),
                     GLAD_VERSION_MINOR(version));
        return false;
    }
    th_gl_info *info = &gl->info;
    info->vendor = (const char *)glGetString(GL_VENDOR);
    info->renderer = (const char *)glGetString(GL_RENDERER);
    info->version = (const char *)glGetString(GL_VERSION);
    info->software = false;
    for (size_t i = 0; i < sizeof software / sizeof *software; i++)
        info->software |= strcasestr(info->renderer, software[i]) != NULL;
    info->timer_queries = !info->software;
    info->buffer_storage = GLAD_GL_ARB_buffer_storage;
    info->vertex_storage_blocks = limit(GL_MAX_VERTEX_SHADER_STORAGE_BLOCKS);
    info->storage_offset_alignment = limit(GL_SHADER_STORAGE_BUFFER_OFFSET_ALIGNMENT);
    info->storage_block_bytes = limit(GL_MAX_SHADER_STORAGE_BLOCK_SIZE);
    info->shared_memory_bytes = limit(GL_MAX_COMPUTE_SHARED_MEMORY_SIZE);
    info->texture_buffer_texels = limit(GL_MAX_TEXTURE_BUFFER_SIZE);
    info->max_samples = limit(GL_MAX_SAMPLES);
    if (info->vertex_storage_blocks == 0) {
        th_gl_failed(tried, way, "vertex shaders cannot read storage blocks, where palettes lie, with %s",
                     info->renderer);
        return false;
    }
    return true;
}

/* ---- a context ---- */

th_result th_gl_create(const th_gl_desc *desc, th_gl **out_gl, th_error *err)
{
    assert(desc && out_gl);
    assert((unsigned)desc->want <= TH_GL_HEADLESS);
    assert(desc->width <= INT32_MAX && desc->height <= INT32_MAX);
    *out_gl = NULL;
    th_gl *gl = calloc(1, sizeof *gl);
    if (!gl)
        return th_fail(err, TH_ERR_MEMORY, "no memory for an OpenGL context");

    th_gl_tried tried = {0};
    bool is_open = desc->want != TH_GL_HEADLESS && th_gl_open_window(gl, desc, &tried);
    if (!is_open && desc->want != TH_GL_WINDOW)
        is_open = th_gl_open_devices(gl, desc, true, &tried) || th_gl_open_surfaceless(gl, desc, &tried) ||
                  th_gl_open_devices(gl, desc, false, &tried);
    if (!is_open) {
        free(gl);
        return th_fail(err, TH_ERR_ENVIRONMENT, "%s: %s",
                       desc->want == TH_GL_WINDOW ? "no window with OpenGL 4.3" : "no OpenGL 4.3", tried.text);
    }
    gl->debug = desc->debug;
    if (gl->debug) { /* without notifications and performance hints */
        glEnable(GL_DEBUG_OUTPUT);
        glDebugMessageControl(GL_DONT_CARE, GL_DONT_CARE, GL_DONT_CARE, 0, NULL, GL_TRUE);
        glDebugMessageControl(GL_DONT_CARE, GL_DONT_CARE, GL_DEBUG_SEVERITY_NOTIFICATION, 0, NULL, GL_FALSE);
        glDebugMessageControl(GL_DONT_CARE, GL_DEBUG_TYPE_PERFORMANCE, GL_DONT_CARE, 0, NULL, GL_FALSE);
        /* NVIDIA tells where it puts each buffer, and advises. */
        glDebugMessageControl(GL_DONT_CARE, GL_DEBUG_TYPE_OTHER, GL_DONT_CARE, 0, NULL, GL_FALSE);
    }
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
    assert(gl);
    return &gl->info;
}

struct GLFWwindow *th_gl_window(const th_gl *gl)
{
    assert(gl);
    return gl->window;
}

void th_gl_swap(th_gl *gl)
{
    assert(gl);
    if (gl->window)
        glfwSwapBuffers(gl->window);
    else
        glFlush();
}

th_gl_point *th_gl_point_now(th_gl *gl)
{
    assert(gl);
    (void)gl;
    return (th_gl_point *)glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
}

bool th_gl_passed(th_gl *gl, th_gl_point *point, uint64_t timeout_ns)
{
    assert(gl && point);
    (void)gl;
    const GLenum status = glClientWaitSync((GLsync)point, 0, timeout_ns);
    glDeleteSync((GLsync)point);
    return status == GL_ALREADY_SIGNALED || status == GL_CONDITION_SATISFIED;
}

void th_gl_finish(th_gl *gl)
{
    assert(gl);
    (void)gl;
    glFinish();
}

/* ---- errors and messages ----
 *
 * Messages are polled from the driver's log instead of delivered by a callback. So they arrive on this thread, and a
 * driver may keep working on a thread of its own. The log holds at least one message (Mesa: ten); later ones are
 * dropped. */

/* Of OpenGL 4.5, but drivers report it to older contexts, too. */
#define CONTEXT_LOST 0x0507

const char *th_gl_error_name(GLenum error)
{
    switch (error) {
    case GL_INVALID_ENUM:
        return "GL_INVALID_ENUM";
    case GL_INVALID_VALUE:
        return "GL_INVALID_VALUE";
    case GL_INVALID_OPERATION:
        return "GL_INVALID_OPERATION";
    case GL_INVALID_FRAMEBUFFER_OPERATION:
        return "GL_INVALID_FRAMEBUFFER_OPERATION";
    case GL_OUT_OF_MEMORY:
        return "GL_OUT_OF_MEMORY";
    case CONTEXT_LOST:
        return "the context is lost (GL_CONTEXT_LOST): the driver was reset, or the GPU is gone";
    default:
        return "an unknown OpenGL error";
    }
}

static void keep_line(char *line, size_t capacity, const char *text)
{
    assert(capacity > 0);
    const size_t fits = strnlen(text, capacity - 1);
    memcpy(line, text, fits);
    line[fits] = '\0';
    for (char *c = line; *c; c++) {
        if (*c == '\n')
            *c = ' ';
    }
    size_t length = strlen(line);
    while (length > 0 && line[length - 1] == ' ')
        line[--length] = '\0';
}

/* Removes them from the log, the oldest first. A message that does not fit would stay in the log for ever, so its text
 * is dropped. */
static void take_messages(th_gl *gl)
{
    char text[4096];
    while (gl->debug) {
        GLint length = 0;
        glGetIntegerv(GL_DEBUG_NEXT_LOGGED_MESSAGE_LENGTH, &length);
        const bool fits = length <= (GLint)sizeof text;
        if (!fits)
            snprintf(text, sizeof text, "a message of %d bytes", length);
        if (glGetDebugMessageLog(1, fits ? sizeof text : 0, NULL, NULL, NULL, NULL, NULL, fits ? text : NULL) == 0)
            return;
        if (gl->messages == 0)
            keep_line(gl->first, sizeof gl->first, text);
        if (gl->messages == gl->checked)
            keep_line(gl->unchecked, sizeof gl->unchecked, text);
        gl->messages++;
    }
}

uint32_t th_gl_messages(th_gl *gl, const char **out_first)
{
    assert(gl);
    take_messages(gl);
    if (out_first)
        *out_first = gl->messages ? gl->first : NULL;
    return gl->messages;
}

/* Of the errors the oldest is told. The driver may have a flag per kind of error, so all are cleared. The loop is
 * bounded because a lost context reports errors without end. */
th_result th_gl_check(th_gl *gl, const char *where, th_error *err)
{
    assert(gl && where);
    const GLenum error = glGetError();
    for (int i = 0; i < 16 && error && glGetError(); i++)
        ;
    take_messages(gl);
    assert(gl->messages >= gl->checked);
    bool told = gl->messages > gl->checked;
    gl->checked = gl->messages;
    if (error == GL_NO_ERROR && !told)
        return TH_OK;
    return th_fail(err, error == GL_OUT_OF_MEMORY ? TH_ERR_MEMORY : TH_ERR_ENVIRONMENT, "%s: %s%s%s", where,
                   error ? th_gl_error_name(error) : "", error && told ? ": " : "", told ? gl->unchecked : "");
}

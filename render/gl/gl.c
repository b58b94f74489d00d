#include <throng/render/gl.h>

#include "gl_backend.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <assert.h>
#include <stdlib.h>

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
    assert(desc && out_gl);
    assert((unsigned)desc->want <= TH_GL_HEADLESS);
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

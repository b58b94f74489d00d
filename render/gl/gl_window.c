#include "gl_backend.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

/* GLFW is global to the program; the last window terminates it. */
static uint32_t window_count;

static const char *last_error(void)
{
    const char *text = NULL;
    glfwGetError(&text);
    return text ? text : "GLFW does not say why";
}

static void glfw_release(void)
{
    if (window_count == 0)
        glfwTerminate();
}

/* The window shows finished pictures only, so it needs no depth, stencil or samples. */
static GLFWwindow *create_window(const th_gl_desc *desc, int major, int minor)
{
    glfwDefaultWindowHints();
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, major);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, minor);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_OPENGL_DEBUG_CONTEXT, desc->debug);
    glfwWindowHint(GLFW_DEPTH_BITS, 0);
    glfwWindowHint(GLFW_STENCIL_BITS, 0);
    return glfwCreateWindow(desc->width ? (int)desc->width : 1280, desc->height ? (int)desc->height : 720,
                            desc->title ? desc->title : "Throng", NULL, NULL);
}

bool th_gl_open_window(th_gl *gl, const th_gl_desc *desc, th_gl_tried *tried)
{
    if (!glfwInit()) {
        th_gl_failed(tried, "window", "%s", last_error());
        return false;
    }
    gl->window = create_window(desc, 4, 3);
    const char *why = gl->window ? "" : last_error();
    if (!gl->window)
        gl->window = create_window(desc, 3, 2); /* lets th_gl_load report the version */
    if (!gl->window) {
        th_gl_failed(tried, "window", "%s", why);
        glfw_release();
        return false;
    }
    glfwMakeContextCurrent(gl->window);
    if (!th_gl_load(gl, glfwGetProcAddress, "window", tried)) {
        glfwDestroyWindow(gl->window);
        gl->window = NULL;
        glfw_release();
        return false;
    }
    window_count++;
    glfwSwapInterval(desc->vsync ? 1 : 0);
    gl->info.kind = TH_GL_KIND_WINDOW;
    return true;
}

void th_gl_close_window(th_gl *gl)
{
    glfwDestroyWindow(gl->window);
    window_count--;
    glfw_release();
}

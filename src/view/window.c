#include "window.h"

#include <core/build_checks.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <stdlib.h>
#include <string.h>

/* ---- events ---- */

static th_controls *controls_of(GLFWwindow *window)
{
    return &((th_window *)glfwGetWindowUserPointer(window))->controls;
}

static void on_key(GLFWwindow *window, int key, int code, int action, int mods)
{
    (void)code;
    th_controls_key(controls_of(window), key, action, mods);
}

static void on_char(GLFWwindow *window, unsigned codepoint)
{
    th_controls_char(controls_of(window), codepoint);
}

static void on_button(GLFWwindow *window, int button, int action, int mods)
{
    th_controls_button(controls_of(window), button, action, mods);
}

/* In pixels, of which a unit of the window has several on some displays. */
static void on_cursor(GLFWwindow *window, double x, double y)
{
    int width, height, across, down;
    glfwGetWindowSize(window, &width, &height);
    glfwGetFramebufferSize(window, &across, &down);
    if (width > 0 && height > 0 && down > 0)
        th_controls_cursor(controls_of(window), x * across / width, y * down / height, down);
}

static void on_scroll(GLFWwindow *window, double x, double y)
{
    (void)x;
    th_controls_scroll(controls_of(window), y);
}

static void on_focus(GLFWwindow *window, int focused)
{
    if (!focused)
        th_controls_release(controls_of(window));
}

void th_window_poll(th_window *w, double wait_s)
{
    (void)w;
    if (wait_s > 0)
        glfwWaitEventsTimeout(wait_s);
    else
        glfwPollEvents();
}

/* ---- opening ---- */

th_result th_window_open(const th_target_desc *picture, th_window **out, th_error *err)
{
    *out = NULL;
    th_window *w = calloc(1, sizeof *w);
    if (!w)
        return th_fail(err, TH_ERR_MEMORY, "no memory for a window");
    const th_gl_desc desc = {.want = TH_GL_WINDOW,
                             .width = picture->width,
                             .height = picture->height,
                             .vsync = true,
                             .debug = TH_BUILD_CHECKS};
    th_result result = th_gl_create(&desc, &w->gl, err);
    if (result != TH_OK) {
        free(w);
        return result;
    }
    w->samples = picture->samples;
    w->window = th_gl_window(w->gl);
    glfwSetWindowUserPointer(w->window, w);
    glfwSetKeyCallback(w->window, on_key);
    glfwSetCharCallback(w->window, on_char);
    glfwSetMouseButtonCallback(w->window, on_button);
    glfwSetCursorPosCallback(w->window, on_cursor);
    glfwSetScrollCallback(w->window, on_scroll);
    glfwSetWindowFocusCallback(w->window, on_focus);
    *out = w;
    return TH_OK;
}

void th_window_close(th_window *w)
{
    if (!w)
        return;
    th_target_destroy(w->canvas.target);
    th_gl_destroy(w->gl);
    free(w);
}

bool th_window_closing(const th_window *w)
{
    return glfwWindowShouldClose(w->window);
}

/* ---- the picture ---- */

th_result th_window_fit(th_window *w, const th_canvas **out, th_error *err)
{
    th_canvas *c = &w->canvas;
    int width, height;
    float x, y;
    *out = NULL;
    glfwGetFramebufferSize(w->window, &width, &height);
    if (width <= 0 || height <= 0 || glfwGetWindowAttrib(w->window, GLFW_ICONIFIED))
        return TH_OK;
    glfwGetWindowContentScale(w->window, &x, &y);
    c->density = x > y ? x : y;
    const th_target_desc desc = {.width = (uint32_t)width, .height = (uint32_t)height, .samples = w->samples};
    th_result result = c->target ? th_target_resize(c->target, desc.width, desc.height, err)
                                 : th_target_create(&desc, &c->target, err);
    if (result == TH_OK) {
        c->width = desc.width;
        c->height = desc.height;
    }
    *out = c->target ? c : NULL;
    return result;
}

/* ---- title, vsync, full screen ---- */

void th_window_set_title(th_window *w, const char *title)
{
    if (strncmp(w->title, title, sizeof w->title - 1) == 0)
        return;
    strncpy(w->title, title, sizeof w->title - 1);
    glfwSetWindowTitle(w->window, w->title);
}

void th_window_set_vsync(th_window *w, bool vsync)
{
    (void)w;
    glfwSwapInterval(vsync);
}

void th_window_toggle_full_screen(th_window *w)
{
    if (glfwGetWindowMonitor(w->window)) {
        glfwSetWindowMonitor(w->window, NULL, w->framed.x, w->framed.y, w->framed.width, w->framed.height,
                             GLFW_DONT_CARE);
        return;
    }
    GLFWmonitor *monitor = glfwGetPrimaryMonitor();
    const GLFWvidmode *mode = monitor ? glfwGetVideoMode(monitor) : NULL;
    if (!mode)
        return;
    glfwGetWindowPos(w->window, &w->framed.x, &w->framed.y);
    glfwGetWindowSize(w->window, &w->framed.width, &w->framed.height);
    glfwSetWindowMonitor(w->window, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
}

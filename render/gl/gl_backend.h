/* Shared by the window and EGL backends. */
#ifndef TH_RENDER_GL_GL_BACKEND_H
#define TH_RENDER_GL_GL_BACKEND_H

#include <glad/gl.h>
#include <stddef.h>
#include <throng/render/gl.h>

struct th_gl {
    th_gl_info info;
    bool debug;
    uint32_t messages, checked;      /* all so far, and those that th_gl_check has reported */
    char first[512], unchecked[512]; /* the first of all, and the first since th_gl_check */

    struct GLFWwindow *window;
    void *egl_display, *egl_context;
    struct th_gl *next; /* list of live EGL contexts */
};

/* The attempts that failed, and why. */
typedef struct th_gl_tried {
    char text[960]; /* truncated when full */
    size_t length;
} th_gl_tried;

__attribute__((format(printf, 3, 4))) void th_gl_failed(th_gl_tried *tried, const char *way, const char *format, ...);

/* The backends. On success the context is current and `gl` is complete; on failure nothing is left behind. gpus: try
 * only devices that are not software renderers. */
bool th_gl_open_window(th_gl *gl, const th_gl_desc *desc, th_gl_tried *tried);
bool th_gl_open_devices(th_gl *gl, const th_gl_desc *desc, bool gpus, th_gl_tried *tried);
bool th_gl_open_surfaceless(th_gl *gl, const th_gl_desc *desc, th_gl_tried *tried);
void th_gl_close_window(th_gl *gl);
void th_gl_close_egl(th_gl *gl);

/* Loads OpenGL for the current context and fills gl->info except the kind. False when the context lacks a required
 * feature. */
bool th_gl_load(th_gl *gl, GLADloadfunc load, const char *way, th_gl_tried *tried);

/* "GL_INVALID_VALUE" */
const char *th_gl_error_name(GLenum error);

#endif

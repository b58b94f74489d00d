/* What the ways to a context share. */
#ifndef TH_RENDER_GL_GL_BACKEND_H
#define TH_RENDER_GL_GL_BACKEND_H

#include <glad/gl.h>
#include <stddef.h>
#include <throng/render/gl.h>

struct th_gl {
    th_gl_info info;
    bool debug;
    uint32_t messages, checked;      /* all, and those that th_gl_check failed for */
    char first[512], unchecked[512]; /* the first of all, the first since th_gl_check */

    struct GLFWwindow *window;
    void *egl_display, *egl_context;
    struct th_gl *next; /* of the EGL contexts that live */
};

/* Ways that failed, and why. */
typedef struct th_gl_tried {
    char text[960]; /* cut when full */
    size_t length;
} th_gl_tried;

__attribute__((format(printf, 3, 4))) void th_gl_failed(th_gl_tried *tried, const char *way, const char *format, ...);

/* The ways: each leaves its context current and `gl` complete, or nothing. `gpus`: only devices that are not software.
 */
bool th_gl_open_window(th_gl *gl, const th_gl_desc *desc, th_gl_tried *tried);
bool th_gl_open_devices(th_gl *gl, const th_gl_desc *desc, bool gpus, th_gl_tried *tried);
bool th_gl_open_surfaceless(th_gl *gl, const th_gl_desc *desc, th_gl_tried *tried);
void th_gl_close_window(th_gl *gl);
void th_gl_close_egl(th_gl *gl);

/* Loads OpenGL for the current context and fills gl->info but for the kind. False when the context is not enough. */
bool th_gl_load(th_gl *gl, GLADloadfunc load, const char *way, th_gl_tried *tried);

/* Drops the messages that nobody wants to hear of. */
void th_gl_debug_init(void);

/* "GL_INVALID_VALUE" */
const char *th_gl_error_name(GLenum error);

#endif

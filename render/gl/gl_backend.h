/* What a context is. */
#ifndef TH_RENDER_GL_GL_BACKEND_H
#define TH_RENDER_GL_GL_BACKEND_H

#include <glad/gl.h>
#include <render/gl.h>

struct th_gl {
    th_gl_info info;
    bool debug;
    uint32_t messages, checked;      /* all so far, and those that th_gl_check has reported */
    char first[512], unchecked[512]; /* the first of all, and the first since th_gl_check */

    struct GLFWwindow *window;
    void *egl_display, *egl_context;
    struct th_gl *next; /* list of live EGL contexts */
};

/* "GL_INVALID_VALUE" */
const char *th_gl_error_name(GLenum error);

#endif

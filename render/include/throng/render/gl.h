/* OpenGL 4.3: a window, or a context without one.
 *
 * Everything of this library happens on one thread, the one that created the context; windows want it to be the
 * program's first. Several contexts may live at a time, of which only the one created last is current. */
#ifndef THRONG_RENDER_GL_H
#define THRONG_RENDER_GL_H

#include <stdbool.h>
#include <stdint.h>
#include <throng/core/api.h>
#include <throng/core/error.h>

TH_API_BEGIN

typedef struct th_gl th_gl;
struct GLFWwindow;

typedef enum th_gl_want {
    TH_GL_ANY,      /* a window; where there is no display, none */
    TH_GL_WINDOW,   /* a window or an error */
    TH_GL_HEADLESS, /* none, even if there is a display */
} th_gl_want;

typedef struct th_gl_desc {
    th_gl_want want;
    uint32_t width, height; /* of the window, in screen coordinates; 0: 1280 and 720 */
    const char *title;      /* of the window, UTF-8; NULL: "Throng" */
    bool vsync;             /* th_gl_swap waits for the display */
    bool debug;             /* the driver checks what it is told to do: th_gl_messages. Costs time */
} th_gl_desc;

typedef enum th_gl_kind {
    TH_GL_KIND_WINDOW,     /* GLFW */
    TH_GL_KIND_DEVICE,     /* EGL on a device */
    TH_GL_KIND_SURFACELESS /* EGL on a device of Mesa's choice */
} th_gl_kind;

typedef struct th_gl_info {
    th_gl_kind kind;
    const char *vendor, *renderer, *version; /* in the driver's words; live as long as the context */
    bool software;                           /* draws on the CPU */
    bool timer_queries;                      /* can be trusted; a software renderer's cannot, it draws later */
    bool buffer_storage;                     /* ARB_buffer_storage: buffers that stay mapped */
    uint32_t vertex_storage_blocks;          /* shader storage blocks that a vertex shader can have, at least 1 */
    uint32_t storage_offset_alignment;       /* bytes; where in a buffer a shader storage block can begin */
    uint64_t storage_block_bytes;            /* the largest shader storage block */
    uint64_t texture_buffer_texels;          /* the longest buffer texture */
    uint32_t max_samples;                    /* of a th_target */
} th_gl_info;

/* Opens a context and makes it current on the calling thread. Without a window it is tried, in this order: EGL on a
 * device that is a GPU, EGL on Mesa's surfaceless platform, EGL on any device. TH_ERR_ENVIRONMENT names all that was
 * tried, and why each failed; OpenGL older than 4.3 and vertex shaders that cannot read storage blocks are such
 * reasons.
 */
th_result th_gl_create(const th_gl_desc *desc, th_gl **out_gl, th_error *err);

/* Whatever was made in the context must be gone by then. NULL does nothing. */
void th_gl_destroy(th_gl *gl);

const th_gl_info *th_gl_get_info(const th_gl *gl);
const char *th_gl_kind_name(th_gl_kind kind); /* "window", "EGL device", "EGL surfaceless" */

/* For input and for the title; NULL when there is none. Stays the context's. */
struct GLFWwindow *th_gl_window(const th_gl *gl);

/* Shows what was drawn to the window. Without one it only has the driver begin with the work so far. */
void th_gl_swap(th_gl *gl);

/* Waits until all work so far is done. */
void th_gl_finish(th_gl *gl);

/* How many messages a debug context has given since it was created: errors, undefined behaviour, what is deprecated or
 * not portable. Notifications do not count, nor does advice on performance. It is at least so many: a driver keeps only
 * its first few from one call to the next. `out_first`, which may be NULL, becomes the text of the first one ever, or
 * NULL; it lives as long as the context. 0 when the context is no debug context. */
uint32_t th_gl_messages(th_gl *gl, const char **out_first);

/* Fails when there is an OpenGL error, or a message that an earlier call did not fail for; `where` begins the text:
 * what had been going on. TH_ERR_MEMORY when the driver ran out of it, else TH_ERR_ENVIRONMENT. Waits for the driver.
 */
th_result th_gl_check(th_gl *gl, const char *where, th_error *err);

TH_API_END

#endif

/* OpenGL 4.3 in a window, or in a context without one.
 *
 * All calls of this library belong to the thread that created the context; with a window it must be the program's first
 * thread. Several contexts may exist at a time; only the newest is current. */
#ifndef THRONG_RENDER_GL_H
#define THRONG_RENDER_GL_H

#include <core/error.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct th_gl th_gl;
struct GLFWwindow;

typedef enum th_gl_want {
    TH_GL_ANY,      /* a window, or a context without one when there is no display */
    TH_GL_WINDOW,   /* a window, or an error */
    TH_GL_HEADLESS, /* no window, even if there is a display */
} th_gl_want;

typedef struct th_gl_desc {
    th_gl_want want;
    uint32_t width, height; /* of the window, in screen coordinates; 0: 1280 and 720 */
    const char *title;      /* of the window, UTF-8; NULL: "Throng" */
    bool vsync;             /* th_gl_swap waits for the display's refresh */
    bool debug;             /* the driver reports errors (th_gl_messages); slower */
} th_gl_desc;

typedef enum th_gl_kind {
    TH_GL_KIND_WINDOW,     /* GLFW */
    TH_GL_KIND_DEVICE,     /* EGL on a device */
    TH_GL_KIND_SURFACELESS /* EGL on a device that Mesa chooses */
} th_gl_kind;

typedef struct th_gl_info {
    th_gl_kind kind;
    const char *vendor, *renderer, *version; /* as the driver reports them; valid as long as the context */
    bool software;                           /* the driver renders on the CPU */
    bool timer_queries;  /* results are reliable; those of software renderers are not, because they draw later */
    bool buffer_storage; /* ARB_buffer_storage: buffers can stay mapped */
    uint32_t vertex_storage_blocks;    /* most shader storage blocks in a vertex shader; at least 1 */
    uint32_t storage_offset_alignment; /* bytes; alignment of a storage block in its buffer */
    uint64_t storage_block_bytes;      /* size limit of a shader storage block */
    uint32_t shared_memory_bytes;      /* of a work group of a compute shader */
    uint64_t texture_buffer_texels;    /* size limit of a buffer texture */
    uint32_t max_samples;              /* for a th_target */
} th_gl_info;

/* Opens a context and makes it current on the calling thread. Without a window it tries, in this order: EGL on a GPU
 * device, EGL on Mesa's surfaceless platform, EGL on any device. TH_ERR_ENVIRONMENT lists every attempt and why it
 * failed. OpenGL older than 4.3 counts as a failure, and so do vertex shaders that cannot read storage blocks. */
th_result th_gl_create(const th_gl_desc *desc, th_gl **out_gl, th_error *err);

/* All objects made in the context must have been destroyed. NULL does nothing. */
void th_gl_destroy(th_gl *gl);

const th_gl_info *th_gl_get_info(const th_gl *gl);
const char *th_gl_kind_name(th_gl_kind kind); /* "window", "EGL device", "EGL surfaceless" */

/* For input and the title; NULL without a window. The context owns it. */
struct GLFWwindow *th_gl_window(const th_gl *gl);

/* Shows the window's framebuffer. Without a window it only flushes, so that the driver starts on the work so far. */
void th_gl_swap(th_gl *gl);

/* Waits until the GPU has done all work so far. */
void th_gl_finish(th_gl *gl);

/* A point in the GPU's work: after all calls so far. th_gl_passed waits at most timeout_ns for the GPU to reach it,
 * says whether it has, and frees it. */
typedef struct th_gl_point th_gl_point;
th_gl_point *th_gl_point_now(th_gl *gl);
bool th_gl_passed(th_gl *gl, th_gl_point *point, uint64_t timeout_ns);

/* The number of messages from a debug context since its creation: errors, undefined behaviour, deprecated and
 * non-portable use. Notifications and performance hints do not count. The number is a lower bound: a driver keeps only
 * its first few messages between two calls. *out_first (out_first may be NULL) is the first message ever or NULL; it is
 * valid as long as the context. Returns 0 when the context is no debug context. */
uint32_t th_gl_messages(th_gl *gl, const char **out_first);

/* Fails on an OpenGL error, or on a message that no earlier call reported. `where` says what was going on and begins
 * the text. TH_ERR_MEMORY when the driver ran out of memory, otherwise TH_ERR_ENVIRONMENT. Waits for the driver. */
th_result th_gl_check(th_gl *gl, const char *where, th_error *err);

#endif

/* What only the project uses of OpenGL contexts. */
#ifndef THRONG_RENDER_GL_H
#define THRONG_RENDER_GL_H

#include <core/error.h>
#include <throng/render.h>

const char *th_gl_kind_name(th_gl_kind kind); /* "window", "EGL device", "EGL surfaceless", "the caller's" */

/* Waits until the GPU has done all work so far. */
void th_gl_finish(th_gl *gl);

/* What is drawn between is not drawn. end: takes what begin has returned. */
uint32_t th_gl_discard_begin(void);
void th_gl_discard_end(uint32_t nothing);

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

#endif

/* Snapshots for `throng serve`: a snapshot renderer that uses OpenGL without a window. */
#ifndef TH_CLI_SNAPSHOT_GL_H
#define TH_CLI_SNAPSHOT_GL_H

#include "options.h"

#include <throng/serve/snapshot_renderer.h>

typedef struct th_snapshot_gl th_snapshot_gl;

/* Opens no context yet. Call it before other threads exist, because it sets an environment variable. */
th_result th_snapshot_gl_create(const th_options *options, th_snapshot_gl **out, th_error *err);
void th_snapshot_gl_destroy(th_snapshot_gl *snapshot_gl); /* must have been cleared; NULL does nothing */

th_snapshot_renderer th_snapshot_gl_renderer(th_snapshot_gl *snapshot_gl);

#endif

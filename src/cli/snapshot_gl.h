/* Pictures for `throng serve`: a snapshot renderer on OpenGL without a window. */
#ifndef TH_CLI_SNAPSHOT_GL_H
#define TH_CLI_SNAPSHOT_GL_H

#include "options.h"

#include <throng/serve/snapshot_renderer.h>

typedef struct th_snapshot_gl th_snapshot_gl;

/* Opens no context yet. Called before there are threads: it sets an environment variable. */
th_result th_snapshot_gl_create(const th_options *options, th_snapshot_gl **out, th_error *err);
void th_snapshot_gl_destroy(th_snapshot_gl *snapshot_gl); /* cleared; NULL is fine */

th_snapshot_renderer th_snapshot_gl_renderer(th_snapshot_gl *snapshot_gl);

#endif

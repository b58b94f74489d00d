/* Snapshots for `throng serve`: a snapshot renderer that uses OpenGL without a window. */
#ifndef TH_CLI_SNAPSHOT_GL_H
#define TH_CLI_SNAPSHOT_GL_H

#include <throng/render/crowd_view.h>
#include <throng/serve/snapshot_renderer.h>

typedef struct th_snapshot_gl th_snapshot_gl;

/* Opens no context yet. Call it before other threads exist, because it sets an environment variable. crowd: its models,
 * instances, count and interpolation are ignored, because those of the snapshot are drawn. */
th_result th_snapshot_gl_create(const th_crowd_view_desc *crowd, uint32_t samples, th_snapshot_gl **out, th_error *err);
void th_snapshot_gl_destroy(th_snapshot_gl *snapshot_gl); /* must have been cleared; NULL does nothing */

th_snapshot_renderer th_snapshot_gl_renderer(th_snapshot_gl *snapshot_gl);

#endif

/* Pictures for `throng serve`: a studio on OpenGL without a window. */
#ifndef TH_CLI_SNAPSHOT_GL_H
#define TH_CLI_SNAPSHOT_GL_H

#include "options.h"

#include <throng/serve/snapshot_renderer.h>

typedef struct th_snapshots th_snapshots;

/* Opens no context yet. Called before there are threads: it sets an environment variable. */
th_result th_snapshots_create(const th_options *options, th_snapshots **out, th_error *err);
void th_snapshots_destroy(th_snapshots *snapshots); /* cleared; NULL is fine */

th_studio th_snapshots_studio(th_snapshots *snapshots);

#endif

/* The picture process of `throng serve`. */
#ifndef TH_CLI_SNAPSHOT_RENDERER_H
#define TH_CLI_SNAPSHOT_RENDERER_H

/* `throng TH_SNAPSHOT_COMMAND`, started by the server (snapshot_ipc.h), which is its standard input. Returns the exit
 * code. */
int th_snapshot_renderer_run(void);

#endif

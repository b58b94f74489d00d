/* Pictures of the crowd on request, by a process of their own (snapshot_ipc.h) and a thread that talks to it and never
 * synchronises with the tick thread: it gets the settings and the crowd's clock from the controller. */
#ifndef TH_SERVE_SIMULATION_SNAPSHOT_SERVICE_H
#define TH_SERVE_SIMULATION_SNAPSHOT_SERVICE_H

#include "simulation_controller.h"

#include <throng/render.h>

typedef struct th_snapshot_service th_snapshot_service;

/* Pixels. */
typedef struct th_snapshot_view {
    uint32_t width, height;
    th_layout_kind layout;
} th_snapshot_view;
enum { TH_SNAPSHOT_MIN_SIDE = 16, TH_SNAPSHOT_MAX_WIDTH = 1280, TH_SNAPSHOT_MAX_HEIGHT = 720 };

/* Thread and process inherit the caller's priority. The controller must outlive it. */
th_result th_snapshot_service_create(th_controller *controller, const th_controller_desc *fixed,
                                     th_snapshot_service **out, th_error *err);
void th_snapshot_service_destroy(th_snapshot_service *snapshots); /* gives up a snapshot in progress; NULL is allowed */

typedef enum th_snapshot_status {
    TH_SNAPSHOT_READY,   /* *out is a recent PNG, shared; release it with th_snapshot_release */
    TH_SNAPSHOT_PENDING, /* in progress: ask again when th_snapshot_service_fd is readable */
    TH_SNAPSHOT_FAILED,  /* err says why */
} th_snapshot_status;

/* Any thread; never waits. After a snapshot or a failure the thread pauses for four times the CPU time it took, at
 * least a second, for all clients and views: it uses at most a fifth of a CPU. Meanwhile the last snapshot or failure
 * counts as recent. */
th_snapshot_status th_snapshot_service_request(th_snapshot_service *snapshots, const th_snapshot_view *view, char **out,
                                               size_t *out_size, th_error *err);
void th_snapshot_release(void *png); /* any thread */

/* An eventfd, incremented with each snapshot and each failure. */
int th_snapshot_service_fd(const th_snapshot_service *snapshots);

typedef struct th_snapshot_cpu {
    uint64_t all_ns;    /* of the thread and of its processes */
    uint64_t thread_ns; /* counts for the server's process as well */
} th_snapshot_cpu;
th_snapshot_cpu th_snapshot_service_cpu(th_snapshot_service *snapshots);

#endif

/* Renders snapshots of the crowd on request, on a thread of its own that never synchronises with the tick thread: it
 * gets the settings, the seed and the crowd's clock from the controller, and poses the same characters again. */
#ifndef TH_SERVE_SIMULATION_SNAPSHOT_SERVICE_H
#define TH_SERVE_SIMULATION_SNAPSHOT_SERVICE_H

#include "simulation_controller.h"

#include <throng/serve/snapshot_renderer.h>

typedef struct th_snapshot_service th_snapshot_service;

/* Pixels. */
enum { TH_SNAPSHOT_MIN_SIDE = 16, TH_SNAPSHOT_MAX_WIDTH = 1280, TH_SNAPSHOT_MAX_HEIGHT = 720 };

/* The maximum number of characters in a snapshot: the first of the crowd, which are in the middle of the grid. */
#define TH_SNAPSHOT_CHARACTERS 400u

/* The thread inherits the caller's priority. The controller and everything that the renderer points to must outlive
 * it. */
th_result th_snapshot_service_create(const th_snapshot_renderer *renderer, th_controller *controller, uint64_t seed,
                                     th_snapshot_service **out, th_error *err);
void th_snapshot_service_destroy(
    th_snapshot_service *snapshots); /* waits for a snapshot in progress; NULL is allowed */

typedef enum th_snapshot_status {
    TH_SNAPSHOT_READY,   /* *out is a recent PNG, shared; release it with th_snapshot_release */
    TH_SNAPSHOT_PENDING, /* in progress: ask again when th_snapshot_service_fd is readable */
    TH_SNAPSHOT_FAILED,  /* err says why */
} th_snapshot_status;

/* Any thread; never waits. After a snapshot the thread pauses for four times the CPU time it took, at least a second,
 * for all clients and sizes: it uses at most a fifth of a CPU. Meanwhile the last snapshot counts as recent. */
th_snapshot_status th_snapshot_service_request(th_snapshot_service *snapshots, uint32_t width, uint32_t height,
                                               char **out, size_t *out_size, th_error *err);
void th_snapshot_release(void *png); /* any thread */

/* An eventfd, incremented with each snapshot and each failure. */
int th_snapshot_service_fd(const th_snapshot_service *snapshots);

uint64_t th_snapshot_service_cpu_ns(const th_snapshot_service *snapshots);

#endif

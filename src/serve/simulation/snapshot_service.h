/* Takes pictures of the crowd when somebody asks for one, on a thread of its own that never meets the one that ticks:
 * it has the settings, the seed and the crowd's clock from the controller, and poses the same characters once more. */
#ifndef TH_SERVE_SIMULATION_SNAPSHOT_SERVICE_H
#define TH_SERVE_SIMULATION_SNAPSHOT_SERVICE_H

#include "simulation_controller.h"

#include <throng/serve/snapshot_renderer.h>

typedef struct th_snapshot_service th_snapshot_service;

/* Pixels. */
enum { TH_SNAPSHOT_MIN_SIDE = 16, TH_SNAPSHOT_MAX_WIDTH = 1280, TH_SNAPSHOT_MAX_HEIGHT = 720 };

/* So many characters are in a picture at most: the crowd's first, which a grid has in its middle. */
#define TH_SNAPSHOT_CHARACTERS 400u

/* The thread is as nice as the caller. The controller and all that the renderer points to must outlive it. */
th_result th_snapshot_service_create(const th_snapshot_renderer *renderer, th_controller *controller, uint64_t seed,
                                     th_snapshot_service **out, th_error *err);
void th_snapshot_service_destroy(
    th_snapshot_service *snapshots); /* waits for a picture that is being drawn; NULL is fine */

typedef enum th_snapshot_status {
    TH_SNAPSHOT_READY,   /* *out is a recent PNG, shared by all who get it, for th_snapshot_release */
    TH_SNAPSHOT_PENDING, /* it is being taken: ask again once th_snapshot_service_fd is readable */
    TH_SNAPSHOT_FAILED,  /* there is none, and err says why */
} th_snapshot_status;

/* Any thread; never waits. After a picture the thread rests for four times the CPU time that it took, and a second at
 * least, whoever asks for which size: it never takes more than a fifth of a CPU. Meanwhile the picture is recent. */
th_snapshot_status th_snapshot_service_request(th_snapshot_service *snapshots, uint32_t width, uint32_t height,
                                               char **out, size_t *out_size, th_error *err);
void th_snapshot_release(void *png); /* any thread */

/* An eventfd, counted up with each picture and each failure. */
int th_snapshot_service_fd(const th_snapshot_service *snapshots);

uint64_t th_snapshot_service_cpu_ns(const th_snapshot_service *snapshots);

#endif

/* The server's end of the picture process (snapshot_ipc.h). */
#ifndef TH_SERVE_SIMULATION_SNAPSHOT_PROCESS_H
#define TH_SERVE_SIMULATION_SNAPSHOT_PROCESS_H

#include "simulation.h"
#include <serve/snapshot_ipc.h>

#include <sys/types.h>

typedef struct th_snapshot_process {
    pid_t pid; /* 0: none */
    int socket;
} th_snapshot_process;

/* Starts it from the calling thread, with which it ends. It inherits the thread's priority. max_bytes: of its data,
 * beyond TH_PICTURES_BASE_BYTES. */
th_result th_snapshot_process_start(uint64_t max_bytes, th_snapshot_process *out, th_error *err);

th_result th_snapshot_process_set_scene(const th_snapshot_process *process, const th_snapshot_scene *scene,
                                        const th_model_cache *models, th_error *err);

/* Waits for the answer to a request: its size, for th_snapshot_receive, or the error. */
th_result th_snapshot_process_render(const th_snapshot_process *process, const th_snapshot_request *request,
                                     size_t *out_size, th_error *err);

/* Kills it, if it has not ended, and waits for it. */
void th_snapshot_process_end(th_snapshot_process *process);

/* CPU time that it has used. Until its end. */
uint64_t th_snapshot_process_cpu_ns(pid_t pid);

#endif

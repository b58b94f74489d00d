/* Statistics of this process, in the units of Prometheus' process metrics. */
#ifndef TH_SERVE_METRICS_PROCESS_H
#define TH_SERVE_METRICS_PROCESS_H

#include <stdint.h>

/* Unknown values are 0. */
typedef struct th_process {
    double start_time_s; /* since 1970 */
    uint64_t resident_bytes, virtual_bytes;
    uint64_t threads;
    uint64_t open_fds, max_fds;
} th_process;

th_process th_process_read(void);

#endif

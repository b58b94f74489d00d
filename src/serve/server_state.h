/* All that the server is made of, for those who show it: metrics, JSON, pages. */
#ifndef TH_SERVE_SERVER_STATE_H
#define TH_SERVE_SERVER_STATE_H

#include "http/address.h"
#include "runs/run_manager.h"
#include "simulation/simulation_controller.h"
#include "simulation/snapshot_service.h"

#include <throng/bench/context.h>
#include <throng/serve/model_registry.h>

enum { TH_STATUS_LOWEST = 100, TH_STATUS_COUNT = 500 };

/* Counted by the thread that answers clients, which is the only one to look. */
typedef struct th_traffic {
    uint64_t requests[TH_STATUS_COUNT]; /* by status, from TH_STATUS_LOWEST on */
    uint64_t connections;               /* now */
    uint64_t event_clients;             /* now */
    uint64_t events_skipped;            /* that slow clients did not get */
    uint64_t stalled;                   /* connections closed because they took too long */
} th_traffic;

enum { TH_MINUTE = 60 };

typedef struct th_server_state {
    const char *listen; /* where, as text */
    th_catalogue catalogue;
    th_limits limits;
    const char *const *run_kinds; /* NULL at the end */
    th_director_desc fixed;       /* what does not change: seed, formats, bounds */
    th_director *director;
    th_runs *runs;
    th_photographer *photographer;
    th_context machine;
    th_traffic traffic;
    uint64_t start_ns;
    char started[32];
    bool has_notify; /* built with libsystemd */

    /* Of the last minute, a second each: to take differences. */
    th_histogram durations[TH_MINUTE + 1];
    uint64_t duration_count;         /* added since the start */
    uint64_t beat_ns, server_cpu_ns; /* the clock and this thread's CPU time at the last beat */
    double server_cpu_share;         /* of one CPU, between the last two beats */
    double crowd_cpu_s;              /* as last told: a counter must not go back */
} th_server_state;

/* Once a second, by the thread that answers clients, and before the first one th_server_state_begin. */
void th_server_state_begin(th_server_state *state);
void th_server_state_beat(th_server_state *state);

/* CPU time by what it went into; the calling thread is the server. */
typedef struct th_cpu_parts {
    double process_s, crowd_s, server_s, director_s, pictures_s;
} th_cpu_parts;
th_cpu_parts th_server_state_cpu(th_server_state *state);

json_t *th_state_json(th_server_state *state);
json_t *th_models_json(th_server_state *state);
json_t *th_history_json(th_server_state *state, uint32_t seconds);

/* Everything for Prometheus, malloc'd; NULL when memory is out. */
char *th_metrics_text(th_server_state *state, size_t *out_size);

#endif

/* All that the server is made of, for those who show it: metrics, JSON, pages. */
#ifndef TH_SERVE_SERVER_STATE_H
#define TH_SERVE_SERVER_STATE_H

#include "http/address.h"
#include "runs/run_manager.h"
#include "simulation/simulation_controller.h"
#include "simulation/snapshot_service.h"

#include <throng/bench/context.h>
#include <throng/serve/model_registry.h>

enum { TH_STATUS_MIN = 100, TH_STATUS_COUNT = 500 };

/* Counted by the thread that answers clients, which is the only one to look. */
typedef struct th_http_stats {
    uint64_t requests[TH_STATUS_COUNT]; /* by status, from TH_STATUS_MIN on */
    uint64_t connections;               /* now */
    uint64_t event_clients;             /* now */
    uint64_t events_dropped;            /* that slow clients did not get */
    uint64_t stalled;                   /* connections closed because they took too long */
} th_http_stats;

enum { TH_MINUTE = 60 };

typedef struct th_server_state {
    const char *listen; /* where, as text */
    th_model_registry registry;
    th_limits limits;
    const char *const *run_kinds; /* NULL at the end */
    th_controller_desc fixed;     /* what does not change: seed, formats, bounds */
    th_controller *controller;
    th_run_manager *run_manager;
    th_snapshot_service *snapshots;
    th_context machine;
    th_http_stats http_stats;
    uint64_t start_ns;
    char started[32];
    bool has_systemd; /* built with libsystemd */

    /* Of the last minute, a second each: to take differences. */
    th_histogram durations[TH_MINUTE + 1];
    uint64_t duration_count;              /* added since the start */
    uint64_t heartbeat_ns, server_cpu_ns; /* the clock and this thread's CPU time at the last heartbeat */
    double server_cpu_share;              /* of one CPU, between the last two heartbeats */
    double crowd_cpu_s;                   /* as last told: a counter must not go back */
} th_server_state;

/* Once a second, by the thread that answers clients, and before the first one th_server_state_begin. */
void th_server_state_begin(th_server_state *state);
void th_server_state_heartbeat(th_server_state *state);

/* CPU time by what it went into; the calling thread is the server. */
typedef struct th_cpu_usage {
    double process_s, crowd_s, server_s, controller_s, pictures_s;
} th_cpu_usage;
th_cpu_usage th_server_state_cpu(th_server_state *state);

json_t *th_state_json(th_server_state *state);
json_t *th_models_json(th_server_state *state);
json_t *th_history_json(th_server_state *state, uint32_t seconds);

/* Everything for Prometheus, malloc'd; NULL when memory is out. */
char *th_metrics_text(th_server_state *state, size_t *out_size);

#endif

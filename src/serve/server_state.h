/* The parts of the server, for the code that presents them: metrics, JSON, pages. */
#ifndef TH_SERVE_SERVER_STATE_H
#define TH_SERVE_SERVER_STATE_H

#include "http/address.h"
#include "process.h"
#include "runs/run_manager.h"
#include "simulation/simulation_controller.h"
#include "simulation/snapshot_service.h"

#include <bench/context.h>
#include <serve/model_registry.h>

#include <stdio.h>

enum { TH_STATUS_MIN = 100, TH_STATUS_COUNT = 500 };

/* Counted and read only by the thread that serves clients. */
typedef struct th_http_stats {
    uint64_t requests[TH_STATUS_COUNT]; /* by status, starting at TH_STATUS_MIN */
    uint64_t connections;               /* current */
    uint64_t event_clients;             /* current */
    uint64_t events_dropped;            /* not sent to slow clients */
    uint64_t stalled;                   /* connections closed because they took too long */
} th_http_stats;

enum { TH_MINUTE = 60 };

typedef struct th_server_state {
    const char *listen; /* where, as text */
    th_model_registry registry;
    th_limits limits;
    th_memory_budget memory;
    const char *const *run_kinds; /* ends with NULL */
    th_controller_desc fixed;     /* options that do not change: seed, formats, bounds */
    th_controller *controller;
    th_run_manager *run_manager;
    th_snapshot_service *snapshots;
    th_context machine;
    th_http_stats http_stats;
    uint64_t start_ns;
    char started[32];
    bool has_systemd; /* built with libsystemd */

    /* One per second of the last minute, for differences. */
    th_histogram durations[TH_MINUTE + 1];
    uint64_t missed[TH_MINUTE + 1];
    uint64_t reading_count;               /* number added since the start */
    uint64_t heartbeat_ns, server_cpu_ns; /* time and CPU time of this thread at the last heartbeat */
    double server_cpu_share;              /* of one CPU, between the last two heartbeats */
    double crowd_cpu_s;                   /* as last reported: a counter must not decrease */
} th_server_state;

/* Call as the thread that serves clients begins to, and then once a second. */
void th_server_state_heartbeat(th_server_state *state);

json_t *th_state_json(th_server_state *state);
json_t *th_history_json(th_server_state *state, uint32_t seconds);

/* All metrics for Prometheus, malloc'd; NULL if out of memory. */
char *th_metrics_text(th_server_state *state, size_t *out_size);

/* ---- Prometheus' text format, version 0.0.4 ---- */

typedef enum th_metric_type { TH_METRIC_COUNTER, TH_METRIC_GAUGE, TH_METRIC_HISTOGRAM } th_metric_type;

/* Writes # HELP and # TYPE; samples of the same name follow. */
void th_prometheus_begin(FILE *file, const char *name, th_metric_type type, const char *help);

/* labels: pairs of name and value, ending with NULL; values may be any text. NULL: none. */
void th_prometheus_sample(FILE *file, const char *name, double value, const char *const labels[]);

/* A complete histogram, in seconds, with a bucket for each power of two from 16 us to 33.6 s. */
void th_prometheus_histogram(FILE *file, const char *name, const char *help, const th_histogram *histogram);

#endif

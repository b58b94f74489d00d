/* The state as JSON. Names contain the units; all times are in seconds. */
#include "metrics/process.h"
#include "server_state.h"
#include "thread.h"

#include <core/clock.h>
#include <core/json.h>

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

void th_server_state_begin(th_server_state *s)
{
    s->heartbeat_ns = th_clock_ns();
    s->server_cpu_ns = th_thread_cpu_ns(pthread_self());
}

void th_server_state_heartbeat(th_server_state *s)
{
    const uint64_t before_ns = s->heartbeat_ns, cpu_before_ns = s->server_cpu_ns;
    th_server_state_begin(s);
    s->server_cpu_share = (double)(s->server_cpu_ns - cpu_before_ns) / (double)(s->heartbeat_ns - before_ns);
    th_tick_loop *tick_loop = th_controller_tick_loop(s->controller);
    const uint64_t place = s->reading_count++ % (TH_MINUTE + 1);
    th_tick_loop_read_durations(tick_loop, &s->durations[place]);
    s->missed[place] = th_tick_loop_read(tick_loop).missed;
}

/* CPU time that no other activity accounts for counts for the crowd. The values are not read at the same moment. */
th_cpu_usage th_server_state_cpu(th_server_state *s)
{
    const th_snapshot_cpu pictures = th_snapshot_service_cpu(s->snapshots);
    th_cpu_usage parts = {
        .server_s = (double)th_thread_cpu_ns(pthread_self()) * 1e-9,
        .controller_s = (double)th_controller_cpu_ns(s->controller) * 1e-9,
        .pictures_s = (double)pictures.all_ns * 1e-9,
        .process_s = (double)th_clock_cpu_ns() * 1e-9,
    };
    s->crowd_cpu_s =
        fmax(s->crowd_cpu_s, parts.process_s - parts.server_s - parts.controller_s - (double)pictures.thread_ns * 1e-9);
    parts.crowd_s = s->crowd_cpu_s;
    return parts;
}

/* ---- ticks ---- */

static json_t *second_json(const th_second *s)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "time_s",
                     th_json_real(s->end_s), "duration_s", th_json_real(s->span_s), "ticks", th_json_count(s->ticks),
                     "missed", th_json_count(s->missed), "characters_animated", th_json_count(s->characters), "mean_s",
                     th_json_real(s->mean_s), "p50_s", th_json_real(s->p50_s), "p90_s", th_json_real(s->p90_s), "p99_s",
                     th_json_real(s->p99_s), "max_s", th_json_real(s->max_s), "max_start_delay_s",
                     th_json_real(s->max_start_delay_s), "busy", th_json_real(s->busy), "paused", s->paused != 0);
}

static json_t *missed_share_json(uint64_t ticks, uint64_t missed)
{
    return th_json_real((double)missed / (double)(ticks + missed)); /* NaN where none was due */
}

/* The ticks of the last minute, or since the start if that is more recent. */
static json_t *last_minute_json(th_server_state *s, uint64_t missed_total)
{
    static const th_histogram none;
    static th_histogram now, minute;
    const uint64_t readings = TH_MINUTE + 1, place = s->reading_count % readings;
    const bool is_whole = s->reading_count >= readings;
    th_tick_loop_read_durations(th_controller_tick_loop(s->controller), &now);
    th_histogram_difference(&now, is_whole ? &s->durations[place] : &none, &minute);
    const uint64_t missed = missed_total - (is_whole ? s->missed[place] : 0);
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "ticks", th_json_count(minute.total), "missed",
                     th_json_count(missed), "missed_share", missed_share_json(minute.total, missed), "p50_s",
                     th_json_real(th_histogram_quantile(&minute, 0.5) * 1e-9), "p90_s",
                     th_json_real(th_histogram_quantile(&minute, 0.9) * 1e-9), "p99_s",
                     th_json_real(th_histogram_quantile(&minute, 0.99) * 1e-9), "max_s",
                     th_json_real((double)minute.max_ns * 1e-9));
}

static json_t *ticks_json(th_server_state *s)
{
    th_tick_loop *tick_loop = th_controller_tick_loop(s->controller);
    const th_tick_loop_state now = th_tick_loop_read(tick_loop);
    th_second last;
    const bool any = th_time_series_read(th_tick_loop_time_series(tick_loop), &last, 1) == 1;
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o}", "total", th_json_count(now.ticks), "missed_total",
                     th_json_count(now.missed), "missed_share", missed_share_json(now.ticks, now.missed),
                     "characters_animated_total", th_json_count(now.characters), "time_s",
                     th_json_real((double)now.now_ns * 1e-9), "crowd_clock_s", th_json_real(now.crowd_s), "paused",
                     now.paused != 0, "last_second", any ? second_json(&last) : json_null(), "last_minute",
                     last_minute_json(s, now.missed));
}

static json_t *workers_json(th_server_state *s)
{
    th_tick_loop_workers workers;
    json_t *busy = json_array();
    th_tick_loop_read_workers(th_controller_tick_loop(s->controller), &workers);
    for (uint64_t w = 0; w < workers.count; w++)
        busy = th_json_append(busy, th_json_real(workers.busy_s[w]));
    return busy;
}

/* ---- crowd and server ---- */

static json_t *crowd_json(const th_server_state *s, const th_controller_state *c)
{
    const th_controller_desc *f = &s->fixed;
    const double bound_m = f->model_cache.compile.bound_m > 0 ? f->model_cache.compile.bound_m : TH_DEFAULT_BOUND_M;
    return json_pack(
        "{s:i, s:o, s:o, s:o, s:s, s:s, s:s, s:i, s:o, s:o}", "characters", (int)c->settings.count, "bones",
        th_json_count(c->bones), "palette_bytes", th_json_count(c->palette_bytes), "bytes", th_json_count(c->bytes),
        "isa", th_isa_name(c->isa), "palette", th_palette_name(f->simulation.palette), "sampling",
        f->model_cache.compile.sampling == TH_SAMPLING_EXACT ? "exact" : "compiled", "key_bits",
        f->model_cache.compile.keys == TH_KEYS_16 ? 16 : 32, "seed",
        json_sprintf("%llu", (unsigned long long)f->simulation.seed), "error_bound_mm", th_json_real(bound_m * 1000));
}

static json_t *reconfiguration_json(const th_controller_state *c)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:o}", "state", c->reconfiguring ? "building" : "idle", "requested",
                     c->reconfiguring ? th_settings_json(&c->requested) : json_null(), "done", th_json_count(c->done),
                     "failed", th_json_count(c->failed), "error", c->error[0] ? th_json_text(c->error) : json_null());
}

static json_t *cpu_json(th_server_state *s)
{
    const th_cpu_usage cpu = th_server_state_cpu(s);
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "crowd_s", th_json_real(cpu.crowd_s), "server_s",
                     th_json_real(cpu.server_s), "controller_s", th_json_real(cpu.controller_s), "pictures_s",
                     th_json_real(cpu.pictures_s), "server_share", th_json_real(s->server_cpu_share));
}

static json_t *server_json(th_server_state *s)
{
    const th_process process = th_process_read();
    uint64_t requests = 0;
    for (int c = 0; c < TH_STATUS_COUNT; c++)
        requests += s->http_stats.requests[c];
    return json_pack("{s:s, s:s, s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "version", th_context_version(),
                     "listen", s->listen, "started", s->started, "systemd", s->has_systemd, "uptime_s",
                     th_json_real((double)(th_clock_ns() - s->start_ns) * 1e-9), "cpu", cpu_json(s), "resident_bytes",
                     th_json_count(process.resident_bytes), "requests", th_json_count(requests), "connections",
                     th_json_count(s->http_stats.connections), "sse_clients",
                     th_json_count(s->http_stats.event_clients), "sse_events_dropped",
                     th_json_count(s->http_stats.events_dropped), "connections_stalled",
                     th_json_count(s->http_stats.stalled));
}

static json_t *limits_json(const th_limits *l)
{
    return json_pack("{s:i, s:i, s:o, s:o, s:i, s:i}", "max_count", (int)l->max_count, "max_threads",
                     (int)l->max_threads, "max_memory_bytes", th_json_count(l->max_memory_bytes), "max_rate_hz",
                     th_json_real(TH_SETTINGS_MAX_RATE_HZ), "max_models", TH_SETTINGS_MODELS, "max_clips",
                     TH_SETTINGS_CLIPS);
}

static json_t *memory_json(th_memory_budget *b)
{
    json_t *json = json_pack("{s:o}", "budget_bytes", th_json_count(b->limit));
    for (th_memory_kind k = 0; k < TH_MEMORY_KINDS; k++) {
        char name[32];
        snprintf(name, sizeof name, "%s_bytes", th_memory_kind_name(k));
        json = th_json_merge(json, json_pack("{s:o}", name, th_json_count(th_memory_used(b, k))));
    }
    return json;
}

static json_t *kinds_json(const char *const *kinds)
{
    json_t *names = json_array();
    for (; *kinds; kinds++)
        names = th_json_append(names, json_string(*kinds));
    return names;
}

json_t *th_state_json(th_server_state *s)
{
    const th_controller_state c = th_controller_read(s->controller);
    const char *by = c.held ? "run" : c.settings.paused ? "settings" : NULL;
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "settings",
                     th_settings_json(&c.settings), "reconfiguration", reconfiguration_json(&c), "paused_by",
                     th_json_text(by), "crowd", crowd_json(s, &c), "ticks", ticks_json(s), "worker_busy_s",
                     workers_json(s), "run", th_run_manager_active_json(s->run_manager), "server", server_json(s),
                     "limits", limits_json(&s->limits), "memory", memory_json(&s->memory), "run_kinds",
                     kinds_json(s->run_kinds));
}

json_t *th_models_json(th_server_state *s)
{
    return json_pack("{s:o, s:o}", "available", th_model_registry_json(&s->registry), "playing",
                     th_controller_models_json(s->controller));
}

/* ---- history ---- */

typedef enum column {
    T,
    SPAN,
    TICKS,
    MISSED,
    CHARACTERS,
    MEAN,
    P50,
    P90,
    P99,
    MAX,
    LATE,
    BUSY,
    PAUSED,
    COLUMNS
} column;

static json_t *cell(const th_second *s, column c)
{
    const double reals[COLUMNS] = {
        [T] = s->end_s,   [SPAN] = s->span_s, [MEAN] = s->mean_s, [P50] = s->p50_s,
        [P90] = s->p90_s, [P99] = s->p99_s,   [MAX] = s->max_s,   [LATE] = s->max_start_delay_s,
        [BUSY] = s->busy};
    switch (c) {
    case TICKS:
        return th_json_count(s->ticks);
    case MISSED:
        return th_json_count(s->missed);
    case CHARACTERS:
        return th_json_count(s->characters);
    case PAUSED:
        return json_boolean(s->paused);
    default:
        return th_json_real(reals[c]);
    }
}

json_t *th_history_json(th_server_state *s, uint32_t seconds)
{
    static const char *const names[COLUMNS] = {
        "time_s", "duration_s",        "ticks", "missed", "characters_animated", "mean_s", "p50_s", "p90_s", "p99_s",
        "max_s",  "max_start_delay_s", "busy",  "paused"};
    th_second *last = calloc(TH_TIME_SERIES_SECONDS, sizeof *last);
    json_t *history = json_object();
    const uint32_t count =
        last ? th_time_series_read(th_tick_loop_time_series(th_controller_tick_loop(s->controller)), last, seconds) : 0;
    for (column c = T; c < COLUMNS; c++) {
        json_t *values = json_array();
        for (uint32_t i = 0; i < count; i++)
            values = th_json_append(values, cell(&last[i], c));
        history = th_json_merge(history, json_pack("{s:o}", names[c], values));
    }
    free(last);
    return history;
}

/* The state as JSON. Units as the names say, seconds for all times. */
#include "metrics/process.h"
#include "server_state.h"
#include "thread.h"

#include <throng/core/clock.h>
#include <throng/core/json.h>

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

void th_server_state_begin(th_server_state *s)
{
    s->beat_ns = th_clock_ns();
    s->server_cpu_ns = th_thread_cpu_ns(pthread_self());
}

void th_server_state_beat(th_server_state *s)
{
    const uint64_t before_ns = s->beat_ns, cpu_before_ns = s->server_cpu_ns;
    th_server_state_begin(s);
    s->server_cpu_share = (double)(s->server_cpu_ns - cpu_before_ns) / (double)(s->beat_ns - before_ns);
    th_runner_read_durations(th_director_runner(s->director), &s->durations[s->duration_count++ % (TH_MINUTE + 1)]);
}

/* What went into nothing else went into the crowd. They are not read at the same moment. */
th_cpu_parts th_server_state_cpu(th_server_state *s)
{
    th_cpu_parts parts = {
        .server_s = (double)th_thread_cpu_ns(pthread_self()) * 1e-9,
        .director_s = (double)th_director_cpu_ns(s->director) * 1e-9,
        .pictures_s = (double)th_photographer_cpu_ns(s->photographer) * 1e-9,
        .process_s = (double)th_clock_cpu_ns() * 1e-9,
    };
    s->crowd_cpu_s = fmax(s->crowd_cpu_s, parts.process_s - parts.server_s - parts.director_s - parts.pictures_s);
    parts.crowd_s = s->crowd_cpu_s;
    return parts;
}

/* ---- ticks ---- */

static json_t *second_json(const th_second *s)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "t_s", th_json_real(s->end_s),
                     "span_s", th_json_real(s->span_s), "ticks", th_json_count(s->ticks), "missed",
                     th_json_count(s->missed), "characters", th_json_count(s->characters), "mean_s",
                     th_json_real(s->mean_s), "p50_s", th_json_real(s->p50_s), "p90_s", th_json_real(s->p90_s), "p99_s",
                     th_json_real(s->p99_s), "max_s", th_json_real(s->max_s), "late_s", th_json_real(s->late_s), "busy",
                     th_json_real(s->busy), "paused", s->paused != 0);
}

/* The ticks since the oldest reading of the last minute, or since the start where that is not so long ago. */
static json_t *minute_json(th_server_state *s)
{
    static const th_histogram none;
    static th_histogram now, minute;
    const uint64_t readings = TH_MINUTE + 1;
    const th_histogram *oldest = s->duration_count < readings ? &none : &s->durations[s->duration_count % readings];
    th_runner_read_durations(th_director_runner(s->director), &now);
    th_histogram_difference(&now, oldest, &minute);
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "ticks", th_json_count(minute.total), "p50_s",
                     th_json_real(th_histogram_quantile(&minute, 0.5) * 1e-9), "p90_s",
                     th_json_real(th_histogram_quantile(&minute, 0.9) * 1e-9), "p99_s",
                     th_json_real(th_histogram_quantile(&minute, 0.99) * 1e-9), "max_s",
                     th_json_real((double)minute.max_ns * 1e-9));
}

static json_t *ticks_json(th_server_state *s)
{
    th_runner *runner = th_director_runner(s->director);
    const th_runner_state now = th_runner_read(runner);
    th_second last;
    const bool any = th_timeline_read(th_runner_timeline(runner), &last, 1) == 1;
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o}", "total", th_json_count(now.ticks), "missed_total",
                     th_json_count(now.missed), "characters_total", th_json_count(now.characters), "t_s",
                     th_json_real((double)now.now_ns * 1e-9), "crowd_time_s", th_json_real(now.crowd_s), "paused",
                     now.paused != 0, "last_second", any ? second_json(&last) : json_null(), "last_minute",
                     minute_json(s));
}

static json_t *workers_json(th_server_state *s)
{
    th_runner_workers workers;
    json_t *busy = json_array();
    th_runner_read_workers(th_director_runner(s->director), &workers);
    for (uint64_t w = 0; w < workers.count; w++)
        busy = th_json_append(busy, th_json_real(workers.busy_s[w]));
    return busy;
}

/* ---- crowd and server ---- */

static json_t *crowd_json(const th_server_state *s, const th_director_state *d)
{
    const th_director_desc *f = &s->fixed;
    const double bound_m = f->company.rig.bound_m > 0 ? f->company.rig.bound_m : TH_DEFAULT_BOUND_M;
    return json_pack("{s:i, s:o, s:o, s:o, s:s, s:s, s:s, s:i, s:o, s:o}", "characters", (int)d->settings.count,
                     "joints", th_json_count(d->joints), "palette_bytes", th_json_count(d->palette_bytes), "bytes",
                     th_json_count(d->bytes), "isa", th_isa_name(d->isa), "palette", th_palette_name(f->troupe.palette),
                     "sampling", f->company.rig.sampling == TH_SAMPLING_EXACT ? "exact" : "compiled", "key_bits",
                     f->company.rig.keys == TH_KEYS_16 ? 16 : 32, "seed",
                     json_sprintf("%llu", (unsigned long long)f->troupe.seed), "error_bound_mm",
                     th_json_real(bound_m * 1000));
}

static json_t *change_json(const th_director_state *d)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:o}", "state", d->changing ? "making" : "idle", "wanted",
                     d->changing ? th_settings_json(&d->wanted) : json_null(), "done", th_json_count(d->done), "failed",
                     th_json_count(d->failed), "error", d->error[0] ? th_json_text(d->error) : json_null());
}

static json_t *cpu_json(th_server_state *s)
{
    const th_cpu_parts cpu = th_server_state_cpu(s);
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "crowd_s", th_json_real(cpu.crowd_s), "server_s",
                     th_json_real(cpu.server_s), "director_s", th_json_real(cpu.director_s), "pictures_s",
                     th_json_real(cpu.pictures_s), "server_share", th_json_real(s->server_cpu_share));
}

static json_t *server_json(th_server_state *s)
{
    const th_process process = th_process_read();
    uint64_t requests = 0;
    for (int c = 0; c < TH_STATUS_COUNT; c++)
        requests += s->traffic.requests[c];
    return json_pack("{s:s, s:s, s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "version", th_context_version(),
                     "listen", s->listen, "started", s->started, "systemd", s->has_notify, "uptime_s",
                     th_json_real((double)(th_clock_ns() - s->start_ns) * 1e-9), "cpu", cpu_json(s), "resident_bytes",
                     th_json_count(process.resident_bytes), "requests", th_json_count(requests), "connections",
                     th_json_count(s->traffic.connections), "event_clients", th_json_count(s->traffic.event_clients),
                     "events_skipped", th_json_count(s->traffic.events_skipped), "stalled",
                     th_json_count(s->traffic.stalled));
}

static json_t *limits_json(const th_limits *l)
{
    return json_pack("{s:i, s:i, s:o, s:o, s:i, s:i}", "max_count", (int)l->max_count, "max_threads",
                     (int)l->max_threads, "max_memory_bytes", th_json_count(l->max_memory_bytes), "max_rate_hz",
                     th_json_real(TH_SETTINGS_MAX_RATE_HZ), "max_models", TH_SETTINGS_MODELS, "max_clips",
                     TH_SETTINGS_CLIPS);
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
    const th_director_state d = th_director_read(s->director);
    const char *by = d.held ? "run" : d.settings.paused ? "settings" : NULL;
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "settings", th_settings_json(&d.settings),
                     "change", change_json(&d), "paused_by", th_json_text(by), "crowd", crowd_json(s, &d), "ticks",
                     ticks_json(s), "worker_busy_s", workers_json(s), "run", th_runs_active_json(s->runs), "server",
                     server_json(s), "limits", limits_json(&s->limits), "run_kinds", kinds_json(s->run_kinds));
}

json_t *th_models_json(th_server_state *s)
{
    return json_pack("{s:o, s:o}", "available", th_catalogue_json(&s->catalogue), "playing",
                     th_director_models_json(s->director));
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
        [T] = s->end_s,   [SPAN] = s->span_s, [MEAN] = s->mean_s, [P50] = s->p50_s, [P90] = s->p90_s,
        [P99] = s->p99_s, [MAX] = s->max_s,   [LATE] = s->late_s, [BUSY] = s->busy};
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
    static const char *const names[COLUMNS] = {"t_s",   "span_s", "ticks", "missed", "characters", "mean_s", "p50_s",
                                               "p90_s", "p99_s",  "max_s", "late_s", "busy",       "paused"};
    th_second *last = calloc(TH_TIMELINE_SECONDS, sizeof *last);
    json_t *history = json_object();
    const uint32_t count =
        last ? th_timeline_read(th_runner_timeline(th_director_runner(s->director)), last, seconds) : 0;
    for (column c = T; c < COLUMNS; c++) {
        json_t *values = json_array();
        for (uint32_t i = 0; i < count; i++)
            values = th_json_append(values, cell(&last[i], c));
        history = th_json_merge(history, json_pack("{s:o}", names[c], values));
    }
    free(last);
    return history;
}

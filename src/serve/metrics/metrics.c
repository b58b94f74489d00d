/* The state for Prometheus. Names, units and types as its conventions ask: https://prometheus.io/docs/practices/naming/
 */
#include "process.h"
#include "prometheus.h"
#include "server_state.h"

#include <stdlib.h>

static void write_ticks(FILE *f, th_server_state *s)
{
    static th_histogram histogram;
    th_runner *runner = th_director_runner(s->director);
    const th_runner_state r = th_runner_read(runner);
    th_prometheus_number(f, "throng_ticks_total", TH_METRIC_COUNTER, "Ticks of the crowd.", (double)r.ticks);
    th_prometheus_number(f, "throng_ticks_missed_total", TH_METRIC_COUNTER,
                         "Ticks left out because the one before ended after they were due.", (double)r.missed);
    th_runner_read_durations(runner, &histogram);
    th_prometheus_histogram(f, "throng_tick_duration_seconds", "How long ticks took.", &histogram);
    th_runner_read_latenesses(runner, &histogram);
    th_prometheus_histogram(f, "throng_tick_lateness_seconds", "How long after they were due ticks began.", &histogram);
    th_prometheus_number(f, "throng_characters_animated_total", TH_METRIC_COUNTER,
                         "Characters animated, those of all ticks together.", (double)r.characters);
    th_prometheus_number(f, "throng_palette_written_bytes_total", TH_METRIC_COUNTER, "Bytes of bone palettes written.",
                         (double)r.palette_bytes);
    th_prometheus_number(f, "throng_crowd_clock_seconds", TH_METRIC_GAUGE, "The crowd's clock.", r.crowd_s);
    th_prometheus_number(f, "throng_paused", TH_METRIC_GAUGE, "1 while nothing ticks by request, else 0.",
                         (double)r.paused);
}

static void write_workers(FILE *f, th_server_state *s)
{
    static const char name[] = "throng_worker_busy_seconds_total";
    th_runner_workers workers;
    th_runner_read_workers(th_director_runner(s->director), &workers);
    th_prometheus_begin(f, name, TH_METRIC_COUNTER, "Time that each worker spent animating.");
    for (uint64_t w = 0; w < workers.count; w++) {
        char number[24];
        snprintf(number, sizeof number, "%u", (unsigned)w);
        th_prometheus_sample(f, name, workers.busy_s[w], (const char *[]){"worker", number, NULL});
    }
}

static void write_crowd(FILE *f, th_server_state *s)
{
    static const char changes[] = "throng_changes_total";
    const th_director_state d = th_director_read(s->director);
    th_prometheus_number(f, "throng_characters", TH_METRIC_GAUGE, "Characters in the crowd.", d.settings.count);
    th_prometheus_number(f, "throng_joints", TH_METRIC_GAUGE, "Palette entries of all characters together.",
                         (double)d.joints);
    th_prometheus_number(f, "throng_threads", TH_METRIC_GAUGE, "Threads that animate.", d.settings.threads);
    th_prometheus_number(f, "throng_rate_target_hertz", TH_METRIC_GAUGE,
                         "Ticks a second that are asked for; 0: as many as possible.", d.settings.rate_hz);
    th_prometheus_number(f, "throng_crowd_bytes", TH_METRIC_GAUGE, "Memory of the crowd: palettes, keys, instances.",
                         (double)d.bytes);
    th_prometheus_begin(f, changes, TH_METRIC_COUNTER, "Changes of the crowd, by how they ended.");
    th_prometheus_sample(f, changes, (double)d.done, (const char *[]){"result", "done", NULL});
    th_prometheus_sample(f, changes, (double)d.failed, (const char *[]){"result", "failed", NULL});
}

static void write_runs(FILE *f, th_server_state *s)
{
    static const char name[] = "throng_runs_total";
    const th_runs_counts counts = th_runs_count(s->runs);
    th_prometheus_begin(f, name, TH_METRIC_COUNTER, "Measuring runs, by how they ended.");
    th_prometheus_sample(f, name, (double)counts.done, (const char *[]){"result", "done", NULL});
    th_prometheus_sample(f, name, (double)counts.failed, (const char *[]){"result", "failed", NULL});
    th_prometheus_sample(f, name, (double)counts.cancelled, (const char *[]){"result", "cancelled", NULL});
    th_prometheus_number(f, "throng_runs_active", TH_METRIC_GAUGE, "Measuring runs that are on.",
                         (double)counts.active);
}

static void write_traffic(FILE *f, const th_traffic *t)
{
    static const char name[] = "throng_http_requests_total";
    th_prometheus_begin(f, name, TH_METRIC_COUNTER, "Requests answered, by status.");
    for (unsigned c = 0; c < TH_STATUS_COUNT; c++) {
        char status[8];
        if (t->requests[c] == 0 && c + TH_STATUS_LOWEST != 200)
            continue;
        snprintf(status, sizeof status, "%u", c + TH_STATUS_LOWEST);
        th_prometheus_sample(f, name, (double)t->requests[c], (const char *[]){"code", status, NULL});
    }
    th_prometheus_number(f, "throng_http_connections", TH_METRIC_GAUGE, "Connections that are open.",
                         (double)t->connections);
    th_prometheus_number(f, "throng_http_connections_stalled_total", TH_METRIC_COUNTER,
                         "Connections closed because their client was too slow, or gone.", (double)t->stalled);
    th_prometheus_number(f, "throng_event_clients", TH_METRIC_GAUGE, "Clients that listen to events.",
                         (double)t->event_clients);
    th_prometheus_number(f, "throng_events_skipped_total", TH_METRIC_COUNTER, "Events that slow clients did not get.",
                         (double)t->events_skipped);
}

static void write_process(FILE *f, th_server_state *s)
{
    static const char cpu[] = "throng_cpu_seconds_total";
    const th_process p = th_process_read();
    const th_cpu_parts parts = th_server_state_cpu(s);
    th_prometheus_begin(f, cpu, TH_METRIC_COUNTER, "CPU time, by what it went into.");
    th_prometheus_sample(f, cpu, parts.crowd_s, (const char *[]){"part", "crowd", NULL});
    th_prometheus_sample(f, cpu, parts.server_s, (const char *[]){"part", "server", NULL});
    th_prometheus_sample(f, cpu, parts.director_s, (const char *[]){"part", "director", NULL});
    th_prometheus_sample(f, cpu, parts.pictures_s, (const char *[]){"part", "pictures", NULL});
    th_prometheus_number(f, "process_cpu_seconds_total", TH_METRIC_COUNTER, "CPU time of the process.",
                         parts.process_s);
    th_prometheus_number(f, "process_resident_memory_bytes", TH_METRIC_GAUGE, "Resident memory.",
                         (double)p.resident_bytes);
    th_prometheus_number(f, "process_virtual_memory_bytes", TH_METRIC_GAUGE, "Virtual memory.",
                         (double)p.virtual_bytes);
    th_prometheus_number(f, "process_start_time_seconds", TH_METRIC_GAUGE, "Start of the process, since 1970.",
                         p.start_time_s);
    th_prometheus_number(f, "process_open_fds", TH_METRIC_GAUGE, "Open file descriptors.", (double)p.open_fds);
    th_prometheus_number(f, "process_max_fds", TH_METRIC_GAUGE, "File descriptors that may be open.",
                         (double)p.max_fds);
    th_prometheus_number(f, "process_threads", TH_METRIC_GAUGE, "Threads of the process.", (double)p.threads);
}

static void write_build(FILE *f, th_server_state *s)
{
    static const char name[] = "throng_build_info";
    const th_director_state d = th_director_read(s->director);
    th_prometheus_begin(f, name, TH_METRIC_GAUGE, "Always 1: what this program is.");
    th_prometheus_sample(
        f, name, 1,
        (const char *[]){"version", th_context_version(), "isa", th_isa_name(d.isa), "cpu", s->machine.cpu, NULL});
}

char *th_metrics_text(th_server_state *s, size_t *out_size)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, out_size);
    if (!f)
        return NULL;
    write_build(f, s);
    write_ticks(f, s);
    write_workers(f, s);
    write_crowd(f, s);
    write_runs(f, s);
    write_traffic(f, &s->traffic);
    write_process(f, s);
    if (fclose(f) == 0)
        return text;
    free(text);
    return NULL;
}

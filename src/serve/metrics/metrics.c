/* The state for Prometheus. Names, units and types follow its conventions:
 * https://prometheus.io/docs/practices/naming/ */
#include "process.h"
#include "prometheus.h"
#include "server_state.h"

#include <stdlib.h>

static void write_ticks(FILE *f, th_server_state *s)
{
    static th_histogram histogram;
    th_tick_loop *tick_loop = th_controller_tick_loop(s->controller);
    const th_tick_loop_state t = th_tick_loop_read(tick_loop);
    th_prometheus_number(f, "throng_ticks_total", TH_METRIC_COUNTER, "Ticks of the crowd.", (double)t.ticks);
    th_prometheus_number(f, "throng_ticks_missed_total", TH_METRIC_COUNTER,
                         "Ticks skipped because the previous one was still running when they were due.",
                         (double)t.missed);
    th_tick_loop_read_durations(tick_loop, &histogram);
    th_prometheus_histogram(f, "throng_tick_duration_seconds", "Duration of a tick.", &histogram);
    th_tick_loop_read_start_delays(tick_loop, &histogram);
    th_prometheus_histogram(f, "throng_tick_start_delay_seconds",
                            "Delay between when a tick was due and when it started.", &histogram);
    th_prometheus_number(f, "throng_characters_animated_total", TH_METRIC_COUNTER,
                         "Characters animated, summed over ticks.", (double)t.characters);
    th_prometheus_number(f, "throng_palette_written_bytes_total", TH_METRIC_COUNTER, "Bytes of bone palettes written.",
                         (double)t.palette_bytes);
    th_prometheus_number(f, "throng_crowd_clock_seconds", TH_METRIC_GAUGE, "Animation clock of the crowd.", t.crowd_s);
    th_prometheus_number(f, "throng_paused", TH_METRIC_GAUGE, "1 while paused, else 0.", (double)t.paused);
}

static void write_workers(FILE *f, th_server_state *s)
{
    static const char name[] = "throng_worker_busy_seconds_total";
    th_tick_loop_workers workers;
    th_tick_loop_read_workers(th_controller_tick_loop(s->controller), &workers);
    th_prometheus_begin(f, name, TH_METRIC_COUNTER, "Time each worker spent animating.");
    for (uint64_t w = 0; w < workers.count; w++) {
        char number[24];
        snprintf(number, sizeof number, "%u", (unsigned)w);
        th_prometheus_sample(f, name, workers.busy_s[w], (const char *[]){"worker", number, NULL});
    }
}

static void write_crowd(FILE *f, th_server_state *s)
{
    static const char reconfigurations[] = "throng_reconfigurations_total";
    const th_controller_state c = th_controller_read(s->controller);
    th_prometheus_number(f, "throng_characters", TH_METRIC_GAUGE, "Characters in the crowd.", c.settings.count);
    th_prometheus_number(f, "throng_bones", TH_METRIC_GAUGE, "Bones (palette entries) of all characters.",
                         (double)c.bones);
    th_prometheus_number(f, "throng_threads", TH_METRIC_GAUGE, "Threads that animate.", c.settings.threads);
    th_prometheus_number(f, "throng_rate_target_hertz", TH_METRIC_GAUGE,
                         "Requested ticks per second; 0: as many as possible.", c.settings.rate_hz);
    th_prometheus_number(f, "throng_crowd_bytes", TH_METRIC_GAUGE, "Memory of the crowd: palettes, keys, instances.",
                         (double)c.bytes);
    th_prometheus_begin(f, reconfigurations, TH_METRIC_COUNTER, "Reconfigurations of the crowd, by result.");
    th_prometheus_sample(f, reconfigurations, (double)c.done, (const char *[]){"result", "done", NULL});
    th_prometheus_sample(f, reconfigurations, (double)c.failed, (const char *[]){"result", "failed", NULL});
}

static void write_memory(FILE *f, th_memory_budget *b)
{
    static const char name[] = "throng_memory_reserved_bytes";
    th_prometheus_number(f, "throng_memory_budget_bytes", TH_METRIC_GAUGE, "Memory that may be reserved: --max-memory.",
                         (double)b->limit);
    th_prometheus_begin(f, name, TH_METRIC_GAUGE, "Memory reserved, by what for.");
    for (th_memory_kind k = 0; k < TH_MEMORY_KINDS; k++)
        th_prometheus_sample(f, name, (double)th_memory_used(b, k),
                             (const char *[]){"for", th_memory_kind_name(k), NULL});
}

static void write_runs(FILE *f, th_server_state *s)
{
    static const char name[] = "throng_runs_total";
    const th_run_counts counts = th_run_manager_counts(s->run_manager);
    th_prometheus_begin(f, name, TH_METRIC_COUNTER, "Measuring runs, by result.");
    th_prometheus_sample(f, name, (double)counts.done, (const char *[]){"result", "done", NULL});
    th_prometheus_sample(f, name, (double)counts.failed, (const char *[]){"result", "failed", NULL});
    th_prometheus_sample(f, name, (double)counts.cancelled, (const char *[]){"result", "cancelled", NULL});
    th_prometheus_number(f, "throng_runs_active", TH_METRIC_GAUGE, "Active measuring runs.", (double)counts.active);
}

static void write_http(FILE *f, const th_http_stats *t)
{
    static const char name[] = "throng_http_requests_total";
    th_prometheus_begin(f, name, TH_METRIC_COUNTER, "Requests answered, by status.");
    for (unsigned c = 0; c < TH_STATUS_COUNT; c++) {
        char status[8];
        if (t->requests[c] == 0 && c + TH_STATUS_MIN != 200)
            continue;
        snprintf(status, sizeof status, "%u", c + TH_STATUS_MIN);
        th_prometheus_sample(f, name, (double)t->requests[c], (const char *[]){"code", status, NULL});
    }
    th_prometheus_number(f, "throng_http_connections", TH_METRIC_GAUGE, "Open connections.", (double)t->connections);
    th_prometheus_number(f, "throng_http_connections_stalled_total", TH_METRIC_COUNTER,
                         "Connections closed because the client was too slow or gone.", (double)t->stalled);
    th_prometheus_number(f, "throng_sse_clients", TH_METRIC_GAUGE, "Clients of the event stream.",
                         (double)t->event_clients);
    th_prometheus_number(f, "throng_sse_events_dropped_total", TH_METRIC_COUNTER, "Events dropped for slow clients.",
                         (double)t->events_dropped);
}

static void write_process(FILE *f, th_server_state *s)
{
    static const char cpu[] = "throng_cpu_seconds_total";
    const th_process p = th_process_read();
    const th_cpu_usage parts = th_server_state_cpu(s);
    th_prometheus_begin(f, cpu, TH_METRIC_COUNTER, "CPU time by part of the server.");
    th_prometheus_sample(f, cpu, parts.crowd_s, (const char *[]){"part", "crowd", NULL});
    th_prometheus_sample(f, cpu, parts.server_s, (const char *[]){"part", "server", NULL});
    th_prometheus_sample(f, cpu, parts.controller_s, (const char *[]){"part", "controller", NULL});
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
    th_prometheus_number(f, "process_max_fds", TH_METRIC_GAUGE, "Limit of open file descriptors.", (double)p.max_fds);
    th_prometheus_number(f, "process_threads", TH_METRIC_GAUGE, "Threads of the process.", (double)p.threads);
}

static void write_build(FILE *f, th_server_state *s)
{
    static const char name[] = "throng_build_info";
    const th_controller_state c = th_controller_read(s->controller);
    th_prometheus_begin(f, name, TH_METRIC_GAUGE, "Always 1; labels identify the build.");
    th_prometheus_sample(
        f, name, 1,
        (const char *[]){"version", th_context_version(), "isa", th_isa_name(c.isa), "cpu", s->machine.cpu, NULL});
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
    write_memory(f, &s->memory);
    write_runs(f, s);
    write_http(f, &s->http_stats);
    write_process(f, s);
    if (fclose(f) == 0)
        return text;
    free(text);
    return NULL;
}

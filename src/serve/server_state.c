/* What the server says of itself, as JSON to its page and API and as text to Prometheus. Both print one table of
 * figures, so that they cannot differ. Names contain the units; all times are in seconds. Names, units and types of
 * metrics follow https://prometheus.io/docs/practices/naming/ */
#include "server_state.h"

#include "process.h"

#include <core/clock.h>
#include <core/json.h>

#include <assert.h>
#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* ---- once a second ---- */

void th_server_state_heartbeat(th_server_state *s)
{
    const uint64_t before_ns = s->heartbeat_ns, cpu_before_ns = s->server_cpu_ns;
    s->heartbeat_ns = th_clock_ns();
    s->server_cpu_ns = th_thread_cpu_ns(pthread_self());
    if (before_ns == 0)
        return;
    s->server_cpu_share = (double)(s->server_cpu_ns - cpu_before_ns) / (double)(s->heartbeat_ns - before_ns);
    th_tick_loop *tick_loop = s->controller->tick_loop;
    const uint64_t place = s->reading_count++ % (TH_MINUTE + 1);
    th_histogram_read(&tick_loop->durations, &s->durations[place]);
    s->missed[place] = th_tick_loop_read(tick_loop).missed;
}

/* ---- the process ---- */

/* In the units of Prometheus' process metrics; unknown values are 0. */
typedef struct process {
    double start_time_s; /* since 1970 */
    uint64_t resident_bytes, virtual_bytes, threads, open_fds, max_fds;
} process;

static process read_process(void)
{
    process p = {0};
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        p.max_fds = limit.rlim_cur;
    DIR *folder = opendir("/proc/self/fd");
    for (; folder && readdir(folder); p.open_fds++)
        ;
    if (folder) {
        closedir(folder);
        p.open_fds -= 3; /* ".", ".." and the descriptor of the folder itself */
    }

    /* Fields 20 (threads), 22 (start, in ticks since boot), 23 (virtual bytes) and 24 (resident pages) of proc(5)'s
     * stat, after a name that may contain any characters. */
    char text[1024];
    unsigned long long threads, start, bytes;
    long long pages;
    FILE *file = fopen("/proc/self/stat", "re");
    text[file ? fread(text, 1, sizeof text - 1, file) : 0] = '\0';
    if (file)
        fclose(file);
    const char *behind = strrchr(text, ')');
    if (!behind ||
        sscanf(behind + 1,
               " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %llu %*d %llu %llu %lld", &threads,
               &start, &bytes, &pages) != 4)
        return p;
    p.threads = threads;
    p.virtual_bytes = bytes;
    p.resident_bytes = (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
    struct timespec real, boot;
    clock_gettime(CLOCK_REALTIME, &real);
    clock_gettime(CLOCK_BOOTTIME, &boot);
    const double now_s = (double)real.tv_sec + (double)real.tv_nsec * 1e-9;
    const double up_s = (double)boot.tv_sec + (double)boot.tv_nsec * 1e-9;
    p.start_time_s = now_s - up_s + (double)start / (double)sysconf(_SC_CLK_TCK);
    return p;
}

/* ---- the text of metrics: https://prometheus.io/docs/instrumenting/exposition_formats/ ---- */

void th_prometheus_begin(FILE *file, const char *name, th_metric_type type, const char *help)
{
    assert(name && help && !strchr(help, '\n'));
    static const char *const types[] = {"counter", "gauge", "histogram"};
    fprintf(file, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, types[type]);
}

void th_prometheus_sample(FILE *file, const char *name, double value, const char *const labels[])
{
    assert(name);
    fputs(name, file);
    for (int l = 0; labels && labels[l]; l += 2) {
        fprintf(file, "%c%s=\"", l ? ',' : '{', labels[l]);
        for (const char *c = labels[l + 1]; *c; c++)
            if (*c == '\n')
                fputs("\\n", file);
            else
                fprintf(file, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
        fputc('"', file);
    }
    if (labels && labels[0])
        fputc('}', file);
    /* Prints whole numbers exactly up to 2^53, the limit of doubles, which bytes of palettes can reach in two weeks.
     * Beyond that, twelve digits are enough. */
    fprintf(file, fabs(value) < 0x1p53 && value == floor(value) ? " %.0f\n" : " %.12g\n", value);
}

void th_prometheus_histogram(FILE *file, const char *name, const char *help, const th_histogram *h)
{
    char bucket[96], sum[96], count[96], bound[32];
    snprintf(bucket, sizeof bucket, "%s_bucket", name);
    snprintf(sum, sizeof sum, "%s_sum", name);
    snprintf(count, sizeof count, "%s_count", name);
    th_prometheus_begin(file, name, TH_METRIC_HISTOGRAM, help);
    for (uint32_t octave = 4; octave <= TH_HISTOGRAM_OCTAVES; octave++) {
        /* Times beyond the last octave are in its last bucket. */
        const bool last = octave == TH_HISTOGRAM_OCTAVES;
        if (last)
            snprintf(bound, sizeof bound, "+Inf");
        else
            snprintf(bound, sizeof bound, "%.6f", ldexp(1e-6, (int)octave));
        th_prometheus_sample(file, bucket, (double)th_histogram_below(h, octave), (const char *[]){"le", bound, NULL});
    }
    th_prometheus_sample(file, sum, (double)h->sum_ns * 1e-9, NULL);
    th_prometheus_sample(file, count, (double)h->total, NULL);
}

/* ---- numbers ---- */

typedef enum kind { COUNT, REAL, FLAG } kind;

typedef struct number {
    kind kind;
    uint64_t count; /* or flag */
    double real;
} number;

#define COUNT_OF(value) ((number){COUNT, (value), (double)(value)})
#define REAL_OF(value)  ((number){REAL, 0, (value)})
#define FLAG_OF(value)  ((number){FLAG, (value), (value)})

static json_t *number_json(number n)
{
    return n.kind == COUNT ? th_json_count(n.count) : n.kind == REAL ? th_json_real(n.real) : json_boolean(n.count);
}

/* ---- the table of figures ---- */

typedef struct figure {
    const char *object, *name; /* of the state; NULL: not there; a NULL name: an element of an array */
    number value;
    const char *metric, *label, *label_value; /* NULL: no metric, no label */
    th_metric_type type;
    const char *help;
} figure;

#define COUNTER_BY(metric, label, value, help) metric, label, value, TH_METRIC_COUNTER, help
#define COUNTER(metric, help)                  COUNTER_BY(metric, NULL, NULL, help)
#define GAUGE(metric, help)                    metric, NULL, NULL, TH_METRIC_GAUGE, help
#define NO_METRIC                              GAUGE(NULL, NULL)

/* Where figures go: one of the two. */
typedef struct output {
    FILE *metrics;
    json_t *state; /* has the objects and arrays already */
    bool failed;
    const char *begun; /* the metric whose samples are being written */
} output;

static void tell(output *to, const figure *f)
{
    if (to->metrics && f->metric) {
        if (!to->begun || strcmp(to->begun, f->metric) != 0)
            th_prometheus_begin(to->metrics, f->metric, f->type, f->help);
        to->begun = f->metric;
        th_prometheus_sample(to->metrics, f->metric, f->value.real, (const char *[]){f->label, f->label_value, NULL});
    }
    if (to->state && f->object) {
        json_t *object = json_object_get(to->state, f->object);
        if (!object)
            object = json_object_get(json_object_get(to->state, "server"), f->object);
        const int status = f->name ? json_object_set_new(object, f->name, number_json(f->value))
                                   : json_array_append_new(object, number_json(f->value));
        to->failed = to->failed || status != 0;
    }
}

static number missed_share(uint64_t ticks, uint64_t missed)
{
    return REAL_OF((double)missed / (double)(ticks + missed)); /* NaN where none was due */
}

static void tell_all(output *to, th_server_state *s, const th_controller_state *crowd, const th_tick_loop_state *ticks)
{
    const process p = read_process();
    const th_http_stats *http = &s->http_stats;
    const th_run_counts runs = th_run_manager_counts(s->run_manager);
    th_tick_loop_workers workers;
    th_seqlock_read(&s->controller->tick_loop->workers_seqlock, &workers, sizeof workers);
    uint64_t requests = 0;
    for (int c = 0; c < TH_STATUS_COUNT; c++)
        requests += http->requests[c];

    /* This thread is the server's. CPU time that no other activity accounts for counts for the crowd. The values are
     * not read at the same moment. */
    const th_snapshot_cpu pictures = th_snapshot_service_cpu(s->snapshots);
    const double server_s = (double)th_thread_cpu_ns(pthread_self()) * 1e-9;
    const double controller_s = (double)th_controller_cpu_ns(s->controller) * 1e-9;
    const double process_s = (double)th_clock_cpu_ns() * 1e-9;
    s->crowd_cpu_s = fmax(s->crowd_cpu_s, process_s - server_s - controller_s - (double)pictures.thread_ns * 1e-9);

    const figure figures[] = {
        {"ticks", "total", COUNT_OF(ticks->ticks), COUNTER("throng_ticks_total", "Ticks of the crowd.")},
        {"ticks", "missed_total", COUNT_OF(ticks->missed),
         COUNTER("throng_ticks_missed_total",
                 "Ticks skipped because the previous one was still running when they were due.")},
        {"ticks", "missed_share", missed_share(ticks->ticks, ticks->missed), NO_METRIC},
        {"ticks", "characters_animated_total", COUNT_OF(ticks->characters),
         COUNTER("throng_characters_animated_total", "Characters animated, summed over ticks.")},
        {NULL, NULL, COUNT_OF(ticks->palette_bytes),
         COUNTER("throng_palette_written_bytes_total", "Bytes of bone palettes written.")},
        {"ticks", "time_s", REAL_OF((double)ticks->now_ns * 1e-9), NO_METRIC},
        {"ticks", "crowd_clock_s", REAL_OF(ticks->crowd_s),
         GAUGE("throng_crowd_clock_seconds", "Animation clock of the crowd.")},
        {"ticks", "paused", FLAG_OF(ticks->paused != 0), GAUGE("throng_paused", "1 while paused, else 0.")},
        {"crowd", "characters", COUNT_OF(crowd->settings.count),
         GAUGE("throng_characters", "Characters in the crowd.")},
        {"crowd", "bones", COUNT_OF(crowd->bones), GAUGE("throng_bones", "Bones (palette entries) of all characters.")},
        {NULL, NULL, COUNT_OF(crowd->settings.threads), GAUGE("throng_threads", "Threads that animate.")},
        {NULL, NULL, REAL_OF(crowd->settings.rate_hz),
         GAUGE("throng_rate_target_hertz", "Requested ticks per second; 0: as many as possible.")},
        {"crowd", "palette_bytes", COUNT_OF(crowd->palette_bytes), NO_METRIC},
        {"crowd", "bytes", COUNT_OF(crowd->bytes),
         GAUGE("throng_crowd_bytes", "Memory of the crowd: palettes, keys, instances.")},
        {"reconfiguration", "done", COUNT_OF(crowd->done),
         COUNTER_BY("throng_reconfigurations_total", "result", "done", "Reconfigurations of the crowd, by result.")},
        {"reconfiguration", "failed", COUNT_OF(crowd->failed),
         COUNTER_BY("throng_reconfigurations_total", "result", "failed", NULL)},
        {NULL, NULL, COUNT_OF(runs.done),
         COUNTER_BY("throng_runs_total", "result", "done", "Measuring runs, by result.")},
        {NULL, NULL, COUNT_OF(runs.failed), COUNTER_BY("throng_runs_total", "result", "failed", NULL)},
        {NULL, NULL, COUNT_OF(runs.cancelled), COUNTER_BY("throng_runs_total", "result", "cancelled", NULL)},
        {NULL, NULL, COUNT_OF(runs.active), GAUGE("throng_runs_active", "Active measuring runs.")},
        {"cpu", "crowd_s", REAL_OF(s->crowd_cpu_s),
         COUNTER_BY("throng_cpu_seconds_total", "part", "crowd", "CPU time by part of the server.")},
        {"cpu", "server_s", REAL_OF(server_s), COUNTER_BY("throng_cpu_seconds_total", "part", "server", NULL)},
        {"cpu", "controller_s", REAL_OF(controller_s),
         COUNTER_BY("throng_cpu_seconds_total", "part", "controller", NULL)},
        {"cpu", "pictures_s", REAL_OF((double)pictures.all_ns * 1e-9),
         COUNTER_BY("throng_cpu_seconds_total", "part", "pictures", NULL)},
        {"cpu", "server_share", REAL_OF(s->server_cpu_share), NO_METRIC},
        {NULL, NULL, REAL_OF(process_s), COUNTER("process_cpu_seconds_total", "CPU time of the process.")},
        {"server", "resident_bytes", COUNT_OF(p.resident_bytes),
         GAUGE("process_resident_memory_bytes", "Resident memory.")},
        {NULL, NULL, COUNT_OF(p.virtual_bytes), GAUGE("process_virtual_memory_bytes", "Virtual memory.")},
        {NULL, NULL, REAL_OF(p.start_time_s), GAUGE("process_start_time_seconds", "Start of the process, since 1970.")},
        {NULL, NULL, COUNT_OF(p.open_fds), GAUGE("process_open_fds", "Open file descriptors.")},
        {NULL, NULL, COUNT_OF(p.max_fds), GAUGE("process_max_fds", "Limit of open file descriptors.")},
        {NULL, NULL, COUNT_OF(p.threads), GAUGE("process_threads", "Threads of the process.")},
        {"server", "requests", COUNT_OF(requests), NO_METRIC}, /* and by status, below */
        {"server", "connections", COUNT_OF(http->connections), GAUGE("throng_http_connections", "Open connections.")},
        {"server", "sse_clients", COUNT_OF(http->event_clients),
         GAUGE("throng_sse_clients", "Clients of the event stream.")},
        {"server", "sse_events_dropped", COUNT_OF(http->events_dropped),
         COUNTER("throng_sse_events_dropped_total", "Events dropped for slow clients.")},
        {"server", "connections_stalled", COUNT_OF(http->stalled),
         COUNTER("throng_http_connections_stalled_total",
                 "Connections closed because the client was too slow or gone.")},
        {"memory", "budget_bytes", COUNT_OF(s->memory.limit),
         GAUGE("throng_memory_budget_bytes", "Memory that may be reserved: --max-memory.")},
    };
    char text[32];
    for (size_t f = 0; f < sizeof figures / sizeof *figures; f++)
        tell(to, &figures[f]);
    static const char *const kinds[TH_MEMORY_KINDS] = {"models", "crowds", "pictures", "runs"};
    for (th_memory_kind k = 0; k < TH_MEMORY_KINDS; k++) {
        snprintf(text, sizeof text, "%s_bytes", kinds[k]);
        tell(to, &(figure){"memory", text, COUNT_OF(th_memory_used(&s->memory, k)), "throng_memory_reserved_bytes",
                           "for", kinds[k], TH_METRIC_GAUGE, "Memory reserved, by what for."});
    }
    for (uint64_t w = 0; w < workers.count; w++) {
        snprintf(text, sizeof text, "%u", (unsigned)w);
        tell(to, &(figure){"worker_busy_s", NULL, REAL_OF(workers.busy_s[w]), "throng_worker_busy_seconds_total",
                           "worker", text, TH_METRIC_COUNTER, "Time each worker spent animating."});
    }
    for (unsigned c = 0; c < TH_STATUS_COUNT; c++) {
        snprintf(text, sizeof text, "%u", c + TH_STATUS_MIN);
        if (http->requests[c] > 0 || c + TH_STATUS_MIN == 200)
            tell(to, &(figure){NULL, NULL, COUNT_OF(http->requests[c]), "throng_http_requests_total", "code", text,
                               TH_METRIC_COUNTER, "Requests answered, by status."});
    }
}

/* ---- metrics ---- */

char *th_metrics_text(th_server_state *s, size_t *out_size)
{
    static th_histogram histogram;
    char *text = NULL;
    output to = {.metrics = open_memstream(&text, out_size)};
    if (!to.metrics)
        return NULL;
    th_tick_loop *tick_loop = s->controller->tick_loop;
    const th_controller_state crowd = th_controller_read(s->controller);
    const th_tick_loop_state ticks = th_tick_loop_read(tick_loop);
    th_prometheus_begin(to.metrics, "throng_build_info", TH_METRIC_GAUGE, "Always 1; labels identify the build.");
    th_prometheus_sample(
        to.metrics, "throng_build_info", 1,
        (const char *[]){"version", th_context_version(), "isa", th_isa_name(crowd.isa), "cpu", s->machine.cpu, NULL});
    th_histogram_read(&tick_loop->durations, &histogram);
    th_prometheus_histogram(to.metrics, "throng_tick_duration_seconds", "Duration of a tick.", &histogram);
    th_histogram_read(&tick_loop->start_delays, &histogram);
    th_prometheus_histogram(to.metrics, "throng_tick_start_delay_seconds",
                            "Delay between when a tick was due and when it started.", &histogram);
    tell_all(&to, s, &crowd, &ticks);
    if (fclose(to.metrics) == 0)
        return text;
    free(text);
    return NULL;
}

/* ---- seconds ---- */

static const struct {
    const char *name;
    kind kind;
    size_t offset;
} columns[] = {
    {"time_s", REAL, offsetof(th_second, end_s)},
    {"duration_s", REAL, offsetof(th_second, span_s)},
    {"ticks", COUNT, offsetof(th_second, ticks)},
    {"missed", COUNT, offsetof(th_second, missed)},
    {"characters_animated", COUNT, offsetof(th_second, characters)},
    {"mean_s", REAL, offsetof(th_second, mean_s)},
    {"p50_s", REAL, offsetof(th_second, p50_s)},
    {"p90_s", REAL, offsetof(th_second, p90_s)},
    {"p99_s", REAL, offsetof(th_second, p99_s)},
    {"max_s", REAL, offsetof(th_second, max_s)},
    {"max_start_delay_s", REAL, offsetof(th_second, max_start_delay_s)},
    {"busy", REAL, offsetof(th_second, busy)},
    {"paused", FLAG, offsetof(th_second, paused)},
};

enum { COLUMNS = sizeof columns / sizeof *columns };

static json_t *cell(const th_second *second, size_t column)
{
    number n = {.kind = columns[column].kind};
    memcpy(n.kind == REAL ? (void *)&n.real : &n.count, (const char *)second + columns[column].offset, 8);
    return number_json(n);
}

json_t *th_history_json(th_server_state *s, uint32_t seconds)
{
    th_second *last = calloc(TH_TIME_SERIES_SECONDS, sizeof *last);
    json_t *history = json_object();
    const uint32_t read = last ? th_time_series_read(&s->controller->tick_loop->time_series, last, seconds) : 0;
    for (size_t c = 0; c < COLUMNS; c++) {
        json_t *values = json_array();
        for (uint32_t i = 0; i < read; i++)
            values = th_json_append(values, cell(&last[i], c));
        history = th_json_set(history, columns[c].name, values);
    }
    free(last);
    return history;
}

/* ---- the state ---- */

json_t *th_state_json(th_server_state *s)
{
    th_tick_loop *tick_loop = s->controller->tick_loop;
    const th_controller_state c = th_controller_read(s->controller);
    const th_tick_loop_state ticks = th_tick_loop_read(tick_loop);
    const th_controller_desc *fixed = &s->fixed;
    const th_compiled_model_desc *compile = &fixed->model_cache.compile;
    const char *paused_by = c.held ? "run" : c.settings.paused ? "settings" : NULL;
    json_t *kinds = json_array(), *last_second = json_null();
    for (const char *const *k = s->run_kinds; *k; k++)
        kinds = th_json_append(kinds, json_string(*k));
    th_second second;
    if (th_time_series_read(&tick_loop->time_series, &second, 1) == 1) {
        last_second = json_object();
        for (size_t i = 0; i < COLUMNS; i++)
            last_second = th_json_set(last_second, columns[i].name, cell(&second, i));
    }

    /* The ticks of the last minute, or since the start if that is more recent. */
    static const th_histogram none;
    static th_histogram now, minute;
    const uint64_t readings = TH_MINUTE + 1, place = s->reading_count % readings;
    const bool is_whole_minute = s->reading_count >= readings;
    th_histogram_read(&tick_loop->durations, &now);
    th_histogram_difference(&now, is_whole_minute ? &s->durations[place] : &none, &minute);
    const uint64_t missed = ticks.missed - (is_whole_minute ? s->missed[place] : 0);
    json_t *last_minute = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "ticks", th_json_count(minute.total), "missed", th_json_count(missed),
        "missed_share", number_json(missed_share(minute.total, missed)), "p50_s",
        th_json_real(th_histogram_quantile(&minute, 0.5) * 1e-9), "p90_s",
        th_json_real(th_histogram_quantile(&minute, 0.9) * 1e-9), "p99_s",
        th_json_real(th_histogram_quantile(&minute, 0.99) * 1e-9), "max_s", th_json_real((double)minute.max_ns * 1e-9));

    /* The figures go where there is room for them; what is no number stands before and behind them. */
    output to = {
        .state = json_pack(
            "{s:o, s:{s:s, s:o}, s:o, s:{}, s:{}, s:[], s:o, s:{s:s, s:s, s:s, s:b, s:o, s:{}}, s:{s:i, s:i, s:o, s:o, "
            "s:i, s:i}, s:{}, s:o}",
            "settings", th_settings_json(&c.settings), "reconfiguration", "state",
            c.reconfiguring ? "building" : "idle", "requested",
            c.reconfiguring ? th_settings_json(&c.requested) : json_null(), "paused_by", th_json_text(paused_by),
            "crowd", "ticks", "worker_busy_s", "run", th_run_manager_run_json(s->run_manager, 0), "server", "version",
            th_context_version(), "listen", s->listen, "started", s->started, "systemd", s->has_systemd, "uptime_s",
            th_json_real((double)(th_clock_ns() - s->start_ns) * 1e-9), "cpu", "limits", "max_count",
            (int)s->limits.max_count, "max_threads", (int)s->limits.max_threads, "max_memory_bytes",
            th_json_count(s->limits.max_memory_bytes), "max_rate_hz", th_json_real(TH_SETTINGS_MAX_RATE_HZ),
            "max_models", TH_SETTINGS_MODELS, "max_clips", TH_SETTINGS_CLIPS, "memory", "run_kinds", kinds)};
    tell_all(&to, s, &c, &ticks);
    json_t *rest = json_pack("{s:{s:o}, s:{s:s, s:s, s:s, s:i, s:o, s:o}, s:{s:o, s:o}}", "reconfiguration", "error",
                             th_json_text_if_any(c.error), "crowd", "isa", th_isa_name(c.isa), "palette",
                             th_format_name(fixed->simulation.palette), "sampling",
                             compile->sampling == TH_SAMPLING_EXACT ? "exact" : "compiled", "key_bits",
                             compile->keys == TH_KEYS_16 ? 16 : 32, "seed",
                             json_sprintf("%llu", (unsigned long long)fixed->simulation.seed), "error_bound_mm",
                             th_json_real((compile->bound_m > 0 ? compile->bound_m : TH_DEFAULT_BOUND_M) * 1000),
                             "ticks", "last_second", last_second, "last_minute", last_minute);
    const char *name;
    json_t *more;
    bool is_whole = rest && !to.failed;
    json_object_foreach(rest, name, more)
    {
        is_whole = is_whole && json_object_update(json_object_get(to.state, name), more) == 0;
    }
    json_decref(rest);
    if (is_whole)
        return to.state;
    json_decref(to.state);
    return NULL;
}

#include "untimed_frames.h"

#include <core/cache_line.h>
#include <core/clock.h>
#include <core/json.h>
#include <core/text_format.h>

#include <assert.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { COUNTED_NS = 50000000, LEAST_COUNTED_FRAMES = 16 };

const char *th_counter_name(th_counter counter)
{
    assert(counter < TH_COUNTER_COUNT);
    static const char *const names[] = {"cycles", "instructions", "l1_misses",       "llc_misses",
                                        "cpu_ns", "page_faults",  "context_switches"};
    _Static_assert(sizeof names / sizeof *names == TH_COUNTER_COUNT, "a name for each");
    return names[counter];
}

/* ---- a thread's counters ---- */

#define CACHE_READ_MISSES(cache)                                                                                       \
    ((uint64_t)(cache) | (uint64_t)PERF_COUNT_HW_CACHE_OP_READ << 8 | (uint64_t)PERF_COUNT_HW_CACHE_RESULT_MISS << 16)

static const struct {
    uint32_t type;
    uint64_t config;
} events[TH_COUNTER_PROCESSOR_COUNT] = {
    [TH_COUNTER_CYCLES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    [TH_COUNTER_INSTRUCTIONS] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    [TH_COUNTER_L1_MISSES] = {PERF_TYPE_HW_CACHE, CACHE_READ_MISSES(PERF_COUNT_HW_CACHE_L1D)},
    [TH_COUNTER_LLC_MISSES] = {PERF_TYPE_HW_CACHE, CACHE_READ_MISSES(PERF_COUNT_HW_CACHE_LL)},
};

/* What a worker has counted at a moment, or in frames. Times: how long an event of the processor was wanted, and how
 * long it counted. */
typedef struct count {
    double value, wanted_ns, ran_ns;
} count;

typedef struct worker {
    _Alignas(TH_CACHE_LINE) pid_t thread;   /* whose counters these are; 0: not opened */
    int fds[TH_COUNTER_PROCESSOR_COUNT];    /* -1: none */
    int errors[TH_COUNTER_PROCESSOR_COUNT]; /* errno of perf_event_open; 0: counted */
    count before[TH_COUNTER_COUNT], sums[TH_COUNTER_COUNT];
} worker;

struct th_worker_counts {
    uint32_t count;
    worker workers[];
};

/* Of the calling thread. Two at a time are a group: they are counted at the same time, so their ratio is right even
 * where groups take turns. An event that is missing leaves the other one. */
static void open_counters(worker *w)
{
    for (int e = 0; e < TH_COUNTER_PROCESSOR_COUNT; e++) {
        struct perf_event_attr attributes = {
            .type = events[e].type,
            .size = sizeof attributes,
            .config = events[e].config,
            .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
            .exclude_kernel = 1, /* more needs more permission */
            .exclude_hv = 1,
        };
        const int leader = e % 2 == 1 ? w->fds[e - 1] : -1;
        w->fds[e] = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
        w->errors[e] = w->fds[e] < 0 ? errno : 0;
    }
}

static void close_counters(worker *w)
{
    for (int e = 0; w->thread != 0 && e < TH_COUNTER_PROCESSOR_COUNT; e++)
        if (w->fds[e] >= 0)
            close(w->fds[e]);
    w->thread = 0;
}

static void read_counters(const worker *w, count *out)
{
    struct rusage usage;
    memset(out, 0, TH_COUNTER_COUNT * sizeof *out);
    getrusage(RUSAGE_THREAD, &usage);
    out[TH_COUNTER_CPU_NS].value = (double)th_clock_thread_cpu_ns();
    out[TH_COUNTER_PAGE_FAULTS].value = (double)(usage.ru_minflt + usage.ru_majflt);
    out[TH_COUNTER_CONTEXT_SWITCHES].value = (double)(usage.ru_nvcsw + usage.ru_nivcsw);
    for (int e = 0; e < TH_COUNTER_PROCESSOR_COUNT; e++) {
        uint64_t words[3];
        if (w->fds[e] >= 0 && read(w->fds[e], words, sizeof words) == sizeof words)
            out[e] = (count){(double)words[0], (double)words[1], (double)words[2]};
    }
}

/* ---- a worker's part of a frame ---- */

static void begin_work(void *ctx, uint32_t index)
{
    th_worker_counts *c = ctx;
    assert(index < c->count);
    worker *w = &c->workers[index];
    const pid_t thread = gettid();
    if (w->thread != thread) { /* that of another pool, maybe */
        close_counters(w);
        open_counters(w);
        w->thread = thread;
    }
    read_counters(w, w->before);
}

static void end_work(void *ctx, uint32_t index)
{
    worker *w = &((th_worker_counts *)ctx)->workers[index];
    count after[TH_COUNTER_COUNT];
    read_counters(w, after);
    for (int i = 0; i < TH_COUNTER_COUNT; i++) {
        w->sums[i].value += after[i].value - w->before[i].value;
        w->sums[i].wanted_ns += after[i].wanted_ns - w->before[i].wanted_ns;
        w->sums[i].ran_ns += after[i].ran_ns - w->before[i].ran_ns;
    }
}

/* ---- all workers ---- */

th_result th_worker_counts_create(uint32_t workers, th_worker_counts **out, th_error *err)
{
    assert(workers > 0 && workers <= TH_JOBS_MAX_THREADS && out);
    const size_t bytes = sizeof **out + workers * sizeof *(*out)->workers;
    *out = th_cache_line_alloc(bytes);
    if (!*out)
        return th_fail(err, TH_ERR_MEMORY, "no memory for the counters of %u threads", workers);
    memset(*out, 0, bytes);
    (*out)->count = workers;
    return TH_OK;
}

void th_worker_counts_destroy(th_worker_counts *c)
{
    for (uint32_t i = 0; c && i < c->count; i++)
        close_counters(&c->workers[i]);
    free(c);
}

/* Why a counter is not counted: errno of a worker that has worked; 0: all count. */
static int error_of(const th_worker_counts *c, int counter)
{
    for (uint32_t i = 0; counter < TH_COUNTER_PROCESSOR_COUNT && i < c->count; i++)
        if (c->workers[i].thread != 0 && c->workers[i].errors[counter] != 0)
            return c->workers[i].errors[counter];
    return 0;
}

/* Of one of so many frames, workers [begin, end) together. */
static th_counters counters_of(const th_worker_counts *c, uint32_t begin, uint32_t end, uint64_t frames)
{
    th_counters out;
    for (int i = 0; i < TH_COUNTER_COUNT; i++) {
        count sum = {0};
        for (uint32_t w = begin; w < end; w++) {
            const count *more = &c->workers[w].sums[i];
            sum.value += more->value, sum.wanted_ns += more->wanted_ns, sum.ran_ns += more->ran_ns;
        }
        const double scale = sum.wanted_ns > 0 ? sum.wanted_ns / sum.ran_ns : 1;
        out.values[i] = error_of(c, i) == 0 && isfinite(scale) ? sum.value * scale / (double)frames : (double)NAN;
    }
    return out;
}

/* ---- counting frames ---- */

/* NULL when memory is out, as `json` then was. */
static json_t *set_counters(json_t *json, const th_counters *counters)
{
    for (int c = 0; c < TH_COUNTER_COUNT; c++)
        json = th_json_set(json, th_counter_name((th_counter)c), th_json_real(counters->values[c]));
    return json;
}

void th_counted_frames_run(const th_counted_frames *f, th_counters *out, json_t **out_by_worker)
{
    assert(f && f->counts && f->run && out && out_by_worker);
    th_worker_counts *c = f->counts;
    uint64_t frame = 0, begin_ns = 0;
    if (f->frame)
        th_frame_observe(f->frame, &(th_frame_observer){begin_work, end_work, c});
    for (; frame <= LEAST_COUNTED_FRAMES || th_clock_ns() - begin_ns < COUNTED_NS; frame++) {
        if (!f->frame)
            begin_work(c, 0);
        f->run(f->ctx, frame);
        if (!f->frame)
            end_work(c, 0);
        if (frame > 0)
            continue;
        for (uint32_t w = 0; w < c->count; w++) /* the first frame opened them, and does not count */
            memset(c->workers[w].sums, 0, sizeof c->workers[w].sums);
        begin_ns = th_clock_ns();
    }
    if (f->frame)
        th_frame_observe(f->frame, NULL);
    *out = counters_of(c, 0, c->count, frame - 1);
    *out_by_worker = json_array();
    for (uint32_t w = 0; w < c->count; w++) {
        const th_counters own = counters_of(c, w, w + 1, frame - 1);
        if (own.values[TH_COUNTER_CPU_NS] > 0) /* the worker had work */
            *out_by_worker = th_json_append(*out_by_worker, set_counters(json_pack("{s:i}", "worker", (int)w), &own));
    }
}

bool th_counted_frames_describe(const th_counted_frames *f, th_row *row)
{
    th_counters counters;
    json_t *by_worker;
    th_counted_frames_run(f, &counters, &by_worker);
    row->own = th_json_set(row->own ? row->own : json_object(), "counters", set_counters(json_object(), &counters));
    row->once = th_json_set(row->once ? row->once : json_object(), "counters_by_worker", by_worker);
    return row->own && row->once;
}

/* ---- what is missing ---- */

/* Written to kernel.perf_event_paranoid; what cannot be read is 2, the default. */
static int paranoia(void)
{
    int level;
    FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "r");
    const bool is_read = file && fscanf(file, "%d", &level) == 1;
    if (file)
        fclose(file);
    return is_read ? level : 2;
}

/* Why perf_event_open failed, and what to do, as a part of a sentence. text: room for it. */
static const char *reason_of(int error, char *text, size_t size)
{
    switch (error) {
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        return "this machine has none, as most virtual machines; run on hardware, or let the hypervisor pass on its "
               "counters";
    case EACCES:
        snprintf(text, size,
                 "kernel.perf_event_paranoid is %d; set it to 2 or less with sysctl, or give the program CAP_PERFMON",
                 paranoia());
        return text;
    case EPERM:
        return "not permitted, as in most containers; allow perf_event_open in the seccomp profile and add CAP_PERFMON";
    case ENOSYS:
        return "the system has no perf_event_open: a kernel without CONFIG_PERF_EVENTS, or a sandbox that hides it";
    case EMFILE:
    case ENFILE:
        return "no file descriptor is left; raise the limit with ulimit -n";
    case EBUSY:
        return "another program has reserved them; end it";
    default:
        snprintf(text, size, "perf_event_open says: %s", strerror(error));
        return text;
    }
}

/* A sentence for each error, with the counters that have it. */
void th_counted_frames_end(const th_worker_counts *c, th_report *report)
{
    char *text = report->counters_missing, why[200], name[32];
    const size_t size = sizeof report->counters_missing;
    text[0] = '\0';
    for (int e = 0; e < TH_COUNTER_PROCESSOR_COUNT; e++) {
        const int error = error_of(c, e);
        bool is_said = error == 0;
        for (int before = 0; before < e; before++)
            is_said = is_said || error_of(c, before) == error;
        if (is_said)
            continue;
        th_append(text, size, "%sNot counted:", text[0] ? " " : "");
        for (int i = e; i < TH_COUNTER_PROCESSOR_COUNT; i++) {
            if (error_of(c, i) != error)
                continue;
            snprintf(name, sizeof name, "%s", th_counter_name((th_counter)i));
            for (char *at = name; (at = strchr(at, '_'));)
                *at = ' ';
            th_append(text, size, "%s %s", i == e ? "" : ",", name);
        }
        const char *code = strerrorname_np(error);
        th_append(text, size, " (%s): %s.", code ? code : "unknown error", reason_of(error, why, sizeof why));
    }
}

/* ---- tracing frames ---- */

void th_trace_frames(th_tracer *tracer, const th_row *row, th_jobs *jobs, void (*run)(void *ctx, uint64_t frame),
                     void *ctx)
{
    assert(row && run);
    if (!tracer)
        return;
    const uint64_t first_event = th_tracer_recorded(tracer);
    uint64_t frame = 0, spent_ns = 0;
    th_tracer_group(tracer, row->name);
    do {
        th_tracer_frame_begin(tracer, jobs, frame);
        const uint64_t begin = th_tracer_begin(tracer, "run");
        run(ctx, frame);
        const uint64_t end = th_tracer_end(tracer);
        th_tracer_frame_end(tracer, jobs);
        spent_ns += end - begin;
        if (row->bones > 0)
            th_tracer_count(tracer, "ns per bone", (double)(end - begin) / (double)row->bones);
        frame++;
    } while (frame < TH_TRACED_FRAMES && spent_ns < TH_TRACED_NS &&
             th_tracer_recorded(tracer) - first_event < TH_TRACED_EVENTS);
    th_tracer_group(tracer, NULL);
}

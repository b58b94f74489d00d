#include "chunk_counters.h"

#include <throng/core/cache_line.h>
#include <throng/core/text_format.h>

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

const char *th_counter_name(th_counter counter)
{
    assert(counter < TH_COUNTER_COUNT);
    static const char *const names[] = {"cycles", "instructions", "l1_misses",       "llc_misses",
                                        "cpu_ns", "page_faults",  "context_switches"};
    _Static_assert(sizeof names / sizeof *names == TH_COUNTER_COUNT, "a name for each");
    return names[counter];
}

/* ---- events ---- */

#define CACHE_READ_MISSES(cache)                                                                                       \
    ((uint64_t)(cache) | (uint64_t)PERF_COUNT_HW_CACHE_OP_READ << 8 | (uint64_t)PERF_COUNT_HW_CACHE_RESULT_MISS << 16)

/* Events of a group are counted at the same time, so their ratios are right even where groups take turns. A processor
 * has four to eight counters, some of them taken. */
enum { GROUPS = 2, GROUP_EVENTS = 2 };

static const struct {
    int group;
    uint32_t type;
    uint64_t config;
} events[TH_COUNTER_PROCESSOR_COUNT] = {
    [TH_COUNTER_CYCLES] = {0, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    [TH_COUNTER_INSTRUCTIONS] = {0, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    [TH_COUNTER_L1_MISSES] = {1, PERF_TYPE_HW_CACHE, CACHE_READ_MISSES(PERF_COUNT_HW_CACHE_L1D)},
    [TH_COUNTER_LLC_MISSES] = {1, PERF_TYPE_HW_CACHE, CACHE_READ_MISSES(PERF_COUNT_HW_CACHE_LL)},
};

/* What a worker has counted at a moment, or in chunks. Times are in nanoseconds: how long a group was wanted, and how
 * long it counted. */
typedef struct count {
    double values[TH_COUNTER_COUNT];
    double wanted[GROUPS], ran[GROUPS];
} count;

typedef struct worker {
    pid_t thread;    /* whose counters these are; 0: not opened */
    int fds[GROUPS]; /* of the first event of each group; -1: none */
    int events[GROUPS][GROUP_EVENTS], event_counts[GROUPS];
    int members[TH_COUNTER_PROCESSOR_COUNT]; /* all descriptors; -1: none */
    int errors[TH_COUNTER_PROCESSOR_COUNT];  /* errno of perf_event_open; 0: counted */
    count before, sums[TH_FRAME_STAGE_COUNT];
    bool has_begun;
} worker;

struct th_chunk_counters {
    uint32_t count;
    size_t stride; /* workers have cache lines of their own */
    unsigned char *workers;
};

static worker *worker_at(const th_chunk_counters *c, uint32_t index)
{
    assert(index < c->count);
    return (worker *)(void *)(c->workers + index * c->stride);
}

/* ---- a thread's counters ---- */

static int open_event(int event, int leader)
{
    struct perf_event_attr attributes = {
        .type = events[event].type,
        .size = sizeof attributes,
        .config = events[event].config,
        .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
        .exclude_kernel = 1, /* more needs more permission */
        .exclude_hv = 1,
    };
    return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
}

/* Of the calling thread. An event that is missing leaves the others of its group. */
static void open_counters(worker *w)
{
    for (int g = 0; g < GROUPS; g++)
        w->fds[g] = -1, w->event_counts[g] = 0;
    for (int e = 0; e < TH_COUNTER_PROCESSOR_COUNT; e++) {
        const int group = events[e].group, fd = open_event(e, w->fds[group]);
        w->members[e] = fd;
        w->errors[e] = fd < 0 ? errno : 0;
        if (fd < 0)
            continue;
        if (w->fds[group] < 0)
            w->fds[group] = fd;
        w->events[group][w->event_counts[group]++] = e;
    }
}

static void close_counters(worker *w)
{
    for (int e = 0; w->thread != 0 && e < TH_COUNTER_PROCESSOR_COUNT; e++)
        if (w->members[e] >= 0)
            close(w->members[e]);
    w->thread = 0;
}

static void read_group(const worker *w, int group, count *out)
{
    uint64_t words[3 + GROUP_EVENTS]; /* their number, time wanted, time run, a value each */
    if (w->fds[group] < 0 || read(w->fds[group], words, sizeof words) < (ssize_t)(3 * sizeof *words))
        return;
    out->wanted[group] = (double)words[1];
    out->ran[group] = (double)words[2];
    for (int i = 0; i < w->event_counts[group]; i++)
        out->values[w->events[group][i]] = (double)words[3 + i];
}

static count read_counters(const worker *w)
{
    count now = {{0}, {0}, {0}};
    struct rusage usage;
    struct timespec cpu;
    getrusage(RUSAGE_THREAD, &usage);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
    now.values[TH_COUNTER_CPU_NS] = (double)cpu.tv_sec * 1e9 + (double)cpu.tv_nsec;
    now.values[TH_COUNTER_PAGE_FAULTS] = (double)(usage.ru_minflt + usage.ru_majflt);
    now.values[TH_COUNTER_CONTEXT_SWITCHES] = (double)(usage.ru_nvcsw + usage.ru_nivcsw);
    for (int g = 0; g < GROUPS; g++)
        read_group(w, g, &now);
    return now;
}

/* ---- chunks ---- */

static void begin_chunk(void *ctx, uint32_t index, th_frame_stage stage)
{
    (void)stage;
    worker *w = worker_at(ctx, index);
    const pid_t thread = gettid();
    if (w->thread != thread) { /* that of another pool, maybe */
        close_counters(w);
        open_counters(w);
        w->thread = thread;
    }
    w->before = read_counters(w);
}

static void add_difference(count *sum, const count *before, const count *after)
{
    for (int i = 0; i < TH_COUNTER_COUNT; i++)
        sum->values[i] += after->values[i] - before->values[i];
    for (int g = 0; g < GROUPS; g++) {
        sum->wanted[g] += after->wanted[g] - before->wanted[g];
        sum->ran[g] += after->ran[g] - before->ran[g];
    }
}

static void end_chunk(void *ctx, uint32_t index, th_frame_stage stage)
{
    worker *w = worker_at(ctx, index);
    const count after = read_counters(w);
    add_difference(&w->sums[stage], &w->before, &after);
    w->has_begun = true;
}

/* ---- all workers ---- */

th_result th_chunk_counters_create(uint32_t workers, th_chunk_counters **out, th_error *err)
{
    assert(workers > 0 && workers <= TH_JOBS_MAX_THREADS && out);
    th_chunk_counters *c = calloc(1, sizeof *c);
    const size_t stride = th_cache_line_round(sizeof(worker)), bytes = stride * workers;
    unsigned char *memory = c ? th_cache_line_alloc(bytes) : NULL;
    *out = c;
    if (!memory) {
        free(c);
        *out = NULL;
        return th_fail(err, TH_ERR_MEMORY, "no memory for the counters of %u threads", workers);
    }
    memset(memory, 0, bytes);
    *c = (th_chunk_counters){workers, stride, memory};
    return TH_OK;
}

void th_chunk_counters_destroy(th_chunk_counters *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->count; i++)
        close_counters(worker_at(c, i));
    free(c->workers);
    free(c);
}

th_frame_observer th_chunk_counters_observer(th_chunk_counters *c)
{
    return (th_frame_observer){begin_chunk, end_chunk, c};
}

void th_chunk_counters_reset(th_chunk_counters *c)
{
    for (uint32_t i = 0; i < c->count; i++)
        memset(worker_at(c, i)->sums, 0, sizeof worker_at(c, i)->sums);
}

static void add_worker(const worker *w, th_frame_stage stage, count *sum)
{
    static const count nothing;
    for (int s = 0; s < TH_FRAME_STAGE_COUNT; s++)
        if (stage == TH_FRAME_STAGE_COUNT || (int)stage == s)
            add_difference(sum, &nothing, &w->sums[s]);
}

/* A counter is known if no worker that had chunks lacks it. */
static bool is_counted(const th_chunk_counters *c, int counter)
{
    bool is_any = false;
    for (uint32_t i = 0; i < c->count; i++) {
        const worker *w = worker_at(c, i);
        if (w->has_begun && counter < TH_COUNTER_PROCESSOR_COUNT && w->errors[counter] != 0)
            return false;
        is_any = is_any || w->has_begun;
    }
    return is_any;
}

th_counters th_chunk_counters_get(const th_chunk_counters *c, uint32_t index, th_frame_stage stage)
{
    count sum = {{0}, {0}, {0}};
    th_counters out;
    for (uint32_t i = 0; i < c->count; i++)
        if (index == TH_NO_INDEX || index == i)
            add_worker(worker_at(c, i), stage, &sum);
    for (int i = 0; i < TH_COUNTER_COUNT; i++) {
        double scale = 1;
        if (i < TH_COUNTER_PROCESSOR_COUNT && sum.wanted[events[i].group] > 0)
            scale = sum.wanted[events[i].group] / sum.ran[events[i].group];
        out.values[i] = is_counted(c, i) && isfinite(scale) ? sum.values[i] * scale : (double)NAN;
    }
    return out;
}

/* ---- what is missing ---- */

/* Written to kernel.perf_event_paranoid; what cannot be read is 2, the default. */
static int paranoia(void)
{
    int level = 2;
    FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "r");
    if (file) {
        if (fscanf(file, "%d", &level) != 1)
            level = 2;
        fclose(file);
    }
    return level;
}

void th_counter_error_describe(int error, char *text, size_t size)
{
    switch (error) {
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        snprintf(text, size,
                 "this machine has none, as most virtual machines; run on hardware, or let the hypervisor "
                 "pass on its counters");
        return;
    case EACCES:
        snprintf(text, size,
                 "kernel.perf_event_paranoid is %d; set it to 2 or less with sysctl, or give the program CAP_PERFMON",
                 paranoia());
        return;
    case EPERM:
        snprintf(text, size,
                 "not permitted, as in most containers; allow perf_event_open in the seccomp profile and add "
                 "CAP_PERFMON");
        return;
    case ENOSYS:
        snprintf(text, size,
                 "the system has no perf_event_open: a kernel without CONFIG_PERF_EVENTS, or a sandbox that "
                 "hides it");
        return;
    case EMFILE:
    case ENFILE:
        snprintf(text, size, "no file descriptor is left; raise the limit with ulimit -n");
        return;
    case EBUSY:
        snprintf(text, size, "another program has reserved them; end it");
        return;
    default:
        snprintf(text, size, "perf_event_open says: %s", strerror(error));
    }
}

static int error_of(const th_chunk_counters *c, int counter)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (worker_at(c, i)->has_begun && worker_at(c, i)->errors[counter] != 0)
            return worker_at(c, i)->errors[counter];
    return 0;
}

const char *th_errno_name(int error)
{
    const char *name = strerrorname_np(error);
    return name ? name : "unknown error";
}

/* The counter's name for people. */
static const char *written(int counter, char *text, size_t size)
{
    snprintf(text, size, "%s", th_counter_name((th_counter)counter));
    for (char *c = text; *c; c++)
        *c = *c == '_' ? ' ' : *c;
    return text;
}

/* A sentence for each error, with the counters that have it. */
void th_chunk_counters_describe_missing(const th_chunk_counters *c, char *text, size_t size)
{
    text[0] = '\0';
    for (int e = 0; e < TH_COUNTER_PROCESSOR_COUNT; e++) {
        const int error = error_of(c, e);
        bool is_said = error == 0;
        for (int before = 0; before < e; before++)
            is_said = is_said || error_of(c, before) == error;
        if (is_said)
            continue;
        th_append(text, size, "%sNot counted:", text[0] ? " " : "");
        for (int i = e; i < TH_COUNTER_PROCESSOR_COUNT; i++)
            if (error_of(c, i) == error)
                th_append(text, size, "%s %s", i == e ? "" : ",", written(i, (char[32]){0}, 32));
        char why[200];
        th_counter_error_describe(error, why, sizeof why);
        th_append(text, size, " (%s): %s.", th_errno_name(error), why);
    }
}

/* The jobs/ entries: a table of operations, and of the schedulers that run them. */
#include "registry.h"
#include "scheduler_process.h"

#include <core/json.h>

#include <math.h>
#include <stdio.h>

/* ---- schedulers ---- */

typedef struct variant {
    const char *name; /* NULL: the scheduler's name; "": end of the list */
    th_scheduler scheduler;
    bool is_plain, is_traced, is_baseline;
    /* How the runtime's threads wait: a variable of a process of its own. NULL: they spin for a while, then sleep. */
    const char *policy;
} variant;

static const variant schedulers[] = {
    {.scheduler = TH_SCHEDULER_WORK_STEALING},
    {.scheduler = TH_SCHEDULER_SERIAL, .is_baseline = true},
    {.scheduler = TH_SCHEDULER_OPENMP_DYNAMIC},
    {.scheduler = TH_SCHEDULER_OPENMP_GUIDED},
    {.scheduler = TH_SCHEDULER_OPENMP_STATIC},
    {"openmp-dynamic:active", TH_SCHEDULER_OPENMP_DYNAMIC, .policy = "OMP_WAIT_POLICY=active"},
    {"openmp-dynamic:passive", TH_SCHEDULER_OPENMP_DYNAMIC, .policy = "OMP_WAIT_POLICY=passive"},
    {.name = ""},
};
static const variant loops[] = {
    {.name = "work-stealing"},
    {.name = "plain", .is_plain = true, .is_baseline = true},
    {.name = ""},
};
static const variant tracing[] = {
    {.name = "on", .is_traced = true},
    {.name = "off", .is_baseline = true},
    {.name = ""},
};

/* ---- operations ---- */

/* How an operation runs: run or lap as in th_subject, and its additional fields. */
typedef struct method {
    const variant *variants;
    void (*run)(void *harness, uint64_t frame);
    th_lap (*lap)(void *harness, uint64_t frame);
    uint32_t sleep_ms;      /* ahead of an iteration */
    bool is_alone;          /* runs on one thread */
    bool is_oversubscribed; /* twice as many threads as usable CPUs */
    bool is_awaited;        /* waits for a second thread, which serial has not */
    bool is_busy;           /* however threads wait */
    bool is_frame;          /* a repetition is one frame */
    /* Additional fields: */
    bool has_speed_up, has_overhead, has_chunk_cost, has_idle, has_p90;
} method;

#define CALLS(of) .variants = (of), .run = th_scheduler_harness_call
#define WAKES(function, ms)                                                                                            \
    .variants = schedulers, .lap = (function), .sleep_ms = (ms), .is_awaited = true, .has_idle = true

static const method fork_join = {CALLS(schedulers)};
static const method work = {CALLS(schedulers), .is_busy = true, .has_speed_up = true, .has_overhead = true};
static const method chunk = {CALLS(loops), .is_alone = true, .has_chunk_cost = true};
static const method trace = {CALLS(tracing), .is_alone = true, .has_chunk_cost = true};
static const method wake = {WAKES(th_scheduler_harness_wake, 2)};
static const method wake_asleep = {WAKES(th_scheduler_harness_wake, 20)}; /* threads that spin for a while then sleep */
static const method wake_frame = {WAKES(th_scheduler_harness_wake_frame, 2)};
static const method stages = {
    .variants = schedulers,
    .run = th_scheduler_harness_stages,
    .is_frame = true,
    .has_speed_up = true,
    .has_overhead = true,
};
static const method frame = {
    .variants = schedulers,
    .lap = th_scheduler_harness_frame,
    .sleep_ms = 14,
    .has_speed_up = true,
    .has_idle = true,
};
static const method oversubscribed = {
    .variants = schedulers,
    .lap = th_scheduler_harness_timed_call,
    .is_oversubscribed = true,
    .is_busy = true,
    .has_speed_up = true,
    .has_overhead = true,
    .has_p90 = true,
};

typedef struct shape {
    const char *name;
    const method *method;
    uint32_t items, grain;
    uint32_t item_ns; /* mean; 0: empty */
    th_costs costs;
} shape;

static const shape shapes[] = {
    {"fork_join:2", &fork_join, 2, 1, 0, TH_COSTS_EVEN},
    {"fork_join:16", &fork_join, 16, 1, 0, TH_COSTS_EVEN},
    {"fork_join:256", &fork_join, 256, 1, 0, TH_COSTS_EVEN},
    {"chunk", &chunk, 4096, 1, 0, TH_COSTS_EVEN},
    {"trace", &trace, 256, 1, 0, TH_COSTS_EVEN},
    {"job:1us", &work, 256, 1, 1000, TH_COSTS_EVEN},
    {"job:10us", &work, 256, 1, 10000, TH_COSTS_EVEN},
    {"uneven:ascending:1", &work, 4096, 1, 250, TH_COSTS_ASCENDING},
    {"uneven:ascending:8", &work, 4096, 8, 250, TH_COSTS_ASCENDING},
    {"uneven:ascending:16", &work, 4096, 16, 250, TH_COSTS_ASCENDING},
    {"uneven:descending:1", &work, 4096, 1, 250, TH_COSTS_DESCENDING},
    {"uneven:descending:8", &work, 4096, 8, 250, TH_COSTS_DESCENDING},
    {"uneven:descending:16", &work, 4096, 16, 250, TH_COSTS_DESCENDING},
    {"uneven:tail:1", &work, 4096, 1, 250, TH_COSTS_TAIL},
    {"uneven:tail:8", &work, 4096, 8, 250, TH_COSTS_TAIL},
    {"uneven:tail:16", &work, 4096, 16, 250, TH_COSTS_TAIL},
    {"uneven:random:1", &work, 4096, 1, 250, TH_COSTS_RANDOM},
    {"uneven:random:8", &work, 4096, 8, 250, TH_COSTS_RANDOM},
    {"uneven:random:16", &work, 4096, 16, 250, TH_COSTS_RANDOM},
    {"stages:64", &stages, 64, 8, 200, TH_COSTS_EVEN},
    {"wake:cold", &wake, 1, 1, 0, TH_COSTS_EVEN},
    {"wake:asleep", &wake_asleep, 1, 1, 0, TH_COSTS_EVEN},
    {"wake:frame", &wake_frame, 1, 1, 0, TH_COSTS_EVEN},
    {"frame:60hz", &frame, 1000, 8, 200, TH_COSTS_EVEN},
    {"oversubscribed:2x", &oversubscribed, 256, 1, 10000, TH_COSTS_EVEN},
};

/* ---- the entries ---- */

static th_result create_harness(th_entry *entry, const th_bench_desc *desc, const th_fixture *fixture, th_row *row,
                                th_error *err)
{
    const shape *s = entry->shape;
    const variant *r = entry->variant;
    const method *m = s->method;
    const uint32_t twice = 2 * th_cpus_read().usable, most = twice < TH_JOBS_MAX_THREADS ? twice : TH_JOBS_MAX_THREADS;
    const th_jobs_desc jobs = {
        .threads = m->is_oversubscribed ? most
                   : m->is_alone        ? 1
                                        : desc->threads,
        .scheduler = r->scheduler,
        .placement = TH_PLACEMENT_WORKERS,
    };
    const th_scheduler_harness_desc harness = {
        .jobs = r->is_plain ? NULL : &jobs,
        .items = s->items,
        .grain = s->grain,
        .item_ns = s->item_ns,
        .costs = s->costs,
        .is_traced = r->is_traced,
        .is_awaited = m->is_awaited,
        .is_frame = m->is_frame,
        .sleep_ns = m->sleep_ms * UINT64_C(1000000),
        .is_alone = fixture->is_scheduler_process,
        .steps_per_us = fixture->steps_per_us,
        .row = row,
    };
    row->has_helpers = !fixture->is_scheduler_process; /* other schedulers, whose threads spin */
    th_scheduler_harness *subject = NULL;
    const th_result result = th_scheduler_harness_create(&harness, &subject, err);
    entry->subject = subject;
    return result;
}

/* In a process of its own; but a tracer needs the pool in this process. */
static th_result create(th_entry *entry, const th_bench_desc *desc, const th_fixture *fixture, th_row *row,
                        th_error *err)
{
    const variant *r = entry->variant;
    row->time_unit = "ns";
    if (!desc->scheduler_program || desc->tracer) {
        if (!r->policy || fixture->is_scheduler_process)
            return create_harness(entry, desc, fixture, row, err);
        th_row_skip(row, "%s needs a process of its own, with %s", entry->name, r->policy);
        return TH_OK;
    }
    const th_scheduler_process_desc process = {
        .program = desc->scheduler_program,
        .variables = r->policy ? (const char *const[]){r->policy, NULL} : NULL,
        .entry = entry->name,
        .threads = desc->threads,
        .steps_per_us = fixture->steps_per_us,
        .row = row,
    };
    th_scheduler_process *subject = NULL;
    const th_result result = th_scheduler_process_create(&process, &subject, err);
    entry->subject = subject;
    entry->before = th_scheduler_process_before;
    if (entry->lap)
        entry->lap = th_scheduler_process_lap;
    else
        entry->timed_run = th_scheduler_process_run;
    entry->after = th_scheduler_process_after;
    entry->destroy = th_scheduler_process_destroy;
    return result;
}

static json_t *figure(json_t *json, bool applies, const char *name, double value)
{
    return applies ? th_json_set(json, name, th_json_real(value)) : json;
}

static void summarize(const th_entry *entry, const th_row *baseline, th_row *row)
{
    const shape *s = entry->shape;
    const method *m = s->method;
    const bool is_process = entry->destroy == th_scheduler_process_destroy;
    const th_scheduler_times told =
        is_process ? th_scheduler_process_times(entry->subject) : th_scheduler_harness_times(entry->subject);
    const th_jobs_times times = {
        .ns = th_samples_stats(&row->real_ns).median,
        .p90_ns = told.p90_ns,
        .baseline_ns = baseline ? th_samples_stats(&baseline->real_ns).median : (double)NAN,
        .threads = row->threads,
        .usable_cpus = th_cpus_read().usable,
        .chunks = s->items, /* only shapes with a grain of 1 have a cost per chunk */
        .idle_ns = told.idle_ns,
        .idle_cpu_ns = told.idle_cpu_ns,
    };
    const th_jobs_figures f = th_jobs_figures_of(&times);
    json_t *json = json_object();
    json = figure(json, m->has_speed_up, "speed_up", f.speed_up);
    json = figure(json, m->has_speed_up, "efficiency", f.efficiency);
    json = figure(json, m->has_overhead, "overhead_ns", f.overhead_ns);
    json = figure(json, m->has_chunk_cost, "chunk_ns", f.chunk_ns);
    json = figure(json, m->has_idle, "idle_cores", f.idle_cores);
    json = figure(json, m->has_p90, "efficiency_at_p90", f.efficiency_at_p90);
    row->own = json;
}

uint32_t th_jobs_entries(th_entry *entries)
{
    uint32_t count = 0;
    for (const shape *s = shapes; s < shapes + sizeof shapes / sizeof *shapes; s++) {
        const method *m = s->method;
        for (const variant *r = m->variants; !r->name || r->name[0]; r++) {
            if (!th_scheduler_available(r->scheduler) || (r->policy && m->is_busy) || (r->is_baseline && m->is_awaited))
                continue;
            th_entry *e = &entries[count++];
            *e = (th_entry){
                .shape = s,
                .variant = r,
                .is_baseline = r->is_baseline,
                .create = create,
                .before = th_scheduler_harness_prepare,
                .run = m->run,
                .lap = m->lap,
                .after = th_scheduler_harness_check,
                .summarize = summarize,
                .pool = th_scheduler_harness_pool,
                .destroy = th_scheduler_harness_destroy,
            };
            snprintf(e->name, sizeof e->name, "jobs/%s/%s", s->name,
                     r->name ? r->name : th_scheduler_name(r->scheduler));
        }
    }
    return count;
}

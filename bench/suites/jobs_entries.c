/* The entries about jobs: a table of what is done, and who competes in it. */
#include "registry.h"
#include "scheduler_harness.h"

#include <throng/core/json.h>

#include <math.h>
#include <stdio.h>

/* ---- who ---- */

typedef struct rival {
    const char *name; /* NULL: the scheduler's; "": the end of the list */
    th_scheduler scheduler;
    bool is_plain, is_traced, is_baseline;
} rival;

static const rival schedulers[] = {
    {.scheduler = TH_SCHEDULER_OWN},
    {.scheduler = TH_SCHEDULER_SERIAL, .is_baseline = true},
    {.scheduler = TH_SCHEDULER_OPENMP_DYNAMIC},
    {.scheduler = TH_SCHEDULER_OPENMP_GUIDED},
    {.scheduler = TH_SCHEDULER_OPENMP_STATIC},
    {.scheduler = TH_SCHEDULER_ONETBB},
    {.name = ""},
};
static const rival threaded[] = {
    {.scheduler = TH_SCHEDULER_OWN},           {.scheduler = TH_SCHEDULER_OPENMP_DYNAMIC},
    {.scheduler = TH_SCHEDULER_OPENMP_GUIDED}, {.scheduler = TH_SCHEDULER_OPENMP_STATIC},
    {.scheduler = TH_SCHEDULER_ONETBB},        {.name = ""},
};
static const rival loops[] = {
    {.name = "own"},
    {.name = "plain", .is_plain = true, .is_baseline = true},
    {.name = ""},
};
static const rival tracing[] = {
    {.name = "on", .is_traced = true},
    {.name = "off", .is_baseline = true},
    {.name = ""},
};

/* ---- what ---- */

/* A way of working: run or lap, as th_subject, and what can be said of it. */
typedef struct way {
    const rival *rivals;
    void (*before)(void *crew);
    void (*run)(void *crew, uint64_t frame);
    th_lap (*lap)(void *crew, uint64_t frame);
    void (*after)(void *crew);
    bool is_alone;          /* on one thread */
    bool is_oversubscribed; /* twice as many threads as usable CPUs */
    bool is_awaited;
    /* Further figures: */
    bool has_speed_up, has_overhead, has_chunk_cost, has_idle, has_slow_call;
} way;

#define IN_CALLS          .before = th_crew_prepare, .run = th_crew_call, .after = th_crew_check
#define IN_LAPS(function) .before = th_crew_prepare, .lap = function, .after = th_crew_check

static const way fork_join = {.rivals = schedulers, IN_CALLS};
static const way work = {.rivals = schedulers, IN_CALLS, .has_speed_up = true, .has_overhead = true};
static const way chunk = {.rivals = loops, IN_CALLS, .is_alone = true, .has_chunk_cost = true};
static const way trace = {.rivals = tracing, IN_CALLS, .is_alone = true, .has_chunk_cost = true};
static const way wake = {.rivals = threaded, IN_LAPS(th_crew_wake), .is_awaited = true, .has_idle = true};
static const way wake_frame = {.rivals = threaded, IN_LAPS(th_crew_wake_frame), .is_awaited = true, .has_idle = true};
static const way stages = {
    .rivals = schedulers,
    .before = th_crew_prepare_frame,
    .run = th_crew_stages,
    .after = th_crew_check_frame,
    .has_speed_up = true,
    .has_overhead = true,
};
static const way frame = {.rivals = schedulers, IN_LAPS(th_crew_frame), .has_speed_up = true, .has_idle = true};
static const way oversubscribed = {
    .rivals = schedulers,
    IN_LAPS(th_crew_timed_call),
    .is_oversubscribed = true,
    .has_speed_up = true,
    .has_overhead = true,
    .has_slow_call = true,
};

typedef struct shape {
    const char *name;
    const way *way;
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
    {"wake:frame", &wake_frame, 1, 1, 0, TH_COSTS_EVEN},
    {"frame:60hz", &frame, 1000, 8, 200, TH_COSTS_EVEN},
    {"oversubscribed:2x", &oversubscribed, 256, 1, 10000, TH_COSTS_EVEN},
};

/* ---- the entries ---- */

static uint32_t threads_of(const way *w, uint32_t asked)
{
    const uint32_t most = 2 * th_cpus_read().usable;
    if (w->is_oversubscribed)
        return most < TH_JOBS_MAX_THREADS ? most : TH_JOBS_MAX_THREADS;
    return w->is_alone ? 1 : asked;
}

static th_result create_crew(th_entry *entry, const th_bench_desc *desc, const th_stage *stage, th_row *row,
                             th_error *err)
{
    const shape *s = entry->shape;
    const rival *r = entry->rival;
    const th_jobs_desc jobs = {
        .threads = threads_of(s->way, desc->threads),
        .scheduler = r->scheduler,
        .placement = TH_PLACEMENT_WORKERS,
    };
    const th_crew_desc crew = {
        .jobs = r->is_plain ? NULL : &jobs,
        .items = s->items,
        .grain = s->grain,
        .item_ns = s->item_ns,
        .costs = s->costs,
        .is_traced = r->is_traced,
        .is_awaited = s->way->is_awaited,
        .steps_per_us = stage->steps_per_us,
        .row = row,
    };
    row->time_unit = "ns";
    th_crew *subject = NULL;
    const th_result result = th_crew_create(&crew, &subject, err);
    entry->subject = subject;
    return result;
}

static json_t *figure(json_t *json, bool applies, const char *name, double value)
{
    return applies ? th_json_set(json, name, th_json_real(value)) : json;
}

static void summarize_crew(const th_entry *entry, const th_row *baseline, th_row *row)
{
    const shape *s = entry->shape;
    const th_crew *crew = entry->subject;
    const uint32_t usable = th_cpus_read().usable;
    const double cpus = row->threads < usable ? row->threads : usable;
    const double ns = th_samples_stats(&row->real_ns).median;
    const double base_ns = baseline ? th_samples_stats(&baseline->real_ns).median : (double)NAN;
    json_t *json = json_object();
    json = figure(json, s->way->has_speed_up, "speed_up", base_ns / ns);
    json = figure(json, s->way->has_speed_up, "efficiency", base_ns / (cpus * ns));
    json = figure(json, s->way->has_overhead, "overhead_ns", ns - base_ns / cpus);
    json = figure(json, s->way->has_chunk_cost, "chunk_ns", (ns - base_ns) / s->items);
    json = figure(json, s->way->has_idle, "idle_cores", (double)crew->idle_cpu_ns / (double)crew->idle_ns);
    json = figure(json, s->way->has_slow_call, "p10_efficiency", base_ns / (cpus * th_crew_slow_call_ns(crew)));
    row->own = json;
}

static uint32_t add(th_entry *entries, const shape *s)
{
    uint32_t count = 0;
    for (const rival *r = s->way->rivals; !r->name || r->name[0]; r++) {
        if (!th_scheduler_available(r->scheduler))
            continue;
        th_entry *e = &entries[count++];
        *e = (th_entry){
            .shape = s,
            .rival = r,
            .is_baseline = r->is_baseline,
            .create = create_crew,
            .before = s->way->before,
            .run = s->way->run,
            .lap = s->way->lap,
            .after = s->way->after,
            .summarize = summarize_crew,
            .pool = th_crew_pool,
            .destroy = th_crew_destroy,
        };
        snprintf(e->name, sizeof e->name, "jobs/%s/%s", s->name, r->name ? r->name : th_scheduler_name(r->scheduler));
    }
    return count;
}

uint32_t th_jobs_entries(th_entry *entries)
{
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        count += add(entries + count, &shapes[i]);
    return count;
}

#include "explore_calls.h"

#include "explore.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

enum { MAX_ITEMS = 500, MAX_CALLERS = 3, ALIVE = 0x600d, GARBAGE = 0xa5 };

/* One call. Plain memory of the caller's: garbage as soon as the call has returned. */
typedef struct work {
    uint32_t state;
    th_job job;
    th_jobs *own, *other; /* for nested calls, in reverse order; NULL: none */
    explore_mark begun;
    uint32_t fails;
    uint32_t chunks, items, inner_chunks;
    bool has_failed;
    bool is_inside[TH_JOBS_MAX_THREADS]; /* a chunk, under this worker number */
    bool failed_at[MAX_ITEMS];
    uint8_t runs[MAX_ITEMS];
    explore_mark ended[MAX_ITEMS];
} work;

typedef struct caller {
    const explore_plan *plan;
    th_jobs *jobs, *other;
    uint64_t random;
    uint64_t chunks, items, other_items; /* that the counters should tell */
    uint64_t traced_items;
    uint32_t calls;
    work works[2]; /* in turn, so that a call that is over is not taken for the next one */
} caller;

typedef struct inner_work {
    uint32_t state, items;
} inner_work;

static int inner_chunk(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    inner_work *w = ctx;
    (void)worker;
    explore_insist(w->state == ALIVE, "a nested chunk of a call that is over");
    w->items += end - begin;
    return 0;
}

static uint32_t call_inside(th_jobs *jobs, uint32_t items)
{
    if (!jobs)
        return 0;
    inner_work inner = {.state = ALIVE};
    explore_insist(th_jobs_for(jobs, items, 2, inner_chunk, &inner) == 0, "a nested call fails");
    explore_insist(inner.items == items, "%u nested items of %u", inner.items, items);
    memset(&inner, GARBAGE, sizeof inner);
    return (items + 1) / 2;
}

static void insist_range(const work *w, uint32_t begin, uint32_t end)
{
    const uint32_t grain = w->job.grain ? w->job.grain : 1;
    explore_insist(begin < end && end <= w->job.count, "items [%u, %u) of %u", begin, end, w->job.count);
    explore_insist(begin % grain == 0 && (end - begin == grain || end == w->job.count), "chunk [%u, %u) by %u", begin,
                   end, grain);
}

static int chunk(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    work *w = ctx;
    explore_insist(w->state == ALIVE, "a chunk of a call that is over");
    explore_insist(explore_sees(w->begun), "what the caller wrote need not be visible in [%u, %u)", begin, end);
    insist_range(w, begin, end);
    explore_insist(!w->is_inside[worker], "two chunks under number %u", worker);
    w->is_inside[worker] = true;
    explore_step();
    call_inside(w->other, end - begin);
    w->inner_chunks += call_inside(w->own, end - begin);
    for (uint32_t i = begin; i < end; i++) {
        explore_insist(w->runs[i]++ == 0, "item %u runs twice", i);
        w->ended[i] = explore_mark_here();
    }
    w->chunks++;
    w->items += end - begin;
    w->is_inside[worker] = false;
    const bool fails = w->fails > 0 && (begin / (end - begin)) % w->fails == 0;
    w->has_failed |= w->failed_at[begin] = fails;
    return fails ? (int)begin + 1 : 0;
}

static void insist_done(const work *w, int error)
{
    if (w->has_failed)
        explore_insist(error > 0 && error <= MAX_ITEMS && w->failed_at[error - 1], "%d returned by nobody", error);
    else
        explore_insist(error == 0, "%d returned by nobody", error);
    for (uint32_t i = 0; i < w->job.count; i++) {
        explore_insist(w->runs[i] == 1 || w->has_failed, "item %u of %u is lost", i, w->job.count);
        explore_insist(w->runs[i] == 0 || explore_sees(w->ended[i]), "what was written for item %u may be unseen", i);
    }
    explore_insist(w->items == w->job.count || w->has_failed, "%u items of %u", w->items, w->job.count);
}

static void insist_stats(const th_jobs *jobs, uint64_t chunks, uint64_t items)
{
    th_worker_stats stats[TH_JOBS_MAX_THREADS];
    explore_quiet(true);
    th_jobs_stats(jobs, stats);
    explore_quiet(false);
    for (uint32_t i = 0; i < th_jobs_threads(jobs); i++) {
        chunks -= stats[i].chunks;
        items -= stats[i].items;
        explore_insist(stats[i].wakes <= stats[i].parks, "worker %u woke more often than it slept", i);
        explore_insist(stats[i].idle_ns < INT64_MAX && stats[i].idle_at_end_ns < INT64_MAX,
                       "worker %u: less than no time", i);
    }
    explore_insist(chunks == 0 && items == 0, "the counters are %lld chunks and %lld items short", (long long)chunks,
                   (long long)items);
}

static void fill_partition(caller *c, const th_job *job, uint32_t *partition)
{
    const uint32_t threads = th_jobs_threads(c->jobs);
    uint32_t costs[MAX_ITEMS];
    for (uint32_t i = 0; i < job->count; i++)
        costs[i] = explore_below(&c->random, 3) ? 1 : explore_below(&c->random, 1000);
    if (!c->plan->random || explore_below(&c->random, 2)) {
        th_jobs_partition(threads, job->count, job->grain, costs, partition);
        return;
    }
    uint32_t first = 0;
    for (uint32_t i = 0; i + 1 < threads; i++)
        partition[i] = first += explore_below(&c->random, job->count - first + 1);
}

static void draw_call(caller *c, work *w)
{
    const explore_plan *plan = c->plan;
    *w = (work){.state = ALIVE, .begun = explore_mark_here(), .fails = c->calls == 1 ? plan->fails : 0};
    w->job = (th_job){.fn = chunk, .ctx = w, .count = plan->count, .grain = plan->grain};
    bool nests = plan->nests;
    if (plan->random) {
        const uint32_t most = explore_below(&c->random, 4) ? 40 : MAX_ITEMS;
        w->job.count = explore_below(&c->random, most + 1);
        w->job.grain = explore_below(&c->random, explore_below(&c->random, 3) ? 4 : 100);
        w->fails = explore_below(&c->random, 6) ? 0 : 1 + explore_below(&c->random, 30);
        nests = nests && explore_below(&c->random, 2);
    }
    if (nests) {
        w->own = c->jobs;
        w->other = c->other;
    }
}

static void make_call(caller *c)
{
    work *w = &c->works[c->calls++ % 2];
    uint32_t partition[TH_JOBS_MAX_THREADS];
    draw_call(c, w);
    th_job job = w->job;
    if (c->plan->is_weighted && !(c->plan->random && explore_below(&c->random, 2))) {
        fill_partition(c, &job, partition);
        job.partition = partition;
    }
    const int error = th_jobs_run(c->jobs, &job);
    memset(&job, GARBAGE, sizeof job);
    memset(partition, GARBAGE, sizeof partition);
    insist_done(w, error);
    c->chunks += w->chunks + w->inner_chunks;
    c->items += w->own ? 2u * w->items : w->items;
    c->other_items += w->other ? w->items : 0;
    memset(w, GARBAGE, sizeof *w);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now); /* the explorer's */
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Nobody sleeps at its beginning. */
static void begin_frame(const caller *c)
{
    explore_step();
    const uint64_t start_ns = now_ns();
    th_jobs_frame_begin(c->jobs);
    if (!c->plan->spins || c->plan->callers > 1 || c->other || now_ns() - start_ns > 10000000)
        return;
    explore_quiet(true);
    explore_rest(false);
    explore_quiet(false);
    explore_insist(explore_sleepers() == 0, "somebody sleeps in a frame");
}

static void *call_often(void *arg)
{
    caller *c = arg;
    const explore_plan *plan = c->plan;
    for (uint32_t i = 0; i < plan->calls; i++) {
        const bool in_frame = plan->frames && !(plan->random && explore_below(&c->random, 2));
        if (in_frame)
            begin_frame(c);
        make_call(c);
        if (plan->callers <= 1)
            insist_stats(c->jobs, c->chunks, c->items);
        if (in_frame)
            th_jobs_frame_end(c->jobs);
        if (plan->random && explore_below(&c->random, 4) == 0)
            explore_rest(explore_below(&c->random, 2));
    }
    return NULL;
}

static void on_span(const th_span *span, void *ctx)
{
    explore_insist(span->begin < span->end && span->start_ns <= span->end_ns, "an odd span");
    ((caller *)ctx)->traced_items += span->end - span->begin;
}

/* Brings the workers to where they shall be when it begins. */
static void settle(caller *c)
{
    const explore_plan *plan = c->plan;
    const explore_plan plain = {.threads = plan->threads, .count = 4, .grain = 1};
    explore_quiet(true);
    if (plan->start != EXPLORE_LATE)
        explore_rest(plan->start == EXPLORE_ASLEEP);
    c->plan = &plain;
    for (uint32_t i = 0; i < plan->earlier; i++)
        make_call(c);
    c->plan = plan;
    if (plan->start != EXPLORE_LATE)
        explore_rest(plan->start == EXPLORE_ASLEEP);
    explore_quiet(false);
}

static void call_together(caller *callers, uint32_t count)
{
    pthread_t threads[MAX_CALLERS];
    for (uint32_t i = 1; i < count; i++)
        pthread_create(&threads[i], NULL, call_often, &callers[i]);
    call_often(&callers[0]);
    for (uint32_t i = 1; i < count; i++)
        pthread_join(threads[i], NULL);
}

static void run_calls(const explore_plan *plan, th_jobs *jobs, th_jobs *other)
{
    static caller callers[MAX_CALLERS];
    const uint32_t count = plan->callers ? plan->callers : 1;
    for (uint32_t i = 0; i < count; i++) {
        caller *c = &callers[i];
        c->plan = plan, c->jobs = jobs, c->other = other;
        c->random = (plan->random + i) * 0x9e3779b97f4a7c15u | 1;
        c->chunks = c->items = c->other_items = c->traced_items = c->calls = 0;
    }
    settle(&callers[0]);
    const uint64_t untraced = callers[0].items;
    if (plan->traces)
        th_jobs_trace(jobs, on_span, &callers[0]);
    call_together(callers, count);
    uint64_t chunks = 0, items = 0, other_items = 0;
    for (uint32_t i = 0; i < count; i++) {
        chunks += callers[i].chunks;
        items += callers[i].items;
        other_items += callers[i].other_items;
    }
    insist_stats(jobs, chunks, items);
    explore_insist(!plan->traces || callers[0].traced_items == items - untraced, "spans are missing");
    if (other) {
        th_worker_stats stats[TH_JOBS_MAX_THREADS];
        th_jobs_stats(other, stats);
        for (uint32_t i = 0; i < th_jobs_threads(other); i++)
            other_items -= stats[i].items;
        explore_insist(other_items == 0, "the other pool's counters do not add up");
    }
}

uint64_t explore_frame_hash(th_frame *frame, const explore_plan *plan, uint32_t n)
{
    memset(plan->palette, 0xff, th_crowd_palette_bytes(plan->crowd));
    th_frame_run(frame, n / TH_FRAME_RATE, plan->palette);
    return th_crowd_hash(plan->crowd, plan->palette);
}

static void run_crowd(const explore_plan *plan, th_jobs *jobs)
{
    th_frame *frame;
    uint64_t random = plan->random;
    const th_frame_desc desc = {.crowd = plan->crowd, .jobs = jobs, .grain = 1 + explore_below(&random, 5)};
    explore_insist(th_frame_create(&desc, &frame, NULL) == TH_OK, "no frame");
    for (uint32_t i = 0; i < 1 + plan->calls; i++) {
        const uint32_t n = explore_below(&random, EXPLORE_FRAMES);
        if (plan->frames)
            th_jobs_frame_begin(jobs);
        explore_insist(explore_frame_hash(frame, plan, n) == plan->hashes[n], "palettes unlike those of one thread");
        if (plan->frames)
            th_jobs_frame_end(jobs);
    }
    th_frame_destroy(frame);
}

static th_jobs *create_pool(uint32_t threads)
{
    th_jobs *jobs;
    explore_insist(th_jobs_create(&(th_jobs_desc){.threads = threads}, &jobs, NULL) == TH_OK, "no pool");
    return jobs;
}

void *explore_plan_run(void *arg)
{
    const explore_plan *plan = arg;
    explore_usable_cpus = plan->spins ? TH_JOBS_MAX_THREADS : 1;
    explore_range_max = plan->range_max ? plan->range_max : 65534;
    explore_pool_group = plan->group ? plan->group : 8;
    if (plan->refused > 0 && plan->refused < plan->threads - 1) {
        th_jobs *none;
        explore_refuse_thread(plan->refused);
        const th_result result = th_jobs_create(&(th_jobs_desc){.threads = plan->threads}, &none, NULL);
        explore_insist(result == TH_ERR_ENVIRONMENT && !none, "a pool without its threads");
        return NULL;
    }
    th_jobs *jobs = create_pool(plan->threads);
    th_jobs *other = plan->other_threads ? create_pool(plan->other_threads) : NULL;
    if (plan->crowd)
        run_crowd(plan, jobs);
    else
        run_calls(plan, jobs, other);
    th_jobs_destroy(jobs);
    th_jobs_destroy(other);
    return NULL;
}

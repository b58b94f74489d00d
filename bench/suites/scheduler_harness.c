#include "scheduler_harness.h"

#include <bench/interference.h>
#include <core/clock.h>
#include <runtime/frame.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STAGES = 3, SERIAL_US = 100 };

#define GIVE_UP_NS 1000000000u

/* ---- what runs in the chunks ---- */

static int do_nothing(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    (void)begin, (void)end, (void)worker, (void)ctx;
    return 0;
}

static int do_work(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    th_scheduler_harness *harness = ctx;
    th_work_do(harness->work, begin, end, &harness->workers[worker].sum);
    return 0;
}

/* The caller spins in its chunk until a second thread has arrived, so that a chunk is left for that thread. */
static int await_second(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    th_scheduler_harness *harness = ctx;
    const uint64_t now = th_clock_ns();
    (void)begin, (void)end;
    if (worker > 0 || harness->job.count == 1) {
        uint64_t empty = 0;
        atomic_compare_exchange_strong(&harness->arrived_ns, &empty, now);
        return 0;
    }
    while (atomic_load(&harness->arrived_ns) == 0 && !harness->has_missed)
        harness->has_missed = th_clock_ns() - now > GIVE_UP_NS;
    return 0;
}

static void keep_span(const th_span *span, void *ctx)
{
    th_scheduler_harness *harness = ctx;
    harness->ring[harness->traced++ % TH_SCHEDULER_HARNESS_RING] = *span;
}

/* ---- creating ---- */

th_result th_scheduler_harness_create(const th_scheduler_harness_desc *desc, th_scheduler_harness **out, th_error *err)
{
    assert(desc->row && out && desc->steps_per_us > 0);
    th_scheduler_harness *harness = *out = aligned_alloc(alignof(th_scheduler_harness), sizeof *harness);
    if (!harness)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %s", desc->row->name);
    memset(harness, 0, sizeof *harness);
    harness->row = desc->row;
    harness->is_alone = desc->is_alone;
    harness->is_frame = desc->is_frame;
    harness->sleep_ns = desc->sleep_ns;
    harness->job = (th_job){.fn = desc->item_ns > 0  ? do_work
                                  : desc->is_awaited ? await_second
                                                     : do_nothing,
                            .ctx = harness,
                            .count = desc->items,
                            .grain = desc->grain};
    harness->serial_steps = (uint32_t)(SERIAL_US * desc->steps_per_us);
    if (desc->item_ns > 0) {
        harness->work = th_work_create(desc->items, desc->item_ns, desc->costs, desc->steps_per_us);
        if (!harness->work)
            return th_fail(err, TH_ERR_MEMORY, "no memory for %u items of work", desc->items);
    }
    harness->row->threads = 1;
    if (!desc->jobs)
        return TH_OK;
    const th_result result = th_jobs_create(desc->jobs, &harness->jobs, err);
    if (result != TH_OK)
        return result;
    harness->row->threads = th_jobs_threads(harness->jobs);
    if (desc->is_awaited) /* a chunk for each thread */
        harness->job.count = harness->row->threads;
    harness->is_traced = desc->is_traced;
    if (desc->is_traced)
        th_jobs_trace(harness->jobs, keep_span, harness);
    return TH_OK;
}

void th_scheduler_harness_destroy(void *ctx)
{
    th_scheduler_harness *harness = ctx;
    th_jobs_destroy(harness->jobs);
    free(harness->work);
    free(harness->call_ns);
    free(harness);
}

/* ---- before and after ---- */

static void call(th_scheduler_harness *harness)
{
    harness->calls++;
    if (harness->jobs) {
        th_jobs_run(harness->jobs, &harness->job);
        return;
    }
    const th_job job = harness->job;
    for (uint32_t i = 0; i < job.count; i++)
        job.fn(i, i + 1, 0, job.ctx);
}

void th_scheduler_harness_prepare(void *ctx)
{
    th_scheduler_harness *harness = ctx;
    if (!harness->is_alone)
        th_wait_quiescent();
    if (harness->is_frame)
        th_jobs_frame_begin(harness->jobs);
    call(harness);
    if (harness->jobs)
        th_jobs_stats_reset(harness->jobs);
    for (uint32_t w = 0; w < TH_JOBS_MAX_THREADS; w++)
        harness->workers[w].sum = 0;
    harness->calls = harness->traced = 0;
    harness->is_measured = true;
}

/* Checks that the pool handed out every item, and, by checksums, that every item was done exactly once. */
void th_scheduler_harness_check(void *ctx)
{
    th_scheduler_harness *harness = ctx;
    th_worker_stats stats[TH_JOBS_MAX_THREADS];
    uint64_t items = 0, sum = 0;
    const uint64_t wanted = harness->calls * harness->job.count;
    if (harness->is_frame)
        th_jobs_frame_end(harness->jobs);
    if (!harness->jobs)
        return;
    th_jobs_stats(harness->jobs, stats);
    for (uint32_t w = 0; w < harness->row->threads; w++) {
        items += stats[w].items;
        sum += harness->workers[w].sum;
    }
    char *failure = harness->row->failure;
    const size_t size = sizeof harness->row->failure;
    if (items != wanted)
        snprintf(failure, size, "%llu items were run instead of %llu", (unsigned long long)items,
                 (unsigned long long)wanted);
    else if (harness->work && sum != harness->calls * harness->work->checksum)
        snprintf(failure, size, "the number of items is right, but some were skipped and others repeated");
    else if (harness->is_traced && harness->traced != wanted / harness->job.grain)
        snprintf(failure, size, "the trace saw %llu chunks", (unsigned long long)harness->traced);
    else if (harness->has_missed)
        snprintf(failure, size, "no second thread came within a second");
}

/* ---- iterations ---- */

void th_scheduler_harness_call(void *ctx, uint64_t frame)
{
    (void)frame;
    call(ctx);
}

void th_scheduler_harness_stages(void *ctx, uint64_t frame)
{
    (void)frame;
    for (int i = 0; i < STAGES; i++)
        call(ctx);
}

static th_lap lap_begin(void)
{
    const uint64_t cpu_ns = th_clock_cpu_ns();
    return (th_lap){.real_ns = th_clock_ns(), .cpu_ns = cpu_ns};
}

static th_lap lap_end(th_lap begin)
{
    const uint64_t real_ns = th_clock_ns();
    return (th_lap){.real_ns = real_ns - begin.real_ns, .cpu_ns = th_clock_cpu_ns() - begin.cpu_ns};
}

th_lap th_scheduler_harness_timed_call(void *ctx, uint64_t frame)
{
    th_scheduler_harness *harness = ctx;
    (void)frame;
    th_lap lap = lap_begin();
    call(harness);
    lap = lap_end(lap);
    if (!harness->is_measured)
        return lap;
    if (harness->call_count == harness->call_capacity) {
        const size_t capacity = harness->call_capacity ? 2 * harness->call_capacity : 256;
        double *more = realloc(harness->call_ns, capacity * sizeof *more);
        if (!more) {
            th_row_fail(harness->row, "no memory for the times of %zu calls", capacity);
            return lap;
        }
        harness->call_ns = more;
        harness->call_capacity = capacity;
    }
    harness->call_ns[harness->call_count++] = (double)lap.real_ns;
    return lap;
}

static void sleep_and_watch(th_scheduler_harness *harness)
{
    th_lap lap = lap_begin();
    nanosleep(&(struct timespec){.tv_nsec = (long)harness->sleep_ns}, NULL);
    lap = lap_end(lap);
    if (harness->is_measured) {
        harness->idle_ns += lap.real_ns;
        harness->idle_cpu_ns += lap.cpu_ns;
    }
}

static void work_alone(th_scheduler_harness *harness)
{
    harness->serial_sum = th_work_steps(harness->serial_sum, harness->serial_steps);
}

static th_lap call_and_await(th_scheduler_harness *harness)
{
    atomic_store(&harness->arrived_ns, 0);
    const th_lap begin = lap_begin();
    call(harness);
    th_lap lap = lap_end(begin);
    if (!harness->has_missed)
        lap.real_ns = atomic_load(&harness->arrived_ns) - begin.real_ns;
    return lap;
}

th_lap th_scheduler_harness_wake(void *ctx, uint64_t frame)
{
    (void)frame;
    sleep_and_watch(ctx);
    return call_and_await(ctx);
}

th_lap th_scheduler_harness_wake_frame(void *ctx, uint64_t frame)
{
    th_scheduler_harness *harness = ctx;
    (void)frame;
    sleep_and_watch(harness);
    th_jobs_frame_begin(harness->jobs);
    work_alone(harness);
    const th_lap lap = call_and_await(harness);
    th_jobs_frame_end(harness->jobs);
    return lap;
}

/* Excludes the serial part, which costs all schedulers the same. */
th_lap th_scheduler_harness_frame(void *ctx, uint64_t frame)
{
    th_scheduler_harness *harness = ctx;
    sleep_and_watch(harness);
    th_lap begin = lap_begin();
    th_jobs_frame_begin(harness->jobs);
    const th_lap waking = lap_end(begin);
    work_alone(harness);
    begin = lap_begin();
    th_scheduler_harness_stages(harness, frame);
    th_jobs_frame_end(harness->jobs);
    const th_lap calls = lap_end(begin);
    return (th_lap){.real_ns = waking.real_ns + calls.real_ns, .cpu_ns = waking.cpu_ns + calls.cpu_ns};
}

/* ---- results ---- */

th_jobs *th_scheduler_harness_pool(void *ctx)
{
    const th_scheduler_harness *harness = ctx;
    return harness->is_traced ? NULL : harness->jobs;
}

th_scheduler_times th_scheduler_harness_times(const th_scheduler_harness *harness)
{
    return (th_scheduler_times){
        .idle_ns = harness->idle_ns,
        .idle_cpu_ns = harness->idle_cpu_ns,
        .p90_ns = th_quantile(harness->call_ns, harness->call_count, 0.9),
    };
}

th_jobs_figures th_jobs_figures_of(const th_jobs_times *t)
{
    assert(t->threads > 0 && t->usable_cpus > 0);
    const double cpus = t->threads < t->usable_cpus ? t->threads : t->usable_cpus;
    return (th_jobs_figures){
        .speed_up = t->baseline_ns / t->ns,
        .efficiency = t->baseline_ns / (cpus * t->ns),
        .efficiency_at_p90 = t->baseline_ns / (cpus * t->p90_ns),
        .overhead_ns = t->ns - t->baseline_ns / cpus,
        .chunk_ns = (t->ns - t->baseline_ns) / t->chunks,
        .idle_cores = (double)t->idle_cpu_ns / (double)t->idle_ns,
    };
}

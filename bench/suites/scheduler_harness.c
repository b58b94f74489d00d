#include "scheduler_harness.h"

#include "measure/wait_quiescent.h"

#include <throng/core/clock.h>
#include <throng/runtime/frame.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STAGES = 3, SERIAL_US = 100 };

#define MS          1000000u
#define WAKE_SLEEP  (2 * MS)
#define FRAME_SLEEP (14 * MS)
#define GIVE_UP     (1000 * MS)

/* ---- what runs in the chunks ---- */

static int do_nothing(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    (void)begin, (void)end, (void)worker, (void)ctx;
    return 0;
}

static int do_work(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    th_crew *crew = ctx;
    th_work_do(crew->work, begin, end, &crew->workers[worker].sum);
    return 0;
}

/* The caller keeps busy until somebody else has come, so that there is a chunk left for him. */
static int await_second(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    th_crew *crew = ctx;
    const uint64_t now = th_clock_ns();
    (void)begin, (void)end;
    if (worker > 0 || crew->job.count == 1) {
        uint64_t nobody = 0;
        atomic_compare_exchange_strong(&crew->arrived_ns, &nobody, now);
        return 0;
    }
    while (atomic_load(&crew->arrived_ns) == 0 && !crew->has_missed)
        crew->has_missed = th_clock_ns() - now > GIVE_UP;
    return 0;
}

static void keep_span(const th_span *span, void *ctx)
{
    th_crew *crew = ctx;
    crew->ring[crew->traced++ % TH_CREW_RING] = *span;
}

/* ---- making ---- */

static th_result create_work(th_crew *crew, const th_crew_desc *desc, th_error *err)
{
    crew->serial_steps = (uint32_t)(SERIAL_US * desc->steps_per_us);
    crew->job.fn = desc->is_awaited ? await_second : do_nothing;
    if (desc->item_ns == 0)
        return TH_OK;
    crew->job.fn = do_work;
    crew->work = th_work_create(desc->items, desc->item_ns, desc->costs, desc->steps_per_us);
    return crew->work ? TH_OK : th_fail(err, TH_ERR_MEMORY, "no memory for %u items of work", desc->items);
}

static th_result create_threads(th_crew *crew, const th_crew_desc *desc, th_error *err)
{
    crew->row->threads = 1;
    if (!desc->jobs)
        return TH_OK;
    const th_result result = th_threads_create(desc->jobs, &crew->jobs, err);
    if (result != TH_OK)
        return result;
    crew->row->threads = th_jobs_threads(crew->jobs);
    if (desc->is_awaited) /* a chunk for each */
        crew->job.count = crew->row->threads;
    crew->is_traced = desc->is_traced;
    if (desc->is_traced)
        th_jobs_trace(crew->jobs, keep_span, crew);
    return TH_OK;
}

th_result th_crew_create(const th_crew_desc *desc, th_crew **out, th_error *err)
{
    th_crew *crew = *out = aligned_alloc(alignof(th_crew), sizeof *crew);
    if (!crew)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %s", desc->row->name);
    memset(crew, 0, sizeof *crew);
    crew->row = desc->row;
    crew->job = (th_job){.ctx = crew, .count = desc->items, .grain = desc->grain};
    th_result result = create_work(crew, desc, err);
    if (result == TH_OK)
        result = create_threads(crew, desc, err);
    return result;
}

void th_crew_destroy(void *ctx)
{
    th_crew *crew = ctx;
    th_jobs_destroy(crew->jobs);
    free(crew->work);
    free(crew->call_ns);
    free(crew);
}

/* ---- before and after ---- */

static void sleep_ns(uint64_t ns)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL);
}

static void call(th_crew *crew)
{
    crew->calls++;
    if (crew->jobs) {
        th_jobs_run(crew->jobs, &crew->job);
        return;
    }
    const th_job job = crew->job;
    for (uint32_t i = 0; i < job.count; i++)
        job.fn(i, i + 1, 0, job.ctx);
}

static void warm_up(th_crew *crew)
{
    call(crew);
    if (crew->jobs)
        th_jobs_stats_reset(crew->jobs);
    for (uint32_t w = 0; w < TH_JOBS_MAX_THREADS; w++)
        crew->workers[w].sum = 0;
    crew->calls = crew->traced = 0;
    crew->is_measured = true;
}

void th_crew_prepare(void *ctx)
{
    th_settle();
    warm_up(ctx);
}

void th_crew_prepare_frame(void *ctx)
{
    th_crew *crew = ctx;
    th_settle();
    th_jobs_frame_begin(crew->jobs);
    warm_up(crew);
}

/* The pool must say that it handed out every item, and the items that they were done, each as often as it should. */
void th_crew_check(void *ctx)
{
    th_crew *crew = ctx;
    th_worker_stats stats[TH_JOBS_MAX_THREADS];
    uint64_t items = 0, sum = 0;
    const uint64_t wanted = crew->calls * crew->job.count;
    if (!crew->jobs)
        return;
    th_jobs_stats(crew->jobs, stats);
    for (uint32_t w = 0; w < crew->row->threads; w++) {
        items += stats[w].items;
        sum += crew->workers[w].sum;
    }
    char *failure = crew->row->failure;
    const size_t size = sizeof crew->row->failure;
    if (items != wanted)
        snprintf(failure, size, "%llu items were run instead of %llu", (unsigned long long)items,
                 (unsigned long long)wanted);
    else if (crew->work && sum != crew->calls * crew->work->checksum)
        snprintf(failure, size, "as many items were run as should be, but not the right ones");
    else if (crew->is_traced && crew->traced != wanted / crew->job.grain)
        snprintf(failure, size, "the trace saw %llu chunks", (unsigned long long)crew->traced);
    else if (crew->has_missed)
        snprintf(failure, size, "no second thread came within a second");
}

void th_crew_check_frame(void *ctx)
{
    th_crew *crew = ctx;
    th_jobs_frame_end(crew->jobs);
    th_crew_check(crew);
}

/* ---- ways of working ---- */

void th_crew_call(void *ctx, uint64_t frame)
{
    (void)frame;
    call(ctx);
}

void th_crew_stages(void *ctx, uint64_t frame)
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

static void keep_call(th_crew *crew, uint64_t ns)
{
    if (crew->call_count == crew->call_capacity) {
        const size_t capacity = crew->call_capacity ? 2 * crew->call_capacity : 256;
        double *more = realloc(crew->call_ns, capacity * sizeof *more);
        if (!more) {
            snprintf(crew->row->failure, sizeof crew->row->failure, "no memory for the times of %zu calls", capacity);
            return;
        }
        crew->call_ns = more;
        crew->call_capacity = capacity;
    }
    crew->call_ns[crew->call_count++] = (double)ns;
}

th_lap th_crew_timed_call(void *ctx, uint64_t frame)
{
    th_crew *crew = ctx;
    (void)frame;
    th_lap lap = lap_begin();
    call(crew);
    lap = lap_end(lap);
    if (crew->is_measured)
        keep_call(crew, lap.real_ns);
    return lap;
}

static void sleep_and_watch(th_crew *crew, uint64_t ns)
{
    th_lap lap = lap_begin();
    sleep_ns(ns);
    lap = lap_end(lap);
    if (crew->is_measured) {
        crew->idle_ns += lap.real_ns;
        crew->idle_cpu_ns += lap.cpu_ns;
    }
}

static void work_alone(th_crew *crew)
{
    crew->serial_sum = th_work_steps(crew->serial_sum, crew->serial_steps);
}

static th_lap call_and_await(th_crew *crew)
{
    atomic_store(&crew->arrived_ns, 0);
    const th_lap begin = lap_begin();
    call(crew);
    th_lap lap = lap_end(begin);
    if (!crew->has_missed)
        lap.real_ns = atomic_load(&crew->arrived_ns) - begin.real_ns;
    return lap;
}

th_lap th_crew_wake(void *ctx, uint64_t frame)
{
    (void)frame;
    sleep_and_watch(ctx, WAKE_SLEEP);
    return call_and_await(ctx);
}

th_lap th_crew_wake_frame(void *ctx, uint64_t frame)
{
    th_crew *crew = ctx;
    (void)frame;
    sleep_and_watch(crew, WAKE_SLEEP);
    th_jobs_frame_begin(crew->jobs);
    work_alone(crew);
    const th_lap lap = call_and_await(crew);
    th_jobs_frame_end(crew->jobs);
    return lap;
}

/* All but the serial part, which is the same for all. */
th_lap th_crew_frame(void *ctx, uint64_t frame)
{
    th_crew *crew = ctx;
    sleep_and_watch(crew, FRAME_SLEEP);
    th_lap begin = lap_begin();
    th_jobs_frame_begin(crew->jobs);
    const th_lap waking = lap_end(begin);
    work_alone(crew);
    begin = lap_begin();
    th_crew_stages(crew, frame);
    th_jobs_frame_end(crew->jobs);
    const th_lap calls = lap_end(begin);
    return (th_lap){.real_ns = waking.real_ns + calls.real_ns, .cpu_ns = waking.cpu_ns + calls.cpu_ns};
}

/* ---- afterwards ---- */

th_jobs *th_crew_pool(void *ctx)
{
    const th_crew *crew = ctx;
    return crew->is_traced ? NULL : crew->jobs;
}

double th_crew_slow_call_ns(const th_crew *crew)
{
    return th_quantile(crew->call_ns, crew->call_count, 0.9);
}

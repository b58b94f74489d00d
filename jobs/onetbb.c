#include "onetbb.h"

#include "onetbb_arena.h"
#include "role.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#ifdef TH_JOBS_HAS_ONETBB

struct th_onetbb {
    const th_jobs *jobs;
    th_tally *tallies;
    th_onetbb_arena *arena;
    struct {
        alignas(TH_LINE_BYTES) uint64_t end; /* of the worker's last range of chunks, in ticks */
    } workers[];
};

bool th_onetbb_available(void)
{
    return true;
}

typedef struct roll_call {
    uint64_t deadline_ns;
    uint32_t threads;
    _Atomic(uint32_t) present;
    _Atomic(bool) is_late;
} roll_call;

static void answer(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    roll_call *roll = ctx;
    (void)worker;
    atomic_fetch_add(&roll->present, end - begin);
    while (atomic_load(&roll->present) < roll->threads && !atomic_load(&roll->is_late)) {
        sched_yield();
        if (th_clock_monotonic_ns() > roll->deadline_ns)
            atomic_store(&roll->is_late, true);
    }
}

/* oneTBB promises no thread but the caller, and tells nobody when a limit keeps others from coming. So everybody waits
 * for everybody, once. On a busy machine threads come late; one that has not come after ten seconds never will. */
static int call_roll(th_onetbb_arena *arena, uint32_t threads)
{
    roll_call roll = {.deadline_ns = th_clock_monotonic_ns() + 10000000000u, .threads = threads};
    const int error = th_onetbb_arena_run(arena, threads, answer, &roll);
    return error ? error : roll.is_late ? EAGAIN : 0;
}

int th_onetbb_create(const th_jobs *jobs, uint32_t threads, th_tally *tallies, th_onetbb **out)
{
    *out = NULL;
    const size_t bytes = sizeof(th_onetbb) + threads * sizeof((*out)->workers[0]);
    th_onetbb *tbb = aligned_alloc(TH_LINE_BYTES, bytes);
    if (!tbb)
        return ENOMEM;
    memset(tbb, 0, bytes);
    tbb->jobs = jobs;
    tbb->tallies = tallies;
    int error = th_onetbb_arena_create(threads, TH_JOBS_MAX_THREADS, &tbb->arena);
    if (!error)
        error = call_roll(tbb->arena, threads);
    if (error) {
        th_onetbb_destroy(tbb);
        return error;
    }
    *out = tbb;
    return 0;
}

void th_onetbb_destroy(th_onetbb *tbb)
{
    if (!tbb)
        return;
    th_onetbb_arena_destroy(tbb->arena);
    free(tbb);
}

typedef struct loop {
    th_onetbb *tbb;
    const th_seats *seats;
    th_call call;
    uint64_t start;
} loop;

/* Chunks [begin, end). */
static void run_chunks(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    loop *l = ctx;
    const th_job *job = &l->call.job;
    th_tally *tally = &l->tbb->tallies[worker];
    uint64_t *last_end = &l->tbb->workers[worker].end;
    assert((worker == 0) == (th_role_find(l->tbb->jobs) != NULL)); /* only the caller has a role already */

    th_role role;
    th_seats_sit(l->seats, worker);
    th_role_enter(&role, l->tbb->jobs, worker);
    const uint32_t first = begin * job->grain;
    const uint64_t length = (uint64_t)(end - begin) * job->grain, rest = job->count - first;
    const uint64_t chunks = tally->chunks, from = th_tally_begin(tally);
    th_call_run(&l->call, first, (uint32_t)(length < rest ? length : rest), worker, tally);
    if (tally->chunks > chunks) /* else an error elsewhere has ended the call */
        *last_end = th_tally_end(tally, from, *last_end > l->start ? *last_end : l->start);
    th_role_leave(&role);
}

int th_onetbb_run(th_onetbb *tbb, const th_job *job, const th_trace *trace, const th_seats *seats, uint64_t start)
{
    loop l = {.tbb = tbb, .seats = seats, .call = {.job = *job, .trace = trace}, .start = start};
    const int error = th_onetbb_arena_run(tbb->arena, th_job_chunks(job), run_chunks, &l);
    return l.call.error ? l.call.error : error;
}

#else

bool th_onetbb_available(void)
{
    return false;
}

int th_onetbb_create(const th_jobs *jobs, uint32_t threads, th_tally *tallies, th_onetbb **out)
{
    (void)jobs, (void)threads, (void)tallies;
    *out = NULL;
    return ENOTSUP;
}

void th_onetbb_destroy(th_onetbb *tbb)
{
    (void)tbb;
}

int th_onetbb_run(th_onetbb *tbb, const th_job *job, const th_trace *trace, const th_seats *seats, uint64_t start)
{
    (void)tbb, (void)job, (void)trace, (void)seats, (void)start;
    return ENOTSUP;
}

#endif

#include "baselines.h"
#include "onetbb_arena.h"

#include <throng/core/clock.h>
#include <throng/jobs/scheduler.h>

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

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
        if (th_clock_ns() > roll->deadline_ns)
            atomic_store(&roll->is_late, true);
    }
}

/* oneTBB does not guarantee any thread besides the caller, and does not report when a limit keeps threads away. So all
 * threads wait for each other once. On a busy machine threads come late; one that has not come after ten seconds is
 * taken as missing. */
static int call_roll(th_onetbb_arena *arena, uint32_t threads)
{
    roll_call roll = {.deadline_ns = th_clock_ns() + 10000000000u, .threads = threads};
    const int error = th_onetbb_arena_run(arena, threads, answer, &roll);
    return error ? error : roll.is_late ? EAGAIN : 0;
}

static void destroy(void *scheduler)
{
    th_onetbb_arena_destroy(scheduler);
}

static int create(uint32_t threads, void **out)
{
    th_onetbb_arena *arena;
    int error = th_onetbb_arena_create(threads, TH_JOBS_MAX_THREADS, &arena);
    if (!error)
        error = call_roll(arena, threads);
    if (error)
        destroy(arena);
    else
        *out = arena;
    return error;
}

typedef struct chunks {
    uint32_t begin, end;
} chunks;

static void run_some(th_loop_worker *self, void *ctx)
{
    const chunks *c = ctx;
    th_loop_run(self, c->begin, c->end);
}

static void run_chunks(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    chunks c = {begin, end};
    th_loop_join(ctx, worker, run_some, &c);
}

static int run(void *scheduler, th_loop *loop)
{
    return th_onetbb_arena_run(scheduler, th_loop_chunks(loop), run_chunks, loop);
}

void th_onetbb_register(void)
{
    static const th_scheduler_ops ops = {create, run, destroy};
    th_scheduler_register(TH_SCHEDULER_ONETBB, &ops);
}

/* `omp for` over the chunks, under each of three schedules. */
#include <bench/baselines.h>

#ifdef _OPENMP

#include <jobs/scheduler.h>

#include <errno.h>
#include <omp.h>

/* With OMP_DYNAMIC the runtime may give fewer threads than requested, depending on the load. Then the number that
 * create() found would not hold for later calls, and an entry's name would not say its threads. Returns the setting to
 * restore. */
static int insist_on_threads(void)
{
    const int before = omp_get_dynamic();
    omp_set_dynamic(false);
    return before;
}

/* OMP_THREAD_LIMIT, OMP_MAX_ACTIVE_LEVELS or an enclosing parallel region may leave fewer threads. */
static int create(uint32_t threads, void **out)
{
    uint32_t team = 1;
    const int dynamic = insist_on_threads();
    (void)out; /* the runtime owns its threads */
#pragma omp parallel num_threads((int)threads)
#pragma omp single
    team = (uint32_t)omp_get_num_threads();
    omp_set_dynamic(dynamic);
    return team < threads ? EAGAIN : 0;
}

static void destroy(void *scheduler)
{
    (void)scheduler;
}

/* Every thread of a team calls one of these; `omp for` distributes the chunks among them. */

static void share_dynamic(th_loop_worker *self, void *ctx)
{
    const int64_t chunks = th_loop_chunks(ctx);
#pragma omp for schedule(dynamic, 1) nowait
    for (int64_t chunk = 0; chunk < chunks; chunk++)
        th_loop_run(self, (uint32_t)chunk, (uint32_t)chunk + 1);
}

static void share_guided(th_loop_worker *self, void *ctx)
{
    const int64_t chunks = th_loop_chunks(ctx);
#pragma omp for schedule(guided, 1) nowait
    for (int64_t chunk = 0; chunk < chunks; chunk++)
        th_loop_run(self, (uint32_t)chunk, (uint32_t)chunk + 1);
}

static void share_static(th_loop_worker *self, void *ctx)
{
    const int64_t chunks = th_loop_chunks(ctx);
#pragma omp for schedule(static) nowait
    for (int64_t chunk = 0; chunk < chunks; chunk++)
        th_loop_run(self, (uint32_t)chunk, (uint32_t)chunk + 1);
}

/* Inside another parallel region the runtime may give fewer threads than at first; those run all chunks. */
static int run(th_loop *loop, th_loop_fn *share)
{
    const int dynamic = insist_on_threads();
#pragma omp parallel num_threads((int)th_loop_threads(loop))
    th_loop_join(loop, (uint32_t)omp_get_thread_num(), share, loop);
    omp_set_dynamic(dynamic);
    return 0;
}

static int run_dynamic(void *scheduler, th_loop *loop)
{
    (void)scheduler;
    return run(loop, share_dynamic);
}

static int run_guided(void *scheduler, th_loop *loop)
{
    (void)scheduler;
    return run(loop, share_guided);
}

static int run_static(void *scheduler, th_loop *loop)
{
    (void)scheduler;
    return run(loop, share_static);
}

void th_baselines_register(void)
{
    static const th_scheduler_ops dynamic = {create, run_dynamic, destroy}, guided = {create, run_guided, destroy},
                                  fixed = {create, run_static, destroy};
    th_scheduler_register(TH_SCHEDULER_OPENMP_DYNAMIC, &dynamic);
    th_scheduler_register(TH_SCHEDULER_OPENMP_GUIDED, &guided);
    th_scheduler_register(TH_SCHEDULER_OPENMP_STATIC, &fixed);
}

#else

void th_baselines_register(void)
{
}

#endif

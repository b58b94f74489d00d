#include "fixture_jobs.h"

#include <criterion/criterion.h>
#include <sched.h>

th_jobs *create_jobs(th_scheduler scheduler, uint32_t threads)
{
    th_jobs *jobs;
    const th_jobs_desc desc = {.scheduler = scheduler, .threads = threads};
    cr_assert_eq(th_jobs_create(&desc, &jobs), 0);
    return jobs;
}

int meet(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    meeting *m = ctx;
    (void)begin, (void)end;
    m->threads[worker] = pthread_self();
    pthread_getaffinity_np(m->threads[worker], sizeof m->masks[worker], &m->masks[worker]);
    pthread_getname_np(m->threads[worker], m->names[worker], sizeof m->names[worker]);
    atomic_fetch_add(&m->present, 1);
    while (atomic_load(&m->present) < m->expected)
        sched_yield();
    return 0;
}

uint64_t now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

uint64_t burnt_ns_in(long ms)
{
    const uint64_t before_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    sleep_ms(ms);
    return now_ns(CLOCK_PROCESS_CPUTIME_ID) - before_ns;
}

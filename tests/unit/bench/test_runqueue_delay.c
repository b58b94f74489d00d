/* Two threads that both want the one CPU they may use; and a system that does not count, by the linker's --wrap. */
#include <bench/interference.h>

#include <core/clock.h>
#include <criterion/criterion.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#define WORK_NS 100000000

static bool is_silent; /* the kernel counts nothing */

__typeof__(pread) __real_pread, __wrap_pread;

ssize_t __wrap_pread(int file, void *out, size_t size, off_t offset)
{
    return is_silent ? snprintf(out, size, "0 0 0\n") : __real_pread(file, out, size, offset);
}

static pthread_barrier_t gate;

static void *work(void *ctx)
{
    (void)ctx;
    pthread_barrier_wait(&gate); /* all are there, */
    pthread_barrier_wait(&gate); /* and watched */
    while (th_clock_thread_cpu_ns() < WORK_NS)
        ;
    pthread_barrier_wait(&gate);
    pthread_barrier_wait(&gate);
    return NULL;
}

static void stay_here(void)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    cr_assert_eq(sched_setaffinity(0, sizeof one, &one), 0);
}

/* As long as one of them works, the other delay. */
Test(runqueue_delay, are_seen_of_any_thread)
{
    th_runqueue_delay delay;
    pthread_t threads[2];
    stay_here();
    pthread_barrier_init(&gate, NULL, 3);
    for (int i = 0; i < 2; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, work, NULL), 0);
    pthread_barrier_wait(&gate);
    if (!th_runqueue_delay_open(&delay))
        cr_skip_test("this kernel does not count delay");
    cr_expect_geq(delay.count, 3);
    th_runqueue_delay_begin(&delay);
    pthread_barrier_wait(&gate);
    pthread_barrier_wait(&gate); /* both have worked */
    cr_expect_gt(th_runqueue_delay_max(&delay), WORK_NS / 4);
    th_runqueue_delay_begin(&delay);
    cr_expect_lt(th_runqueue_delay_max(&delay), WORK_NS / 4, "what was before does not count");
    pthread_barrier_wait(&gate);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    cr_expect_lt(th_runqueue_delay_max(&delay), WORK_NS / 4, "nor who is gone");
    th_runqueue_delay_close(&delay);
    pthread_barrier_destroy(&gate);
}

Test(runqueue_delay, are_not_known_where_the_kernel_does_not_count)
{
    th_runqueue_delay delay;
    is_silent = true;
    cr_expect_not(th_runqueue_delay_open(&delay));
    cr_expect_eq(delay.count, 0);
    th_runqueue_delay_close(&delay);
}

/* The pool as its callers see it; and inside, because no caller can bring that about, how ranges are split and a ring
 * that has only begun. */
#include "fixture_jobs.h"
#include "fixture_nightly.h"
#include "jobs/clock.h"
#include "jobs/eventcount.h"
#include "jobs/range.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

TestSuite(jobs, .timeout = HANG_S);

/* The linker puts this in the place of pthread_create (--wrap): a system that runs out of threads. */
static atomic_int threads_until_refusal = -1; /* below 0: never */

__typeof__(pthread_create) __real_pthread_create, __wrap_pthread_create;

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
    if (atomic_load(&threads_until_refusal) == 0)
        return EAGAIN;
    atomic_fetch_sub(&threads_until_refusal, 1);
    return __real_pthread_create(thread, attr, start, arg);
}

static uint32_t threads_of_process(void)
{
    uint32_t count = 0;
    DIR *dir = opendir("/proc/self/task");
    for (const struct dirent *entry; (entry = readdir(dir));)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

static th_worker_stats sum_stats(const th_jobs *jobs)
{
    th_worker_stats each[TH_JOBS_MAX_THREADS], sum = {0};
    th_jobs_stats(jobs, each);
    for (uint32_t i = 0; i < th_jobs_threads(jobs); i++) {
        sum.busy_ns += each[i].busy_ns;
        sum.idle_ns += each[i].idle_ns;
        sum.chunks += each[i].chunks;
        sum.items += each[i].items;
        sum.steals += each[i].steals;
        sum.parks += each[i].parks;
    }
    return sum;
}

/* Notes everything the contract promises about the ranges of a call. */
typedef struct census {
    uint32_t count, grain, threads;
    atomic_uchar *hits; /* one a bucket */
    uint32_t bucket;    /* items; the grain when it is big, else 1 */
    atomic_uint running[TH_JOBS_MAX_THREADS];
    atomic_uint broken;
    _Atomic(uint64_t) items;
} census;

static int note(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    census *c = ctx;
    const bool range_is_fine = begin < end && end <= c->count && end - begin <= c->grain;
    if (!range_is_fine || worker >= c->threads || atomic_exchange(&c->running[worker], 1) != 0) {
        atomic_fetch_add(&c->broken, 1);
        return 0;
    }
    for (uint64_t i = begin; i < end; i += c->bucket)
        atomic_fetch_add_explicit(&c->hits[i / c->bucket], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&c->items, end - begin, memory_order_relaxed);
    atomic_store(&c->running[worker], 0);
    return 0;
}

static void check_cover(th_jobs *jobs, uint32_t count, uint32_t grain, uint32_t bucket)
{
    const uint32_t buckets = (uint32_t)(((uint64_t)count + bucket - 1) / bucket);
    census c = {.count = count, .grain = grain ? grain : 1, .threads = th_jobs_threads(jobs), .bucket = bucket};
    c.hits = calloc((size_t)buckets + 1, 1);
    th_jobs_for(jobs, count, grain, note, &c);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < buckets; i++)
        wrong += c.hits[i] != 1;
    cr_expect_eq(c.broken, 0, "%u items by %u: %u bad ranges", count, grain, c.broken);
    cr_expect_eq(wrong, 0, "%u items by %u: %u not run exactly once", count, grain, wrong);
    cr_expect_eq(c.items, count);
    free(c.hits);
}

Test(jobs, run_every_index_once)
{
    static const uint32_t threads[] = {1, 2, 3, 16};
    static const uint32_t counts[] = {0, 1, 2, 63, 64, 65, 1000};
    static const uint32_t grains[] = {0, 7, 64, UINT32_MAX};
    static const uint32_t large[] = {1u << 20, 65537, 60013, UINT32_MAX - 1,
                                     UINT32_MAX}; /* of all that can be counted */
    for (EACH_SCHEDULER(s))
        for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
            th_jobs *jobs = create_jobs(s, threads[t]);
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
                for (size_t g = 0; g < sizeof grains / sizeof *grains; g++)
                    check_cover(jobs, counts[c], grains[g], 1);
            check_cover(jobs, 3 * TH_RANGE_MAX + 7, 1, 1);
            for (size_t l = 0; l < sizeof large / sizeof *large; l++)
                check_cover(jobs, UINT32_MAX, large[l], large[l]);
            th_jobs_destroy(jobs);
        }
}

typedef struct failure {
    uint32_t begin;        /* of the chunk that fails */
    atomic_bool has_begun; /* before, no other chunk ends */
    atomic_uint items;
} failure;

static int fail_once(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    failure *f = ctx;
    (void)worker;
    atomic_fetch_add(&f->items, end - begin);
    if (begin == f->begin)
        atomic_store(&f->has_begun, true);
    while (!atomic_load(&f->has_begun))
        sched_yield();
    return begin == f->begin ? 42 : 0;
}

/* Shares may be dealt out beforehand, so the others wait until whoever has the first chunk has a CPU as well. And there
 * are so many chunks that even a thread that loses its CPU while it fails does so long before the end. */
Test(jobs, a_chunk_that_fails_ends_the_call)
{
    for (EACH_SCHEDULER(s)) {
        th_jobs *jobs = create_jobs(s, 4);
        const uint32_t count = 1u << 20;
        failure f = {.begin = 0};
        cr_expect_eq(th_jobs_for(jobs, count, 1, fail_once, &f), 42, "%s", th_scheduler_name(s));
        cr_expect_lt(f.items, s == TH_SCHEDULER_SERIAL ? 2 : count / 2, "%s", th_scheduler_name(s));
        f = (failure){.begin = 999, .has_begun = true}; /* who has all of them comes to the last one last */
        cr_expect_eq(th_jobs_for(jobs, 1000, 1, fail_once, &f), 42, "%s", th_scheduler_name(s));
        check_cover(jobs, 1000, 3, 1);
        th_jobs_destroy(jobs);
    }
}

/* The epoch comes round after a hundred calls (pool.c), and meets ranges that were not used for long. */
Test(jobs, seldom_used_workers_get_their_share)
{
    th_jobs *jobs = create_jobs(TH_SCHEDULER_WORK_STEALING, 8);
    for (uint32_t call = 0; call < 300; call++)
        check_cover(jobs, call % 50 == 49 || (call > 95 && call < 110) ? 100 : 2, 1, 1);
    th_jobs_destroy(jobs);
}

Test(range, survives_packing)
{
    const th_range range = {.epoch = UINT32_MAX, .begin = 65534, .end = TH_RANGE_MAX};
    const th_range back = th_range_unpack(th_range_pack(range));
    cr_assert(back.epoch == range.epoch && back.begin == range.begin && back.end == range.end);
}

Test(range, shares_meet_and_differ_by_one_at_most)
{
    for (uint32_t length = 1; length <= TH_RANGE_MAX; length = length * 3 + 1)
        for (uint32_t participants = 1; participants <= TH_JOBS_MAX_THREADS && participants <= length; participants++) {
            uint32_t end = 0;
            for (uint32_t i = 0; i < participants; i++) {
                const th_range part = th_range_partition((th_range){.end = length}, i, participants);
                cr_assert_eq(part.begin, end);
                cr_assert(th_range_length(part) - length / participants <= 1);
                end = part.end;
            }
            cr_assert_eq(end, length);
            cr_assert_eq(th_range_length(th_range_partition((th_range){.end = length}, participants, participants)), 0);
        }
}

Test(range, thief_leaves_at_least_half)
{
    for (uint32_t length = 1; length < 100; length++) {
        th_range rest = {.epoch = 3, .begin = 5, .end = 5 + length};
        const th_range taken = th_range_split_back(&rest, UINT32_MAX);
        cr_assert(taken.epoch == 3 && rest.begin == 5 && rest.end == taken.begin && taken.end == 5 + length);
        cr_assert_eq(th_range_length(taken), length > 1 ? length / 2 : 1);
    }
}

Test(range, owner_leaves_nearly_half)
{
    for (uint32_t length = 1; length < 100; length++)
        for (uint32_t most = 1; most < 40; most++) {
            th_range rest = {.epoch = 3, .begin = 5, .end = 5 + length};
            const th_range taken = th_range_split_front(&rest, most);
            cr_assert(taken.epoch == 3 && taken.begin == 5 && taken.end == rest.begin && rest.end == 5 + length);
            cr_assert(th_range_length(taken) >= 1 && th_range_length(taken) <= most);
            cr_assert(th_range_length(taken) == most || th_range_length(taken) == (length + 1) / 2);
        }
}

typedef struct nest {
    th_jobs *outer, *inner;
    uint32_t outer_worker;
    pthread_t thread;
    atomic_uint ran, wrong;
} nest;

static int nested_inner(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    nest *n = ctx;
    if (n->outer == n->inner && (worker != n->outer_worker || !pthread_equal(n->thread, pthread_self())))
        atomic_fetch_add(&n->wrong, 1);
    atomic_fetch_add(&n->ran, end - begin);
    return 0;
}

static int nested_outer(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    nest *shared = ctx;
    for (uint32_t i = begin; i < end; i++) {
        nest mine = {shared->outer, shared->inner, worker, pthread_self(), 0, 0};
        th_jobs_for(shared->inner, 10, 3, nested_inner, &mine);
        atomic_fetch_add(&shared->ran, mine.ran);
        atomic_fetch_add(&shared->wrong, mine.wrong);
    }
    return 0;
}

Test(jobs, nested_calls_run_inline)
{
    for (EACH_SCHEDULER(s)) {
        th_jobs *jobs = create_jobs(s, 4);
        nest n = {.outer = jobs, .inner = jobs};
        th_jobs_for(jobs, 1000, 1, nested_outer, &n);
        cr_expect_eq(n.ran, 10000);
        cr_expect_eq(n.wrong, 0);
        const th_worker_stats sum = sum_stats(jobs);
        cr_expect_eq(sum.items, 1000 + 10000);
        cr_expect_eq(sum.chunks, 1000 + 4000);
        th_jobs_destroy(jobs);
    }
}

Test(jobs, nested_calls_of_another_pool_are_ordinary)
{
    for (EACH_SCHEDULER(s)) {
        const th_scheduler inner[] = {TH_SCHEDULER_WORK_STEALING, s};
        for (int i = 0; i < 2; i++) {
            nest n = {.outer = create_jobs(s, 3), .inner = create_jobs(inner[i], 3)};
            th_jobs_for(n.outer, 100, 1, nested_outer, &n);
            cr_expect_eq(n.ran, 1000);
            cr_expect_eq(sum_stats(n.inner).items, 1000);
            th_jobs_destroy(n.outer);
            th_jobs_destroy(n.inner);
        }
    }
}

/* Calls of one item, each from within the one before, and one of several in the end. */
typedef struct chain {
    th_jobs *pools[3];
    uint32_t at;
    atomic_uint ran;
} chain;

static int call_next(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    chain *c = ctx;
    const uint32_t at = c->at;
    (void)worker;
    c->at = at < 3 ? at + 1 : at;
    if (at < 3)
        th_jobs_for(c->pools[at], at < 2 ? 1 : 5, 2, call_next, c);
    else
        atomic_fetch_add(&c->ran, end - begin);
    return 0;
}

Test(jobs, a_job_is_nested_through_another_pool_too)
{
    th_jobs *pair = create_jobs(TH_SCHEDULER_WORK_STEALING, 2), *single = create_jobs(TH_SCHEDULER_SERIAL, 1);
    chain c = {.pools = {pair, single, pair}};
    call_next(0, 0, 0, &c);
    cr_assert_eq(c.ran, 5);
    th_jobs_destroy(pair);
    th_jobs_destroy(single);
}

typedef struct hold {
    atomic_uint done;
    uint32_t others;
} hold;

/* The first chunk ends only when all others have: the other thread must take the rest of that share. */
static int hold_first_chunk(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    hold *h = ctx;
    (void)end, (void)worker;
    while (begin == 0 && atomic_load(&h->done) < h->others)
        sched_yield();
    atomic_fetch_add(&h->done, 1);
    return 0;
}

Test(jobs, uneven_work_is_stolen)
{
    th_jobs *jobs = create_jobs(TH_SCHEDULER_WORK_STEALING, 2);
    hold h = {.others = 63};
    th_jobs_for(jobs, 64, 1, hold_first_chunk, &h);
    cr_expect_eq(h.done, 64);
    cr_expect_geq(sum_stats(jobs).steals, 1);
    th_jobs_destroy(jobs);
}

static int work_ms(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    (void)begin, (void)end, (void)worker;
    const uint64_t start = now_ns(CLOCK_MONOTONIC);
    while (now_ns(CLOCK_MONOTONIC) - start < *(uint64_t *)ctx)
        ;
    return 0;
}

Test(jobs, stats_add_up)
{
    for (EACH_SCHEDULER(s)) {
        th_jobs *jobs = create_jobs(s, 3);
        const uint32_t threads = th_jobs_threads(jobs);
        uint64_t chunk_ns = 100000;
        th_jobs_for(jobs, 10, 1, work_ms, &chunk_ns);
        th_jobs_stats_reset(jobs);
        cr_expect_eq(sum_stats(jobs).items + sum_stats(jobs).busy_ns + sum_stats(jobs).idle_ns, 0);

        const uint64_t start = now_ns(CLOCK_MONOTONIC);
        th_jobs_for(jobs, 100, 3, work_ms, &chunk_ns);
        th_jobs_for(jobs, 2, 3, work_ms, &chunk_ns); /* one chunk */
        const uint64_t wall_ns = now_ns(CLOCK_MONOTONIC) - start;
        th_worker_stats each[3];
        th_jobs_stats(jobs, each);
        for (uint32_t i = 0; i < threads; i++) {
            cr_expect_leq(each[i].busy_ns, wall_ns);
            cr_expect_leq(each[i].idle_ns, wall_ns);
            cr_expect_leq(each[i].idle_at_end_ns, each[i].idle_ns);
            cr_expect_eq(each[i].busy_ns + each[i].idle_ns, each[0].busy_ns + each[0].idle_ns);
        }
        const th_worker_stats sum = sum_stats(jobs);
        cr_expect_eq(sum.items, 102);
        cr_expect_eq(sum.chunks, 35);
        cr_expect_geq(sum.busy_ns, 35 * chunk_ns);
        th_jobs_destroy(jobs);
    }
}

static int do_nothing(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    (void)begin, (void)end, (void)worker, (void)ctx;
    return 0;
}

Test(jobs, idle_workers_sleep)
{
    th_jobs *jobs = create_jobs(TH_SCHEDULER_WORK_STEALING, 2);
    th_jobs_for(jobs, 100, 1, do_nothing, NULL);
    bool is_quiet = false;
    for (int i = 0; i < TRIES && !is_quiet; i++)
        is_quiet = burnt_ns_in(100) < 10000000;
    cr_expect(is_quiet);
    cr_expect_geq(sum_stats(jobs).parks, 1);
    check_cover(jobs, 1000, 1, 1); /* and they come back */
    th_jobs_destroy(jobs);
}

/* With fewer chunks than threads somebody has none of them. */
Test(jobs, who_had_no_chunk_was_idle_all_the_time)
{
    for (EACH_SCHEDULER(s)) {
        th_jobs *jobs = create_jobs(s, 4);
        th_jobs_for(jobs, 2, 1, do_nothing, NULL);
        th_worker_stats each[4];
        th_jobs_stats(jobs, each);
        for (uint32_t i = 0; i < th_jobs_threads(jobs); i++)
            if (each[i].chunks == 0) {
                cr_expect_eq(each[i].busy_ns, 0, "%s", th_scheduler_name(s));
                cr_expect_eq(each[i].idle_at_end_ns, each[i].idle_ns, "%s", th_scheduler_name(s));
            }
        th_jobs_destroy(jobs);
    }
}

Test(jobs, all_threads_take_part)
{
    for (EACH_SCHEDULER(s)) {
        th_jobs *smaller = create_jobs(s, 2); /* whose size is its own affair */
        th_jobs *jobs = create_jobs(s, 8);
        for (int call = 0; call < 10; call++) {
            meeting m = {.expected = th_jobs_threads(jobs)};
            th_jobs_for(jobs, m.expected, 1, meet, &m);
            cr_expect(pthread_equal(m.threads[0], pthread_self()), "%s", th_scheduler_name(s));
            if (s == TH_SCHEDULER_WORK_STEALING)
                cr_expect_str_eq(m.names[7], "throng-7");
        }
        th_jobs_destroy(jobs);
        th_jobs_destroy(smaller);
    }
}

Test(jobs, come_and_go)
{
    for (uint32_t i = 0; i < (is_nightly() ? 10000 : 1000); i++) {
        th_jobs *jobs = create_jobs(TH_SCHEDULER_WORK_STEALING, 1 + i % 4);
        if (i % 3 == 0)
            check_cover(jobs, i, 4, 1);
        th_jobs_destroy(jobs);
    }
    th_jobs_destroy(NULL);
}

Test(jobs, refused_threads_leave_nothing_behind)
{
    const uint32_t before = threads_of_process();
    for (EACH_SCHEDULER(s)) {
        if (s == TH_SCHEDULER_SERIAL)
            continue;
        const th_jobs_desc desc = {.scheduler = s, .threads = 8};
        for (int allowed = 0; allowed < 7; allowed++) {
            th_jobs *jobs = (th_jobs *)&jobs;
            atomic_store(&threads_until_refusal, allowed);
            th_error err;
            cr_expect_eq(th_jobs_create(&desc, &jobs, &err), TH_ERR_ENVIRONMENT, "%s", th_scheduler_name(s));
            cr_expect_null(jobs);
            cr_expect(strstr(err.text, "the system refuses 8 threads: "), "%s", err.text);
        }
    }
    for (int i = 0; i < 100 && threads_of_process() > before; i++)
        sleep_ms(10); /* a joined thread stays listed for a moment */
    cr_expect_eq(threads_of_process(), before);
    atomic_store(&threads_until_refusal, 7);
    th_jobs_destroy(create_jobs(TH_SCHEDULER_WORK_STEALING, 8));
}

static void expect_refused(th_jobs_desc desc, th_result wanted, const char *text)
{
    th_jobs *jobs = (th_jobs *)&jobs;
    th_error err;
    cr_expect_eq(th_jobs_create(&desc, &jobs, &err), wanted, "%s", text);
    cr_expect(!jobs && err.code == wanted && strstr(err.text, text), "%s: %s", text, err.text);
}

Test(jobs, bad_descriptions_are_refused)
{
    expect_refused((th_jobs_desc){.threads = TH_JOBS_MAX_THREADS + 1}, TH_ERR_LIMIT, "257 threads");
    expect_refused((th_jobs_desc){.scheduler = TH_SCHEDULER_COUNT}, TH_ERR_USAGE, "scheduler 5");
    expect_refused((th_jobs_desc){.scheduler = (th_scheduler)-1}, TH_ERR_USAGE, "scheduler -1");
    expect_refused((th_jobs_desc){.placement = TH_PLACEMENT_COUNT}, TH_ERR_USAGE, "placement 5");
    for (int s = 0; s < TH_SCHEDULER_COUNT; s++) {
        const th_jobs_desc desc = {.scheduler = (th_scheduler)s, .threads = TH_JOBS_MAX_THREADS};
        if (th_scheduler_available((th_scheduler)s))
            th_jobs_destroy(create_jobs((th_scheduler)s, TH_JOBS_MAX_THREADS));
        else
            expect_refused(desc, TH_ERR_ENVIRONMENT, th_scheduler_name((th_scheduler)s));
    }
}

Test(jobs, defaults_are_the_usable_cpus)
{
    th_jobs *jobs = create_jobs(TH_SCHEDULER_WORK_STEALING, 0);
    cr_expect_eq(th_jobs_threads(jobs), th_cpus_read().usable);
    th_jobs_destroy(jobs);
    jobs = create_jobs(TH_SCHEDULER_SERIAL, 5);
    cr_expect_eq(th_jobs_threads(jobs), 1);
    th_jobs_destroy(jobs);
    cr_expect_str_eq(th_scheduler_name(TH_SCHEDULER_OPENMP_DYNAMIC), "openmp-dynamic");
    cr_expect_not(th_scheduler_available(TH_SCHEDULER_COUNT));
}

/* ---- sleep ---- */

/* Falls asleep in the middle of a ring, which has written its time and is about to count itself. */
static void *wait_within_a_notify(void *ctx)
{
    static uint64_t woken;
    th_eventcount *event = ctx;
    const uint32_t key = th_eventcount_prepare_wait(event);
    atomic_store(&event->notified_at, th_clock_ticks());
    woken = th_eventcount_wait(event, key);
    th_eventcount_finish_wait(event);
    return &woken;
}

static uint64_t woken_by_the_rest_of_a_ring(void)
{
    th_eventcount event = {0};
    pthread_t sleeper;
    void *woken;
    cr_assert_eq(pthread_create(&sleeper, NULL, wait_within_a_notify, &event), 0);
    while (atomic_load(&event.notified_at) == 0) /* before it has its key, this epoch would be the one it sleeps with */
        sleep_ms(1);
    sleep_ms(5); /* it sleeps, most probably */
    atomic_fetch_add(&event.epoch, 1);
    syscall(SYS_futex, &event.epoch, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    pthread_join(sleeper, &woken);
    return *(uint64_t *)woken;
}

Test(jobs, a_ring_that_has_begun_before_the_sleep_counts_as_a_wake_up)
{
    uint64_t woken = 0;
    for (int i = 0; i < TRIES && woken == 0; i++)
        woken = woken_by_the_rest_of_a_ring();
    cr_expect_gt(woken, 0);
}

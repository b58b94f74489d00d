/* What goes with a call: errors, partition by cost, frames, traces. Inside only for two errors at once. */
#include "fixture_jobs.h"
#include "jobs/job.h"

#include <criterion/criterion.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

TestSuite(call, .timeout = HANG_S);
TestSuite(partition, .timeout = HANG_S);
TestSuite(frame, .timeout = HANG_S);
TestSuite(stats, .timeout = HANG_S);
TestSuite(trace, .timeout = HANG_S);

static void busy_us(uint64_t us)
{
    const uint64_t start = now_ns(CLOCK_MONOTONIC);
    while (now_ns(CLOCK_MONOTONIC) - start < us * 1000)
        ;
}

/* ---- errors ---- */

Test(call, of_two_errors_the_first_counts)
{
    th_call call = {0};
    th_call_fail(&call, 7);
    th_call_fail(&call, 9);
    cr_expect_eq(call.error, 7);
}

static int fail_at_5(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    (void)worker;
    *(uint32_t *)ctx += end - begin;
    return begin == 5 ? 5 : 0;
}

static int fail_inside(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    uint32_t ran = 0;
    (void)end, (void)worker;
    const int error = th_jobs_for(ctx, 10, 1, fail_at_5, &ran);
    return error == 5 && ran == 6 ? 0 : 1 + (int)begin;
}

Test(call, a_nested_error_is_the_business_of_who_made_the_call)
{
    th_jobs *jobs = create_jobs(TH_SCHEDULER_WORK_STEALING, 3);
    cr_expect_eq(th_jobs_for(jobs, 1000, 1, fail_inside, jobs), 0);
    th_jobs_destroy(jobs);
}

/* ---- partition ---- */

static uint32_t next_random(uint32_t limit)
{
    static uint64_t state = 0x9e3779b97f4a7c15;
    state ^= state << 13; /* xorshift64; Marsaglia, 2003 */
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 32) * limit >> 32);
}

static uint64_t sum_costs(const uint32_t *costs, uint32_t begin, uint32_t end)
{
    uint64_t sum = 0;
    for (uint32_t i = begin; i < end; i++)
        sum += costs[i];
    return sum;
}

Test(partition, are_of_equal_cost_up_to_a_chunk)
{
    static uint32_t costs[3000], partition[TH_JOBS_MAX_THREADS];
    for (int round = 0; round < 500; round++) {
        const uint32_t count = 1 + next_random(3000), grain = 1 + next_random(20), threads = 1 + next_random(40);
        const uint32_t most = next_random(4) ? 100 : UINT32_MAX;
        uint64_t chunk = 0;
        for (uint32_t i = 0; i < count; i++)
            costs[i] = next_random(3) ? next_random(most) : 0;
        for (uint32_t i = 0; i < count; i += grain) {
            const uint64_t cost = sum_costs(costs, i, i + grain < count ? i + grain : count);
            chunk = cost > chunk ? cost : chunk;
        }
        const uint64_t sum = sum_costs(costs, 0, count);
        th_jobs_partition(threads, count, grain, costs, partition);
        for (uint32_t w = 0; w < threads; w++) {
            const uint32_t begin = w ? partition[w - 1] : 0, end = w + 1 < threads ? partition[w] : count;
            cr_assert(begin <= end && end <= count && (begin % grain == 0 || begin == count));
            cr_assert_leq(sum_costs(costs, begin, end), sum / threads + 1 + chunk);
        }
    }
}

Test(partition, of_equal_items_are_equal)
{
    static const uint32_t costs[12] = {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7};
    uint32_t partition[12];
    for (uint32_t threads = 1; threads <= 12; threads++) {
        const uint32_t each = 12 / threads;
        th_jobs_partition(threads, each * threads, 1, costs, partition);
        for (uint32_t w = 1; w < threads; w++)
            cr_expect_eq(partition[w - 1], w * each, "worker %u of %u", w, threads);
    }
}

typedef struct beginning {
    atomic_uint first[2]; /* item of each worker, + 1 */
} beginning;

/* Nobody goes on before both have begun, so nothing is stolen before. */
static int begin_together(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    beginning *b = ctx;
    uint32_t none = 0;
    (void)end;
    atomic_compare_exchange_strong(&b->first[worker], &none, begin + 1);
    while (!atomic_load(&b->first[0]) || !atomic_load(&b->first[1]))
        sched_yield();
    return 0;
}

Test(partition, are_where_workers_begin)
{
    static const uint32_t wanted[] = {1, 77, 500, 999};
    th_jobs *jobs = create_jobs(TH_SCHEDULER_WORK_STEALING, 2);
    for (size_t i = 0; i < 4; i++) {
        beginning b = {0};
        const th_job job = {.fn = begin_together, .ctx = &b, .count = 1000, .grain = 1, .partition = &wanted[i]};
        th_jobs_run(jobs, &job);
        cr_expect_eq(b.first[0], 1);
        cr_expect_eq(b.first[1], wanted[i] + 1);
    }
    th_jobs_destroy(jobs);
}

/* ---- frames ---- */

static th_worker_stats stats_of(const th_jobs *jobs, uint32_t worker)
{
    th_worker_stats each[TH_JOBS_MAX_THREADS];
    th_jobs_stats(jobs, each);
    return each[worker];
}

static void wait_until_parked(const th_jobs *jobs, uint64_t parks)
{
    for (int i = 0; i < 1000 && stats_of(jobs, 1).parks < parks; i++)
        sleep_ms(1);
    cr_assert_geq(stats_of(jobs, 1).parks, parks);
}

static th_jobs *create_for_frames(void)
{
    if (th_cpus_read().usable < 2)
        cr_skip_test("only one usable CPU: nobody spins");
    th_jobs *jobs = create_jobs(TH_SCHEDULER_WORK_STEALING, 2);
    wait_until_parked(jobs, 1);
    return jobs;
}

Test(frame, wakes_the_workers_before_there_is_work)
{
    th_jobs *jobs = create_for_frames();
    th_jobs_frame_begin(jobs);
    for (int i = 0; i < 1000 && stats_of(jobs, 1).wakes == 0; i++)
        busy_us(1000);
    cr_expect_eq(stats_of(jobs, 1).wakes, 1);
    cr_expect_gt(stats_of(jobs, 1).wake_ns, 0);
    th_jobs_frame_end(jobs);
    th_jobs_destroy(jobs);
}

Test(frame, keeps_workers_awake_and_lets_them_sleep_after_it)
{
    th_jobs *jobs = create_for_frames();
    bool are_awake = false, are_asleep = false;
    for (int i = 0; i < TRIES && !(are_awake && are_asleep); i++) {
        th_jobs_frame_begin(jobs);
        are_awake |= burnt_ns_in(4) > 500000;
        th_jobs_frame_end(jobs);
        are_asleep |= burnt_ns_in(50) < 3000000;
    }
    cr_expect(are_awake);
    cr_expect(are_asleep);
    th_jobs_destroy(jobs);
}

Test(frame, lasts_until_the_last_of_several_ends)
{
    th_jobs *jobs = create_for_frames();
    bool are_awake = false;
    for (int i = 0; i < TRIES && !are_awake; i++) {
        const uint64_t parks = stats_of(jobs, 1).parks;
        th_jobs_frame_begin(jobs);
        th_jobs_frame_begin(jobs);
        th_jobs_frame_end(jobs);
        are_awake = burnt_ns_in(8) > 1000000;
        th_jobs_frame_end(jobs);
        wait_until_parked(jobs, parks + are_awake);
    }
    cr_expect(are_awake);
    th_jobs_destroy(jobs);
}

static int hit(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    (void)worker;
    for (uint32_t i = begin; i < end; i++)
        ((uint8_t *)ctx)[i]++;
    return 0;
}

Test(frame, that_is_never_ended_burns_nothing)
{
    th_jobs *jobs = create_for_frames();
    th_jobs_frame_begin(jobs);
    bool is_quiet = false;
    for (int i = 0; i < TRIES && !is_quiet; i++)
        is_quiet = burnt_ns_in(200) < 50000000;
    cr_expect(is_quiet);
    static uint8_t hits[1000];
    th_jobs_for(jobs, 1000, 1, hit, hits); /* and they come back */
    for (uint32_t i = 0; i < 1000; i++)
        cr_assert_eq(hits[i], 1);
    th_jobs_destroy(jobs);
}

static bool burns_nothing_in_a_frame(th_jobs *jobs)
{
    bool is_quiet = false;
    for (int i = 0; i < TRIES && !is_quiet; i++) {
        th_jobs_frame_begin(jobs);
        is_quiet = burnt_ns_in(50) < 5000000;
        th_jobs_frame_end(jobs);
    }
    return is_quiet;
}

Test(frame, means_nothing_to_more_threads_than_cpus_and_to_other_schedulers)
{
    for (EACH_SCHEDULER(s)) {
        th_jobs *jobs = create_jobs(s, th_cpus_read().usable + 1);
        if (s == TH_SCHEDULER_WORK_STEALING) {
            cr_expect(burns_nothing_in_a_frame(jobs) && burns_nothing_in_a_frame(jobs)); /* in the second all sleep */
            cr_expect_eq(stats_of(jobs, 1).wakes, 0, "nor wakes it anybody");
        }
        th_jobs_frame_begin(jobs);
        th_jobs_frame_end(jobs);
        th_jobs_destroy(jobs);
    }
}

/* ---- watching ---- */

static int short_or_long(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    beginning *b = ctx;
    begin_together(begin, end, worker, b);
    busy_us(begin == 0 ? 20000 : 1000);
    return 0;
}

Test(stats, the_tail_is_what_comes_after_the_last_chunk)
{
    th_jobs *jobs = create_jobs(TH_SCHEDULER_WORK_STEALING, 2);
    th_worker_stats caller = {0}, other = {0};
    for (int i = 0; i < TRIES && (other.idle_at_end_ns < 10000000 || caller.idle_at_end_ns >= 10000000); i++) {
        beginning b = {0};
        th_jobs_stats_reset(jobs);
        th_jobs_for(jobs, 2, 1, short_or_long, &b);
        caller = stats_of(jobs, 0), other = stats_of(jobs, 1);
    }
    cr_expect_geq(other.idle_at_end_ns, 10000000);
    cr_expect_lt(caller.idle_at_end_ns, 10000000);
    cr_expect_lt(other.idle_at_end_ns, other.idle_ns, "it began after the call");
    cr_expect_leq(caller.idle_at_end_ns, caller.idle_ns);
    cr_expect_geq(other.misses, 1);
    th_jobs_stats_reset(jobs);
    const th_worker_stats none = stats_of(jobs, 1);
    cr_expect_eq(none.idle_at_end_ns + none.misses + none.wakes + none.wake_ns + none.steals, 0);
    th_jobs_destroy(jobs);
}

typedef struct record {
    th_span spans[8][2000];
    uint32_t counts[8];
} record;

static void note_span(const th_span *span, void *ctx)
{
    record *r = ctx;
    r->spans[span->worker][r->counts[span->worker]++] = *span;
}

static int wait_10_us(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    (void)worker, (void)ctx;
    busy_us(10 * (end - begin));
    return 0;
}

Test(trace, tells_of_every_chunk_in_order)
{
    static record r;
    enum { COUNT = 500 };
    for (EACH_SCHEDULER(s)) {
        th_jobs *jobs = create_jobs(s, 3);
        memset(&r, 0, sizeof r);
        th_jobs_trace(jobs, note_span, &r);
        sleep_ms(50); /* for clocks to drift apart, if they do */
        const uint64_t before_ns = now_ns(CLOCK_MONOTONIC);
        th_jobs_for(jobs, COUNT, 3, wait_10_us, NULL);
        const uint64_t after_ns = now_ns(CLOCK_MONOTONIC);
        uint32_t hit_count[COUNT] = {0}, chunks = 0;
        for (uint32_t w = 0; w < th_jobs_threads(jobs); w++) {
            uint64_t last_ns = before_ns - 20000, traced_ns = 0; /* clocks are compared only so well */
            for (uint32_t i = 0; i < r.counts[w]; i++) {
                const th_span *span = &r.spans[w][i];
                cr_assert(span->start_ns >= last_ns &&
                          span->end_ns >= span->start_ns + 9000 * (span->end - span->begin));
                last_ns = span->end_ns;
                traced_ns += span->end_ns - span->start_ns;
                for (uint32_t k = span->begin; k < span->end; k++)
                    hit_count[k]++;
            }
            chunks += r.counts[w];
            cr_assert_leq(last_ns, after_ns + 20000);
            cr_assert_leq(traced_ns, stats_of(jobs, w).busy_ns + 1000 * r.counts[w]);
        }
        cr_expect_eq(chunks, (COUNT + 2) / 3);
        for (uint32_t k = 0; k < COUNT; k++)
            cr_assert_eq(hit_count[k], 1);

        th_jobs_trace(jobs, NULL, NULL);
        th_jobs_for(jobs, COUNT, 3, wait_10_us, NULL);
        for (uint32_t w = 0; w < 8; w++)
            chunks -= r.counts[w];
        cr_expect_eq(chunks, 0, "nothing more after the end");
        th_jobs_destroy(jobs);
    }
}

static int nest_once(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    (void)end, (void)worker;
    busy_us(50);
    if (begin == 0)
        th_jobs_for(ctx, 2, 1, wait_10_us, NULL);
    busy_us(50);
    return 0;
}

Test(trace, a_nested_chunk_lies_within_the_one_around_it)
{
    static record r;
    th_jobs *jobs = create_jobs(TH_SCHEDULER_WORK_STEALING, 1);
    th_jobs_trace(jobs, note_span, &r);
    th_jobs_for(jobs, 1, 1, nest_once, jobs);
    cr_assert_eq(r.counts[0], 3);
    const th_span *inner = r.spans[0], *outer = &r.spans[0][2];
    cr_expect(outer->start_ns + 40000 <= inner[0].start_ns && inner[0].end_ns <= inner[1].start_ns);
    cr_expect(inner[1].end_ns + 40000 <= outer->end_ns);
    th_jobs_destroy(jobs);
}

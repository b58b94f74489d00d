/* Inside, since the figures are computed before they reach a report. Figures that users read, from counters written
 * by hand. */
#include "bench/scaling/scale_figures.h"
#include "bench/suites/scheduler_harness.h"

#include <bench/interference.h>

#include <criterion/criterion.h>

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NEAR 1e-12

/* ---- scaling ---- */

enum { MOST = 4 };

/* Statistics need room behind the values. */
#define COUNT(...) (sizeof((double[]){__VA_ARGS__}) / sizeof(double))
#define SAMPLES(...)                                                                                                   \
    {                                                                                                                  \
        (double[3 * COUNT(__VA_ARGS__) + 3]){__VA_ARGS__}, COUNT(__VA_ARGS__), COUNT(__VA_ARGS__)                      \
    }

/* Three repetitions of 10 frames of 90, 100 and 140 us: 3.3 ms in all. */
static th_samples frames = SAMPLES(0.9e5, 1e5, 1.4e5), one_frames = SAMPLES(1.8e5, 1.9e5, 2e5);

/* Of the 6.6 ms that two threads have, 0.66 ms are outside of calls, 4.8 ms work, 1.14 ms idle, 0.2 ms at the end. */
static const th_worker_stats two[] = {
    {.busy_ns = 2600000, .idle_ns = 140000, .idle_at_end_ns = 50000},
    {.busy_ns = 2200000, .idle_ns = 1000000, .idle_at_end_ns = 150000},
};
static const th_worker_stats one[] = {{.busy_ns = 5600000, .idle_ns = 100000, .idle_at_end_ns = 10000}};
static const th_scale_counts on_one = {one, &one_frames, 10, 1, 100, NULL, NULL, 0};
static const th_scale_counts on_two = {two, &frames, 10, 2, 100, NULL, NULL, 0};

Test(scale_figures, of_two_threads_are_as_computed_by_hand)
{
    const th_scale_point p = th_scale_point_of(&on_two, &on_one, (double)NAN, 2);
    cr_expect_eq(p.threads, 2);
    cr_expect_not(p.oversubscribed);
    cr_expect_float_eq(p.frame_ns, 1e5, NEAR);
    cr_expect_float_eq(p.relative_mad, 0.1, NEAR);
    cr_expect_float_eq(p.speed_up, 1.9, NEAR);
    cr_expect_float_eq(p.efficiency, 0.95, NEAR);
    cr_expect_float_eq(p.karp_flatt, (1 / 1.9 - 0.5) / 0.5, NEAR);
    cr_expect_float_eq(p.busy, 4.8 / 5.94, NEAR);
    cr_expect_float_eq(p.idle_at_end, 0.2 / 5.94, NEAR);
    cr_expect_float_eq(p.serial, 0.1, NEAR);
    cr_expect_float_eq(p.imbalance, 2.6 / 2.4 - 1, NEAR);
    cr_expect_float_eq(p.work_ns, 1.6e5, 1e-6);
    cr_expect_float_eq(th_scale_frames(&on_two), 30, NEAR);
}

/* Twice the characters in half as much time again. */
Test(scale_figures, of_a_crowd_that_grows_are_of_characters_a_second)
{
    const th_samples longer = SAMPLES(2.85e5);
    const th_scale_counts grown = {two, &longer, 10, 2, 200, NULL, NULL, 0};
    const th_scale_point p = th_scale_point_of(&grown, &on_one, (double)NAN, 2);
    cr_expect_eq(p.characters, 200);
    cr_expect_float_eq(p.speed_up, 2 / 1.5, NEAR);
    cr_expect_float_eq(p.efficiency, 1 / 1.5, NEAR);
    cr_expect(isnan(p.karp_flatt));
}

/* More threads than that may be: three CPUs of four threads. */
Test(scale_figures, of_a_curve_that_does_not_begin_with_one_thread_go_by_the_ratio)
{
    static const th_worker_stats four[MOST] = {{.busy_ns = 1}};
    const th_samples half = SAMPLES(0.5e5);
    const th_scale_counts on_four = {four, &half, 10, 4, 100, NULL, NULL, 0};
    const th_scale_point p = th_scale_point_of(&on_four, &on_two, (double)NAN, 3);
    cr_expect(p.oversubscribed);
    cr_expect_float_eq(p.speed_up, 2, NEAR);
    cr_expect_float_eq(p.efficiency, 1, NEAR);
    cr_expect_float_eq(p.karp_flatt, 0, NEAR);
    cr_expect_not(th_scale_point_of(&on_four, &on_two, (double)NAN, 4).oversubscribed);
    const th_scale_point first = th_scale_point_of(&on_two, &on_two, (double)NAN, 3);
    cr_expect(first.speed_up == 1 && first.efficiency == 1 && isnan(first.karp_flatt));
}

static uint64_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* Threads that have worked, waited and been outside of calls for some time, in all as long as the frames took. */
typedef struct made_up {
    th_worker_stats workers[MOST];
    double frame_ns[6]; /* one, and room for statistics */
    th_samples frames;
    th_scale_counts counts;
    double waiting; /* share of the time in calls that is idle, but not at the end */
} made_up;

static void make_up(made_up *m, uint64_t *state, uint64_t factor)
{
    const uint32_t threads = 1 + (uint32_t)(draw(state) % MOST);
    double in_calls = 0, waited = 0;
    for (uint32_t w = 0; w < threads; w++) {
        const uint64_t at_end_ns = draw(state) % 100000, waited_ns = draw(state) % 100000;
        const uint64_t idle_ns = at_end_ns + waited_ns, busy_ns = 1000000 - idle_ns;
        m->workers[w] = (th_worker_stats){
            .busy_ns = factor * busy_ns, .idle_ns = factor * idle_ns, .idle_at_end_ns = factor * at_end_ns};
        in_calls += 1000000;
        waited += (double)waited_ns;
    }
    m->waiting = waited / in_calls;
    m->frame_ns[0] = (double)factor * (1000000 + (double)(draw(state) % 500000)) / 5;
    m->frames = (th_samples){m->frame_ns, 1, 1};
    m->counts = (th_scale_counts){m->workers, &m->frames, 5, threads, 100, NULL, NULL, 0};
}

Test(scale_figures, shares_of_any_counters_add_up_and_do_not_depend_on_the_unit)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        made_up m, longer;
        uint64_t state = seed, again = seed;
        make_up(&m, &state, 1);
        make_up(&longer, &again, 7);
        const th_scale_point p = th_scale_point_of(&m.counts, &m.counts, (double)NAN, 4);
        const th_scale_point q = th_scale_point_of(&longer.counts, &longer.counts, (double)NAN, 4);
        double work_ns = 0;
        for (uint32_t w = 0; w < m.counts.threads; w++)
            work_ns += (double)m.workers[w].busy_ns / 5;
        cr_expect_float_eq(p.busy + p.idle_at_end + m.waiting, 1, NEAR);
        cr_expect_float_eq(p.serial, 1 - 1e6 / (5 * m.frame_ns[0]), NEAR);
        cr_expect(p.serial >= 0 && p.serial < 1);
        cr_expect(p.imbalance >= 0 && p.imbalance <= m.counts.threads - 1);
        cr_expect_float_eq(p.work_ns, work_ns, 1e-6);
        cr_expect_float_eq(p.busy, q.busy, NEAR);
        cr_expect_float_eq(p.idle_at_end, q.idle_at_end, NEAR);
        cr_expect_float_eq(p.serial, q.serial, NEAR);
        cr_expect_float_eq(p.imbalance, q.imbalance, NEAR);
        cr_expect_float_eq(q.work_ns, 7 * p.work_ns, 1e-5);
    }
}

Test(scale_figures, imbalance_is_0_for_equal_workers_and_most_for_one_that_works_alone)
{
    static th_worker_stats equal[MOST], alone[MOST], none[MOST] = {{.idle_ns = 5}};
    for (uint32_t w = 0; w < MOST; w++)
        equal[w].busy_ns = 1000000;
    alone[2].busy_ns = 1000000;
    const th_scale_counts of_equal = {equal, &frames, 10, MOST, 100, NULL, NULL, 0},
                          of_one = {alone, &frames, 10, MOST, 100, NULL, NULL, 0},
                          of_none = {none, &frames, 10, MOST, 100, NULL, NULL, 0};
    cr_expect_float_eq(th_scale_point_of(&of_equal, &on_one, (double)NAN, 4).imbalance, 0, NEAR);
    cr_expect_float_eq(th_scale_point_of(&of_one, &on_one, (double)NAN, 4).imbalance, MOST - 1, NEAR);
    cr_expect_eq(th_scale_point_of(&of_none, &on_one, (double)NAN, 4).imbalance, 0);
}

/* The clock of the counters and that of the frames differ a little. */
Test(scale_figures, serial_is_not_below_0)
{
    static const th_worker_stats whole[] = {{.busy_ns = 3300100}};
    const th_scale_counts counts = {whole, &frames, 10, 1, 100, NULL, NULL, 0};
    cr_expect_eq(th_scale_point_of(&counts, &counts, (double)NAN, 1).serial, 0);
}

/* ---- POP factors, of times that are made up of known losses ---- */

/* One frame of 1 ms on each of the threads: what is put in is what has to come out. All times in microseconds. */
typedef struct truth {
    uint32_t threads;
    double work[MOST];    /* of each worker in calls */
    double wait[MOST];    /* for work, in calls; the rest of a call is idle at its end */
    double call, outside; /* time of the call, and of the caller outside of it */
    double step;          /* of the core's clock */
} truth;

typedef struct made_pop {
    th_worker_stats workers[MOST];
    double frame_ns[6], core_clock_ns[6];
    th_samples frames, core_clocks;
} made_pop;

static th_scale_counts counts_of(const truth *t, made_pop *m)
{
    for (uint32_t w = 0; w < t->threads; w++) {
        const double at_end = t->call - t->work[w] - t->wait[w];
        m->workers[w] = (th_worker_stats){.busy_ns = (uint64_t)(1000 * t->work[w]),
                                          .idle_ns = (uint64_t)(1000 * (at_end + t->wait[w])),
                                          .idle_at_end_ns = (uint64_t)(1000 * at_end)};
    }
    m->frame_ns[0] = 1000 * (t->call + t->outside);
    m->core_clock_ns[0] = t->step;
    m->frames = (th_samples){m->frame_ns, 1, 1};
    m->core_clocks = (th_samples){m->core_clock_ns, 1, 1};
    return (th_scale_counts){m->workers, &m->frames,      1,    t->threads,
                             100,        &m->core_clocks, NULL, th_workers_busiest(m->workers, t->threads)};
}

static th_pop pop_of(const truth *t, const truth *first)
{
    made_pop m, of_first;
    const th_scale_counts counts = counts_of(t, &m), base = counts_of(first, &of_first);
    return th_pop_of(&counts, &base);
}

static void expect_factors(const char *what, const th_pop *pop, double balance, double serial, double transfer,
                           double ipc, double frequency)
{
    const double wanted[TH_POP_COUNT] = {
        [TH_POP_GLOBAL] = balance * serial * transfer * ipc * frequency,
        [TH_POP_PARALLEL] = balance * serial * transfer,
        [TH_POP_LOAD_BALANCE] = balance,
        [TH_POP_COMMUNICATION] = serial * transfer,
        [TH_POP_SERIALISATION] = serial,
        [TH_POP_TRANSFER] = transfer,
        [TH_POP_COMPUTATION] = ipc * frequency,
        [TH_POP_INSTRUCTIONS] = 1,
        [TH_POP_IPC] = ipc,
        [TH_POP_FREQUENCY] = frequency,
    };
    for (int f = 0; f < TH_POP_COUNT; f++)
        cr_expect_float_eq(pop->values[f], wanted[f], 1e-9, "%s, %s: %g, not %g", what,
                           th_pop_factor_name((th_pop_factor)f), pop->values[f], wanted[f]);
}

static const truth alone = {.threads = 1, .work = {4000}, .call = 4000, .step = 1};

/* This factor is lost and the weakest, and nothing else is. */
static void expect_loss(const char *what, const truth *first, truth then, th_pop_factor factor, double left)
{
    double parts[TH_POP_COUNT];
    const th_pop pop = pop_of(&then, first);
    for (int f = 0; f < TH_POP_COUNT; f++)
        parts[f] = f == (int)factor ? left : 1;
    expect_factors(what, &pop, parts[TH_POP_LOAD_BALANCE], parts[TH_POP_SERIALISATION], parts[TH_POP_TRANSFER],
                   parts[TH_POP_IPC], parts[TH_POP_FREQUENCY]);
    cr_expect(left == 1 || th_pop_weakest(&pop) == factor, "%s", what);
}

Test(pop, one_loss_is_one_factor)
{
    const truth even = {.threads = 4, .work = {1000, 1000, 1000, 1000}, .call = 1000, .step = 1};
    expect_loss("one thread", &alone, alone, TH_POP_TRANSFER, 1);
    expect_loss("four", &alone, even, TH_POP_TRANSFER, 1);

    /* One worker takes 60 % more than the mean of all, and the others wait for it. */
    truth four = {.threads = 4, .work = {800, 1600, 800, 800}, .call = 1600, .step = 1};
    expect_loss("imbalance", &alone, four, TH_POP_LOAD_BALANCE, 1000. / 1600);

    /* Amdahl's law: a tenth of the time of one thread is serial. */
    const truth single = {.threads = 1, .work = {3600}, .call = 3600, .outside = 400, .step = 1};
    four = (truth){.threads = 4, .work = {900, 900, 900, 900}, .call = 900, .outside = 400, .step = 1};
    expect_loss("serial", &single, four, TH_POP_SERIALISATION, 4000 / (4 * 1300.));

    four = even;
    four.call = 1250; /* over several frames all work as long, but in each frame another one is last */
    expect_loss("takes turns", &alone, four, TH_POP_SERIALISATION, 0.8);
    four.wait[0] = four.wait[1] = four.wait[2] = four.wait[3] = 250;
    expect_loss("waits for work", &alone, four, TH_POP_TRANSFER, 0.8);

    /* With all threads a step of the clock takes a quarter longer, and so does the work. */
    four = (truth){.threads = 4, .work = {1250, 1250, 1250, 1250}, .call = 1250, .step = 1.25};
    expect_loss("throttled", &alone, four, TH_POP_FREQUENCY, 0.8);
    four = (truth){.threads = 4, .work = {2000, 2000, 2000, 2000}, .call = 2000, .step = 1};
    expect_loss("shared cache", &alone, four, TH_POP_IPC, 0.5);
}

/* Of 4000 cycles' worth of work at the first point: a tenth more instructions, of which 0.8 times as many are done in a
 * cycle. The clock of the steps is not asked then. */
Test(pop, counted_factors_are_those_of_the_counters)
{
    const truth four = {.threads = 4, .work = {1250, 1250, 1250, 1250}, .call = 1250, .step = 3};
    made_pop m, of_first;
    th_scale_counts counts = counts_of(&four, &m), base = counts_of(&alone, &of_first);
    const th_counters more = {{[TH_COUNTER_CYCLES] = 2750, [TH_COUNTER_INSTRUCTIONS] = 4400}};
    const th_counters few = {{[TH_COUNTER_CYCLES] = 2000, [TH_COUNTER_INSTRUCTIONS] = 4000}};
    counts.counters = &more;
    base.counters = &few;
    const th_pop pop = th_pop_of(&counts, &base);
    cr_expect_float_eq(pop.values[TH_POP_COMPUTATION], 0.8, 1e-9);
    cr_expect_float_eq(pop.values[TH_POP_INSTRUCTIONS], 1 / 1.1, 1e-9);
    cr_expect_float_eq(pop.values[TH_POP_IPC], 0.8, 1e-9);
    cr_expect_float_eq(pop.values[TH_POP_FREQUENCY], 1.1, 1e-9);
    const th_counters unknown = {{[TH_COUNTER_CYCLES] = (double)NAN, [TH_COUNTER_INSTRUCTIONS] = 4400}};
    counts.counters = &unknown;
    const th_pop half = th_pop_of(&counts, &base);
    cr_expect_float_eq(half.values[TH_POP_INSTRUCTIONS], 1 / 1.1, 1e-9);
    cr_expect_float_eq(half.values[TH_POP_FREQUENCY], 1. / 3, 1e-9);
    cr_expect_float_eq(half.values[TH_POP_IPC], 0.8 * 1.1 * 3, 1e-9);
}

/* Useful time: 800 + 3 x 500 in calls, 200 outside; of 4000 at the clock of the first point, 25 % more at this one. */
Test(pop, factors_of_several_losses_multiply)
{
    const truth single = {.threads = 1, .work = {1840}, .call = 1840, .outside = 160, .step = 1};
    const truth four = {
        .threads = 4, .work = {800, 500, 500, 500}, .wait = {50, 50, 50, 50}, .call = 900, .outside = 200, .step = 1.1};
    const th_pop pop = pop_of(&four, &single);
    const double balance = 2300 / (4 * 800.), transfer = 1050 / 1100., parallel = 2500 / (4 * 1100.);
    expect_factors("several", &pop, balance, parallel / balance / transfer, transfer, 0.8 * 1.1, 1 / 1.1);
    cr_expect_eq(th_pop_weakest(&pop), TH_POP_LOAD_BALANCE);
}

Test(pop, more_characters_are_more_instructions)
{
    made_pop m, of_first;
    const truth pair = {.threads = 2, .work = {4000, 4000}, .call = 4000, .step = 1};
    th_scale_counts counts = counts_of(&pair, &m);
    const th_scale_counts base = counts_of(&alone, &of_first);
    counts.characters *= 2;
    const th_pop pop = th_pop_of(&counts, &base);
    expect_factors("weak scaling", &pop, 1, 1, 1, 1, 1);
}

Test(pop, without_a_clock_computation_has_no_factors)
{
    made_pop m, of_first;
    const truth four = {.threads = 4, .work = {2000, 2000, 2000, 2000}, .call = 2000, .step = 1};
    th_scale_counts counts = counts_of(&four, &m);
    const th_scale_counts base = counts_of(&alone, &of_first);
    m.core_clocks.count = 0;
    const th_pop pop = th_pop_of(&counts, &base);
    cr_expect(isnan(pop.values[TH_POP_IPC]) && isnan(pop.values[TH_POP_FREQUENCY]));
    cr_expect_float_eq(pop.values[TH_POP_GLOBAL], 0.5, 1e-9);
    cr_expect_eq(th_pop_weakest(&pop), TH_POP_COMPUTATION);
    cr_expect_eq(th_pop_weakest(&(th_pop){0}), TH_POP_GLOBAL);
}

Test(scale_figures, bandwidth_is_bytes_by_the_median_pass)
{
    const th_samples passes = SAMPLES(1000, 2000, 9000);
    cr_expect_float_eq(th_scale_bytes_per_s(1 << 20, &passes), (1 << 20) / 2e-6, 1e-3);
}

Test(scale_figures, of_each_worker_are_means_of_a_frame)
{
    static const th_worker_stats stats[] = {
        {40000, 30000, 20000, 120, 480, 28, 36, 44, 20, 60000},
        {.busy_ns = 4000},
    };
    static const struct {
        const char *name;
        double mean;
    } means[] = {{"busy_us", 10}, {"idle_us", 7.5}, {"idle_at_end_us", 5}, {"chunks", 30}, {"items", 120},
                 {"steals", 7},   {"misses", 9},    {"parks", 11},         {"wakes", 5},   {"wake_us", 3}};
    json_t *json = th_workers_json(stats, 2, 4);
    cr_assert_eq(json_array_size(json), 2);
    for (size_t i = 0; i < sizeof means / sizeof *means; i++)
        cr_expect_float_eq(json_number_value(json_object_get(json_array_get(json, 0), means[i].name)), means[i].mean,
                           NEAR, "%s", means[i].name);
    cr_expect_float_eq(json_number_value(json_object_get(json_array_get(json, 1), "busy_us")), 1, NEAR);
    cr_expect(json_is_null(json_object_get(json_array_get(json, 1), "wake_us")));
    json_decref(json);
    const th_worker_stats more[] = {stats[0], stats[0]};
    const th_worker_stats total = th_workers_total(more, 2);
    const uint64_t *sums = (const uint64_t *)&total, *terms = (const uint64_t *)&stats[0];
    for (size_t i = 0; i < sizeof total / sizeof *sums; i++)
        cr_expect_eq(sums[i], 2 * terms[i], "counter %zu", i);
}

/* ---- schedulers ---- */

/* Three threads on two CPUs: 1 ms of work takes 0.625 ms. */
Test(jobs_figures, are_as_computed_by_hand)
{
    const th_jobs_times times = {
        .ns = 625000,
        .p90_ns = 1e6,
        .baseline_ns = 1e6,
        .threads = 3,
        .usable_cpus = 2,
        .chunks = 250,
        .idle_ns = 2000000,
        .idle_cpu_ns = 3000000,
    };
    th_jobs_figures f = th_jobs_figures_of(&times);
    cr_expect_float_eq(f.speed_up, 1.6, NEAR);
    cr_expect_float_eq(f.efficiency, 0.8, NEAR);
    cr_expect_float_eq(f.efficiency_at_p90, 0.5, NEAR);
    cr_expect_float_eq(f.overhead_ns, 125000, 1e-6);
    cr_expect_float_eq(f.chunk_ns, -1500, 1e-6);
    cr_expect_float_eq(f.idle_cores, 1.5, NEAR);
    f = th_jobs_figures_of(&(th_jobs_times){.ns = 5, .p90_ns = 5, .baseline_ns = 5, .threads = 1, .usable_cpus = 2});
    cr_expect(f.efficiency == 1 && f.efficiency_at_p90 == 1 && f.overhead_ns == 0);
}

/* ---- interference ---- */

Test(interference, is_what_the_counters_gained_without_our_own)
{
    const th_interference_mark begin = {5000000000, 1000000000, 10, 1, 7000000000};
    th_interference_mark end = {7000000000, 1500000000, 13.5, 1.5, 8500000000};
    th_interference i = th_interference_between(&begin, &end);
    cr_expect_float_eq(i.external_cpu_load, 1.5, NEAR, "3 s in 2 s: %g", i.external_cpu_load);
    cr_expect_float_eq(i.steal_cpu_load, 0.25, NEAR);
    cr_expect_float_eq(i.throttled_s, 1.5, NEAR);
    end.own_ns += 4000000000; /* ticks are coarse */
    cr_expect_eq(th_interference_between(&begin, &end).external_cpu_load, 0);
    end.wall_ns = begin.wall_ns + 199999999; /* too short to tell */
    i = th_interference_between(&begin, &end);
    cr_expect(isnan(i.external_cpu_load) && isnan(i.steal_cpu_load) && i.throttled_s == 1.5);
    end.wall_ns++;
    cr_expect_not(isnan(th_interference_between(&begin, &end).steal_cpu_load));
}

static const char *stat_text; /* NULL: the system's */

__typeof__(fopen) __real_fopen, __wrap_fopen;
FILE *__wrap_fopen(const char *name, const char *mode)
{
    if (stat_text && strcmp(name, "/proc/stat") == 0)
        return fmemopen((char *)stat_text, strlen(stat_text), "r");
    return __real_fopen(name, mode);
}

int __wrap_sched_getaffinity(pid_t process, size_t size, cpu_set_t *out);
int __wrap_sched_getaffinity(pid_t process, size_t size, cpu_set_t *out)
{
    (void)process;
    memset(out, 0, size);
    CPU_SET(0, out);
    CPU_SET(12, out);
    return 0;
}

/* CPU 0 was busy for 1 + 2 + 4 + 32 + 64 ticks, CPU 12 for 300; idle and iowait are not busy, and CPU 1 is not ours. */
Test(interference, comes_from_the_lines_of_our_cpus)
{
    const double ticks = (double)sysconf(_SC_CLK_TCK);
    stat_text = "cpu  9000 9000 9000 9000 9000 9000 9000 9000 0 0\n"
                "cpu0 1 2 4 8 16 32 64 128 0 0\n"
                "cpu1 5000 5000 5000 5000 5000 5000 5000 5000 0 0\n"
                "cpu12 300 0 0 7 0 0 0 1000 0 0\n"
                "intr 77\n";
    th_interference_mark mark = th_interference_begin();
    cr_expect_float_eq(mark.busy_s, 403 / ticks, NEAR);
    cr_expect_float_eq(mark.steal_s, 1128 / ticks, NEAR);
    stat_text = "cpu  1 2 3 4 5 6 7 8\n";
    mark = th_interference_begin();
    cr_expect(isnan(mark.busy_s) && isnan(mark.steal_s));
}

/* ---- waiting for a CPU ---- */

static const char *schedstat[3]; /* by file; NULL: gone */

ssize_t __wrap_pread(int file, void *out, size_t size, off_t offset);
ssize_t __wrap_pread(int file, void *out, size_t size, off_t offset)
{
    cr_assert_eq(offset, 0);
    return schedstat[file] ? snprintf(out, size, "%s", schedstat[file]) : -1;
}

/* The first number is how long a thread ran, the second how long it waited, the third how often. */
Test(runqueue_delay, is_the_longest_that_a_thread_has_waited_since)
{
    int files[] = {0, 1, 2};
    uint64_t marked_ns[3] = {0};
    th_runqueue_delay delay = {files, marked_ns, 3};
    schedstat[0] = "1000 500 9\n", schedstat[1] = "2000 70000 9\n", schedstat[2] = "3000 0 9\n";
    th_runqueue_delay_begin(&delay);
    cr_expect_eq(th_runqueue_delay_max(&delay), 0);
    schedstat[0] = "900000 800 99\n", schedstat[1] = "900000 70200 99\n", schedstat[2] = "900000 100 99\n";
    cr_expect_eq(th_runqueue_delay_max(&delay), 300);
    schedstat[0] = NULL;
    cr_expect_eq(th_runqueue_delay_max(&delay), 200, "a thread that has ended counts no more");
    th_runqueue_delay_begin(&delay);
    cr_expect_eq(th_runqueue_delay_max(&delay), 0);
}

/* Inside, since time is made up. Ticks counted: histograms, and the last hour by seconds. */
#include "src/serve/simulation/tick_loop.h"

#include <bench/histogram.h>

#include <criterion/criterion.h>

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static th_histogram h;

Test(histogram, quantiles_are_off_by_three_per_cent_at_most)
{
    for (uint64_t us = 1; us <= 100000; us++)
        th_histogram_add(&h, us * 1000);
    static const double parts[] = {0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1};
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        const double truth = parts[p] * 1e8, found = th_histogram_quantile(&h, parts[p]);
        cr_expect(fabs(found - truth) <= 0.03 * truth + 1000, "%g: %g ns, not %g", parts[p], found, truth);
    }
    cr_expect_eq(h.total, 100000);
    cr_expect_eq(h.max_ns, 100000000);
}

Test(histogram, each_time_lies_where_its_octave_says)
{
    for (uint32_t octave = 0; octave < TH_HISTOGRAM_OCTAVES; octave++) {
        const uint64_t edge_ns = (1000ull << octave);
        h = (th_histogram){0};
        th_histogram_add(&h, edge_ns - 1);
        th_histogram_add(&h, edge_ns);
        cr_expect_eq(th_histogram_below(&h, octave), 1, "2^%u us", octave);
        cr_expect_eq(th_histogram_below(&h, octave + 1), 2, "2^%u us", octave);
    }
}

Test(histogram, what_is_too_long_or_nothing_at_all_counts_too)
{
    th_histogram_add(&h, 0);
    th_histogram_add(&h, 1000ull << 40);
    cr_expect_eq(th_histogram_below(&h, TH_HISTOGRAM_OCTAVES), 2);
    cr_expect_eq(h.max_ns, 1000ull << 40);
    h = (th_histogram){0};
    cr_expect_eq(th_histogram_quantile(&h, 0.99), 0);
    /* A single value is all its quantiles. */
    th_histogram_add(&h, 1234567);
    cr_expect_leq(th_histogram_quantile(&h, 0.01), 1234567);
    cr_expect_leq(th_histogram_quantile(&h, 1), 1234567);
    cr_expect_geq(th_histogram_quantile(&h, 1), 1234567 * 0.97);
}

Test(histogram, a_difference_holds_what_came_between)
{
    static th_histogram before, both, between;
    static th_histogram live;
    th_histogram_add(&live, 5000000);
    th_histogram_read(&live, &before);
    for (int i = 0; i < 10; i++)
        th_histogram_add(&live, 100000);
    th_histogram_read(&live, &both);
    th_histogram_difference(&both, &before, &between);
    cr_expect_eq(between.total, 10);
    cr_expect_eq(between.sum_ns, 1000000);
    cr_expect(between.max_ns >= 100000 && between.max_ns < 110000, "%lu", (unsigned long)between.max_ns);
    cr_expect(fabs(th_histogram_quantile(&between, 0.5) - 100000) < 3000);
}

/* Two workers animated for 1.2 of 2 s, in ticks of 100 ms of which one took longer. */
Test(time_series, a_second_is_as_computed_by_hand)
{
    for (int i = 0; i < 19; i++)
        th_histogram_add(&h, 100000000);
    th_histogram_add(&h, 300000000);
    const th_second_counts counts = {
        .begin_ns = 5000000000,
        .end_ns = 7000000000,
        .ticks = h,
        .missed = 3,
        .characters = 2000,
        .max_start_delay_ns = 4000000,
        .busy_s = 1.2,
        .workers = 2,
        .paused = true,
    };
    const th_second s = th_second_of(&counts);
    cr_expect(s.end_s == 7 && s.span_s == 2);
    cr_expect(s.ticks == 20 && s.missed == 3 && s.characters == 2000 && s.paused == 1);
    cr_expect_float_eq(s.mean_s, 0.11, 1e-12);
    cr_expect_float_eq(s.p50_s, 0.1, 0.004);
    cr_expect_float_eq(s.p90_s, 0.1, 0.004);
    cr_expect_float_eq(s.p99_s, 0.3, 0.01);
    cr_expect_float_eq(s.max_s, 0.3, 1e-12);
    cr_expect_float_eq(s.max_start_delay_s, 0.004, 1e-12);
    cr_expect_float_eq(s.busy, 0.3, 1e-12);
}

Test(time_series, a_second_without_ticks_is_idle_and_none_is_busier_than_all_the_time)
{
    th_second_counts counts = {.end_ns = 1000000000, .ticks = h, .workers = 4};
    const th_second s = th_second_of(&counts);
    cr_expect(s.ticks == 0 && s.mean_s == 0 && s.p99_s == 0 && s.max_s == 0 && s.busy == 0 && s.paused == 0);
    counts.busy_s = 4.01;
    cr_expect_eq(th_second_of(&counts).busy, 1);
}

Test(time_series, ticks_are_missed_that_were_due_before)
{
    static const struct {
        uint64_t now_ns, missed;
    } cases[] = {{90, 0}, {100, 0}, {101, 1}, {110, 1}, {111, 2}, {200, 10}, {201, 11}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(th_ticks_missed(100, 10, cases[i].now_ns), cases[i].missed, "at %lu",
                     (unsigned long)cases[i].now_ns);
}

/* ---- states that change while they are read ---- */

enum { WORDS = 4 };

static th_seqlock seqlock;
static atomic_bool reads;

static void *read_words(void *ctx)
{
    atomic_store(&reads, true);
    th_seqlock_read(&seqlock, ctx, WORDS * sizeof(uint64_t));
    return NULL;
}

/* The writer was interrupted after half of its words. */
Test(seqlock, a_reader_waits_for_the_end_of_a_write)
{
    const uint64_t before[WORDS] = {1, 1, 1, 1};
    uint64_t seen[WORDS];
    pthread_t reader;
    th_seqlock_write(&seqlock, before, sizeof before);
    atomic_fetch_add(&seqlock.sequence, 1);
    atomic_store(&seqlock.words[0], 2), atomic_store(&seqlock.words[1], 2);
    cr_assert_eq(pthread_create(&reader, NULL, read_words, seen), 0);
    while (!atomic_load(&reads))
        sched_yield();
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL); /* in which it would read */
    atomic_store(&seqlock.words[2], 2), atomic_store(&seqlock.words[3], 2);
    atomic_fetch_add(&seqlock.sequence, 1);
    pthread_join(reader, NULL);
    for (int w = 0; w < WORDS; w++)
        cr_expect_eq(seen[w], 2, "word %d", w);
}

/* Where a reader comes to the page that it may not write yet: all is written anew before it goes on. */
static char *second_page;

static void write_meanwhile(int signal, siginfo_t *info, void *context)
{
    const uint64_t after[WORDS] = {2, 2, 2, 2};
    (void)signal, (void)info, (void)context;
    th_seqlock_write(&seqlock, after, sizeof after);
    mprotect(second_page, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE);
}

Test(seqlock, a_reader_begins_anew_when_it_was_overtaken)
{
    const uint64_t before[WORDS] = {1, 1, 1, 1};
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(pages, MAP_FAILED);
    second_page = pages + page;
    uint64_t *seen = (uint64_t *)second_page - WORDS / 2;
    th_seqlock_write(&seqlock, before, sizeof before);
    sigaction(SIGSEGV, &(struct sigaction){.sa_sigaction = write_meanwhile, .sa_flags = SA_SIGINFO}, NULL);
    mprotect(second_page, page, PROT_NONE);
    th_seqlock_read(&seqlock, seen, WORDS * sizeof *seen);
    for (int w = 0; w < WORDS; w++)
        cr_expect_eq(seen[w], 2, "word %d", w);
    munmap(pages, 2 * page);
}

/* ---- seconds ---- */

static th_time_series time_series;
static th_second seconds[TH_TIME_SERIES_SECONDS];

static void add_seconds(uint64_t first, uint64_t behind)
{
    for (uint64_t s = first; s < behind; s++)
        th_time_series_add(&time_series, &(th_second){.end_s = (double)s, .ticks = s, .busy = 0.5});
}

Test(time_series, begins_empty_and_gives_back_what_was_added)
{
    cr_expect_eq(th_time_series_read(&time_series, seconds, 10), 0);
    add_seconds(0, 5);
    cr_assert_eq(th_time_series_read(&time_series, seconds, 10), 5);
    for (uint32_t s = 0; s < 5; s++)
        cr_expect_eq(seconds[s].ticks, s);
    cr_assert_eq(th_time_series_read(&time_series, seconds, 2), 2);
    cr_expect_eq(seconds[0].ticks, 3);
    cr_expect_eq(seconds[1].ticks, 4);
}

Test(time_series, keeps_the_last_hour_in_order)
{
    add_seconds(0, 3 * TH_TIME_SERIES_SECONDS + 17);
    const uint32_t count = th_time_series_read(&time_series, seconds, TH_TIME_SERIES_SECONDS);
    cr_assert_eq(count, TH_TIME_SERIES_SECONDS - 1);
    for (uint32_t s = 0; s < count; s++)
        cr_assert_eq(seconds[s].ticks, 2 * TH_TIME_SERIES_SECONDS + 18 + s);
    cr_expect_eq(seconds[count - 1].busy, 0.5);
}

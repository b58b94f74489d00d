/* Rounds, their order and their end, on subjects that say themselves how long they took. */
#include "fixture_nightly.h"

#include <bench/interference.h>
#include <bench/measure.h>
#include <core/random.h>

#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static th_error err;

enum { SUBJECTS = 5 };

/* A subject whose laps are drawn by the way of drawing. */
typedef struct actor {
    double (*draw)(uint64_t seed, uint64_t n);
    uint64_t seed, laps;
    uint32_t number;
    char failure[32]; /* for the row, once a repetition has run */
    th_row *row;
} actor;

/* Who had a repetition, in order. */
static uint32_t order[100000];
static uint32_t order_count;

static void begin(void *ctx)
{
    const actor *a = ctx;
    order[order_count++ % (sizeof order / sizeof *order)] = a->number;
}

static void end(void *ctx)
{
    const actor *a = ctx;
    snprintf(a->row->failure, sizeof a->row->failure, "%s", a->failure);
}

static th_lap act(void *ctx, uint64_t frame)
{
    actor *a = ctx;
    (void)frame;
    const double ns = a->draw(a->seed, a->laps++);
    return (th_lap){.real_ns = (uint64_t)(ns * 1e6), .cpu_ns = 3};
}

static double draw_constant(uint64_t seed, uint64_t n)
{
    (void)seed, (void)n;
    return 1;
}

typedef struct play {
    actor actors[SUBJECTS];
    th_subject subjects[SUBJECTS];
    th_report report;
} play;

static play p; /* of the test */

static void end_play(void)
{
    th_report_fini(&p.report);
}

TestSuite(measure, .fini = end_play);

/* Nobody has a sample yet. */
static void set_up(th_measure_desc *desc, double (*draw)(uint64_t seed, uint64_t n))
{
    desc->lap = act;
    desc->iterations = desc->iterations ? desc->iterations : 1;
    order_count = 0;
    for (uint32_t i = 0; i < SUBJECTS; i++) {
        th_row *row = &p.report.rows[i];
        p.actors[i] = (actor){.draw = draw, .seed = desc->seed + i, .number = i, .row = row};
        p.subjects[i] = (th_subject){.before = begin, .after = end, .ctx = &p.actors[i], .row = row};
        row->time_unit = "ns";
        row->real_ns.count = row->cpu_ns.count = row->core_clock_ns.count = 0;
        row->start_ns.count = row->order.count = row->queued_ns.count = 0;
    }
}

/* In place of the play before. */
static void dry_run(th_measure_desc *desc, double (*draw)(uint64_t seed, uint64_t n))
{
    end_play();
    cr_assert_eq(th_measure_report_init(desc, SUBJECTS, &p.report, &err), TH_OK, "%s", err.text);
    set_up(desc, draw);
}

static void perform(th_measure_desc desc, double (*draw)(uint64_t seed, uint64_t n))
{
    dry_run(&desc, draw);
    th_measure(&desc, p.subjects, SUBJECTS);
}

Test(measure, laps_count_as_they_say_but_not_while_warming_up)
{
    perform((th_measure_desc){.repetitions = 2, .iterations = 7}, draw_constant);
    for (uint32_t i = 0; i < SUBJECTS; i++) {
        const th_row *row = &p.report.rows[i];
        cr_expect_eq(row->real_ns.count, 2);
        cr_expect_eq(row->real_ns.values[1], 1e6);
        cr_expect_eq(row->cpu_ns.values[1], 3);
        cr_expect(row->iterations == 7 && row->iterations_timed_at_once == 1);
        cr_expect_eq(row->core_clock_ns.count, 2, "the pulse of each repetition");
        /* A step is a few cycles: from that of 10 GHz up to a slow core under an emulator. */
        cr_expect(row->core_clock_ns.values[1] > 0.1 && row->core_clock_ns.values[1] < 1000, "%g",
                  row->core_clock_ns.values[1]);
        cr_expect_eq(p.actors[i].laps, 3 * 7, "a repetition that does not count, and two that do");
    }
}

__typeof__(th_runqueue_delay_open) __wrap_th_runqueue_delay_open;
__typeof__(th_runqueue_delay_max) __wrap_th_runqueue_delay_max;

bool __wrap_th_runqueue_delay_open(th_runqueue_delay *delay)
{
    *delay = (th_runqueue_delay){0};
    return true;
}

uint64_t __wrap_th_runqueue_delay_max(const th_runqueue_delay *delay)
{
    (void)delay;
    return 7000;
}

static void do_nothing(void *ctx, uint64_t frame)
{
    (void)ctx, (void)frame;
}

Test(measure, waits_for_a_cpu_are_those_of_the_whole_repetition)
{
    for (int with_laps = 0; with_laps < 2; with_laps++) {
        th_measure_desc desc = {.repetitions = 2, .iterations = 7};
        dry_run(&desc, draw_constant);
        desc.lap = with_laps ? desc.lap : NULL;
        for (uint32_t i = 0; i < SUBJECTS; i++)
            p.subjects[i].run = do_nothing;
        th_measure(&desc, p.subjects, SUBJECTS);
        cr_expect_eq(p.report.rows[0].queued_ns.count, 2);
        cr_expect_eq(p.report.rows[0].queued_ns.values[1], with_laps ? 0 : 1000,
                     "the waits between laps are not theirs");
    }
}

/* ---- order ---- */

static void expect_blocks(uint32_t rounds)
{
    cr_assert_eq(order_count, rounds * SUBJECTS);
    for (uint32_t r = 0; r < rounds; r++) {
        uint32_t seen = 0;
        for (uint32_t i = 0; i < SUBJECTS; i++)
            seen |= 1u << order[r * SUBJECTS + i];
        cr_expect_eq(seen, (1u << SUBJECTS) - 1, "round %u", r);
    }
}

Test(measure, order_is_random_but_each_subject_comes_once_a_round)
{
    enum { ROUNDS = 1000 };
    perform((th_measure_desc){.repetitions = ROUNDS, .seed = 9}, draw_constant);
    expect_blocks(ROUNDS);
    uint32_t places[SUBJECTS][SUBJECTS] = {0}, pairs[SUBJECTS][SUBJECTS] = {0};
    for (uint32_t i = 0; i < order_count; i++) {
        places[order[i]][i % SUBJECTS]++;
        if (i % SUBJECTS > 0)
            pairs[order[i - 1]][order[i]]++;
    }
    for (uint32_t i = 0; i < SUBJECTS; i++)
        for (uint32_t j = 0; j < SUBJECTS; j++) { /* expected: 200 with a deviation of 13 */
            cr_expect(abs((int)places[i][j] - ROUNDS / SUBJECTS) < 65, "%u in place %u: %u", i, j, places[i][j]);
            cr_expect(i == j || abs((int)pairs[i][j] - ROUNDS / SUBJECTS) < 65, "%u before %u: %u", i, j, pairs[i][j]);
        }
}

Test(measure, order_depends_on_the_seed)
{
    uint32_t first[50];
    for (uint64_t run = 0; run < 3; run++) {
        perform((th_measure_desc){.repetitions = 10, .seed = run / 2}, draw_constant);
        cr_expect_eq(run == 0 || memcmp(first, order, sizeof first) == 0, run < 2);
        memcpy(first, order, sizeof first);
    }
}

/* ---- the end ---- */

static double draw_coin(uint64_t seed, uint64_t n)
{
    return th_random_bits(seed, n) % 2 ? 1 : 2;
}

/* One after the second look when all is known, after the least rounds when the time is up; those that are given are
 * made. */
Test(measure, ends_when_it_should)
{
    static const struct {
        th_measure_desc desc;
        double (*draw)(uint64_t seed, uint64_t n);
        uint32_t rounds;
    } cases[] = {{{.precision = 0.01}, draw_constant, TH_MEASURE_FIRST_CHECK * 5 / 4 + 1},
                 {{.precision = 0.01, .max_ns = 1}, draw_coin, TH_MEASURE_MIN_ROUNDS},
                 {{.repetitions = 70}, draw_constant, 70}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        perform(cases[i].desc, cases[i].draw);
        cr_expect_eq(p.report.rows[0].real_ns.count, cases[i].rounds, "case %zu", i);
        cr_expect_eq(p.report.precision, cases[i].desc.precision, "case %zu", i);
    }
}

Test(measure, goes_on_while_one_median_is_not_known)
{
    th_measure_desc desc = {.precision = 0.01};
    dry_run(&desc, draw_constant);
    p.actors[3].draw = draw_coin;
    th_measure(&desc, p.subjects, SUBJECTS);
    for (uint32_t i = 0; i < SUBJECTS; i++)
        cr_expect_eq(p.report.rows[i].real_ns.count, TH_MEASURE_MAX_ROUNDS);
}

/* ---- what is checked ---- */

enum { ROUNDS = 9, EACH = 8 };
static uint32_t of_frame[ROUNDS * EACH], of_round[ROUNDS]; /* how often they were checked */

static void note_check(void *ctx, uint64_t frame)
{
    const actor *a = ctx;
    cr_assert_eq(frame / EACH, a->row->real_ns.count);
    of_frame[frame]++;
    of_round[frame / EACH]++;
}

/* Of the first round, the last and one between at the least, and any frame of them. */
Test(measure, what_is_checked_is_drawn)
{
    th_measure_desc desc = {.repetitions = ROUNDS, .iterations = EACH};
    dry_run(&desc, draw_constant);
    for (uint64_t seed = 1; seed < 400; seed++) {
        uint32_t between = 0;
        set_up(&desc, draw_constant);
        th_report_draw_from(&p.report, seed);
        memset(of_round, 0, sizeof of_round);
        p.subjects[2].check = note_check;
        th_measure(&desc, p.subjects, SUBJECTS);
        for (uint32_t round = 1; round < ROUNDS - 1; round++)
            between += of_round[round];
        cr_expect(of_round[0] == 1 && of_round[ROUNDS - 1] == 1 && between > 0);
        cr_expect_eq(p.actors[2].laps, (1 + ROUNDS) * EACH, "none is run twice");
        cr_expect_eq(p.report.rows[2].real_ns.values[0], 1e6, "both parts count");
    }
    for (uint32_t n = 0; n < ROUNDS * EACH; n++)
        cr_expect_gt(of_frame[n], 0, "frame %u", n);
}

static volatile sig_atomic_t stopped;

static void stop_in_round_3(void *ctx, uint64_t frame)
{
    const actor *a = ctx;
    (void)frame;
    if (a->row->real_ns.count == 2)
        stopped = 1;
}

Test(measure, stop_ends_it_after_the_round)
{
    th_measure_desc desc = {.repetitions = 9, .stop = &stopped};
    dry_run(&desc, draw_constant);
    for (uint64_t seed = 1; !stopped && seed < 100; seed++) { /* some of them draw a check in that round */
        set_up(&desc, draw_constant);
        th_report_draw_from(&p.report, seed);
        p.subjects[2].check = stop_in_round_3;
        cr_expect_eq(th_measure(&desc, p.subjects, SUBJECTS), !stopped);
    }
    for (uint32_t i = 0; i < SUBJECTS; i++)
        cr_expect_eq(p.report.rows[i].real_ns.count, 3);
    cr_expect_eq(p.report.rows[0].order.count, p.report.rows[0].start_ns.count);

    dry_run(&desc, draw_constant);
    strcpy(p.report.rows[1].failure, "wrong");
    cr_expect_not(th_measure(&desc, p.subjects, SUBJECTS));
    cr_expect(p.report.rows[0].skipped && strcmp(p.report.rows[0].failure, "the measurement was interrupted") == 0);
    cr_expect(!p.report.rows[1].skipped && strcmp(p.report.rows[1].failure, "wrong") == 0);
}

Test(measure, who_fails_has_no_more_repetitions_and_holds_up_nobody)
{
    th_measure_desc desc = {.precision = 0.01};
    dry_run(&desc, draw_constant);
    p.actors[2].draw = draw_coin;
    strcpy(p.actors[2].failure, "broken");
    strcpy(p.report.rows[4].failure, "wrong from the start");
    th_measure(&desc, p.subjects, SUBJECTS);
    cr_expect_eq(p.report.rows[0].real_ns.count, TH_MEASURE_FIRST_CHECK * 5 / 4 + 1);
    cr_expect_eq(p.report.rows[2].real_ns.count, 1);
    cr_expect(p.report.rows[4].real_ns.count == 0 && p.actors[4].laps == 0);

    dry_run(&desc, draw_constant);
    for (uint32_t i = 0; i < SUBJECTS; i++)
        strcpy(p.actors[i].failure, "broken");
    th_measure(&desc, p.subjects, SUBJECTS);
    cr_expect_eq(p.report.rows[0].real_ns.count, 1, "and when all have failed, that is the end");
}

Test(measure, dry_run_runs_each_once_and_finds_what_is_wrong)
{
    th_measure_desc desc = {.is_dry_run = true, .iterations = 100};
    dry_run(&desc, draw_constant);
    strcpy(p.actors[2].failure, "broken");
    th_measure(&desc, p.subjects, SUBJECTS);
    expect_blocks(1);
    for (uint32_t i = 0; i < SUBJECTS; i++) {
        cr_expect(p.actors[i].laps == 1 && p.report.rows[i].real_ns.count == 0);
        cr_expect_str_eq(p.report.rows[i].failure, p.actors[i].failure);
    }
}

/* ---- whether that is honest ---- */

/* As times are: a floor, a long tail, and now and then a far one. Its median is 1 + 0.03 ln 2, but for the far ones. */
static double draw_time(uint64_t seed, uint64_t n)
{
    const double u = th_random_unit(seed, 2 * n);
    const bool is_far = th_random_unit(seed, 2 * n + 1) < 0.02;
    return is_far ? 2 + u : 1 - 0.03 * log(1 - u);
}

/* The value that half of them do not exceed: 0.98 (1 - exp(-x / 0.03)) = 0.5 */
static double median_of_times(void)
{
    return 1 - 0.03 * log(1 - 0.5 / 0.98);
}

static void add_up(double median, double *covered, double *shift, double *rounds)
{
    for (uint32_t i = 0; i < SUBJECTS; i++) {
        const th_samples *samples = &p.report.rows[i].real_ns;
        const th_interval interval = th_median_interval(samples);
        *covered += interval.low <= median && median <= interval.high;
        *shift += th_samples_stats(samples).median / median - 1;
        *rounds += samples->count;
    }
}

/* Looking at the interval to decide when to stop makes it a little too short: of 95 in 100 that should hold the median,
 * some 93 do. The median itself is no further off than chance makes it. */
Test(measure, stopping_early_neither_shifts_the_median_nor_spoils_its_interval)
{
    const uint32_t plays = is_nightly() ? 200 : 30, all = plays * SUBJECTS;
    double covered = 0, shift = 0, rounds = 0;
    th_measure_desc desc = {.precision = 0.01};
    dry_run(&desc, draw_time);
    for (uint64_t seed = 0; seed < plays; seed++) {
        desc.seed = 1000 * seed;
        set_up(&desc, draw_time);
        th_measure(&desc, p.subjects, SUBJECTS);
        add_up(1e6 * median_of_times(), &covered, &shift, &rounds);
    }
    cr_log_info("%.1f %% covered, %.4f %% shifted, %.1f rounds", 100 * covered / all, 100 * shift / all, rounds / all);
    cr_expect(covered / all > 0.92 && covered / all < 0.97, "%g", covered / all);
    cr_expect(fabs(shift / all) < 0.0005, "%g", shift / all);
}

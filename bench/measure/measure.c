#include <bench/measure.h>

#include "core_clock.h"

#include <core/clock.h>
#include <core/random.h>

#include <assert.h>
#include <math.h>

/* ---- lengths ---- */

static uint64_t repetition_ns_of(const th_measure_desc *desc)
{
    return desc->repetition_ns ? desc->repetition_ns : TH_MEASURE_REPETITION_NS;
}

th_result th_measure_report(const th_measure_desc *desc, uint32_t rows, th_report *out, th_error *err)
{
    assert(desc && out);
    const uint32_t most = desc->repetitions ? desc->repetitions : TH_MEASURE_MAX_ROUNDS;
    const th_result result = th_report_init(out, rows, desc->is_dry_run ? 0 : most, err);
    if (result == TH_OK) {
        out->repetition_ns = desc->iterations ? 0 : repetition_ns_of(desc);
        out->iterations = desc->iterations;
        out->precision = desc->repetitions ? 0 : desc->precision;
        out->is_dry_run = desc->is_dry_run;
        out->seed = desc->seed;
    }
    return result;
}

/* ---- one repetition ---- */

/* Streams of random numbers, apart from those of the order. */
#define CHECKS   UINT64_C(0x636865636B73)
#define PARITIES UINT64_C(0x706172697479)

static th_lap run_laps(const th_subject *s, const th_measure_desc *desc, uint64_t first, uint32_t iterations)
{
    th_lap sum = {0};
    for (uint32_t i = 0; i < iterations; i++) {
        const th_lap lap = desc->lap(s->ctx, first + i);
        sum.real_ns += lap.real_ns;
        sum.cpu_ns += lap.cpu_ns;
    }
    return sum;
}

static th_lap run(const th_subject *s, const th_measure_desc *desc, uint64_t first, uint32_t iterations)
{
    if (desc->lap)
        return run_laps(s, desc, first, iterations);
    if (s->timed_run)
        return s->timed_run(s->ctx, first, iterations);
    const uint64_t cpu = th_clock_cpu_ns(), start = th_clock_ns();
    for (uint32_t i = 0; i < iterations; i++)
        s->run(s->ctx, first + i);
    const uint64_t real = th_clock_ns() - start;
    return (th_lap){real, th_clock_cpu_ns() - cpu};
}

static th_lap repeat(const th_subject *s, const th_measure_desc *desc, uint64_t first, uint32_t iterations)
{
    if (s->before)
        s->before(s->ctx);
    const th_lap sum = run(s, desc, first, iterations);
    if (s->after)
        s->after(s->ctx);
    return sum;
}

/* One repetition in eight, so that a check of some milliseconds costs little. */
static bool is_checked(const th_measure_desc *desc, uint32_t round)
{
    return round == 0 || th_random_bits(desc->seed ^ CHECKS, round) % 8 == 0;
}

/* Repetitions begin at even and at odd frames, so that the last ones are of both kinds too. */
static void add_sample(const th_subject *s, const th_measure_desc *desc, uint32_t round, uint32_t order)
{
    th_row *row = s->row;
    const uint64_t first = (uint64_t)round * row->iterations + (th_random_bits(desc->seed ^ PARITIES, round) >> 63);
    const double core_clock_ns = th_core_clock_ns();
    const uint64_t start_ns = th_clock_ns();
    const th_lap sum = repeat(s, desc, first, row->iterations);
    if (s->check && is_checked(desc, round))
        s->check(s->ctx, first + row->iterations - 1);
    /* The larger one may include an interrupt. */
    th_samples_add(&row->core_clock_ns, fmin(core_clock_ns, th_core_clock_ns()));
    th_samples_add(&row->start_ns, (double)(start_ns - row->begin_ns));
    th_samples_add(&row->order, order);
    th_samples_add(&row->real_ns, (double)sum.real_ns / row->iterations);
    th_samples_add(&row->cpu_ns, (double)sum.cpu_ns / row->iterations);
}

/* ---- warming up ---- */

/* The fastest of three runs, including untimed parts: the first one may have to wake threads. Only one run if it takes
 * several repetitions' time, when waking does not matter. What times itself is believed: the rest is a wait for it. */
static uint64_t least_ns(const th_subject *s, const th_measure_desc *desc, uint32_t iterations)
{
    const uint64_t long_ns = 4 * repetition_ns_of(desc);
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 3 && (i == 0 || least < long_ns); i++) {
        const uint64_t start = th_clock_ns();
        const th_lap told = run(s, desc, 0, iterations);
        const uint64_t ns = s->timed_run ? told.real_ns : th_clock_ns() - start;
        least = ns < least ? ns : least;
    }
    return least;
}

/* Doubles the iterations until they take a tenth of a repetition, so that the estimate comes from a warm run. */
static uint32_t calibrate(const th_subject *s, const th_measure_desc *desc)
{
    const uint64_t wanted_ns = repetition_ns_of(desc);
    uint32_t iterations = 1;
    uint64_t ns = least_ns(s, desc, 1);
    while (ns < wanted_ns / 10 && iterations < 1u << 24)
        ns = least_ns(s, desc, iterations *= 2);
    const uint64_t fit = iterations * wanted_ns / (ns ? ns : 1);
    return fit > 1 ? (uint32_t)fit : 1;
}

/* ---- rounds ---- */

typedef struct rounds {
    const th_measure_desc *desc;
    const th_subject *subjects;
    uint32_t count, done;
    uint64_t start_ns;
    uint32_t next_check, good_checks;
    th_measure_state state;
} rounds;

static bool is_stopped(const rounds *r)
{
    return r->desc->stop && *r->desc->stop;
}

static void warm_up(const rounds *r)
{
    for (uint32_t i = 0; i < r->count && !is_stopped(r); i++) {
        const th_subject *s = &r->subjects[i];
        if (s->row->failure[0])
            continue;
        s->row->iterations = r->desc->iterations ? r->desc->iterations : calibrate(s, r->desc);
        s->row->iterations_timed_at_once = r->desc->lap ? 1 : s->row->iterations;
        run(s, r->desc, 0, s->row->iterations);
    }
}

/* R. Durstenfeld, Algorithm 235: Random permutation, 1964. */
static void shuffle(const rounds *r, uint32_t *order)
{
    const uint64_t seed = th_random_bits(r->desc->seed, r->done);
    for (uint32_t i = 0; i < r->count; i++)
        order[i] = i;
    for (uint32_t i = r->count; i > 1; i--) {
        const uint32_t other = (uint32_t)((th_random_bits(seed, i) >> 32) * i >> 32), last = order[i - 1];
        order[i - 1] = order[other];
        order[other] = last;
    }
}

/* Precision may be reached sooner than the time is up, so it is an estimate from above. */
static double part_done(const rounds *r)
{
    const double most = r->desc->repetitions ? r->desc->repetitions : TH_MEASURE_MAX_ROUNDS, by_rounds = r->done / most;
    const double ns_each = (double)(th_clock_ns() - r->start_ns) / r->count;
    const bool is_timed = r->desc->repetitions == 0 && r->desc->max_ns > 0;
    return fmin(is_timed ? fmax(by_rounds, ns_each / (double)r->desc->max_ns) : by_rounds, 1);
}

static void run_round(rounds *r)
{
    uint32_t order[TH_MEASURE_MAX_SUBJECTS];
    shuffle(r, order);
    for (uint32_t i = 0; i < r->count; i++)
        if (!r->subjects[order[i]].row->failure[0])
            add_sample(&r->subjects[order[i]], r->desc, r->done, i);
    r->state.rounds = ++r->done;
    r->state.done = part_done(r);
    if (r->desc->progress)
        r->desc->progress(r->desc->progress_ctx, &r->state);
}

/* ---- stopping ---- */

static double worst_precision(const rounds *r)
{
    double worst = 0;
    for (uint32_t i = 0; i < r->count; i++)
        if (!r->subjects[i].row->failure[0])
            worst = fmax(worst, th_median_ci_half_width(&r->subjects[i].row->real_ns));
    return worst;
}

/* Checks are rare, a quarter of the rounds apart, and two in a row must pass: one may pass by chance. */
static bool is_precise(rounds *r)
{
    if (r->done < r->next_check)
        return false;
    r->next_check += r->next_check / 4;
    r->state.precision = worst_precision(r);
    r->good_checks = r->state.precision <= r->desc->precision ? r->good_checks + 1 : 0;
    return r->good_checks >= 2;
}

static bool is_done(rounds *r)
{
    const th_measure_desc *desc = r->desc;
    if (desc->repetitions > 0)
        return r->done == desc->repetitions;
    if (r->done < TH_MEASURE_MIN_ROUNDS)
        return false;
    const uint64_t ns_each = (th_clock_ns() - r->start_ns) / r->count;
    const bool timed_out = desc->max_ns > 0 && ns_each >= desc->max_ns;
    return is_precise(r) || timed_out || r->done == TH_MEASURE_MAX_ROUNDS;
}

static void run_once(const rounds *r)
{
    for (uint32_t i = 0; i < r->count && !is_stopped(r); i++)
        if (!r->subjects[i].row->failure[0])
            repeat(&r->subjects[i], r->desc, 0, 1);
}

/* Drops core_clock_ns samples where the CPU clock's resolution is too coarse for them. */
static void drop_bad_core_clocks(const rounds *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        th_samples *core_clock_ns = &r->subjects[i].row->core_clock_ns;
        for (uint32_t s = 0; s < core_clock_ns->count; s++)
            if (!(core_clock_ns->values[s] > 0))
                core_clock_ns->count = 0;
    }
}

bool th_measure(const th_measure_desc *desc, const th_subject *subjects, uint32_t count)
{
    assert(desc && (subjects || count == 0));
    assert(desc->is_dry_run || desc->repetitions > 0 || desc->precision > 0);
    assert(count <= TH_MEASURE_MAX_SUBJECTS);
    rounds r = {.desc = desc, .subjects = subjects, .count = count, .next_check = TH_MEASURE_FIRST_CHECK};
    if (desc->is_dry_run) {
        run_once(&r);
        return !is_stopped(&r);
    }
    r.state = (th_measure_state){.name = subjects[0].row->name, 1, 1, 0, (double)NAN, 0};
    warm_up(&r);
    r.start_ns = th_clock_ns();
    bool is_whole;
    while (!(is_whole = is_done(&r)) && !is_stopped(&r))
        run_round(&r);
    drop_bad_core_clocks(&r);
    for (uint32_t i = 0; i < count && !is_whole; i++)
        th_row_interrupt(subjects[i].row);
    return is_whole;
}

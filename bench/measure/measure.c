/* How an entry is measured: warm up, then rounds in random order until the medians are known well enough. */
#include <bench/interference.h>
#include <bench/measure.h>

#include "calibrated_work.h"

#include <core/clock.h>
#include <core/random.h>

#include <assert.h>
#include <math.h>
#include <time.h>

/* Stream of which rounds are checked, apart from what is drawn in them. */
#define CHECKS UINT64_C(0x636865636B73)

static uint64_t repetition_ns_of(const th_measure_desc *desc)
{
    return desc->repetition_ns ? desc->repetition_ns : TH_MEASURE_REPETITION_NS;
}

th_result th_measure_report_init(const th_measure_desc *desc, uint32_t rows, th_report *out, th_error *err)
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
        th_report_draw_from(out, desc->check_seed);
    }
    return result;
}

/* The current speed of this core: CPU time in nanoseconds of one step of a chain of dependent multiplications, which
 * always takes the same number of cycles. A core's clock changes by several percent within seconds: with heat, with the
 * load of its neighbours and, in a virtual machine, with a host that reports nothing. All compute time follows it.
 * Divide by this to compare times of two moments. Takes some 20 microseconds. Preemption and other threads do not
 * affect the result. Not inlined, as the steps are not, so that it is the same code before and after. */
__attribute__((noinline)) static double read_core_clock_ns(void)
{
    enum { STEPS = 20000 };
    const uint64_t start_ns = th_clock_thread_cpu_ns();
    const volatile uint64_t used = th_work_steps(start_ns, STEPS);
    (void)used;
    return (double)(th_clock_thread_cpu_ns() - start_ns) / STEPS;
}

th_lap th_measure_frames(const th_measure_desc *desc, const th_subject *s, uint64_t first, uint32_t iterations)
{
    if (desc->lap) {
        th_lap sum = {0};
        for (uint32_t i = 0; i < iterations; i++) {
            const th_lap lap = desc->lap(s->ctx, first + i);
            sum.real_ns += lap.real_ns;
            sum.cpu_ns += lap.cpu_ns;
        }
        return sum;
    }
    if (s->timed_run)
        return s->timed_run(s->ctx, first, iterations);
    const uint64_t cpu = th_clock_cpu_ns(), start = th_clock_ns();
    for (uint32_t i = 0; i < iterations; i++)
        s->run(s->ctx, first + i);
    const uint64_t real = th_clock_ns() - start;
    return (th_lap){real, th_clock_cpu_ns() - cpu};
}

/* Threads of other pools that go to sleep in a repetition take less. */
#define WAKING_NS 500000.0

/* queue: open; its longest delay is added to *queued_ns. NULL: it is not wanted. What times itself, or laps only, is
 * not what is between two readings. */
static th_lap repeat(const th_subject *s, const th_measure_desc *desc, uint64_t first, uint32_t iterations,
                     th_runqueue_delay *queue, uint64_t *queued_ns)
{
    const bool is_queued = queue && !desc->lap && !s->timed_run;
    if (s->before)
        s->before(s->ctx);
    if (is_queued)
        th_runqueue_delay_begin(queue);
    const uint64_t caller_ns = th_clock_thread_cpu_ns(), all_ns = th_clock_cpu_ns();
    const th_lap sum = th_measure_frames(desc, s, first, iterations);
    const uint64_t all = th_clock_cpu_ns() - all_ns, caller = th_clock_thread_cpu_ns() - caller_ns;
    s->row->caller_cpu_ns += caller;
    s->row->others_cpu_ns += all > caller ? all - caller : 0;
    if (is_queued)
        *queued_ns += th_runqueue_delay_max(queue);
    if (s->after)
        s->after(s->ctx);
    return sum;
}

/* A repetition of which any frame is checked. Code that knew which one could leave out the others, and until it is
 * drawn the repetition is like all. What follows the check begins as every repetition, since the caches hold other
 * things now. */
static th_lap repeat_checked(const th_subject *s, const th_measure_desc *desc, uint64_t first, uint32_t iterations,
                             th_runqueue_delay *queue, uint64_t *queued_ns)
{
    const uint32_t until = 1 + (uint32_t)(th_draws_next(&s->row->draws) % iterations);
    th_lap sum = repeat(s, desc, first, until, queue, queued_ns);
    s->check(s->ctx, first + until - 1);
    const th_lap rest =
        until < iterations ? repeat(s, desc, first + until, iterations - until, queue, queued_ns) : (th_lap){0};
    return (th_lap){sum.real_ns + rest.real_ns, sum.cpu_ns + rest.cpu_ns};
}

/* Doubles the iterations until they take a tenth of a repetition, so that the estimate comes from a warm run. It takes
 * the fastest of three runs, including what `lap` does not count: the first one may have to wake threads. Only one run
 * if it takes several repetitions' time, when waking does not matter. What times itself is believed: the rest is a wait
 * for it. */
static uint32_t calibrate(const th_subject *s, const th_measure_desc *desc)
{
    const uint64_t wanted_ns = repetition_ns_of(desc);
    for (uint32_t iterations = 1;; iterations *= 2) {
        uint64_t least_ns = UINT64_MAX;
        for (int i = 0; i < 3 && (i == 0 || least_ns < 4 * wanted_ns); i++) {
            const uint64_t start = th_clock_ns();
            const th_lap told = th_measure_frames(desc, s, 0, iterations);
            const uint64_t ns = s->timed_run ? told.real_ns : th_clock_ns() - start;
            least_ns = ns < least_ns ? ns : least_ns;
        }
        if (least_ns >= wanted_ns / 10 || iterations >= 1u << 24) {
            const uint64_t fit = iterations * wanted_ns / (least_ns ? least_ns : 1);
            return fit > 1 ? (uint32_t)fit : 1;
        }
    }
}

static bool is_stopped(const th_measure_desc *desc)
{
    return desc->stop && *desc->stop;
}

bool th_measure(const th_measure_desc *desc, const th_subject *subjects, uint32_t count)
{
    assert(desc && (subjects || count == 0));
    assert(desc->is_dry_run || desc->repetitions > 0 || desc->precision > 0);
    assert(count <= TH_MEASURE_MAX_SUBJECTS);
    for (uint32_t i = 0; i < count && !is_stopped(desc); i++) { /* warms up; of a dry run this is all */
        const th_subject *s = &subjects[i];
        if (s->row->failure[0])
            continue;
        if (desc->is_dry_run) {
            repeat(s, desc, 0, 1, NULL, NULL);
            continue;
        }
        s->row->iterations = desc->iterations ? desc->iterations : calibrate(s, desc);
        s->row->iterations_timed_at_once = desc->lap ? 1 : s->row->iterations;
        th_measure_frames(desc, s, 0, s->row->iterations);
    }
    if (desc->is_dry_run)
        return !is_stopped(desc);

    const uint32_t most_rounds = desc->repetitions ? desc->repetitions : TH_MEASURE_MAX_ROUNDS;
    const bool is_timed = desc->repetitions == 0 && desc->max_ns > 0;
    const uint64_t start_ns = th_clock_ns();
    th_measure_state state = {.name = subjects[0].row->name, 1, 1, 0, (double)NAN, 0};
    th_runqueue_delay queue;
    const bool has_queue = th_runqueue_delay_open(&queue);
    uint32_t next_check = TH_MEASURE_FIRST_CHECK, good_checks = 0, order[TH_MEASURE_MAX_SUBJECTS];
    th_draws checks = {subjects[0].row->draws.seed ^ CHECKS, 0};
    const uint32_t least =
        desc->repetitions && desc->repetitions < TH_MEASURE_MIN_ROUNDS ? desc->repetitions : TH_MEASURE_MIN_ROUNDS;
    const uint64_t between = least > 2 ? 1 + th_draws_next(&checks) % (least - 2) : 0;
    bool is_last = most_rounds == 1, is_whole = false;
    while (!is_whole && !is_stopped(desc)) {
        const uint32_t round = state.rounds;

        /* R. Durstenfeld, Algorithm 235: Random permutation, 1964. */
        const uint64_t shuffle = th_random_bits(desc->seed, round);
        for (uint32_t i = 0; i < count; i++)
            order[i] = i;
        for (uint32_t i = count; i > 1; i--) {
            const uint32_t other = (uint32_t)((th_random_bits(shuffle, i) >> 32) * i >> 32), last = order[i - 1];
            order[i - 1] = order[other];
            order[other] = last;
        }

        /* A repetition of each. Besides some that are always, one in eight is checked, so that a check of some
         * milliseconds costs little. */
        const bool is_checked = th_draws_next(&checks) % 8 == 0 || round == 0 || round == between || is_last;
        for (uint32_t i = 0; i < count; i++) {
            const th_subject *s = &subjects[order[i]];
            th_row *row = s->row;
            if (row->failure[0])
                continue;
            const uint64_t first = (uint64_t)round * row->iterations;
            const double core_clock_ns = read_core_clock_ns();
            const uint64_t begin_ns = th_clock_ns();
            uint64_t queued_ns = 0;
            const th_lap sum = (s->check && is_checked ? repeat_checked : repeat)(
                s, desc, first, row->iterations, has_queue ? &queue : NULL, &queued_ns);
            /* The larger one may include an interrupt. */
            th_samples_add(&row->core_clock_ns, fmin(core_clock_ns, read_core_clock_ns()));
            th_samples_add(&row->start_ns, (double)(begin_ns - row->begin_ns));
            th_samples_add(&row->order, i);
            if (has_queue)
                th_samples_add(&row->queued_ns, (double)queued_ns / row->iterations);
            th_samples_add(&row->real_ns, (double)sum.real_ns / row->iterations);
            th_samples_add(&row->cpu_ns, (double)sum.cpu_ns / row->iterations);
        }

        /* Precision may be reached sooner than the time is up, so what is done is an estimate from above. */
        const double ns_each = (double)(th_clock_ns() - start_ns) / count;
        const double by_time = is_timed ? ns_each / (double)desc->max_ns : 0;
        state.rounds++;
        state.done = fmin(fmax(state.rounds / (double)most_rounds, by_time), 1);
        if (desc->progress)
            desc->progress(desc->progress_ctx, &state);

        is_whole = is_last;
        is_last = state.rounds + 1 == most_rounds || (state.rounds >= TH_MEASURE_MIN_ROUNDS - 1 && by_time >= 1);
        if (desc->repetitions > 0 || state.rounds < TH_MEASURE_MIN_ROUNDS || state.rounds < next_check)
            continue;

        /* Checks of the precision are rare, a quarter of the rounds apart, and two in a row must pass: one may pass by
         * chance. */
        next_check += next_check / 4;
        state.precision = 0;
        for (uint32_t i = 0; i < count; i++)
            if (!subjects[i].row->failure[0])
                state.precision = fmax(state.precision, th_median_ci_half_width(&subjects[i].row->real_ns));
        good_checks = state.precision <= desc->precision ? good_checks + 1 : 0;
        is_last = is_last || good_checks >= 2; /* one more, so that it is known to be the last and checked */
    }

    th_runqueue_delay_close(&queue);
    for (uint32_t i = 0; i < count; i++) {
        th_row *row = subjects[i].row;
        for (uint32_t s = 0; s < row->core_clock_ns.count; s++)
            if (!(row->core_clock_ns.values[s] > 0)) /* the CPU clock's resolution is too coarse: none is known */
                row->core_clock_ns.count = 0;
        if (row->threads == 1 && !row->has_helpers && !row->failure[0] &&
            (double)row->others_cpu_ns >
                TH_REPORT_ONE_THREAD * (double)row->caller_cpu_ns + WAKING_NS * row->real_ns.count)
            th_row_fail(row, "it is of one thread, but others used %.3g times as much CPU time: it did not work alone",
                        (double)row->others_cpu_ns / (double)row->caller_cpu_ns);
        if (!is_whole)
            th_row_interrupt(row);
    }
    return is_whole;
}

/* The bottleneck of a scaling experiment, in words. */
#include "report/figures.h"

#include <bench/scale.h>
#include <bench/student.h>
#include <core/text_format.h>

#include <assert.h>
#include <math.h>

/* LITTLE: a smaller loss is none. MOST: a cause must explain at least this part of the loss. STEAL: CPUs withheld by
 * the hypervisor that matter. */
#define LITTLE 0.05
#define MOST   0.5
#define STEAL  0.01

const char *th_bottleneck_kind_name(th_bottleneck_kind limit)
{
    assert(limit < TH_BOTTLENECK_COUNT);
    static const char *const names[] = {"unclear",  "compute", "memory", "cores",        "imbalance",
                                        "wake_ups", "serial",  "cpus",   "external_load"};
    _Static_assert(sizeof names / sizeof *names == TH_BOTTLENECK_COUNT, "a name for each");
    return names[limit];
}

/* ---- figures ---- */

/* What is said with an interval: functions of the input, and so of each sample. Losses are shares of all threads'
 * time at the last point; SLOW_START: how much longer the first point takes than the loop; LONGER: how much longer the
 * same work takes than at the first; IN_CACHE, SAMPLING and EMPTY: the ablations' shares of the frame. */
typedef enum figure {
    LOSSES = 0, /* one for each kind */
    LOST = TH_BOTTLENECK_COUNT,
    SPEED_UP,
    EFFICIENCY,
    SLOW_START,
    LONGER,
    LONGER_IN_CACHE,
    IN_CACHE,
    SAMPLING,
    EMPTY,
    FIGURE_COUNT,
} figure;

static void set_figures(const th_bottleneck_input *f, double out[FIGURE_COUNT])
{
    const double *parts = f->parts.frame_ns, *work = f->parts.work_ns, frame_ns = f->last.frame_ns;
    for (int i = 0; i < FIGURE_COUNT; i++)
        out[i] = 0;
    if (f->last.threads > f->base.threads) {
        /* The time that all threads of the last point spent beyond those of the first for the same frame; times of the
         * first are scaled by the efficiency. A part that takes longer even in the cache is not attributed to
         * memory. */
        const th_scale_point *a = &f->base, *b = &f->last;
        const double e = b->efficiency;
        const double cached = work[TH_ABLATION_NO_WRITE] - f->base_parts.work_ns[TH_ABLATION_NO_WRITE];
        const double working = (1 - b->serial) * b->busy;
        const double slower = fmax(0, working * (1 - a->work_ns / b->work_ns));
        const double slower_in_cache = fmin(slower, fmax(0, working * cached / b->work_ns));
        out[LOSSES + TH_BOTTLENECK_MEMORY] = slower - slower_in_cache;
        out[LOSSES + TH_BOTTLENECK_CORES] = slower_in_cache;
        out[LOSSES + TH_BOTTLENECK_IMBALANCE] =
            fmax(0, (1 - b->serial) * b->idle_at_end - e * (1 - a->serial) * a->idle_at_end);
        out[LOSSES + TH_BOTTLENECK_WAKE_UPS] = fmax(0, (1 - b->serial) * (1 - b->busy - b->idle_at_end) -
                                                           e * (1 - a->serial) * (1 - a->busy - a->idle_at_end));
        out[LOSSES + TH_BOTTLENECK_SERIAL] = fmax(0, b->serial - e * a->serial);
        out[LOST] = 1 - f->last.efficiency;
    }
    out[SPEED_UP] = f->last.speed_up;
    out[EFFICIENCY] = f->last.efficiency;
    out[SLOW_START] = 1 / f->base.efficiency - 1;
    out[LONGER] = f->last.work_ns / f->base.work_ns - 1;
    out[LONGER_IN_CACHE] = fmax(0, work[TH_ABLATION_NO_WRITE] / f->base_parts.work_ns[TH_ABLATION_NO_WRITE] - 1);
    out[IN_CACHE] = fmin(1, parts[TH_ABLATION_NO_WRITE] / frame_ns);
    out[SAMPLING] = parts[TH_ABLATION_SAMPLING] / frame_ns;
    out[EMPTY] = parts[TH_ABLATION_EMPTY] / frame_ns;
}

typedef struct analysis {
    const th_bottleneck_input *f, *samples;
    uint32_t count; /* of samples */
    bool are_processes;
    th_estimate figures[FIGURE_COUNT];
    th_bottleneck *out;
} analysis;

static th_estimate estimate_of(const analysis *a, double value, double *samples)
{
    const double tail = (1 - TH_CONFIDENCE) / 2;
    if (a->are_processes)
        return th_student_mean(samples, a->count);
    return (th_estimate){value, th_quantile(samples, a->count, tail), th_quantile(samples, a->count, 1 - tail)};
}

/* The probability that at most `others` of the samples contradict what holds for half of all processes only. */
static double sign_test(uint32_t others, uint32_t count)
{
    double chance = 0, term = exp2(-(double)count);
    for (uint32_t k = 0; k <= others; k++) {
        chance += term;
        term *= (double)(count - k) / (k + 1);
    }
    return chance;
}

/* Whether what all samples but `others` say is more than noise. */
static bool is_significant(const analysis *a, uint32_t others)
{
    const double risk = (1 - TH_CONFIDENCE) / 2;
    return a->are_processes ? sign_test(others, a->count) <= risk : others <= risk * a->count;
}

static th_bottleneck_kind largest_of(const double *losses)
{
    int largest = TH_BOTTLENECK_UNCLEAR;
    for (int l = 0; l < TH_BOTTLENECK_COUNT; l++)
        if (losses[l] > losses[largest])
            largest = l;
    return (th_bottleneck_kind)largest;
}

/* ---- text ---- */

static const char *share_in(const analysis *a, int i, th_share_text *text)
{
    *text = th_share_text_of(&a->figures[i]);
    return text->text;
}

/* A share in the text, to be used once in a call. */
#define SHARE(figure) share_in(a, (int)(figure), &(th_share_text){""})

/* Adds to the text. */
#define SAY(...) th_append(a->out->text, sizeof a->out->text, __VA_ARGS__)

static void say_bandwidth(const analysis *a)
{
    const th_bottleneck_input *f = a->f;
    const double bytes = f->palette_bytes * 1e9;
    SAY(" They are written at %.1f GB/s; writing them alone reaches %.1f, writing a large block %.1f.",
        bytes / f->last.frame_ns / 1e9, bytes / f->parts.frame_ns[TH_ABLATION_WRITE] / 1e9,
        f->memory.bytes_per_s[TH_BANDWIDTH_WRITE] / 1e9);
}

/* The threads lose almost nothing to each other: says what limits a single one. */
static th_bottleneck_kind say_scaling(const analysis *a)
{
    const th_estimate *in_cache = &a->figures[IN_CACHE];
    if (a->f->last.threads > a->f->base.threads)
        SAY(" Almost nothing is lost between them.");
    if (in_cache->high <= 1 - MOST) {
        SAY(" Memory is the bottleneck: where palettes stay in the cache, a frame takes %s of its time.",
            SHARE(IN_CACHE));
        say_bandwidth(a);
        return TH_BOTTLENECK_MEMORY;
    }
    const bool is_clear = in_cache->low > 1 - MOST;
    SAY(" %s: where palettes stay in the cache, a frame takes %s of its time; sampling alone takes %s, handing out "
        "empty chunks %s.",
        is_clear ? "Computing is the bottleneck" : "Computing or memory, the bottleneck is unclear", SHARE(IN_CACHE),
        SHARE(SAMPLING), SHARE(EMPTY));
    return is_clear ? TH_BOTTLENECK_COMPUTE : TH_BOTTLENECK_UNCLEAR;
}

static void say_unclear(const analysis *a, const char *why)
{
    SAY(" The bottleneck is unclear: %s. Of the threads' time %s is lost; memory explains %s, shared cores or clock "
        "%s, imbalance %s, wake-ups %s, a serial part %s.",
        why, SHARE(LOST), SHARE(LOSSES + TH_BOTTLENECK_MEMORY), SHARE(LOSSES + TH_BOTTLENECK_CORES),
        SHARE(LOSSES + TH_BOTTLENECK_IMBALANCE), SHARE(LOSSES + TH_BOTTLENECK_WAKE_UPS),
        SHARE(LOSSES + TH_BOTTLENECK_SERIAL));
}

/* ---- the bottleneck ---- */

static th_bottleneck_kind classify_loss(const analysis *a)
{
    bool is_clear = false;
    double values[FIGURE_COUNT], losses[TH_BOTTLENECK_COUNT];
    for (int l = 0; l < TH_BOTTLENECK_COUNT; l++)
        losses[l] = a->figures[LOSSES + l].value;
    const th_bottleneck_kind kind = largest_of(losses);
    uint32_t others = 0; /* samples in which another loss is larger */
    for (uint32_t r = 0; r < a->count; r++) {
        set_figures(&a->samples[r], values);
        others += largest_of(values + LOSSES) != kind;
    }
    if (a->count == 0)
        say_unclear(a, "fewer than two repetitions have no intervals");
    else if (a->figures[LOST].low <= 0)
        say_unclear(a, a->are_processes ? "the loss is within the noise of the processes"
                                        : "the loss is within the noise of the repetitions");
    else if (losses[kind] < MOST * a->figures[LOST].value)
        say_unclear(a, "no cause explains half of the loss");
    else if (a->are_processes && a->count < TH_BOTTLENECK_MIN_PROCESSES)
        say_unclear(a, "so few processes cannot tell which cause is the largest");
    else if (!is_significant(a, others))
        say_unclear(a, "no cause is larger than the others beyond the noise");
    else
        is_clear = true;
    if (!is_clear)
        return TH_BOTTLENECK_UNCLEAR;

    const th_bottleneck_input *f = a->f;
    const char *share = SHARE(LOSSES + kind);
    switch (kind) {
    case TH_BOTTLENECK_MEMORY:
        SAY(" Memory is the bottleneck: %s of the threads' time. The same work takes %s longer in all, but %s "
            "where palettes stay in the cache.",
            share, SHARE(LONGER), SHARE(LONGER_IN_CACHE));
        say_bandwidth(a);
        break;
    case TH_BOTTLENECK_CORES:
        SAY(" The cores are the bottleneck: %s of the threads' time. The same work takes %s longer in all, and "
            "still %s where palettes stay in the cache. Threads share a core, or the clock falls.",
            share, SHARE(LONGER), SHARE(LONGER_IN_CACHE));
        break;
    case TH_BOTTLENECK_IMBALANCE:
        SAY(" Imbalance is the bottleneck: threads wait %s of their time for the last one to finish.", share);
        break;
    case TH_BOTTLENECK_WAKE_UPS:
        SAY(" Wake-ups are the bottleneck: threads wait %s of their time for work. Empty chunks alone take %.1f us "
            "of a frame's %.1f us.",
            share, f->parts.frame_ns[TH_ABLATION_EMPTY] / 1e3, f->last.frame_ns / 1e3);
        break;
    default:
        assert(kind == TH_BOTTLENECK_SERIAL);
        SAY(" A serial part is the bottleneck: %s of a frame passes outside of calls, on one thread.", share);
    }
    return kind;
}

void th_bottleneck_analyze(const th_bottleneck_input *f, const th_bottleneck_input *samples, uint32_t count,
                           bool are_processes, th_bottleneck *out)
{
    assert(f && out && (samples || count == 0) && count <= TH_BOTTLENECK_MAX_SAMPLES);
    assert(f->base.threads > 0 && f->base.threads <= f->last.threads);
    analysis all = {.f = f, .samples = samples, .count = count, .are_processes = are_processes, .out = out}, *a = &all;
    *out = (th_bottleneck){.is_impossible = !(f->last.efficiency <= TH_REPORT_MAX_EFFICIENCY)};
    double values[FIGURE_COUNT], of_samples[TH_BOTTLENECK_MAX_SAMPLES];
    for (int i = 0; i < FIGURE_COUNT; i++) {
        for (uint32_t r = 0; r < count; r++) {
            set_figures(&samples[r], values);
            of_samples[r] = values[i];
        }
        set_figures(f, values);
        a->figures[i] = estimate_of(a, values[i], of_samples);
    }
    out->speed_up = a->figures[SPEED_UP];
    out->efficiency = a->figures[EFFICIENCY];
    out->lost = a->figures[LOST];
    for (int l = 0; l < TH_BOTTLENECK_COUNT; l++)
        out->losses[l] = a->figures[LOSSES + l];

    /* What disturbed the measurement from outside slows work down and delays threads, so all else is moot. */
    const th_interference *outside = &f->interference;
    if (outside->external_cpu_load > TH_REPORT_EXTERNAL_CPU_LOAD)
        SAY("Other programs used %.2f CPUs", outside->external_cpu_load);
    if (outside->steal_cpu_load > STEAL)
        SAY("%s %.2f CPUs", out->text[0] ? ", the hypervisor withheld" : "The hypervisor withheld",
            outside->steal_cpu_load);
    if (outside->throttled_s > 0)
        SAY("%s for %.2f s",
            out->text[0] ? ", the cgroup's quota throttled threads" : "The cgroup's quota throttled threads",
            outside->throttled_s);
    const bool is_disturbed = out->text[0] != '\0';
    if (is_disturbed)
        SAY(", so this says little about the work itself. ");

    /* The headline. An impossible efficiency is no result: it says that the first point took too long. */
    const th_scale_point *base = &f->base, *last = &f->last;
    char interval[48] = "";
    if (count > 0)
        snprintf(interval, sizeof interval, " [%.2f, %.2f]", out->speed_up.low, out->speed_up.high);
    if (base->threads == last->threads)
        SAY("%u thread%s: %s characters in the 16.7 ms of a frame at 60 Hz.", last->threads, th_plural(last->threads),
            th_digits_from((uint64_t)round((double)f->characters * (1e9 / TH_FRAME_RATE) / last->frame_ns)).text);
    else if (out->is_impossible)
        SAY("Impossible: %u threads were more than %.3g times as fast as %u. Most likely the first point was "
            "disturbed; "
            "measure again.",
            last->threads, (double)last->threads / base->threads, base->threads);
    else
        SAY("%u threads animate %.2f%s times as many characters as %u: %s efficiency.", last->threads,
            out->speed_up.value, interval, base->threads, SHARE(EFFICIENCY));
    if (a->figures[SLOW_START].low > LITTLE)
        SAY(" One thread takes %s longer than the same loop without a pool, which speed-ups are against.",
            SHARE(SLOW_START));

    /* The bottleneck, which stays unclear where only one thread count is not oversubscribed. */
    const bool is_alone = last->threads == base->threads && f->most_threads > f->usable_cpus;
    if (is_disturbed)
        out->kind = TH_BOTTLENECK_EXTERNAL_LOAD;
    else if (!out->is_impossible && is_alone && last->threads >= f->usable_cpus) {
        out->kind = TH_BOTTLENECK_CPUS;
        SAY(" Only %u CPU%s usable, so more threads cannot help.", f->usable_cpus,
            f->usable_cpus == 1 ? " is" : "s are");
    } else if (!out->is_impossible && is_alone)
        SAY(" Too few points: %u CPUs are usable, but no other number of threads that was measured has a CPU each.",
            f->usable_cpus);
    else if (!out->is_impossible)
        out->kind = count > 0 && out->lost.high < LITTLE ? say_scaling(a) : classify_loss(a);

    /* Which factor of POP has lost most, where more than noise is lost, and more than noise by this factor. */
    static const char *const words[TH_POP_COUNT] = {
        [TH_POP_LOAD_BALANCE] = "load balance", [TH_POP_SERIALISATION] = "serialisation",
        [TH_POP_TRANSFER] = "transfer",         [TH_POP_COMPUTATION] = "computation scaling",
        [TH_POP_INSTRUCTIONS] = "instructions", [TH_POP_IPC] = "IPC",
        [TH_POP_FREQUENCY] = "frequency",
    };
    const double *factors = last->pop.values;
    const bool is_lost = out->lost.low > 0 && out->lost.high >= LITTLE && !out->is_impossible && !is_disturbed;
    const th_pop_factor weakest = is_lost ? th_pop_weakest(&last->pop) : TH_POP_GLOBAL;
    for (uint32_t r = 0; r < count; r++) /* of the same rounds as the losses */
        of_samples[r] = samples[r].last.pop.values[weakest];
    const th_estimate share = estimate_of(a, factors[weakest], of_samples);
    if (weakest != TH_POP_GLOBAL && share.high < 1) {
        out->factor = weakest;
        SAY(" The weakest POP factor is %s, %s: parallel efficiency %.0f %%, computation scaling %.0f %%.",
            words[weakest], th_share_text_of(&share).text, 100 * factors[TH_POP_PARALLEL],
            100 * factors[TH_POP_COMPUTATION]);
    }

    /* Where fewer threads are faster, in enough of the samples. */
    uint32_t others = count == 0;
    for (uint32_t r = 0; r < count; r++)
        others += samples[r].fastest_threads != f->fastest_threads;
    if (f->fastest_threads != f->last.threads && is_significant(a, others))
        SAY(" %u thread%s fastest.", f->fastest_threads, f->fastest_threads == 1 ? " is" : "s are");
    const double mad = fmax(f->base.relative_mad, f->last.relative_mad);
    if (mad > LITTLE)
        SAY(" The MAD of the repetitions is %.0f %% of the median: this is a rough result.", 100 * mad);
}

/* The bottleneck of a scaling experiment, in words. */
#include <throng/bench/scale.h>
#include <throng/core/text_format.h>

#include <assert.h>
#include <math.h>

/* LITTLE: smaller shares are not named. MOST: a cause must explain at least this part of the loss. */
#define LITTLE 0.05
#define MOST   0.5

const char *th_bottleneck_kind_name(th_bottleneck_kind limit)
{
    assert(limit < TH_BOTTLENECK_COUNT);
    static const char *const names[] = {"unclear",  "compute", "memory", "cores",        "imbalance",
                                        "wake_ups", "serial",  "cpus",   "external_load"};
    _Static_assert(sizeof names / sizeof *names == TH_BOTTLENECK_COUNT, "a name for each");
    return names[limit];
}

/* ---- where the time went ---- */

/* Shares of all threads' time. */
typedef struct time_account {
    double slower; /* the same work takes longer */
    double slower_in_cache;
    double idle_at_end, before, serial;
} time_account;

/* The time that all threads of the last point spent beyond those of the first for the same frame; times of the first
 * are scaled by the efficiency. A part that takes longer even in the cache is not attributed to memory. */
static time_account time_account_of(const th_bottleneck_input *f)
{
    const th_scale_point *a = &f->base, *b = &f->last;
    const double e = b->efficiency;
    const double cached = f->parts.work_ns[TH_ABLATION_NO_WRITE] - f->base_parts.work_ns[TH_ABLATION_NO_WRITE];
    const double working = (1 - b->serial) * b->busy;
    const double slower = fmax(0, working * (1 - a->work_ns / b->work_ns));
    return (time_account){
        .slower = slower,
        .slower_in_cache = fmin(slower, fmax(0, working * cached / b->work_ns)),
        .idle_at_end = fmax(0, (1 - b->serial) * b->idle_at_end - e * (1 - a->serial) * a->idle_at_end),
        .before = fmax(0, (1 - b->serial) * (1 - b->busy - b->idle_at_end) -
                              e * (1 - a->serial) * (1 - a->busy - a->idle_at_end)),
        .serial = fmax(0, b->serial - e * a->serial),
    };
}

static void set_losses(const time_account *a, th_bottleneck *v)
{
    v->losses[TH_BOTTLENECK_MEMORY] = a->slower - a->slower_in_cache;
    v->losses[TH_BOTTLENECK_CORES] = a->slower_in_cache;
    v->losses[TH_BOTTLENECK_IMBALANCE] = a->idle_at_end;
    v->losses[TH_BOTTLENECK_WAKE_UPS] = a->before;
    v->losses[TH_BOTTLENECK_SERIAL] = a->serial;
}

static th_bottleneck_kind largest_loss(const th_bottleneck *v)
{
    th_bottleneck_kind largest = TH_BOTTLENECK_UNCLEAR;
    for (int l = 0; l < TH_BOTTLENECK_COUNT; l++)
        if (v->losses[l] > v->losses[largest])
            largest = (th_bottleneck_kind)l;
    return largest;
}

/* ---- text ---- */

/* The share of a frame that is spent on bringing palettes out of the cache. */
static double share_of_writing(const th_bottleneck_input *f)
{
    return 1 - f->parts.frame_ns[TH_ABLATION_NO_WRITE] / f->last.frame_ns;
}

static double slower_by(double now, double before)
{
    return 100 * (now / before - 1);
}

static void say_bandwidth(const th_bottleneck_input *f, th_bottleneck *v)
{
    const double bytes = f->palette_bytes * 1e9;
    th_append(v->text, sizeof v->text,
              " They are written at %.1f GB/s; writing them alone reaches %.1f, writing a large block %.1f.",
              bytes / f->last.frame_ns / 1e9, bytes / f->parts.frame_ns[TH_ABLATION_WRITE] / 1e9,
              f->memory.bytes_per_s[TH_BANDWIDTH_WRITE] / 1e9);
}

/* The threads lose almost nothing to each other: says what limits a single one. */
static th_bottleneck_kind say_scaling(const th_bottleneck_input *f, th_bottleneck *v)
{
    const double *parts = f->parts.frame_ns, frame = f->last.frame_ns, writing = share_of_writing(f);
    if (f->last.threads > f->base.threads)
        th_append(v->text, sizeof v->text, " Almost nothing is lost between them.");
    if (writing >= MOST) {
        th_append(v->text, sizeof v->text,
                  " Memory is the bottleneck: %.0f %% of a frame goes into bringing palettes out of the cache.",
                  100 * writing);
        say_bandwidth(f, v);
        return TH_BOTTLENECK_MEMORY;
    }
    th_append(v->text, sizeof v->text,
              " Computing is the bottleneck: where palettes stay in the cache, a frame takes %.0f %% of its time; "
              "sampling alone "
              "takes %.0f %%, handing out empty chunks %.1f %%.",
              100 * fmin(1, 1 - writing), 100 * parts[TH_ABLATION_SAMPLING] / frame,
              100 * parts[TH_ABLATION_EMPTY] / frame);
    return TH_BOTTLENECK_COMPUTE;
}

static void say_loss(const th_bottleneck_input *f, th_bottleneck *v)
{
    char *const text = v->text;
    const size_t size = sizeof v->text;
    const double share = 100 * v->losses[v->kind];
    const double slower = slower_by(f->last.work_ns, f->base.work_ns);
    const double cached =
        slower_by(f->parts.work_ns[TH_ABLATION_NO_WRITE], f->base_parts.work_ns[TH_ABLATION_NO_WRITE]);
    switch (v->kind) {
    case TH_BOTTLENECK_MEMORY:
        th_append(
            text, size,
            " Memory is the bottleneck: the same work takes %.0f %% longer in all, but %.0f %% where palettes stay in "
            "the cache.",
            slower, fmax(0, cached));
        say_bandwidth(f, v);
        break;
    case TH_BOTTLENECK_CORES:
        th_append(text, size,
                  " The cores are the bottleneck: the same work takes %.0f %% longer in all, and still %.0f %% where "
                  "palettes stay in the cache. Threads share a core, or the clock falls.",
                  slower, cached);
        break;
    case TH_BOTTLENECK_IMBALANCE:
        th_append(text, size,
                  " Imbalance is the bottleneck: threads wait %.0f %% of their time for the last one to finish. "
                  "Over all frames the busiest works %.0f %% longer than the mean.",
                  share, 100 * f->last.imbalance);
        break;
    case TH_BOTTLENECK_WAKE_UPS:
        th_append(text, size,
                  " Wake-ups are the bottleneck: threads wait %.0f %% of their time for work. Empty chunks "
                  "alone take %.1f us of a frame's %.1f us.",
                  share, f->parts.frame_ns[TH_ABLATION_EMPTY] / 1e3, f->last.frame_ns / 1e3);
        break;
    case TH_BOTTLENECK_SERIAL:
        th_append(text, size,
                  " A serial part is the bottleneck: %.0f %% of a frame passes outside of calls, on one thread.",
                  share);
        break;
    default:
        th_append(
            text, size,
            " The bottleneck is unclear. Of the threads' time, memory explains %.0f %%, shared cores or clock %.0f %%, "
            "imbalance %.0f %%, wake-ups %.0f %%, a serial part %.0f %%.",
            100 * v->losses[TH_BOTTLENECK_MEMORY], 100 * v->losses[TH_BOTTLENECK_CORES],
            100 * v->losses[TH_BOTTLENECK_IMBALANCE], 100 * v->losses[TH_BOTTLENECK_WAKE_UPS],
            100 * v->losses[TH_BOTTLENECK_SERIAL]);
    }
}

/* ---- the bottleneck ---- */

static double relative_mad_of(const th_bottleneck_input *f)
{
    return fmax(f->base.relative_mad, f->last.relative_mad);
}

/* Tests in order: other programs first, as they slow work down and delay threads; then whether the loss is within the
 * noise. */
static th_bottleneck_kind classify_loss(const th_bottleneck_input *f, th_bottleneck *v)
{
    if (f->external_cpu_load > TH_REPORT_EXTERNAL_CPU_LOAD) {
        th_append(v->text, sizeof v->text, " Other programs used %.2f CPUs, so this says little about the work itself.",
                  f->external_cpu_load);
        return TH_BOTTLENECK_EXTERNAL_LOAD;
    }
    if (v->lost < 2 * relative_mad_of(f)) {
        th_append(v->text, sizeof v->text,
                  " The bottleneck is unclear: the loss is within the noise of the repetitions.");
        return TH_BOTTLENECK_UNCLEAR;
    }
    v->kind = largest_loss(v);
    if (v->losses[v->kind] < MOST * v->lost)
        v->kind = TH_BOTTLENECK_UNCLEAR;
    say_loss(f, v);
    return v->kind;
}

static void say_headline(const th_bottleneck_input *f, th_bottleneck *v)
{
    const th_scale_point *a = &f->base, *b = &f->last;
    if (a->threads == b->threads)
        th_append(v->text, sizeof v->text, "%u thread%s: %s characters in the 16.7 ms of a frame at 60 Hz.", b->threads,
                  th_plural(b->threads),
                  th_digits_from((uint64_t)round((double)f->characters * (1e9 / TH_FRAME_RATE) / b->frame_ns)).text);
    else
        th_append(v->text, sizeof v->text,
                  "%u threads animate %.2f times as many characters as %u: %.0f %% efficiency.", b->threads,
                  b->speed_up, a->threads, 100 * b->efficiency);
}

/* Only one thread count is not oversubscribed. */
static th_bottleneck_kind say_alone(const th_bottleneck_input *f, th_bottleneck *v)
{
    if (f->last.threads >= f->usable_cpus) {
        th_append(v->text, sizeof v->text, " Only %u CPU%s usable, so more threads cannot help.", f->usable_cpus,
                  f->usable_cpus == 1 ? " is" : "s are");
        return TH_BOTTLENECK_CPUS;
    }
    th_append(v->text, sizeof v->text,
              " Too few points: %u CPUs are usable, but no other number of threads that was measured has a CPU each.",
              f->usable_cpus);
    return TH_BOTTLENECK_UNCLEAR;
}

void th_bottleneck_analyze(const th_bottleneck_input *f, th_bottleneck *out)
{
    assert(f && out);
    assert(f->base.threads > 0 && f->base.threads <= f->last.threads);
    *out = (th_bottleneck){0};
    say_headline(f, out);
    if (f->last.threads > f->base.threads) {
        const time_account a = time_account_of(f);
        out->lost = 1 - f->last.efficiency;
        set_losses(&a, out);
    }
    if (f->last.threads == f->base.threads && f->most_threads > f->usable_cpus)
        out->kind = say_alone(f, out);
    else
        out->kind = out->lost < LITTLE ? say_scaling(f, out) : classify_loss(f, out);
    if (f->fastest_threads != f->last.threads)
        th_append(out->text, sizeof out->text, " %u thread%s fastest.", f->fastest_threads,
                  f->fastest_threads == 1 ? " is" : "s are");
    if (relative_mad_of(f) > LITTLE)
        th_append(out->text, sizeof out->text,
                  " The MAD of the repetitions is %.0f %% of the median: this is a rough result.",
                  100 * relative_mad_of(f));
}

/* What the figures of a scaling study mean, in words. */
#include <throng/bench/scale.h>
#include <throng/core/text_format.h>

#include <math.h>

/* Less than this is not worth naming; a reason is one that accounts for this part of what is lost. */
#define LITTLE 0.05
#define MOST   0.5

const char *th_limit_name(th_limit limit)
{
    static const char *const names[] = {"unclear",  "compute", "memory", "cores", "imbalance",
                                        "wake_ups", "serial",  "cpus",   "others"};
    _Static_assert(sizeof names / sizeof *names == TH_LIMIT_COUNT, "a name for each");
    return names[limit];
}

/* ---- where the time went ---- */

/* Shares of all threads' time. */
typedef struct account {
    double slower; /* the same work takes longer */
    double slower_in_cache;
    double tail, before, serial;
} account;

/* All the threads of the last point did beyond what those of the first did for the same frame, whose time is to that of
 * the last as the efficiency to 1. That a part which stays in the cache takes longer is no fault of memory. */
static account account_of(const th_scale_figures *f)
{
    const th_scale_point *a = &f->base, *b = &f->last;
    const double e = b->efficiency;
    const double cached = f->parts.work_ns[TH_ABLATION_NO_WRITE] - f->base_parts.work_ns[TH_ABLATION_NO_WRITE];
    const double working = (1 - b->serial) * b->busy;
    const double slower = fmax(0, working * (1 - a->work_ns / b->work_ns));
    return (account){
        .slower = slower,
        .slower_in_cache = fmin(slower, fmax(0, working * cached / b->work_ns)),
        .tail = fmax(0, (1 - b->serial) * b->tail - e * (1 - a->serial) * a->tail),
        .before = fmax(0, (1 - b->serial) * (1 - b->busy - b->tail) - e * (1 - a->serial) * (1 - a->busy - a->tail)),
        .serial = fmax(0, b->serial - e * a->serial),
    };
}

static void book(const account *a, th_verdict *v)
{
    v->losses[TH_LIMIT_MEMORY] = a->slower - a->slower_in_cache;
    v->losses[TH_LIMIT_CORES] = a->slower_in_cache;
    v->losses[TH_LIMIT_IMBALANCE] = a->tail;
    v->losses[TH_LIMIT_WAKE_UPS] = a->before;
    v->losses[TH_LIMIT_SERIAL] = a->serial;
}

static th_limit largest_loss(const th_verdict *v)
{
    th_limit largest = TH_LIMIT_UNCLEAR;
    for (int l = 0; l < TH_LIMIT_COUNT; l++)
        if (v->losses[l] > v->losses[largest])
            largest = (th_limit)l;
    return largest;
}

/* ---- words ---- */

/* What a frame costs because its palettes leave the cache, as a share of it. */
static double share_of_writing(const th_scale_figures *f)
{
    return 1 - f->parts.frame_ns[TH_ABLATION_NO_WRITE] / f->last.frame_ns;
}

static double slower_by(double now, double before)
{
    return 100 * (now / before - 1);
}

static void say_bandwidth(const th_scale_figures *f, th_verdict *v)
{
    const double bytes = f->palette_bytes * 1e9;
    th_append(v->text, sizeof v->text,
              " They are written at %.1f GB/s; nothing but writing them gets to %.1f, writing a large block to %.1f.",
              bytes / f->last.frame_ns / 1e9, bytes / f->parts.frame_ns[TH_ABLATION_WRITE] / 1e9,
              f->memory.bytes_per_s[TH_TRAFFIC_WRITE] / 1e9);
}

/* Next to nothing is lost between the threads: what is a single one's time? */
static th_limit say_scaling(const th_scale_figures *f, th_verdict *v)
{
    const double *parts = f->parts.frame_ns, frame = f->last.frame_ns, writing = share_of_writing(f);
    if (f->last.threads > f->base.threads)
        th_append(v->text, sizeof v->text, " Nothing worth naming is lost between them.");
    if (writing >= MOST) {
        th_append(v->text, sizeof v->text,
                  " Memory is the limit: %.0f %% of a frame goes into bringing palettes out of the cache.",
                  100 * writing);
        say_bandwidth(f, v);
        return TH_LIMIT_MEMORY;
    }
    th_append(
        v->text, sizeof v->text,
        " Computing is the limit: where palettes stay in the cache, a frame takes %.0f %% of its time; sampling alone "
        "takes %.0f %%, handing out empty chunks %.1f %%.",
        100 * fmin(1, 1 - writing), 100 * parts[TH_ABLATION_SAMPLING] / frame, 100 * parts[TH_ABLATION_EMPTY] / frame);
    return TH_LIMIT_COMPUTE;
}

static void say_loss(const th_scale_figures *f, th_verdict *v)
{
    char *const text = v->text;
    const size_t size = sizeof v->text;
    const double share = 100 * v->losses[v->limit];
    const double slower = slower_by(f->last.work_ns, f->base.work_ns);
    const double cached =
        slower_by(f->parts.work_ns[TH_ABLATION_NO_WRITE], f->base_parts.work_ns[TH_ABLATION_NO_WRITE]);
    switch (v->limit) {
    case TH_LIMIT_MEMORY:
        th_append(text, size,
                  " Memory is the limit: the same work takes %.0f %% longer in all, but %.0f %% where palettes stay in "
                  "the cache.",
                  slower, fmax(0, cached));
        say_bandwidth(f, v);
        break;
    case TH_LIMIT_CORES:
        th_append(text, size,
                  " The cores are the limit: the same work takes %.0f %% longer in all, and still %.0f %% where "
                  "palettes stay in the cache. Threads share a core, or the clock falls.",
                  slower, cached);
        break;
    case TH_LIMIT_IMBALANCE:
        th_append(text, size,
                  " Imbalance is the limit: %.0f %% of the threads' time they wait for the last one to end its part. "
                  "Over all frames the busiest works %.0f %% longer than the mean.",
                  share, 100 * f->last.imbalance);
        break;
    case TH_LIMIT_WAKE_UPS:
        th_append(text, size,
                  " Wake-ups are the limit: %.0f %% of the threads' time they wait for something to do. Empty chunks "
                  "alone take %.1f us of a frame's %.1f us.",
                  share, f->parts.frame_ns[TH_ABLATION_EMPTY] / 1e3, f->last.frame_ns / 1e3);
        break;
    case TH_LIMIT_SERIAL:
        th_append(text, size, " A serial part is the limit: %.0f %% of a frame passes outside of calls, on one thread.",
                  share);
        break;
    default:
        th_append(text, size,
                  " It is not clear why. Of the threads' time, memory explains %.0f %%, shared cores or clock %.0f %%, "
                  "imbalance %.0f %%, wake-ups %.0f %%, a serial part %.0f %%.",
                  100 * v->losses[TH_LIMIT_MEMORY], 100 * v->losses[TH_LIMIT_CORES],
                  100 * v->losses[TH_LIMIT_IMBALANCE], 100 * v->losses[TH_LIMIT_WAKE_UPS],
                  100 * v->losses[TH_LIMIT_SERIAL]);
    }
}

/* ---- the verdict ---- */

static double spread_of(const th_scale_figures *f)
{
    return fmax(f->base.spread, f->last.spread);
}

/* Other programs both slow work down and keep threads from it, so they come first; then what is too noisy to tell. */
static th_limit judge_loss(const th_scale_figures *f, th_verdict *v)
{
    if (f->others_cpus > TH_REPORT_OTHERS_CPUS) {
        th_append(v->text, sizeof v->text,
                  " Other programs used %.2f CPUs meanwhile, so this says little about the work itself.",
                  f->others_cpus);
        return TH_LIMIT_OTHERS;
    }
    if (v->lost < 2 * spread_of(f)) {
        th_append(v->text, sizeof v->text, " It is not clear why: no more is lost than repetitions differ.");
        return TH_LIMIT_UNCLEAR;
    }
    v->limit = largest_loss(v);
    if (v->losses[v->limit] < MOST * v->lost)
        v->limit = TH_LIMIT_UNCLEAR;
    say_loss(f, v);
    return v->limit;
}

static void say_headline(const th_scale_figures *f, th_verdict *v)
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

/* More threads were measured, but only with fewer CPUs than threads. */
static th_limit say_alone(const th_scale_figures *f, th_verdict *v)
{
    if (f->last.threads >= f->usable_cpus) {
        th_append(v->text, sizeof v->text, " Only %u CPU%s usable, so more threads cannot help.", f->usable_cpus,
                  f->usable_cpus == 1 ? " is" : "s are");
        return TH_LIMIT_CPUS;
    }
    th_append(v->text, sizeof v->text,
              " Too few points: %u CPUs are usable, but no other number of threads that was measured has a CPU each.",
              f->usable_cpus);
    return TH_LIMIT_UNCLEAR;
}

void th_scale_judge(const th_scale_figures *f, th_verdict *out)
{
    *out = (th_verdict){0};
    say_headline(f, out);
    if (f->last.threads > f->base.threads) {
        const account a = account_of(f);
        out->lost = 1 - f->last.efficiency;
        book(&a, out);
    }
    if (f->last.threads == f->base.threads && f->most_threads > f->usable_cpus)
        out->limit = say_alone(f, out);
    else
        out->limit = out->lost < LITTLE ? say_scaling(f, out) : judge_loss(f, out);
    if (f->fastest_threads != f->last.threads)
        th_append(out->text, sizeof out->text, " %u thread%s fastest.", f->fastest_threads,
                  f->fastest_threads == 1 ? " is" : "s are");
    if (spread_of(f) > LITTLE)
        th_append(out->text, sizeof out->text,
                  " Half of the repetitions lie further than %.0f %% from the median: take this as rough.",
                  100 * spread_of(f));
}

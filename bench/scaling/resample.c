#include "resample.h"

#include "conclusion.h"
#include "pop_factors.h"

#include <core/random.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RESAMPLES = TH_BOTTLENECK_MAX_SAMPLES };

/* Seed of the bootstrap; any value will do. */
#define SEED 2u

/* What a subject did in the drawn rounds. */
typedef struct drawn_rounds {
    th_samples frame_ns, core_clock_ns;
    th_worker_stats workers[TH_JOBS_MAX_THREADS];
} drawn_rounds;

typedef struct resampler {
    const th_experiment *s;
    uint32_t rounds;
    uint32_t *drawn;           /* [round] */
    drawn_rounds first, other; /* of the first point of a curve, and of another subject */
    th_scale_point *points;    /* of the resample in progress, as the next one */
    th_scale_parts parts[2];
    double *efficiencies;        /* [point][resample] */
    double *factors;             /* [point][factor][resample] */
    double *shares;              /* [part][ablation][resample] */
    th_bottleneck_input *inputs; /* [resample] */
} resampler;

/* ---- one resample ---- */

static void draw(resampler *r, uint64_t resample)
{
    const uint64_t seed = th_random_bits(SEED, resample);
    for (uint32_t i = 0; i < r->rounds; i++)
        r->drawn[i] = (uint32_t)((th_random_bits(seed, i) >> 32) * r->rounds >> 32);
}

/* Counters are of frames of their own, not of rounds. */
static th_scale_counts drawn_counts(const resampler *r, uint32_t config, drawn_rounds *d)
{
    const th_row *row = &r->s->out->report.rows[config];
    const th_scaling_config *c = &r->s->configs[config];
    th_scale_counts counts = th_scaling_config_counts(c, row);
    d->frame_ns.count = d->core_clock_ns.count = 0;
    memset(d->workers, 0, row->threads * sizeof *d->workers);
    for (uint32_t i = 0; i < r->rounds; i++) {
        const uint32_t round = r->drawn[i];
        th_samples_add(&d->frame_ns, row->real_ns.values[round]);
        if (round < row->core_clock_ns.count)
            th_samples_add(&d->core_clock_ns, row->core_clock_ns.values[round]);
        for (uint32_t w = 0; w < row->threads; w++)
            th_worker_add(&d->workers[w], &c->rounds[(size_t)round * row->threads + w]);
    }
    counts.workers = d->workers;
    counts.frame_ns = &d->frame_ns;
    counts.core_clock_ns = &d->core_clock_ns;
    return counts;
}

static double *factors_of(const resampler *r, uint32_t point, int factor)
{
    return &r->factors[((size_t)point * TH_POP_COUNT + (size_t)factor) * RESAMPLES];
}

static void resample_curve(resampler *r, const th_scale_curve *curve, uint32_t resample)
{
    const th_scale_counts first = drawn_counts(r, curve->first, &r->first);
    for (uint32_t i = curve->first; i < curve->first + curve->count; i++) {
        const th_scale_counts counts = drawn_counts(r, i, &r->other);
        r->points[i] = th_scale_point_of(&counts, &first, r->s->usable_cpus);
        r->points[i].pop = th_pop_of(&counts, &first);
        r->efficiencies[(size_t)i * RESAMPLES + resample] = r->points[i].efficiency;
        for (int f = 0; f < TH_POP_COUNT; f++)
            factors_of(r, i, f)[resample] = r->points[i].pop.values[f];
    }
}

static double *shares_of(const resampler *r, uint32_t part, int ablation)
{
    return &r->shares[((size_t)part * TH_ABLATION_COUNT + (size_t)ablation) * RESAMPLES];
}

static void resample_parts(resampler *r, uint32_t part, uint32_t resample)
{
    const double frame_ns = r->points[th_scale_part_point(r->s->out, part)].frame_ns;
    for (int a = 0; a < TH_ABLATION_COUNT; a++) {
        const uint32_t config = th_scale_part_row(r->s->out, part, (th_ablation)a);
        const th_scale_counts counts = drawn_counts(r, config, &r->other);
        r->parts[part].frame_ns[a] = th_samples_stats(&r->other.frame_ns).median;
        r->parts[part].work_ns[a] = th_scale_work_ns(&counts);
        shares_of(r, part, a)[resample] = r->parts[part].frame_ns[a] / frame_ns;
    }
}

/* ---- all of them ---- */

/* NaN where a value is not known. */
static th_interval interval_of(double *values)
{
    const double tail = (1 - TH_CONFIDENCE) / 2;
    for (uint32_t i = 0; i < RESAMPLES; i++)
        if (isnan(values[i]))
            return (th_interval){(double)NAN, (double)NAN};
    return (th_interval){th_quantile(values, RESAMPLES, tail), th_quantile(values, RESAMPLES, 1 - tail)};
}

static void set_intervals(const resampler *r)
{
    th_scale *out = r->s->out;
    for (uint32_t i = 0; i < out->point_count; i++) {
        out->points[i].efficiency_interval = interval_of(&r->efficiencies[(size_t)i * RESAMPLES]);
        for (int f = 0; f < TH_POP_COUNT; f++)
            out->points[i].pop.intervals[f] = interval_of(factors_of(r, i, f));
    }
    for (uint32_t part = 0; part < out->part_count; part++)
        for (int a = 0; a < TH_ABLATION_COUNT; a++) {
            const th_interval share = interval_of(shares_of(r, part, a));
            out->parts[part].shares[a].low = share.low;
            out->parts[part].shares[a].high = share.high;
        }
}

static void resample(resampler *r)
{
    const th_scale *out = r->s->out;
    for (uint32_t i = 0; i < RESAMPLES; i++) {
        draw(r, i);
        for (uint32_t c = 0; c < out->curve_count; c++)
            resample_curve(r, &out->curves[c], i);
        for (uint32_t part = 0; part < out->part_count; part++)
            resample_parts(r, part, i);
        r->inputs[i] = th_scale_input(r->s->out, r->points, r->parts);
    }
    set_intervals(r);
}

static bool allocate(resampler *r)
{
    const th_scale *out = r->s->out;
    r->drawn = calloc(r->rounds, sizeof *r->drawn);
    r->points = calloc(out->point_count, sizeof *r->points);
    r->efficiencies = calloc(out->point_count, RESAMPLES * sizeof *r->efficiencies);
    r->factors = calloc(out->point_count, TH_POP_COUNT * RESAMPLES * sizeof *r->factors);
    r->shares = calloc(2 * TH_ABLATION_COUNT, RESAMPLES * sizeof *r->shares);
    r->inputs = calloc(RESAMPLES, sizeof *r->inputs);
    bool has_room = r->drawn && r->points && r->efficiencies && r->factors && r->shares && r->inputs;
    drawn_rounds *const both[] = {&r->first, &r->other};
    for (int i = 0; i < 2; i++)
        has_room = th_samples_init(&both[i]->frame_ns, r->rounds) &&
                   th_samples_init(&both[i]->core_clock_ns, r->rounds) && has_room;
    return has_room;
}

static void release(resampler *r)
{
    th_samples_fini(&r->first.frame_ns);
    th_samples_fini(&r->first.core_clock_ns);
    th_samples_fini(&r->other.frame_ns);
    th_samples_fini(&r->other.core_clock_ns);
    free(r->drawn);
    free(r->points);
    free(r->efficiencies);
    free(r->factors);
    free(r->shares);
    free(r->inputs);
}

/* The values themselves; intervals are unknown until there are resamples. */
static void set_values(const th_experiment *s)
{
    th_scale *out = s->out;
    for (uint32_t i = 0; i < out->point_count; i++)
        out->points[i].efficiency_interval = (th_interval){(double)NAN, (double)NAN};
    for (uint32_t part = 0; part < out->part_count; part++)
        for (int a = 0; a < TH_ABLATION_COUNT; a++)
            out->parts[part].shares[a] =
                (th_estimate){out->parts[part].frame_ns[a] / out->points[th_scale_part_point(out, part)].frame_ns,
                              (double)NAN, (double)NAN};
}

/* All subjects have the same rounds, except those that failed. */
static uint32_t rounds_of(const th_experiment *s)
{
    uint32_t rounds = TH_MEASURE_MAX_ROUNDS;
    for (uint32_t i = 0; i < th_experiment_config_count(s); i++) {
        const th_row *row = &s->out->report.rows[i];
        if (!row->failure[0])
            rounds = row->real_ns.count < rounds ? row->real_ns.count : rounds;
    }
    return rounds;
}

th_result th_scale_resample(const th_experiment *s, th_error *err)
{
    th_scale *out = s->out;
    resampler r = {.s = s, .rounds = rounds_of(s)};
    const bool has_room = allocate(&r);
    set_values(s);
    const bool has_rounds = r.rounds > 1 && !th_report_failure(&out->report);
    if (has_room && has_rounds)
        resample(&r);
    if (has_room)
        th_scale_conclude(out, r.inputs, has_rounds ? RESAMPLES : 0, false);
    release(&r);
    return has_room ? TH_OK : th_fail(err, TH_ERR_MEMORY, "no memory to resample %u rounds", r.rounds);
}

#include "resample.h"

#include "conclusion.h"

#include <throng/core/random.h>

#include <math.h>
#include <stdlib.h>

enum { RESAMPLES = TH_BOTTLENECK_MAX_SAMPLES };

/* Seed of the bootstrap; any value will do. */
#define SEED 2u

typedef struct resampler {
    const th_experiment *s;
    uint32_t rounds;
    uint32_t *drawn; /* [round] */
    th_samples first,
        other; /* frame times in the drawn rounds: of the first point of a curve, and of another subject */
    th_worker_stats first_workers[TH_JOBS_MAX_THREADS], other_workers[TH_JOBS_MAX_THREADS];
    th_scale_point *points; /* of the resample in progress, as the next one */
    th_scale_parts parts[2];
    double *efficiencies;        /* [point][resample] */
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

/* What a subject counted in the drawn rounds. The counters of all its threads go to one, which is enough for all
 * figures but the imbalance. */
static th_scale_counts drawn_counts(const resampler *r, uint32_t config, th_samples *frames, th_worker_stats *workers)
{
    const th_row *row = &r->s->out->report.rows[config];
    frames->count = 0;
    workers[0] = (th_worker_stats){0};
    for (uint32_t i = 0; i < r->rounds; i++) {
        const th_worker_stats *round = &r->s->configs[config].rounds[r->drawn[i]];
        th_samples_add(frames, row->real_ns.values[r->drawn[i]]);
        workers[0].busy_ns += round->busy_ns;
        workers[0].idle_ns += round->idle_ns;
        workers[0].idle_at_end_ns += round->idle_at_end_ns;
    }
    return (th_scale_counts){.workers = workers,
                             .frame_ns = frames,
                             .iterations = row->iterations,
                             .threads = row->threads,
                             .characters = row->characters};
}

static void resample_curve(resampler *r, const th_scale_curve *curve, uint32_t resample)
{
    const th_scale_counts first = drawn_counts(r, curve->first, &r->first, r->first_workers);
    for (uint32_t i = curve->first; i < curve->first + curve->count; i++) {
        const th_scale_counts counts = drawn_counts(r, i, &r->other, r->other_workers);
        r->points[i] = th_scale_point_of(&counts, &first, r->s->usable_cpus);
        r->efficiencies[(size_t)i * RESAMPLES + resample] = r->points[i].efficiency;
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
        const th_scale_counts counts = drawn_counts(r, config, &r->other, r->other_workers);
        r->parts[part].frame_ns[a] = th_samples_stats(&r->other).median;
        r->parts[part].work_ns[a] = th_scale_work_ns(&counts);
        shares_of(r, part, a)[resample] = r->parts[part].frame_ns[a] / frame_ns;
    }
}

/* ---- all of them ---- */

static th_interval interval_of(double *values)
{
    const double tail = (1 - TH_CONFIDENCE) / 2;
    return (th_interval){th_quantile(values, RESAMPLES, tail), th_quantile(values, RESAMPLES, 1 - tail)};
}

static void set_intervals(const resampler *r)
{
    th_scale *out = r->s->out;
    for (uint32_t i = 0; i < out->point_count; i++)
        out->points[i].efficiency_interval = interval_of(&r->efficiencies[(size_t)i * RESAMPLES]);
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
    r->shares = calloc(2 * TH_ABLATION_COUNT, RESAMPLES * sizeof *r->shares);
    r->inputs = calloc(RESAMPLES, sizeof *r->inputs);
    return th_samples_init(&r->first, r->rounds) && th_samples_init(&r->other, r->rounds) && r->drawn && r->points &&
           r->efficiencies && r->shares && r->inputs;
}

static void release(resampler *r)
{
    th_samples_fini(&r->first);
    th_samples_fini(&r->other);
    free(r->drawn);
    free(r->points);
    free(r->efficiencies);
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

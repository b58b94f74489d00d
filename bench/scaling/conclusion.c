/* What follows from the figures of a scaling experiment. Of one process its rounds are resampled; of several each is
 * one sample of each figure. */
#include "experiment.h"

#include "measure/memory_bandwidth.h"
#include "report/figures.h"

#include <bench/student.h>
#include <core/random.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Seeds of the bootstraps; any values will do. */
#define FIT_SEED      1u
#define RESAMPLE_SEED 2u

/* ---- fits ---- */

/* Fits the points that are valid and not oversubscribed; none of weak scaling, which is not what the laws say. */
th_result th_scale_fit(th_scale *scale, th_error *err)
{
    for (th_scale_curve *curve = scale->curves; curve < scale->curves + scale->curve_count; curve++) {
        th_samples medians[TH_JOBS_MAX_THREADS] = {{0}};
        th_fit_point points[TH_JOBS_MAX_THREADS];
        uint32_t count = 0;
        for (uint32_t i = 0; i < curve->count && !scale->is_weak; i++) {
            const th_row *row = &scale->report.rows[curve->first + i];
            if (row->failure[0] || scale->points[curve->first + i].oversubscribed)
                continue;
            if (row->process_count > 1)
                medians[i] = th_row_medians(row);
            const th_samples *times = row->process_count > 1 ? &medians[i] : &row->real_ns;
            if (times->count > 0)
                points[count++] = (th_fit_point){row->threads, (double)row->characters, times->values, times->count};
        }
        bool room = true;
        for (int law = 0; law < TH_FIT_LAW_COUNT && room; law++)
            room = th_fit_run((th_fit_law)law, points, count, FIT_SEED, &curve->fits[law]);
        for (uint32_t i = 0; i < curve->count; i++)
            th_samples_fini(&medians[i]);
        if (!room)
            return th_fail(err, TH_ERR_MEMORY, "no memory to fit a law to %u points", count);
    }
    return TH_OK;
}

/* ---- rows ---- */

static void set_own(th_row *row, json_t *own)
{
    json_decref(row->own);
    row->own = own;
}

void th_scale_describe_rows(th_scale *scale)
{
    th_row *rows = scale->report.rows;
    for (uint32_t c = 0; c < scale->curve_count; c++)
        for (uint32_t i = scale->curves[c].first; i < scale->curves[c].first + scale->curves[c].count; i++)
            if (!rows[i].failure[0]) {
                rows[i].impossible = scale->points[i].efficiency > TH_REPORT_MAX_EFFICIENCY ? "efficiency" : NULL;
                set_own(&rows[i], th_scale_own_json(scale, &scale->curves[c], i));
            }
    for (uint32_t p = 0; p < scale->part_count; p++)
        for (int a = 0; a < TH_ABLATION_COUNT; a++)
            set_own(&rows[th_scale_part_row(scale, p, (th_ablation)a)],
                    json_pack("{s:o}", "work_us_per_frame", th_json_real(scale->parts[p].work_ns[a] / 1000)));
    for (uint32_t i = 0; i < scale->memory_count; i++)
        for (uint32_t k = 0; k < th_bandwidth_kind_count(); k++)
            set_own(&rows[th_scale_memory_row(scale, i, (th_bandwidth_kind)k)],
                    json_pack("{s:o}", "bytes_per_second", th_json_real(scale->memory[i].bytes_per_s[k])));
}

/* ---- the bottleneck ---- */

th_bottleneck_input th_scale_input(const th_scale *scale, const th_scale_point *points, const th_scale_parts *parts)
{
    const uint32_t last = th_scale_part_point(scale, 1);
    const th_scale_point *fastest = points; /* by time a character */
    for (const th_scale_point *p = points + 1; p <= points + last; p++)
        fastest = p->frame_ns / p->characters < fastest->frame_ns / fastest->characters ? p : fastest;
    th_bottleneck_input input = {
        .usable_cpus = scale->report.context.cpus.usable,
        .most_threads = points[scale->curves[0].count - 1].threads,
        .fastest_threads = fastest->threads,
        .interference = scale->report.interference,
        .characters = points[last].characters,
        .palette_bytes = (double)scale->palette_bytes,
        .base = points[0],
        .last = points[last],
        .base_parts = parts[0],
        .parts = parts[scale->part_count - 1],
        .memory = scale->memory[scale->memory_count - 1],
    };
    const double growth = (double)points[last].characters / points[0].characters;
    input.base.work_ns *= growth;
    for (int a = 0; a < TH_ABLATION_COUNT; a++)
        input.base_parts.work_ns[a] *= growth;
    return input;
}

void th_scale_conclude(th_scale *scale, const th_bottleneck_input *samples, uint32_t count, bool are_processes)
{
    const th_bottleneck_input figures = th_scale_input(scale, scale->points, scale->parts);
    th_bottleneck *out = &scale->bottleneck;
    if (scale->report.is_partial)
        snprintf(out->text, sizeof out->text, "The measurement was interrupted, so the bottleneck is unknown.");
    else if (th_report_failure(&scale->report))
        snprintf(out->text, sizeof out->text, "A check failed, so the times mean nothing.");
    else
        th_bottleneck_analyze(&figures, samples, count, are_processes, out);
}

/* ---- resampled rounds ---- */

enum { RESAMPLES = TH_BOTTLENECK_MAX_SAMPLES };

/* What a subject did in the drawn rounds. */
typedef struct drawn_rounds {
    th_samples frame_ns, core_clock_ns;
    th_worker_stats workers[TH_JOBS_MAX_THREADS];
} drawn_rounds;

/* The counts of a config in `count` drawn rounds. Counters are of frames of their own, not of rounds. */
static th_scale_counts counts_of(const th_experiment *s, uint32_t config, const uint32_t *drawn, uint32_t count,
                                 drawn_rounds *d)
{
    const th_row *row = &s->out->report.rows[config];
    const th_scaling_config *c = &s->configs[config];
    th_scale_counts counts = th_scaling_config_counts(c, row);
    d->frame_ns.count = d->core_clock_ns.count = 0;
    memset(d->workers, 0, row->threads * sizeof *d->workers);
    for (uint32_t i = 0; i < count; i++) {
        th_samples_add(&d->frame_ns, row->real_ns.values[drawn[i]]);
        if (drawn[i] < row->core_clock_ns.count)
            th_samples_add(&d->core_clock_ns, row->core_clock_ns.values[drawn[i]]);
        for (uint32_t w = 0; w < row->threads; w++)
            th_worker_add(&d->workers[w], &c->rounds[(size_t)drawn[i] * row->threads + w]);
    }
    counts.workers = d->workers;
    counts.frame_ns = &d->frame_ns;
    counts.core_clock_ns = &d->core_clock_ns;
    return counts;
}

/* NaN where a value is not known. */
static th_interval interval_of(double values[RESAMPLES])
{
    const double tail = (1 - TH_CONFIDENCE) / 2;
    for (uint32_t i = 0; i < RESAMPLES; i++)
        if (isnan(values[i]))
            return (th_interval){(double)NAN, (double)NAN};
    return (th_interval){th_quantile(values, RESAMPLES, tail), th_quantile(values, RESAMPLES, 1 - tail)};
}

th_result th_scale_resample(const th_experiment *s, th_error *err)
{
    th_scale *out = s->out;
    const th_interval unknown = {(double)NAN, (double)NAN};
    uint32_t rounds = TH_MEASURE_MAX_ROUNDS; /* of all subjects that did not fail */
    for (uint32_t i = 0; i < s->config_count; i++) {
        const th_row *row = &out->report.rows[i];
        if (!row->failure[0])
            rounds = row->real_ns.count < rounds ? row->real_ns.count : rounds;
    }
    for (uint32_t i = 0; i < out->point_count; i++)
        out->points[i].efficiency_interval = unknown;
    for (uint32_t part = 0; part < out->part_count; part++)
        for (int a = 0; a < TH_ABLATION_COUNT; a++)
            out->parts[part].shares[a] =
                (th_estimate){out->parts[part].frame_ns[a] / out->points[th_scale_part_point(out, part)].frame_ns,
                              unknown.low, unknown.high};

    th_arena *arena = th_arena_create();
    uint32_t *drawn = th_arena_new(arena, uint32_t, rounds);
    drawn_rounds *first = th_arena_new(arena, drawn_rounds, 1), *other = th_arena_new(arena, drawn_rounds, 1);
    th_scale_point *points = th_arena_new(arena, th_scale_point, out->point_count); /* of a resample */
    double(*efficiencies)[RESAMPLES] = th_arena_alloc(arena, out->point_count, sizeof *efficiencies);
    double(*factors)[TH_POP_COUNT][RESAMPLES] = th_arena_alloc(arena, out->point_count, sizeof *factors);
    double(*shares)[TH_ABLATION_COUNT][RESAMPLES] = th_arena_alloc(arena, 2, sizeof *shares);
    th_bottleneck_input *inputs = th_arena_new(arena, th_bottleneck_input, RESAMPLES);
    bool has_room = !th_arena_failed(arena);
    for (int i = 0; i < 2 && has_room; i++) {
        drawn_rounds *d = i == 0 ? first : other;
        has_room = th_samples_init(&d->frame_ns, rounds);
        has_room = th_samples_init(&d->core_clock_ns, rounds) && has_room;
    }
    const bool has_rounds = rounds > 1 && !th_report_failure(&out->report);
    for (uint32_t n = 0; n < RESAMPLES && has_room && has_rounds; n++) {
        const uint64_t seed = th_random_bits(RESAMPLE_SEED, n);
        for (uint32_t i = 0; i < rounds; i++)
            drawn[i] = (uint32_t)((th_random_bits(seed, i) >> 32) * rounds >> 32);
        if (out->has_loop)
            counts_of(s, th_scale_loop_row(out), drawn, rounds, other);
        const double loop_ns = th_samples_stats(&other->frame_ns).median; /* if there is one */
        for (const th_scale_curve *curve = out->curves; curve < out->curves + out->curve_count; curve++) {
            const bool has_loop = th_experiment_has_loop(s, (uint32_t)(curve - out->curves));
            const th_scale_counts base = counts_of(s, curve->first, drawn, rounds, first);
            for (uint32_t i = curve->first; i < curve->first + curve->count; i++) {
                const th_scale_counts counts = counts_of(s, i, drawn, rounds, other);
                points[i] = th_scale_point_of(&counts, &base, has_loop ? loop_ns : (double)NAN, s->usable_cpus);
                points[i].pop = th_pop_of(&counts, &base);
                efficiencies[i][n] = points[i].efficiency;
                for (int f = 0; f < TH_POP_COUNT; f++)
                    factors[i][f][n] = points[i].pop.values[f];
            }
        }
        th_scale_parts parts[2] = {{0}};
        for (uint32_t part = 0; part < out->part_count; part++)
            for (int a = 0; a < TH_ABLATION_COUNT; a++) {
                const uint32_t config = th_scale_part_row(out, part, (th_ablation)a);
                const th_scale_counts counts = counts_of(s, config, drawn, rounds, other);
                parts[part].frame_ns[a] = th_samples_stats(&other->frame_ns).median;
                parts[part].work_ns[a] = th_scale_work_ns(&counts);
                shares[part][a][n] = parts[part].frame_ns[a] / points[th_scale_part_point(out, part)].frame_ns;
            }
        inputs[n] = th_scale_input(out, points, parts);
    }
    for (uint32_t i = 0; i < out->point_count && has_room && has_rounds; i++) {
        out->points[i].efficiency_interval = interval_of(efficiencies[i]);
        for (int f = 0; f < TH_POP_COUNT; f++)
            out->points[i].pop.intervals[f] = interval_of(factors[i][f]);
    }
    for (uint32_t part = 0; part < out->part_count && has_room && has_rounds; part++)
        for (int a = 0; a < TH_ABLATION_COUNT; a++) {
            const th_interval share = interval_of(shares[part][a]);
            out->parts[part].shares[a].low = share.low;
            out->parts[part].shares[a].high = share.high;
        }
    if (has_room)
        th_scale_conclude(out, inputs, has_rounds ? RESAMPLES : 0, false);
    for (int i = 0; i < 2 && first && other; i++) {
        th_samples_fini(i == 0 ? &first->frame_ns : &other->frame_ns);
        th_samples_fini(i == 0 ? &first->core_clock_ns : &other->core_clock_ns);
    }
    th_arena_destroy(arena);
    return has_room ? TH_OK : th_fail(err, TH_ERR_MEMORY, "no memory to resample %u rounds", rounds);
}

/* ---- several processes ---- */

/* The first of an entry's rows, all of which have the fields of its own. */
static const json_t *row_named(const th_result_file *results, const char *name)
{
    const json_t *row;
    size_t index;
    json_array_foreach(json_object_get(results->document, "benchmarks"), index, row)
    {
        const char *own = json_string_value(json_object_get(row, "run_name"));
        if (own && strcmp(own, name) == 0)
            return row;
    }
    return NULL;
}

static double number_of(const json_t *row, const char *name)
{
    const json_t *value = json_object_get(row, name);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

th_result th_scale_merge(th_scale *scale, const th_result_file *results, th_error *err)
{
    assert(scale && results);
    th_result result = th_result_file_merge_into(results, &scale->report, err);
    if (result != TH_OK || scale->report.is_dry_run)
        return result;
    if (th_report_failure(&scale->report)) {
        th_scale_conclude(scale, NULL, 0, true);
        return TH_OK;
    }

    /* A copy of the figures that the scale holds, with those of another process in their place; and the means of all.
     */
    const uint32_t count = scale->report.process_count, last = count - 1;
    const bool is_second = !scale->processes;
    if (is_second)
        scale->processes = calloc(TH_REPORT_MAX_PROCESSES, sizeof *scale->processes);
    bool room = scale->processes;
    for (uint32_t p = is_second ? 0 : last; p <= last && room; p++) { /* the second one brings the first with it */
        th_scale_process *process = &scale->processes[p];
        *process =
            (th_scale_process){calloc(scale->point_count, sizeof *process->points), {scale->parts[0], scale->parts[1]}};
        room = process->points;
        if (room)
            memcpy(process->points, scale->points, scale->point_count * sizeof *process->points);
    }
    if (!room)
        return th_fail(err, TH_ERR_MEMORY, "no memory for the figures of %s", results->name);
    th_scale_process *process = &scale->processes[last];
    double values[TH_REPORT_MAX_PROCESSES];
    for (const th_scale_curve *curve = scale->curves; curve < scale->curves + scale->curve_count; curve++)
        for (uint32_t i = curve->first; i < curve->first + curve->count; i++) {
            /* Fields that become means, and what follows from the samples. */
            const char *name = scale->report.rows[i].name;
            const json_t *row = row_named(results, name);
            const th_stats frame = th_samples_stats(&th_result_file_find(results, name)->real_ns);
            th_scale_point *point = &process->points[i];
            th_scale_figures figures;
            th_scale_figures_of(scale, curve, i, point, false, &figures);
            for (uint32_t f = 0; f < figures.count; f++) {
                const char *field = figures.all[f].name;
                const th_value *value = &figures.all[f].value;
                if (!field || !value->mean)
                    continue;
                if (value->kind != TH_VALUE_REALS)
                    *value->mean = number_of(row, field) * value->json_unit;
                for (uint32_t v = 0; value->kind == TH_VALUE_REALS && v < value->count; v++)
                    value->mean[v] = number_of(json_object_get(row, field), value->name(v));
            }
            point->frame_ns = frame.median;
            point->relative_mad = th_stats_relative_mad(&frame);

            /* The means, at the same place in the point of each process. */
            th_scale_figures_of(scale, curve, i, &scale->points[i], false, &figures);
            for (uint32_t f = 0; f < figures.count; f++) {
                const th_value *value = &figures.all[f].value;
                const uint32_t reals = value->kind == TH_VALUE_REALS ? (uint32_t)value->count : 1;
                for (uint32_t v = 0; v < reals && value->mean; v++) {
                    const size_t place = (size_t)((char *)&value->mean[v] - (char *)&scale->points[i]);
                    uint32_t known = 0; /* but for processes that left the figure out */
                    for (uint32_t p = 0; p < count; p++) {
                        memcpy(&values[known], (char *)&scale->processes[p].points[i] + place, sizeof *values);
                        known += isnan(values[known]) ? 0 : 1;
                    }
                    const th_estimate mean = th_student_mean(values, known);
                    value->mean[v] = mean.value;
                    if (value->interval)
                        value->interval[v] = (th_interval){mean.low, mean.high};
                }
            }
        }
    for (uint32_t part = 0; part < scale->part_count; part++)
        for (int a = 0; a < TH_ABLATION_COUNT; a++) {
            double works[TH_REPORT_MAX_PROCESSES], shares[TH_REPORT_MAX_PROCESSES];
            const char *name = scale->report.rows[th_scale_part_row(scale, part, (th_ablation)a)].name;
            th_scale_parts *parts = &process->parts[part];
            parts->frame_ns[a] = th_samples_stats(&th_result_file_find(results, name)->real_ns).median;
            parts->work_ns[a] = number_of(row_named(results, name), "work_us_per_frame") * 1e3;
            parts->shares[a].value = parts->frame_ns[a] / process->points[th_scale_part_point(scale, part)].frame_ns;
            for (uint32_t p = 0; p < count; p++) {
                const th_scale_parts *each = &scale->processes[p].parts[part];
                values[p] = each->frame_ns[a];
                works[p] = each->work_ns[a];
                shares[p] = each->shares[a].value;
            }
            scale->parts[part].frame_ns[a] = th_student_mean(values, count).value;
            scale->parts[part].work_ns[a] = th_student_mean(works, count).value;
            scale->parts[part].shares[a] = th_student_mean(shares, count);
        }
    for (uint32_t i = 0; i < scale->memory_count; i++)
        for (uint32_t k = 0; k < th_bandwidth_kind_count(); k++) {
            const char *name = scale->report.rows[th_scale_memory_row(scale, i, (th_bandwidth_kind)k)].name;
            double *mean = &scale->memory[i].bytes_per_s[k];
            const double own = th_scale_bytes_per_s(scale->memory_bytes, &th_result_file_find(results, name)->real_ns);
            *mean += (own - *mean) / count;
        }

    result = th_scale_fit(scale, err);
    th_scale_describe_rows(scale);
    th_bottleneck_input inputs[TH_REPORT_MAX_PROCESSES];
    uint32_t known = 0;
    for (uint32_t p = 0; p < count; p++) {
        inputs[known] = th_scale_input(scale, scale->processes[p].points, scale->processes[p].parts);
        known += isnan(inputs[known].last.efficiency) ? 0 : 1;
    }
    th_scale_conclude(scale, inputs, known, true);
    return result;
}

#include "conclusion.h"

#include "experiment.h"
#include "measure/memory_bandwidth.h"
#include "report/figures.h"

#include <core/json.h>

#include <assert.h>

/* Seed of the bootstrap; any value will do. */
#define FIT_SEED 1u

/* ---- fits ---- */

/* Fits the points that are valid and not oversubscribed; none of weak scaling, which is not what the laws say. medians:
 * room for those of each point. */
static th_result fit_curve(const th_scale *scale, th_scale_curve *curve, th_samples *medians, th_error *err)
{
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
    for (int law = 0; law < TH_FIT_LAW_COUNT; law++)
        if (!th_fit_run((th_fit_law)law, points, count, FIT_SEED, &curve->fits[law]))
            return th_fail(err, TH_ERR_MEMORY, "no memory to fit a law to %u points", count);
    return TH_OK;
}

th_result th_scale_fit(th_scale *scale, th_error *err)
{
    th_result result = TH_OK;
    for (uint32_t c = 0; c < scale->curve_count && result == TH_OK; c++) {
        th_samples medians[TH_JOBS_MAX_THREADS] = {{0}};
        result = fit_curve(scale, &scale->curves[c], medians, err);
        for (uint32_t i = 0; i < scale->curves[c].count; i++)
            th_samples_fini(&medians[i]);
    }
    return result;
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
            if (!rows[i].failure[0])
                set_own(&rows[i], th_scale_own_json(scale, &scale->curves[c], i));
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

/* Time a character. */
static double cost_of(const th_scale_point *p)
{
    return p->frame_ns / p->characters;
}

th_bottleneck_input th_scale_input(const th_scale *scale, const th_scale_point *points, const th_scale_parts *parts)
{
    const uint32_t last = th_scale_part_point(scale, 1);
    uint32_t fastest = 0;
    for (uint32_t i = 1; i <= last; i++)
        fastest = cost_of(&points[i]) < cost_of(&points[fastest]) ? i : fastest;
    th_bottleneck_input input = {
        .usable_cpus = scale->report.context.cpus.usable,
        .most_threads = points[scale->curves[0].count - 1].threads,
        .fastest_threads = points[fastest].threads,
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
        snprintf(out->text, sizeof out->text, "The palettes are wrong, so the times mean nothing.");
    else
        th_bottleneck_analyze(&figures, samples, count, are_processes, out);
}

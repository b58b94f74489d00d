/* Merges the scaling experiments of several processes. A process is one sample of each figure. */
#include "conclusion.h"
#include "experiment.h"
#include "measure/memory_bandwidth.h"
#include "report/figures.h"
#include "scale_figures.h"

#include <bench/student.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one process ---- */

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

/* Fields that become means, and what follows from the samples. */
static void read_point(const th_scale *scale, const th_scale_curve *curve, uint32_t index,
                       const th_result_file *results, th_scale_point *point)
{
    const char *name = scale->report.rows[index].name;
    const json_t *row = row_named(results, name);
    const th_stats frame = th_samples_stats(&th_result_file_find(results, name)->real_ns);
    th_scale_figures figures;
    th_scale_figures_of(scale, curve, index, point, false, &figures);
    for (uint32_t f = 0; f < figures.count; f++) {
        const char *field = figures.all[f].name;
        const th_value *value = &figures.all[f].value;
        if (!field || !value->mean)
            continue;
        if (value->kind == TH_VALUE_REALS)
            for (uint32_t i = 0; i < value->count; i++)
                value->mean[i] = number_of(json_object_get(row, field), value->name(i));
        else
            *value->mean = number_of(row, field) * value->json_unit;
    }
    point->frame_ns = frame.median;
    point->relative_mad = th_stats_relative_mad(&frame);
}

static void read_parts(const th_scale *scale, const th_result_file *results, uint32_t part, th_scale_process *out)
{
    for (int a = 0; a < TH_ABLATION_COUNT; a++) {
        const char *name = scale->report.rows[th_scale_part_row(scale, part, (th_ablation)a)].name;
        th_scale_parts *parts = &out->parts[part];
        parts->frame_ns[a] = th_samples_stats(&th_result_file_find(results, name)->real_ns).median;
        parts->work_ns[a] = number_of(row_named(results, name), "work_us_per_frame") * 1e3;
        parts->shares[a].value = parts->frame_ns[a] / out->points[th_scale_part_point(scale, part)].frame_ns;
    }
}

/* A copy of the figures that the scale holds. */
static bool copy_figures(const th_scale *scale, th_scale_process *out)
{
    *out = (th_scale_process){calloc(scale->point_count, sizeof *out->points), {scale->parts[0], scale->parts[1]}};
    if (out->points)
        memcpy(out->points, scale->points, scale->point_count * sizeof *out->points);
    return out->points != NULL;
}

static bool add_process(th_scale *scale, const th_result_file *results)
{
    const bool is_second = !scale->processes;
    if (is_second)
        scale->processes = calloc(TH_REPORT_MAX_PROCESSES, sizeof *scale->processes);
    if (!scale->processes || (is_second && !copy_figures(scale, &scale->processes[0])))
        return false;
    th_scale_process *process = &scale->processes[scale->report.process_count - 1];
    if (!copy_figures(scale, process))
        return false;
    for (const th_scale_curve *curve = scale->curves; curve < scale->curves + scale->curve_count; curve++)
        for (uint32_t i = curve->first; i < curve->first + curve->count; i++)
            read_point(scale, curve, i, results, &process->points[i]);
    for (uint32_t part = 0; part < scale->part_count; part++)
        read_parts(scale, results, part, process);
    return true;
}

/* ---- all of them ---- */

static void set_point(th_scale *scale, const th_scale_curve *curve, uint32_t index)
{
    th_scale_point *point = &scale->points[index];
    th_scale_figures figures;
    th_scale_figures_of(scale, curve, index, point, false, &figures);
    for (uint32_t f = 0; f < figures.count; f++) {
        const th_value *value = &figures.all[f].value;
        const uint32_t count = value->kind == TH_VALUE_REALS ? (uint32_t)value->count : 1;
        for (uint32_t i = 0; i < count && value->mean; i++) {
            /* At the same place in the point of each process. */
            const size_t place = (size_t)((char *)&value->mean[i] - (char *)point);
            double values[TH_REPORT_MAX_PROCESSES];
            for (uint32_t p = 0; p < scale->report.process_count; p++)
                memcpy(&values[p], (char *)&scale->processes[p].points[index] + place, sizeof values[p]);
            const th_estimate mean = th_student_mean(values, scale->report.process_count);
            value->mean[i] = mean.value;
            if (value->interval)
                value->interval[i] = (th_interval){mean.low, mean.high};
        }
    }
}

static void set_ablation(th_scale *scale, uint32_t part, int a)
{
    const uint32_t count = scale->report.process_count;
    double frames[TH_REPORT_MAX_PROCESSES], works[TH_REPORT_MAX_PROCESSES], shares[TH_REPORT_MAX_PROCESSES];
    for (uint32_t p = 0; p < count; p++) {
        const th_scale_parts *parts = &scale->processes[p].parts[part];
        frames[p] = parts->frame_ns[a];
        works[p] = parts->work_ns[a];
        shares[p] = parts->shares[a].value;
    }
    scale->parts[part].frame_ns[a] = th_student_mean(frames, count).value;
    scale->parts[part].work_ns[a] = th_student_mean(works, count).value;
    scale->parts[part].shares[a] = th_student_mean(shares, count);
}

static void set_memory(th_scale *scale, const th_result_file *results)
{
    for (uint32_t i = 0; i < scale->memory_count; i++)
        for (uint32_t k = 0; k < th_bandwidth_kind_count(); k++) {
            const char *name = scale->report.rows[th_scale_memory_row(scale, i, (th_bandwidth_kind)k)].name;
            double *mean = &scale->memory[i].bytes_per_s[k];
            const double own = th_scale_bytes_per_s(scale->memory_bytes, &th_result_file_find(results, name)->real_ns);
            *mean += (own - *mean) / scale->report.process_count;
        }
}

static void set_figures(th_scale *scale, const th_result_file *results)
{
    for (const th_scale_curve *curve = scale->curves; curve < scale->curves + scale->curve_count; curve++)
        for (uint32_t i = curve->first; i < curve->first + curve->count; i++)
            set_point(scale, curve, i);
    for (uint32_t part = 0; part < scale->part_count; part++)
        for (int a = 0; a < TH_ABLATION_COUNT; a++)
            set_ablation(scale, part, a);
    set_memory(scale, results);
}

static void conclude(th_scale *scale)
{
    th_bottleneck_input inputs[TH_REPORT_MAX_PROCESSES];
    for (uint32_t p = 0; p < scale->report.process_count; p++)
        inputs[p] = th_scale_input(scale, scale->processes[p].points, scale->processes[p].parts);
    th_scale_conclude(scale, inputs, scale->report.process_count, true);
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
    if (!add_process(scale, results))
        return th_fail(err, TH_ERR_MEMORY, "no memory for the figures of %s", results->name);
    set_figures(scale, results);
    result = th_scale_fit(scale, err);
    th_scale_describe_rows(scale);
    conclude(scale);
    return result;
}

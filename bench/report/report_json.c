/* A report as JSON and as CSV. */
#include "row_figures.h"
#include "row_interval.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const double unknown_ns = (double)NAN;

static double unit_ns(const th_row *row)
{
    return strcmp(row->time_unit, "ms") == 0 ? 1e6 : strcmp(row->time_unit, "us") == 0 ? 1e3 : 1;
}

/* The figures of an entry with its own fields. */
static json_t *own_json(th_row_view view, const th_report *report, const th_row *row, double ns)
{
    th_sheet sheet = th_sheet_json(view);
    th_row_add(&sheet, report, row, ns);
    json_t *json = th_sheet_object(&sheet);
    return row->own ? th_json_merge(json, json_copy(row->own)) : json;
}

/* A JSON row. suffix: of its name. ns: time of an iteration; NULL: the row is not about one. */
static json_t *begin_row(const th_report *report, const th_row *row, const char *suffix, const char *type,
                         const double *ns)
{
    char name[sizeof row->name + 32];
    snprintf(name, sizeof name, "%s%s", row->name, suffix);
    json_t *json =
        json_pack("{s:o, s:i, s:i, s:o, s:s, s:i, s:i}", "name", th_json_text(name), "family_index",
                  (int)(row - report->rows), "per_family_instance_index", 0, "run_name", th_json_text(row->name),
                  "run_type", type, "repetitions", (int)row->real_ns.count, "threads", (int)row->threads);
    return ns ? th_json_merge(json, own_json(TH_ROW_JSON, report, row, *ns)) : json;
}

static json_t *add_times(json_t *json, const th_row *row, uint32_t iterations, double real, double cpu)
{
    return th_json_merge(json, json_pack("{s:i, s:o, s:o, s:s}", "iterations", (int)iterations, "real_time",
                                         th_json_real(real), "cpu_time", th_json_real(cpu), "time_unit",
                                         row->time_unit ? row->time_unit : "ns"));
}

static uint32_t process_of(const th_row *row, uint32_t sample)
{
    uint32_t process = 0;
    while (process < row->process_count && row->ends[process] <= sample)
        process++;
    return process;
}

static json_t *repetition_json(const th_report *report, const th_row *row, uint32_t repetition)
{
    const double real = row->real_ns.values[repetition], cpu = row->cpu_ns.values[repetition], unit = unit_ns(row);
    json_t *json = begin_row(report, row, "", "iteration", &real);
    json = add_times(json, row, row->iterations, real / unit, cpu / unit);
    if (repetition < row->core_clock_ns.count)
        json = th_json_set(json, "core_clock_ns", th_json_real(row->core_clock_ns.values[repetition]));
    if (repetition < row->start_ns.count)
        json = th_json_merge(json, json_pack("{s:o, s:i}", "start_ns",
                                             th_json_count((uint64_t)row->start_ns.values[repetition]), "order",
                                             (int)row->order.values[repetition]));
    return th_json_merge(json, json_pack("{s:i, s:i}", "repetition_index", (int)repetition, "process",
                                         (int)process_of(row, repetition)));
}

/* CI of the median, and the number of outliers. */
static json_t *median_json(const th_row *row, uint32_t outliers)
{
    const th_interval interval = th_row_interval(row);
    return json_pack("{s:o, s:o, s:o, s:s, s:i}", "real_time_low", th_json_real(interval.low / unit_ns(row)),
                     "real_time_high", th_json_real(interval.high / unit_ns(row)), "confidence",
                     th_json_real(TH_CONFIDENCE), "interval_unit", th_row_interval_unit(row), "outliers",
                     (int)outliers);
}

/* The coefficient of variation has no time unit. */
static json_t *append_aggregates(json_t *rows, const th_report *report, const th_row *row)
{
    const th_stats real = th_samples_stats(&row->real_ns), cpu = th_samples_stats(&row->cpu_ns);
    const struct {
        const char *suffix;
        double real, cpu;
    } all[] = {
        {"_mean", real.mean, cpu.mean}, {"_median", real.median, cpu.median}, {"_stddev", real.stddev, cpu.stddev},
        {"_cv", real.cv, cpu.cv},       {"_min", real.min, cpu.min},          {"_max", real.max, cpu.max},
        {"_p95", real.p95, cpu.p95},    {"_p99", real.p99, cpu.p99},          {"_mad", real.mad, cpu.mad}};
    enum { MEAN, MEDIAN, STDDEV, CV };
    for (size_t a = 0; a < sizeof all / sizeof *all; a++) {
        if ((a == STDDEV || a == CV) && real.count == 1) /* as Google Benchmark: none for a single value */
            continue;
        const double unit = a == CV ? 1 : unit_ns(row);
        json_t *json = begin_row(report, row, all[a].suffix, "aggregate", a == CV ? NULL : &all[a].real);
        json = add_times(json, row, row->real_ns.count, all[a].real / unit, all[a].cpu / unit);
        json = th_json_set(json, "aggregate_name", json_string(all[a].suffix + 1));
        json = th_json_set(json, "aggregate_unit", json_string(a == CV ? "percentage" : "time"));
        if (a == MEAN && row->once)
            json = th_json_merge(json, json_copy(row->once));
        rows = th_json_append(rows, a == MEDIAN ? th_json_merge(json, median_json(row, real.outliers)) : json);
    }
    return rows;
}

/* As in Google Benchmark: its compare.py requires times in every row. */
static json_t *failure_json(const th_report *report, const th_row *row)
{
    json_t *json = add_times(begin_row(report, row, "", "iteration", &unknown_ns), row, 0, 0, 0);
    json = th_json_set(json, row->skipped ? "skipped" : "error_occurred", json_true());
    json = th_json_set(json, row->skipped ? "skip_message" : "error_message", th_json_text(row->failure));
    return th_json_set(json, "repetition_index", json_integer(0));
}

static json_t *append_entry(json_t *rows, const th_report *report, const th_row *row)
{
    if (row->failure[0])
        return th_json_append(rows, failure_json(report, row));
    if (row->real_ns.count == 0) /* of a dry run */
        return th_json_append(rows, begin_row(report, row, "", "iteration", &unknown_ns));
    for (uint32_t r = 0; r < row->real_ns.count; r++)
        rows = th_json_append(rows, repetition_json(report, row, r));
    return append_aggregates(rows, report, row);
}

static json_t *positive_or_null(double value)
{
    return value > 0 ? th_json_real(value) : json_null();
}

/* The machine, and the settings of this run. */
static json_t *context_json(const th_report *report)
{
    json_t *own =
        json_pack("{s:o, s:o, s:o, s:o, s:b, s:b, s:i, s:o}", "external_cpu_load",
                  th_json_real(report->interference.external_cpu_load), "steal_cpu_load",
                  th_json_real(report->interference.steal_cpu_load), "throttled_s",
                  th_json_real(report->interference.throttled_s), "precision", positive_or_null(report->precision),
                  "dry_run", report->is_dry_run, "partial", report->is_partial, "processes", (int)report->process_count,
                  "seed", json_sprintf("%llu", (unsigned long long)report->seed));
    json_t *repetition = json_pack("{s:o, s:o}", "repetition_ms", positive_or_null((double)report->repetition_ns / 1e6),
                                   "repetition_frames", positive_or_null(report->iterations));
    return th_json_merge(th_context_json(&report->context), th_json_merge(own, repetition));
}

json_t *th_report_context_json(const th_report *report)
{
    assert(report);
    json_t *context = th_json_set(context_json(report), "warnings", th_report_warnings(report));
    context = report->scene ? th_json_set(context, "scene", json_incref(report->scene)) : context;
    return report->picture ? th_json_set(context, "picture", json_incref(report->picture)) : context;
}

json_t *th_report_json(const th_report *report)
{
    assert(report);
    json_t *rows = json_array();
    for (uint32_t r = 0; r < report->row_count; r++)
        rows = append_entry(rows, report, &report->rows[r]);
    return json_pack("{s:o, s:o}", "context", th_report_context_json(report), "benchmarks", rows);
}

/* ---- CSV ---- */

/* Adds the scalar fields of `more`, with `prefix` before their names. */
static json_t *add_plain(json_t *json, const char *prefix, const json_t *more)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)more, name, value)
    {
        char column[96];
        snprintf(column, sizeof column, "%s%s", prefix, name);
        if (!json_is_object(value) && !json_is_array(value))
            json = th_json_set(json, column, json_incref(value));
    }
    return json;
}

/* One field of all models; "none" if a model lacks it. */
static json_t *of_models(const json_t *scene, const char *field)
{
    char text[512] = ""; /* the most that a cell holds */
    const json_t *model;
    size_t index;
    json_array_foreach(json_object_get(scene, "models"), index, model)
    {
        const char *value = json_string_value(json_object_get(model, field));
        th_append(text, sizeof text, "%s%s", index ? "; " : "", value ? value : "none");
    }
    return th_json_text(text);
}

static json_t *add_scene(json_t *json, const json_t *scene)
{
    if (!scene)
        return json;
    json = th_json_set(json, "scene_models", of_models(scene, "name"));
    json = th_json_set(json, "scene_clips", of_models(scene, "clip"));
    return add_plain(json, "scene_", scene);
}

static json_t *row_json(const th_report *report, const th_row *row, const json_t *context)
{
    json_t *own = own_json(TH_ROW_CSV, report, row, 0), *json = add_plain(json_object(), "", own);
    json_decref(own);
    json = th_json_set(json, "error_message", th_json_text_if_any(row->failure));
    return add_scene(add_plain(json, "", context), report->scene);
}

bool th_report_csv(const th_report *report, FILE *file)
{
    assert(report && file);
    json_t *rows = json_array(), *context = context_json(report);
    for (uint32_t r = 0; r < report->row_count; r++)
        rows = th_json_append(rows, row_json(report, &report->rows[r], context));
    th_table *table = th_table_from_objects(rows);
    const bool written = th_table_write(table, TH_FORMAT_CSV, file);
    th_table_destroy(table);
    json_decref(context);
    json_decref(rows);
    return written;
}

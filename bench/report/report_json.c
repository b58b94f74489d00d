/* A report as JSON and as CSV. */
#include <throng/bench/report.h>
#include <throng/core/json.h>
#include <throng/core/table.h>

#include <math.h>
#include <string.h>

static double unit_ns(const th_row *row)
{
    return strcmp(row->time_unit, "ms") == 0 ? 1e6 : strcmp(row->time_unit, "us") == 0 ? 1e3 : 1;
}

/* The common fields of an entry's rows. */
static json_t *head_json(const th_row *row, uint32_t family, const char *suffix, const char *type)
{
    char name[sizeof row->name + 32];
    snprintf(name, sizeof name, "%s%s", row->name, suffix);
    return json_pack("{s:o, s:i, s:i, s:o, s:s, s:i, s:i}", "name", th_json_text(name), "family_index", (int)family,
                     "per_family_instance_index", 0, "run_name", th_json_text(row->name), "run_type", type,
                     "repetitions", (int)row->real_ns.count, "threads", (int)row->threads);
}

/* Our own fields, for a row with this time per iteration. */
static json_t *own_json(const th_row *row, double real_ns, json_t *json)
{
    if (row->characters > 0)
        json = th_json_merge(json, json_pack("{s:o, s:o, s:o, s:o}", "characters", th_json_count(row->characters),
                                             "bones", th_json_count(row->bones), "ns_per_bone",
                                             th_json_real(real_ns / (double)row->bones), "us_per_character",
                                             th_json_real(real_ns / 1000 / (double)row->characters)));
    if (row->checked)
        json = th_json_merge(json, json_pack("{s:o, s:o, s:b}", "max_error", th_json_real(row->max_error),
                                             "palette_hash", th_json_hash(row->palette_hash), "moving", row->moving));
    if (row->checked && row->overrides)
        json = th_json_set(json, "error_vs_source", th_json_real(row->error_vs_source));
    return row->own ? th_json_merge(json, json_copy(row->own)) : json;
}

static uint32_t process_of(const th_row *row, uint32_t sample)
{
    uint32_t process = 0;
    while (process < row->process_count && row->ends[process] <= sample)
        process++;
    return process;
}

static json_t *repetition_json(const th_row *row, uint32_t family, uint32_t repetition)
{
    double real = row->real_ns.values[repetition], cpu = row->cpu_ns.values[repetition], unit = unit_ns(row);
    json_t *json =
        json_pack("{s:i, s:i, s:o, s:o, s:s, s:i}", "repetition_index", (int)repetition, "iterations",
                  (int)row->iterations, "real_time", th_json_real(real / unit), "cpu_time", th_json_real(cpu / unit),
                  "time_unit", row->time_unit, "process", (int)process_of(row, repetition));
    if (repetition < row->core_clock_ns.count)
        json = th_json_set(json, "core_clock_ns", th_json_real(row->core_clock_ns.values[repetition]));
    return own_json(row, real, th_json_merge(head_json(row, family, "", "iteration"), json));
}

static json_t *aggregate_json(const th_row *row, uint32_t family, const char *name, double real, double cpu)
{
    char suffix[32];
    snprintf(suffix, sizeof suffix, "_%s", name);
    double unit = unit_ns(row);
    json_t *json = json_pack("{s:s, s:s, s:i, s:o, s:o, s:s}", "aggregate_name", name, "aggregate_unit", "time",
                             "iterations", (int)row->real_ns.count, "real_time", th_json_real(real / unit), "cpu_time",
                             th_json_real(cpu / unit), "time_unit", row->time_unit);
    return own_json(row, real, th_json_merge(head_json(row, family, suffix, "aggregate"), json));
}

/* CI of the median, and the number of outliers. */
static json_t *median_json(const th_row *row, const th_stats *real)
{
    const th_interval interval = th_median_interval(&row->real_ns);
    return json_pack("{s:o, s:o, s:o, s:i}", "real_time_low", th_json_real(interval.low / unit_ns(row)),
                     "real_time_high", th_json_real(interval.high / unit_ns(row)), "confidence",
                     th_json_real(TH_CONFIDENCE), "outliers", (int)real->outliers);
}

/* The coefficient of variation, which has no time unit. */
static json_t *cv_json(const th_row *row, uint32_t family, double real, double cpu)
{
    json_t *json = json_pack("{s:s, s:s, s:i, s:o, s:o, s:s}", "aggregate_name", "cv", "aggregate_unit", "percentage",
                             "iterations", (int)row->real_ns.count, "real_time", th_json_real(real), "cpu_time",
                             th_json_real(cpu), "time_unit", row->time_unit);
    return th_json_merge(head_json(row, family, "_cv", "aggregate"), json);
}

static json_t *append_aggregates(json_t *rows, const th_row *row, uint32_t family)
{
    const th_stats real = th_samples_stats(&row->real_ns), cpu = th_samples_stats(&row->cpu_ns);
    json_t *mean = aggregate_json(row, family, "mean", real.mean, cpu.mean);
    json_t *median = aggregate_json(row, family, "median", real.median, cpu.median);
    rows = th_json_append(rows, row->once ? th_json_merge(mean, json_copy(row->once)) : mean);
    rows = th_json_append(rows, th_json_merge(median, median_json(row, &real)));
    if (real.count > 1) { /* as Google Benchmark: none for a single value */
        rows = th_json_append(rows, aggregate_json(row, family, "stddev", real.stddev, cpu.stddev));
        rows = th_json_append(rows, cv_json(row, family, real.cv, cpu.cv));
    }
    rows = th_json_append(rows, aggregate_json(row, family, "min", real.min, cpu.min));
    rows = th_json_append(rows, aggregate_json(row, family, "max", real.max, cpu.max));
    rows = th_json_append(rows, aggregate_json(row, family, "p95", real.p95, cpu.p95));
    rows = th_json_append(rows, aggregate_json(row, family, "p99", real.p99, cpu.p99));
    return th_json_append(rows, aggregate_json(row, family, "mad", real.mad, cpu.mad));
}

/* As in Google Benchmark: its compare.py requires times in every row. */
static json_t *failure_json(const th_row *row, uint32_t family)
{
    json_t *json = json_pack("{s:b, s:o, s:i, s:i, s:f, s:f, s:s}", row->skipped ? "skipped" : "error_occurred", 1,
                             row->skipped ? "skip_message" : "error_message", th_json_text(row->failure),
                             "repetition_index", 0, "iterations", 0, "real_time", 0.0, "cpu_time", 0.0, "time_unit",
                             row->time_unit ? row->time_unit : "ns");
    return own_json(row, (double)NAN, th_json_merge(head_json(row, family, "", "iteration"), json));
}

static json_t *append_entry(json_t *rows, const th_row *row, uint32_t family)
{
    if (row->failure[0])
        return th_json_append(rows, failure_json(row, family));
    if (row->real_ns.count == 0) /* of a dry run */
        return th_json_append(rows, own_json(row, (double)NAN, head_json(row, family, "", "iteration")));
    for (uint32_t r = 0; r < row->real_ns.count; r++)
        rows = th_json_append(rows, repetition_json(row, family, r));
    return append_aggregates(rows, row, family);
}

static json_t *positive_or_null(double value)
{
    return value > 0 ? th_json_real(value) : json_null();
}

/* The machine, and the settings of this run. */
static json_t *context_json(const th_report *report)
{
    json_t *own = json_pack(
        "{s:o, s:o, s:o, s:o, s:b, s:i}", "external_cpu_load", th_json_real(report->interference.external_cpu_load),
        "steal_cpu_load", th_json_real(report->interference.steal_cpu_load), "throttled_s",
        th_json_real(report->interference.throttled_s), "precision", positive_or_null(report->precision), "dry_run",
        report->is_dry_run, "processes", (int)report->process_count);
    json_t *repetition = json_pack("{s:o, s:o}", "repetition_ms", positive_or_null((double)report->repetition_ns / 1e6),
                                   "repetition_frames", positive_or_null(report->iterations));
    return th_json_merge(th_context_json(&report->context), th_json_merge(own, repetition));
}

json_t *th_report_context_json(const th_report *report)
{
    json_t *context = th_json_set(context_json(report), "warnings", th_report_warnings(report));
    if (report->scene)
        context = th_json_set(context, "scene", json_incref(report->scene));
    if (report->picture)
        context = th_json_set(context, "picture", json_incref(report->picture));
    return context;
}

json_t *th_report_json(const th_report *report)
{
    json_t *rows = json_array();
    for (uint32_t r = 0; r < report->row_count; r++)
        rows = append_entry(rows, &report->rows[r], r);
    return json_pack("{s:o, s:o}", "context", th_report_context_json(report), "benchmarks", rows);
}

/* ---- CSV ---- */

static json_t *times_json(const th_row *row)
{
    const th_stats real = th_samples_stats(&row->real_ns), cpu = th_samples_stats(&row->cpu_ns);
    const th_interval interval = th_median_interval(&row->real_ns);
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:o}", "median_ns",
                     th_json_real(real.median), "median_low_ns", th_json_real(interval.low), "median_high_ns",
                     th_json_real(interval.high), "mean_ns", th_json_real(real.mean), "min_ns", th_json_real(real.min),
                     "max_ns", th_json_real(real.max), "p95_ns", th_json_real(real.p95), "p99_ns",
                     th_json_real(real.p99), "mad_ns", th_json_real(real.mad), "stddev_ns", th_json_real(real.stddev),
                     "cv", th_json_real(real.cv), "outliers", (int)real.outliers, "cpu_median_ns",
                     th_json_real(cpu.median));
}

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
    const double median = th_samples_stats(&row->real_ns).median;
    json_t *json = json_pack("{s:o, s:i, s:i, s:i}", "name", th_json_text(row->name), "threads", (int)row->threads,
                             "repetitions", (int)row->real_ns.count, "iterations", (int)row->iterations);
    json_t *own = own_json(row, median, json_object());
    json = add_plain(th_json_merge(json, times_json(row)), "", own);
    json_decref(own);
    json = th_json_set(json, "error_message", th_json_text_if_any(row->failure));
    return add_scene(add_plain(json, "", context), report->scene);
}

bool th_report_csv(const th_report *report, FILE *file)
{
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

/* A report: its rows, and the document that all commands write, as JSON, as CSV, and what stands above and below the
 * tables of text. */
#include "figures.h"

#include <core/clock.h>

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

void th_row_fail(th_row *row, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(row->failure, sizeof row->failure, format, args);
    va_end(args);
}

void th_row_leave_out(th_row *row)
{
    static const struct {
        const char *name;
        double most;
    } figures[] = {{"efficiency", TH_REPORT_MAX_EFFICIENCY},
                   {"efficiency_at_p90", TH_REPORT_MAX_EFFICIENCY},
                   {"overhead_ns", HUGE_VAL},
                   {"chunk_ns", HUGE_VAL}};
    for (size_t f = 0; f < sizeof figures / sizeof *figures; f++) {
        const double value = th_row_own(row, figures[f].name);
        if (!(value < 0 || value > figures[f].most))
            continue;
        row->impossible = figures[f].name;
        row->own = th_json_set(row->own, figures[f].name, json_null());
        if (value > 1 && json_object_get(row->own, "speed_up"))
            row->own = th_json_set(row->own, "speed_up", json_null());
    }
}

th_result th_report_init(th_report *report, uint32_t rows, uint32_t repetitions, th_error *err)
{
    assert(report);
    *report = (th_report){.rows = calloc(rows, sizeof *report->rows),
                          .row_count = rows,
                          .process_count = 1,
                          .interference = {.external_cpu_load = nan(""), .steal_cpu_load = nan("")}};
    th_context_read(&report->context);
    bool room = report->rows != NULL;
    for (uint32_t r = 0; room && r < rows; r++) {
        th_row *row = &report->rows[r];
        row->begin_ns = th_clock_ns();
        room = th_samples_init(&row->real_ns, repetitions) && th_samples_init(&row->cpu_ns, repetitions) &&
               th_samples_init(&row->core_clock_ns, repetitions) && th_samples_init(&row->start_ns, repetitions) &&
               th_samples_init(&row->order, repetitions) && th_samples_init(&row->queued_ns, repetitions);
    }
    if (room)
        return TH_OK;
    th_report_fini(report);
    return th_fail(err, TH_ERR_MEMORY, "no memory for %u repetitions of %u entries", repetitions, rows);
}

void th_report_draw_from(th_report *report, uint64_t check_seed)
{
    assert(report);
    report->check_seed = check_seed ? check_seed : th_entropy();
    for (uint32_t r = 0; r < report->row_count; r++)
        report->rows[r].draws.seed = report->check_seed;
}

void th_report_fini(th_report *report)
{
    for (uint32_t r = 0; report->rows && r < report->row_count; r++) {
        th_row *row = &report->rows[r];
        th_samples_fini(&row->real_ns);
        th_samples_fini(&row->cpu_ns);
        th_samples_fini(&row->core_clock_ns);
        th_samples_fini(&row->start_ns);
        th_samples_fini(&row->order);
        th_samples_fini(&row->queued_ns);
        json_decref(row->own);
        json_decref(row->once);
    }
    free(report->rows);
    json_decref(report->scene);
    json_decref(report->picture);
    *report = (th_report){0};
}

void th_row_interrupt(th_row *row)
{
    assert(row);
    if (!row->failure[0] && row->real_ns.count == 0)
        th_row_skip(row, "the measurement was interrupted");
}

void th_report_interrupt(th_report *report)
{
    assert(report);
    report->is_partial = true;
    for (uint32_t r = 0; r < report->row_count && !report->is_dry_run; r++)
        th_row_interrupt(&report->rows[r]);
}

const th_row *th_report_failure(const th_report *report)
{
    assert(report);
    for (uint32_t r = 0; r < report->row_count; r++)
        if (report->rows[r].failure[0] && !report->rows[r].skipped)
            return &report->rows[r];
    return NULL;
}

const th_row *th_report_skipped(const th_report *report)
{
    assert(report);
    for (uint32_t r = 0; r < report->row_count; r++)
        if (report->rows[r].skipped)
            return &report->rows[r];
    return NULL;
}

/* ---- JSON ---- */

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

/* A JSON row. suffix: of its name. ns: time of an iteration, NaN where it is not known; NULL: the row is not about
 * one. */
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

/* A row for each repetition, then the aggregates, as Google Benchmark has them. */
static json_t *append_entry(json_t *rows, const th_report *report, const th_row *row)
{
    static const double unknown_ns = (double)NAN;
    if (row->failure[0]) { /* with times in any case, as Google Benchmark's compare.py requires */
        json_t *json = add_times(begin_row(report, row, "", "iteration", &unknown_ns), row, 0, 0, 0);
        json = th_json_set(json, row->skipped ? "skipped" : "error_occurred", json_true());
        json = th_json_set(json, row->skipped ? "skip_message" : "error_message", th_json_text(row->failure));
        return th_json_append(rows, th_json_set(json, "repetition_index", json_integer(0)));
    }
    if (row->real_ns.count == 0) /* of a dry run */
        return th_json_append(rows, begin_row(report, row, "", "iteration", &unknown_ns));

    uint32_t process = 0;
    for (uint32_t r = 0; r < row->real_ns.count; r++) {
        const double ns = row->real_ns.values[r], cpu_ns = row->cpu_ns.values[r], unit = unit_ns(row);
        json_t *json = begin_row(report, row, "", "iteration", &ns);
        json = add_times(json, row, row->iterations, ns / unit, cpu_ns / unit);
        if (r < row->core_clock_ns.count)
            json = th_json_set(json, "core_clock_ns", th_json_real(row->core_clock_ns.values[r]));
        if (r < row->queued_ns.count)
            json = th_json_set(json, "queued_ns", th_json_real(row->queued_ns.values[r]));
        if (r < row->start_ns.count)
            json = th_json_merge(json,
                                 json_pack("{s:o, s:i}", "start_ns", th_json_count((uint64_t)row->start_ns.values[r]),
                                           "order", (int)row->order.values[r]));
        while (process < row->process_count && row->ends[process] <= r)
            process++;
        json = th_json_merge(json, json_pack("{s:i, s:i}", "repetition_index", (int)r, "process", (int)process));
        rows = th_json_append(rows, json);
    }

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
        const double unit = a == CV ? 1 : unit_ns(row); /* a coefficient of variation has no time unit */
        json_t *json = begin_row(report, row, all[a].suffix, "aggregate", a == CV ? NULL : &all[a].real);
        json = add_times(json, row, row->real_ns.count, all[a].real / unit, all[a].cpu / unit);
        json = th_json_set(json, "aggregate_name", json_string(all[a].suffix + 1));
        json = th_json_set(json, "aggregate_unit", json_string(a == CV ? "percentage" : "time"));
        if (a == MEAN && row->once)
            json = th_json_merge(json, json_copy(row->once));
        if (a == MEDIAN) {
            const th_interval interval = th_row_interval(row);
            json = th_json_merge(json, json_pack("{s:o, s:o, s:o, s:s, s:i}", "real_time_low",
                                                 th_json_real(interval.low / unit), "real_time_high",
                                                 th_json_real(interval.high / unit), "confidence",
                                                 th_json_real(TH_CONFIDENCE), "interval_unit",
                                                 th_row_interval_unit(row), "outliers", (int)real.outliers));
        }
        rows = th_json_append(rows, json);
    }
    return rows;
}

static json_t *positive_or_null(double value)
{
    return value > 0 ? th_json_real(value) : json_null();
}

/* The machine, and the settings of this run. */
static json_t *conditions_json(const th_report *report)
{
    json_t *own =
        json_pack("{s:o, s:o, s:o, s:o, s:b, s:b, s:i, s:o}", "external_cpu_load",
                  th_json_real(report->interference.external_cpu_load), "steal_cpu_load",
                  th_json_real(report->interference.steal_cpu_load), "throttled_s",
                  th_json_real(report->interference.throttled_s), "precision", positive_or_null(report->precision),
                  "dry_run", report->is_dry_run, "partial", report->is_partial, "processes", (int)report->process_count,
                  "seed", json_sprintf("%llu", (unsigned long long)report->seed));
    if (report->check_seed)
        own = th_json_set(own, "check_seed", json_sprintf("%llu", (unsigned long long)report->check_seed));
    json_t *repetition = json_pack("{s:o, s:o}", "repetition_ms", positive_or_null((double)report->repetition_ns / 1e6),
                                   "repetition_frames", positive_or_null(report->iterations));
    return th_json_merge(th_context_json(&report->context), th_json_merge(own, repetition));
}

json_t *th_report_context_json(const th_report *report)
{
    assert(report);
    json_t *context = th_json_set(conditions_json(report), "warnings", th_report_warnings(report));
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

json_t *th_scene_json(const th_scene *scene, const th_scene_desc *desc)
{
    json_t *models = json_array();
    for (uint32_t m = 0; m < desc->model_count; m++) {
        const th_model *model = desc->models[m];
        const th_compiled_model *compiled = scene ? scene->compiled_models[m] : NULL;
        const uint32_t clip = desc->clips ? desc->clips[m] : TH_NO_INDEX;
        const char *name = clip < model->clip_count ? model->clips[clip].name : clip == TH_NO_INDEX ? "all" : NULL;
        /* The palette of a character in single precision, as in a crowd. */
        const size_t bytes =
            th_palette_stride(TH_FORMAT_F32, th_palette_entries(model->bone_count, model->weight_count));
        json_t *json =
            json_pack("{s:o, s:i, s:i, s:i, s:o, s:o, s:o, s:o}", "name", th_json_text(model->name), "joints",
                      (int)model->joint_count, "bones", (int)model->bone_count, "clips", (int)model->clip_count,
                      "exact_clips", compiled ? th_json_count(th_compiled_model_exact_clips(compiled)) : json_null(),
                      "bytes_per_character", th_json_count(bytes), "bytes_per_clip",
                      compiled ? th_json_real(th_compiled_model_bytes_per_clip(compiled)) : json_null(), "clip",
                      th_json_text(name));
        models = th_json_append(models, json);
    }
    const double bound_m = desc->compile.bound_m > 0 ? desc->compile.bound_m : TH_DEFAULT_BOUND_M;
    return json_pack(
        "{s:o, s:o, s:s, s:s, s:i, s:o, s:o}", "models", models, "characters", th_json_count(desc->instance_count),
        "sampling", desc->compile.sampling == TH_SAMPLING_EXACT ? "exact" : "compiled", "interpolation",
        th_interpolation_name(desc->compile.interpolation), "key_bits", desc->compile.keys == TH_KEYS_16 ? 16 : 32,
        "seed", json_sprintf("%llu", (unsigned long long)desc->seed), "error_bound_mm", th_json_real(bound_m * 1000));
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

bool th_report_csv(const th_report *report, FILE *file)
{
    assert(report && file);
    json_t *rows = json_array(), *conditions = conditions_json(report);
    for (uint32_t r = 0; r < report->row_count; r++) {
        const th_row *row = &report->rows[r];
        json_t *own = own_json(TH_ROW_CSV, report, row, 0), *json = add_plain(json_object(), "", own);
        json_decref(own);
        json = th_json_set(json, "error_message", th_json_text_if_any(row->failure));
        json = add_plain(json, "", conditions);
        if (report->scene) {
            json = th_json_set(json, "scene_models", of_models(report->scene, "name"));
            json = th_json_set(json, "scene_clips", of_models(report->scene, "clip"));
            json = add_plain(json, "scene_", report->scene);
        }
        rows = th_json_append(rows, json);
    }
    json_decref(conditions);
    return th_write_csv(rows, file);
}

/* ---- text ---- */

static void print_scene(const json_t *scene, th_output_format format, FILE *file)
{
    size_t index;
    const json_t *model;
    char line[1024] = "";
    const json_int_t characters = json_integer_value(json_object_get(scene, "characters"));
    th_append(line, sizeof line, "%s character%s", th_digits_from((uint64_t)characters).text,
              th_plural((uint64_t)characters));
    json_array_foreach(json_object_get(scene, "models"), index, model)
    {
        const int bones = (int)json_integer_value(json_object_get(model, "bones"));
        const int clips = (int)json_integer_value(json_object_get(model, "clips"));
        const json_t *clip = json_object_get(model, "clip"); /* null: the model lacks the chosen one */
        const char *name = json_string_value(clip);
        th_append(line, sizeof line, "%s%s (%d %s, ", index == 0 ? ": " : ", ",
                  json_string_value(json_object_get(model, "name")), bones, bones == 1 ? "bone" : "bones");
        if (json_is_null(clip))
            th_append(line, sizeof line, "rest pose)");
        else if (name && strcmp(name, "all") != 0)
            th_append(line, sizeof line, "clip %s of %d)", name, clips);
        else
            th_append(line, sizeof line, "%d clip%s)", clips, th_plural((uint64_t)clips));
    }
    th_write_line(file, format, "%s", line);
}

void th_report_print_conditions(const th_report *report, th_output_format format, FILE *file)
{
    const th_context *c = &report->context;
    if (report->is_partial)
        th_write_line(file, format, "PARTIAL RESULT: the measurement was interrupted.");
    if (report->scene)
        print_scene(report->scene, format, file);
    char line[1024] = "";
    const size_t size = sizeof line;
    th_append(line, size, "%s, %u of %u CPUs usable", c->cpu[0] ? c->cpu : "unknown CPU", c->cpus.usable,
              c->cpus.online);
    if (c->cpus.quota > 0)
        th_append(line, size, " (%.3g granted by cgroup)", c->cpus.quota);
    if (c->threads_per_core > 1)
        th_append(line, size, ", %u threads a core", c->threads_per_core);
    if (c->numa_nodes > 1)
        th_append(line, size, ", %u NUMA nodes", c->numa_nodes);
    if (c->mhz > 0)
        th_append(line, size, ", %.0f MHz", c->mhz);
    if (c->governor[0])
        th_append(line, size, ", governor %s", c->governor);
    else
        th_append(line, size, ", clock %s", c->virtual_machine ? "up to the host of this virtual machine" : "unknown");
    th_write_line(file, format, "%s", line);
}

static int integer_of(const json_t *object, const char *name)
{
    return (int)json_integer_value(json_object_get(object, name));
}

void th_report_add_picture(const json_t *picture, char *line, size_t size)
{
    th_append(line, size, "%d x %d pixels, samples %d, shadow map %d, by %s", integer_of(picture, "width"),
              integer_of(picture, "height"), integer_of(picture, "samples"), integer_of(picture, "shadow"),
              json_string_value(json_object_get(picture, "renderer")));
}

void th_report_print_picture(const json_t *picture, th_output_format format, FILE *file)
{
    char line[512] = "";
    th_report_add_picture(picture, line, sizeof line);
    if (picture)
        th_write_line(file, format, "%s", line);
}

bool th_report_print_dry_run(const th_report *report, th_output_format format, FILE *file)
{
    th_sheet sheet = th_sheet_table(TH_ROW_DRY);
    for (uint32_t r = 0; r < report->row_count; r++)
        th_row_add(&sheet, report, &report->rows[r], 0);
    fputc('\n', file);
    const bool printed = th_sheet_write(&sheet, format, file);
    fputc('\n', file);
    th_write_line(file, format, "A dry run: everything ran once, nothing was timed.");
    return printed;
}

void th_report_print_warnings(const th_report *report, th_output_format format, FILE *file)
{
    json_t *warnings = th_report_warnings(report);
    th_print_texts(warnings, "warning", format, file);
    json_decref(warnings);
}

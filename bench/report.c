#include <throng/report.h>

#include <throng/json.h>
#include <throng/table.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

th_result th_report_init(th_report *report, uint32_t rows, uint32_t repetitions, th_error *err)
{
    *report = (th_report){.rows = calloc(rows, sizeof *report->rows), .row_count = rows, .others_cpus = nan("")};
    th_context_read(&report->context);
    bool room = report->rows != NULL;
    for (uint32_t r = 0; room && r < rows; r++)
        room = th_samples_init(&report->rows[r].real_ns, repetitions) &&
               th_samples_init(&report->rows[r].cpu_ns, repetitions);
    if (room)
        return TH_OK;
    th_report_fini(report);
    return th_fail(err, TH_ERR_MEMORY, "no memory for %u repetitions of %u entries", repetitions, rows);
}

void th_report_fini(th_report *report)
{
    for (uint32_t r = 0; report->rows && r < report->row_count; r++) {
        th_samples_fini(&report->rows[r].real_ns);
        th_samples_fini(&report->rows[r].cpu_ns);
        json_decref(report->rows[r].own);
        json_decref(report->rows[r].once);
    }
    free(report->rows);
    json_decref(report->scene);
    json_decref(report->picture);
    *report = (th_report){0};
}

const th_row *th_report_failure(const th_report *report)
{
    for (uint32_t r = 0; r < report->row_count; r++)
        if (report->rows[r].failure[0] && !report->rows[r].left_out)
            return &report->rows[r];
    return NULL;
}

const th_row *th_report_left_out(const th_report *report)
{
    for (uint32_t r = 0; r < report->row_count; r++)
        if (report->rows[r].left_out)
            return &report->rows[r];
    return NULL;
}

/* ---- JSON ---- */

static double unit_ns(const th_row *row)
{
    return strcmp(row->time_unit, "ms") == 0 ? 1e6 : strcmp(row->time_unit, "us") == 0 ? 1e3 : 1;
}

/* What every row of an entry begins with. */
static json_t *head_json(const th_row *row, uint32_t family, const char *suffix, const char *type)
{
    char name[sizeof row->name + 32];
    snprintf(name, sizeof name, "%s%s", row->name, suffix);
    return json_pack("{s:o, s:i, s:i, s:o, s:s, s:i, s:i}", "name", th_json_text(name), "family_index", (int)family,
                     "per_family_instance_index", 0, "run_name", th_json_text(row->name), "run_type", type,
                     "repetitions", (int)row->real_ns.count, "threads", (int)row->threads);
}

/* Our own fields, for a row that stands for this many nanoseconds an iteration. */
static json_t *own_json(const th_row *row, double real_ns, json_t *json)
{
    if (row->characters > 0)
        json = th_json_merge(json, json_pack("{s:o, s:o, s:o, s:o}", "characters", th_json_count(row->characters),
                                             "joints", th_json_count(row->joints), "ns_per_joint",
                                             th_json_real(real_ns / (double)row->joints), "us_per_character",
                                             th_json_real(real_ns / 1000 / (double)row->characters)));
    if (row->checked)
        json = th_json_merge(json, json_pack("{s:o, s:o, s:b}", "max_error", th_json_real(row->max_error),
                                             "palette_hash", th_json_hash(row->palette_hash), "moving", row->moving));
    if (row->checked && row->overrides)
        json = th_json_merge(json, json_pack("{s:o}", "from_authored", th_json_real(row->from_authored)));
    return row->own ? th_json_merge(json, json_copy(row->own)) : json;
}

static json_t *repetition_json(const th_row *row, uint32_t family, uint32_t repetition)
{
    double real = row->real_ns.values[repetition], cpu = row->cpu_ns.values[repetition], unit = unit_ns(row);
    json_t *json = json_pack("{s:i, s:i, s:o, s:o, s:s}", "repetition_index", (int)repetition, "iterations",
                             (int)row->iterations, "real_time", th_json_real(real / unit), "cpu_time",
                             th_json_real(cpu / unit), "time_unit", row->time_unit);
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

static json_t *failure_json(const th_row *row, uint32_t family)
{
    json_t *json = json_pack("{s:b, s:o}", row->left_out ? "skipped" : "error_occurred", 1,
                             row->left_out ? "skip_message" : "error_message", th_json_text(row->failure));
    return own_json(row, (double)NAN, th_json_merge(head_json(row, family, "", "iteration"), json));
}

static json_t *append_entry(json_t *rows, const th_row *row, uint32_t family)
{
    if (row->failure[0])
        return th_json_append(rows, failure_json(row, family));
    for (uint32_t r = 0; r < row->real_ns.count; r++)
        rows = th_json_append(rows, repetition_json(row, family, r));
    th_stats real = th_samples_stats(&row->real_ns), cpu = th_samples_stats(&row->cpu_ns);
    json_t *mean = aggregate_json(row, family, "mean", real.mean, cpu.mean);
    rows = th_json_append(rows, row->once ? th_json_merge(mean, json_copy(row->once)) : mean);
    rows = th_json_append(rows, aggregate_json(row, family, "median", real.median, cpu.median));
    rows = th_json_append(rows, aggregate_json(row, family, "min", real.min, cpu.min));
    rows = th_json_append(rows, aggregate_json(row, family, "mad", real.mad, cpu.mad));
    if (real.count > 1) /* as Google Benchmark: no deviation of a single value */
        rows = th_json_append(rows, aggregate_json(row, family, "stddev", real.stddev, cpu.stddev));
    return rows;
}

json_t *th_report_json(const th_report *report)
{
    json_t *rows = json_array(), *context = th_context_json(&report->context);
    for (uint32_t r = 0; r < report->row_count; r++)
        rows = append_entry(rows, &report->rows[r], r);
    context = th_json_merge(context, json_pack("{s:o}", "others_cpus", th_json_real(report->others_cpus)));
    if (report->scene)
        context = th_json_merge(context, json_pack("{s:O}", "scene", report->scene));
    if (report->picture)
        context = th_json_merge(context, json_pack("{s:O}", "picture", report->picture));
    return json_pack("{s:o, s:o}", "context", context, "benchmarks", rows);
}

/* ---- text ---- */

static void print_scene(const json_t *scene, FILE *file)
{
    size_t index;
    const json_t *model;
    const char *separator = " characters: ";
    fputs(th_digits_from((uint64_t)json_integer_value(json_object_get(scene, "characters"))).text, file);
    json_array_foreach(json_object_get(scene, "models"), index, model)
    {
        char name[256];
        int entries = (int)json_integer_value(json_object_get(model, "palette_entries"));
        int clips = (int)json_integer_value(json_object_get(model, "clips"));
        fprintf(file, "%s%s (%d palette %s, %d clip%s)", separator,
                th_printable(json_string_value(json_object_get(model, "name")), name, sizeof name), entries,
                entries == 1 ? "entry" : "entries", clips, th_plural((uint64_t)clips));
        separator = ", ";
    }
    fputc('\n', file);
}

static void print_machine(const th_context *c, FILE *file)
{
    fprintf(file, "%s, %u of %u CPUs usable", c->cpu[0] ? c->cpu : "unknown CPU", c->cpus.usable, c->cpus.online);
    if (c->cpus.quota > 0)
        fprintf(file, " (%.3g granted by cgroup)", c->cpus.quota);
    if (c->threads_per_core > 1)
        fprintf(file, ", %u threads a core", c->threads_per_core);
    if (c->numa_nodes > 1)
        fprintf(file, ", %u NUMA nodes", c->numa_nodes);
    if (c->mhz > 0)
        fprintf(file, ", %.0f MHz", c->mhz);
    if (c->governor[0])
        fprintf(file, ", governor %s\n", c->governor);
    else
        fprintf(file, ", clock %s\n", c->virtual_machine ? "up to the host of this virtual machine" : "unknown");
}

void th_report_print_conditions(const th_report *report, FILE *file)
{
    if (report->scene)
        print_scene(report->scene, file);
    print_machine(&report->context, file);
}

static void print_exact_clips(const json_t *scene, FILE *file)
{
    size_t index;
    const json_t *model;
    json_array_foreach(json_object_get(scene, "models"), index, model)
    {
        char name[256];
        int exact = (int)json_integer_value(json_object_get(model, "exact_clips"));
        int clips = (int)json_integer_value(json_object_get(model, "clips"));
        if (exact > 0 && strcmp(json_string_value(json_object_get(scene, "sampling")), "compiled") == 0)
            fprintf(file, "note: %d of %d clips of %s cannot be compiled within the error bound and play exact\n",
                    exact, clips, th_printable(json_string_value(json_object_get(model, "name")), name, sizeof name));
    }
}

static bool stands_still(const th_report *report)
{
    for (uint32_t r = 0; r < report->row_count; r++)
        if (report->rows[r].checked && !report->rows[r].moving && !report->rows[r].failure[0])
            return true;
    return false;
}

static void print_left_out(const th_report *report, FILE *file)
{
    const th_row *first = th_report_left_out(report);
    uint32_t count = 0;
    char why[sizeof first->failure];
    for (uint32_t r = 0; r < report->row_count; r++)
        count += report->rows[r].left_out;
    if (count > 1)
        fprintf(file, "note: %s and %u more are left out: %s\n", first->name, count - 1,
                th_printable(first->failure, why, sizeof why));
    else if (count == 1)
        fprintf(file, "note: %s is left out: %s\n", first->name, th_printable(first->failure, why, sizeof why));
}

void th_report_print_doubts(const th_report *report, FILE *file)
{
    const th_context *c = &report->context;
    uint32_t threads = 0;
    for (uint32_t r = 0; r < report->row_count; r++)
        threads = report->rows[r].threads > threads ? report->rows[r].threads : threads;
#ifndef NDEBUG
    fputs("note: built with assertions; measure a Release build\n", file);
#endif
    print_exact_clips(report->scene, file);
    print_left_out(report, file);
    if (stands_still(report))
        fputs("note: nothing moves: this is the cost of standing still\n", file);
    if (threads > c->cpus.usable)
        fprintf(file, "note: %u threads share %u usable CPU%s, so they take turns\n", threads, c->cpus.usable,
                th_plural(c->cpus.usable));
    if (report->others_cpus > TH_REPORT_OTHERS_CPUS)
        fprintf(file, "note: other programs used %.2f CPUs meanwhile\n", report->others_cpus);
    if (c->governor[0] && strcmp(c->governor, "performance") != 0)
        fprintf(file, "note: the clock changes with the load (governor %s)\n", c->governor);
}

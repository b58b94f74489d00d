/* Merges the results of several processes, into one report or one result file. */
#include <bench/result_file.h>

#include <core/json.h>

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void fail_row(th_row *row, const char *failure)
{
    if (!row->failure[0])
        snprintf(row->failure, sizeof row->failure, "%s", failure);
}

/* Build, scene and frame are the same, so palettes that differ depend on the memory layout. */
static void merge_row(th_row *row, const th_result_file_entry *e)
{
    char hash[24];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)row->palette_hash);
    if (e->failure)
        fail_row(row, e->failure);
    else if (row->checked && e->palette_hash && strcmp(e->palette_hash, hash) != 0)
        fail_row(row, "its palettes differ from process to process");
    row->max_error = fmax(row->max_error, e->max_error);
    row->error_vs_source = fmax(row->error_vs_source, e->error_vs_source);
}

static bool add_samples(th_row *row, const th_result_file_entry *e)
{
    const uint32_t before = row->real_ns.count;
    if (row->process_count == 0)
        row->ends[row->process_count++] = before;
    if (!th_samples_append(&row->real_ns, &e->real_ns) || !th_samples_append(&row->cpu_ns, &e->cpu_ns) ||
        !th_samples_append(&row->core_clock_ns, &e->core_clock_ns) ||
        !th_samples_append(&row->start_ns, &e->start_ns) || !th_samples_append(&row->order, &e->order))
        return false;
    if (row->core_clock_ns.count != row->real_ns.count)
        row->core_clock_ns.count = 0; /* one of the processes has none */
    if (row->start_ns.count != row->real_ns.count || row->order.count != row->real_ns.count)
        row->start_ns.count = row->order.count = 0;
    for (uint32_t p = 0; p < e->process_count; p++)
        row->ends[row->process_count++] = before + e->ends[p];
    return true;
}

static th_result add_row(const th_result_file *results, th_row *row, th_error *err)
{
    const th_result_file_entry *e = th_result_file_find(results, row->name);
    if (!e)
        return th_fail(err, TH_ERR_INPUT, "%s: no %s", results->name, row->name);
    const uint32_t processes = (row->process_count ? row->process_count : 1) + e->process_count;
    if (processes > TH_REPORT_MAX_PROCESSES)
        return th_fail(err, TH_ERR_LIMIT, "%s: more than %d processes", results->name, TH_REPORT_MAX_PROCESSES);
    merge_row(row, e);
    if (row->failure[0] || e->real_ns.count == 0)
        return TH_OK;
    return add_samples(row, e) ? TH_OK : th_fail(err, TH_ERR_MEMORY, "no memory for %s", row->name);
}

/* Adds to a running mean; unknown values are left out. */
static double add_to_mean(double mean, uint32_t count, const json_t *value)
{
    if (!json_is_number(value))
        return mean;
    return isnan(mean) ? json_number_value(value) : mean + (json_number_value(value) - mean) / (count + 1);
}

static void add_interference(const th_result_file *results, uint32_t count, th_interference *interference)
{
    const json_t *context = results->context;
    interference->external_cpu_load =
        add_to_mean(interference->external_cpu_load, count, json_object_get(context, "external_cpu_load"));
    interference->steal_cpu_load =
        add_to_mean(interference->steal_cpu_load, count, json_object_get(context, "steal_cpu_load"));
    interference->throttled_s += json_number_value(json_object_get(context, "throttled_s"));
}

th_result th_result_file_merge_into(const th_result_file *results, th_report *report, th_error *err)
{
    assert(results && report);
    assert(report->process_count > 0);
    if (json_is_true(json_object_get(results->context, "partial")))
        return th_fail(err, TH_ERR_INPUT, "%s is partial: its measurement was interrupted", results->name);
    for (uint32_t r = 0; r < report->row_count; r++) {
        const th_result result = add_row(results, &report->rows[r], err);
        if (result != TH_OK)
            return result;
    }
    add_interference(results, report->process_count, &report->interference);
    report->process_count++;
    return TH_OK;
}

/* ---- into a result file ---- */

static bool append_samples(th_result_file_entry *e, const th_result_file_entry *more)
{
    const uint32_t before = e->real_ns.count;
    if (!th_samples_append(&e->real_ns, &more->real_ns) || !th_samples_append(&e->cpu_ns, &more->cpu_ns) ||
        !th_samples_append(&e->core_clock_ns, &more->core_clock_ns))
        return false;
    if (e->core_clock_ns.count != e->real_ns.count)
        e->core_clock_ns.count = 0; /* one of the processes has none */
    for (uint32_t p = 0; p < more->process_count; p++)
        e->ends[e->process_count++] = before + more->ends[p];
    return true;
}

/* Sets the failure to a copy of the text, which the document owns. */
static bool keep_failure(th_result_file *results, th_result_file_entry *e, const char *failure)
{
    json_t *text = json_string(failure);
    char key[96];
    snprintf(key, sizeof key, "failure of %s", e->name);
    if (json_object_set_new(results->document, key, text) != 0)
        return false;
    e->failure = json_string_value(text);
    return true;
}

static th_result append_entry(th_result_file *results, th_result_file_entry *e, const th_result_file *more,
                              th_error *err)
{
    const th_result_file_entry *m = th_result_file_find(more, e->name);
    if (!m || m->threads != e->threads || m->characters != e->characters || m->bones != e->bones)
        return th_fail(err, TH_ERR_INPUT, "%s: no %s as in the process before", more->name, e->name);
    if (e->process_count + m->process_count > TH_REPORT_MAX_PROCESSES)
        return th_fail(err, TH_ERR_LIMIT, "%s: more than %d processes", more->name, TH_REPORT_MAX_PROCESSES);
    if (!e->failure && !m->failure && e->palette_hash && m->palette_hash &&
        strcmp(e->palette_hash, m->palette_hash) != 0)
        e->failure = "its palettes differ from process to process";
    e->max_error = fmax(e->max_error, m->max_error);
    e->error_vs_source = fmax(e->error_vs_source, m->error_vs_source);
    e->error_px_p99 = fmax(e->error_px_p99, m->error_px_p99);
    e->error_px_max = fmax(e->error_px_max, m->error_px_max);
    const bool is_kept = e->failure || !m->failure || keep_failure(results, e, m->failure);
    return is_kept && append_samples(e, m) ? TH_OK : th_fail(err, TH_ERR_MEMORY, "no memory for %s", e->name);
}

static bool add_load(json_t *context, const json_t *more, const char *field, uint32_t count)
{
    const json_t *old = json_object_get(context, field);
    const double mean = json_is_number(old) ? json_number_value(old) : (double)NAN;
    return json_object_set_new(context, field, th_json_real(add_to_mean(mean, count, json_object_get(more, field)))) ==
           0;
}

th_result th_result_file_append(th_result_file *results, const th_result_file *more, th_error *err)
{
    assert(results && more);
    json_t *context = json_object_get(results->document, "context");
    const uint32_t processes = results->entry_count > 0 ? results->entries[0].process_count : 0;
    if (!add_load(context, more->context, "external_cpu_load", processes))
        return th_fail(err, TH_ERR_MEMORY, "no memory for %s", results->name);
    for (uint32_t i = 0; i < results->entry_count; i++) {
        const th_result result = append_entry(results, &results->entries[i], more, err);
        if (result != TH_OK)
            return result;
    }
    return TH_OK;
}

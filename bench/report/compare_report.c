/* A comparison as JSON, CSV and text. */
#include "tables.h"

#include <throng/bench/compare.h>
#include <throng/core/json.h>
#include <throng/core/table.h>

#include <math.h>

/* ---- JSON and CSV ---- */

static json_t *change_json(const th_change *c)
{
    json_t *json =
        json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name", th_json_text(c->name), "verdict",
                  th_verdict_name(c->verdict), "old_ns", th_json_real(c->old_ns), "new_ns", th_json_real(c->new_ns),
                  "change", th_json_real(c->change), "change_low", th_json_real(c->interval.low), "change_high",
                  th_json_real(c->interval.high), "p", th_json_real(c->p), "noise_floor", th_json_real(c->floor));
    return th_json_merge(json, json_pack("{s:s, s:i, s:i, s:o}", "unit",
                                         c->unit == TH_UNIT_PROCESS ? "process" : "repetition", "old_units",
                                         (int)c->counts[0], "new_units", (int)c->counts[1], "problem",
                                         th_json_text_if_any(c->problem)));
}

static json_t *source_json(const th_result_file *results)
{
    static const char *const names[] = {"date", "host_name", "commit", "cpu_model", "compiler", "isa"};
    json_t *json = json_pack("{s:o}", "file", th_json_text(results->name));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        json_t *value = json_object_get(results->context, names[i]);
        json = th_json_merge(json, value ? json_pack("{s:O}", names[i], value) : json_object());
    }
    return json;
}

static json_t *changes_json(const th_comparison *c)
{
    json_t *changes = json_array();
    for (uint32_t i = 0; i < c->count; i++)
        changes = th_json_append(changes, change_json(&c->changes[i]));
    return changes;
}

json_t *th_comparison_json(const th_comparison *c)
{
    json_t *json = json_pack("{s:o, s:o, s:o, s:o, s:b}", "old", source_json(c->old_results), "new",
                             source_json(c->new_results), "threshold", th_json_real(c->threshold), "alpha",
                             th_json_real(TH_COMPARE_ALPHA), "good", !th_comparison_is_bad(c));
    return th_json_merge(json, json_pack("{s:i, s:i, s:i, s:O, s:O, s:o}", "regressions",
                                         (int)c->verdicts[TH_VERDICT_REGRESSION], "gains",
                                         (int)c->verdicts[TH_VERDICT_GAIN], "problems", (int)c->problems, "differences",
                                         c->differences, "warnings", c->warnings, "entries", changes_json(c)));
}

bool th_comparison_csv(const th_comparison *c, FILE *file)
{
    json_t *changes = changes_json(c);
    th_table *table = th_table_from_objects(changes);
    const bool written = th_table_write(table, TH_FORMAT_CSV, file);
    th_table_destroy(table);
    json_decref(changes);
    return written;
}

/* ---- text ---- */

static void add_time(th_table *table, double ns)
{
    if (isnan(ns))
        th_table_cell(table, "-");
    else if (ns < 1e3)
        th_table_cell(table, "%.2f ns", ns);
    else if (ns < 1e6)
        th_table_cell(table, "%.2f us", ns / 1e3);
    else
        th_table_cell(table, "%.2f ms", ns / 1e6);
}

static void add_interval(th_table *table, th_interval interval)
{
    if (isnan(interval.low))
        th_table_cell(table, "-");
    else
        th_table_cell(table, "%+.1f to %+.1f %%", 100 * interval.low, 100 * interval.high);
}

static void add_change(th_table *table, const th_comparison *comparison, const th_change *c)
{
    th_table_cell(table, "%s", c->name);
    add_time(table, c->old_ns);
    add_time(table, c->new_ns);
    if (isnan(c->change)) {
        for (int i = 0; i < 4; i++)
            th_table_cell(table, "-");
    } else {
        th_table_cell(table, "%+.1f %%", 100 * c->change);
        add_interval(table, c->interval);
        const bool is_classified = c->verdict != TH_VERDICT_BASELINE;
        th_table_cell(table, !is_classified ? "-" : c->p < 0.001 ? "%.0e" : "%.3f", c->p);
        th_table_cell(table, !is_classified || c->verdict == TH_VERDICT_UNKNOWN ? "-" : "%.1f %%",
                      100 * fmax(c->floor, comparison->threshold));
    }
    th_table_cell(table, "%s%s", th_verdict_name(c->verdict), c->problem[0] ? ", WRONG" : "");
}

static bool print_table(const th_comparison *c, th_format format, FILE *file)
{
    th_table *table = th_table_create("<entry|>old|>new|>change|>95 % CI|>p|>smallest detectable|<verdict");
    for (uint32_t i = 0; i < c->count; i++)
        add_change(table, c, &c->changes[i]);
    const bool printed = th_table_write(table, format, file);
    th_table_destroy(table);
    return printed;
}

static void print_source(const char *which, const th_result_file *results, th_format format, FILE *file)
{
    const char *commit = json_string_value(json_object_get(results->context, "commit"));
    const char *date = json_string_value(json_object_get(results->context, "date"));
    char line[768] = "";
    th_append(line, sizeof line, "%s: %s", which, results->name);
    if (commit)
        th_append(line, sizeof line, ", commit %.64s", commit);
    if (date)
        th_append(line, sizeof line, ", %.64s", date);
    th_write_line(file, format, "%s", line);
}

static void print_texts(const json_t *texts, const char *prefix, th_format format, FILE *file)
{
    size_t index;
    const json_t *text;
    json_array_foreach(texts, index, text) th_write_line(file, format, "%s: %s", prefix, json_string_value(text));
}

void th_comparison_summarize(const th_comparison *c, char *out, size_t size)
{
    const uint32_t *v = c->verdicts;
    th_append(out, size, "%u regression%s, %u gain%s, %u the same", v[TH_VERDICT_REGRESSION],
              th_plural(v[TH_VERDICT_REGRESSION]), v[TH_VERDICT_GAIN], th_plural(v[TH_VERDICT_GAIN]),
              v[TH_VERDICT_SAME]);
    if (v[TH_VERDICT_UNKNOWN])
        th_append(out, size, ", %u unknown", v[TH_VERDICT_UNKNOWN]);
    if (v[TH_VERDICT_UNTIMED])
        th_append(out, size, ", %u without times", v[TH_VERDICT_UNTIMED]);
    if (v[TH_VERDICT_BASELINE])
        th_append(out, size, ", %u baseline%s", v[TH_VERDICT_BASELINE], th_plural(v[TH_VERDICT_BASELINE]));
    if (v[TH_VERDICT_ONLY_OLD])
        th_append(out, size, ", %u gone", v[TH_VERDICT_ONLY_OLD]);
    if (v[TH_VERDICT_ONLY_NEW])
        th_append(out, size, ", %u new", v[TH_VERDICT_ONLY_NEW]);
}

static void print_summary(const th_comparison *c, th_format format, FILE *file)
{
    char line[512] = "";
    th_comparison_summarize(c, line, sizeof line);
    th_write_line(file, format, "%s.%s", line, c->problems ? " WRONG:" : "");
    for (uint32_t i = 0; i < c->count; i++)
        if (c->changes[i].problem[0])
            th_write_line(file, format, "%s: %s", c->changes[i].name, c->changes[i].problem);
}

bool th_comparison_print_figures(const th_comparison *c, th_format format, FILE *file)
{
    const bool printed = print_table(c, format, file);
    fputc('\n', file);
    print_summary(c, format, file);
    th_write_line(file, format,
                  "A change counts if it is larger than the smallest detectable change and has p < %.2g. CI: %.0f %% "
                  "confidence, by bootstrap. p: rank test, corrected for all entries (Holm).",
                  TH_COMPARE_ALPHA, 100 * TH_CONFIDENCE);
    return printed;
}

void th_comparison_print_warnings(const th_comparison *c, th_format format, FILE *file)
{
    print_texts(c->differences, "differs", format, file);
    print_texts(c->warnings, "warning", format, file);
}

void th_comparison_print_sides(const th_comparison *c, th_format format, FILE *file)
{
    print_source("old", c->old_results, format, file);
    print_source("new", c->new_results, format, file);
}

bool th_comparison_print(const th_comparison *c, th_format format, FILE *file)
{
    th_comparison_print_sides(c, format, file);
    fputc('\n', file);
    const bool printed = th_comparison_print_figures(c, format, file);
    th_comparison_print_warnings(c, format, file);
    return printed;
}

/* A comparison as JSON, CSV and text. */
#include "figures.h"

#include <bench/compare.h>

#include <assert.h>
#include <math.h>

/* ---- figures ---- */

typedef struct cell {
    char text[64];
} cell;

static th_value time_of(double ns)
{
    if (ns < 1e3)
        return TH_REAL(ns, "%.2f ns");
    return ns < 1e6 ? TH_SCALED(ns, 1e3, "%.2f us") : TH_SCALED(ns, 1e6, "%.2f ms");
}

/* "+4.7 to +5.6 %" */
static cell interval_of(const th_change_estimate *e)
{
    cell out = {"-"};
    if (!isnan(e->change) && !isnan(e->interval.low))
        snprintf(out.text, sizeof out.text, "%+.1f to %+.1f %%", 100 * e->interval.low, 100 * e->interval.high);
    return out;
}

/* The fields of an estimator. */
#define ESTIMATE(name, e)                                                                                              \
    TH_FIELD(name "_verdict", TH_TEXT(th_verdict_name((e).verdict))), TIMES(name, e),                                  \
        TH_FIELD(name "_p", TH_NUMBER((e).p)), TH_FIELD(name "_detectable", TH_NUMBER((e).detectable))
#define TIMES(name, e)                                                                                                 \
    TH_FIELD(name "_old_ns", TH_NUMBER((e).old_ns)), TH_FIELD(name "_new_ns", TH_NUMBER((e).new_ns)),                  \
        TH_FIELD(name "_change", TH_NUMBER((e).change)), TH_FIELD(name "_low", TH_NUMBER((e).interval.low)),           \
        TH_FIELD(name "_high", TH_NUMBER((e).interval.high))

static void add_change(th_sheet *sheet, const th_change *c)
{
    const th_change_estimate *const e = c->estimates, *median = &e[TH_ESTIMATOR_MEDIAN], *mean = &e[TH_ESTIMATOR_MEAN],
                                    *worst = &e[TH_ESTIMATOR_WORST], *cpu = &e[TH_ESTIMATOR_CPU];
    const cell intervals[] = {interval_of(median), interval_of(mean), interval_of(worst), interval_of(cpu)};
    char verdict[48], why[128] = "";
    const th_pixel_change *px = &c->pixels;
    const bool has_pixels = px->verdict != TH_PIXELS_UNKNOWN;
    snprintf(verdict, sizeof verdict, "%s%s%s%s", th_verdict_name(c->verdict),
             px->verdict == TH_PIXELS_WORSE ? "; MORE PIXELS" : "", c->has_more_bytes ? "; MORE BYTES" : "",
             c->problem[0] ? "; WRONG" : "");
    th_change_describe(c, why, sizeof why);
    const th_figure figures[] = {
        TH_FIGURE("name", "<entry", TH_TEXT(c->name)),
        TH_FIELD("verdict", TH_TEXT(th_verdict_name(c->verdict))),
        TH_COLUMN(">+old", time_of(median->old_ns)),
        TH_COLUMN(">+new", time_of(median->new_ns)),
        TH_COLUMN(">median", TH_SHARE(median->change, "%+.1f %%")),
        TH_COLUMN(">90 % CI", TH_TEXT(intervals[0].text)),
        TH_COLUMN(">mean", TH_SHARE(mean->change, "%+.1f %%")),
        TH_COLUMN(">+90 % CI", TH_TEXT(intervals[1].text)),
        TH_COLUMN(">worst 5 %", TH_SHARE(worst->change, "%+.1f %%")),
        TH_COLUMN(">+90 % CI", TH_TEXT(intervals[2].text)),
        TH_COLUMN(">+CPU", TH_SHARE(cpu->change, "%+.1f %%")),
        TH_COLUMN(">+90 % CI", TH_TEXT(intervals[3].text)),
        TH_COLUMN(">+px p99 old", TH_REAL(px->old_p99, "%.2g")),
        TH_COLUMN(">+px p99 new", TH_REAL(px->new_p99, "%.2g")),
        TH_COLUMN("<verdict", TH_TEXT(verdict)),
        TH_COLUMN("<+why", TH_TEXT(why)),
        ESTIMATE("median", *median),
        ESTIMATE("mean", *mean),
        ESTIMATE("worst", *worst),
        TIMES("cpu", *cpu),
        TH_FIELD("pixels_verdict", TH_TEXT(has_pixels ? th_pixel_verdict_name(px->verdict) : NULL)),
        TH_FIELD("old_px_p99", TH_NUMBER(px->old_p99)),
        TH_FIELD("new_px_p99", TH_NUMBER(px->new_p99)),
        TH_FIELD("old_px_max", TH_NUMBER(px->old_max)),
        TH_FIELD("new_px_max", TH_NUMBER(px->new_max)),
        TH_FIELD("old_bytes", TH_NUMBER(c->bytes[0])),
        TH_FIELD("new_bytes", TH_NUMBER(c->bytes[1])),
        TH_FIELD("old_processes", TH_COUNT(c->counts[0])),
        TH_FIELD("new_processes", TH_COUNT(c->counts[1])),
        TH_FIELD("problem", TH_TEXT(c->problem[0] ? c->problem : NULL)),
    };
    TH_SHEET_ADD(sheet, figures);
}

/* A table leaves out what has nothing to tell: no times, and the same palettes or none. */
static bool is_listed(const th_sheet *sheet, const th_change *c)
{
    return !sheet->is_table || c->verdict != TH_VERDICT_UNTIMED || c->problem[0] || c->pixels.verdict > TH_PIXELS_EQUAL;
}

static th_sheet with_changes(th_sheet sheet, const th_comparison *c)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (is_listed(&sheet, &c->changes[i]))
            add_change(&sheet, &c->changes[i]);
    return sheet;
}

/* ---- JSON and CSV ---- */

static json_t *source_json(const th_result_file *results)
{
    static const char *const names[] = {"date", "host_name", "commit", "cpu_model", "compiler", "isa"};
    json_t *json = json_pack("{s:o}", "file", th_json_text(results->name));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        json_t *value = json_object_get(results->context, names[i]);
        json = value ? th_json_set(json, names[i], json_incref(value)) : json;
    }
    return json;
}

json_t *th_comparison_json(const th_comparison *c)
{
    assert(c);
    const uint32_t *v = c->verdicts;
    json_t *json =
        json_pack("{s:i, s:o, s:o, s:o, s:o, s:i, s:b, s:b}", "throng_schema_version", TH_SCHEMA_VERSION, "old",
                  source_json(c->old_results), "new", source_json(c->new_results), "threshold",
                  th_json_real(c->threshold), "alpha", th_json_real(TH_COMPARE_ALPHA), "looks", (int)c->looks,
                  "interleaved", c->interleaved, "good", th_comparison_outcome(c) == TH_OUTCOME_GOOD);
    json =
        th_json_merge(json, json_pack("{s:i, s:i, s:i, s:i, s:i}", "slower", (int)v[TH_VERDICT_SLOWER], "faster",
                                      (int)v[TH_VERDICT_FASTER], "equivalent", (int)v[TH_VERDICT_EQUIVALENT],
                                      "inconclusive", (int)v[TH_VERDICT_INCONCLUSIVE], "problems", (int)c->problems));
    json = th_json_merge(
        json, json_pack("{s:i, s:b}", "same_palettes", (int)c->same_palettes, "identical", (int)c->identical));
    return th_json_merge(json, json_pack("{s:O, s:O, s:o}", "differences", c->differences, "warnings", c->warnings,
                                         "entries", with_changes(th_sheet_json(0), c).objects));
}

bool th_comparison_csv(const th_comparison *c, FILE *file)
{
    assert(c && file);
    return th_write_csv(with_changes(th_sheet_json(0), c).objects, file);
}

/* ---- text ---- */

static void print_source(const char *which, const th_result_file *results, th_output_format format, FILE *file)
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

/* How many entries have each verdict, and how many palettes are the same. */
static void print_counts(const th_comparison *c, bool has_times, th_output_format format, FILE *file)
{
    const struct {
        uint32_t count;
        const char *text;
    } counts[] = {{c->pixels[TH_PIXELS_WORSE], "with more pixels of error"},
                  {c->more_bytes, "with more bytes"},
                  {has_times ? c->verdicts[TH_VERDICT_UNTIMED] : 0, "without times"},
                  {c->verdicts[TH_VERDICT_BASELINE], "of baselines"},
                  {c->verdicts[TH_VERDICT_ONLY_OLD], "gone"},
                  {c->verdicts[TH_VERDICT_ONLY_NEW], "new"}};
    const uint32_t *v = c->verdicts, same = c->same_palettes;
    char line[512] = "";
    const size_t size = sizeof line;
    if (has_times)
        th_append(line, size, "%u slower, %u faster, %u equivalent, %u inconclusive", v[TH_VERDICT_SLOWER],
                  v[TH_VERDICT_FASTER], v[TH_VERDICT_EQUIVALENT], v[TH_VERDICT_INCONCLUSIVE]);
    if (same > 0 || !has_times)
        th_append(line, size, "%s%u palette%s identical", has_times ? ", " : "", same, th_plural(same));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i].count > 0)
            th_append(line, size, ", %u %s", counts[i].count, counts[i].text);
    th_write_line(file, format, "%s.%s", line, c->problems ? " WRONG:" : "");
}

bool th_comparison_print(const th_comparison *c, th_output_format format, FILE *file)
{
    assert(c && file);
    const uint32_t *v = c->verdicts;
    const bool has_times = v[TH_VERDICT_UNTIMED] + v[TH_VERDICT_ONLY_OLD] + v[TH_VERDICT_ONLY_NEW] < c->count;
    print_source("old", c->old_results, format, file);
    print_source("new", c->new_results, format, file);
    fputc('\n', file);
    th_sheet changes = with_changes(th_sheet_table(0), c);
    const bool has_rows = changes.count > 0, printed = th_sheet_write(&changes, format, file);
    if (has_rows)
        fputc('\n', file);

    print_counts(c, has_times, format, file);
    if (c->identical)
        th_write_line(file, format, "Both are the same result: identical in every repetition.");

    for (uint32_t i = 0; i < c->count; i++)
        if (c->changes[i].has_more_bytes)
            th_write_line(file, format, "%s: takes %.0f bytes, was %.0f", c->changes[i].name, c->changes[i].bytes[1],
                          c->changes[i].bytes[0]);

    /* What is wrong, and errors on screen that are not equal. */
    for (uint32_t i = 0; i < c->count; i++)
        if (c->changes[i].problem[0])
            th_write_line(file, format, "%s: %s", c->changes[i].name, c->changes[i].problem);
    for (uint32_t i = 0; i < c->count; i++) {
        const th_pixel_change *px = &c->changes[i].pixels;
        char old_px[64] = "none", new_px[64] = "none";
        if (px->verdict == TH_PIXELS_UNKNOWN || px->verdict == TH_PIXELS_EQUAL)
            continue;
        if (isfinite(px->old_p99))
            snprintf(old_px, sizeof old_px, "p99 %.3g, max %.3g", px->old_p99, px->old_max);
        if (isfinite(px->new_p99))
            snprintf(new_px, sizeof new_px, "p99 %.3g, max %.3g", px->new_p99, px->new_max);
        th_write_line(file, format, "%s: error on screen %s: %s pixels, was %s", c->changes[i].name,
                      th_pixel_verdict_name(px->verdict), new_px, old_px);
    }
    if (has_times && !c->identical)
        th_write_line(
            file, format,
            "Of wall time: median, mean, mean of the slowest 5 %%; %.0f %% CI over processes. Slower, faster: p < %.2g "
            "over all of them together (Holm), by more than %.3g %%, or %.3g %% of the slowest. Equivalent: all "
            "intervals within that. CPU time explains and judges nothing.",
            100 * TH_COMPARE_CONFIDENCE, TH_COMPARE_ALPHA, 100 * c->threshold, 1000 * c->threshold);
    th_print_texts(c->differences, "differs", format, file);
    th_print_texts(c->warnings, "warning", format, file);
    return printed;
}

#include "figures.h"

#include <bench/counters.h>
#include <bench/student.h>

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- values ---- */

/* Two figures of each, so that a wide interval takes no more room than a narrow one. */
static int digits_of(double share)
{
    return 100 * fabs(share) < 9.95;
}

th_share_text th_share_text_of(const th_estimate *share)
{
    th_share_text t;
    const int digits = digits_of(share->value);
    if (!isfinite(share->value))
        snprintf(t.text, sizeof t.text, "-");
    else if (isfinite(share->low) && isfinite(share->high))
        snprintf(t.text, sizeof t.text, "%.*f %% [%.*f, %.*f]", digits, 100 * share->value, digits_of(share->low),
                 100 * share->low, digits_of(share->high), 100 * share->high);
    else
        snprintf(t.text, sizeof t.text, "%.*f %% [no interval]", digits, 100 * share->value);
    return t;
}

static json_t *interval_json(double low, double high)
{
    return th_json_reals((const double[]){low, high}, 2);
}

static json_t *json_of(const th_value *value)
{
    json_t *object;
    switch (value->kind) {
    case TH_VALUE_REAL:
        return th_json_real(value->real / value->json_unit);
    case TH_VALUE_REALS:
        object = json_object();
        for (uint32_t i = 0; i < value->count; i++)
            object = th_json_set(object, value->name(i), th_json_real(value->reals[i]));
        return object;
    case TH_VALUE_INTERVALS:
        if (!value->name)
            return interval_json(value->intervals->low, value->intervals->high);
        object = json_object();
        for (uint32_t i = 0; i < value->count; i++)
            object =
                th_json_set(object, value->name(i), interval_json(value->intervals[i].low, value->intervals[i].high));
        return object;
    case TH_VALUE_ESTIMATE:
        return json_pack("{s:o, s:o}", "value", th_json_real(value->estimate.value), "interval",
                         interval_json(value->estimate.low, value->estimate.high));
    case TH_VALUE_DIGITS:
        return isfinite(value->real) ? th_json_count((uint64_t)value->real) : json_null();
    case TH_VALUE_COUNT:
        return th_json_count(value->count);
    case TH_VALUE_INDEX:
        return value->count == UINT32_MAX ? json_integer(-1) : th_json_count(value->count);
    case TH_VALUE_HASH:
        return th_json_hash(value->count);
    case TH_VALUE_FLAG:
        return json_boolean(value->count);
    case TH_VALUE_TEXT:
        return th_json_text(value->text);
    case TH_VALUE_JSON:
        return json_incref(value->json);
    default:
        return json_null();
    }
}

static void add_cell(th_table *table, const th_value *value)
{
    double shown = (double)NAN;
    if (value->kind == TH_VALUE_REAL)
        shown = value->is_share ? 100 * value->real : value->real / value->unit;
    if (isfinite(shown) && strchr(value->format, '*'))
        th_table_cell(table, value->format, shown < 10 ? 2 : 0, shown);
    else if (isfinite(shown))
        th_table_cell(table, value->format, shown);
    else if (value->kind == TH_VALUE_ESTIMATE)
        th_table_cell(table, "%s", th_share_text_of(&value->estimate).text);
    else if (value->kind == TH_VALUE_COUNT || (value->kind == TH_VALUE_INDEX && value->count != UINT32_MAX))
        th_table_cell(table, "%llu", (unsigned long long)value->count);
    else if (value->kind == TH_VALUE_DIGITS && isfinite(value->real))
        th_table_cell(table, "%s", th_digits_from((uint64_t)value->real).text);
    else if (value->kind == TH_VALUE_HASH)
        th_table_cell(table, "%016llx", (unsigned long long)value->count);
    else if (value->kind == TH_VALUE_FLAG)
        th_table_cell(table, value->count ? "yes" : "no");
    else
        th_table_cell(table, "%s", value->kind == TH_VALUE_TEXT && value->text ? value->text : "-");
}

/* ---- sheets ---- */

th_sheet th_sheet_json(unsigned view)
{
    return (th_sheet){.view = view, .objects = json_array()};
}

th_sheet th_sheet_table(unsigned view)
{
    return (th_sheet){.view = view, .is_table = true};
}

static bool is_shown(const th_sheet *sheet, const th_figure *figure)
{
    return (sheet->is_table ? figure->column : figure->name) && (!sheet->view || figure->views & sheet->view);
}

void th_sheet_add(th_sheet *sheet, const th_figure *figures, size_t count)
{
    assert(sheet && (figures || count == 0));
    if (sheet->is_table && sheet->count == 0) {
        char columns[1024] = "";
        for (size_t i = 0; i < count; i++)
            if (is_shown(sheet, &figures[i]))
                th_append(columns, sizeof columns, "%s%s", columns[0] ? "|" : "", figures[i].column);
        sheet->table = th_table_create(columns);
    }
    json_t *object = sheet->is_table ? NULL : json_object();
    for (size_t i = 0; i < count; i++) {
        if (!is_shown(sheet, &figures[i]))
            continue;
        if (sheet->is_table)
            add_cell(sheet->table, &figures[i].value);
        else if (figures[i].value.kind != TH_VALUE_ABSENT)
            object = th_json_set(object, figures[i].name, json_of(&figures[i].value));
    }
    if (!sheet->is_table)
        sheet->objects = th_json_append(sheet->objects, object);
    sheet->count++;
}

json_t *th_sheet_object(th_sheet *sheet)
{
    assert(!sheet->is_table && sheet->count == 1);
    json_t *object = json_incref(json_array_get(sheet->objects, 0));
    json_decref(sheet->objects);
    return object;
}

json_t *th_figures_json(const th_figure *figures, size_t count)
{
    th_sheet sheet = th_sheet_json(0);
    th_sheet_add(&sheet, figures, count);
    return th_sheet_object(&sheet);
}

bool th_sheet_write_more(th_sheet *sheet, th_output_format format, th_table_widths *widths, FILE *file)
{
    const bool written = sheet->count == 0 || th_table_write_more(sheet->table, format, widths, file);
    th_table_destroy(sheet->table);
    return written;
}

bool th_sheet_write(th_sheet *sheet, th_output_format format, FILE *file)
{
    const bool written = sheet->count == 0 || th_table_write(sheet->table, format, file);
    th_table_destroy(sheet->table);
    return written;
}

bool th_write_csv(json_t *objects, FILE *file)
{
    th_table *table = th_table_from_objects(objects);
    const bool written = th_table_write(table, TH_OUTPUT_CSV, file);
    th_table_destroy(table);
    json_decref(objects);
    return written;
}

void th_print_texts(const json_t *texts, const char *prefix, th_output_format format, FILE *file)
{
    size_t index;
    const json_t *text;
    json_array_foreach(texts, index, text) th_write_line(file, format, "%s: %s", prefix, json_string_value(text));
}

void th_print_gap(th_output_format format, FILE *file)
{
    fputs(format == TH_OUTPUT_TEXT || format == TH_OUTPUT_WIDE ? "\n" : "", file);
}

/* ---- how well an entry's median is known ---- */

th_samples th_row_medians(const th_row *row)
{
    th_samples medians, own;
    const bool room = th_samples_init(&medians, row->process_count);
    const bool all = th_samples_init(&own, row->real_ns.count) && room;
    for (uint32_t p = 0, first = 0; p < row->process_count && all; first = row->ends[p++]) {
        own.count = row->ends[p] - first;
        memcpy(own.values, row->real_ns.values + first, own.count * sizeof *own.values);
        if (own.count > 0)
            th_samples_add(&medians, th_samples_stats(&own).median);
    }
    th_samples_fini(&own);
    if (medians.count > 0 && !(th_samples_sorted(&medians)[0] > 0))
        medians.count = 0;
    return medians;
}

th_interval th_row_interval(const th_row *row)
{
    if (row->process_count < 2)
        return th_median_interval(&row->real_ns);
    th_interval interval = {(double)NAN, (double)NAN};
    th_samples medians = th_row_medians(row);
    if (medians.count > 1) {
        const th_log_estimate mean = th_log_mean(&medians);
        interval = th_log_interval(&mean, TH_CONFIDENCE);
    }
    th_samples_fini(&medians);
    return interval;
}

double th_row_ci_half_width(const th_row *row)
{
    const th_interval interval = th_row_interval(row);
    const double median = th_samples_stats(&row->real_ns).median;
    const bool is_known = row->real_ns.count > 1 && median > 0;
    return is_known ? (interval.high - interval.low) / 2 / median : (double)NAN;
}

const char *th_row_interval_unit(const th_row *row)
{
    return row->process_count > 1 ? "process" : "repetition";
}

/* ---- entries ---- */

double th_row_own(const th_row *row, const char *name)
{
    const json_t *value = json_object_get(row->own, name);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

/* Median time of a bone. */
static double bone_ns_of(const th_report *report, const char *name)
{
    for (uint32_t r = 0; r < report->row_count; r++)
        if (strcmp(report->rows[r].name, name) == 0 && !report->rows[r].failure[0])
            return th_samples_stats(&report->rows[r].real_ns).median / (double)report->rows[r].bones;
    return (double)NAN;
}

bool th_row_is_external(const th_row *row)
{
    return strncmp(row->name, "external/", strlen("external/")) == 0;
}

/* Of f32 palettes, so not of entries with smaller ones. What other programs write is not known. */
static double floor_ns_of(const th_report *report, const th_row *row)
{
    const char *format = strrchr(row->name, '/');
    bool is_known = !th_row_is_external(row);
    for (int p = TH_FORMAT_F32 + 1; format && p < TH_FORMAT_COUNT; p++)
        is_known = is_known && strcmp(format + 1, th_format_name((th_format)p)) != 0;
    return is_known ? fmin(bone_ns_of(report, "limit/write_cached"), bone_ns_of(report, "limit/write_streamed"))
                    : (double)NAN;
}

bool th_row_is_below_floor(const th_report *report, const th_row *row)
{
    return bone_ns_of(report, row->name) * TH_REPORT_MAX_EFFICIENCY < floor_ns_of(report, row);
}

double th_row_memory_floor_ns(const th_report *report, const th_row *row)
{
    return th_row_is_below_floor(report, row) ? (double)NAN : floor_ns_of(report, row);
}

enum {
    JSON = TH_ROW_JSON | TH_ROW_CSV,
    POSES = TH_ROW_POSE | TH_ROW_VARIATION,
    FRAMES = TH_ROW_FRAME | TH_ROW_ERROR,
    TIMED = POSES | TH_ROW_JOB | FRAMES | TH_ROW_LOAD,
    CHECKED = POSES | TH_ROW_DRY,
    NAMED = TH_ROW_CSV | TIMED | TH_ROW_DRY,
};

void th_row_add(th_sheet *sheet, const th_report *report, const th_row *row, double ns)
{
    const th_samples none = {0}, *samples = sheet->view == TH_ROW_JSON ? &none : &row->real_ns;
    const th_stats real = th_samples_stats(samples);
    const th_stats cpu = th_samples_stats(sheet->view == TH_ROW_CSV ? &row->cpu_ns : &none);
    const th_interval ci = sheet->view == TH_ROW_CSV ? th_row_interval(row) : (th_interval){0};
    const double half_width = sheet->is_table ? th_row_ci_half_width(row) : (double)NAN;
    const bool is_pose = sheet->view == TH_ROW_POSE, is_crowd = row->characters > 0;
    const double bone_ns = real.median / (double)row->bones;
    const double tutorial_ns = is_pose ? bone_ns_of(report, "pose/tutorial") : (double)NAN;
    const double floor_ns = is_pose ? th_row_memory_floor_ns(report, row) : (double)NAN;
    const double iteration_ns = sheet->view == TH_ROW_JSON ? ns : real.median;

    /* The kernel that other programs are compared with, where there are any. */
    char best[64];
    unsigned compared = 0;
    snprintf(best, sizeof best, ">x pose/%s/%s", th_isa_name(th_isa_best()), th_format_name(TH_FORMAT_F32));
    const double best_ns = is_pose ? bone_ns_of(report, best + strlen(">x ")) : (double)NAN;
    for (uint32_t r = 0; r < report->row_count && is_pose; r++)
        compared |= th_row_is_external(&report->rows[r]) ? TH_ROW_POSE : 0;

    /* "271,360", "203,112 (14 % exact)", "exact". */
    char keys[64] = "-";
    const double key_bytes = th_row_own(row, "key_bytes");
    const double exact = th_row_own(row, "exact_characters") / (double)row->characters;
    if (exact >= 1)
        strcpy(keys, "exact");
    else if (isfinite(key_bytes))
        strcpy(keys, th_digits_from((uint64_t)key_bytes).text);
    if (exact > 0 && exact < 1)
        th_append(keys, sizeof keys, " (%.3g %% exact)", 100 * exact);

    /* Beyond a fair share of the serial time, a call; or beyond the plain loop, a chunk. */
    const double call_ns = th_row_own(row, "overhead_ns"), chunk_ns = th_row_own(row, "chunk_ns");
    const th_value overhead = isfinite(chunk_ns) ? TH_REAL(chunk_ns, "%.2f ns") : TH_SCALED(call_ns, 1e3, "%.2f us");

    const char *const check = row->failure[0] ? row->failure : row->checked ? "right" : "ran";
    char repetitions[64];
    snprintf(repetitions, sizeof repetitions, "%u x %u", real.count, row->iterations);
    const th_figure figures[] = {
        {"name", "<entry", TH_TEXT(row->name), NAMED},
        {"threads", ">+threads", TH_COUNT(row->threads), TH_ROW_CSV | TH_ROW_JOB | TH_ROW_DRY},
        {"repetitions", NULL, TH_COUNT(row->real_ns.count), TH_ROW_CSV},
        {"iterations", NULL, TH_COUNT(row->iterations), TH_ROW_CSV},
        {NULL, ">+characters", TH_DIGITS(row->characters), FRAMES},
        {NULL, ">visible", TH_DIGITS(th_row_own(row, "visible")), FRAMES},
        {"median_ns", ">us/call", TH_SCALED(real.median, 1e3, "%.2f"), TH_ROW_CSV | TH_ROW_JOB},
        {NULL, ">ms/frame", TH_SCALED(real.median, 1e6, "%.3f"), FRAMES},
        {NULL, ">ms", TH_SCALED(real.median, 1e6, "%.3f"), TH_ROW_LOAD},
        {NULL, ">bytes", TH_DIGITS(th_row_own(row, "bytes")), TH_ROW_LOAD},
        {"median_low_ns", NULL, TH_NUMBER(ci.low), TH_ROW_CSV},
        {"median_high_ns", NULL, TH_NUMBER(ci.high), TH_ROW_CSV},
        {"interval_unit", NULL, TH_TEXT(th_row_interval_unit(row)), TH_ROW_CSV},
        {"mean_ns", NULL, TH_NUMBER(real.mean), TH_ROW_CSV},
        {"min_ns", ">+min", TH_SCALED(real.min, 1e3, "%.2f"), TH_ROW_CSV | TH_ROW_JOB},
        {NULL, ">+min", TH_SCALED(real.min, 1e6, "%.3f"), FRAMES},
        {"max_ns", NULL, TH_NUMBER(real.max), TH_ROW_CSV},
        {"p95_ns", ">p95", TH_SCALED(real.p95, 1e3, "%.2f"), TH_ROW_CSV | TH_ROW_JOB},
        {"p99_ns", NULL, TH_NUMBER(real.p99), TH_ROW_CSV},
        {"mad_ns", NULL, TH_NUMBER(real.mad), TH_ROW_CSV},
        {"stddev_ns", NULL, TH_NUMBER(real.stddev), TH_ROW_CSV},
        {"cv", NULL, TH_NUMBER(real.cv), TH_ROW_CSV},
        {"outliers", NULL, TH_COUNT(real.outliers), TH_ROW_CSV},
        {"cpu_median_ns", NULL, TH_NUMBER(cpu.median), TH_ROW_CSV},
        {"characters", NULL, TH_IF_GIVEN(is_crowd, TH_COUNT(row->characters)), JSON},
        {"bones", NULL, TH_IF_GIVEN(is_crowd, TH_COUNT(row->bones)), JSON},
        {"ns_per_bone", ">ns/bone", TH_IF_GIVEN(is_crowd, TH_REAL(iteration_ns / (double)row->bones, "%.2f")),
         JSON | POSES},
        {"us_per_character", ">us/character",
         TH_IF_GIVEN(is_crowd, TH_REAL(iteration_ns / 1000 / (double)row->characters, "%.3f")), JSON | POSES},
        {NULL, ">vs tutorial", TH_REAL(tutorial_ns / bone_ns, "%.*fx"), TH_ROW_POSE},
        {NULL, ">x memory floor", TH_REAL(bone_ns / floor_ns, "%.*fx"), TH_ROW_POSE},
        {NULL, best, TH_REAL(bone_ns / best_ns, "%.*fx"), compared},
        {NULL, ">vs redraw", TH_REAL(th_row_own(row, "vs_redraw"), "%.*fx"), TH_ROW_FRAME},
        {NULL, ">cull", TH_REAL(th_row_own(row, "cull_ms"), "%.3f"), FRAMES},
        {NULL, ">+wait", TH_REAL(th_row_own(row, "wait_ms"), "%.3f"), FRAMES},
        {NULL, ">pose", TH_REAL(th_row_own(row, "pose_ms"), "%.3f"), FRAMES},
        {NULL, ">draw", TH_REAL(th_row_own(row, "draw_ms"), "%.3f"), TH_ROW_FRAME},
        {NULL, ">px p99", TH_REAL(th_row_own(row, "error_px_p99"), "%.2g"), TH_ROW_ERROR},
        {NULL, ">px p50", TH_REAL(th_row_own(row, "error_px_p50"), "%.2g"), TH_ROW_ERROR},
        {NULL, ">px max", TH_REAL(th_row_own(row, "error_px_max"), "%.2g"), TH_ROW_ERROR},
        {NULL, ">+ring MB", TH_REAL(th_row_own(row, "ring_bytes") / 1e6, "%.2f"), FRAMES},
        {NULL, ">+serial", TH_SHARE(th_row_own(row, "serial"), "%.*f %%"), FRAMES},
        {NULL, ">+speed-up", TH_REAL(th_row_own(row, "speed_up"), "%.*fx"), TH_ROW_JOB},
        {NULL, ">efficiency", TH_SHARE(th_row_own(row, "efficiency"), "%.*f %%"), TH_ROW_JOB},
        {NULL, ">+efficiency at p90", TH_SHARE(th_row_own(row, "efficiency_at_p90"), "%.*f %%"), TH_ROW_JOB},
        {NULL, ">+overhead", overhead, TH_ROW_JOB},
        {NULL, ">idle", TH_REAL(th_row_own(row, "idle_cores"), "%.*f"), TH_ROW_JOB},
        {"max_error", ">max error", TH_IF_GIVEN(row->checked, TH_REAL(row->max_error, "%.2g")), JSON | CHECKED},
        {"error_vs_source", ">error vs source",
         TH_IF_GIVEN(row->checked && row->overrides, TH_REAL(row->error_vs_source, "%.2g")), JSON | TH_ROW_VARIATION},
        {NULL, ">+level error", TH_REAL(th_row_own(row, "level_error"), "%.2g"), TH_ROW_VARIATION},
        {NULL, ">+key bytes", TH_TEXT(keys), TH_ROW_VARIATION},
        {NULL, ">+us/frame", TH_SCALED(real.median, 1e3, "%.1f"), TH_ROW_VARIATION},
        {NULL, ">+evaluated", TH_REAL(th_row_own(row, "evaluated"), "%.0f"), TH_ROW_VARIATION},
        {NULL, ">+share error", TH_REAL(th_row_own(row, "share_error"), "%.2g"), TH_ROW_VARIATION},
        {"palette_hash", sheet->view == TH_ROW_DRY ? "<palette hash" : "<+palette hash",
         TH_IF_GIVEN(row->checked, TH_HASH(row->palette_hash)), JSON | CHECKED},
        {"moving", NULL, TH_IF_GIVEN(row->checked, TH_FLAG(row->moving)), JSON},
        {NULL, ">+frames", TH_TEXT(repetitions), POSES | FRAMES},
        {NULL, ">+calls", TH_TEXT(repetitions), TH_ROW_JOB},
        {NULL, ">+MAD", TH_SHARE(th_stats_relative_mad(&real), "%.*f %%"), TIMED},
        {NULL, ">95 % CI", TH_SHARE(half_width, "+-%.*f %%"), TIMED},
        {NULL, "<check", TH_TEXT(check), TH_ROW_DRY},
    };
    th_sheet_add(sheet, figures, sizeof figures / sizeof *figures);
}

/* ---- counters ---- */

static double counter_of(const json_t *counters, th_counter counter)
{
    const json_t *value = json_object_get(counters, th_counter_name(counter));
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

bool th_report_print_counters(const th_report *report, th_output_format format, FILE *file)
{
    th_sheet sheet = th_sheet_table(0);
    for (uint32_t r = 0; r < report->row_count; r++) {
        const th_row *row = &report->rows[r];
        const json_t *counters = json_object_get(row->own, "counters");
        if (!counters || row->failure[0])
            continue;
        double c[TH_COUNTER_COUNT];
        const double bones = (double)row->bones;
        for (int i = 0; i < TH_COUNTER_COUNT; i++)
            c[i] = counter_of(counters, (th_counter)i);
        const th_figure figures[] = {
            TH_COLUMN("<entry", TH_TEXT(row->name)),
            TH_COLUMN(">cycles", TH_REAL(c[TH_COUNTER_CYCLES] / bones, "%.1f")),
            TH_COLUMN(">instructions", TH_REAL(c[TH_COUNTER_INSTRUCTIONS] / bones, "%.1f")),
            TH_COLUMN(">IPC", TH_REAL(c[TH_COUNTER_INSTRUCTIONS] / c[TH_COUNTER_CYCLES], "%.2f")),
            TH_COLUMN(">L1 misses", TH_REAL(c[TH_COUNTER_L1_MISSES] / bones, "%.3f")),
            TH_COLUMN(">LLC misses", TH_REAL(c[TH_COUNTER_LLC_MISSES] / bones, "%.3f")),
            TH_COLUMN(">CPU ns", TH_REAL(c[TH_COUNTER_CPU_NS] / bones, "%.2f")),
            TH_COLUMN(">+page faults/frame", TH_REAL(c[TH_COUNTER_PAGE_FAULTS], "%.2f")),
            TH_COLUMN(">switches/frame", TH_REAL(c[TH_COUNTER_CONTEXT_SWITCHES], "%.2f")),
        };
        th_sheet_add(&sheet, figures, sizeof figures / sizeof *figures);
    }
    if (sheet.count == 0)
        return true;
    fputc('\n', file);
    th_write_line(file, format, "Counted in additional frames, for each bone:");
    th_print_gap(format, file);
    const bool printed = th_sheet_write(&sheet, format, file);
    if (report->counters_missing[0]) {
        fputc('\n', file);
        th_write_line(file, format, "%s", report->counters_missing);
    }
    return printed;
}

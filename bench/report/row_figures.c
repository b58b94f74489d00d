#include "row_figures.h"

#include "row_interval.h"

#include <throng/anim/crowd.h>

#include <math.h>
#include <string.h>

typedef struct text {
    char text[64];
} text;

double th_row_own(const th_row *row, const char *name)
{
    const json_t *value = json_object_get(row->own, name);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

/* Median time of a bone. */
static double bone_ns_of(const th_report *report, const char *name)
{
    for (uint32_t r = 0; r < report->row_count; r++)
        if (strcmp(report->rows[r].name, name) == 0)
            return th_samples_stats(&report->rows[r].real_ns).median / (double)report->rows[r].bones;
    return (double)NAN;
}

bool th_row_is_external(const th_row *row)
{
    return strncmp(row->name, "external/", strlen("external/")) == 0;
}

/* Whether it writes palettes of fewer bytes than f32. */
static bool is_smaller(const th_row *row)
{
    const char *format = strrchr(row->name, '/');
    bool smaller = false;
    for (int p = TH_PALETTE_F32 + 1; format && p < TH_PALETTE_COUNT; p++)
        smaller |= strcmp(format + 1, th_palette_name((th_palette)p)) == 0;
    return smaller;
}

/* Of f32 palettes; what other programs write, it does not know. */
double th_row_memory_floor_ns(const th_report *report, const th_row *row)
{
    return is_smaller(row) || th_row_is_external(row)
               ? (double)NAN
               : fmin(bone_ns_of(report, "limit/write_cached"), bone_ns_of(report, "limit/write_streamed"));
}

/* The kernel that other programs are compared with. */
static text default_pose(void)
{
    text name;
    snprintf(name.text, sizeof name.text, ">x pose/%s/%s", th_isa_name(th_isa_best()), th_palette_name(TH_PALETTE_F32));
    return name;
}

static bool has_external(const th_report *report)
{
    for (uint32_t r = 0; r < report->row_count; r++)
        if (th_row_is_external(&report->rows[r]))
            return true;
    return false;
}

/* "271,360", "203,112 (14 % exact)", "exact". */
static text keys_of(const th_row *row)
{
    text keys = {"-"};
    const double bytes = th_row_own(row, "key_bytes");
    const double exact = th_row_own(row, "exact_characters") / (double)row->characters;
    if (exact >= 1)
        strcpy(keys.text, "exact");
    else if (isfinite(bytes))
        strcpy(keys.text, th_digits_from((uint64_t)bytes).text);
    if (exact > 0 && exact < 1)
        th_append(keys.text, sizeof keys.text, " (%.3g %% exact)", 100 * exact);
    return keys;
}

/* Beyond a fair share of the serial time, a call; or beyond the plain loop, a chunk. */
static th_value overhead_of(const th_row *row)
{
    const double call_ns = th_row_own(row, "overhead_ns"), chunk_ns = th_row_own(row, "chunk_ns");
    return isfinite(chunk_ns) ? TH_REAL(chunk_ns, "%.2f ns") : TH_SCALED(call_ns, 1e3, "%.2f us");
}

enum {
    JSON = TH_ROW_JSON | TH_ROW_CSV,
    POSES = TH_ROW_POSE | TH_ROW_VARIATION,
    FRAMES = TH_ROW_FRAME | TH_ROW_ERROR,
    TIMED = POSES | TH_ROW_JOB | FRAMES,
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
    const text keys = keys_of(row), best = default_pose();
    const double best_ns = is_pose ? bone_ns_of(report, best.text + strlen(">x ")) : (double)NAN;
    const unsigned compared = is_pose && has_external(report) ? TH_ROW_POSE : 0;
    text repetitions;
    snprintf(repetitions.text, sizeof repetitions.text, "%u x %u", real.count, row->iterations);
    const th_figure figures[] = {
        {"name", "<entry", TH_TEXT(row->name), NAMED},
        {"threads", ">+threads", TH_COUNT(row->threads), TH_ROW_CSV | TH_ROW_JOB | TH_ROW_DRY},
        {"repetitions", NULL, TH_COUNT(row->real_ns.count), TH_ROW_CSV},
        {"iterations", NULL, TH_COUNT(row->iterations), TH_ROW_CSV},
        {NULL, ">+characters", TH_DIGITS(row->characters), FRAMES},
        {NULL, ">visible", TH_DIGITS(th_row_own(row, "visible")), FRAMES},
        {"median_ns", ">us/call", TH_SCALED(real.median, 1e3, "%.2f"), TH_ROW_CSV | TH_ROW_JOB},
        {NULL, ">ms/frame", TH_SCALED(real.median, 1e6, "%.3f"), FRAMES},
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
        {NULL, best.text, TH_REAL(bone_ns / best_ns, "%.*fx"), compared},
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
        {NULL, ">+overhead", overhead_of(row), TH_ROW_JOB},
        {NULL, ">idle", TH_REAL(th_row_own(row, "idle_cores"), "%.*f"), TH_ROW_JOB},
        {"max_error", ">max error", TH_IF_GIVEN(row->checked, TH_REAL(row->max_error, "%.2g")), JSON | CHECKED},
        {"error_vs_source", ">error vs source",
         TH_IF_GIVEN(row->checked && row->overrides, TH_REAL(row->error_vs_source, "%.2g")), JSON | TH_ROW_VARIATION},
        {NULL, ">+level error", TH_REAL(th_row_own(row, "level_error"), "%.2g"), TH_ROW_VARIATION},
        {NULL, ">+key bytes", TH_TEXT(keys.text), TH_ROW_VARIATION},
        {NULL, ">+us/frame", TH_SCALED(real.median, 1e3, "%.1f"), TH_ROW_VARIATION},
        {NULL, ">+evaluated", TH_REAL(th_row_own(row, "evaluated"), "%.0f"), TH_ROW_VARIATION},
        {NULL, ">+share error", TH_REAL(th_row_own(row, "share_error"), "%.2g"), TH_ROW_VARIATION},
        {"palette_hash", sheet->view == TH_ROW_DRY ? "<palette hash" : "<+palette hash",
         TH_IF_GIVEN(row->checked, TH_HASH(row->palette_hash)), JSON | CHECKED},
        {"moving", NULL, TH_IF_GIVEN(row->checked, TH_FLAG(row->moving)), JSON},
        {NULL, ">+frames", TH_TEXT(repetitions.text), POSES | FRAMES},
        {NULL, ">+calls", TH_TEXT(repetitions.text), TH_ROW_JOB},
        {NULL, ">+MAD", TH_SHARE(th_stats_relative_mad(&real), "%.*f %%"), TIMED},
        {NULL, ">95 % CI", TH_SHARE(half_width, "+-%.*f %%"), TIMED},
        {NULL, "<check",
         TH_TEXT(row->failure[0] ? row->failure
                 : row->checked  ? "right"
                                 : "ran"),
         TH_ROW_DRY},
    };
    th_sheet_add(sheet, figures, sizeof figures / sizeof *figures);
}

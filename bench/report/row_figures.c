#include "row_figures.h"

#include <throng/anim/crowd.h>

#include <math.h>
#include <string.h>

double th_row_own(const th_row *row, const char *name)
{
    const json_t *value = json_object_get(row->own, name);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static double median_of(const th_report *report, const char *name)
{
    for (uint32_t r = 0; r < report->row_count; r++)
        if (strcmp(report->rows[r].name, name) == 0)
            return th_samples_stats(&report->rows[r].real_ns).median;
    return (double)NAN;
}

/* The floor writes f32 palettes, twice as large as f16 ones. */
static double memory_floor_for(const th_report *report, const th_row *row)
{
    const char *format = strrchr(row->name, '/');
    const bool is_half = format && strcmp(format + 1, th_palette_name(TH_PALETTE_F16)) == 0;
    return is_half ? (double)NAN : median_of(report, "limit/palette_write");
}

typedef struct text {
    char text[64];
} text;

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
    return isfinite(chunk_ns) ? th_as_real(chunk_ns, "%.2f ns/chunk") : th_as_scaled(call_ns, 1e3, "%.2f us");
}

enum {
    JSON = TH_ROW_JSON | TH_ROW_CSV,
    POSES = TH_ROW_POSE | TH_ROW_VARIATION,
    TIMED = POSES | TH_ROW_JOB | TH_ROW_FRAME,
    CHECKED = POSES | TH_ROW_DRY,
    NAMED = TH_ROW_CSV | TIMED | TH_ROW_DRY | TH_ROW_FAILED,
};

void th_row_add(th_sheet *sheet, const th_report *report, const th_row *row, double ns)
{
    const th_samples none = {0}, *samples = sheet->view == TH_ROW_JSON ? &none : &row->real_ns;
    const th_stats real = th_samples_stats(samples);
    const th_stats cpu = th_samples_stats(sheet->view == TH_ROW_CSV ? &row->cpu_ns : &none);
    const th_interval ci = th_median_interval(sheet->view == TH_ROW_CSV ? samples : &none);
    const double half_width = th_median_ci_half_width(sheet->is_table ? samples : &none);
    const bool is_pose = sheet->view == TH_ROW_POSE, is_crowd = row->characters > 0;
    const double tutorial_ns = is_pose ? median_of(report, "pose/tutorial") : (double)NAN;
    const double floor_ns = is_pose ? memory_floor_for(report, row) : (double)NAN;
    const double iteration_ns = sheet->view == TH_ROW_JSON ? ns : real.median;
    const text keys = keys_of(row);
    text repetitions;
    snprintf(repetitions.text, sizeof repetitions.text, "%u x %u", real.count, row->iterations);
    const th_figure figures[] = {
        {"name", "<entry", th_as_text(row->name), NAMED},
        {"threads", ">threads", th_as_count(row->threads), TH_ROW_CSV | TH_ROW_JOB | TH_ROW_DRY | TH_ROW_FAILED},
        {"repetitions", NULL, th_as_count(row->real_ns.count), TH_ROW_CSV},
        {"iterations", NULL, th_as_count(row->iterations), TH_ROW_CSV},
        {NULL, ">characters", th_as_digits((double)row->characters), TH_ROW_FRAME},
        {NULL, ">visible", th_as_digits(th_row_own(row, "visible")), TH_ROW_FRAME},
        {"median_ns", ">us/call", th_as_scaled(real.median, 1e3, "%.2f"), TH_ROW_CSV | TH_ROW_JOB},
        {NULL, ">ms/frame", th_as_scaled(real.median, 1e6, "%.3f"), TH_ROW_FRAME},
        {"median_low_ns", NULL, th_as_number(ci.low), TH_ROW_CSV},
        {"median_high_ns", NULL, th_as_number(ci.high), TH_ROW_CSV},
        {"mean_ns", NULL, th_as_number(real.mean), TH_ROW_CSV},
        {"min_ns", ">min", th_as_scaled(real.min, 1e3, "%.2f"), TH_ROW_CSV | TH_ROW_JOB},
        {NULL, ">min", th_as_scaled(real.min, 1e6, "%.3f"), TH_ROW_FRAME},
        {"max_ns", NULL, th_as_number(real.max), TH_ROW_CSV},
        {"p95_ns", NULL, th_as_number(real.p95), TH_ROW_CSV},
        {"p99_ns", NULL, th_as_number(real.p99), TH_ROW_CSV},
        {"mad_ns", NULL, th_as_number(real.mad), TH_ROW_CSV},
        {"stddev_ns", NULL, th_as_number(real.stddev), TH_ROW_CSV},
        {"cv", NULL, th_as_number(real.cv), TH_ROW_CSV},
        {"outliers", NULL, th_as_count(real.outliers), TH_ROW_CSV},
        {"cpu_median_ns", NULL, th_as_number(cpu.median), TH_ROW_CSV},
        {"characters", NULL, th_if_applies(is_crowd, th_as_count(row->characters)), JSON},
        {"bones", NULL, th_if_applies(is_crowd, th_as_count(row->bones)), JSON},
        {"ns_per_bone", ">ns/bone", th_if_applies(is_crowd, th_as_real(iteration_ns / (double)row->bones, "%.2f")),
         JSON | POSES},
        {"us_per_character", ">us/character",
         th_if_applies(is_crowd, th_as_real(iteration_ns / 1000 / (double)row->characters, "%.3f")), JSON | POSES},
        {NULL, ">vs tutorial", th_as_real(tutorial_ns / real.median, "%.*fx"), TH_ROW_POSE},
        {NULL, ">x memory floor", th_as_real(real.median / floor_ns, "%.*fx"), TH_ROW_POSE},
        {NULL, ">vs redraw", th_as_real(th_row_own(row, "vs_redraw"), "%.*fx"), TH_ROW_FRAME},
        {NULL, ">cull", th_as_real(th_row_own(row, "cull_ms"), "%.3f"), TH_ROW_FRAME},
        {NULL, ">wait", th_as_real(th_row_own(row, "wait_ms"), "%.3f"), TH_ROW_FRAME},
        {NULL, ">pose", th_as_real(th_row_own(row, "pose_ms"), "%.3f"), TH_ROW_FRAME},
        {NULL, ">draw", th_as_real(th_row_own(row, "draw_ms"), "%.3f"), TH_ROW_FRAME},
        {NULL, ">speed-up", th_as_real(th_row_own(row, "speed_up"), "%.*fx"), TH_ROW_JOB},
        {NULL, ">efficiency", th_as_share(th_row_own(row, "efficiency"), "%.*f %%"), TH_ROW_JOB},
        {NULL, ">efficiency at p90", th_as_share(th_row_own(row, "efficiency_at_p90"), "%.*f %%"), TH_ROW_JOB},
        {NULL, ">overhead", overhead_of(row), TH_ROW_JOB},
        {NULL, ">idle cores", th_as_real(th_row_own(row, "idle_cores"), "%.*f"), TH_ROW_JOB},
        {"max_error", ">max error", th_if_applies(row->checked, th_as_real(row->max_error, "%.2g")), JSON | CHECKED},
        {"error_vs_source", ">error vs source",
         th_if_applies(row->checked && row->overrides, th_as_real(row->error_vs_source, "%.2g")),
         JSON | TH_ROW_VARIATION},
        {NULL, ">key bytes", th_as_text(keys.text), TH_ROW_VARIATION},
        {"palette_hash", "<palette hash", th_if_applies(row->checked, th_as_hash(row->palette_hash)), JSON | CHECKED},
        {"moving", NULL, th_if_applies(row->checked, th_as_flag(row->moving)), JSON},
        {NULL, ">frames", th_as_text(repetitions.text), POSES | TH_ROW_FRAME},
        {NULL, ">calls", th_as_text(repetitions.text), TH_ROW_JOB},
        {NULL, ">MAD", th_as_share(th_stats_relative_mad(&real), "%.*f %%"), TIMED},
        {NULL, ">95 % CI", th_as_share(half_width, "+-%.*f %%"), TIMED},
        {NULL, "<check",
         th_as_text(row->failure[0] ? row->failure
                    : row->checked  ? "right"
                                    : "ran"),
         TH_ROW_DRY},
        {NULL, "<why", th_as_text(row->failure), TH_ROW_FAILED},
    };
    th_sheet_add(sheet, figures, sizeof figures / sizeof *figures);
}

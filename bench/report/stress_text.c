#include "tables.h"

#include <throng/bench/stress.h>
#include <throng/core/table.h>

#include <math.h>

static void add_ms(th_table *table, double ns)
{
    th_table_cell(table, isnan(ns) ? "-" : "%.3f", ns / 1e6);
}

static void add_limit(th_table *table, const th_stress_point *p)
{
    uint32_t low, high;
    const bool known = th_stress_interval(p, &low, &high);
    th_table_cell(table, "%s", known ? th_digits_from(low).text : "-");
    th_table_cell(table, "%s", known ? th_digits_from(high).text : "-");
}

static void add_point(th_table *table, const th_stress_point *p, const th_row *row)
{
    th_table_cell(table, "%u", p->threads);
    th_table_cell(table, "%s", th_digits_from(p->characters).text);
    add_limit(table, p);
    th_table_cell(table, "%s", p->search.first_failing ? th_digits_from(p->search.first_failing).text : "-");
    th_table_cell(table, "%s", p->meets_budget ? "yes" : "no");
    add_ms(table, p->times.p99);
    add_ms(table, p->times.median);
    add_ms(table, p->times.max);
    th_table_cell(table, "%u", p->deadline_misses);
    th_table_cell(table, p->preempted_unknown ? "-" : "%u", p->preempted);
    add_ms(table, p->unpreempted.p99);
    th_table_cell(table, "%s", th_digits_from(p->frames).text);
    th_table_cell(table, p->search.runs ? "%u" : "-", p->search.runs);
    th_table_cell(table, "%016llx", (unsigned long long)row->palette_hash);
}

static bool print_points(const th_stress *stress, th_format format, FILE *file)
{
    th_table *table = th_table_create(">threads|>characters|>CI from|>CI to|>first failing|<meets budget|>p99 "
                                      "ms|>median|>max|>deadline misses|>preempted|"
                                      ">p99 without preempted|>frames|>runs|<palette hash");
    for (uint32_t i = 0; i < stress->point_count; i++)
        if (!stress->report.rows[i].failure[0])
            add_point(table, &stress->points[i], &stress->report.rows[i]);
    const bool printed = th_table_write(table, format, file);
    th_table_destroy(table);
    return printed;
}

static void print_rule(const th_stress *stress, th_format format, FILE *file)
{
    th_write_line(file, format,
                  "Meets budget: with %.0f %% confidence at most %.0f %% of frames exceed %.4g ms (%u of %s allowed). "
                  "CI: interval of the number at which %.0f %% of frames do, at the same confidence. Preempted: one of "
                  "our threads waited for a CPU for %.2g ms or more; these frames still count.",
                  100 * TH_CONFIDENCE, 100 * TH_CAPACITY_MISS_RATE, stress->budget_ns / 1e6,
                  th_capacity_allowed_misses(stress->frames), th_digits_from(stress->frames).text,
                  100 * TH_CAPACITY_MISS_RATE, stress->preemption_threshold_ns / 1e6);
}

static void print_memory(const th_stress *stress, th_format format, FILE *file)
{
    for (uint32_t i = 0; i < stress->point_count; i++)
        if (stress->points[i].out_of_memory) {
            th_write_line(
                file, format,
                "More characters on %u thread%s may meet the budget, but a character takes %.1f KB, and %.3g GB of "
                "memory are available.",
                stress->points[i].threads, th_plural(stress->points[i].threads), stress->bytes_per_character / 1e3,
                (double)stress->memory / 1e9);
        }
}

static void print_picture(const json_t *picture, th_format format, FILE *file)
{
    char line[512] = "";
    if (!picture)
        return;
    th_report_add_picture(picture, line, sizeof line);
    th_write_line(file, format, "%s", line);
}

/* Warnings about preemption, visibility and stability. */
static void print_warnings(const th_stress *stress, th_format format, FILE *file)
{
    for (uint32_t i = 0; i < stress->point_count; i++) {
        const th_stress_point *p = &stress->points[i];
        const double percent = 100.0 * p->preempted / p->frames;
        if (p->preempted > TH_CAPACITY_MISS_RATE * p->frames)
            th_write_line(file, format,
                          "warning: in %.*f %% of the frames on %u thread%s another process had the CPU of one of our "
                          "threads: this is the capacity of the machine under that load",
                          percent < 10, percent, p->threads, th_plural(p->threads));
        if (stress->drawn && p->visible < p->characters)
            th_write_line(file, format, "warning: only %s of the %s character%s on %u thread%s %s visible",
                          th_digits_from(p->visible).text, th_digits_from(p->characters).text, th_plural(p->characters),
                          p->threads, th_plural(p->threads), p->visible == 1 ? "was" : "were");
        if (p->search.runs > 0 && !p->search.is_stable)
            th_write_line(file, format,
                          "warning: the machine was not stable: on %u thread%s the worst of %u runs suggests %s "
                          "character%s, the best %s",
                          p->threads, th_plural(p->threads), p->search.runs, th_digits_from(p->search.worst_run).text,
                          th_plural(p->search.worst_run), th_digits_from(p->search.best_run).text);
    }
}

bool th_stress_print_figures(const th_stress *stress, th_format format, FILE *file)
{
    fputs(format == TH_FORMAT_TEXT ? "\n" : "", file);
    const bool printed = print_points(stress, format, file);
    fputc('\n', file);
    print_rule(stress, format, file);
    print_memory(stress, format, file);
    fputs(format == TH_FORMAT_TEXT ? "\n" : "", file);
    if (format != TH_FORMAT_HTML) /* a page has it in its headline */
        th_write_line(file, format, "%s", stress->headline);
    fputs(format == TH_FORMAT_TEXT ? "\n" : "", file);
    print_warnings(stress, format, file);
    return printed;
}

void th_stress_print_how(const th_stress *stress, th_format format, FILE *file)
{
    th_write_line(file, format, "%s kernel, %s palettes, %s scheduler, placement %s, frames %s on ticks of %.4g ms",
                  th_isa_name(stress->isa), th_palette_name(stress->palette),
                  th_scheduler_name(TH_SCHEDULER_WORK_STEALING), th_placement_name(stress->placement),
                  th_stress_frame_name(stress), stress->budget_ns / 1e6);
    print_picture(stress->report.picture, format, file);
}

bool th_stress_print(const th_stress *stress, th_format format, FILE *file)
{
    const th_report *report = &stress->report;
    th_report_print_conditions(report, format, file);
    th_stress_print_how(stress, format, file);
    const bool printed = report->is_dry_run ? th_report_print_dry_run(report, format, file)
                                            : th_stress_print_figures(stress, format, file);
    th_report_print_warnings(report, format, file);
    return printed;
}

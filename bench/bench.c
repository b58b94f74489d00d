#include <throng/bench.h>

#include "entry.h"
#include "load.h"

#include <throng/json.h>
#include <throng/table.h>

#include <assert.h>
#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ENTRIES = 32 };

/* ---- which entries ---- */

static uint32_t keep_matching(th_entry *entries, uint32_t count, const char *filter)
{
    regex_t regex;
    if (!filter || regcomp(&regex, filter, REG_EXTENDED | REG_NOSUB) != 0)
        return count;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (regexec(&regex, entries[i].name, 0, NULL, 0) == 0)
            entries[kept++] = entries[i];
    regfree(&regex);
    return kept;
}

typedef struct plan {
    th_entry entries[MAX_ENTRIES]; /* those about poses first */
    uint32_t pose_count, count;
} plan;

static void plan_init(plan *p, const char *filter)
{
    p->pose_count = keep_matching(p->entries, th_pose_entries(p->entries), filter);
    th_entry *jobs = p->entries + p->pose_count;
    p->count = p->pose_count + keep_matching(jobs, th_jobs_entries(jobs), filter);
    assert(p->count <= MAX_ENTRIES);
}

th_bench_names th_bench_list(const char *filter)
{
    plan p;
    plan_init(&p, filter);
    th_bench_names names = {.count = p.count};
    for (uint32_t i = 0; i < p.count; i++)
        memcpy(names.names[i], p.entries[i].name, sizeof names.names[i]);
    return names;
}

/* ---- running them ---- */

/* What is compared is measured in turn; poses and jobs are not compared with each other. Threads of the second group
 * exist only after the first is done. */
static th_result run_group(th_entry *entries, uint32_t count, const th_bench_desc *desc, const th_stage *stage,
                           th_row *rows, th_error *err)
{
    th_subject subjects[MAX_ENTRIES];
    th_result result = TH_OK;
    for (uint32_t i = 0; i < count && result == TH_OK; i++) {
        memcpy(rows[i].name, entries[i].name, sizeof rows[i].name);
        result = entries[i].create(&entries[i], desc, stage, &rows[i], err);
        subjects[i] = (th_subject){.run = entries[i].run, .ctx = entries[i].subject, .row = &rows[i]};
    }
    if (result == TH_OK && count > 0)
        th_measure(&desc->measure, subjects, count);
    for (uint32_t i = 0; i < count; i++)
        if (entries[i].subject)
            entries[i].destroy(entries[i].subject);
    return result;
}

static th_result run_poses(plan *p, const th_bench_desc *desc, th_report *out, th_error *err)
{
    th_stage stage;
    if (p->pose_count == 0)
        return TH_OK;
    th_result result = th_stage_init(&stage, &desc->scene, err);
    if (result == TH_OK)
        result = run_group(p->entries, p->pose_count, desc, &stage, out->rows, err);
    if (result == TH_OK)
        out->scene = th_scene_json(stage.compiled, &desc->scene);
    th_stage_fini(&stage);
    return result;
}

th_result th_bench_run(const th_bench_desc *desc, th_report *out, th_error *err)
{
    plan p;
    plan_init(&p, desc->filter);
    th_result result = th_report_init(out, p.count, desc->measure.repetitions, err);
    if (result != TH_OK)
        return result;
    th_load load = th_load_begin();
    result = run_poses(&p, desc, out, err);
    if (result == TH_OK)
        result = run_group(p.entries + p.pose_count, p.count - p.pose_count, desc, NULL, out->rows + p.pose_count, err);
    out->others_cpus = th_load_others(&load);
    if (result != TH_OK)
        th_report_fini(out);
    return result;
}

/* ---- text ---- */

static double median_of(const th_report *report, const char *name)
{
    for (uint32_t r = 0; r < report->row_count; r++)
        if (strcmp(report->rows[r].name, name) == 0)
            return th_samples_stats(&report->rows[r].real_ns).median;
    return (double)NAN;
}

static void add_ratio(th_table *table, double ratio, const char *suffix)
{
    if (isfinite(ratio))
        th_table_cell(table, ratio < 10 ? "%.2f%s" : "%.0f%s", ratio, suffix);
    else
        th_table_cell(table, "-");
}

static void add_pose(th_table *table, const th_report *report, const th_row *row)
{
    th_stats stats = th_samples_stats(&row->real_ns);
    th_table_cell(table, "%s", row->name);
    th_table_cell(table, "%.2f", stats.median / (double)row->joints);
    th_table_cell(table, "%.3f", stats.median / 1000 / (double)row->characters);
    add_ratio(table, median_of(report, "pose/tutorial") / stats.median, "x");
    add_ratio(table, stats.median / median_of(report, "limit/palette_write"), "x");
    if (row->checked) {
        th_table_cell(table, "%.2g", row->max_error);
        th_table_cell(table, "%016llx", (unsigned long long)row->palette_hash);
    } else {
        th_table_cell(table, "-");
        th_table_cell(table, "-");
    }
    th_table_cell(table, "%u x %u", stats.count, row->iterations);
    add_ratio(table, 100 * th_stats_spread(&stats), " %");
}

/* How many times faster than the plain loop on one thread; for empty chunks that says nothing. */
static double speed_up(const th_report *report, const th_row *row, double median)
{
    char serial[sizeof row->name];
    if (strstr(row->name, "fork_join"))
        return (double)NAN;
    snprintf(serial, sizeof serial, "%.*s/serial", (int)(strrchr(row->name, '/') - row->name), row->name);
    return median_of(report, serial) / median;
}

static void add_job(th_table *table, const th_report *report, const th_row *row)
{
    th_stats stats = th_samples_stats(&row->real_ns);
    th_table_cell(table, "%s", row->name);
    th_table_cell(table, "%u", row->threads);
    th_table_cell(table, "%.2f", stats.median / 1000);
    th_table_cell(table, "%.2f", stats.min / 1000);
    add_ratio(table, speed_up(report, row, stats.median), "x");
    th_table_cell(table, "%u x %u", stats.count, row->iterations);
    add_ratio(table, 100 * th_stats_spread(&stats), " %");
}

static bool print_kind(const th_report *report, bool poses, const char *columns, FILE *file)
{
    uint32_t shown = 0;
    th_table *table = th_table_create(columns);
    for (uint32_t r = 0; r < report->row_count; r++) {
        const th_row *row = &report->rows[r];
        if (row->failure[0] || (row->characters > 0) != poses)
            continue;
        shown++;
        if (poses)
            add_pose(table, report, row);
        else
            add_job(table, report, row);
    }
    if (shown > 0)
        fputc('\n', file);
    bool printed = shown == 0 || th_table_print(table, file);
    th_table_destroy(table);
    return printed;
}

bool th_bench_print(const th_report *report, FILE *file)
{
    th_report_print_conditions(report, file);
    bool printed =
        print_kind(report, true,
                   "<entry|>ns/joint|>us/character|>vs tutorial|>vs limit|>max error|<palette hash|>frames|>spread",
                   file) &&
        print_kind(report, false, "<entry|>threads|>us/call|>least|>speed-up|>calls|>spread", file);
    fputs("\nMedians; spread: half of the repetitions lie within it. Max error in scene units, against double "
          "precision.\n",
          file);
    th_report_print_doubts(report, file);
    return printed;
}

/* throng bench: the speed and accuracy of poses, and the cost of the job system. */
#include "bench_frames.h"
#include "measure_options.h"
#include "model_set.h"
#include "output.h"
#include "processes.h"
#include "progress.h"

#include <throng/bench/bench.h>
#include <throng/bench/page.h>
#include <throng/core/json.h>
#include <throng/core/table.h>

static bool write_names(const th_bench_names *names, th_format format, FILE *file)
{
    th_table *table = th_table_create("<name");
    for (uint32_t i = 0; i < names->count; i++)
        th_table_cell(table, "%s", names->names[i]);
    const bool written = th_table_write(table, format, file);
    th_table_destroy(table);
    return written;
}

static bool names_csv(const void *ctx, FILE *file)
{
    return write_names(ctx, TH_FORMAT_CSV, file);
}

static bool names_markdown(const void *ctx, FILE *file)
{
    return write_names(ctx, TH_FORMAT_MARKDOWN, file);
}

static bool print_names(const void *ctx, FILE *file)
{
    const th_bench_names *names = ctx;
    for (uint32_t i = 0; i < names->count; i++)
        fprintf(file, "%s\n", names->names[i]);
    return true;
}

static json_t *names_json(const void *ctx)
{
    const th_bench_names *names = ctx;
    json_t *array = json_array();
    for (uint32_t i = 0; i < names->count; i++)
        array = th_json_append(array, json_string(names->names[i]));
    return array;
}

static json_t *report_json(const void *ctx)
{
    return th_report_json(ctx);
}

static bool report_csv(const void *ctx, FILE *file)
{
    return th_report_csv(ctx, file);
}

static bool report_markdown(const void *ctx, FILE *file)
{
    return th_bench_print(ctx, TH_FORMAT_MARKDOWN, file);
}

static bool report_page(const void *ctx, const char *command, FILE *file)
{
    return th_bench_page(ctx, command, file);
}

static bool print_report(const void *ctx, FILE *file)
{
    return th_bench_print(ctx, TH_FORMAT_TEXT, file);
}

/* Whether this machine skips every requested entry. */
static bool is_all_skipped(const th_report *report)
{
    uint32_t count = 0;
    for (uint32_t r = 0; r < report->row_count; r++)
        count += report->rows[r].skipped;
    return count == report->row_count;
}

static int show_report(const th_options *o, const th_report *report)
{
    const th_output output = {report_json, 12, print_report, report_csv, report_markdown, report_page};
    int code = th_output_result(o, &output, report);
    int check = th_complain_of_failures(report);
    return check != TH_EXIT_GOOD ? check : code;
}

static int run_bench(const th_options *o, const th_measure_desc *measure, const th_model_set *model_set)
{
    th_error err;
    th_report report;
    th_bench_frames frames;
    th_bench_frames_init(&frames, o, model_set);
    const th_external_benchmarks external = th_bench_frames_external(&frames);
    th_bench_desc desc = {
        .scene = th_model_set_scene_desc(model_set, o),
        .threads = o->threads.counts[0],
        .measure = *measure,
        .tracer = o->tracer,
        .filter = o->filter,
        .external = &external,
    };
    const th_result result = th_bench_run(&desc, &report, &err);
    th_bench_frames_fini(&frames);
    th_progress_end();
    if (result != TH_OK)
        return th_fail_with(&err);
    int code = TH_EXIT_ENVIRONMENT;
    if (is_all_skipped(&report))
        th_complain("%s", th_report_skipped(&report)->failure);
    else
        code = th_processes_add(o, &report);
    if (code == TH_EXIT_GOOD)
        code = show_report(o, &report);
    th_report_fini(&report);
    return code;
}

int th_command_bench(const th_options *o)
{
    const th_external_benchmarks external = th_bench_frames_external(NULL);
    th_bench_names names = th_bench_list(o->filter, &external);
    if (names.count == 0) {
        th_complain("no entry matches \"%s\"; `throng bench --list` names them all", o->filter);
        return TH_EXIT_USAGE;
    }
    if (o->list && o->save) {
        th_complain("--list measures nothing that could be kept by --save");
        return TH_EXIT_USAGE;
    }
    if (o->list && o->report) {
        th_complain("--list measures nothing that --report could show");
        return TH_EXIT_USAGE;
    }
    if (o->list && o->trace) {
        th_complain("--list measures nothing that --trace could show");
        return TH_EXIT_USAGE;
    }
    if (o->list) {
        const th_output output = {names_json, 12, print_names, names_csv, names_markdown, NULL};
        return th_output_result(o, &output, &names);
    }
    th_measure_desc measure;
    int code = th_measure_options_init(&measure, o);
    if (code != TH_EXIT_GOOD)
        return code;
    th_model_set model_set;
    th_tracer_begin(o->tracer, "load");
    code = th_model_set_init(&model_set, o);
    th_tracer_end(o->tracer);
    if (code == TH_EXIT_GOOD)
        code = run_bench(o, &measure, &model_set);
    th_model_set_fini(&model_set);
    return code;
}

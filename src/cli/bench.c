/* throng bench: the speed and accuracy of poses, and the cost of the job system. */
#include "bench_frames.h"
#include "bench_programs.h"
#include "interrupt.h"
#include "measure_options.h"
#include "options.h"
#include "processes.h"
#include "progress.h"
#include "submission.h"

#include <throng/bench/bench.h>
#include <throng/bench/page.h>
#include <throng/bench/scheduler_process.h>
#include <throng/core/clock.h>
#include <throng/core/file.h>
#include <throng/core/json.h>
#include <throng/core/table.h>

#include <signal.h>

/* ---- the names of the entries ---- */

static json_t *names_json(const th_bench_names *names)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < names->count; i++)
        array = th_json_append(array, json_string(names->names[i]));
    return array;
}

static bool write_names(const void *result, th_form form, const char *command, FILE *file)
{
    const th_bench_names *names = result;
    (void)command;
    if (form == TH_FORM_JSON)
        return th_output_json(names_json(names), 12, file);
    if (form == TH_FORM_TEXT || form == TH_FORM_WIDE) {
        for (uint32_t i = 0; i < names->count; i++)
            fprintf(file, "%s\n", names->names[i]);
        return true;
    }
    th_table *table = th_table_create("<name");
    for (uint32_t i = 0; i < names->count; i++)
        th_table_cell(table, "%s", names->names[i]);
    const bool written = th_table_write(table, (th_format)form, file);
    th_table_destroy(table);
    return written;
}

static int list(const th_options *o, th_run *run, const th_bench_names *names)
{
    static const char *const others[][2] = {
        {"save", "could be kept by --save"}, {"report", "--report could show"}, {"trace", "--trace could show"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (th_run_has_option(run, others[i][0])) {
            th_complain("--list measures nothing that %s", others[i][1]);
            return TH_EXIT_USAGE;
        }
    return th_output_write(run, &o->output, write_names, names);
}

/* ---- measuring ---- */

static bool write_report(const void *result, th_form form, const char *command, FILE *file)
{
    switch (form) {
    case TH_FORM_JSON:
        return th_output_json(th_report_json(result), 12, file);
    case TH_FORM_CSV:
        return th_report_csv(result, file);
    case TH_FORM_PAGE:
        return th_bench_page(result, command, file);
    default:
        return th_bench_print(result, (th_format)form, file);
    }
}

/* Whether this machine skips every requested entry. */
static bool is_all_skipped(const th_report *report)
{
    uint32_t count = 0;
    for (uint32_t r = 0; r < report->row_count; r++)
        count += report->rows[r].skipped;
    return count == report->row_count;
}

/* What external programs compute is no interference. */
static th_result measure_with(const th_bench_programs *programs, const th_bench_desc *desc, th_report *report,
                              th_error *err)
{
    const uint64_t begin_ns = th_clock_ns();
    const double begin_s = th_bench_programs_cpu_s(programs);
    const th_result result = th_bench_run(desc, report, err);
    const double wall_s = (double)(th_clock_ns() - begin_ns) / 1e9;
    const double own_load = (th_bench_programs_cpu_s(programs) - begin_s) / wall_s;
    if (result == TH_OK && own_load > 0) {
        const double load = report->interference.external_cpu_load - own_load;
        report->interference.external_cpu_load = load < 0 ? 0 : load; /* NaN stays */
    }
    return result;
}

static th_result merge(void *report, const th_result_file *other, th_error *err)
{
    return th_result_file_merge_into(other, report, err);
}

static const char *filter_of(const th_options *o)
{
    if (o->bench.submit && !o->filter)
        return "^" TH_REFERENCE_PREFIX;
    return o->bench.roofline && !o->filter ? "^pose/.*/f|^ceiling/" : o->filter;
}

/* Text is printed while it is measured, if this process measures all of it. */
typedef struct live {
    th_bench_printer printer;
    bool is_wanted, is_used;
} live;

static void print_finished(void *ctx, const th_report *report, uint32_t first, uint32_t count)
{
    live *l = ctx;
    th_progress_end();
    th_bench_printer_add(&l->printer, report, first, count);
    l->is_used = l->printer.last != NULL;
}

/* What write_rest gets. */
typedef struct live_result {
    live *live;
    const th_report *report;
} live_result;

static live live_of(const th_options *o, uint32_t processes)
{
    return (live){
        .printer = {.format = o->output.wide ? TH_FORMAT_WIDE : TH_FORMAT_TEXT, .file = stdout},
        .is_wanted = !o->output.json && processes == 1 && !o->measure.is_dry_run,
    };
}

/* Text of which the tables are already printed. */
static bool write_rest(const void *result, th_form form, const char *command, FILE *file)
{
    const live_result *both = result;
    if (file == stdout && both->live->is_used)
        return th_bench_printer_end(&both->live->printer, both->report);
    return write_report(both->report, form, command, file);
}

static int run_bench(const th_options *o, th_run *run, const th_model_set *model_set, const th_measure_desc *measure,
                     th_bench_programs *programs, uint32_t processes)
{
    th_error err;
    th_report report;
    th_bench_frames frames;
    th_crowd_view_desc drawn = th_model_set_crowd_view_desc(model_set, &o->crowd);
    drawn.count = o->bench.drawn;
    const th_scene_desc scene = th_model_set_scene_desc(model_set, &o->crowd);
    th_bench_frames_init(&frames, &drawn, &o->picture, &scene);
    const th_external_benchmarks drawing = th_bench_frames_external(&frames);
    const th_external_benchmarks external = th_bench_programs_join(programs, &drawing);
    live shown = live_of(o, processes);
    if (o->output.out || o->output.report || o->output.save)
        signal(SIGPIPE, SIG_IGN); /* files are written although nobody reads the text any more */
    static const char *const scheduler_program[] = {"/proc/self/exe", TH_SCHEDULER_COMMAND, NULL};
    const th_bench_desc desc = {
        .scheduler_program = scheduler_program,
        .scene = scene,
        .threads = o->crowd.jobs.threads,
        .measure = *measure,
        .counters = o->counters,
        .tracer = run->tracer,
        .filter = filter_of(o),
        .external = &external,
        .finished = shown.is_wanted ? print_finished : NULL,
        .finished_ctx = &shown,
    };
    th_progress_begin();
    const th_result result = measure_with(programs, &desc, &report, &err);
    th_bench_frames_fini(&frames);
    th_progress_end();
    if (result != TH_OK)
        return th_fail_with(&err);
    int code = report.is_partial ? th_interrupt_code() : TH_EXIT_ENVIRONMENT;
    const bool has_result = !is_all_skipped(&report);
    if (!has_result)
        th_complain("%s", th_report_skipped(&report)->failure);
    else
        code = th_processes_add(run, processes, merge, &report, &report);
    if (has_result && code == TH_EXIT_GOOD)
        code = th_output_report(run, &o->output, write_rest, &(live_result){&shown, &report}, &report);
    th_report_fini(&report);
    return code;
}

static int list_or_measure(const th_options *o, th_run *run, th_bench_programs *programs)
{
    const th_external_benchmarks drawing = th_bench_frames_external(NULL);
    const th_external_benchmarks external = th_bench_programs_join(programs, &drawing);
    const th_bench_names names = th_bench_list(filter_of(o), &external);
    if (names.count == 0) {
        th_complain("no entry matches \"%s\"; `throng bench --list` names them all", filter_of(o));
        return TH_EXIT_USAGE;
    }
    if (o->bench.list)
        return list(o, run, &names);
    th_measure_desc measure = o->measure;
    const uint32_t processes = th_processes_plan(o->bench.processes, o->output.save, &measure);
    measure.seed = o->crowd.seed;
    int code = th_measure_options_complete(run, &measure);
    if (code != TH_EXIT_GOOD)
        return code;
    th_model_set model_set;
    th_error err;
    const th_result result = th_model_set_init(&model_set, &o->models, run->tracer, &err);
    code = result == TH_OK ? run_bench(o, run, &model_set, &measure, programs, processes) : th_fail_with(&err);
    th_model_set_fini(&model_set);
    return code;
}

/* Writes the result where submissions are, if it is one. */
static int prepare_submission(const th_options *o, char path[TH_SUBMISSION_MAX_PATH], th_output_options *output)
{
    th_error err;
    *output = o->output;
    if (!o->bench.submit || o->bench.list)
        return TH_EXIT_GOOD;
    if (o->output.out) {
        th_complain("--submit names its file itself; leave --out away");
        return TH_EXIT_USAGE;
    }
    if (o->bench.processes > 1) {
        th_complain("--submit measures in one process; leave --processes away");
        return TH_EXIT_USAGE;
    }
    output->out = path;
    const bool is_ready =
        th_submission_prepare(o->bench.submit, path, &err) == TH_OK && th_file_probe(path, &err) == TH_OK;
    return is_ready ? TH_EXIT_GOOD : th_fail_with(&err);
}

static int list_or_run(const th_options *o, th_run *run)
{
    const th_bench_programs_desc desc = {o->bench.programs.paths, o->bench.programs.count, o->bench.program_timeout_s};
    th_bench_programs *programs;
    th_error err;
    const th_result result = th_bench_programs_start(&desc, &programs, &err);
    const int code = result == TH_OK ? list_or_measure(o, run, programs) : th_fail_with(&err);
    th_bench_programs_stop(programs);
    return code;
}

int th_command_bench(const th_options *o, th_run *run)
{
    char path[TH_SUBMISSION_MAX_PATH];
    th_options with_file = *o;
    const int code = prepare_submission(o, path, &with_file.output);
    return code == TH_EXIT_GOOD ? list_or_run(&with_file, run) : code;
}

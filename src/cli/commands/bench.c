/* throng bench: the speed and accuracy of poses, and the cost of the job system. */
#include "bench_frames.h"
#include "bench_programs.h"
#include "cli/measuring.h"
#include <cli/options.h>

#include <bench/bench.h>
#include <core/clock.h>
#include <core/file.h>

#include <signal.h>

enum { DRAWN = 20 }; /* characters in the pictures of frame/ entries */

#define PROGRAM_TIMEOUT_S 60.0 /* for an answer of an external program */

static th_result merge(void *report, const th_result_file *other, th_error *err)
{
    return th_result_file_merge_into(other, report, err);
}

/* Text is printed while it is measured, if this process measures all of it. */
typedef struct live {
    th_bench_printer printer;
    const th_report *report; /* the finished one */
    bool is_used;
} live;

static void print_finished(void *ctx, const th_report *report, uint32_t first, uint32_t count)
{
    live *l = ctx;
    th_progress_end();
    th_bench_printer_add(&l->printer, report, first, count);
    l->is_used = l->printer.last != NULL;
}

static bool write_report(const void *result, th_form form, FILE *file)
{
    live *l = (live *)result;
    if (file == stdout && l->is_used) /* the tables are already printed */
        return th_bench_printer_end(&l->printer, l->report);
    switch (form) {
    case TH_FORM_JSON:
        return th_output_json(th_report_json(l->report), 12, file);
    case TH_FORM_CSV:
        return th_report_csv(l->report, file);
    default:
        return th_bench_print(l->report, (th_output_format)form, file);
    }
}

static int run_bench(const th_options *o, th_run *run, const th_model_set *model_set, const th_measure_desc *measure,
                     th_bench_programs *programs, uint32_t processes)
{
    th_error err;
    th_report report;
    th_bench_frames frames;
    th_crowd_view_desc drawn = th_model_set_crowd_view_desc(model_set, &o->crowd);
    if (!th_run_has_option(run, "count"))
        drawn.count = DRAWN;
    const th_scene_desc scene = th_model_set_scene_desc(model_set, &o->crowd, &o->behaviour);
    th_bench_frames_init(&frames, &drawn, &o->picture, &scene);
    const th_external_benchmarks drawing = th_bench_frames_external(&frames);
    const th_external_benchmarks external = th_bench_programs_join(programs, &drawing);
    const bool is_live = !o->output.json && processes == 1 && !o->measure.is_dry_run;
    live shown = {.printer = {.format = TH_OUTPUT_TEXT, .file = stdout}, .report = &report};
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
        .filter = o->filter,
        .external = &external,
        .finished = is_live ? print_finished : NULL,
        .finished_ctx = &shown,
    };
    th_progress_begin();
    const uint64_t begin_ns = th_clock_ns();
    const double begin_s = th_bench_programs_cpu_s(programs);
    const th_result result = th_bench_run(&desc, &report, &err);
    const double wall_s = (double)(th_clock_ns() - begin_ns) / 1e9;
    const double own_load = (th_bench_programs_cpu_s(programs) - begin_s) / wall_s;
    th_bench_frames_fini(&frames);
    th_progress_end();
    if (result != TH_OK)
        return th_fail_with(&err);
    if (own_load > 0) { /* what external programs compute is no interference */
        const double load = report.interference.external_cpu_load - own_load;
        report.interference.external_cpu_load = load < 0 ? 0 : load; /* NaN stays */
    }
    uint32_t skipped = 0;
    for (uint32_t r = 0; r < report.row_count; r++)
        skipped += report.rows[r].skipped;
    int code = report.is_partial ? th_interrupt_code() : TH_EXIT_ENVIRONMENT;
    const bool has_result = skipped < report.row_count;
    if (!has_result)
        th_complain("%s", th_report_skipped(&report)->failure);
    else
        code = th_processes_add(run, processes, merge, &report, &report);
    if (has_result && code == TH_EXIT_GOOD)
        code = th_output_report(run, &o->output, write_report, &shown, &report);
    th_report_fini(&report);
    return code;
}

static int measure_entries(const th_options *o, th_run *run, th_bench_programs *programs)
{
    const th_external_benchmarks drawing = th_bench_frames_external(NULL);
    const th_external_benchmarks external = th_bench_programs_join(programs, &drawing);
    const th_bench_names names = th_bench_list(o->filter, &external);
    if (names.count == 0)
        return th_refuse("no entry matches \"%s\"; `throng bench --dry-run` lists them all", o->filter);
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

int th_command_bench(const th_options *o, th_run *run)
{
    const th_bench_programs_desc desc = {o->bench.programs.paths, o->bench.programs.count, PROGRAM_TIMEOUT_S};
    th_bench_programs *programs;
    th_error err;
    const th_result result = th_bench_programs_start(&desc, &programs, &err);
    const int code = result == TH_OK ? measure_entries(o, run, programs) : th_fail_with(&err);
    th_bench_programs_stop(programs);
    return code;
}

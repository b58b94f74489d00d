#include "bench.h"

#include "cli/command.h"
#include "cpus.h"

#include <throng/bench/bench.h>
#include <throng/bench/rank_bench.h>

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { REPETITIONS = 30 };

/* All ranks begin a repetition together: so each measures an entry while the others do. */
static void wait_for_others(void *job)
{
    th_mpi_barrier(job, ((th_mpi_job *)job)->world, "the begin of a repetition");
}

/* In the midst of entries the others wait for this rank's next repetition, so nothing can be agreed on. */
static _Noreturn void give_up(const th_mpi_job *job, const th_error *err)
{
    th_complain("rank %d on %s: %s", job->rank, job->hosts[job->rank], err->text);
    MPI_Abort(job->world, th_exit_code(err));
    _exit(th_exit_code(err));
}

static th_bench_desc bench_desc(th_mpi_job *job, const th_options *o, const th_model_set *models, uint32_t threads)
{
    th_bench_desc desc = {
        .scene = th_model_set_scene_desc(models, &o->crowd),
        .threads = threads,
        .measure = o->measure,
        .filter = o->filter,
    };
    desc.measure.seed = o->crowd.seed;
    desc.measure.repetitions = o->measure.repetitions ? o->measure.repetitions : REPETITIONS;
    desc.measure.synchronize = wait_for_others;
    desc.measure.synchronize_ctx = job;
    return desc;
}

/* Entries depend on the instruction sets of the machine. */
static int agree_on_entries(th_mpi_job *job, const char *filter)
{
    char text[4096] = "";
    const th_bench_names names = th_bench_list(filter, NULL);
    if (names.count == 0)
        return th_mpi_agree(job, TH_EXIT_USAGE, "no entry matches the filter; `throng bench --list` names them all");
    th_append(text, sizeof text, "%u:", names.count);
    for (uint32_t i = 0; i < names.count; i++)
        th_append(text, sizeof text, " %s", names.names[i]);
    return th_mpi_agree_same(job, "list of entries", text);
}

static int agree_on_checks(th_mpi_job *job, const th_report *report)
{
    char text[400] = "";
    const th_row *failed = th_report_failure(report);
    if (failed)
        th_append(text, sizeof text, "%s: %s", failed->name, failed->failure);
    return th_mpi_agree(job, failed ? TH_EXIT_CHECK : TH_EXIT_GOOD, text);
}

static bool write_bench(const void *result, th_form form, const char *command, FILE *file)
{
    (void)command;
    return form == TH_FORM_JSON ? th_output_json(th_rank_bench_json(result), 12, file)
                                : th_rank_bench_print(result, (th_format)form, file);
}

/* medians_ns: on rank 0 of all ranks. */
static int collect(th_mpi_job *job, const th_report *report, double **medians_ns)
{
    MPI_Request request;
    const uint32_t rows = report->row_count;
    double *own = calloc(rows, sizeof *own);
    *medians_ns = calloc((size_t)job->size, rows * sizeof **medians_ns);
    const int code =
        th_mpi_agree(job, own && *medians_ns ? TH_EXIT_GOOD : TH_EXIT_ENVIRONMENT, "no memory for medians");
    for (uint32_t r = 0; code == TH_EXIT_GOOD && r < rows; r++)
        own[r] = th_samples_stats(&report->rows[r].real_ns).median;
    if (code == TH_EXIT_GOOD) {
        MPI_Igather(own, (int)rows, MPI_DOUBLE, *medians_ns, (int)rows, MPI_DOUBLE, 0, job->world, &request);
        th_mpi_wait(job, request, "medians of entries");
    }
    free(own);
    return code;
}

static int finish(th_mpi_job *job, const th_options *o, th_run *run, const th_rank_bench *shape)
{
    double *medians_ns = NULL;
    th_rank_bench result = *shape;
    int code = agree_on_checks(job, result.report);
    if (code == TH_EXIT_GOOD)
        code = collect(job, result.report, &medians_ns);
    result.medians_ns = medians_ns;
    if (code == TH_EXIT_GOOD && job->rank == 0)
        code = th_output_write(run, &o->output, write_bench, &result);
    free(medians_ns);
    return code;
}

int th_mpi_bench(th_mpi_job *job, const th_options *o, th_run *run, const th_model_set *models)
{
    th_error err;
    th_report report;
    const uint32_t threads = th_mpi_threads(job, th_run_has_option(run, "threads") ? o->crowd.jobs.threads : 0);
    int code = agree_on_entries(job, o->filter);
    if (code != TH_EXIT_GOOD)
        return code;
    const bool is_bound = th_mpi_bind(job, threads);
    const th_bench_desc desc = bench_desc(job, o, models, threads);
    if (th_bench_run(&desc, &report, &err) != TH_OK)
        give_up(job, &err);
    report.interference.external_cpu_load = (double)NAN; /* the other ranks would be that */
    code = finish(job, o, run,
                  &(th_rank_bench){.report = &report,
                                   .hosts = (const char(*)[TH_HOST_MAX])job->hosts,
                                   .ranks = (uint32_t)job->size,
                                   .threads = threads,
                                   .repetitions = desc.measure.repetitions,
                                   .is_bound = is_bound});
    th_report_fini(&report);
    return code;
}

/* throng scale: the same crowd on more and more threads. */
#include "cli/measuring.h"
#include <cli/options.h>

#include <bench/scale.h>
#include <core/text_format.h>

#include <string.h>

/* All points are interleaved in one measurement, so these limit it. */
enum { MAX_POINTS = 240, MAX_THREADS = 1024 };

static bool write_scale(const void *result, th_form form, FILE *file)
{
    const th_scale *scale = result;
    switch (form) {
    case TH_FORM_JSON:
        return th_output_json(th_scale_json(scale), 12, file);
    case TH_FORM_CSV:
        return th_report_csv(&scale->report, file);
    default:
        return th_scale_print(scale, (th_output_format)form, file);
    }
}

static th_result merge(void *scale, const th_result_file *other, th_error *err)
{
    return th_scale_merge(scale, other, err);
}

static int run_scale(const th_options *o, th_run *run, const th_model_set *model_set, const th_measure_desc *measure)
{
    th_error err;
    th_scale scale;
    th_scheduler schedulers[TH_SCHEDULER_COUNT];
    for (uint32_t i = 0; i < o->scale.schedulers.count; i++)
        schedulers[i] = (th_scheduler)o->scale.schedulers.values[i];
    const th_scale_desc desc = {
        .scene = th_model_set_scene_desc(model_set, &o->crowd, &o->behaviour),
        .isa = o->crowd.isa,
        .palette = o->crowd.palette,
        .placement = o->crowd.jobs.placement,
        .share_hz = o->crowd.share_hz,
        .schedulers = schedulers,
        .scheduler_count = o->scale.schedulers.count,
        .counts = o->scale.counts.values,
        .count_count = o->scale.counts.count,
        .grains = o->scale.grains.count ? o->scale.grains.values : NULL,
        .grain_count = o->scale.grains.count,
        .threads = o->scale.threads.count ? o->scale.threads.counts : NULL,
        .thread_count = o->scale.threads.count,
        .is_weak = o->scale.counts.per != NULL,
        .counters = o->counters,
        .measure = *measure,
        .tracer = run->tracer,
    };
    th_progress_begin();
    const th_result result = th_scale_run(&desc, &scale, &err);
    th_progress_end();
    if (result != TH_OK)
        return th_fail_with(&err);
    int code = th_interrupt_code();
    const bool has_result = !scale.report.is_partial || !scale.report.rows[0].skipped;
    if (!has_result)
        th_complain("%s", scale.report.rows[0].failure);
    else
        code = th_processes_add(run, o->scale.processes, merge, &scale, &scale.report);
    if (has_result && code == TH_EXIT_GOOD)
        code = th_output_report(run, &o->output, write_scale, &scale, &scale.report);
    th_scale_fini(&scale);
    return code;
}

int th_command_scale(const th_options *o, th_run *run)
{
    const th_number_list *schedulers = &o->scale.schedulers, *crowds = &o->scale.counts;
    const uint32_t grains = o->scale.grains.count ? o->scale.grains.count : 1;
    if (crowds->per && strcmp(crowds->per, "thread") != 0)
        return th_refuse("--count N/%s is of throng-mpi; here the crowd grows with N/thread", crowds->per);

    /* The total of requested and default points and threads. The serial scheduler has one thread, whatever is
     * requested, so no crowd can grow with it. */
    uint32_t usable[TH_JOBS_MAX_THREADS], count = o->scale.threads.count, together = 0, pools = 0, threads = 0;
    const uint32_t *counts = o->scale.threads.counts;
    if (count == 0) {
        count = th_scale_threads(th_cpus_read().usable, usable);
        counts = usable;
    }
    for (uint32_t t = 0; t < count; t++)
        together += counts[t];
    for (uint32_t i = 0; i < schedulers->count; i++) {
        const bool is_serial = schedulers->values[i] == TH_SCHEDULER_SERIAL;
        if (is_serial && crowds->per)
            return th_refuse(
                "--count N/thread compares numbers of threads, but the serial scheduler always has one; leave it out");
        pools += is_serial ? 1 : count;
        threads += is_serial ? 1 : together;
    }
    const uint32_t points = pools * crowds->count * grains;
    if (points > MAX_POINTS)
        return th_refuse(
            "scale compares at most %d points, not %u: %u of schedulers and threads x %u count%s x %u grain%s",
            MAX_POINTS, points, pools, crowds->count, th_plural(crowds->count), grains, th_plural(grains));
    if (threads > MAX_THREADS)
        return th_refuse("scale has at most %d threads together, not the %u of %u scheduler%s", MAX_THREADS, threads,
                         schedulers->count, th_plural(schedulers->count));

    th_measure_desc measure = o->measure;
    measure.seed = o->crowd.seed;
    int code = th_measure_options_complete(run, &measure);
    if (code != TH_EXIT_GOOD)
        return code;
    const bool is_serial_alone = schedulers->count == 1 && schedulers->values[0] == TH_SCHEDULER_SERIAL;
    if (is_serial_alone && o->scale.threads.count > 0)
        th_complain("--threads makes no difference to the serial scheduler, which has one");
    if (is_serial_alone && th_run_has_option(run, "placement"))
        th_complain("--placement makes no difference to the serial scheduler, which has no workers");
    th_model_set model_set;
    th_error err;
    const th_result result = th_model_set_init(&model_set, &o->models, run->tracer, &err);
    code = result == TH_OK ? run_scale(o, run, &model_set, &measure) : th_fail_with(&err);
    th_model_set_fini(&model_set);
    return code;
}

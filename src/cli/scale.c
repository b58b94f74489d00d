/* throng scale: the same crowd on more and more threads. */
#include "measure_options.h"
#include "model_set.h"
#include "output.h"
#include "progress.h"

#include <throng/bench/page.h>
#include <throng/bench/scale.h>
#include <throng/core/text_format.h>

/* All points are interleaved in one measurement, so these limit it. */
enum { MAX_POINTS = 240, MAX_THREADS = 1024 };

static json_t *scale_json(const void *ctx)
{
    return th_scale_json(ctx);
}

static bool scale_csv(const void *ctx, FILE *file)
{
    const th_scale *scale = ctx;
    return th_report_csv(&scale->report, file);
}

static bool scale_markdown(const void *ctx, FILE *file)
{
    return th_scale_print(ctx, TH_FORMAT_MARKDOWN, file);
}

static bool scale_page(const void *ctx, const char *command, FILE *file)
{
    return th_scale_page(ctx, command, file);
}

static bool print_scale(const void *ctx, FILE *file)
{
    return th_scale_print(ctx, TH_FORMAT_TEXT, file);
}

static int run_scale(const th_options *o, const th_measure_desc *measure, const th_model_set *model_set)
{
    th_error err;
    th_scale scale;
    th_scale_desc desc = {
        .scene = th_model_set_scene_desc(model_set, o),
        .isa = o->isa,
        .palette = o->palette,
        .placement = o->placement,
        .stages = o->stages,
        .schedulers = o->schedulers.values,
        .scheduler_count = o->schedulers.count,
        .counts = o->counts.values,
        .count_count = o->counts.count,
        .grains = o->grains.count ? o->grains.values : NULL,
        .grain_count = o->grains.count,
        .threads = o->threads.count ? o->threads.counts : NULL,
        .thread_count = o->threads.count,
        .measure = *measure,
        .tracer = o->tracer,
    };
    th_result result = th_scale_run(&desc, &scale, &err);
    th_progress_end();
    if (result != TH_OK)
        return th_fail_with(&err);
    int code =
        th_output_result(o, &(th_output){scale_json, 12, print_scale, scale_csv, scale_markdown, scale_page}, &scale);
    int check = th_complain_of_failures(&scale.report);
    th_scale_fini(&scale);
    return check != TH_EXIT_GOOD ? check : code;
}

/* Checks the total of requested and default points and threads. The serial scheduler has one thread, whatever is
 * requested. */
static int refuse_too_much(const th_options *o)
{
    uint32_t usable[TH_JOBS_MAX_THREADS], count = o->threads.count, together = 0, pools = 0, threads = 0;
    const uint32_t *counts = o->threads.counts;
    if (count == 0) {
        count = th_scale_threads(th_cpus_read().usable, usable);
        counts = usable;
    }
    for (uint32_t t = 0; t < count; t++)
        together += counts[t];
    for (uint32_t i = 0; i < o->schedulers.count; i++) {
        const bool serial = o->schedulers.values[i] == TH_SCHEDULER_SERIAL;
        pools += serial ? 1 : count;
        threads += serial ? 1 : together;
    }
    const uint32_t grains = o->grains.count ? o->grains.count : 1, points = pools * o->counts.count * grains;
    if (points > MAX_POINTS)
        th_complain("scale compares at most %d points, not %u: %u of schedulers and threads x %u count%s x %u grain%s",
                    MAX_POINTS, points, pools, o->counts.count, th_plural(o->counts.count), grains, th_plural(grains));
    else if (threads > MAX_THREADS)
        th_complain("scale has at most %d threads together, not the %u of %u scheduler%s", MAX_THREADS, threads,
                    o->schedulers.count, th_plural(o->schedulers.count));
    return points > MAX_POINTS || threads > MAX_THREADS ? TH_EXIT_USAGE : TH_EXIT_GOOD;
}

int th_command_scale(const th_options *o)
{
    th_measure_desc measure;
    const bool serial = o->schedulers.count == 1 && o->schedulers.values[0] == TH_SCHEDULER_SERIAL;
    int code = refuse_too_much(o);
    if (code == TH_EXIT_GOOD)
        code = th_measure_options_init(&measure, o);
    if (code != TH_EXIT_GOOD)
        return code;
    if (serial && o->threads.count > 0)
        th_complain("--threads makes no difference to the serial scheduler, which has one");
    if (serial && th_options_given(o, "placement"))
        th_complain("--placement makes no difference to the serial scheduler, which has no workers");
    th_model_set model_set;
    th_tracer_begin(o->tracer, "load");
    code = th_model_set_init(&model_set, o);
    th_tracer_end(o->tracer);
    if (code == TH_EXIT_GOOD)
        code = run_scale(o, &measure, &model_set);
    th_model_set_fini(&model_set);
    return code;
}

/* throng scale: the same crowd on more and more threads. */
#include "cast.h"
#include "measuring.h"
#include "output.h"

#include <throng/scale.h>

static json_t *scale_json(const void *ctx)
{
    const th_scale *scale = ctx;
    return th_report_json(&scale->report);
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

static bool print_scale(const void *ctx, FILE *file)
{
    return th_scale_print(ctx, TH_FORMAT_TEXT, file);
}

static int run_scale(const th_options *o, const th_measure_desc *measure, const th_cast *cast)
{
    th_error err;
    th_scale scale;
    th_scale_desc desc = {
        .scene = th_cast_scene(cast, o),
        .isa = o->isa,
        .palette = o->palette,
        .scheduler = o->scheduler,
        .placement = o->placement,
        .grain = o->grain,
        .stages = o->stages,
        .threads = o->threads.count ? o->threads.counts : NULL,
        .thread_count = o->threads.count,
        .measure = *measure,
    };
    th_result result = th_scale_run(&desc, &scale, &err);
    th_measuring_end();
    if (result != TH_OK)
        return th_fail_with(&err);
    int code = th_output_result(o, &(th_output){scale_json, 12, print_scale, scale_csv, scale_markdown}, &scale);
    int check = th_complain_of_failures(&scale.report);
    th_scale_fini(&scale);
    return check != TH_EXIT_GOOD ? check : code;
}

int th_command_scale(const th_options *o)
{
    th_measure_desc measure;
    int code = th_measuring_init(&measure, o);
    if (code != TH_EXIT_GOOD)
        return code;
    if (o->scheduler == TH_SCHEDULER_SERIAL && o->threads.count > 0)
        th_complain("--threads makes no difference to the serial scheduler, which has one");
    if (o->scheduler == TH_SCHEDULER_SERIAL && th_options_given(o, "placement"))
        th_complain("--placement makes no difference to the serial scheduler, which has no workers");
    th_cast cast;
    code = th_cast_init(&cast, o);
    if (code == TH_EXIT_GOOD)
        code = run_scale(o, &measure, &cast);
    th_cast_fini(&cast);
    return code;
}

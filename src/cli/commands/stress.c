/* throng stress: the largest crowd whose frames meet a time budget. */
#include "cli/measuring.h"
#include "load_test_gl.h"
#include <cli/options.h>

#include <bench/stress.h>

/* ---- progress ---- */

static void show(void *ctx, const th_stress_state *s)
{
    static const char *const stages[] = {"bracketing", "searching", "confirming"};
    const th_capacity_probe *p = s->probe;
    char of[16] = "";
    (void)ctx;
    if (p->stage == TH_CAPACITY_CONFIRM) /* the number of ticks in other stages is open */
        snprintf(of, sizeof of, " of %u", s->frames);
    th_progress_show("%u thread%s, %s: %s character%s, %u tick%s%s, %u missed", s->threads, th_plural(s->threads),
                     stages[p->stage], th_digits_from(p->items).text, th_plural(p->items), p->ticks.scheduled,
                     th_plural(p->ticks.scheduled), of, p->ticks.missed);
}

/* ---- the command ---- */

static bool write_stress(const void *result, th_form form, FILE *file)
{
    const th_stress *stress = result;
    switch (form) {
    case TH_FORM_JSON:
        return th_output_json(th_stress_json(stress), 12, file);
    case TH_FORM_CSV:
        return th_report_csv(&stress->report, file);
    default:
        return th_stress_print(stress, (th_output_format)form, file);
    }
}

static int run_stress(const th_options *o, th_run *run, const th_model_set *model_set,
                      const th_stress_renderer *renderer)
{
    th_error err;
    th_stress stress;
    const th_stress_desc desc = {
        .scene = th_model_set_scene_desc(model_set, &o->crowd, &o->behaviour),
        .isa = o->crowd.isa,
        .palette = o->crowd.palette,
        .placement = o->crowd.jobs.placement,
        .threads = o->stress.threads.counts,
        .thread_count = o->stress.threads.count,
        .budget_ns = o->stress.budget_ms * 1e6,
        .share_hz = o->crowd.share_hz,
        .frames = o->stress.frames,
        .memory = o->stress.memory_bytes,
        .renderer = renderer,
        .error_every = o->crowd.error_every,
        .counters = o->counters,
        .tracer = run->tracer,
        .check_seed = th_check_seed(),
        .is_dry_run = o->measure.is_dry_run,
        .progress = th_progress_wanted() ? show : NULL,
        .stop = o->measure.is_dry_run ? NULL : th_interrupt_begin(),
    };
    const th_result result = th_stress_run(&desc, &stress, &err);
    th_progress_end();
    if (result != TH_OK)
        return th_fail_with(&err);
    int code = th_interrupt_code();
    const bool is_partial = stress.report.is_partial;
    if (is_partial && stress.report.rows[0].skipped && !th_stress_interrupted(&stress))
        th_complain("%s", stress.report.rows[0].failure);
    else
        code = th_output_report(run, &o->output, write_stress, &stress, &stress.report);
    const bool is_valid = !th_report_failure(&stress.report) && !o->measure.is_dry_run;
    for (uint32_t i = 0; i < stress.point_count && is_valid; i++) {
        const th_row *row = &stress.report.rows[i];
        if (stress.points[i].meets_budget || row->skipped)
            continue;
        th_complain("%s: %s meet %.4g ms", row->name,
                    stress.points[i].search.is_frozen ? "because of freezes no number of characters was seen to"
                    : stress.searched                 ? "not even one character can"
                                                      : "this many characters do not",
                    stress.budget_ns / 1e6);
        code = is_partial ? code : TH_EXIT_CHECK;
    }
    th_stress_fini(&stress);
    return code;
}

static int run_drawn(const th_options *o, th_run *run, const th_model_set *model_set)
{
    th_error err;
    th_load_test_gl test;
    const th_crowd_view_desc crowd = th_model_set_crowd_view_desc(model_set, &o->crowd);
    if (th_load_test_gl_init(&test, &crowd, &o->behaviour, &o->picture, &err) != TH_OK)
        return th_fail_with(&err);
    const th_stress_renderer renderer = th_load_test_gl_renderer(&test);
    const int code = run_stress(o, run, model_set, &renderer);
    th_load_test_gl_fini(&test);
    return code;
}

int th_command_stress(const th_options *o, th_run *run)
{
    static const char *const of_pictures[] = {"size",   "scene",     "camera",           "samples",
                                              "shadow", "evaluator", "animation-budget", "error"};
    for (size_t i = 0; i < sizeof of_pictures / sizeof *of_pictures; i++)
        if (!o->stress.draw && th_run_has_option(run, of_pictures[i]))
            return th_refuse("--%s needs --draw", of_pictures[i]);
    if (o->stress.draw && o->counters)
        return th_refuse("--counters counts posed frames; leave --draw away");
    th_model_set model_set;
    th_error err;
    int code;
    if (th_model_set_init(&model_set, &o->models, run->tracer, &err) != TH_OK)
        code = th_fail_with(&err);
    else
        code = o->stress.draw ? run_drawn(o, run, &model_set) : run_stress(o, run, &model_set, NULL);
    th_model_set_fini(&model_set);
    return code;
}

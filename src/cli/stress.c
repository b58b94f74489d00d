/* throng stress: the largest crowd whose frames meet a time budget. */
#include "load_test_gl.h"
#include "model_set.h"
#include "output.h"
#include "progress.h"

#include <throng/bench/page.h>
#include <throng/bench/stress.h>

/* ---- progress ---- */

/* " of N", the frames of a confirmation run; "" for other stages, whose number is open. */
typedef struct share {
    char text[16];
} share;

static share share_of(const th_stress_state *s)
{
    share of = {""};
    if (s->probe->stage == TH_CAPACITY_CONFIRM)
        snprintf(of.text, sizeof of.text, " of %u", s->frames);
    return of;
}

static void show(void *ctx, const th_stress_state *s)
{
    static const char *const stages[] = {"bracketing", "searching", "confirming"};
    const th_capacity_probe *p = s->probe;
    (void)ctx;
    if (th_progress_is_due())
        th_progress_show("%u thread%s, %s: %s character%s, %u frame%s%s, %u over budget", s->threads,
                         th_plural(s->threads), stages[p->stage], th_digits_from(p->items).text, th_plural(p->items),
                         p->frames, th_plural(p->frames), share_of(s).text, p->deadline_misses);
}

/* ---- the command ---- */

static json_t *stress_json(const void *ctx)
{
    return th_stress_json(ctx);
}

static bool stress_csv(const void *ctx, FILE *file)
{
    const th_stress *stress = ctx;
    return th_report_csv(&stress->report, file);
}

static bool stress_markdown(const void *ctx, FILE *file)
{
    return th_stress_print(ctx, TH_FORMAT_MARKDOWN, file);
}

static bool stress_page(const void *ctx, const char *command, FILE *file)
{
    return th_stress_page(ctx, command, file);
}

static bool print_stress(const void *ctx, FILE *file)
{
    return th_stress_print(ctx, TH_FORMAT_TEXT, file);
}

static int complain_of_missed_budgets(const th_stress *stress)
{
    int code = TH_EXIT_GOOD;
    for (uint32_t i = 0; i < stress->point_count; i++)
        if (!stress->points[i].meets_budget) {
            th_complain("%s: %s meet %.4g ms", stress->report.rows[i].name,
                        stress->searched ? "not even one character can" : "this many characters do not",
                        stress->budget_ns / 1e6);
            code = TH_EXIT_CHECK;
        }
    return code;
}

static int run_stress(const th_options *o, const th_model_set *model_set, const th_stress_renderer *renderer)
{
    th_error err;
    th_stress stress;
    const th_stress_desc desc = {
        .scene = th_model_set_scene_desc(model_set, o),
        .isa = o->isa,
        .palette = o->palette,
        .placement = o->placement,
        .threads = o->threads.counts,
        .thread_count = o->threads.count,
        .budget_ns = o->budget_ms * 1e6,
        .frames = o->frames,
        .memory = (uint64_t)(o->max_memory_mb * 1e6),
        .renderer = renderer,
        .tracer = o->tracer,
        .is_dry_run = o->dry_run,
        .progress = th_progress_wanted() ? show : NULL,
    };
    const th_result result = th_stress_run(&desc, &stress, &err);
    th_progress_end();
    if (result != TH_OK)
        return th_fail_with(&err);
    int code = th_output_result(
        o, &(th_output){stress_json, 12, print_stress, stress_csv, stress_markdown, stress_page}, &stress);
    int check = th_complain_of_failures(&stress.report);
    if (check == TH_EXIT_GOOD && !o->dry_run)
        check = complain_of_missed_budgets(&stress);
    th_stress_fini(&stress);
    return check != TH_EXIT_GOOD ? check : code;
}

static int run_drawn(const th_options *o, const th_model_set *model_set)
{
    th_error err;
    th_load_test_gl crowd;
    if (th_load_test_gl_init(&crowd, o, model_set, &err) != TH_OK)
        return th_fail_with(&err);
    const th_stress_renderer renderer = th_load_test_gl_renderer(&crowd);
    const int code = run_stress(o, model_set, &renderer);
    th_load_test_gl_fini(&crowd);
    return code;
}

/* Rejects options about the picture without --draw: they would have no effect. */
static int refuse_pictures(const th_options *o)
{
    static const char *const names[] = {"size",    "layout", "yaw",   "pitch", "zoom",
                                        "samples", "shadow", "fetch", "upload"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!o->draw && th_options_given(o, names[i])) {
            th_complain("--%s needs --draw", names[i]);
            return TH_EXIT_USAGE;
        }
    return TH_EXIT_GOOD;
}

int th_command_stress(const th_options *o)
{
    th_model_set model_set;
    int code = refuse_pictures(o);
    if (code != TH_EXIT_GOOD)
        return code;
    th_tracer_begin(o->tracer, "load");
    code = th_model_set_init(&model_set, o);
    th_tracer_end(o->tracer);
    if (code == TH_EXIT_GOOD)
        code = o->draw ? run_drawn(o, &model_set) : run_stress(o, &model_set, NULL);
    th_model_set_fini(&model_set);
    return code;
}

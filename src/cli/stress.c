/* throng stress: the largest crowd whose frames hold a time budget. */
#include "load_test_gl.h"
#include "model_set.h"
#include "output.h"
#include "progress.h"

#include <throng/bench/page.h>
#include <throng/bench/stress.h>

/* ---- the line ---- */

/* What a run that counts has of its frames. */
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
    static const char *const stages[] = {"how many about", "looking for the number", "a run that counts"};
    const th_capacity_probe *p = s->probe;
    (void)ctx;
    if (th_progress_is_due())
        th_progress_show("%u thread%s, %s: %s character%s, %u frame%s%s, %u late", s->threads, th_plural(s->threads),
                         stages[p->stage], th_digits_from(p->items).text, th_plural(p->items), p->frames,
                         th_plural(p->frames), share_of(s).text, p->late);
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

static int complain_of_late_frames(const th_stress *stress)
{
    int code = TH_EXIT_GOOD;
    for (uint32_t i = 0; i < stress->point_count; i++)
        if (!stress->points[i].held) {
            th_complain("%s: %s hold %.4g ms", stress->report.rows[i].name,
                        stress->searched ? "not even one character can" : "so many characters do not",
                        stress->budget_ns / 1e6);
            code = TH_EXIT_CHECK;
        }
    return code;
}

static int run_stress(const th_options *o, const th_cast *cast, const th_stress_guest *guest)
{
    th_error err;
    th_stress stress;
    const th_stress_desc desc = {
        .scene = th_cast_scene(cast, o),
        .isa = o->isa,
        .palette = o->palette,
        .placement = o->placement,
        .threads = o->threads.counts,
        .thread_count = o->threads.count,
        .budget_ns = o->budget_ms * 1e6,
        .frames = o->frames,
        .memory = (uint64_t)(o->max_memory_mb * 1e6),
        .guest = guest,
        .tracer = o->tracer,
        .is_rehearsal = o->dry_run,
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
        check = complain_of_late_frames(&stress);
    th_stress_fini(&stress);
    return check != TH_EXIT_GOOD ? check : code;
}

static int run_drawn(const th_options *o, const th_cast *cast)
{
    th_error err;
    th_drawn_crowd crowd;
    if (th_drawn_crowd_init(&crowd, o, cast, &err) != TH_OK)
        return th_fail_with(&err);
    const th_stress_guest guest = th_drawn_crowd_guest(&crowd);
    const int code = run_stress(o, cast, &guest);
    th_drawn_crowd_fini(&crowd);
    return code;
}

/* They would change nothing. */
static int refuse_pictures(const th_options *o)
{
    static const char *const names[] = {"size",    "layout", "yaw",   "pitch", "zoom",
                                        "samples", "shadow", "fetch", "upload"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!o->draw && th_options_given(o, names[i])) {
            th_complain("--%s is of pictures, and only with --draw are there any", names[i]);
            return TH_EXIT_USAGE;
        }
    return TH_EXIT_GOOD;
}

int th_command_stress(const th_options *o)
{
    th_cast cast;
    int code = refuse_pictures(o);
    if (code != TH_EXIT_GOOD)
        return code;
    th_tracer_begin(o->tracer, "load");
    code = th_cast_init(&cast, o);
    th_tracer_end(o->tracer);
    if (code == TH_EXIT_GOOD)
        code = o->draw ? run_drawn(o, &cast) : run_stress(o, &cast, NULL);
    th_cast_fini(&cast);
    return code;
}

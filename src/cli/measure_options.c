#include "measure_options.h"

#include "processes.h"
#include "progress.h"

#include <throng/runtime/frame.h>

#include <math.h>
#include <stdio.h>

/* ---- progress ---- */

static void show(void *ctx, const th_measure_state *s)
{
    char known[32] = "";
    (void)ctx;
    if (isfinite(s->precision))
        snprintf(known, sizeof known, ", 95 %% CI +-%.2g %%", 100 * s->precision);
    if (th_progress_is_due())
        th_progress_show("%u of %u: %.40s and its like, %u repetition%s%s", s->comparison, s->comparisons, s->name,
                         s->rounds, th_plural(s->rounds), known);
}

/* ---- the options ---- */

int th_measure_options_init(th_measure_desc *measure, const th_options *o)
{
    static const char *const adaptive[] = {"precision", "min-time", "max-time"};
    for (size_t i = 0; i < sizeof adaptive / sizeof *adaptive; i++)
        if (o->repetitions > 0 && th_options_given(o, adaptive[i])) {
            th_complain("--repetitions fixes how often everything is repeated, so --%s cannot be given with it",
                        adaptive[i]);
            return TH_EXIT_USAGE;
        }
    if (o->frames > 0 && th_options_given(o, "repetition-time")) {
        th_complain("--frames fixes how much a repetition is, so --repetition-time cannot be given with it");
        return TH_EXIT_USAGE;
    }
    if (th_options_given(o, "max-time") && o->min_time_s > o->max_time_s) {
        th_complain("--min-time %g is more than --max-time %g", o->min_time_s, o->max_time_s);
        return TH_EXIT_USAGE;
    }
    *measure = (th_measure_desc){
        .repetitions = o->repetitions,
        .precision = o->precision_percent / 100,
        .min_ns = (uint64_t)(o->min_time_s * 1e9),
        .max_ns = (uint64_t)(fmax(o->min_time_s, o->max_time_s) * 1e9),
        .iterations = o->frames,
        .repetition_ns = (uint64_t)(th_processes_repetition_ms(o) * 1e6),
        .seed = o->seed,
        .is_dry_run = o->dry_run,
        .progress = th_progress_wanted() ? show : NULL,
    };
    return TH_EXIT_GOOD;
}

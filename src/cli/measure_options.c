#include "measure_options.h"

#include "interrupt.h"
#include "progress.h"

#include <math.h>
#include <stdio.h>

/* ---- progress ---- */

static void show(void *ctx, const th_measure_state *s)
{
    char known[32] = "";
    (void)ctx;
    if (isfinite(s->precision))
        snprintf(known, sizeof known, ", 95 %% CI +-%.2g %%", 100 * s->precision);
    th_progress_show("%u of %u: %.40s and its like, %u repetition%s%s%s", s->comparison, s->comparisons, s->name,
                     s->rounds, th_plural(s->rounds), known, th_progress_left(s->done));
}

/* ---- the options ---- */

int th_measure_options_complete(const th_run *run, th_measure_desc *measure)
{
    static const char *const adaptive[] = {"precision", "max-time"};
    for (size_t i = 0; i < sizeof adaptive / sizeof *adaptive; i++)
        if (measure->repetitions > 0 && th_run_has_option(run, adaptive[i])) {
            th_complain("--repetitions fixes how often everything is repeated, so --%s cannot be given with it",
                        adaptive[i]);
            return TH_EXIT_USAGE;
        }
    if (measure->iterations > 0 && th_run_has_option(run, "repetition-time")) {
        th_complain("--frames fixes how much a repetition is, so --repetition-time cannot be given with it");
        return TH_EXIT_USAGE;
    }
    measure->progress = th_progress_wanted() ? show : NULL;
    measure->stop = th_interrupt_begin();
    return TH_EXIT_GOOD;
}

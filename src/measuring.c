#include "measuring.h"

#include "processes.h"
#include "progress.h"

#include <throng/clock.h>
#include <throng/frame.h>

#include <math.h>
#include <stdio.h>

/* ---- the line ---- */

#define SHOW_NS 100000000u

static uint64_t shown_ns; /* when the line was last written; 0: never */

static void show(void *ctx, const th_measure_state *s)
{
    (void)ctx;
    const uint64_t now = th_clock_ns();
    if (now - shown_ns < SHOW_NS)
        return;
    shown_ns = now;
    fprintf(stderr, "\r\033[K%u of %u: %.40s and its like, %u repetition%s", s->comparison, s->comparisons, s->name,
            s->rounds, s->rounds == 1 ? "" : "s");
    if (isfinite(s->precision))
        fprintf(stderr, ", known to %.2g %%", 100 * s->precision);
    fflush(stderr);
}

void th_measuring_end(void)
{
    if (shown_ns > 0)
        fputs("\r\033[K", stderr);
    shown_ns = 0;
}

/* ---- the options ---- */

int th_measuring_init(th_measure_desc *measure, const th_options *o)
{
    static const char *const adaptive[] = {"precision", "min-time", "max-time"};
    for (size_t i = 0; i < sizeof adaptive / sizeof *adaptive; i++)
        if (o->repetitions > 0 && th_options_given(o, adaptive[i])) {
            th_complain("--repetitions fixes how often everything is repeated, so --%s cannot be given with it",
                        adaptive[i]);
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
        .is_rehearsal = o->dry_run,
        .progress = th_progress_wanted() ? show : NULL,
    };
    return TH_EXIT_GOOD;
}

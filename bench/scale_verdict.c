/* What the figures of a scaling study mean, in words. */
#include <throng/scale.h>
#include <throng/words.h>

/* Time is lost in two ways: the same work takes longer on each thread, or threads have no work. The larger names the
 * reason. But both also happen to a thread that is not allowed to run, so that comes first. A thread without work waits
 * for its first chunk, for one to steal, or for the last thread to end; it says which it mostly was. */
static void say_reason(const th_scale *scale, uint32_t index, char *out, size_t size)
{
    const th_scale_point *base = &scale->points[0], *p = &scale->points[index];
    double slower = p->work_ns / base->work_ns, idle = 1 - p->busy;
    double others = scale->report.noise.others_cpus;
    uint32_t threads = scale->report.rows[index].threads, usable = scale->report.context.cpus.usable;
    if (threads > usable)
        th_append(out, size, " Only %u CPU%s usable, so more threads cannot help.", usable,
                  usable == 1 ? " is" : "s are");
    else if (p->efficiency >= 0.95)
        th_append(out, size, " Nothing worth naming is lost.");
    else if (others > TH_REPORT_OTHERS_CPUS)
        th_append(out, size, " Other programs used %.2f CPUs meanwhile, so this says little about the work itself.",
                  others);
    else if (1 - 1 / slower >= idle)
        th_append(out, size,
                  " Posing the same characters took the threads %.0f %% more time in all: they share memory bandwidth, "
                  "caches or clock.",
                  100 * (slower - 1));
    else if (p->tail > idle / 2)
        th_append(out, size,
                  " Threads were without work %.0f %% of the time, mostly waiting for others to end their part.",
                  100 * idle);
    else
        th_append(
            out, size,
            " Threads were without work %.0f %% of the time, mostly before they had any: starting a frame of %.2f ms "
            "weighs that much.",
            100 * idle, p->frame_ns / 1e6);
}

static void say_noise(const th_scale *scale, uint32_t index, char *out, size_t size)
{
    const th_scale_point *base = &scale->points[0], *p = &scale->points[index];
    double spread = p->spread > base->spread ? p->spread : base->spread;
    if (spread > 0.05)
        th_append(out, size, " Half of the repetitions lie further than %.0f %% from the median: take this as rough.",
                  100 * spread);
}

/* The point of a study that did not fail its check and has the most threads, or the best time. */
static uint32_t pick(const th_scale *scale, bool fastest)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < scale->report.row_count; i++)
        if (!scale->report.rows[i].failure[0] && (!fastest || scale->points[i].frame_ns < scale->points[best].frame_ns))
            best = i;
    return best;
}

char *th_scale_verdict(const th_scale *scale, char *out, size_t size)
{
    const th_row *rows = scale->report.rows;
    uint32_t last = pick(scale, false), fastest = pick(scale, true);
    out[0] = '\0';
    if (th_report_failure(&scale->report)) {
        th_append(out, size, "The palettes are wrong, so the times mean nothing.");
        return out;
    }
    if (last == 0) {
        const th_scale_point *p = &scale->points[0];
        th_append(out, size, "%u thread%s: %.0f characters in the 16.7 ms of a frame at 60 Hz.", rows[0].threads,
                  th_plural(rows[0].threads), (double)rows[0].characters * (1e9 / TH_FRAME_RATE) / p->frame_ns);
        return out;
    }
    th_append(out, size, "%u threads animate %.2f times as many characters as %u: %.0f %% efficiency.",
              rows[last].threads, scale->points[last].speed_up, rows[0].threads, 100 * scale->points[last].efficiency);
    say_reason(scale, last, out, size);
    if (fastest != last)
        th_append(out, size, " %u thread%s fastest.", rows[fastest].threads,
                  rows[fastest].threads == 1 ? " is" : "s are");
    say_noise(scale, last, out, size);
    return out;
}

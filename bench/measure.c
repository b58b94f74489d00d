#include <throng/measure.h>

#include <throng/clock.h>

static th_lap run_laps(const th_subject *s, const th_measure_desc *desc, uint64_t first, uint32_t iterations)
{
    th_lap sum = {0};
    for (uint32_t i = 0; i < iterations; i++) {
        const th_lap lap = desc->lap(s->ctx, first + i);
        sum.real_ns += lap.real_ns;
        sum.cpu_ns += lap.cpu_ns;
    }
    return sum;
}

static th_lap run(const th_subject *s, const th_measure_desc *desc, uint64_t first, uint32_t iterations)
{
    if (desc->lap)
        return run_laps(s, desc, first, iterations);
    const uint64_t cpu = th_clock_cpu_ns(), start = th_clock_ns();
    for (uint32_t i = 0; i < iterations; i++)
        s->run(s->ctx, first + i);
    const uint64_t real = th_clock_ns() - start;
    return (th_lap){real, th_clock_cpu_ns() - cpu};
}

/* Of three runs the least, with what does not count: the first one may have to wake threads. */
static uint64_t least_ns(const th_subject *s, const th_measure_desc *desc, uint32_t iterations)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 3; i++) {
        const uint64_t start = th_clock_ns();
        run(s, desc, 0, iterations);
        const uint64_t ns = th_clock_ns() - start;
        least = ns < least ? ns : least;
    }
    return least;
}

/* Doubles the number until a repetition takes a tenth of its time, so that the estimate comes from a warm run. */
static uint32_t calibrate(const th_subject *s, const th_measure_desc *desc)
{
    uint64_t wanted_ns = desc->repetition_ns ? desc->repetition_ns : TH_MEASURE_REPETITION_NS;
    uint32_t iterations = 1;
    uint64_t ns = least_ns(s, desc, 1);
    while (ns < wanted_ns / 10 && iterations < 1u << 24)
        ns = least_ns(s, desc, iterations *= 2);
    if (desc->iterations)
        return desc->iterations;
    uint64_t fit = iterations * wanted_ns / (ns ? ns : 1);
    return fit > 1 ? (uint32_t)fit : 1;
}

static void repeat(const th_subject *s, const th_measure_desc *desc, uint32_t repetition)
{
    th_row *row = s->row;
    if (s->before)
        s->before(s->ctx);
    const th_lap sum = run(s, desc, (uint64_t)repetition * row->iterations, row->iterations);
    th_samples_add(&row->real_ns, (double)sum.real_ns / row->iterations);
    th_samples_add(&row->cpu_ns, (double)sum.cpu_ns / row->iterations);
    if (s->after)
        s->after(s->ctx);
}

void th_measure(const th_measure_desc *desc, const th_subject *subjects, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!subjects[i].row->failure[0])
            subjects[i].row->iterations = calibrate(&subjects[i], desc);
    for (uint32_t r = 0; r < desc->repetitions; r++) {
        for (uint32_t i = 0; i < count; i++) {
            /* There and back, so that nobody always follows the same neighbour. */
            const th_subject *s = &subjects[r % 2 ? count - 1 - i : i];
            if (!s->row->failure[0])
                repeat(s, desc, r);
        }
        if (desc->progress)
            desc->progress(desc->progress_ctx, r + 1, desc->repetitions);
    }
}

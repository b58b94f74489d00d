#include "pop_factors.h"

#include "worker_counters.h"

#include <bench/pop.h>

#include <assert.h>
#include <math.h>

const char *th_pop_factor_name(th_pop_factor factor)
{
    assert(factor < TH_POP_COUNT);
    static const char *const names[] = {"global_efficiency",        "parallel_efficiency",      "load_balance",
                                        "communication_efficiency", "serialisation_efficiency", "transfer_efficiency",
                                        "computation_scaling",      "instruction_scaling",      "ipc_scaling",
                                        "frequency_scaling"};
    _Static_assert(sizeof names / sizeof *names == TH_POP_COUNT, "a name for each");
    return names[factor];
}

th_pop_factor th_pop_weakest(const th_pop *pop)
{
    assert(pop);
    const double *v = pop->values;
    th_pop_factor weakest = TH_POP_LOAD_BALANCE;
    if (!(v[TH_POP_PARALLEL] > 0))
        return TH_POP_GLOBAL;
    for (int f = TH_POP_SERIALISATION; f < TH_POP_COUNT; f++)
        if (v[f] < v[weakest] && (f != TH_POP_COMPUTATION || isnan(v[TH_POP_IPC])))
            weakest = (th_pop_factor)f;
    return weakest;
}

/* Sums over all frames of all repetitions. */
typedef struct useful {
    double wall_ns, in_calls_ns; /* time that passed, and of it inside of calls */
    double work_ns, outside_ns;  /* useful time in calls, of all threads, and outside of them */
    const th_worker_stats *busiest;
} useful;

static useful useful_of(const th_scale_counts *c)
{
    const th_worker_stats total = th_workers_total(c->workers, c->threads);
    useful u = {.in_calls_ns = (double)(total.busy_ns + total.idle_ns) / c->threads,
                .work_ns = (double)total.busy_ns,
                .busiest = &c->workers[c->busiest]};
    for (uint32_t r = 0; r < c->frame_ns->count; r++)
        u.wall_ns += c->frame_ns->values[r] * c->iterations;
    u.outside_ns = fmax(0, u.wall_ns - u.in_calls_ns);
    return u;
}

static double per_character(const th_scale_counts *c, const useful *u)
{
    return (u->work_ns + u->outside_ns) / th_scale_frames(c) / (double)c->characters;
}

/* Duration of a step of the core's clock; NaN: unknown. */
static double step_ns(const th_scale_counts *c)
{
    const bool is_known = c->core_clock_ns && c->core_clock_ns->count > 0;
    return is_known ? th_samples_stats(c->core_clock_ns).median : (double)NAN;
}

/* Of a frame; NaN: not counted. */
static double counted(const th_scale_counts *c, th_counter counter)
{
    return c->counters ? c->counters->values[counter] : (double)NAN;
}

/* What slows useful time down. The three factors multiply to computation scaling, so one of them is the rest. */
static void set_computation(const th_scale_counts *c, const th_scale_counts *first, double *v)
{
    const double instructions = counted(c, TH_COUNTER_INSTRUCTIONS), base = counted(first, TH_COUNTER_INSTRUCTIONS);
    const double ipc = instructions / counted(c, TH_COUNTER_CYCLES) / (base / counted(first, TH_COUNTER_CYCLES));
    v[TH_POP_INSTRUCTIONS] =
        isnan(instructions / base) ? 1 : base / (double)first->characters / (instructions / (double)c->characters);
    v[TH_POP_FREQUENCY] =
        isnan(ipc) ? step_ns(first) / step_ns(c) : v[TH_POP_COMPUTATION] / v[TH_POP_INSTRUCTIONS] / ipc;
    v[TH_POP_IPC] = isnan(ipc) ? v[TH_POP_COMPUTATION] / v[TH_POP_INSTRUCTIONS] / v[TH_POP_FREQUENCY] : ipc;
}

th_pop th_pop_of(const th_scale_counts *c, const th_scale_counts *first)
{
    assert(c->busiest < c->threads && first->busiest < first->threads);
    assert(c->threads > 0 && c->characters > 0 && first->threads > 0 && first->characters > 0);
    const useful u = useful_of(c), base = useful_of(first);
    const double waits_ns = (double)(u.busiest->idle_ns - u.busiest->idle_at_end_ns);
    th_pop pop;
    double *v = pop.values;
    for (int f = 0; f < TH_POP_COUNT; f++)
        pop.intervals[f] = (th_interval){(double)NAN, (double)NAN};
    v[TH_POP_PARALLEL] = (u.work_ns + u.outside_ns) / (c->threads * u.wall_ns);
    v[TH_POP_LOAD_BALANCE] = u.work_ns > 0 ? u.work_ns / ((double)u.busiest->busy_ns * c->threads) : 1;
    v[TH_POP_COMMUNICATION] = v[TH_POP_PARALLEL] / v[TH_POP_LOAD_BALANCE];
    v[TH_POP_TRANSFER] = 1 - waits_ns / u.wall_ns;
    v[TH_POP_SERIALISATION] = v[TH_POP_COMMUNICATION] / v[TH_POP_TRANSFER];
    v[TH_POP_COMPUTATION] = per_character(first, &base) / per_character(c, &u);
    set_computation(c, first, v);
    v[TH_POP_GLOBAL] = v[TH_POP_PARALLEL] * v[TH_POP_COMPUTATION];
    return pop;
}

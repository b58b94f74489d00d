#include "scale_figures.h"

#include <core/json.h>

#include <assert.h>
#include <math.h>

/* ---- workers ---- */

void th_worker_add(th_worker_stats *sum, const th_worker_stats *more)
{
    sum->busy_ns += more->busy_ns;
    sum->idle_ns += more->idle_ns;
    sum->idle_at_end_ns += more->idle_at_end_ns;
    sum->chunks += more->chunks;
    sum->items += more->items;
    sum->steals += more->steals;
    sum->misses += more->misses;
    sum->parks += more->parks;
    sum->wakes += more->wakes;
    sum->wake_ns += more->wake_ns;
}

uint32_t th_workers_busiest(const th_worker_stats *sums, uint32_t count)
{
    uint32_t busiest = 0;
    for (uint32_t w = 1; w < count; w++)
        if (sums[w].busy_ns > sums[busiest].busy_ns)
            busiest = w;
    return busiest;
}

th_worker_stats th_workers_total(const th_worker_stats *sums, uint32_t count)
{
    th_worker_stats total = {0};
    for (uint32_t w = 0; w < count; w++)
        th_worker_add(&total, &sums[w]);
    return total;
}

json_t *th_workers_json(const th_worker_stats *sums, uint32_t count, double frames)
{
    assert(frames > 0);
    json_t *array = json_array();
    for (uint32_t w = 0; w < count; w++) {
        const th_worker_stats *s = &sums[w];
        const double wake_ns = s->wakes ? (double)s->wake_ns / (double)s->wakes : (double)NAN;
        const struct {
            const char *name;
            double value;
        } fields[] = {
            {"busy_us", (double)s->busy_ns / 1e3 / frames},
            {"idle_us", (double)s->idle_ns / 1e3 / frames},
            {"idle_at_end_us", (double)s->idle_at_end_ns / 1e3 / frames},
            {"chunks", (double)s->chunks / frames},
            {"items", (double)s->items / frames},
            {"steals", (double)s->steals / frames},
            {"misses", (double)s->misses / frames},
            {"parks", (double)s->parks / frames},
            {"wakes", (double)s->wakes / frames},
            {"wake_us", wake_ns / 1e3},
        };
        json_t *json = json_object();
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
            json = th_json_set(json, fields[i].name, th_json_real(fields[i].value));
        array = th_json_append(array, json);
    }
    return array;
}

/* ---- points ---- */

double th_scale_frames(const th_scale_counts *c)
{
    return (double)c->iterations * c->frame_ns->count;
}

double th_scale_work_ns(const th_scale_counts *c)
{
    return (double)th_workers_total(c->workers, c->threads).busy_ns / th_scale_frames(c);
}

static double wall_ns(const th_scale_counts *c)
{
    double sum = 0;
    for (uint32_t r = 0; r < c->frame_ns->count; r++)
        sum += c->frame_ns->values[r] * c->iterations;
    return sum;
}

th_scale_point th_scale_point_of(const th_scale_counts *c, const th_scale_counts *first, double loop_ns,
                                 uint32_t usable_cpus)
{
    assert(c->threads > 0 && first->threads > 0 && usable_cpus > 0);
    const double ratio = (double)c->threads / first->threads;
    const double growth = (double)c->characters / (double)first->characters;
    const th_stats frame = th_samples_stats(c->frame_ns);
    const th_worker_stats total = th_workers_total(c->workers, c->threads);
    const double in_calls = (double)(total.busy_ns + total.idle_ns);
    double most = 0, sum = 0; /* work of the busiest worker, and of all of them */
    for (uint32_t w = 0; w < c->threads; w++) {
        const double busy = (double)c->workers[w].busy_ns;
        most = fmax(most, busy);
        sum += busy;
    }
    th_scale_point point = {
        .threads = c->threads,
        .characters = (uint32_t)c->characters,
        .oversubscribed = c->threads > usable_cpus,
        .frame_ns = frame.median,
        .relative_mad = th_stats_relative_mad(&frame),
        .speed_up = growth * fmin(th_samples_stats(first->frame_ns).median, loop_ns) / frame.median,
        .busy = (double)total.busy_ns / in_calls,
        .idle_at_end = (double)total.idle_at_end_ns / in_calls,
        .serial = fmax(0, 1 - in_calls / c->threads / wall_ns(c)),
        .imbalance = sum > 0 ? most * c->threads / sum - 1 : 0,
        .work_ns = th_scale_work_ns(c),
    };
    point.efficiency = point.speed_up / ratio;
    point.karp_flatt = growth == 1 ? th_fit_karp_flatt(point.speed_up, ratio) : (double)NAN;
    return point;
}

double th_scale_bytes_per_s(uint64_t bytes, const th_samples *pass_ns)
{
    return (double)bytes / th_samples_stats(pass_ns).median * 1e9;
}

/* ---- POP factors ---- */

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
    useful u = {.wall_ns = wall_ns(c),
                .in_calls_ns = (double)(total.busy_ns + total.idle_ns) / c->threads,
                .work_ns = (double)total.busy_ns,
                .busiest = &c->workers[c->busiest]};
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

    /* What slows useful time down. The three factors multiply to computation scaling, so one of them is the rest. */
    const double instructions = counted(c, TH_COUNTER_INSTRUCTIONS), base_n = counted(first, TH_COUNTER_INSTRUCTIONS);
    const double ipc = instructions / counted(c, TH_COUNTER_CYCLES) / (base_n / counted(first, TH_COUNTER_CYCLES));
    v[TH_POP_INSTRUCTIONS] =
        isnan(instructions / base_n) ? 1 : base_n / (double)first->characters / (instructions / (double)c->characters);
    v[TH_POP_FREQUENCY] =
        isnan(ipc) ? step_ns(first) / step_ns(c) : v[TH_POP_COMPUTATION] / v[TH_POP_INSTRUCTIONS] / ipc;
    v[TH_POP_IPC] = isnan(ipc) ? v[TH_POP_COMPUTATION] / v[TH_POP_INSTRUCTIONS] / v[TH_POP_FREQUENCY] : ipc;
    v[TH_POP_GLOBAL] = v[TH_POP_PARALLEL] * v[TH_POP_COMPUTATION];
    return pop;
}

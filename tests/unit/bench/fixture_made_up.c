/* Inside, since results are made by hand, with the figures that a run computes. The headline, the fits and the
 * verdict of a measurement are private to bench: here they follow from figures made by hand. */
#include "fixture_made_up.h"

#include "bench/report/figures.h"
#include "bench/scaling/experiment.h"

#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BONES = 52, USABLE = 8, REPETITIONS = 9 };

static th_error err;

th_context made_up_machine(void)
{
    return (th_context){
        .date = "2026-01-01T12:00:00+00:00",
        .host = "example",
        .executable = "throng",
        .cpu = "Example CPU",
        .cpus = {.online = USABLE, .affinity = USABLE, .usable = USABLE},
        .cores = USABLE,
        .threads_per_core = 1,
        .numa_nodes = 1,
        .mhz = 3000,
        .governor = "performance",
        .boost = TH_BOOST_OFF,
        .clock_source = "tsc",
        .clock_step_ns = 20,
        .load = {0.25, 0.5, 0.75},
        .system = "Example 1.0",
        .libc = "example 2.0",
        .page_bytes = 4096,
        .huge_pages = "madvise",
        .caches = {{"Data", 1, 32768, 1},
                   {"Instruction", 1, 1 << 19, 1},
                   {"Unified", 2, 1 << 20, 1},
                   {"Unified", 3, 32 << 20, USABLE}},
        .cache_count = 4,
    };
}

json_t *made_up_scene(uint32_t characters)
{
    return json_pack("{s:[{s:s, s:i, s:i, s:i, s:i, s:i, s:f, s:s}], s:i, s:s, s:s, s:i, s:s, s:f}", "models", "name",
                     "human", "joints", 65, "bones", BONES, "clips", 8, "exact_clips", 0, "bytes_per_character",
                     BONES * 48, "bytes_per_clip", 38765.5, "clip", "all", "characters", (int)characters, "sampling",
                     "compiled", "interpolation", "authored", "key_bits", 32, "seed", "1", "error_bound_mm", 0.125);
}

void make_up_conditions(th_report *report, uint32_t characters)
{
    report->context = made_up_machine();
    report->interference = (th_interference){0};
    report->seed = 1;
    json_decref(report->scene);
    report->scene = made_up_scene(characters);
}

/* ---- scaling ---- */

static th_interval around(double value)
{
    return (th_interval){0.99 * value, 1.01 * value};
}

static void set_pop(th_pop *pop, const th_scale_point *p, const th_scale_point *first)
{
    const double a_character = first->work_ns / first->characters, here = p->work_ns / p->characters;
    double *v = pop->values;
    v[TH_POP_GLOBAL] = p->efficiency;
    v[TH_POP_COMPUTATION] = v[TH_POP_FREQUENCY] = a_character / here;
    v[TH_POP_INSTRUCTIONS] = v[TH_POP_IPC] = 1;
    v[TH_POP_PARALLEL] = v[TH_POP_GLOBAL] / v[TH_POP_COMPUTATION];
    v[TH_POP_LOAD_BALANCE] = 1 / (1 + p->imbalance);
    v[TH_POP_COMMUNICATION] = v[TH_POP_PARALLEL] / v[TH_POP_LOAD_BALANCE];
    v[TH_POP_TRANSFER] = p == first ? 1 : 0.99;
    v[TH_POP_SERIALISATION] = v[TH_POP_COMMUNICATION] / v[TH_POP_TRANSFER];
    for (int f = 0; f < TH_POP_COUNT; f++)
        pop->intervals[f] = around(v[f]);
}

static void set_point(th_scale *scale, const made_up_scale_desc *desc, const th_scale_curve *curve, uint32_t index)
{
    th_scale_point *p = &scale->points[index], *first = &scale->points[curve->first];
    const uint32_t threads = 1u << (index - curve->first), all = curve->characters * (desc->is_weak ? threads : 1);
    const double n = threads;
    *p = (th_scale_point){.threads = threads, .oversubscribed = threads > USABLE, .relative_mad = 0.01};
    p->characters = desc->share_hz > 0 ? 6 * all / 10 : all;
    p->shared = all - p->characters;
    p->share_error = p->shared > 0 ? 0.0125 : 0;
    p->frame_ns = p->characters * 1e3 * (1 + desc->sigma * (n - 1) + desc->kappa * n * (n - 1)) / n;
    p->speed_up = (p->characters / p->frame_ns) / (first->characters / first->frame_ns);
    p->efficiency = p->speed_up / n;
    p->efficiency_interval = index == curve->first ? (th_interval){1, 1} : around(p->efficiency);
    p->karp_flatt = desc->is_weak || threads == 1 ? (double)NAN : th_fit_karp_flatt(p->speed_up, n);
    const double lost = 1 - p->efficiency;
    p->busy = 1 - 0.8 * lost;
    p->idle_at_end = 0.6 * lost;
    p->serial = 0.2 * lost;
    p->imbalance = 0.5 * lost;
    p->work_ns = n * p->frame_ns * (1 - p->serial) * p->busy;
    p->counters = (th_counters){{3 * p->work_ns, 6 * p->work_ns, (double)NAN, p->characters, p->work_ns, 0, 2}};
    p->palette_sum = (th_hash128){0x1122334455667788u, p->characters};
    set_pop(&p->pop, p, first);
}

static void describe_row(th_row *row, const char *name, uint32_t threads, uint32_t characters)
{
    snprintf(row->name, sizeof row->name, "%s/threads:%u", name, threads);
    row->threads = threads;
    row->characters = characters;
    row->bones = (uint64_t)characters * BONES;
    row->checked = row->moving = true;
    row->max_error = 6.25e-5;
}

static void fill_row(th_row *row, const char *name, const th_scale_point *p, uint32_t processes)
{
    describe_row(row, name, p->threads, p->characters);
    row->time_unit = "us";
    row->iterations = row->iterations_timed_at_once = 4;
    row->palette_hash = 0x1234567890abcdefu + p->characters;
    for (uint32_t r = 0; r < REPETITIONS; r++) {
        const double off = processes > 1 ? r * processes / REPETITIONS - (processes - 1) / 2.0 : r % 3 - 1.0;
        th_samples_add(&row->real_ns, p->frame_ns * (1 + 0.01 * off));
        th_samples_add(&row->cpu_ns, p->frame_ns * p->threads);
    }
    for (uint32_t i = 0; i < processes && processes > 1; i++)
        row->ends[row->process_count++] = (i + 1) * REPETITIONS / processes;
}

/* Frames with a part left out, and memory, on one thread and on most of them. */
static void set_parts(th_scale *scale)
{
    static const double shares[TH_ABLATION_COUNT] = {0.9, 0.7, 0.4, 0.2, 0.004};
    static const double bytes_per_s[TH_BANDWIDTH_COUNT] = {10e9, 12e9, 14e9};
    uint32_t last = 0;
    while (last + 1 < scale->curves[0].count && !scale->points[last + 1].oversubscribed)
        last++;
    scale->part_count = scale->memory_count = last > 0 ? 2 : 1;
    scale->memory = calloc(scale->memory_count, sizeof *scale->memory);
    cr_assert(scale->memory);
    for (uint32_t i = 0; i < scale->part_count; i++) {
        const th_scale_point *p = &scale->points[i == 0 ? 0 : last];
        th_scale_parts *parts = &scale->parts[i];
        parts->threads = scale->memory[i].threads = p->threads;
        for (int a = 0; a < TH_ABLATION_COUNT; a++) {
            parts->frame_ns[a] = shares[a] * p->frame_ns;
            parts->work_ns[a] = shares[a] * p->work_ns;
            parts->shares[a] = (th_estimate){shares[a], 0.99 * shares[a], 1.01 * shares[a]};
        }
        for (int kind = 0; kind < TH_BANDWIDTH_COUNT; kind++)
            scale->memory[i].bytes_per_s[kind] = bytes_per_s[kind] * (i == 0 ? 1 : 4);
    }
}

/* As a measurement leaves a point whose palettes are wrong. */
static void spoil(th_scale *scale, uint32_t index)
{
    th_row *row = &scale->report.rows[index];
    snprintf(row->failure, sizeof row->failure, "palettes differ from those of %s", scale->report.rows[0].name);
    row->real_ns.count = row->cpu_ns.count = 0;
    scale->points[index] = (th_scale_point){.threads = row->threads, .characters = (uint32_t)row->characters};
}

/* Resampled rounds, or processes, of which the last point is up to 1 % off, to either side. */
static void conclude(th_scale *scale, uint32_t processes)
{
    enum { RESAMPLES = 101 };
    th_bottleneck_input samples[RESAMPLES];
    const uint32_t count = processes > 1 ? processes : RESAMPLES;
    for (uint32_t i = 0; i < count; i++) {
        const double off = 0.01 * (2.0 * i / (count - 1) - 1);
        samples[i] = th_scale_input(scale, scale->points, scale->parts);
        samples[i].last.speed_up *= 1 + off;
        samples[i].last.efficiency *= 1 + off;
        samples[i].last.frame_ns /= 1 + off;
        for (int f = 0; f < TH_POP_COUNT; f++)
            samples[i].last.pop.values[f] *= 1 + off;
    }
    th_scale_conclude(scale, samples, count, processes > 1);
}

th_scale made_up_scale(const made_up_scale_desc *desc)
{
    th_scale scale = {.curve_count = desc->curve_count, .is_weak = desc->is_weak, .share_hz = desc->share_hz};
    const uint32_t processes = desc->processes ? desc->processes : 1;
    for (uint32_t c = 0; c < desc->curve_count; c++)
        scale.point_count += desc->curves[c].points;
    cr_assert_eq(th_report_init(&scale.report, scale.point_count, REPETITIONS, &err), TH_OK, "%s", err.text);
    make_up_conditions(&scale.report, desc->curves[0].characters);
    scale.report.process_count = processes;
    scale.points = calloc(scale.point_count, sizeof *scale.points);
    scale.curves = calloc(scale.curve_count, sizeof *scale.curves);
    cr_assert(scale.points && scale.curves);
    scale.isa = TH_ISA_AVX2;
    scale.has_counters = desc->has_counters;
    scale.memory_bytes = 256000000;
    for (uint32_t c = 0, first = 0; c < desc->curve_count; first += desc->curves[c++].points) {
        const made_up_curve *from = &desc->curves[c];
        const th_scale_curve curve = {.scheduler = from->scheduler,
                                      .characters = from->characters,
                                      .grain = from->grain,
                                      .first = first,
                                      .count = from->points};
        char name[48] = "scale";
        if (desc->curve_count > 1)
            snprintf(name, sizeof name, "scale/%s/count:%u/grain:%u", th_scheduler_name(curve.scheduler),
                     curve.characters, curve.grain);
        scale.curves[c] = curve;
        for (uint32_t i = first; i < first + curve.count; i++) {
            set_point(&scale, desc, &curve, i);
            fill_row(&scale.report.rows[i], name, &scale.points[i], processes);
        }
    }
    set_parts(&scale);
    if (desc->wrong > 0)
        spoil(&scale, desc->wrong);
    scale.palette_bytes = scale.report.rows[scale.curves[0].count - 1].bones * 48;
    cr_assert_eq(th_scale_fit(&scale, &err), TH_OK, "%s", err.text);
    for (uint32_t c = 0; c < scale.curve_count; c++)
        for (uint32_t i = scale.curves[c].first; i < scale.curves[c].first + scale.curves[c].count; i++)
            if (!scale.report.rows[i].failure[0])
                scale.report.rows[i].own = th_scale_own_json(&scale, &scale.curves[c], i);
    conclude(&scale, processes);
    return scale;
}

/* ---- stress ---- */

static void conclude_stress(th_stress *stress)
{
    for (uint32_t i = 0; i < stress->point_count; i++) {
        json_decref(stress->report.rows[i].own);
        stress->report.rows[i].own = th_stress_own_json(stress, i);
        if (!stress->drawn)
            json_object_set_new(stress->report.rows[i].own, "counters",
                                json_pack("{s:f, s:f, s:n, s:f, s:f, s:i, s:i}", "cycles", 3e7, "instructions", 6e7,
                                          "l1_misses", "llc_misses", 1e5, "cpu_ns", 1e7, "page_faults", 0,
                                          "context_switches", 2));
    }
    th_stress_write_headline(stress, &stress->points[1]);
}

th_stress made_up_stress(void)
{
    th_stress stress = {
        .points = calloc(2, sizeof *stress.points),
        .point_count = 2,
        .budget_ns = 16.6e6,
        .frames = 1800,
        .preemption_threshold_ns = 166000,
        .searched = true,
        .memory = 2000000000,
        .bytes_per_character = 2600,
        .isa = TH_ISA_AVX2,
    };
    cr_assert(stress.points);
    cr_assert_eq(th_report_init(&stress.report, 2, REPETITIONS, &err), TH_OK);
    make_up_conditions(&stress.report, 134000);
    for (uint32_t i = 0; i < 2; i++) {
        th_stress_point *p = &stress.points[i];
        th_row *row = &stress.report.rows[i];
        *p = (th_stress_point){.threads = i + 1, .characters = 67000 * (i + 1), .meets_budget = true};
        p->ticks = (th_capacity_ticks){.scheduled = 1800, .frames = 1796, .late = 3, .missed = 4, .longest_ns = 35e6};
        p->search = (th_capacity){.items = p->characters, .probe_count = 1};
        p->search.interval = (th_interval){p->characters * 0.7354, p->characters * 1.0456};
        p->search.probes[0] = (th_capacity_probe){TH_CAPACITY_CONFIRM, p->characters, p->ticks, true, 15e6, 16e6};
        describe_row(row, "stress", i + 1, p->characters);
        row->time_unit = "ms";
        row->iterations = row->iterations_timed_at_once = 1;
        row->palette_hash = 0x1234567890abcdefu + i;
        for (int f = 0; f < REPETITIONS; f++) {
            th_samples_add(&row->real_ns, 15e6 + f % 3 * 5e5);
            th_samples_add(&row->cpu_ns, 15e6);
        }
        p->times = p->unpreempted = th_samples_stats(&row->real_ns);
    }
    stress.points[0].out_of_memory = true;
    stress.points[1].preempted = 30;
    stress.points[1].search.first_failing = 137000;
    stress.points[1].search.runs = 6;
    stress.points[1].search.worst_run = 99000;
    stress.points[1].search.best_run = 139000;
    conclude_stress(&stress);
    return stress;
}

th_stress made_up_stress_drawn(void)
{
    th_stress stress = made_up_stress();
    const th_samples none = {0};
    stress.drawn = true;
    stress.error_every = 100;
    stress.share_hz = 20;
    stress.report.picture = json_pack("{s:i, s:i, s:i, s:i, s:s}", "width", 640, "height", 360, "samples", 4, "shadow",
                                      1024, "renderer", "a painter");
    for (uint32_t i = 0; i < 2; i++) {
        th_stress_point *p = &stress.points[i];
        p->poses = (th_stress_poses){.evaluated = p->characters / 2,
                                     .shared = p->characters / 2,
                                     .held = p->characters / 4,
                                     .apart = i == 0 ? 1000 : 0,
                                     .bones = 26ull * p->characters,
                                     .tolerance_px = 0.5};
        p->visible = i == 0 ? p->characters : p->characters / 2;
        p->errors = calloc(2, sizeof *p->errors);
        cr_assert(p->errors);
        p->errors[0] = (th_stress_error){0, 0.01, 0.4, 1.5, 0};
        p->errors[1] = (th_stress_error){100, 0.02, 0.3, 1.25, 0};
        p->error_count = 2;
        p->error = (th_stress_error){0, 0.02, 0.4, 1.5, 0};
        snprintf(stress.report.rows[i].name, sizeof stress.report.rows[i].name, "stress/drawn/threads:%u", i + 1);
    }
    stress.points[1].unpreempted = th_samples_stats(&none);
    stress.points[1].preempted = stress.points[1].ticks.frames;
    conclude_stress(&stress);
    return stress;
}

/* ---- ranks ---- */

th_rank_scaling made_up_ranks(void)
{
    enum { FRAMES = 4 };
    static const double frame_ns[] = {1e6, 650e3}, barrier_ns[] = {0, 10e3};
    th_rank_scaling s = {.point_count = 2, .rounds = 2, .rounds_done = 2, .frames = 2, .ranks = 2, .threads = 3};
    cr_assert_eq(th_rank_scaling_init(&s, (uint32_t[]){1, 2}, &err), TH_OK, "%s", err.text);
    make_up_conditions(&s.report, 100);
    s.has_gather = true;
    s.isa = TH_ISA_AVX2;
    for (uint32_t p = 0; p < 2; p++) {
        th_rank_point *point = &s.points[p];
        point->characters = 100;
        point->bones = 100 * BONES;
        point->palette_bytes = 100 * BONES * 48;
        point->sum = (th_hash128){0x1122334455667788u, 0x99aabbccddeeff00u};
        for (uint32_t r = 0; r <= p; r++)
            point->shares[r] = (th_rank_share){.characters = 100 / (p + 1), .bones = 100 * BONES / (p + 1)};
        for (uint32_t f = 0; f < FRAMES; f++) {
            th_samples_add(&point->stages[TH_RANK_POSES], frame_ns[p]);
            th_samples_add(&point->stages[TH_RANK_BARE_BARRIER], barrier_ns[p]);
            th_samples_add(&point->stages[TH_RANK_GATHER], frame_ns[p] + 200e3);
            th_samples_add(&point->stages[TH_RANK_BARE_GATHER], 190e3);
            for (uint32_t r = 0; r <= p; r++)
                point->poses_ns[f * (p + 1) + r] = p == 0 ? 1e6 : r == 0 ? 600e3 : 400e3;
        }
    }
    strcpy(s.hosts[0], "a");
    strcpy(s.hosts[1], "b");
    return s;
}

/* Inside, since memory and ablations are replaced below the experiment. The scaling study with tiny counts: the
 * bytes must not depend on how the work is split. */
#include "bench/measure/memory_bandwidth.h"
#include "bench/scaling/experiment.h"
#include "fixture_isa.h"
#include "fixture_jobs.h"
#include "fixture_small.h"

#include <bench/student.h>
#include <core/cache_line.h>
#include <core/json.h>

#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static th_error err;

TestSuite(scale, .init = make_small, .fini = free_small);

enum { CHARACTERS = 101, BATCHES = 6 }; /* of two models: 51 and 50 of them, sixteen and more at a time */
enum { MEMORY = 1 << 20 };

/* How memory was to be measured. It is for a pass alone: its time is its own, and long. */
static th_measure_desc memory_measure;

__typeof__(th_bandwidth_measure) __real_th_bandwidth_measure, __wrap_th_bandwidth_measure;

th_result __wrap_th_bandwidth_measure(const th_bandwidth_desc *desc, th_row *rows, th_error *error)
{
    th_bandwidth_desc quick = *desc;
    memory_measure = desc->measure;
    quick.measure.iterations = 1;
    return __real_th_bandwidth_measure(&quick, rows, error);
}

/* Of CHARACTERS of two models on one and two threads, in one repetition of two frames, unless desc says otherwise. */
static th_scale run(th_scale_desc desc)
{
    static const th_model *models[2];
    static const uint32_t threads[] = {1, 2};
    th_scale scale;
    models[0] = models[1] = small;
    desc.scene.models = models;
    desc.scene.model_count = 2;
    desc.scene.instance_count = desc.scene.instance_count ? desc.scene.instance_count : CHARACTERS;
    desc.scene.seed = 3;
    if (!desc.threads) {
        desc.threads = threads;
        desc.thread_count = 2;
    }
    if (desc.measure.repetitions == 0)
        desc.measure = (th_measure_desc){.repetitions = 1, .iterations = 2};
    desc.memory_bytes = MEMORY;
    cr_assert_eq(th_scale_run(&desc, &scale, &err), TH_OK, "%s", err.text);
    return scale;
}

static uint32_t usable_cpus(void)
{
    return th_cpus_read().usable;
}

static double number(const json_t *json, const char *name)
{
    const json_t *value = json_object_get(json, name);
    cr_assert(json_is_number(value), "%s", name);
    return json_number_value(value);
}

/* Every batch of a frame is some worker's, once in each call, in what was counted and in what was recorded. */
static void expect_whole_frame(const th_row *row, uint32_t grain)
{
    const json_t *workers = json_object_get(row->once, "workers"), *trace = json_object_get(row->once, "trace");
    const json_t *worker, *span;
    const uint32_t all_chunks = (BATCHES - 1) / grain + 1;
    size_t index, at = 0;
    double items = 0, chunks = 0;
    cr_assert_eq(json_array_size(workers), row->threads);
    json_array_foreach(workers, index, worker)
    {
        items += number(worker, "items");
        chunks += number(worker, "chunks");
        cr_expect_leq(number(worker, "idle_at_end_us"), number(worker, "idle_us"));
        cr_expect_eq(json_is_null(json_object_get(worker, "wake_us")), number(worker, "wakes") == 0);
    }
    cr_expect_eq(items, BATCHES, "%s, grain %u: %g items", row->name, grain, items);
    cr_expect_eq(chunks, all_chunks, "%s, grain %u: %g chunks", row->name, grain, chunks);
    cr_assert_eq(json_array_size(trace), all_chunks);
    json_array_foreach(trace, index, span)
    {
        int who, begin, end;
        double start_us, end_us;
        cr_assert_eq(json_unpack((json_t *)span, "[i, i, i, F, F]", &who, &begin, &end, &start_us, &end_us), 0);
        cr_expect_lt((uint32_t)who, row->threads);
        cr_expect_eq((size_t)begin, at);
        cr_expect_gt(end, begin);
        cr_expect_leq(start_us, end_us);
        cr_expect_lt(fabs(start_us), 60e6, "%g us after the frame began", start_us);
        at += (size_t)(end - begin);
    }
    cr_expect_eq(at, BATCHES);
}

/* The first curve has a trace. */
static void expect_same_palettes(const th_scale *scale, uint64_t *hash)
{
    for (uint32_t r = 0; r < scale->point_count; r++) {
        const th_row *row = &scale->report.rows[r];
        *hash = *hash ? *hash : row->palette_hash;
        cr_expect_eq(row->palette_hash, *hash, "%s, %s, %s", row->name, th_isa_name(scale->isa),
                     th_scheduler_name(scale->curves[0].scheduler));
        cr_expect(row->moving && row->checked);
        cr_expect_str_eq(row->failure, "");
        if (r < scale->curves[0].count)
            expect_whole_frame(row, scale->curves[0].grain);
    }
}

Test(scale, hash_does_not_depend_on_threads_grain_or_scheduler)
{
    static const uint32_t threads[] = {1, 2, 3, 4, 8}, grains[] = {1, 3, 1000, 1, 3};
    uint64_t hash = 0;
    for (EACH_SCHEDULER(s)) {
        th_scale scale = run((th_scale_desc){.schedulers = &s,
                                             .scheduler_count = 1,
                                             .grains = grains + s % 3,
                                             .grain_count = 3,
                                             .threads = threads,
                                             .thread_count = 5});
        const uint32_t points = s == TH_SCHEDULER_SERIAL ? 1 : 5;
        cr_assert_eq(scale.point_count, 3 * points);
        for (uint32_t p = 0; p < scale.point_count; p++)
            cr_expect_eq(scale.points[p].threads, threads[p % points]);
        expect_same_palettes(&scale, &hash);
        th_scale_fini(&scale);
    }
}

Test(scale, every_instruction_set_has_one_hash_for_any_number_of_threads)
{
    for (EACH_ISA(isa)) {
        uint64_t hash = 0;
        th_scale scale = run((th_scale_desc){.isa = isa, .threads = (uint32_t[]){1, 2, 3, 8}, .thread_count = 4});
        cr_expect_eq(scale.isa, isa);
        cr_assert_eq(scale.point_count, 4);
        expect_same_palettes(&scale, &hash);
        th_scale_fini(&scale);
    }
}

/* ---- what comes of it ---- */

/* The counters of a row are those of its own threads: in the calls of a frame each spends the same time. */
static void expect_figures_of_counters(const json_t *row, const th_scale_point *p)
{
    const json_t *workers = json_object_get(row, "workers");
    double busy_us = 0, idle_us = 0, at_end_us = 0;
    for (size_t w = 0; w < json_array_size(workers); w++) {
        const json_t *worker = json_array_get(workers, w);
        busy_us += number(worker, "busy_us");
        idle_us += number(worker, "idle_us");
        at_end_us += number(worker, "idle_at_end_us");
    }
    cr_expect_float_eq(p->work_ns, busy_us * 1000, 1e-6 * p->work_ns);
    cr_expect_float_eq(p->busy, busy_us / (busy_us + idle_us), 1e-9);
    cr_expect_float_eq(p->idle_at_end, at_end_us / (busy_us + idle_us), 1e-9);
}

/* Rows of the points, of the parts and of memory. How all of it is told: test_documents. */
Test(scale, measures_every_thread_count_part_and_traffic)
{
    const uint32_t with = usable_cpus() < 2 ? 1 : 2, kinds = th_bandwidth_kind_count(); /* on a CPU each */
    th_scale scale = run((th_scale_desc){0});
    const th_row *rows = scale.report.rows;
    cr_assert_eq(scale.report.row_count, 2 + with * (TH_ABLATION_COUNT + kinds) + 1);
    cr_expect(scale.part_count == with && scale.memory_count == with);
    cr_expect_eq(scale.curves[0].fits[TH_FIT_USL].status, TH_FIT_TOO_FEW_POINTS);
    cr_expect_eq(scale.curves[0].fits[TH_FIT_USL].point_count, with);
    cr_expect_str_neq(scale.bottleneck.text, "");
    for (uint32_t p = 0; p < 2; p++) {
        const th_scale_point *point = &scale.points[p];
        expect_figures_of_counters(rows[p].once, point);
        cr_expect_eq(point->frame_ns, th_samples_stats(&rows[p].real_ns).median);
        cr_expect_float_eq(1 / point->pop.values[TH_POP_LOAD_BALANCE], 1 + point->imbalance, 1e-9);
        cr_expect_eq(point->oversubscribed, p > 0 && usable_cpus() < 2);
    }
    for (int a = 0; a < TH_ABLATION_COUNT; a++) {
        char name[64];
        const th_row *row = &rows[2 + a];
        snprintf(name, sizeof name, "scale/%s/threads:1", th_ablation_name((th_ablation)a));
        cr_expect_str_eq(row->name, name);
        cr_expect_eq(number(row->own, "work_us_per_frame"), scale.parts[0].work_ns[a] / 1000, "%s", name);
        cr_expect_float_eq(th_samples_stats(&row->real_ns).median, scale.parts[0].frame_ns[a], 1e-6, "%s", name);
        cr_expect_leq(scale.parts[0].work_ns[a], 1.01 * scale.parts[0].frame_ns[a], "%s: one thread", name);
    }
    cr_expect_eq(scale.parts[0].threads, 1);
    const th_row *loop = &rows[2 + with * TH_ABLATION_COUNT], *read = loop + 1 + TH_BANDWIDTH_READ;
    const double loop_ns = th_samples_stats(&loop->real_ns).median, first_ns = scale.points[0].frame_ns;
    cr_expect_str_eq(loop->name, "scale/loop/threads:1");
    const double bytes_per_s = number(read->own, "bytes_per_second");
    cr_expect_str_eq(read->name, "scale/memory_read/threads:1");
    cr_expect_float_eq(bytes_per_s * th_samples_stats(&read->real_ns).median, MEMORY * 1e9, 1e3);
    cr_expect_eq(scale.memory[0].bytes_per_s[TH_BANDWIDTH_READ], bytes_per_s);
    cr_expect_float_eq(scale.points[0].speed_up, fmin(first_ns, loop_ns) / first_ns, 1e-9);
    cr_expect_eq(scale.points[0].efficiency, scale.points[0].speed_up);
    cr_expect_eq(scale.points[1].efficiency, scale.points[1].speed_up / 2);
    cr_expect_eq(scale.points[1].karp_flatt, th_fit_karp_flatt(scale.points[1].speed_up, 2));
    th_scale_fini(&scale);
}

static void expect_inside(double value, double low, double high, const char *what)
{
    cr_expect(low <= value && value <= high && low > 0, "%s: %g in %g to %g", what, value, low, high);
}

/* From 15 rounds. A single one has none, and nothing is concluded from it. */
Test(scale, efficiency_and_shares_have_intervals)
{
    th_scale scale = run((th_scale_desc){.measure = {.repetitions = 15, .iterations = 2}});
    for (size_t i = 0; i < 2; i++) {
        const th_scale_point *p = &scale.points[i];
        expect_inside(p->efficiency, p->efficiency_interval.low, p->efficiency_interval.high, "efficiency");
        for (int f = 0; f < TH_POP_COUNT; f++)
            if (isfinite(p->pop.values[f]))
                expect_inside(p->pop.values[f], p->pop.intervals[f].low, p->pop.intervals[f].high,
                              th_pop_factor_name((th_pop_factor)f));
    }
    for (int a = 0; a < TH_ABLATION_COUNT; a++) {
        const th_estimate *share = &scale.parts[0].shares[a];
        cr_expect_float_eq(share->value, scale.parts[0].frame_ns[a] / scale.points[0].frame_ns, 1e-9);
        expect_inside(share->value, share->low, share->high, th_ablation_name((th_ablation)a));
    }
    cr_expect(isfinite(scale.bottleneck.lost.low) || usable_cpus() < 2);
    th_scale_fini(&scale);
    scale = run((th_scale_desc){0});
    cr_expect(isnan(scale.points[0].efficiency_interval.low) && isnan(scale.parts[0].shares[0].high));
    cr_expect(isnan(scale.points[1].pop.intervals[TH_POP_PARALLEL].low));
    th_scale_fini(&scale);
}

/* The document as another process would write it: with times and figures so many times as large. */
static th_result_file *other_process(const th_scale *scale, double factor)
{
    json_t *document = th_scale_json(scale), *row;
    th_result_file *results;
    size_t index, field;
    static const char *const fields[] = {"real_time", "speed_up",    "efficiency", "karp_flatt",       "busy",
                                         "serial",    "idle_at_end", "imbalance",  "work_us_per_frame"};
    json_array_foreach(json_object_get(document, "benchmarks"), index, row)
    {
        for (field = 0; field < sizeof fields / sizeof *fields; field++)
            if (json_is_number(json_object_get(row, fields[field])))
                json_object_set_new(row, fields[field], json_real(factor * number(row, fields[field])));
        json_t *pop = json_object_get(row, "pop");
        if (pop)
            json_object_set_new(pop, "load_balance", json_real(factor / 10));
    }
    char *text = json_dumps(document, 0);
    cr_assert_eq(th_result_file_parse(text, strlen(text), "other", &results, &err), TH_OK, "%s", err.text);
    free(text);
    json_decref(document);
    return results;
}

static void expect_mean(const th_interval *interval, double mean, const double values[3], const char *what)
{
    const th_estimate wanted = th_student_mean(values, 3);
    cr_expect_float_eq(mean, wanted.value, 1e-9 * fabs(wanted.value), "%s: %g", what, mean);
    if (interval) {
        cr_expect_float_eq(interval->low, wanted.low, 1e-9, "%s: %g", what, interval->low);
        cr_expect_float_eq(interval->high, wanted.high, 1e-9, "%s: %g", what, interval->high);
    }
}

/* Of the second process everything takes twice as long as in the first one, of the third three times. */
Test(scale, figures_of_processes_are_their_means_with_intervals_of_student)
{
    th_scale scale = run((th_scale_desc){.measure = {.repetitions = 3, .iterations = 2}});
    const th_scale_point point = scale.points[1];
    const th_scale_parts parts = scale.parts[0];
    const double written = scale.memory[0].bytes_per_s[TH_BANDWIDTH_WRITE];
    th_result_file *others[] = {other_process(&scale, 2), other_process(&scale, 3)};
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(th_scale_merge(&scale, others[i], &err), TH_OK, "%s", err.text);
        th_result_file_free(others[i]);
    }
    cr_expect_eq(scale.report.process_count, 3);
    cr_expect_eq(scale.report.rows[1].real_ns.count, 9);
    const double e = point.efficiency, share = parts.shares[TH_ABLATION_EMPTY].value;
    const th_estimate *shares = &scale.parts[0].shares[TH_ABLATION_EMPTY];
    expect_mean(&scale.points[1].efficiency_interval, scale.points[1].efficiency, (double[]){e, 2 * e, 3 * e},
                "efficiency");
    expect_mean(&(th_interval){shares->low, shares->high}, shares->value, (double[]){share, share, share}, "share");
    cr_expect_float_eq(scale.points[1].frame_ns, 2 * point.frame_ns, 1e-3);
    cr_expect_float_eq(scale.points[1].work_ns, 2 * point.work_ns, 1e-3);
    const double of_first[] = {point.speed_up, point.karp_flatt,  point.busy,
                               point.serial,   point.idle_at_end, point.imbalance};
    const th_scale_point *p = &scale.points[1];
    const double merged[] = {p->speed_up, p->karp_flatt, p->busy, p->serial, p->idle_at_end, p->imbalance};
    for (size_t i = 0; i < sizeof merged / sizeof *merged; i++)
        cr_expect_float_eq(merged[i], 2 * of_first[i], 1e-9, "figure %zu: %g, was %g", i, merged[i], of_first[i]);
    cr_expect_float_eq(scale.parts[0].work_ns[TH_ABLATION_WRITE], 2 * parts.work_ns[TH_ABLATION_WRITE], 1e-3);
    cr_expect_float_eq(scale.memory[0].bytes_per_s[TH_BANDWIDTH_WRITE], written * (1 + 1 / 2.0 + 1 / 3.0) / 3, 1);
    const json_t *stated = json_object_get(scale.report.rows[1].own, "efficiency"); /* but for what cannot be */
    cr_expect(2 * e > TH_REPORT_MAX_EFFICIENCY ? json_is_null(stated) : fabs(json_number_value(stated) - 2 * e) < 1e-9);
    cr_expect_float_eq(scale.points[1].pop.values[TH_POP_LOAD_BALANCE],
                       (point.pop.values[TH_POP_LOAD_BALANCE] + 0.2 + 0.3) / 3, 1e-9);
    expect_mean(&scale.points[1].pop.intervals[TH_POP_LOAD_BALANCE], scale.points[1].pop.values[TH_POP_LOAD_BALANCE],
                (double[]){point.pop.values[TH_POP_LOAD_BALANCE], 0.2, 0.3}, "load balance");
    cr_expect_float_eq(scale.points[1].pop.values[TH_POP_TRANSFER], point.pop.values[TH_POP_TRANSFER], 1e-9);
    if (usable_cpus() > 1)
        expect_mean(&(th_interval){scale.bottleneck.efficiency.low, scale.bottleneck.efficiency.high},
                    scale.bottleneck.efficiency.value, (double[]){e, 2 * e, 3 * e}, "bottleneck");
    th_scale_fini(&scale);
}

/* Of each thread so many characters: the crowd of two threads is that of one thread and as many again. */
Test(scale, weak_scaling_grows_the_crowd_with_the_threads)
{
    static const uint32_t characters[] = {20, 40, 20, 40, CHARACTERS, 2 * CHARACTERS, CHARACTERS, 2 * CHARACTERS};
    th_scale scale = run((th_scale_desc){.is_weak = true,
                                         .counts = (uint32_t[]){20, CHARACTERS},
                                         .count_count = 2,
                                         .grains = (uint32_t[]){1, 3},
                                         .grain_count = 2});
    cr_assert_eq(scale.point_count, 8);
    for (uint32_t i = 0; i < 8; i++) {
        const th_row *row = &scale.report.rows[i];
        cr_expect_str_eq(row->failure, "");
        cr_expect_eq(row->characters, characters[i]);
        cr_expect_eq(scale.points[i].characters, characters[i]);
        cr_expect_eq(row->palette_hash == scale.report.rows[i ^ 2].palette_hash, true, "%s: another grain", row->name);
        cr_expect_neq(row->palette_hash, scale.report.rows[i ^ 1].palette_hash, "%s: another crowd", row->name);
    }
    const th_scale_point *p = &scale.points[5], *first = &scale.points[4];
    cr_expect_float_eq(p->speed_up, 2 * first->frame_ns / p->frame_ns, 1e-9);
    cr_expect_float_eq(p->efficiency, first->frame_ns / p->frame_ns, 1e-9);
    cr_expect_str_eq(scale.report.rows[5].name, "scale/weak/count:101/grain:1/threads:2");
    cr_expect_eq(scale.curves[0].fits[TH_FIT_USL].status, TH_FIT_TOO_FEW_POINTS);
    if (scale.part_count > 1) {
        const th_row *part = &scale.report.rows[8 + TH_ABLATION_COUNT];
        cr_expect_str_eq(part->name, "scale/weak/no_palette_write/threads:2");
        cr_expect_eq(part->characters, 40);
        cr_expect_eq(scale.palette_bytes, scale.report.rows[1].bones * 48);
        cr_expect_lt(fabs(scale.bottleneck.losses[TH_BOTTLENECK_CORES].value), 1);
    }
    const double bones = (double)scale.report.rows[5].bones;
    cr_expect_float_eq(number(scale.report.rows[5].own, "bones_per_s"), bones / p->frame_ns * 1e9, 1);
    cr_expect_float_eq(number(scale.report.rows[5].own, "grind_ns"), 2 * p->frame_ns / bones, 1e-9);
    th_scale_fini(&scale);
}

/* ---- spending less ---- */

enum { MANY = 600 };

static th_scale study_of(bool is_weak, double share_hz)
{
    th_scale scale = run((th_scale_desc){.scene = {.instance_count = MANY},
                                         .is_weak = is_weak,
                                         .grains = (uint32_t[]){1, 3},
                                         .grain_count = 2,
                                         .threads = (uint32_t[]){1, 2, 4},
                                         .thread_count = 3,
                                         .share_hz = share_hz});
    for (uint32_t i = 0; i < scale.point_count; i++)
        cr_expect_str_eq(scale.report.rows[i].failure, "");
    return scale;
}

/* That of the studies. */
static th_scene *mixed_scene(uint32_t count)
{
    th_scene *scene;
    const th_model *models[] = {small, small};
    const th_scene_desc desc = {.models = models, .model_count = 2, .instance_count = count, .seed = 3};
    cr_assert_eq(th_scene_create(&desc, &scene, &err), TH_OK, "%s", err.text);
    return scene;
}

/* Steps of clips that somebody is in at the checked frame. */
static uint32_t count_steps(uint32_t characters, double hz)
{
    static bool seen[2][64][512];
    th_scene *scene = mixed_scene(characters);
    uint32_t count = 0;
    memset(seen, 0, sizeof seen);
    for (uint32_t i = 0; i < characters; i++) {
        const th_clip *clip = th_scene_clip(scene, i);
        const double duration_s = clip->duration_ticks / clip->ticks_per_second, steps = round(duration_s * hz);
        const double loops = th_scene_clip_time(scene, i, 100 / 60.0) / duration_s;
        bool *step =
            &seen[scene->instances[i].model][scene->instances[i].clip][(size_t)((loops - floor(loops)) * steps)];
        count += !*step;
        *step = true;
    }
    th_scene_destroy(scene);
    return count;
}

/* Palettes are checked at the time of the step: those of the characters' own time would not pass. */
Test(scale, shared_poses_are_counted_apart_and_the_same_for_any_number_of_threads)
{
    th_scale exact = study_of(false, 0), scale = study_of(false, 20);
    const uint32_t evaluated = count_steps(MANY, 20);
    cr_expect(evaluated > 50 && evaluated < MANY * 0.9, "%u", evaluated);
    for (uint32_t i = 0; i < scale.point_count; i++) {
        const th_row *row = &scale.report.rows[i];
        cr_expect_eq(row->palette_hash, scale.report.rows[0].palette_hash);
        cr_expect_neq(row->palette_hash, exact.report.rows[i].palette_hash);
        cr_expect_eq(scale.points[i].palette_sum.low, scale.points[0].palette_sum.low);
        cr_expect_eq(row->characters, evaluated);
        cr_expect_eq(scale.points[i].characters, evaluated);
        cr_expect_eq(scale.points[i].shared, MANY - evaluated);
        cr_expect_eq(row->bones, (uint64_t)evaluated * small->bone_count);
        cr_expect(scale.points[i].share_error > 1e-3 && scale.points[i].share_error < 0.2);
        cr_expect_eq(exact.points[i].shared, 0);
        cr_expect_eq(exact.points[i].share_error, 0);
        cr_expect_eq(exact.report.rows[i].characters, MANY);
    }
    cr_expect_eq(scale.palette_bytes, (uint64_t)evaluated * small->bone_count * 48);
    const th_row *part = &scale.report.rows[scale.point_count];
    cr_expect_eq(part->characters, evaluated, "ablations are of the same work");
    cr_expect_eq(number(scale.report.scene, "share_hz"), 20);
    th_scale_fini(&scale);
    th_scale_fini(&exact);
}

/* Of a crowd that grows the poses grow less. */
Test(scale, weak_scaling_counts_what_each_crowd_evaluates)
{
    th_scale scale = study_of(true, 20);
    static const uint32_t threads[] = {1, 2, 4};
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t all = MANY * threads[i], evaluated = count_steps(all, 20);
        cr_expect_eq(scale.report.rows[i].characters, evaluated);
        cr_expect_eq(scale.points[i].shared, all - evaluated);
        cr_expect_eq(scale.report.rows[i].palette_hash, scale.report.rows[3 + i].palette_hash, "another grain");
        const double growth = (double)evaluated / scale.points[0].characters;
        cr_expect_float_eq(scale.points[i].speed_up / scale.points[0].speed_up,
                           growth * scale.points[0].frame_ns / scale.points[i].frame_ns, 1e-9);
    }
    cr_expect_lt(scale.points[2].characters, 3 * scale.points[0].characters);
    th_scale_fini(&scale);
}

/* Which are 20 ms, unless something else is asked for; those of the memory's bandwidth whatever is asked for. */
Test(scale, says_how_long_its_repetitions_are_and_measures_memory_for_its_own_time)
{
    static const th_measure_desc measures[] = {
        {.repetitions = 1}, {.repetitions = 1, .iterations = 1}, {.repetitions = 1, .repetition_ns = 1}};
    static const uint64_t reported_ns[] = {20000000, 0, 1};
    for (int i = 0; i < 3; i++) {
        th_scale scale = run((th_scale_desc){
            .scene = {.instance_count = 5}, .threads = (uint32_t[]){1}, .thread_count = 1, .measure = measures[i]});
        cr_expect_eq(scale.report.repetition_ns, reported_ns[i], "%d", i);
        cr_assert_str_eq(scale.report.rows[2 + TH_ABLATION_COUNT].name, "scale/memory_write/threads:1");
        cr_expect(i == 0 || scale.report.rows[0].iterations == 1, "%d", i);
        cr_expect_eq(memory_measure.iterations, 0);
        cr_expect_eq(memory_measure.repetition_ns, 20000000);
        th_scale_fini(&scale);
    }
}

/* ---- several curves ---- */

Test(scale, every_scheduler_count_and_grain_is_a_curve)
{
    static const uint32_t counts[] = {70, 20}, grains[] = {1, TH_FRAME_DEFAULT_GRAIN, 50};
    th_scale scale =
        run((th_scale_desc){.schedulers = (th_scheduler[]){TH_SCHEDULER_WORK_STEALING, TH_SCHEDULER_SERIAL},
                            .scheduler_count = 2,
                            .counts = counts,
                            .count_count = 2,
                            .grains = (uint32_t[]){1, 0, 50},
                            .grain_count = 3});
    cr_assert_eq(scale.curve_count, 12);
    cr_assert_eq(scale.point_count, 6 * 2 + 6);
    for (uint32_t c = 0; c < 12; c++) {
        const th_scale_curve *curve = &scale.curves[c];
        const th_row *row = &scale.report.rows[curve->first];
        cr_expect_eq(curve->scheduler, c < 6 ? TH_SCHEDULER_WORK_STEALING : TH_SCHEDULER_SERIAL);
        cr_expect_eq(curve->characters, counts[c / 3 % 2]);
        cr_expect_eq(curve->grain, grains[c % 3]);
        cr_expect_eq(curve->count, c < 6 ? 2 : 1);
        cr_expect_eq(row->characters, curve->characters, "%s", row->name);
        cr_expect_eq(row->palette_hash, scale.report.rows[scale.curves[c / 3 % 2 * 3].first].palette_hash);
        cr_expect_leq(scale.points[curve->first].speed_up, 1);
    }
    cr_expect_neq(scale.report.rows[0].palette_hash, scale.report.rows[6].palette_hash, "70 and 20 characters");
    cr_expect_str_eq(scale.report.rows[11].name, "scale/work-stealing/count:20/grain:50/threads:2");
    th_scale_fini(&scale);
}

/* ---- wrong palettes ---- */

static uint32_t threads_to_spoil; /* the hash of what so many have written is another */
static uint32_t hashes;

__typeof__(th_crowd_hash) __real_th_crowd_hash, __wrap_th_crowd_hash;
uint64_t __wrap_th_crowd_hash(const th_crowd *crowd, const void *palette)
{
    const uint32_t trial = hashes++ / 4; /* of four frames each */
    return __real_th_crowd_hash(crowd, palette) ^ (threads_to_spoil > 0 && trial + 1 == threads_to_spoil);
}

Test(scale, palettes_that_differ_fail_their_point_and_leave_no_verdict)
{
    threads_to_spoil = 2;
    th_scale scale = run((th_scale_desc){.threads = (uint32_t[]){1, 2, 3}, .thread_count = 3});
    cr_expect_str_eq(scale.report.rows[0].failure, "");
    cr_expect_str_eq(scale.report.rows[1].failure, "palettes differ from those of scale/threads:1");
    cr_expect_str_eq(scale.report.rows[2].failure, "");
    cr_expect_eq(scale.points[1].frame_ns, 0);
    cr_expect_leq(scale.curves[0].fits[TH_FIT_USL].point_count, 2);
    cr_expect_str_eq(scale.bottleneck.text, "A check failed, so the times mean nothing.");
    cr_expect_eq(scale.bottleneck.kind, TH_BOTTLENECK_UNCLEAR);
    th_scale_fini(&scale);
}

/* ---- parts of frames ---- */

/* What an ablation does to palettes that are garbage. */
typedef struct left_over {
    bool wrote_all, wrote_any;
} left_over;

static left_over ablate(th_ablation ablation)
{
    left_over found = {true, false};
    th_crowd *crowd;
    th_jobs *jobs;
    th_ablated_frame *ablated;
    th_scene *scene = mixed_scene(CHARACTERS);
    cr_assert_eq(th_scene_crowd(scene, TH_ISA_AUTO, TH_FORMAT_F32, &crowd, &err), TH_OK);
    cr_assert_eq(th_jobs_create(&(th_jobs_desc){.threads = 1}, &jobs, &err), TH_OK);
    const th_ablated_frame_desc desc = {ablation, crowd, jobs, 1};
    cr_assert_eq(th_ablated_frame_create(&desc, &ablated, &err), TH_OK);
    const size_t bytes = th_crowd_palette_bytes(crowd), entries = small->bone_count * 48;
    char *palettes = th_cache_line_alloc(bytes);
    memset(palettes, 0xff, bytes);
    th_ablated_frame_run(ablated, 1.5, palettes);
    for (uint32_t i = 0; i < CHARACTERS; i++) {
        uint32_t word;
        memcpy(&word, palettes + th_crowd_palette_offset(crowd, i) + entries - sizeof word, sizeof word);
        found.wrote_all = found.wrote_all && word != UINT32_MAX;
        found.wrote_any = found.wrote_any || word != UINT32_MAX;
    }
    free(palettes);
    th_ablated_frame_destroy(ablated);
    th_jobs_destroy(jobs);
    th_crowd_destroy(crowd);
    th_scene_destroy(scene);
    return found;
}

Test(scale, ablations_leave_out_what_they_say)
{
    static const struct {
        th_ablation ablation;
        bool writes;
    } cases[] = {{TH_ABLATION_NO_WRITE, false},
                 {TH_ABLATION_NO_HIERARCHY, true},
                 {TH_ABLATION_SAMPLING, false},
                 {TH_ABLATION_WRITE, true},
                 {TH_ABLATION_EMPTY, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const left_over found = ablate(cases[i].ablation);
        const char *name = th_ablation_name(cases[i].ablation);
        cr_expect_eq(found.wrote_all, cases[i].writes, "%s", name);
        cr_expect_eq(found.wrote_any, cases[i].writes, "%s", name);
    }
}

static uint64_t memory_available; /* 0: as the system says */

__typeof__(th_memory_available) __real_th_memory_available, __wrap_th_memory_available;
uint64_t __wrap_th_memory_available(void)
{
    return memory_available ? memory_available : __real_th_memory_available();
}

/* And over more than the caches: two of the third level. */
Test(scale, bandwidth_is_measured_in_the_memory_there_is)
{
    th_context context = {.cpus.online = 16, .cache_count = 2};
    context.caches[0] = (th_cache){"Unified", 3, 16 << 20, 8};
    context.caches[1] = (th_cache){"Data", 1, 32768, 2};
    memory_available = 20 << 20;
    cr_expect_eq(th_bandwidth_default_bytes(&context), (size_t)10 << 20);
    memory_available = UINT64_MAX;
    cr_expect_eq(th_bandwidth_default_bytes(&context), (size_t)4 * 2 * (16 << 20));
    context.caches[0].bytes = (uint64_t)480 << 20; /* which a virtual machine does not have for itself */
    cr_expect_leq(th_bandwidth_default_bytes(&context), (size_t)1 << 30);
    context.cache_count = 0;
    cr_expect_eq(th_bandwidth_default_bytes(&context), (size_t)32 << 20);
    cr_expect_eq(th_bandwidth_round(1), 256 * 1024);
    cr_expect_eq(th_bandwidth_round(256 * 1024), 256 * 1024);
}

Test(scale, picks_thread_counts_that_fit_on_a_page)
{
    uint32_t counts[TH_JOBS_MAX_THREADS];
    cr_assert_eq(th_scale_threads(1, counts), 1);
    cr_expect_eq(counts[0], 1);
    cr_assert_eq(th_scale_threads(4, counts), 4);
    cr_expect_arr_eq(counts, ((uint32_t[]){1, 2, 3, 4}), 4 * sizeof *counts);
    cr_assert_eq(th_scale_threads(24, counts), 6);
    cr_expect_arr_eq(counts, ((uint32_t[]){1, 2, 4, 8, 16, 24}), 6 * sizeof *counts);
    cr_assert_eq(th_scale_threads(64, counts), 7);
    cr_expect_eq(counts[6], 64);
    cr_expect_eq(counts[th_scale_threads(100000, counts) - 1], TH_JOBS_MAX_THREADS);
}

/* ---- the bottleneck, on made-up figures ---- */

/* Two threads against one: half the time, and every part of it scales. */
static th_bottleneck_input perfect(void)
{
    th_bottleneck_input f = {
        .usable_cpus = 2,
        .most_threads = 2,
        .fastest_threads = 2,
        .characters = 100,
        .palette_bytes = 2.5e5,
        .base = {.threads = 1, .frame_ns = 1e6, .speed_up = 1, .efficiency = 1, .busy = 1, .work_ns = 1e6},
        .last = {.threads = 2, .frame_ns = 5e5, .speed_up = 2, .efficiency = 1, .busy = 1, .work_ns = 1e6},
        .base_parts = {.threads = 1, .frame_ns = {9e5, 7e5, 4e5, 2e5, 1e3}, .work_ns = {9e5, 7e5, 4e5, 2e5, 500}},
        .parts = {.threads = 2, .frame_ns = {4.5e5, 3.5e5, 2e5, 1e5, 1e3}, .work_ns = {9e5, 7e5, 4e5, 2e5, 1000}},
        .memory = {.threads = 2, .bytes_per_s = {2e10, 3e10, 2.5e10}},
    };
    return f;
}

/* The same with so much lost. */
static th_bottleneck_input losing(double lost)
{
    th_bottleneck_input f = perfect();
    f.last.efficiency = 1 - lost;
    f.last.speed_up = 2 * f.last.efficiency;
    f.last.frame_ns = 1e6 / f.last.speed_up;
    return f;
}

/* Of three tenths that are lost, so much is spent on waiting for the last, the rest on waiting for work. */
static th_bottleneck_input waiting(double at_end)
{
    th_bottleneck_input f = losing(0.3);
    f.last.busy = 0.7;
    f.last.idle_at_end = at_end;
    return f;
}

enum { RESAMPLES = 101 };

static double factor_spread;

/* Resamples of which the last point and its parts are up to `spread` off, to either side, and POP factors up to
 * `factor_spread`. */
static th_bottleneck analyzed(const th_bottleneck_input *f, double spread)
{
    th_bottleneck_input resamples[RESAMPLES];
    th_bottleneck v;
    for (int i = 0; i < RESAMPLES; i++) {
        th_bottleneck_input *r = &resamples[i];
        const double off = spread * (i - RESAMPLES / 2) / (double)(RESAMPLES / 2);
        *r = *f;
        r->last.frame_ns /= 1 + off;
        r->last.speed_up *= 1 + off;
        r->last.efficiency *= f->last.threads == f->base.threads ? 1 : 1 + off;
        r->last.work_ns /= 1 + off;
        r->last.idle_at_end *= 1 - off;
        for (int p = 0; p < TH_POP_COUNT; p++)
            r->last.pop.values[p] *= 1 + factor_spread * (i - RESAMPLES / 2) / (double)(RESAMPLES / 2);
        for (int a = 0; a < TH_ABLATION_COUNT; a++)
            r->parts.frame_ns[a] *= 1 + off;
    }
    th_bottleneck_analyze(f, resamples, spread > 0 ? RESAMPLES : 0, false, &v);
    return v;
}

static th_bottleneck expect_bottleneck(th_bottleneck_kind limit, const char *part, const th_bottleneck_input *f)
{
    const th_bottleneck v = analyzed(f, 1e-3);
    cr_expect_str_eq(th_bottleneck_kind_name(v.kind), th_bottleneck_kind_name(limit), "%s", v.text);
    cr_expect(strstr(v.text, part), "no \"%s\" in: %s", part, v.text);
    cr_expect_not(strstr(v.text, "nan") || strstr(v.text, "inf"), "%s", v.text);
    return v;
}

Test(bottleneck, computing_is_the_limit_where_nothing_is_lost)
{
    th_bottleneck_input f = perfect();
    expect_bottleneck(TH_BOTTLENECK_COMPUTE,
                      "2 threads animate 2.00 [2.00, 2.00] times as many characters as 1: 100 % [100, 100] efficiency. "
                      "Almost nothing",
                      &f);
    expect_bottleneck(TH_BOTTLENECK_COMPUTE, "stay in the cache, a frame takes 90 % [90, 90] of", &f);
    expect_bottleneck(TH_BOTTLENECK_COMPUTE,
                      "sampling alone takes 40 % [40, 40], handing out empty chunks 0.2 % [0.2, 0.2].", &f);
    f = losing(0.04);
    expect_bottleneck(TH_BOTTLENECK_COMPUTE, "96 % [96, 96] efficiency", &f);
}

Test(bottleneck, is_what_most_is_lost_to)
{
    enum { OUTSIDE, INSIDE, WRITING, LAST, WORK, APART, INPUTS };
    static const struct {
        int input;
        th_bottleneck_kind limit;
        const char *part;
        th_bottleneck_kind cause;
        double loss; /* to this cause */
    } cases[] = {
        {OUTSIDE, TH_BOTTLENECK_MEMORY, "takes 40 % [40, 40] longer in all, but 0.0 % [0.0, 0.0] where",
         TH_BOTTLENECK_MEMORY, 0.4 / 1.4},
        {OUTSIDE, TH_BOTTLENECK_MEMORY, "writing them alone reaches 2.5, writing a large block 20.0",
         TH_BOTTLENECK_CORES, 0},
        {INSIDE, TH_BOTTLENECK_CORES, "40 % [40, 40] longer in all, and still 39 % [39, 39]", TH_BOTTLENECK_CORES,
         0.35 / 1.4},
        {INSIDE, TH_BOTTLENECK_CORES, "", TH_BOTTLENECK_MEMORY, 0.05 / 1.4},
        {WRITING, TH_BOTTLENECK_MEMORY, "stay in the cache, a frame takes 40 % [40, 40] of its time. They are written",
         TH_BOTTLENECK_CORES, 0},
        {LAST, TH_BOTTLENECK_IMBALANCE, "threads wait 25 % [25, 25] of their time for the last", TH_BOTTLENECK_WAKE_UPS,
         0.05},
        {WORK, TH_BOTTLENECK_WAKE_UPS, "threads wait 28 % [28, 28] of their time for work", TH_BOTTLENECK_WAKE_UPS,
         0.28},
        {WORK, TH_BOTTLENECK_WAKE_UPS, "Empty chunks alone take 1.0 us of a frame's 714.3 us", TH_BOTTLENECK_IMBALANCE,
         0.02},
        {APART, TH_BOTTLENECK_SERIAL, "27 % [27, 27] of a frame passes outside of calls", TH_BOTTLENECK_SERIAL,
         0.28 - 0.7 * 0.01},
    };
    th_bottleneck_input inputs[INPUTS] = {losing(0.3),   losing(0.3),   perfect(),
                                          waiting(0.25), waiting(0.02), losing(0.3)};
    inputs[OUTSIDE].last.work_ns = inputs[INSIDE].last.work_ns =
        1.4e6; /* outside of the cache alone, and within, too */
    inputs[INSIDE].parts.work_ns[TH_ABLATION_NO_WRITE] = 1.25e6;
    inputs[WRITING].parts.frame_ns[TH_ABLATION_NO_WRITE] = 2e5; /* is most of a frame */
    inputs[APART].last.serial = 0.28;
    inputs[APART].base.serial = 0.01;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const th_bottleneck_input *f = &inputs[cases[i].input];
        const th_bottleneck v = expect_bottleneck(cases[i].limit, cases[i].part, f);
        cr_expect_float_eq(v.lost.value, 1 - f->last.efficiency, 1e-9, "%zu", i);
        cr_expect_float_eq(v.losses[cases[i].cause].value, cases[i].loss, 1e-9, "%zu", i);
    }
}

/* Thread-milliseconds of a frame: of 4 that 4 threads have, 3.6 are work and 0.4 idle_at_end; of 8 that 16 have, 5.2
 * and 2.8.
 */
Test(bottleneck, losses_of_more_threads_against_some_add_up)
{
    th_bottleneck_input f = perfect();
    f.usable_cpus = f.most_threads = f.fastest_threads = 16;
    f.base = (th_scale_point){
        .threads = 4, .frame_ns = 1e6, .efficiency = 1, .busy = 0.9, .idle_at_end = 0.1, .work_ns = 3.6e6};
    f.last = (th_scale_point){.threads = 16,
                              .frame_ns = 5e5,
                              .speed_up = 2,
                              .efficiency = 0.5,
                              .busy = 0.65,
                              .idle_at_end = 0.35,
                              .work_ns = 5.2e6};
    const th_bottleneck v =
        expect_bottleneck(TH_BOTTLENECK_IMBALANCE, "threads wait 30 % [30, 30] of their time for the last", &f);
    cr_expect_float_eq(v.losses[TH_BOTTLENECK_IMBALANCE].value, 2.4 / 8, 1e-9, "%g",
                       v.losses[TH_BOTTLENECK_IMBALANCE].value);
    cr_expect_float_eq(v.losses[TH_BOTTLENECK_MEMORY].value, 1.6 / 8, 1e-9);
    cr_expect_float_eq(v.losses[TH_BOTTLENECK_WAKE_UPS].value, 0, 1e-9);
    f.base =
        (th_scale_point){.threads = 4, .frame_ns = 1e6, .efficiency = 1, .busy = 0.8, .serial = 0.1, .work_ns = 2.88e6};
    f.last.busy = 2.88 / 8 / 0.8, f.last.idle_at_end = 0, f.last.serial = 0.2, f.last.work_ns = 2.88e6;
    const th_bottleneck w = expect_bottleneck(TH_BOTTLENECK_WAKE_UPS, "of their time for work", &f);
    cr_expect_float_eq(w.losses[TH_BOTTLENECK_SERIAL].value, (1.6 - 0.4) / 8, 1e-9, "%g",
                       w.losses[TH_BOTTLENECK_SERIAL].value);
    cr_expect_float_eq(w.losses[TH_BOTTLENECK_WAKE_UPS].value, (8 - 1.6 - 2.88 - (4 - 0.4 - 2.88)) / 8, 1e-9, "%g",
                       w.losses[TH_BOTTLENECK_WAKE_UPS].value);
}

Test(bottleneck, says_when_it_is_not_clear)
{
    th_bottleneck_input f = losing(0.4); /* no single one is half of it */
    f.last.work_ns = 1e6 / 0.85;
    f.last.busy = 0.8;
    f.last.idle_at_end = 0.1;
    expect_bottleneck(TH_BOTTLENECK_UNCLEAR,
                      "no cause explains half of the loss. Of the threads' time 40 % [40, 40] is lost; memory explains "
                      "12 % [12, 12], shared cores or clock 0.0 % [0.0, 0.0], imbalance 10 % [10, 10], wake-ups 10 %",
                      &f);
    f = losing(0.3); /* nothing shows at all */
    expect_bottleneck(TH_BOTTLENECK_UNCLEAR, "memory explains 0.0 %", &f);
    f = waiting(0.3);
    f.base.relative_mad = 0.2;
    expect_bottleneck(TH_BOTTLENECK_IMBALANCE, "is 20 % of the median: this is a rough result", &f);
}

/* The largest loss is named where it stays the largest, and the loss where it stays one. */
Test(bottleneck, is_named_only_where_its_interval_carries_it)
{
    th_bottleneck_input f = waiting(0.16); /* wake-ups: 0.14 */
    cr_expect_eq(analyzed(&f, 0.01).kind, TH_BOTTLENECK_IMBALANCE, "%s", analyzed(&f, 0.01).text);
    const th_bottleneck close = analyzed(&f, 0.1);
    cr_expect_eq(close.kind, TH_BOTTLENECK_UNCLEAR, "%s", close.text);
    cr_expect(strstr(close.text, "no cause is larger than the others beyond the noise") &&
                  strstr(close.text, "imbalance 16 % [14, 18]"),
              "%s", close.text);
    f.last.idle_at_end = 0.3;
    cr_expect_eq(analyzed(&f, 0.2).kind, TH_BOTTLENECK_IMBALANCE, "%s", analyzed(&f, 0.2).text);
    const th_bottleneck noisy = analyzed(&f, 0.5);
    cr_expect_eq(noisy.kind, TH_BOTTLENECK_UNCLEAR);
    cr_expect(strstr(noisy.text, "the loss is within the noise"), "%s", noisy.text);
    const th_bottleneck single = analyzed(&f, 0);
    cr_expect_eq(single.kind, TH_BOTTLENECK_UNCLEAR);
    cr_expect(
        strstr(single.text, "fewer than two repetitions have no intervals. Of the threads' time 30 % [no interval]"),
        "%s", single.text);
    cr_expect_not(strstr(single.text, "nan"), "%s", single.text);
    f = perfect();
    f.parts.frame_ns[TH_ABLATION_NO_WRITE] = 2.5e5; /* half of a frame */
    const th_bottleneck half = analyzed(&f, 0.02);
    cr_expect_eq(half.kind, TH_BOTTLENECK_UNCLEAR);
    cr_expect(strstr(half.text, "Computing or memory, the bottleneck is unclear: "), "%s", half.text);
}

/* A factor is named where more is lost than noise is, and nothing outside took the time. */
Test(bottleneck, names_the_weakest_factor_of_a_loss)
{
    th_bottleneck_input f = losing(0.3);
    f.last.pop = (th_pop){{[TH_POP_PARALLEL] = 0.88,
                           [TH_POP_LOAD_BALANCE] = 0.97,
                           [TH_POP_SERIALISATION] = 0.91,
                           [TH_POP_TRANSFER] = 1,
                           [TH_POP_COMPUTATION] = 0.8,
                           [TH_POP_INSTRUCTIONS] = 1,
                           [TH_POP_IPC] = 0.9,
                           [TH_POP_FREQUENCY] = 0.89},
                          {{0, 0}}};
    cr_expect_eq(analyzed(&f, 1e-3).factor, TH_POP_FREQUENCY);
    const char *text =
        "The weakest POP factor is frequency, 89 % [89, 89]: parallel efficiency 88 %, computation scaling 80 %.";
    cr_expect(strstr(analyzed(&f, 1e-3).text, text), "%s", analyzed(&f, 1e-3).text);
    f.interference.external_cpu_load = 0.5;
    cr_expect_eq(analyzed(&f, 1e-3).factor, TH_POP_GLOBAL);
    f.interference.external_cpu_load = 0;
    factor_spread = 0.2;
    cr_expect_eq(analyzed(&f, 1e-3).factor, TH_POP_GLOBAL, "its interval has 1 inside");
    cr_expect_not(strstr(analyzed(&f, 1e-3).text, "weakest POP factor"));
    factor_spread = 0.1;
    cr_expect_eq(analyzed(&f, 1e-3).factor, TH_POP_FREQUENCY);
    factor_spread = 0;
    f.interference.external_cpu_load = 0;
    cr_expect_eq(analyzed(&f, 0.5).factor, TH_POP_GLOBAL, "the loss is within the noise");
    const th_pop pop = f.last.pop;
    f = losing(0.02);
    f.last.pop = pop;
    cr_expect_eq(analyzed(&f, 1e-3).factor, TH_POP_GLOBAL, "almost nothing is lost");
}

Test(bottleneck, intervals_are_those_of_the_resamples)
{
    th_bottleneck_input f = losing(0.3);
    const th_bottleneck v = analyzed(&f, 0.1);
    cr_expect_float_eq(v.efficiency.value, 0.7, 1e-9);
    cr_expect_float_eq(v.efficiency.low, 0.7 * (1 - 0.1 * 48 / 50), 1e-9, "%g", v.efficiency.low);
    cr_expect_float_eq(v.efficiency.high, 0.7 * (1 + 0.1 * 48 / 50), 1e-9, "%g", v.efficiency.high);
    cr_expect_float_eq(v.lost.low, 1 - v.efficiency.high, 1e-9);
    cr_expect_float_eq(v.speed_up.low, 2 * v.efficiency.low, 1e-9);
}

/* Of some processes imbalance is the largest loss, of `others` of them wake-ups are. */
static th_bottleneck analyzed_processes(uint32_t count, uint32_t others)
{
    th_bottleneck_input f = waiting(0.25), processes[TH_REPORT_MAX_PROCESSES];
    th_bottleneck v;
    f.fastest_threads = 1;
    for (uint32_t p = 0; p < count; p++) {
        processes[p] = f;
        processes[p].last.efficiency = p % 2 ? 0.68 : 0.72;
        processes[p].last.idle_at_end = p < others ? 0.1 : 0.25;
    }
    th_bottleneck_analyze(&f, processes, count, true, &v);
    return v;
}

/* By the binomial distribution: 2 of 12 are as unlikely as 1.9 %, 3 of 12 as 7.3 %; 0 of 6 as 1.6 %. */
Test(bottleneck, over_processes_has_intervals_of_student_and_a_sign_test)
{
    const th_bottleneck v = analyzed_processes(12, 2);
    const double half = th_student_quantile(0.95, 11) * 0.02 / sqrt(11);
    cr_expect_float_eq(v.efficiency.value, 0.7, 1e-9);
    cr_expect_float_eq(v.efficiency.low, 0.7 - half, 1e-9, "%g", v.efficiency.low);
    cr_expect_eq(v.kind, TH_BOTTLENECK_IMBALANCE, "%s", v.text);
    cr_expect(strstr(v.text, "1 thread is fastest"), "%s", v.text);
    cr_expect_eq(analyzed_processes(12, 3).kind, TH_BOTTLENECK_UNCLEAR);
    cr_expect_eq(analyzed_processes(6, 0).kind, TH_BOTTLENECK_IMBALANCE, "%s", analyzed_processes(6, 0).text);
    const th_bottleneck few = analyzed_processes(5, 0);
    cr_expect_eq(few.kind, TH_BOTTLENECK_UNCLEAR);
    cr_expect(strstr(few.text, "so few processes cannot tell which cause is the largest"), "%s", few.text);
    cr_expect_not(strstr(few.text, "fastest"), "%s", few.text);
}

Test(bottleneck, does_not_believe_what_cannot_be)
{
    th_bottleneck_input f = losing(-1.12);
    const th_bottleneck v =
        expect_bottleneck(TH_BOTTLENECK_UNCLEAR,
                          "Impossible: 2 threads were more than 2 times as fast as 1. Most likely the first point was "
                          "disturbed",
                          &f);
    cr_expect(v.is_impossible);
    cr_expect_not(strstr(v.text, "animate") || strstr(v.text, "bottleneck"), "%s", v.text);
    f = losing(-0.04);
    cr_expect_not(expect_bottleneck(TH_BOTTLENECK_COMPUTE, "104 % [104, 104] efficiency", &f).is_impossible);
}

/* As of crowds of several models. Where stores were not aligned, the program ended. */
Test(scale, plain_writes_take_pieces_of_any_size)
{
    static _Alignas(64) char memory[4096];
    for (int streams = 0; streams < 2; streams++)
        cr_expect_gt(th_plain_write_ns(memory, sizeof memory, 100, streams), 0);
}

/* Neither for people nor for scripts. */
Test(scale, what_cannot_be_is_printed_nowhere)
{
    th_scale scale = run((th_scale_desc){0});
    char *text;
    size_t size;
    scale.points[1].efficiency = 77.732145;
    scale.points[1].speed_up = scale.points[1].pop.values[TH_POP_GLOBAL] = 155.46429;
    scale.parts[0].shares[0] = (th_estimate){54.321098, 43.2, 65.4};
    th_scale_describe_rows(&scale);
    th_scale_conclude(&scale, NULL, 0, false);
    FILE *file = open_memstream(&text, &size);
    json_t *document = th_scale_json(&scale);
    json_dumpf(document, file, 0);
    cr_assert(th_report_csv(&scale.report, file) && th_scale_print(&scale, TH_OUTPUT_TEXT, file) &&
              th_scale_print(&scale, TH_OUTPUT_MARKDOWN, file));
    fclose(file);
    static const char *const figures[] = {"77.732145", "7773 %", "155.46429", "54.321098", "5432 %"};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        cr_expect_not(strstr(text, figures[i]), "%s is printed", figures[i]);
    cr_expect(strstr(text, "efficiency of scale/threads:2 is left out"), "%s", text);
    free(text);
    json_decref(document);
    th_scale_fini(&scale);
}

/* Before anything is said of the efficiency, and nothing is named then. */
Test(bottleneck, asks_what_disturbed_it_first)
{
    static const struct {
        th_interference outside;
        const char *begin;
    } cases[] = {
        {{0.4, 0, 0}, "Other programs used 0.40 CPUs, so this says little about the work itself. 2 threads animate"},
        {{(double)NAN, 0.2, 0}, "The hypervisor withheld 0.20 CPUs, so this says little"},
        {{0, (double)NAN, 3}, "The cgroup's quota throttled threads for 3.00 s, so this says little"},
        {{0.4, 0.2, 3},
         "Other programs used 0.40 CPUs, the hypervisor withheld 0.20 CPUs, the cgroup's quota throttled "
         "threads for 3.00 s, so this"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        th_bottleneck_input f = waiting(0.25);
        f.interference = cases[i].outside;
        th_bottleneck v = expect_bottleneck(TH_BOTTLENECK_EXTERNAL_LOAD, cases[i].begin, &f);
        cr_expect_eq(strncmp(v.text, cases[i].begin, strlen(cases[i].begin)), 0, "%s", v.text);
        cr_expect_not(strstr(v.text, "bottleneck"), "%s", v.text);
        f = losing(0.03);
        f.interference = cases[i].outside;
        expect_bottleneck(TH_BOTTLENECK_EXTERNAL_LOAD, cases[i].begin, &f);
    }
    th_bottleneck_input f = waiting(0.25);
    f.interference = (th_interference){(double)NAN, (double)NAN, 0};
    expect_bottleneck(TH_BOTTLENECK_IMBALANCE, "Imbalance", &f);
}

Test(bottleneck, more_threads_than_cpus_are_left_out)
{
    th_bottleneck_input f = perfect();
    f.most_threads = 8;
    expect_bottleneck(TH_BOTTLENECK_COMPUTE, "2 threads animate 2.00 [2.00, 2.00] times", &f);
    f.last = f.base;
    f.parts = f.base_parts;
    f.fastest_threads = f.usable_cpus = 1;
    expect_bottleneck(TH_BOTTLENECK_CPUS,
                      "1 thread: 1,667 characters in the 16.7 ms of a frame at 60 Hz. Only 1 CPU is usable", &f);
    f.most_threads = 1;
    expect_bottleneck(TH_BOTTLENECK_COMPUTE, "1 thread: 1,667 characters", &f);
}

/* Two CPUs. */
Test(bottleneck, cpus_are_the_limit_where_all_were_tried)
{
    th_bottleneck_input f = perfect();
    f.last = f.base;
    f.parts = f.base_parts;
    f.fastest_threads = 1;
    f.most_threads = 4; /* 1 and 4 */
    expect_bottleneck(TH_BOTTLENECK_UNCLEAR, "60 Hz. Too few points: 2 CPUs are usable, but no other number of threads",
                      &f);
    f.base.threads = f.last.threads = f.fastest_threads = 2; /* 2 and 4 */
    expect_bottleneck(TH_BOTTLENECK_CPUS,
                      "2 threads: 1,667 characters in the 16.7 ms of a frame at 60 Hz. Only 2 CPUs are", &f);
    f.base.threads = f.last.threads = f.fastest_threads = 4; /* 4 alone */
    f.base.oversubscribed = f.last.oversubscribed = true;
    expect_bottleneck(TH_BOTTLENECK_CPUS, "Only 2 CPUs are usable, so more threads cannot help", &f);
}

Test(bottleneck, says_who_is_faster)
{
    th_bottleneck_input f = losing(0.6);
    f.fastest_threads = 1;
    expect_bottleneck(TH_BOTTLENECK_UNCLEAR, "1 thread is fastest", &f);
}

/* What the workers counted adds up to the point's. */
Test(scale, counts_additional_frames_by_worker)
{
    th_scale scale = run((th_scale_desc){.counters = true});
    cr_expect(scale.has_counters);
    for (uint32_t p = 0; p < 2; p++) {
        const json_t *rows = json_object_get(scale.report.rows[p].once, "counters_by_worker"), *row;
        const double *counted = scale.points[p].counters.values;
        double cpu_ns = 0;
        size_t index;
        json_array_foreach(rows, index, row)
        {
            cr_expect_lt(number(row, "worker"), p + 1);
            cpu_ns += number(row, "cpu_ns");
            cr_expect_eq(json_is_null(json_object_get(row, "cycles")), isnan(counted[TH_COUNTER_CYCLES]));
        }
        cr_expect(index >= 1 && index <= p + 1);
        cr_expect_float_eq(counted[TH_COUNTER_CPU_NS], cpu_ns, 1);
        cr_expect_gt(cpu_ns, 0);
        cr_expect(isnan(counted[TH_COUNTER_CYCLES]) == (scale.report.counters_missing[0] != 0) ||
                  strstr(scale.report.counters_missing, "cycles") == NULL);
    }
    th_scale_fini(&scale);
}

/* The scaling study with tiny counts: the bytes must not depend on how the work is split. */
#include "fixture_human.h"

#include <throng/json.h>
#include <throng/scale.h>

#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static th_error err;

TestSuite(scale, .init = make_human, .fini = free_human);

enum { CHARACTERS = 101, BATCHES = 6 }; /* of two models: 51 and 50 of them, sixteen and more at a time */

static th_scale study(th_isa isa, th_scheduler scheduler, uint32_t grain, const uint32_t *threads,
                      uint32_t thread_count)
{
    const th_model *models[] = {human, human};
    th_scale_desc desc = {
        .scene = {.models = models, .model_count = 2, .instance_count = CHARACTERS, .seed = 3},
        .isa = isa,
        .scheduler = scheduler,
        .grain = grain,
        .threads = threads,
        .thread_count = thread_count,
        .measure = {.repetitions = 1, .iterations = 2},
    };
    th_scale scale;
    cr_assert_eq(th_scale_run(&desc, &scale, &err), TH_OK, "%s", err.text);
    return scale;
}

static double number(const json_t *json, const char *name)
{
    const json_t *value = json_object_get(json, name);
    cr_assert(json_is_number(value), "%s", name);
    return json_number_value(value);
}

/* Every batch of a frame is some worker's, once in each call, in what was counted and in what was recorded. */
static void expect_whole_frame(const th_row *row, uint32_t grain, uint32_t calls)
{
    const json_t *workers = json_object_get(row->once, "workers"), *trace = json_object_get(row->once, "trace");
    const json_t *worker, *span;
    const uint32_t all_chunks = calls * ((BATCHES - 1) / grain + 1);
    size_t index, at = 0;
    double items = 0, chunks = 0;
    cr_assert_eq(json_array_size(workers), row->threads);
    json_array_foreach(workers, index, worker)
    {
        items += number(worker, "items");
        chunks += number(worker, "chunks");
        cr_expect_leq(number(worker, "tail_us"), number(worker, "idle_us"));
        cr_expect_eq(json_is_null(json_object_get(worker, "wake_us")), number(worker, "wakes") == 0);
    }
    cr_expect_eq(items, calls * BATCHES, "%s, grain %u: %g items", row->name, grain, items);
    cr_expect_eq(chunks, all_chunks, "%s, grain %u: %g chunks", row->name, grain, chunks);
    cr_assert_eq(json_array_size(trace), all_chunks);
    json_array_foreach(trace, index, span)
    {
        int who, begin, end;
        double start_us, end_us;
        cr_assert_eq(json_unpack((json_t *)span, "[i, i, i, F, F]", &who, &begin, &end, &start_us, &end_us), 0);
        cr_expect_lt((uint32_t)who, row->threads);
        cr_expect_eq((size_t)begin, at % BATCHES);
        cr_expect_gt(end, begin);
        cr_expect_leq(start_us, end_us);
        cr_expect_lt(fabs(start_us), 1e6, "%g us after the frame began", start_us);
        at += (size_t)(end - begin);
    }
    cr_expect_eq(at, calls * BATCHES);
}

Test(scale, hash_does_not_depend_on_threads_grain_or_scheduler)
{
    static const uint32_t threads[] = {1, 2, 3, 4, 8}, grains[] = {1, 3, 1000};
    uint64_t hash = 0;
    for (int s = 0; s < TH_SCHEDULER_COUNT; s++)
        for (int g = 0; g < 3; g++) {
            if (!th_scheduler_available((th_scheduler)s))
                continue;
            th_scale scale = study(TH_ISA_AUTO, (th_scheduler)s, grains[g], threads, 5);
            cr_assert_eq(scale.report.row_count, s == TH_SCHEDULER_SERIAL ? 1 : 5);
            for (uint32_t r = 0; r < scale.report.row_count; r++) {
                const th_row *row = &scale.report.rows[r];
                hash = hash ? hash : row->palette_hash;
                cr_expect_eq(row->palette_hash, hash, "%s, scheduler %d, grain %u", row->name, s, grains[g]);
                cr_expect_eq(row->threads, threads[r]);
                cr_expect(row->moving && row->checked);
                cr_expect_str_eq(row->failure, "");
                expect_whole_frame(row, grains[g], 1);
            }
            th_scale_fini(&scale);
        }
}

Test(scale, every_instruction_set_has_one_hash_for_any_number_of_threads)
{
    for (int isa = TH_ISA_SCALAR; isa < TH_ISA_COUNT; isa++) {
        if (!th_isa_available((th_isa)isa))
            continue;
        th_scale scale = study((th_isa)isa, TH_SCHEDULER_OWN, 1, (uint32_t[]){1, 2, 3, 8}, 4);
        cr_expect_eq(scale.isa, (th_isa)isa);
        cr_assert_eq(scale.report.row_count, 4);
        for (uint32_t r = 0; r < 4; r++) {
            const th_row *row = &scale.report.rows[r];
            cr_expect(row->checked && row->moving);
            cr_expect_str_eq(row->failure, "");
            cr_expect_eq(row->palette_hash, scale.report.rows[0].palette_hash, "%s, %s", th_isa_name((th_isa)isa),
                         row->name);
        }
        th_scale_fini(&scale);
    }
}

Test(scale, separate_stages_write_the_same_bytes_and_say_what_each_takes)
{
    const th_model *models[] = {human, human};
    for (int sampling = TH_SAMPLING_COMPILED; sampling <= TH_SAMPLING_EXACT; sampling++) {
        uint64_t hash = 0;
        for (int stages = 0; stages < TH_STAGES_COUNT; stages++) {
            th_scale_desc desc = {
                .scene = {.models = models,
                          .model_count = 2,
                          .instance_count = CHARACTERS,
                          .rig.sampling = (th_sampling)sampling},
                .grain = 3,
                .stages = (th_stages)stages,
                .threads = (uint32_t[]){1, 3},
                .thread_count = 2,
                .measure = {.repetitions = 2, .iterations = 2},
            };
            th_scale scale;
            cr_assert_eq(th_scale_run(&desc, &scale, &err), TH_OK, "%s", err.text);
            for (uint32_t r = 0; r < 2; r++) {
                const th_row *row = &scale.report.rows[r];
                const bool separate = stages == TH_STAGES_SEPARATE;
                hash = hash ? hash : row->palette_hash;
                cr_expect_eq(row->palette_hash, hash, "%s, stages %d", row->name, stages);
                expect_whole_frame(row, 3, separate ? 2 : 1);
                cr_expect_eq(json_object_get(row->own, "sample_us_per_frame") != NULL, separate);
                if (!separate)
                    continue;
                double sum = number(row->own, "sample_us_per_frame") + number(row->own, "resolve_us_per_frame");
                double frame = th_samples_stats(&row->real_ns).mean / 1000;
                cr_expect(sum <= frame * 1.001 && sum > frame / 2, "%g of %g us", sum, frame);
            }
            cr_expect_str_eq(json_string_value(json_object_get(scale.report.scene, "stages")),
                             th_stages_name((th_stages)stages));
            th_scale_fini(&scale);
        }
    }
}

Test(scale, document_and_text_hold_every_thread_count)
{
    th_scale scale = study(TH_ISA_AUTO, TH_SCHEDULER_OWN, 0, (uint32_t[]){1, 2}, 2);
    json_t *document = th_report_json(&scale.report), *rows = json_object_get(document, "benchmarks");
    cr_assert_eq(json_array_size(rows), 2 * (1 + 7)); /* one repetition: neither stddev nor cv */
    static const char *const fields[] = {"characters_per_s", "speed_up",         "efficiency", "busy", "tail",
                                         "ns_per_joint",     "work_us_per_frame"};
    for (size_t i = 0; i < json_array_size(rows); i++)
        for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)
            cr_expect(json_is_number(json_object_get(json_array_get(rows, i), fields[f])), "%s", fields[f]);
    cr_expect_str_eq(json_string_value(json_object_get(json_array_get(rows, 8), "name")), "scale/threads:2");
    for (size_t i = 0; i < json_array_size(rows); i++) { /* once for each thread count: a trace is long */
        const json_t *row = json_array_get(rows, i), *aggregate = json_object_get(row, "aggregate_name");
        bool is_mean = aggregate && strcmp(json_string_value(aggregate), "mean") == 0;
        cr_expect_eq(json_is_array(json_object_get(row, "workers")), is_mean);
        cr_expect_eq(json_is_array(json_object_get(row, "trace")), is_mean);
    }
    cr_expect_eq(scale.points[0].speed_up, 1);
    cr_expect_eq(scale.points[0].efficiency, 1);

    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    cr_expect(th_scale_print(&scale, TH_FORMAT_TEXT, file));
    fclose(file);
    cr_expect(strstr(text, "2 threads animate "), "%s", text);
    cr_expect_not(strstr(text, "nan"), "%s", text);
    free(text);
    json_decref(document);
    th_scale_fini(&scale);
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

/* ---- the verdict, on made-up figures ---- */

static double others_cpus;

static const char *verdict(uint32_t usable, th_scale_point last)
{
    static char text[512];
    th_row rows[2] = {{.threads = 1, .characters = 100}, {.threads = 2, .characters = 100}};
    last.speed_up = last.efficiency * 2;
    last.frame_ns = 1e6 / last.speed_up;
    th_scale_point points[2] = {{.frame_ns = 1e6, .speed_up = 1, .efficiency = 1, .busy = 1, .work_ns = 1e6}, last};
    th_scale scale = {
        .report = {.context.cpus.usable = usable, .rows = rows, .row_count = 2, .noise.others_cpus = others_cpus},
        .points = points};
    return th_scale_verdict(&scale, text, sizeof text);
}

static void expect_verdict(const char *part, uint32_t usable, th_scale_point last)
{
    const char *text = verdict(usable, last);
    cr_expect(strstr(text, part), "%s", text);
}

Test(scale, verdict_names_what_limits)
{
    expect_verdict("1.96 times as many characters as 1: 98 % efficiency. Nothing", 2,
                   (th_scale_point){.efficiency = 0.98, .busy = 0.99, .work_ns = 1e6});
    expect_verdict("40 % more time", 2, (th_scale_point){.efficiency = 0.7, .busy = 0.98, .work_ns = 1.4e6});
    expect_verdict("without work 29 % of the time, mostly waiting for others", 2,
                   (th_scale_point){.efficiency = 0.7, .busy = 0.71, .tail = 0.2, .work_ns = 1e6});
    expect_verdict("without work 29 % of the time, mostly before", 2,
                   (th_scale_point){.efficiency = 0.7, .busy = 0.71, .tail = 0.1, .work_ns = 1e6});
    expect_verdict("starting a frame of 0.71 ms", 2, (th_scale_point){.efficiency = 0.7, .busy = 0.71, .work_ns = 1e6});
    expect_verdict("Only 1 CPU is usable", 1, (th_scale_point){.efficiency = 0.5, .busy = 0.5, .work_ns = 1e6});
    expect_verdict("further than 12 % from the median", 2,
                   (th_scale_point){.efficiency = 0.98, .busy = 0.99, .work_ns = 1e6, .spread = 0.12});
    expect_verdict("1 thread is fastest", 2, (th_scale_point){.efficiency = 0.4, .busy = 0.5, .work_ns = 1e6});
}

Test(scale, verdict_blames_other_programs_first)
{
    others_cpus = 0.4;
    expect_verdict("Other programs used 0.40 CPUs", 2,
                   (th_scale_point){.efficiency = 0.7, .busy = 0.71, .work_ns = 1e6});
    expect_verdict("Nothing worth naming", 2, /* they did not hurt */
                   (th_scale_point){.efficiency = 0.97, .busy = 0.99, .work_ns = 1e6});
    others_cpus = nan("");
    expect_verdict("waiting for others", 2,
                   (th_scale_point){.efficiency = 0.7, .busy = 0.71, .tail = 0.2, .work_ns = 1e6});
}

Test(scale, verdict_of_wrong_palettes_says_so)
{
    th_row rows[1] = {{.threads = 1, .failure = "palettes differ"}};
    th_scale_point points[1] = {{0}};
    th_scale scale = {.report = {.rows = rows, .row_count = 1}, .points = points};
    char text[512];
    cr_expect(strstr(th_scale_verdict(&scale, text, sizeof text), "wrong"), "%s", text);
}

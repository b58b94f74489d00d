/* The bench with tiny counts: what it checks, what it reports. Times are not looked at. */
#include "fixture_human.h"

#include <throng/bench.h>
#include <throng/check.h>
#include <throng/frame.h>
#include <throng/human.h>
#include <throng/json.h>
#include <throng/trial.h>

#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static th_error err;

TestSuite(bench, .init = make_human, .fini = free_human);

static th_scene_desc scene_of(uint32_t count)
{
    static const th_model *models[1];
    models[0] = human;
    return (th_scene_desc){.models = models, .model_count = 1, .instance_count = count, .seed = 7};
}

/* ---- frame ---- */

static size_t allocations; /* counted by the linker's --wrap */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__wrap_malloc(size_t size)
{
    allocations++;
    return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    allocations++;
    return __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    allocations++;
    return __real_realloc(old, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    allocations++;
    return __real_aligned_alloc(alignment, size);
}

/* A scene with all that it takes to animate it. */
typedef struct rehearsal {
    th_scene *scene;
    th_crowd *crowd;
    th_jobs *jobs;
    th_frame *frame;
    void *palette;
} rehearsal;

static rehearsal rehearse(uint32_t count, uint32_t threads, th_sampling sampling)
{
    rehearsal r;
    th_scene_desc desc = scene_of(count);
    desc.sampling = sampling;
    cr_assert_eq(th_scene_create(&desc, &r.scene, &err), TH_OK, "%s", err.text);
    cr_assert_eq(th_scene_crowd(r.scene, TH_ISA_AUTO, &r.crowd, &err), TH_OK, "%s", err.text);
    cr_assert_eq(th_threads_create(&(th_jobs_desc){.threads = threads}, &r.jobs, &err), TH_OK, "%s", err.text);
    cr_assert_eq(th_frame_create(&(th_frame_desc){.crowd = r.crowd, .jobs = r.jobs}, &r.frame, &err), TH_OK);
    cr_assert_eq(th_palette_create(r.crowd, &r.palette, &err), TH_OK);
    return r;
}

static void dismiss(rehearsal *r)
{
    free(r->palette);
    th_frame_destroy(r->frame);
    th_jobs_destroy(r->jobs);
    th_crowd_destroy(r->crowd);
    th_scene_destroy(r->scene);
}

Test(bench, frame_allocates_nothing)
{
    for (int sampling = TH_SAMPLING_COMPILED; sampling <= TH_SAMPLING_EXACT; sampling++) {
        rehearsal r = rehearse(50, 3, (th_sampling)sampling);
        cr_assert_gt(allocations, 0, "nobody is counting");
        size_t before = allocations;
        for (int i = 0; i < 20; i++)
            th_frame_animate(r.frame, i / 60.0, r.palette);
        cr_expect_eq(allocations, before);
        dismiss(&r);
    }
}

Test(bench, frame_of_nobody_is_fine)
{
    rehearsal r = rehearse(0, 2, TH_SAMPLING_COMPILED);
    th_frame_animate(r.frame, 1, r.palette);
    dismiss(&r);
}

Test(bench, thread_errors_are_put_in_words)
{
    th_jobs *jobs;
    cr_expect_eq(th_threads_create(&(th_jobs_desc){.threads = TH_JOBS_MAX_THREADS + 1}, &jobs, &err),
                 TH_ERR_ENVIRONMENT);
    cr_expect_eq(jobs, NULL);
    cr_expect(strstr(err.text, "257 threads"), "%s", err.text);
}

/* ---- scene ---- */

Test(bench, scene_deals_each_model_its_own_clip)
{
    th_model *other;
    cr_assert_eq(th_human_create(&other, &err), TH_OK);
    th_scene_desc desc = {
        .models = (const th_model *const[]){human, other},
        .model_count = 2,
        .clips = (const uint32_t[]){2, other->clip_count}, /* which it does not have */
        .instance_count = 9,
    };
    th_scene *scene;
    cr_assert_eq(th_scene_create(&desc, &scene, &err), TH_OK);
    for (uint32_t i = 0; i < 9; i++) {
        cr_expect_eq(th_scene_model(scene, i), i % 2 ? other : human);
        cr_expect_eq(th_scene_clip(scene, i), i % 2 ? NULL : &human->clips[2]);
    }
    th_scene_destroy(scene);
    th_model_free(other);
}

/* ---- check ---- */

static th_check check_after(rehearsal *r, void (*spoil)(float *palette), uint32_t instance)
{
    th_check check = {0};
    th_frame_animate(r->frame, 1.5, r->palette);
    if (spoil)
        spoil((float *)((char *)r->palette + th_crowd_palette_offset(r->crowd, instance)));
    cr_assert_eq(th_check_palettes(r->scene, r->crowd, r->palette, NULL, 1.5, UINT32_MAX, &check, &err), TH_OK);
    return check;
}

static void shift_by_a_millimetre(float *palette)
{
    palette[12 * 5 + 3] += 0.001f;
}

static void leave_unwritten(float *palette)
{
    palette[12 * 5] = NAN;
}

Test(bench, check_accepts_what_is_right_and_finds_what_is_wrong)
{
    rehearsal r = rehearse(20, 1, TH_SAMPLING_COMPILED);
    th_check right = check_after(&r, NULL, 0);
    cr_expect_lt(right.excess, 1);
    cr_expect_gt(right.max_error, 0);
    cr_expect_lt(right.max_error, 1.25e-4);

    th_check wrong = check_after(&r, shift_by_a_millimetre, 13);
    cr_expect_gt(wrong.excess, 1);
    cr_expect_eq(wrong.instance, 13);
    cr_expect_eq(wrong.joint, human->binds[5].joint);
    cr_expect_float_eq(wrong.max_error, 0.001, 1.5e-4);

    th_check unwritten = check_after(&r, leave_unwritten, 13);
    cr_expect(isinf(unwritten.excess) && unwritten.instance == 13);
    dismiss(&r);
}

/* ---- trial ---- */

/* Poses the rehearsal at a frame of its own choice. */
typedef struct frozen {
    rehearsal *rehearsal;
    uint64_t frame;
} frozen;

static void run_asked_frame(void *ctx, uint64_t frame)
{
    rehearsal *r = ctx;
    th_frame_animate(r->frame, (double)frame / TH_FRAME_RATE, r->palette);
}

static void run_own_frame(void *ctx, uint64_t frame)
{
    frozen *f = ctx;
    (void)frame;
    run_asked_frame(f->rehearsal, f->frame);
}

static th_row try(const rehearsal *r, void (*run)(void *ctx, uint64_t frame), void *ctx)
{
    th_row row = {0};
    th_trial trial = {.scene = r->scene, .crowd = r->crowd, .palette = r->palette, .run = run, .ctx = ctx};
    cr_assert_eq(th_trial_run(&trial, &row, &err), TH_OK, "%s", err.text);
    cr_expect(row.checked);
    return row;
}

Test(bench, trial_finds_who_stands_still_in_either_frame)
{
    rehearsal r = rehearse(20, 1, TH_SAMPLING_COMPILED);
    th_row right = try(&r, run_asked_frame, &r);
    cr_expect_str_eq(right.failure, "");
    cr_expect(right.moving && right.palette_hash && right.max_error > 0);
    const uint64_t frames[] = {0, TH_TRIAL_FRAME};
    for (int i = 0; i < 2; i++) {
        th_row wrong = try(&r, run_own_frame, &(frozen){&r, frames[i]});
        cr_expect(strstr(wrong.failure, "units off the double-precision reference"), "frame %d: %s", (int)frames[i],
                  wrong.failure);
    }
    dismiss(&r);
}

Test(bench, scene_that_stands_still_is_fine_and_gets_a_note)
{
    static const uint32_t no_clip[] = {UINT32_MAX - 1};
    th_bench_desc desc = {.scene = scene_of(10), .measure = {.repetitions = 1, .iterations = 1}, .filter = "scalar"};
    desc.scene.clips = no_clip;
    th_report report;
    cr_assert_eq(th_bench_run(&desc, &report, &err), TH_OK, "%s", err.text);
    cr_expect_str_eq(report.rows[0].failure, "");
    cr_expect(report.rows[0].checked && !report.rows[0].moving);
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    th_report_print_doubts(&report, file);
    fclose(file);
    cr_expect(strstr(text, "nothing moves"), "%s", text);
    free(text);
    th_report_fini(&report);
}

/* ---- report ---- */

static th_report report_of_one(void)
{
    th_report report;
    cr_assert_eq(th_report_init(&report, 1, 1, &err), TH_OK);
    strcpy(report.rows[0].name, "row");
    report.rows[0].time_unit = "us";
    return report;
}

/* A failure names a joint, and the text is cut where it fills its array. */
Test(bench, failure_cut_inside_a_character_is_still_reported)
{
    th_report report = report_of_one();
    strcpy(report.rows[0].failure, "joint Kn\xC3");
    json_t *document = th_report_json(&report);
    cr_assert_neq(document, NULL);
    const json_t *row = json_array_get(json_object_get(document, "benchmarks"), 0);
    cr_expect_str_eq(json_string_value(json_object_get(row, "error_message")), "joint Kn\xEF\xBF\xBD");
    json_decref(document);
    th_report_fini(&report);
}

Test(bench, unknown_clock_is_left_out)
{
    th_report report = report_of_one();
    char *text;
    size_t size;
    for (int known = 0; known < 2; known++) {
        report.context.mhz = known ? 2900 : 0;
        FILE *file = open_memstream(&text, &size);
        th_report_print_conditions(&report, file);
        fclose(file);
        cr_expect_eq(strstr(text, " MHz") != NULL, known, "%s", text);
        free(text);
    }
    th_report_fini(&report);
}

static double field(const json_t *row, const char *name)
{
    const json_t *value = json_object_get(row, name);
    cr_assert(json_is_number(value), "%s is missing", name);
    return json_number_value(value);
}

static const char *text_field(const json_t *row, const char *name)
{
    const char *text = json_string_value(json_object_get(row, name));
    cr_assert_neq(text, NULL, "%s is missing", name);
    return text;
}

static json_t *run(const char *filter, uint32_t repetitions, th_report *report)
{
    th_bench_desc desc = {
        .scene = scene_of(10),
        .threads = 2,
        .measure = {.repetitions = repetitions, .iterations = 2},
        .filter = filter,
    };
    cr_assert_eq(th_bench_run(&desc, report, &err), TH_OK, "%s", err.text);
    json_t *json = th_report_json(report);
    cr_assert_neq(json, NULL);
    return json;
}

Test(bench, lists_what_the_filter_lets_through)
{
    cr_expect_gt(th_bench_list(NULL).count, 7);
    th_bench_names names = th_bench_list("^pose/(exact|tutorial)$");
    cr_assert_eq(names.count, 2);
    cr_expect_str_eq(names.names[0], "pose/exact");
    cr_expect_str_eq(names.names[1], "pose/tutorial");
    cr_expect_eq(th_bench_list("nothing").count, 0);
}

Test(bench, document_has_the_fields_of_google_benchmark)
{
    th_report report;
    json_t *document = run("pose/scalar", 3, &report), *context = json_object_get(document, "context");
    static const char *const texts[] = {"date",      "host_name", "executable",     "library_build_type",
                                        "cpu_model", "compiler",  "compiler_flags", "commit",
                                        "isa"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        text_field(context, texts[i]);
    static const char *const numbers[] = {"num_cpus", "mhz_per_cpu", "usable_cpus", "cores", "numa_nodes"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        field(context, numbers[i]);
    cr_expect(json_is_boolean(json_object_get(context, "cpu_scaling_enabled")));
    cr_expect_eq(json_array_size(json_object_get(context, "load_avg")), 3);
    cr_expect(json_is_array(json_object_get(context, "caches")));

    static const char *const aggregates[] = {"mean", "median", "min", "mad", "stddev"};
    const json_t *rows = json_object_get(document, "benchmarks"), *row;
    size_t index;
    cr_assert_eq(json_array_size(rows), 3 + 5);
    json_array_foreach(rows, index, row)
    {
        cr_expect_str_eq(text_field(row, "run_name"), "pose/scalar/f32");
        cr_expect_str_eq(text_field(row, "time_unit"), "us");
        cr_expect_eq(field(row, "repetitions"), 3);
        cr_expect_eq(field(row, "threads"), 1);
        cr_expect_eq(field(row, "characters"), 10);
        cr_expect_eq(field(row, "joints"), 10 * human->bind_count);
        cr_expect_float_eq(field(row, "ns_per_joint"), field(row, "real_time") * 1000 / field(row, "joints"), 1e-6);
        cr_expect_float_eq(field(row, "us_per_character"), field(row, "real_time") / 10, 1e-6);
        cr_expect_eq(strlen(text_field(row, "palette_hash")), 16);
        cr_expect_lt(field(row, "max_error"), 1.25e-4);
        cr_expect(json_is_true(json_object_get(row, "moving")));
        if (index < 3) {
            cr_expect_str_eq(text_field(row, "run_type"), "iteration");
            cr_expect_str_eq(text_field(row, "name"), "pose/scalar/f32");
            cr_expect_eq((size_t)field(row, "repetition_index"), index);
            cr_expect_eq(field(row, "iterations"), 2);
            cr_expect_gt(field(row, "real_time"), 0);
        } else {
            const char *name = aggregates[index - 3];
            char expected[64];
            snprintf(expected, sizeof expected, "pose/scalar/f32_%s", name);
            cr_expect_str_eq(text_field(row, "run_type"), "aggregate");
            cr_expect_str_eq(text_field(row, "aggregate_name"), name);
            cr_expect_str_eq(text_field(row, "name"), expected);
        }
    }
    json_decref(document);
    th_report_fini(&report);
}

Test(bench, all_entries_run_and_the_text_shows_them)
{
    th_report report;
    json_t *document = run(NULL, 1, &report);
    json_decref(document);
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    cr_expect(th_bench_print(&report, file));
    fclose(file);
    th_bench_names names = th_bench_list(NULL);
    cr_assert_eq(report.row_count, names.count);
    for (uint32_t i = 0; i < names.count; i++) {
        cr_expect_str_eq(report.rows[i].name, names.names[i]);
        cr_expect(strstr(text, names.names[i]), "%s", names.names[i]);
        cr_expect_str_eq(report.rows[i].failure, "");
        cr_expect_eq(report.rows[i].real_ns.count, 1);
    }
    cr_expect_not(strstr(text, "nan"), "%s", text);
    free(text);
    th_report_fini(&report);
}

Test(bench, failed_check_becomes_a_row_without_times)
{
    th_report report;
    cr_assert_eq(th_report_init(&report, 2, 1, &err), TH_OK);
    for (int i = 0; i < 2; i++) {
        snprintf(report.rows[i].name, sizeof report.rows[i].name, "row%d", i);
        report.rows[i].time_unit = "us";
        report.rows[i].iterations = 1;
    }
    th_samples_add(&report.rows[0].real_ns, 1000);
    th_samples_add(&report.rows[0].cpu_ns, 2000);
    cr_expect_eq(th_report_failure(&report), NULL);
    strcpy(report.rows[1].failure, "wrong");
    cr_expect_eq(th_report_failure(&report), &report.rows[1]);
    json_t *document = th_report_json(&report);
    const json_t *rows = json_object_get(document, "benchmarks");
    cr_assert_eq(json_array_size(rows), 1 + 4 + 1); /* no stddev of one value */
    cr_expect_eq(field(json_array_get(rows, 0), "real_time"), 1);
    cr_expect_eq(field(json_array_get(rows, 0), "cpu_time"), 2);
    const json_t *failed = json_array_get(rows, 5);
    cr_expect(json_is_true(json_object_get(failed, "error_occurred")));
    cr_expect_str_eq(text_field(failed, "error_message"), "wrong");
    cr_expect_eq(json_object_get(failed, "real_time"), NULL);
    json_decref(document);
    th_report_fini(&report);
}

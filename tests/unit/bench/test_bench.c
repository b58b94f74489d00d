/* Inside, since how schedulers are timed is decided there, before any result. The bench with tiny counts: what it
 * checks, what it reports. Times are not looked at. */
#include "bench/suites/scheduler_harness.h"
#include "fixture_memory.h"
#include "fixture_small.h"
#include "fixture_text.h"
#include "random_model.h"

#include <anim/ceilings.h>
#include <anim/synthetic.h>
#include <bench/bench.h>
#include <bench/validate.h>
#include <core/json.h>
#include <runtime/frame.h>

#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static th_error err;

/* The linker puts this in the place of the real one (--wrap): caches that a ceiling fills soon. */
__typeof__(th_context_read) __real_th_context_read, __wrap_th_context_read;
void __wrap_th_context_read(th_context *context)
{
    __real_th_context_read(context);
    for (uint32_t c = 0; c < context->cache_count; c++)
        context->caches[c].bytes = (uint64_t)1 << (14 + context->caches[c].level);
}

/* What a test has measured, until it ends. */
static th_report reports[16];
static uint32_t report_count;

static void forget(void)
{
    while (report_count > 0)
        th_report_fini(&reports[--report_count]);
    free_small();
}

TestSuite(bench, .init = make_small, .fini = forget);

static th_scene_desc scene_of(uint32_t count)
{
    static const th_model *models[1];
    models[0] = small;
    return (th_scene_desc){.models = models, .model_count = 1, .instance_count = count, .seed = 7};
}

static th_report report_of(const th_bench_desc *desc)
{
    th_report *report = &reports[report_count];
    cr_assert_eq(th_bench_run(desc, report, &err), TH_OK, "%s", err.text);
    cr_assert_lt(++report_count, sizeof reports / sizeof *reports);
    return *report;
}

static th_report report_on(th_scene_desc scene, const char *filter)
{
    return report_of(
        &(th_bench_desc){.scene = scene, .measure = {.repetitions = 1, .iterations = 1}, .filter = filter});
}

/* ---- frame ---- */

/* A scene with all that it takes to animate it. */
typedef struct dry_run_desc {
    th_scene *scene;
    th_crowd *crowd;
    th_jobs *jobs;
    th_frame *frame;
    void *palette;
} dry_run_desc;

static dry_run_desc dry_run(uint32_t count, uint32_t threads, th_sampling sampling)
{
    dry_run_desc r;
    th_scene_desc desc = scene_of(count);
    desc.compile.sampling = sampling;
    cr_assert_eq(th_scene_create(&desc, &r.scene, &err), TH_OK, "%s", err.text);
    cr_assert_eq(th_scene_crowd(r.scene, TH_ISA_AUTO, TH_FORMAT_F32, &r.crowd, &err), TH_OK, "%s", err.text);
    cr_assert_eq(th_jobs_create(&(th_jobs_desc){.threads = threads}, &r.jobs, &err), TH_OK, "%s", err.text);
    cr_assert_eq(th_frame_create(&(th_frame_desc){.crowd = r.crowd, .jobs = r.jobs}, &r.frame, &err), TH_OK);
    cr_assert_eq(th_palettes_create(r.crowd, &r.palette, &err), TH_OK);
    return r;
}

static void dismiss(dry_run_desc *r)
{
    th_palettes_destroy(r->palette);
    th_frame_destroy(r->frame);
    th_jobs_destroy(r->jobs);
    th_crowd_destroy(r->crowd);
    th_scene_destroy(r->scene);
}

Test(bench, frame_allocates_nothing)
{
    for (int sampling = TH_SAMPLING_COMPILED; sampling <= TH_SAMPLING_EXACT; sampling++) {
        dry_run_desc r = dry_run(50, 3, (th_sampling)sampling);
        cr_assert_gt(allocations, 0, "nobody is counting");
        size_t before = allocations;
        for (int i = 0; i < 20; i++)
            th_frame_run(r.frame, i / 60.0, r.palette);
        cr_expect_eq(allocations, before);
        dismiss(&r);
    }
}

Test(bench, frame_of_nobody_is_fine)
{
    dry_run_desc r = dry_run(0, 2, TH_SAMPLING_COMPILED);
    th_frame_run(r.frame, 1, r.palette);
    dismiss(&r);
}

/* ---- scene ---- */

Test(bench, scene_deals_each_model_its_own_clip)
{
    th_model *other;
    cr_assert_eq(
        th_synthetic_create(&(th_synthetic_desc){.joints = 3, .clips = 5, .keys = 4, .rate = 10}, &other, &err), TH_OK);
    th_scene_desc desc = {
        .models = (const th_model *const[]){small, other},
        .model_count = 2,
        .clips = (const uint32_t[]){2, other->clip_count}, /* which it does not have */
        .instance_count = 9,
    };
    th_scene *scene;
    cr_assert_eq(th_scene_create(&desc, &scene, &err), TH_OK);
    for (uint32_t i = 0; i < 9; i++) {
        cr_expect_eq(th_scene_model(scene, i), i % 2 ? other : small);
        cr_expect_eq(th_scene_clip(scene, i), i % 2 ? NULL : &small->clips[2]);
    }
    th_scene_destroy(scene);
    th_model_destroy(other);
}

/* ---- check ---- */

static th_validation check_after(dry_run_desc *r, void (*spoil)(float *palette), uint32_t instance)
{
    th_validation check = {0};
    th_frame_run(r->frame, 1.5, r->palette);
    if (spoil)
        spoil((float *)((char *)r->palette + th_crowd_palette_offset(r->crowd, instance)));
    const th_validation_desc desc = {
        .scene = r->scene, .crowd = r->crowd, .palette = r->palette, .time_s = 1.5, .sample = UINT32_MAX};
    cr_assert_eq(th_validate_palettes(&desc, &check, &err), TH_OK);
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
    dry_run_desc r = dry_run(20, 1, TH_SAMPLING_COMPILED);
    th_validation right = check_after(&r, NULL, 0);
    cr_expect_lt(right.excess, 1);
    cr_expect_gt(right.max_error, 0);
    cr_expect_lt(right.max_error, 1.25e-4);

    th_validation wrong = check_after(&r, shift_by_a_millimetre, 13);
    cr_expect_gt(wrong.excess, 1);
    cr_expect_eq(wrong.instance, 13);
    cr_expect_eq(wrong.joint, small->bones[5].joint);
    cr_expect_float_eq(wrong.excess * wrong.allowed, wrong.max_error, 1e-12);
    cr_expect_float_eq(wrong.max_error, 0.001, 1.5e-4);

    th_validation unwritten = check_after(&r, leave_unwritten, 13);
    cr_expect(isinf(unwritten.excess) && unwritten.instance == 13);
    dismiss(&r);
}

/* ---- trial ---- */

/* Poses the dry_run_desc at a frame of its own choice. */
typedef struct frozen {
    dry_run_desc *dry_run_desc;
    uint64_t frame;
} frozen;

static void run_asked_frame(void *ctx, uint64_t frame)
{
    dry_run_desc *r = ctx;
    th_frame_run(r->frame, (double)frame / TH_FRAME_RATE, r->palette);
}

static void run_own_frame(void *ctx, uint64_t frame)
{
    frozen *f = ctx;
    (void)frame;
    run_asked_frame(f->dry_run_desc, f->frame);
}

static th_row try(const dry_run_desc *r, void (*run)(void *ctx, uint64_t frame), void *ctx)
{
    th_row row = {0};
    th_validate_run_desc trial = {.scene = r->scene, .crowd = r->crowd, .palette = r->palette, .run = run, .ctx = ctx};
    cr_assert_eq(th_validate_run(&trial, &row, &err), TH_OK, "%s", err.text);
    cr_expect(row.checked);
    return row;
}

Test(bench, trial_finds_who_stands_still_in_either_frame)
{
    dry_run_desc r = dry_run(20, 1, TH_SAMPLING_COMPILED);
    th_row right = try(&r, run_asked_frame, &r);
    cr_expect_str_eq(right.failure, "");
    cr_expect(right.moving && right.palette_hash && right.max_error > 0);
    const uint64_t frames[] = {0, TH_VALIDATE_FRAME};
    for (int i = 0; i < 2; i++) {
        th_row wrong = try(&r, run_own_frame, &(frozen){&r, frames[i]});
        cr_expect(strstr(wrong.failure, "units off the double-precision reference"), "frame %d: %s", (int)frames[i],
                  wrong.failure);
    }
    dismiss(&r);
}

Test(bench, scene_that_stands_still_is_fine)
{
    static const uint32_t no_clip[] = {UINT32_MAX - 1};
    th_scene_desc scene = scene_of(10);
    scene.clips = no_clip;
    th_report report = report_on(scene, "scalar");
    cr_expect_str_eq(report.rows[0].failure, "");
    cr_expect(report.rows[0].checked && !report.rows[0].moving);
}

/* ---- report ---- */

static th_report report_of_one(void)
{
    th_report report;
    cr_assert_eq(th_report_init(&report, 1, 1, &err), TH_OK);
    reports[report_count++] = report;
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
}

static double field(const json_t *row, const char *name)
{
    const json_t *value = json_object_get(row, name);
    cr_assert(json_is_number(value), "%s is missing", name);
    return json_number_value(value);
}

static th_report run(const char *filter, uint32_t repetitions)
{
    return report_of(&(th_bench_desc){.scene = scene_of(10),
                                      .threads = 2,
                                      .measure = {.repetitions = repetitions, .iterations = 2},
                                      .filter = filter});
}

Test(bench, lists_what_the_filter_lets_through)
{
    cr_expect_gt(th_bench_list(NULL, NULL).count, 7);
    th_bench_names names = th_bench_list("^pose/(exact|tutorial)$", NULL);
    cr_assert_eq(names.count, 2);
    cr_expect_str_eq(names.names[0], "pose/exact");
    cr_expect_str_eq(names.names[1], "pose/tutorial");
    cr_expect_eq(th_bench_list("nothing", NULL).count, 0);
}

/* How they are told: test_documents. */
Test(bench, rows_are_of_the_crowd_and_the_frames_that_were_asked_for)
{
    th_report report = run("pose/scalar/f32", 3);
    const th_row *row = &report.rows[0];
    cr_assert_eq(report.row_count, 1);
    cr_expect_str_eq(row->name, "pose/scalar/f32");
    cr_expect(row->real_ns.count == 3 && row->iterations == 2 && row->threads == 1);
    cr_expect(row->characters == 10 && row->bones == 10 * small->bone_count);
    cr_expect(row->checked && row->moving && row->max_error < 1.25e-4);
    for (int i = 0; i < 3; i++)
        cr_expect_gt(row->real_ns.values[i], 0);
}

/* ---- other ways to play the crowd ---- */

/* Between the bench and the kernels, by the linker's --wrap: remembers the last moments, and spoils palettes. */
enum { MOMENTS = 30 };
static double moments[MOMENTS]; /* [n % MOMENTS] */
static uint32_t moment_count;
static th_isa spoiled_isa; /* TH_ISA_AUTO: none */
static uint32_t spoiled_instance;

__typeof__(th_crowd_pose) __real_th_crowd_pose, __wrap_th_crowd_pose;

void __wrap_th_crowd_pose(const th_crowd *crowd, uint32_t begin, uint32_t end, double time_s, void *palette,
                          void *scratch)
{
    moments[moment_count++ % MOMENTS] = time_s;
    __real_th_crowd_pose(crowd, begin, end, time_s, palette, scratch);
    if (th_crowd_isa(crowd) != spoiled_isa || th_crowd_capacity(crowd) <= spoiled_instance)
        return;
    char *entry = (char *)palette + th_crowd_palette_offset(crowd, spoiled_instance);
    ((float *)entry)[3] += 0.01f;
}

/* Rigs made so far: compiled for which interpolation, and not compiled. */
static uint32_t rigs_compiled[TH_INTERPOLATION_COUNT], rigs_exact;

__typeof__(th_compiled_model_create_with) __real_th_compiled_model_create_with, __wrap_th_compiled_model_create_with;

th_result __wrap_th_compiled_model_create_with(const th_compiled_model_desc *desc, const th_compiled_more *more,
                                               th_compiled_model **out, th_error *e)
{
    if (desc->sampling == TH_SAMPLING_EXACT)
        rigs_exact++;
    else
        rigs_compiled[desc->interpolation]++;
    return __real_th_compiled_model_create_with(desc, more, out, e);
}

static const th_row *row_of(const th_report *report, const char *name)
{
    uint32_t r = 0;
    while (r < report->row_count && strcmp(report->rows[r].name, name) != 0)
        r++;
    cr_assert_lt(r, report->row_count, "no %s", name);
    return &report->rows[r];
}

static const th_row *best_row(const th_report *report, const char *format)
{
    char name[64];
    snprintf(name, sizeof name, format, th_isa_name(th_isa_best()));
    return row_of(report, name);
}

static bool begins(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

static bool ends(const char *name, const char *suffix)
{
    const size_t length = strlen(name), end = strlen(suffix);
    return length >= end && strcmp(name + length - end, suffix) == 0;
}

#define VARIATIONS "^(interp|crowd|play|clips)/"

/* Of this machine. */
Test(bench, poses_and_modes_have_every_instruction_set)
{
    for (int isa = TH_ISA_SCALAR; isa < TH_ISA_COUNT; isa++) {
        char filter[64];
        snprintf(filter, sizeof filter, "^pose/%s/f32$", th_isa_name((th_isa)isa));
        cr_expect_eq(th_bench_list(filter, NULL).count, th_isa_available((th_isa)isa), "%s", filter);
    }
    const th_bench_names names = th_bench_list("^interp/", NULL);
    uint32_t count = 0;
    for (int mode = TH_INTERPOLATION_STEP; mode < TH_INTERPOLATION_COUNT; mode++)
        for (int isa = TH_ISA_SCALAR; isa <= TH_ISA_COUNT; isa++) {
            char name[64];
            if (isa < TH_ISA_COUNT && !th_isa_available((th_isa)isa))
                continue;
            snprintf(name, sizeof name, "interp/%s/%s", th_interpolation_name((th_interpolation)mode),
                     isa < TH_ISA_COUNT ? th_isa_name((th_isa)isa) : "exact");
            cr_assert_lt(count, names.count, "no %s", name);
            cr_expect_str_eq(names.names[count++], name);
        }
    cr_expect_eq(names.count, count);
}

Test(bench, crowds_and_what_they_play_are_listed)
{
    static const char *const wanted[] = {
        "crowd/1",        "crowd/8",        "crowd/100",      "crowd/1000",     "crowd/10000",     "play/forward",
        "play/random",    "clips/one",      "clips/all",      "morph/0",        "morph/16",        "morph/64",
        "joints/0",       "joints/1",       "joints/2",       "joints/3",       "joints/4",        "joints/5",
        "joints/6",       "joints/7",       "joints/8",       "joints/9",       "blend/layers:1",  "blend/fade:2",
        "blend/layers:2", "blend/layers:3", "blend/layers:4", "blend/layers:8", "blend/space1d:3", "blend/space2d:4",
        "blend/mask",     "blend/additive", "share/off",      "share/30",       "share/60",        "share/120"};
    const th_bench_names names = th_bench_list("^(crowd|play|clips|morph|joints|blend|share)/", NULL);
    cr_assert_eq(names.count, sizeof wanted / sizeof *wanted);
    for (uint32_t i = 0; i < names.count; i++)
        cr_expect_str_eq(names.names[i], wanted[i]);
}

static void expect_sound(const th_row *row, uint64_t characters)
{
    const bool exact = ends(row->name, "/exact");
    cr_expect_str_eq(row->failure, "");
    cr_expect(row->checked && row->moving && row->palette_hash, "%s", row->name);
    cr_expect_eq(row->characters, characters, "%s", row->name);
    cr_expect_eq(row->bones, characters * small->bone_count, "%s", row->name);
    cr_expect(row->max_error > 0 && row->max_error < (exact ? 1e-6 : 1.25e-4), "%s: %g", row->name, row->max_error);
    cr_expect_eq(row->overrides, begins(row->name, "interp/"), "%s", row->name);
    cr_expect_eq(field(row->own, "key_bytes") > 0, !exact, "%s", row->name);
    cr_expect_eq((uint64_t)field(row->own, "exact_characters"), exact ? characters : 0, "%s", row->name);
}

Test(bench, variations_are_checked_and_tell_their_keys)
{
    th_report report = report_on(scene_of(20), VARIATIONS);
    cr_assert_gt(report.row_count, 9);
    for (uint32_t r = 0; r < report.row_count; r++) {
        const th_row *row = &report.rows[r];
        expect_sound(row, begins(row->name, "crowd/") ? strtoull(row->name + strlen("crowd/"), NULL, 10) : 20);
    }
}

/* Bones are those that are evaluated; levels that repeat the one before are skipped. */
Test(bench, joint_levels_are_checked_and_count_the_bones_they_evaluate)
{
    th_report report = report_on(scene_of(20), "^joints/");
    uint32_t skipped = 0;
    const th_row *before = NULL;
    cr_assert_eq(report.row_count, 10);
    cr_expect_eq(report.rows[0].bones, 20 * small->bone_count);
    for (uint32_t r = 0; r < report.row_count; r++) {
        const th_row *row = &report.rows[r];
        skipped += row->skipped;
        if (row->skipped)
            continue;
        cr_expect_str_eq(row->failure, "");
        cr_expect(row->checked && row->moving, "%s", row->name);
        cr_expect(!before || row->bones < before->bones, "%s", row->name);
        cr_expect(!before || field(row->own, "level_error") > field(before->own, "level_error"), "%s", row->name);
        cr_expect_leq((uint64_t)field(row->own, "moving_joints"), row->bones, "%s", row->name);
        before = row;
    }
    cr_expect_gt(skipped, 0);
    cr_expect_leq(skipped, 7);
}

/* They have as many bones, and more palette entries. */
Test(bench, morph_weights_are_checked)
{
    th_report report = report_on(scene_of(20), "^morph/");
    cr_assert_eq(report.row_count, 3);
    for (uint32_t r = 0; r < report.row_count; r++) {
        const th_row *row = &report.rows[r];
        cr_expect_str_eq(row->failure, "");
        cr_expect(row->checked && row->moving, "%s", row->name);
        cr_expect_eq(row->bones, 20 * 52, "%s", row->name);
        cr_expect(r == 0 || field(row->own, "key_bytes") > field(row[-1].own, "key_bytes"), "%s", row->name);
        cr_expect(r == 0 || row->palette_hash != row[-1].palette_hash, "%s", row->name);
    }
}

/* What is added to a blend changes the pose; a single layer is the clip. */
Test(bench, layers_are_checked)
{
    th_report report = report_on(scene_of(40), "^(blend/|play/forward)");
    cr_assert_eq(report.row_count, 11);
    cr_expect_eq(report.rows[1].palette_hash, report.rows[0].palette_hash);
    for (uint32_t r = 1; r < report.row_count; r++) {
        const th_row *row = &report.rows[r];
        cr_expect_str_eq(row->failure, "", "%s", row->name);
        cr_expect(row->checked && row->moving, "%s", row->name);
        cr_expect_eq(row->bones, 40 * small->bone_count, "%s", row->name);
        cr_expect(row->max_error > 0 && row->max_error < 4e-4, "%s: %g", row->name, row->max_error);
        for (uint32_t other = 2; other < r; other++)
            cr_expect_neq(row->palette_hash, report.rows[other].palette_hash, "%s and %s", row->name,
                          report.rows[other].name);
    }
}

/* Only what is evaluated counts; longer steps are shared by more and are off by more. */
Test(bench, shared_poses_are_checked_and_counted)
{
    enum { MANY = 10000 };
    th_report report = report_on(scene_of(20), "^share/|^crowd/10000");
    cr_assert_eq(report.row_count, 5);
    cr_expect_eq(report.rows[1].palette_hash, report.rows[0].palette_hash, "off is as without");
    for (uint32_t r = 1; r < report.row_count; r++) {
        const th_row *row = &report.rows[r];
        const double evaluated = field(row->own, "evaluated"), error = field(row->own, "share_error");
        cr_expect_str_eq(row->failure, "", "%s", row->name);
        cr_expect(row->checked && row->moving, "%s", row->name);
        cr_expect_eq(evaluated + field(row->own, "shared"), MANY);
        cr_expect_eq((double)row->characters, evaluated);
        cr_expect_eq(row->bones, row->characters * small->bone_count);
        cr_expect_eq(field(row->own, "palette_bytes"), evaluated * small->bone_count * 48);
        if (r > 2) {
            cr_expect_gt(evaluated, field(row[-1].own, "evaluated"), "%s", row->name);
            cr_expect_lt(error, field(row[-1].own, "share_error"), "%s", row->name);
        }
        cr_expect(r == 1 ? evaluated == MANY && error < 2e-4 : evaluated < MANY / 2.0 && error > 1e-3, "%s: %g of %g m",
                  row->name, evaluated, error);
        cr_expect(row->max_error > 0 && row->max_error < 2e-4, "%s: %g", row->name, row->max_error);
    }
}

/* A mask for each of several models, of any number of joints. */
Test(bench, masks_fit_their_models)
{
    const random_desc random = {.seed = 5, .joint_count = 90, .clip_count = 3, .key_count = 9, .swing_rad = 0.3};
    th_model *larger = random_model(&random);
    th_scene_desc scene = scene_of(40);
    scene.models = (const th_model *const[]){small, larger};
    scene.model_count = 2;
    th_report report = report_on(scene, "^blend/(mask|layers:2)$");
    cr_expect_str_eq(report.rows[0].failure, "");
    cr_expect_str_eq(report.rows[1].failure, "");
    cr_expect(report.rows[1].checked && !report.rows[1].skipped);
    cr_expect_neq(report.rows[0].palette_hash, report.rows[1].palette_hash);
    th_model_destroy(larger);
}

/* The same crowd at the same frame is the same bytes, whatever the entry is called. */
Test(bench, hashes_agree_where_the_crowd_is_the_same)
{
    th_report report = report_on(scene_of(100), "^pose/.*(f32|exact)|/slerp/exact|^crowd/|^play/|^clips/");
    const uint64_t hash = best_row(&report, "pose/%s/f32")->palette_hash;
    cr_expect_eq(row_of(&report, "play/forward")->palette_hash, hash);
    cr_expect_eq(row_of(&report, "crowd/100")->palette_hash, hash);
    cr_expect_eq(row_of(&report, "clips/all")->palette_hash, hash);
    cr_expect_neq(row_of(&report, "play/random")->palette_hash, hash);
    cr_expect_neq(row_of(&report, "crowd/8")->palette_hash, hash);
    cr_expect_neq(row_of(&report, "clips/one")->palette_hash, hash);
    cr_expect_eq(row_of(&report, "interp/slerp/exact")->palette_hash, row_of(&report, "pose/exact")->palette_hash);

    th_scene_desc first = scene_of(100);
    const uint32_t clip = 0;
    first.clips = &clip;
    th_report of_first = report_on(first, "^pose/|^clips/");
    const uint64_t first_hash = best_row(&of_first, "pose/%s/f32")->palette_hash;
    cr_expect_eq(row_of(&of_first, "clips/one")->palette_hash, first_hash);
    cr_expect_eq(row_of(&of_first, "clips/all")->palette_hash, hash, "whatever --clip says");
}

Test(bench, wrong_kernel_fails_its_rows_and_no_others)
{
    for (int isa = TH_ISA_SSE4; isa < TH_ISA_COUNT; isa++) {
        if (!th_isa_available((th_isa)isa))
            continue;
        char suffix[32];
        snprintf(suffix, sizeof suffix, "/%s", th_isa_name((th_isa)isa));
        spoiled_isa = (th_isa)isa;
        th_report report = report_on(scene_of(10), "^interp/|^crowd/1$|^play/|^clips/");
        for (uint32_t r = 0; r < report.row_count; r++) {
            const th_row *row = &report.rows[r];
            const bool on_best = !begins(row->name, "interp/") || ends(row->name, "/exact");
            const bool spoiled = ends(row->name, suffix) || (on_best && spoiled_isa == th_isa_best());
            cr_expect_eq(row->failure[0] != 0, spoiled, "%s: %s", row->name, row->failure);
        }
    }
}

/* Two of three characters are held against the scalar kernel alone, also where the time is one of the entry's own. */
Test(bench, one_wrong_character_is_found)
{
    if (th_isa_best() == TH_ISA_SCALAR)
        cr_skip("nothing to hold against the scalar kernel");
    spoiled_isa = th_isa_best();
    spoiled_instance = 4;
    th_report report = report_on(scene_of(300), "^crowd/1000$|^play/|^clips/");
    for (uint32_t r = 0; r < report.row_count; r++)
        cr_expect(strstr(report.rows[r].failure, "character 4 "), "%s: %s", report.rows[r].name,
                  report.rows[r].failure);
}

/* Of a repetition of MOMENTS frames of this entry. */
static void note_moments(const char *filter)
{
    moment_count = 0;
    report_of(
        &(th_bench_desc){.scene = scene_of(3), .measure = {.repetitions = 1, .iterations = MOMENTS}, .filter = filter});
    cr_assert_gt(moment_count, MOMENTS);
}

Test(bench, random_play_jumps_and_forward_play_does_not)
{
    double least = HUGE_VAL, most = 0;
    uint32_t far = 0;
    note_moments("^play/random$");
    for (uint32_t i = 0; i < MOMENTS; i++) {
        const double here = moments[(moment_count + i) % MOMENTS], next = moments[(moment_count + i + 1) % MOMENTS];
        least = fmin(least, here);
        most = fmax(most, here);
        far += fabs(next - here) > 60;
    }
    cr_expect(least >= 0 && least < 900 && most > 2700 && most < 3600, "from %g to %g", least, most);
    cr_expect_geq(far, MOMENTS - 4);

    note_moments("^play/forward$");
    for (uint32_t i = 0, frame = 1; i < MOMENTS; i++) { /* but for frame 0, with which the two parts begin */
        const double moment = moments[(moment_count + i) % MOMENTS];
        cr_expect(moment == 0 || fabs(moment - frame++ / TH_FRAME_RATE) < 1e-9, "%u: %g", i, moment);
    }
}

Test(bench, modes_differ_from_the_file_as_far_as_they_should)
{
    th_report report = report_on(scene_of(50), "^interp/");
    const double step = row_of(&report, "interp/step/exact")->error_vs_source;
    const double nlerp = row_of(&report, "interp/nlerp/exact")->error_vs_source;
    cr_expect(step > 0.05 && step < 0.5, "%g", step);
    cr_expect(nlerp > 1e-6 && nlerp < 1e-3, "%g", nlerp);
    cr_expect_float_eq(row_of(&report, "interp/step/scalar")->error_vs_source, step, 1.25e-4);
    cr_expect_lt(row_of(&report, "interp/slerp/exact")->error_vs_source, 1e-6);
}

/* --interpolation and --keys reach all but the baselines; interp/ has modes of its own. */
Test(bench, entries_honour_interpolation_and_keys)
{
    th_scene_desc scene = scene_of(8);
    th_report full = report_on(scene, "^interp/(step|cubic)/scalar");
    scene.compile.interpolation = TH_INTERPOLATION_CUBIC;
    scene.compile.keys = TH_KEYS_16;
    th_report report = report_on(scene, "^pose/|^interp/|^crowd/8|^play/forward|^clips/all");
    const th_row *cubic = best_row(&report, "interp/cubic/%s");
    static const char *const same[] = {"crowd/8", "play/forward", "clips/all"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        cr_expect_eq(row_of(&report, same[i])->palette_hash, cubic->palette_hash, "%s", same[i]);
        cr_expect(row_of(&report, same[i])->overrides, "%s", same[i]);
    }
    cr_expect_eq(best_row(&report, "pose/%s/f32")->palette_hash, cubic->palette_hash);
    cr_expect_not(row_of(&report, "pose/exact")->overrides);
    cr_expect_not(row_of(&report, "pose/tutorial")->overrides);
    for (uint32_t r = 0; r < full.row_count; r++) {
        const double more = field(full.rows[r].own, "key_bytes"),
                     less = field(row_of(&report, full.rows[r].name)->own, "key_bytes");
        cr_expect(less < 0.75 * more, "%s: %g, %g", full.rows[r].name, less, more);
    }
}

static uint32_t compiled_in_all(void)
{
    uint32_t count = 0;
    for (int i = 0; i < TH_INTERPOLATION_COUNT; i++)
        count += rigs_compiled[i];
    return count;
}

Test(bench, compiles_what_the_filter_needs_and_once)
{
    th_report report = report_on(scene_of(5), "^interp/step/");
    cr_expect(rigs_compiled[TH_INTERPOLATION_STEP] == 1 && compiled_in_all() == 1 && rigs_exact == 1);
    const json_t *model = json_array_get(json_object_get(report.scene, "models"), 0);
    cr_expect(json_is_null(json_object_get(model, "exact_clips")), "nobody can know");

    report = report_on(scene_of(5), "^(pose|limit|crowd|play|clips)/");
    cr_expect(rigs_compiled[TH_INTERPOLATION_AUTHORED] == 1 && compiled_in_all() == 2 && rigs_exact == 2);
    model = json_array_get(json_object_get(report.scene, "models"), 0);
    cr_expect_eq(json_integer_value(json_object_get(model, "exact_clips")), 0);
    cr_expect_gt(json_integer_value(json_object_get(model, "bytes_per_character")), 48);
    cr_expect_gt(json_number_value(json_object_get(model, "bytes_per_clip")), 100);

    report = report_on(scene_of(5), "^limit/");
    cr_expect_eq(compiled_in_all(), 2);
}

/* A bound that only rounding breaks lets some clips through and others not. */
Test(bench, characters_that_play_exact_are_counted)
{
    th_scene_desc scene = scene_of(40);
    scene.compile.bound_m = 2.5e-7;
    th_report some = report_on(scene, "^interp/step/scalar");
    const double exact = field(some.rows[0].own, "exact_characters");
    cr_expect(exact > 0 && exact < 40, "%g", exact);
    cr_expect_gt(field(some.rows[0].own, "key_bytes"), 0);

    scene.compile.bound_m = 1e-9;
    th_report all = report_on(scene, "^interp/nlerp/scalar");
    cr_expect_eq(field(all.rows[0].own, "exact_characters"), 40);
    cr_expect_eq(field(all.rows[0].own, "key_bytes"), 0);
}

/* By lane. */
Test(bench, multiply_adds_are_counted)
{
    const uint64_t one = th_isa_multiply_add(TH_ISA_SCALAR, 1);
    cr_expect_gt(one, 0);
    cr_expect_eq(th_isa_multiply_add(TH_ISA_SCALAR, 1000), 1000 * one);
    if (th_isa_available(TH_ISA_AVX2))
        cr_expect_eq(th_isa_multiply_add(TH_ISA_AVX2, 7), 8 * 7 * one);
}

/* Whole numbers, which have one sum in any order. */
Test(bench, all_that_a_ceiling_reads_is_summed)
{
    static _Alignas(64) float at[1024];
    double sum = 0;
    for (int i = 0; i < 1024; i++)
        sum += (double)(at[i] = (float)(i * i % 1021));
    for (int isa = TH_ISA_SCALAR; isa < TH_ISA_COUNT; isa++)
        if (th_isa_available((th_isa)isa))
            cr_expect_eq(th_isa_read((th_isa)isa, at, 1024, 3), 3 * sum, "%s", th_isa_name((th_isa)isa));
}

/* ---- jobs ---- */

/* Which figures an entry has, by the beginning of its name. */
typedef struct figures {
    const char *prefix, *names;
} figures;

static const figures all_figures[] = {
    {"jobs/fork_join:", ""},
    {"jobs/chunk/", "chunk_ns"},
    {"jobs/trace/", "chunk_ns"},
    {"jobs/job:", "speed_up efficiency overhead_ns"},
    {"jobs/uneven:", "speed_up efficiency overhead_ns"},
    {"jobs/stages:", "speed_up efficiency overhead_ns"},
    {"jobs/wake:", "idle_cores"},
    {"jobs/frame:", "speed_up efficiency idle_cores"},
    {"jobs/oversubscribed:", "speed_up efficiency overhead_ns efficiency_at_p90"},
};

static void expect_figures(const th_row *row)
{
    static const char *const names[] = {"speed_up", "efficiency", "overhead_ns",
                                        "chunk_ns", "idle_cores", "efficiency_at_p90"};
    size_t f = 0;
    while (strncmp(row->name, all_figures[f].prefix, strlen(all_figures[f].prefix)) != 0)
        cr_assert_lt(++f, sizeof all_figures / sizeof *all_figures, "%s", row->name);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const json_t *value = json_object_get(row->own, names[i]);
        cr_expect_eq(value != NULL, strstr(all_figures[f].names, names[i]) != NULL, "%s of %s", names[i], row->name);
        if (value) /* or null, where it cannot be */
            cr_expect_geq(json_real_value(value), 0, "%s of %s", names[i], row->name);
    }
}

static uint32_t threads_wanted(const char *name)
{
    if (strstr(name, "/serial") || strstr(name, "/chunk/") || strstr(name, "/trace/"))
        return 1;
    return strstr(name, "/oversubscribed:") ? 2 * th_cpus_read().usable : 2;
}

static void expect_job(const th_row *row)
{
    cr_expect_eq(row->threads, threads_wanted(row->name), "%s: %u", row->name, row->threads);
    cr_expect_eq(row->iterations, 2);
    cr_expect_gt(row->real_ns.values[0], 0, "%s", row->name);
    expect_figures(row);
}

#ifndef __SANITIZE_ADDRESS__ /* whose heap tells nothing */
/* What the palette takes by definition, and little more. */
Test(bench, characters_take_the_bytes_of_their_palettes)
{
    th_report report = report_of(&(th_bench_desc){
        .scene = scene_of(1000), .measure = {.repetitions = 1, .iterations = 1}, .filter = "^memory/character$"});
    const double bytes = 48 * small->bone_count, found = field(report.rows[0].own, "bytes");
    cr_expect(found >= bytes && found < bytes + 400, "%g", found);
}
#endif

/* A table of all of them is no wider than a terminal. */
Test(bench, all_entries_run)
{
    th_report report = run(NULL, 1);
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    cr_assert(th_bench_print(&report, TH_OUTPUT_TEXT, file));
    fclose(file);
    expect_narrow(text);
    free(text);
    const th_bench_names names = th_bench_list(NULL, NULL);
    uint32_t jobs = 0;
    cr_assert_eq(report.row_count, names.count);
    for (uint32_t i = 0; i < names.count; i++) {
        const th_row *row = &report.rows[i];
        cr_expect_str_eq(row->name, names.names[i]);
        cr_expect_eq(row->real_ns.count, row->skipped ? 0 : 1);
        if (begins(row->name, "jobs/"))
            cr_assert_eq(row->skipped, strstr(row->name, ":active") || strstr(row->name, ":passive"), "%s", row->name);
        if (row->skipped)
            continue;
        cr_expect_str_eq(row->failure, "");
        if (begins(row->name, "jobs/"))
            jobs++, expect_job(row);
    }
    cr_expect_gt(jobs, 50);
}

Test(bench, figures_need_what_they_are_held_against)
{
    th_report report = run("^jobs/job:1us/work-stealing", 1);
    cr_assert_eq(report.row_count, 1);
    cr_expect(json_is_null(json_object_get(report.rows[0].own, "speed_up")));
}

Test(bench, jobs_run_on_one_thread)
{
    th_report report = report_of(&(th_bench_desc){
        .threads = 1, .measure = {.repetitions = 1, .iterations = 1}, .filter = "^jobs/(wake|stages)"});
    for (uint32_t i = 0; i < report.row_count; i++)
        if (!report.rows[i].skipped) {
            cr_expect_str_eq(report.rows[i].failure, "");
            cr_expect_eq(report.rows[i].threads, 1);
        }
}

static th_scheduler_harness *make_harness(th_row *row)
{
    th_scheduler_harness *harness;
    const th_jobs_desc jobs = {.threads = 2};
    const th_scheduler_harness_desc desc = {.jobs = &jobs,
                                            .items = 100,
                                            .grain = 8,
                                            .item_ns = 50,
                                            .steps_per_us = 100,
                                            .costs = TH_COSTS_RANDOM,
                                            .row = row};
    cr_assert_eq(th_scheduler_harness_create(&desc, &harness, &err), TH_OK, "%s", err.text);
    th_scheduler_harness_prepare(harness);
    th_scheduler_harness_call(harness, 0);
    return harness;
}

Test(bench, work_that_is_missing_or_wrong_fails_the_row)
{
    th_row right = {.name = "right"}, less = {.name = "less"}, other = {.name = "other"};
    th_scheduler_harness *harness = make_harness(&right);
    th_scheduler_harness_check(harness);
    cr_expect_str_eq(right.failure, "");
    th_scheduler_harness_destroy(harness);

    harness = make_harness(&less);
    harness->job.count--;
    th_scheduler_harness_call(harness, 1);
    harness->job.count++;
    th_scheduler_harness_check(harness);
    cr_expect_str_eq(less.failure, "199 items were run instead of 200");
    th_scheduler_harness_destroy(harness);

    harness = make_harness(&other);
    harness->work->steps[99]++;
    th_scheduler_harness_call(harness, 1);
    th_scheduler_harness_check(harness);
    cr_expect_str_eq(other.failure, "the number of items is right, but some were skipped and others repeated");
    th_scheduler_harness_destroy(harness);
}

/* The mean must be what was asked, and the shapes what their names say. */
Test(bench, work_is_shared_out_as_its_name_says)
{
    enum { COUNT = 4096, STEPS_PER_US = 800, MEAN = 200 };
    for (int costs = TH_COSTS_EVEN; costs <= TH_COSTS_RANDOM; costs++) {
        th_work *work = th_work_create(COUNT, 250, (th_costs)costs, STEPS_PER_US);
        uint64_t sum = 0, front = 0, parts = 0;
        uint32_t least = UINT32_MAX, most = 0;
        for (uint32_t i = 0; i < COUNT; i++) {
            sum += work->steps[i];
            front += i < COUNT / 2 ? work->steps[i] : 0;
            least = work->steps[i] < least ? work->steps[i] : least;
            most = work->steps[i] > most ? work->steps[i] : most;
        }
        const double in_front = (double)front / (double)sum, ratio = (double)most / (double)least;
        static const double fronts[] = {0.5, 0.25, 0.75, 8.0 / 23, 0.5};
        static const double ratios[] = {1, 0, 0, 8, 16};
        cr_expect_float_eq((double)sum / COUNT, MEAN, 1, "%d", costs);
        cr_expect_float_eq(in_front, fronts[costs], 0.02, "%d: %g", costs, in_front);
        cr_expect(ratios[costs] == 0 ? least == 0 && most == 2 * MEAN : fabs(ratio / ratios[costs] - 1) < 0.02,
                  "%d: %g", costs, ratio);
        for (uint32_t i = 0; i < COUNT; i += 16) /* ranges add up, whoever does them */
            th_work_do(work, i, i + 16, &parts);
        cr_expect_eq(parts, work->checksum);
        free(work);
    }
}

/* ---- progress and rehearsals ---- */

static uint32_t told, groups_told;
static uint32_t stop_when_told, stop_in_group; /* so many times; 0: never */
static volatile sig_atomic_t stopped;

static void note_progress(void *ctx, const th_measure_state *state)
{
    (void)ctx;
    cr_expect_eq(state->rounds, told % 3 + 1);
    cr_expect_eq(state->comparison, told / 3 + 1);
    cr_expect_eq(state->comparisons, 3);
    cr_expect_eq(strncmp(state->name, "jobs/fork_join:", 15), 0);
    stopped = ++told == stop_when_told || stopped;
}

static void note_group(void *ctx, const th_report *report, uint32_t first, uint32_t count)
{
    (void)ctx, (void)report, (void)first, (void)count;
    stopped = ++groups_told == stop_in_group || stopped;
}

/* In the middle of a comparison or between two: what was not measured then is not there, and the report says so. */
Test(bench, progress_goes_through_all_comparisons_until_it_is_stopped)
{
    static const struct {
        uint32_t when_told, in_group, told, groups;
    } cases[] = {{0, 0, 9, 3}, {4, 0, 4, 2}, {0, 1, 3, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        told = groups_told = 0;
        stopped = false;
        stop_when_told = cases[i].when_told, stop_in_group = cases[i].in_group;
        th_report report = report_of(&(th_bench_desc){
            .threads = 2,
            .measure = {.repetitions = 3, .iterations = 1, .progress = note_progress, .stop = &stopped},
            .filter = "^jobs/fork_join",
            .finished = note_group,
        });
        cr_expect(told == cases[i].told && groups_told == cases[i].groups, "%zu: %u, %u", i, told, groups_told);
        cr_expect_eq(report.is_partial, i > 0, "%zu", i);
        const char *failure = report.rows[report.row_count - 1].failure; /* of the last comparison */
        cr_expect_eq(strcmp(failure, "the measurement was interrupted") == 0, i > 0, "%zu: %s", i, failure);
        cr_expect_str_eq(report.rows[0].failure, "");
    }
    groups_told = 0, stopped = false;
    report_of(&(th_bench_desc){.scene = scene_of(3),
                               .measure = {.repetitions = 1, .iterations = 1, .stop = &stopped},
                               .filter = "^(interp/step/scalar|crowd/1)$",
                               .finished = note_group});
    cr_expect(groups_told == 2 && compiled_in_all() == 1, "nothing is prepared for the second comparison");
}

Test(bench, dry_run_checks_all_and_times_nothing)
{
    th_report report = report_of(&(th_bench_desc){
        .scene = scene_of(20), .threads = 2, .measure = {.is_dry_run = true}, .filter = "^[^j]|^jobs/fork_join:2/"});
    for (uint32_t r = 0; r < report.row_count; r++) {
        const th_row *row = &report.rows[r];
        if (row->skipped)
            continue;
        cr_expect_str_eq(row->failure, "");
        cr_expect_eq(row->real_ns.count, 0);
        cr_expect_eq(row->checked, row->characters > 0 && strncmp(row->name, "limit/", 6) != 0, "%s", row->name);
        cr_expect_eq(row->own && json_object_get(row->own, "speed_up"), false, "%s", row->name);
    }
    cr_expect(report.is_dry_run);
}

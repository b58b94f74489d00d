/* Every allocation fails once, and from each on all do: whoever asked says so and leaks nothing (in the preset asan).
 * Allocations of our own libraries count, and those of jansson, except while it parses: it then often blames the text.
 */
#include "fixture_import.h"
#include "fixture_memory.h"
#include "fixture_result_file.h"

#include <anim/crowd.h>
#include <anim/joint_lod.h>
#include <anim/synthetic.h>
#include <bench/compare.h>
#include <bench/page.h>
#include <runtime/frame.h>
#include <throng/throng.h>

#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

/* Does the work and undoes it. TH_OK, or what went wrong. */
typedef th_result attempt(void);

static th_error err;

/* Returns whether the allocation `n` was reached. */
static bool fails_well(const char *what, attempt *work, size_t n, bool once)
{
    allocations = 0;
    err = (th_error){0};
    if (once)
        failing_allocation = n;
    else
        allocations_left = (long)n - 1;
    const th_result result = work();
    const bool is_reached = allocations >= n;
    failing_allocation = 0;
    allocations_left = -1;
    cr_assert(result == TH_OK || result == TH_ERR_MEMORY, "%s, allocation %zu: %d, %s", what, n, (int)result, err.text);
    cr_assert(is_reached || result == TH_OK, "%s: %s", what, err.text);
    return is_reached;
}

static void starve(const char *what, attempt *work, size_t least)
{
    size_t n = 1, refused = 0;
    cr_assert_eq(work(), TH_OK, "%s: %s", what, err.text);
    json_set_alloc_funcs(malloc, free); /* ours */
    while (fails_well(what, work, n, true)) {
        fails_well(what, work, n, false);
        refused += err.text[0] != '\0';
        n++;
    }
    cr_expect_geq(n - 1, least, "%s: only %zu allocations were seen", what, n - 1);
    cr_expect_gt(refused, 0, "%s never complains", what);
}

static th_result without_memory(void)
{
    return th_fail(&err, TH_ERR_MEMORY, "out of memory");
}

/* ---- models ---- */

static th_result import_model(void)
{
    th_model *model = NULL;
    const th_result result = import(TEST_DATA "/morph.glb", &model, &err);
    cr_expect_eq(model == NULL, result != TH_OK);
    th_model_destroy(model);
    return result;
}

Test(memory, of_an_import_fails)
{
    starve("import", import_model, 3);
}

static const th_model *model;

static th_result compile_model(void)
{
    th_compiled_model *compiled;
    const th_compiled_model_desc desc = {.model = model};
    const th_result result = th_compiled_model_create(&desc, &compiled, &err);
    cr_expect_eq(compiled == NULL, result != TH_OK);
    th_compiled_model_destroy(compiled);
    return result;
}

Test(memory, of_a_compiled_model_fails)
{
    th_model *imported = import_good(TEST_DATA "/morph.glb");
    model = imported;
    starve("compiled model", compile_model, 10);
    th_model_destroy(imported);
}

static th_result find_levels(void)
{
    th_joint_lod *lod;
    const th_result result = th_joint_lod_create(model, &lod, &err);
    cr_expect_eq(lod == NULL, result != TH_OK);
    th_joint_lod_destroy(lod);
    return result;
}

Test(memory, of_joint_levels_fails)
{
    th_model *synthetic;
    th_synthetic_desc desc = TH_SYNTHETIC_DEFAULT;
    desc.joints = 6;
    desc.moving = 50;
    cr_assert_eq(th_synthetic_create(&desc, &synthetic, &err), TH_OK);
    model = synthetic;
    starve("joint levels", find_levels, 20);
    th_model_destroy(synthetic);
}

/* ---- crowds ---- */

static const th_compiled_model *compiled_models[1];

static th_result pose_crowd(void)
{
    enum { COUNT = 20 };
    const th_crowd_desc desc = {.compiled_models = compiled_models, .compiled_model_count = 1, .capacity = COUNT};
    th_crowd *crowd = NULL;
    th_jobs *jobs = NULL;
    th_frame *frame = NULL;
    void *palette = NULL;
    th_result result = th_crowd_create(&desc, &crowd, &err);
    if (result == TH_OK)
        result = th_crowd_scatter(crowd, COUNT, TH_NO_INDEX, 1, NULL, &err);
    if (result == TH_OK)
        result = th_palettes_create(crowd, &palette, &err);
    if (result == TH_OK)
        result = th_jobs_create(&(th_jobs_desc){.threads = 3}, &jobs, &err);
    if (result == TH_OK)
        result = th_frame_create(&(th_frame_desc){.crowd = crowd, .jobs = jobs}, &frame, &err);
    if (result == TH_OK)
        th_frame_run(frame, 0.5, palette);
    th_frame_destroy(frame);
    th_jobs_destroy(jobs);
    th_palettes_destroy(palette);
    th_crowd_destroy(crowd);
    return result;
}

Test(memory, of_a_crowd_and_its_threads_fails)
{
    th_model *human;
    th_compiled_model *compiled;
    cr_assert_eq(th_human_create(&human, &err), TH_OK);
    cr_assert_eq(th_compiled_model_create(&(th_compiled_model_desc){.model = human}, &compiled, &err), TH_OK);
    compiled_models[0] = compiled;
    starve("crowd", pose_crowd, 8);
    th_compiled_model_destroy(compiled);
    th_model_destroy(human);
}

/* ---- results ---- */

static th_report report;
static char *document;
static FILE *nowhere;

static th_result write_report(void)
{
    json_t *json = th_report_json(&report);
    if (!json || !th_report_csv(&report, nowhere)) {
        json_decref(json);
        return without_memory();
    }
    json_decref(json);
    return TH_OK;
}

void *__real_malloc(size_t size);

static th_result compare_results(void)
{
    th_result_file *sides[2] = {NULL, NULL};
    th_comparison comparison;
    th_result result = TH_OK;
    json_set_alloc_funcs(__real_malloc, free);
    for (int s = 0; s < 2 && result == TH_OK; s++)
        result = th_result_file_parse(document, strlen(document), "made up", &sides[s], &err);
    json_set_alloc_funcs(malloc, free);
    const th_compare_desc desc = {.old_results = sides[0], .new_results = sides[1], .threshold = 0.025};
    if (result == TH_OK)
        result = th_compare(&desc, &comparison, &err);
    if (result == TH_OK) {
        json_t *json = th_comparison_json(&comparison);
        const bool is_shown = json && th_comparison_csv(&comparison, nowhere) &&
                              th_comparison_print(&comparison, TH_OUTPUT_TEXT, nowhere) &&
                              th_comparison_print(&comparison, TH_OUTPUT_HTML, nowhere);
        json_decref(json);
        th_comparison_fini(&comparison);
        result = is_shown ? TH_OK : without_memory();
    }
    th_result_file_free(sides[0]);
    th_result_file_free(sides[1]);
    return result;
}

static void make_results(void)
{
    report = report_of(1, TH_COMPARE_MIN_PROCESSES, 1, steady);
    json_t *json = document_of(&report);
    document = json_dumps(json, 0);
    json_decref(json);
    nowhere = fopen("/dev/null", "w");
    cr_assert(document && nowhere);
}

static void free_results(void)
{
    fclose(nowhere);
    th_report_fini(&report);
}

Test(memory, of_a_report_fails, .init = make_results, .fini = free_results)
{
    free(document);
    starve("report", write_report, 100);
}

Test(memory, of_a_comparison_fails, .init = make_results, .fini = free_results)
{
    starve("comparison", compare_results, 300);
    free(document);
}

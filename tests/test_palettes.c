/* The palettes and errors of this version against those that are stored: a change of either shows in a commit. Palettes
 * are the same to the last bit on any machine that has the kernel and the C library; errors everywhere.
 * THRONG_GOLDEN_UPDATE=1 stores them anew. */
#include "fixture_program.h"

#include <criterion/criterion.h>
#include <throng/bench/compare.h>

#include <stdlib.h>
#include <string.h>

TestSuite(palettes, .init = make_folder, .fini = remove_folder);

/* What palettes depend on, and nothing of the machine. */
static void store(const json_t *document)
{
    static const char *const kept[] = {
        "library_version", "json_schema_version", "throng_schema_version", "commit", "dry_run", "isa", "libc", "scene"};
    const json_t *context = json_object_get(document, "context");
    json_t *stored = json_object(), *short_context = json_object();
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        json_object_set(short_context, kept[i], json_object_get(context, kept[i]));
    json_object_set_new(stored, "context", short_context);
    json_object_set(stored, "benchmarks", json_object_get(document, "benchmarks"));
    cr_expect_eq(json_dump_file(stored, TEST_PALETTES, JSON_INDENT(1) | JSON_REAL_PRECISION(6)), 0);
    json_decref(stored);
}

static void expect_same(const th_result_file *stored, const th_result_file *now)
{
    th_comparison c;
    th_error error;
    const th_compare_desc desc = {
        .old_results = stored, .new_results = now, .threshold = 1, .fail_on = TH_FAIL_ON_WRONG};
    cr_assert_eq(th_compare(&desc, &c, &error), TH_OK, "%s", error.text);
    for (uint32_t i = 0; i < c.count; i++)
        cr_expect_str_eq(c.changes[i].problem, "", "%s: %s", c.changes[i].name, c.changes[i].problem);
    cr_expect_eq(c.verdicts[TH_VERDICT_ONLY_NEW], 0, "an entry is not stored");
    cr_expect_geq(c.verdicts[TH_VERDICT_UNTIMED], 12);
    if (th_comparison_outcome(&c) != TH_OUTCOME_GOOD)
        fprintf(stderr, "if that is as it should be: THRONG_GOLDEN_UPDATE=1 and test_palettes\n");
    th_comparison_fini(&c);
}

/* NEON writes AVX2's palettes to the last bit, and has no entries of its own. */
static void take_neon_for_avx2(char *text)
{
    while ((text = strstr(text, "neon")))
        memcpy(text, "avx2", 4);
}

Test(palettes, are_those_that_are_stored)
{
    th_result_file *stored, *now;
    th_error error;
    json_decref(document("bench --dry-run --filter '^(pose|interp)/' --count 100 --json"));
    take_neon_for_avx2(out);
    json_t *found = json_loads(out, 0, NULL);
    if (getenv("THRONG_GOLDEN_UPDATE"))
        store(found);
    json_decref(found);
    cr_assert_eq(th_result_file_parse(out, strlen(out), "this version", &now, &error), TH_OK, "%s", error.text);
    cr_assert_eq(th_result_file_read(TEST_PALETTES, &stored, &error), TH_OK, "%s", error.text);
    expect_same(stored, now);
    th_result_file_free(stored);
    th_result_file_free(now);
}

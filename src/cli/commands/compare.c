/* throng compare: what became slower, faster or wrong from one result to another. */
#include "cli/baseline.h"
#include "compare_run.h"
#include <cli/options.h>

#include <bench/compare.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- the two results ---- */

/* Reads a file, or a baseline if there is no such file. */
static th_result read_side(const char *word, th_result_file **out, th_error *err)
{
    char path[TH_BASELINE_MAX_PATH];
    th_error why = {0};
    if (!th_baseline_is_meant(word))
        return th_result_file_read(word, out, err);
    if (th_baseline_path(word, path, &why) == TH_OK && access(path, F_OK) == 0) {
        const th_result result = th_result_file_read(path, out, err);
        if (result == TH_OK)
            snprintf((*out)->name, sizeof(*out)->name, "baseline %s", word);
        return result;
    }
    return th_fail(err, TH_ERR_INPUT, "no file %s, and no baseline of that name%s%s", word,
                   why.text[0] ? ": " : ", which would be ", why.text[0] ? why.text : path);
}

static th_result read_sides(const th_options *o, th_result_file *sides[2], th_error *err)
{
    const char *const *words = o->compare.files.paths;
    const th_result result = read_side(words[0], &sides[0], err);
    return result == TH_OK ? read_side(words[1], &sides[1], err) : result;
}

/* ---- the command ---- */

static bool write_comparison(const void *result, th_form form, FILE *file)
{
    switch (form) {
    case TH_FORM_JSON:
        return th_output_json(th_comparison_json(result), 12, file);
    case TH_FORM_CSV:
        return th_comparison_csv(result, file);
    default:
        return th_comparison_print(result, (th_format)form, file);
    }
}

/* Prints what fails. */
static int complain_of(const th_comparison *comparison)
{
    static const int codes[] = {TH_EXIT_GOOD, TH_EXIT_INCONCLUSIVE, TH_EXIT_CHECK};
    for (uint32_t i = 0; i < comparison->count; i++) {
        const th_change *c = &comparison->changes[i];
        char verdict[128] = "";
        th_change_describe(c, verdict, sizeof verdict);
        if (c->problem[0])
            th_complain("%s: %s", c->name, c->problem);
        if ((c->verdict == TH_VERDICT_SLOWER && comparison->fail_on <= TH_FAIL_ON_SLOWER) ||
            (c->verdict == TH_VERDICT_INCONCLUSIVE && comparison->fail_on == TH_FAIL_ON_INCONCLUSIVE))
            th_complain("%s: %s", c->name, verdict);
    }
    return codes[th_comparison_outcome(comparison)];
}

static int compare(const th_options *o, th_run *run, th_result_file *const sides[2])
{
    th_comparison comparison;
    th_error err;
    const th_compare_desc desc = th_compare_options_desc(o, sides);
    if (th_compare(&desc, &comparison, &err) != TH_OK)
        return th_fail_with(&err);
    const int code = th_output_write(run, &o->output, write_comparison, &comparison);
    const int check = complain_of(&comparison);
    th_comparison_fini(&comparison);
    return code == TH_EXIT_GOOD ? check : code;
}

int th_command_compare(const th_options *o, th_run *run)
{
    const uint32_t given = o->compare.files.count;
    if (given != 2) {
        th_complain("compare takes %s, not %u; `throng help compare` shows how",
                    o->compare.run ? "two programs, OLD and NEW, with --run" : "two results, OLD and NEW", given);
        return TH_EXIT_USAGE;
    }
    th_result_file *sides[2] = {NULL, NULL};
    th_error err;
    const th_result result = o->compare.run ? th_compare_run(o, run, sides, &err) : read_sides(o, sides, &err);
    const int code = result == TH_OK ? compare(o, run, sides) : th_fail_with(&err);
    th_result_file_free(sides[0]);
    th_result_file_free(sides[1]);
    return code;
}

/* throng compare: what became slower, faster or wrong from one result to another. */
#include "cli/measuring.h"
#include <cli/options.h>

#include <bench/compare.h>
#include <core/clock.h>

#include <stdio.h>
#include <unistd.h>

/* When to compare, in processes of each side. Few looks, as each has its share of the risk of error. The last one is
 * when time is over, if that is earlier. */
static const uint32_t looks[] = {TH_COMPARE_GOOD_PROCESSES, 2 * TH_COMPARE_GOOD_PROCESSES,
                                 4 * TH_COMPARE_GOOD_PROCESSES, 8 * TH_COMPARE_GOOD_PROCESSES,
                                 16 * TH_COMPARE_GOOD_PROCESSES};
enum { LOOKS = sizeof looks / sizeof *looks };

static th_compare_desc desc_of(const th_options *o, th_result_file *const sides[2])
{
    th_compare_desc desc = o->compare.desc;
    desc.old_results = sides[0];
    desc.new_results = sides[1];
    desc.filter = o->filter;
    desc.looks = o->compare.run ? LOOKS : 1;
    desc.interleaved = desc.interleaved || o->compare.run;
    return desc;
}

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

/* Runs `bench` of the programs, one process each time, until all entries are decided, one is worse, or time is over. */
static th_result measure_sides(const th_options *o, const th_run *run, th_result_file *sides[2], th_error *err)
{
    const uint64_t begin_ns = th_clock_ns();
    const bool is_seen = th_progress_wanted();
    bool is_decided = false;
    th_result result = TH_OK;
    for (uint32_t pair = 0; pair < looks[LOOKS - 1] && result == TH_OK && !is_decided; pair++) {
        if (pair > 0 && th_clock_ns() - begin_ns >= o->compare.max_ns)
            break;
        if (is_seen)
            th_progress_show("process %u of %u to %u of each program", pair + 1, looks[0], looks[LOOKS - 1]);
        /* In the order old, new, new, old, so that a drift of the machine affects both alike. */
        for (uint32_t turn = 0; turn < 2 && result == TH_OK; turn++) {
            const uint32_t side = (pair + turn) % 2;
            th_result_file *more;
            result = th_processes_measure(o->compare.files.paths[side], run, &more, err);
            if (result == TH_OK && sides[side]) {
                result = th_result_file_append(sides[side], more, err);
                th_result_file_free(more);
            } else if (result == TH_OK) {
                sides[side] = more;
            }
        }
        bool is_look = pair == 0; /* which finds out whether the two can be compared at all */
        for (int i = 0; i < LOOKS; i++)
            is_look = is_look || looks[i] == pair + 1;
        th_comparison comparison;
        const th_compare_desc desc = desc_of(o, sides);
        if (result == TH_OK && is_look && (result = th_compare(&desc, &comparison, err)) == TH_OK) {
            is_decided = comparison.verdicts[TH_VERDICT_INCONCLUSIVE] == 0 ||
                         (pair > 0 && th_comparison_outcome(&comparison) == TH_OUTCOME_BAD);
            th_comparison_fini(&comparison);
        }
        th_progress_end();
    }
    return result;
}

static bool write_comparison(const void *result, th_form form, FILE *file)
{
    switch (form) {
    case TH_FORM_JSON:
        return th_output_json(th_comparison_json(result), 12, file);
    case TH_FORM_CSV:
        return th_comparison_csv(result, file);
    default:
        return th_comparison_print(result, (th_output_format)form, file);
    }
}

static int compare(const th_options *o, th_run *run, th_result_file *const sides[2])
{
    static const int codes[] = {TH_EXIT_GOOD, TH_EXIT_INCONCLUSIVE, TH_EXIT_CHECK};
    th_comparison comparison;
    th_error err;
    bool is_judged = false;
    const th_compare_desc desc = desc_of(o, sides);
    if (th_compare(&desc, &comparison, &err) != TH_OK)
        return th_fail_with(&err);
    const int written = th_output_write(run, &o->output, write_comparison, &comparison);
    for (uint32_t i = 0; i < comparison.count; i++) {
        const th_change *c = &comparison.changes[i];
        char verdict[128] = "";
        th_change_describe(c, verdict, sizeof verdict);
        if (c->problem[0])
            th_complain("%s: %s", c->name, c->problem);
        if (c->has_more_bytes && comparison.fail_on <= TH_FAIL_ON_SLOWER)
            th_complain("%s: takes %.0f bytes, was %.0f", c->name, c->bytes[1], c->bytes[0]);
        if (th_verdict_outcome(&comparison, c) != TH_OUTCOME_GOOD)
            th_complain("%s: %s", c->name, verdict);
        is_judged = is_judged || c->verdict < TH_VERDICT_UNTIMED || c->verdict == TH_VERDICT_ONLY_OLD;
    }
    const int outcome = codes[th_comparison_outcome(&comparison)];
    if (outcome == TH_EXIT_INCONCLUSIVE && !is_judged)
        th_complain("all entries are baselines, so none is judged");
    th_comparison_fini(&comparison);
    return written == TH_EXIT_GOOD ? outcome : written;
}

int th_command_compare(const th_options *o, th_run *run)
{
    const uint32_t given = o->compare.files.count;
    if (given != 2)
        return th_refuse("compare takes %s, not %u; `throng help compare` shows how",
                         o->compare.run ? "two programs, OLD and NEW, with --run" : "two results, OLD and NEW", given);
    th_result_file *sides[2] = {NULL, NULL};
    th_error err;
    th_result result = TH_OK;
    if (o->compare.run)
        result = measure_sides(o, run, sides, &err);
    for (int i = 0; i < 2 && result == TH_OK && !o->compare.run; i++)
        result = read_side(o->compare.files.paths[i], &sides[i], &err);
    const int code = result == TH_OK ? compare(o, run, sides) : th_fail_with(&err);
    th_result_file_free(sides[0]);
    th_result_file_free(sides[1]);
    return code;
}

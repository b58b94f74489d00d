#include "compare_run.h"

#include "cli/processes.h"
#include "cli/progress.h"

#include <core/clock.h>

/* When to compare, in processes of each side. Few looks, as each has its share of the risk of error. The last one is
 * when time is over, if that is earlier. */
static const uint32_t looks[] = {TH_COMPARE_GOOD_PROCESSES, 2 * TH_COMPARE_GOOD_PROCESSES,
                                 4 * TH_COMPARE_GOOD_PROCESSES};
enum { LOOKS = sizeof looks / sizeof *looks };

th_compare_desc th_compare_options_desc(const th_options *o, th_result_file *const sides[2])
{
    th_compare_desc desc = o->compare.desc;
    desc.old_results = sides[0];
    desc.new_results = sides[1];
    desc.filter = o->filter;
    desc.looks = o->compare.run ? LOOKS : 1;
    desc.interleaved = desc.interleaved || o->compare.run;
    return desc;
}

static th_result add_process(const th_options *o, const th_run *run, int side, th_result_file *sides[2], th_error *err)
{
    th_result_file *more;
    th_result result = th_processes_measure(o->compare.files.paths[side], run, &more, err);
    if (result != TH_OK || !sides[side]) {
        sides[side] = more;
        return result;
    }
    result = th_result_file_append(sides[side], more, err);
    th_result_file_free(more);
    return result;
}

/* Also finds out whether the two can be compared at all. */
static th_result look(const th_options *o, th_result_file *const sides[2], bool *is_decided, th_error *err)
{
    th_comparison comparison;
    const th_compare_desc desc = th_compare_options_desc(o, sides);
    const th_result result = th_compare(&desc, &comparison, err);
    if (result == TH_OK) {
        *is_decided = comparison.verdicts[TH_VERDICT_INCONCLUSIVE] == 0;
        th_comparison_fini(&comparison);
    }
    return result;
}

static bool is_look(uint32_t pairs)
{
    for (int i = 0; i < LOOKS; i++)
        if (looks[i] == pairs)
            return true;
    return pairs == 1;
}

th_result th_compare_run(const th_options *o, th_run *run, th_result_file *sides[2], th_error *err)
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
        const int first = pair % 2;
        result = add_process(o, run, first, sides, err);
        if (result == TH_OK)
            result = add_process(o, run, !first, sides, err);
        if (result == TH_OK && is_look(pair + 1))
            result = look(o, sides, &is_decided, err);
        th_progress_end();
    }
    return result;
}

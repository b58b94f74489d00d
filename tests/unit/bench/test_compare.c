/* Verdicts on made-up results. How they are told: test_documents. */
#include "fixture_nightly.h"
#include "fixture_result_file.h"
#include "fixture_samples.h"

#include <bench/compare.h>
#include <core/random.h>

#include <criterion/criterion.h>

#include <math.h>
#include <string.h>

static th_error err;

enum { REPETITIONS = 10 }; /* of a process */

/* Two reports, and what comes of comparing them. */
typedef struct pair {
    th_report reports[2];
    th_result_file *result_files[2];
    th_compare_desc desc;
    th_comparison result;
    const char *field; /* of the new context, or "scene.x" of its scene, that is `value`, as JSON; NULL: none */
    const char *value;
} pair;

static pair p; /* of the test */

/* What came of it. */
static void forget(void)
{
    if (p.result.changes)
        th_comparison_fini(&p.result);
    for (int side = 0; side < 2; side++) {
        th_result_file_free(p.result_files[side]);
        p.result_files[side] = NULL;
    }
}

static void end(void)
{
    forget();
    th_report_fini(&p.reports[0]);
    th_report_fini(&p.reports[1]);
}

TestSuite(compare, .fini = end);

/* In place of the one before. */
static void make_pair(uint32_t rows, uint32_t processes, made_up_time *old_ns, made_up_time *new_ns)
{
    end();
    p = (pair){
        .reports = {report_of(rows, processes, REPETITIONS, old_ns), report_of(rows, processes, REPETITIONS, new_ns)},
        .desc = {.threshold = 0.03, .interleaved = true}};
}

/* As they are now; what was compared before is forgotten. */
static th_result compare(void)
{
    forget();
    json_t *written = document_of(&p.reports[1]), *document = json_deep_copy(written); /* the scene is the report's */
    json_t *context = json_object_get(document, "context");
    json_decref(written);
    if (p.field && strncmp(p.field, "scene.", 6) == 0)
        json_object_set_new(json_object_get(context, "scene"), p.field + 6, json_loads(p.value, JSON_DECODE_ANY, NULL));
    else if (p.field)
        json_object_set_new(context, p.field, json_loads(p.value, JSON_DECODE_ANY, NULL));
    p.result_files[0] = result_file_of(&p.reports[0], "old.json");
    cr_assert_eq(parse_document(document, "new.json", &p.result_files[1], &err), TH_OK, "%s", err.text);
    json_decref(document);
    p.desc.old_results = p.result_files[0];
    p.desc.new_results = p.result_files[1];
    return th_compare(&p.desc, &p.result, &err);
}

static const th_change_estimate *median_of(uint32_t row)
{
    return &p.result.changes[row].estimates[TH_ESTIMATOR_MEDIAN];
}

static void expect_verdict(uint32_t row, th_verdict verdict)
{
    const th_change *c = &p.result.changes[row];
    char text[128] = "";
    th_change_describe(c, text, sizeof text);
    cr_expect_eq(c->verdict, verdict, "%s: %s, not %s: core %+.2f %%, p %g", c->name, text, th_verdict_name(verdict),
                 100 * median_of(row)->change, median_of(row)->p);
}

static void expect_estimate(uint32_t row, th_estimator estimator, th_verdict verdict)
{
    const th_change_estimate *e = &p.result.changes[row].estimates[estimator];
    cr_expect_eq(e->verdict, verdict, "row %u, %s: %s, not %s: %+.2f %%, p %g", row, th_estimator_name(estimator),
                 th_verdict_name(e->verdict), th_verdict_name(verdict), 100 * e->change, e->p);
}

/* Times all of the samples of a row of the new report by a factor. */
static void stretch(uint32_t row, double factor)
{
    th_row *r = &p.reports[1].rows[row];
    for (uint32_t i = 0; i < r->real_ns.count; i++) {
        r->real_ns.values[i] *= factor;
        r->cpu_ns.values[i] *= factor;
    }
}

static bool is_warned(const json_t *texts, const char *words)
{
    size_t index;
    const json_t *text;
    json_array_foreach(texts, index, text) if (strstr(json_string_value(text), words)) return true;
    return false;
}

/* ---- times ---- */

/* The other way round slower is faster, and a change below the threshold is none. */
Test(compare, longer_is_slower_and_shorter_is_faster)
{
    make_pair(7, 12, steady, steady_again);
    stretch(3, 1.05);
    stretch(5, 0.95);
    cr_assert_eq(compare(), TH_OK, "%s", err.text);
    for (uint32_t r = 0; r < 7; r++)
        expect_verdict(r, r == 3 ? TH_VERDICT_SLOWER : r == 5 ? TH_VERDICT_FASTER : TH_VERDICT_EQUIVALENT);
    const th_change_estimate *c = median_of(3);
    cr_expect_float_eq(c->change, 0.05, 0.01);
    cr_expect(c->interval.low < c->change && c->change < c->interval.high);
    cr_expect(c->interval.low > 0.03 && c->interval.high < 0.07, "%g, %g", c->interval.low, c->interval.high);
    cr_expect_float_eq(c->new_ns / c->old_ns, 1 + c->change, 1e-12);
    cr_expect_float_eq(c->old_ns, 2e6, 2e4);
    cr_expect_eq(p.result.changes[3].counts[0], 12);
    cr_expect_eq(th_comparison_outcome(&p.result), TH_OUTCOME_BAD);

    const th_change_estimate there = *c;
    th_comparison_fini(&p.result);
    p.desc.old_results = p.result_files[1];
    p.desc.new_results = p.result_files[0];
    cr_assert_eq(th_compare(&p.desc, &p.result, &err), TH_OK);
    expect_verdict(3, TH_VERDICT_FASTER);
    expect_verdict(5, TH_VERDICT_SLOWER);
    cr_expect_float_eq((1 + there.change) * (1 + median_of(3)->change), 1, 1e-9);
    cr_expect_float_eq(there.p, median_of(3)->p, 1e-12);

    p.desc.threshold = 0.08;
    cr_assert_eq(compare(), TH_OK, "%s", err.text);
    expect_verdict(3, TH_VERDICT_EQUIVALENT);
    cr_expect(median_of(3)->p < 1e-3, "though it is none by chance");
}

/* Processes far from each other, and none of them knows. */
static double wild(uint32_t row, uint32_t process, uint32_t repetition)
{
    return steady(row, process, repetition) * (1 + 0.4 * th_random_unit(row + 10, process));
}

static double wild_again(uint32_t row, uint32_t process, uint32_t repetition)
{
    return steady(row, process, repetition) * (1 + 0.4 * th_random_unit(row + 20, process));
}

Test(compare, what_scatters_more_than_the_threshold_is_inconclusive)
{
    make_pair(4, 12, wild, wild_again);
    stretch(0, 1.05);
    cr_assert_eq(compare(), TH_OK, "%s", err.text);
    for (uint32_t r = 0; r < 4; r++) {
        expect_verdict(r, TH_VERDICT_INCONCLUSIVE);
        cr_expect(median_of(r)->detectable > 0.1, "%g", median_of(r)->detectable);
    }
    cr_expect_eq(th_comparison_outcome(&p.result), TH_OUTCOME_INCONCLUSIVE);
    char text[128] = "";
    th_change_describe(&p.result.changes[1], text, sizeof text);
    cr_expect_eq(strncmp(text, "inconclusive: median sees ", 26), 0, "%s", text);
}

/* Each process runs at a clock of its own, and its times follow. */
Test(compare, processes_at_different_clocks_are_compared_at_one)
{
    make_pair(1, 12, steady, steady_again);
    stretch(0, 1.1);
    for (int side = 0; side < 2; side++) {
        th_row *row = &p.reports[side].rows[0];
        for (uint32_t i = 0; i < row->real_ns.count; i++) {
            const double slower = 1 + 0.4 * th_random_unit((uint64_t)side, i / REPETITIONS);
            row->real_ns.values[i] *= slower;
            row->cpu_ns.values[i] *= slower;
            row->core_clock_ns.values[i] *= slower;
        }
    }
    cr_assert_eq(compare(), TH_OK, "%s", err.text);
    expect_verdict(0, TH_VERDICT_SLOWER);
    cr_expect_float_eq(median_of(0)->change, 0.1, 0.01, "%g", median_of(0)->change);
}

/* CPU time alone is no change for users; of a change it tells what grew. */
Test(compare, wall_time_counts_and_cpu_time_explains)
{
    make_pair(2, 12, steady, steady_again);
    for (uint32_t i = 0; i < p.reports[1].rows[0].real_ns.count; i++) {
        p.reports[1].rows[0].real_ns.values[i] *= 1.09;
        p.reports[1].rows[1].cpu_ns.values[i] *= 1.5;
    }
    cr_assert_eq(compare(), TH_OK, "%s", err.text);
    expect_verdict(0, TH_VERDICT_SLOWER);
    expect_verdict(1, TH_VERDICT_EQUIVALENT);
    cr_expect_float_eq(median_of(0)->old_ns, 2e6, 2e4);
    const th_change_estimate *cpu = &p.result.changes[1].estimates[TH_ESTIMATOR_CPU];
    cr_expect(cpu->interval.low < 0.5 && 0.5 < cpu->interval.high && isnan(cpu->p), "%g", cpu->change);
    char text[128] = "";
    th_change_describe(&p.result.changes[0], text, sizeof text);
    cr_expect_eq(strncmp(text, "slower: median, mean; CPU time ", 31), 0, "%s", text);
    memset(p.reports[1].rows[0].cpu_ns.values, 0, p.reports[1].rows[0].cpu_ns.count * sizeof(double));
    cr_assert_eq(compare(), TH_OK, "%s", err.text);
    expect_verdict(0, TH_VERDICT_SLOWER); /* as work of the GPU may be */
}

/* Every fifth repetition is preempted by another program, or by a thread of this one, which takes CPU time. */
Test(compare, time_of_other_programs_is_not_that_of_this_one)
{
    make_pair(2, 12, steady, steady_again);
    for (uint32_t i = 0; i < p.reports[1].rows[0].real_ns.count; i += 5)
        for (uint32_t r = 0; r < 2; r++) {
            th_row *row = &p.reports[1].rows[r];
            row->queued_ns.values[i] = 3e6;
            row->real_ns.values[i] += 3e6;
            row->cpu_ns.values[i] += r == 1 ? 3e6 : 0;
        }
    cr_assert_eq(compare(), TH_OK, "%s", err.text);
    expect_verdict(0, TH_VERDICT_EQUIVALENT);
    expect_verdict(1, TH_VERDICT_SLOWER);
    p.reports[1].rows[0].queued_ns.count = 0; /* on another system */
    cr_assert_eq(compare(), TH_OK, "%s", err.text);
    expect_verdict(0, TH_VERDICT_SLOWER);
}

/* What the machine or others do is shown, however much it changed, and is_classified by nobody; nor does it make the
 * judgement of the rest harder. */
Test(compare, baselines_judge_nothing)
{
    static const char *const names[] = {"limit/write_cached",
                                        "ceiling/read/l1",
                                        "external/ozz/pose",
                                        "scale/memory_write/threads:2",
                                        "jobs/job:1us/serial",
                                        "jobs/chunk/plain",
                                        "jobs/wake:cold/openmp-guided",
                                        "jobs/stages:64/openmp-static",
                                        "jobs/chunk/work-stealing",
                                        "jobs/trace/off",
                                        "limits"};
    enum { COUNT = sizeof names / sizeof *names, BASELINES = 8 };
    make_pair(COUNT, 12, steady, steady_again);
    for (uint32_t r = 0; r < COUNT; r++) {
        strcpy(p.reports[0].rows[r].name, names[r]);
        strcpy(p.reports[1].rows[r].name, names[r]);
        stretch(r, r < BASELINES ? 1.5 : 1);
    }
    cr_assert_eq(compare(), TH_OK, "%s", err.text);
    for (uint32_t r = 0; r < COUNT; r++)
        expect_verdict(r, r < BASELINES ? TH_VERDICT_BASELINE : TH_VERDICT_EQUIVALENT);
    cr_expect_float_eq(median_of(0)->change, 0.5, 0.02);
    cr_expect(isnan(median_of(0)->p) && isnan(median_of(0)->detectable));
    cr_expect_eq(th_comparison_outcome(&p.result), TH_OUTCOME_GOOD);
    p.desc.filter = "^limit/";
    cr_assert_eq(compare(), TH_OK, "%s", err.text);
    cr_expect_eq(th_comparison_outcome(&p.result), TH_OUTCOME_INCONCLUSIVE, "when there is nothing else");
    p.desc.filter = NULL;
    for (uint32_t r = BASELINES; r < COUNT; r++)
        stretch(r, 1.5);
    cr_assert_eq(compare(), TH_OK, "%s", err.text);
    for (uint32_t r = BASELINES; r < COUNT; r++) {
        expect_verdict(r, TH_VERDICT_SLOWER);
        cr_expect_lt(median_of(r)->p, 1e-9, "%g", median_of(r)->p);
    }
}

/* ---- how often it is right ---- */

/* Made-up measurements: 12 processes that scatter by 1 %, each of 100 repetitions that scatter by 0.4 %. A repetition
 * is ten frames. In a noisy tail one repetition in twenty is longer, by an exponential distribution with a mean of 30
 * %. */
enum { PROCESSES = 12, MANY = 100, FRAMES = 10 };

static const struct {
    const char *name;
    double all, half, twice, stall; /* longer: all, half; parts that take twice; frames that every 500th adds */
} kinds[] = {{"equal", .all = 0},         {"+5 %", .all = 0.05},        {"+9 %", .all = 0.09},
             {"half +8 %", .half = 0.08}, {"4 % twice", .twice = 0.04}, {"stalls", .stall = 11}};
enum { KINDS = sizeof kinds / sizeof *kinds, TALLIES = 2 * KINDS };

/* The first frame of each process is any. */
static double made_up(uint32_t number, bool is_new, uint64_t seed, uint32_t i)
{
    const uint32_t kind = is_new ? number / 2 : 0, first = (uint32_t)(seed % 500) + i * FRAMES;
    const bool stalls = first / 500 != (first + FRAMES) / 500;
    const double chance = th_random_unit(seed, 8 * i + 2);
    double ns = 1 + 0.004 * fabs(normal_of(seed, 4 * i)) + (stalls ? kinds[kind].stall / FRAMES : 0);
    ns *= (1 + kinds[kind].all) * (chance < 0.5 ? 1 + kinds[kind].half : 1) * (chance < kinds[kind].twice ? 2 : 1);
    if (number % 2 && th_random_unit(seed, 8 * i + 3) < 0.05)
        ns *= 1 - 0.3 * log(1 - th_random_unit(seed, 8 * i + 4));
    return 1e6 * ns * exp(0.01 * normal_of(seed, 8 * MANY));
}

static void fill(th_result_file_entry *e, uint32_t number, bool is_new, uint64_t seed)
{
    e->real_ns.count = e->cpu_ns.count = e->core_clock_ns.count = e->queued_ns.count = 0;
    for (uint32_t process = 0; process < PROCESSES; process++) {
        const uint64_t own = th_random_bits(th_random_bits(seed, 2 * number + is_new), process);
        for (uint32_t i = 0; i < MANY; i++) {
            th_samples_add(&e->real_ns, made_up(number, is_new, own, i));
            th_samples_add(&e->cpu_ns, 1);
        }
        e->ends[process] = e->real_ns.count;
    }
}

/* Of each kind with a quiet and with a noisy tail, in turns. Returns how often the interval of the mean is right for
 * the first three kinds. */
static uint32_t count_verdicts(uint32_t tries, bool interleaved, uint32_t verdicts[TALLIES][TH_VERDICT_COUNT])
{
    uint32_t covered = 0;
    make_pair(TALLIES, PROCESSES, steady, steady);
    compare();
    memset(verdicts, 0, TALLIES * sizeof *verdicts);
    for (uint32_t t = 0; t < tries * TALLIES; t++) {
        const uint32_t number = t % TALLIES;
        char filter[16];
        snprintf(filter, sizeof filter, "^row/%u$", number);
        for (int side = 0; side < 2; side++) {
            th_result_file_entry *e = &p.result_files[side]->entries[number];
            if (t < TALLIES) { /* room */
                th_samples_fini(&e->real_ns);
                th_samples_fini(&e->cpu_ns);
                cr_assert(th_samples_init(&e->real_ns, PROCESSES * MANY) &&
                          th_samples_init(&e->cpu_ns, PROCESSES * MANY));
            }
            fill(e, number, side == 1, t / TALLIES);
        }
        th_comparison c;
        p.desc.filter = filter;
        p.desc.threshold = 0.025;
        p.desc.interleaved = interleaved;
        cr_assert_eq(th_compare(&p.desc, &c, &err), TH_OK, "%s", err.text);
        verdicts[number][c.changes[0].verdict]++;
        const th_interval mean = c.changes[0].estimates[TH_ESTIMATOR_MEAN].interval;
        covered += number < 6 && mean.low <= kinds[number / 2].all && kinds[number / 2].all <= mean.high;
        th_comparison_fini(&c);
    }
    p.desc.filter = NULL;
    return covered;
}

/* THRONG_TEST_NIGHTLY=yes says the counts of docs/reference/compare.md. */
Test(compare, decides_and_is_right)
{
    const uint32_t tries = is_nightly() ? 100 : 20;
    uint32_t verdicts[TALLIES][TH_VERDICT_COUNT];
    for (int interleaved = 1; interleaved >= 0; interleaved--) {
        const uint32_t covered = count_verdicts(tries, interleaved, verdicts);
        for (uint32_t n = 0; n < TALLIES; n++) {
            const uint32_t *v = verdicts[n], equal = v[TH_VERDICT_EQUIVALENT], slower = v[TH_VERDICT_SLOWER];
            char text[128];
            snprintf(text, sizeof text, "%s, %s, %s: %u equivalent, %u slower, %u faster, %u inconclusive",
                     kinds[n / 2].name, n % 2 ? "noisy" : "quiet", interleaved ? "interleaved" : "in turn", equal,
                     slower, v[TH_VERDICT_FASTER], v[TH_VERDICT_INCONCLUSIVE]);
            if (is_nightly())
                cr_log_info("%s", text);
            if (n < 2)
                cr_expect(equal >= (interleaved ? 0.9 : 0.5) * tries && slower + v[TH_VERDICT_FASTER] <= tries / 100,
                          "%s", text);
            else
                cr_expect(equal == 0 && slower >= (n < 6 ? 0.95 : interleaved ? 0.9 : 0) * tries, "%s", text);
        }
        if (interleaved) /* at 90 % */
            cr_expect(covered >= 0.85 * 6 * tries && covered <= 0.95 * 6 * tries, "%u of %u", covered, 6 * tries);
    }
}

/* Processes scatter by 2 %, as logarithms of a normal distribution, and their repetitions by a little. */
static double lognormal(uint32_t row, uint32_t process, uint32_t repetition)
{
    const uint64_t own = th_random_bits(th_random_bits(3, row), process);
    return 1e6 * exp(0.02 * normal_of(own, 0)) * (1 + 0.001 * th_random_unit(own, 10 + repetition));
}

/* By hand: the smallest p of six (two entries, three estimators) counts for all. */
Test(compare, corrects_p_as_holm_does)
{
    make_pair(2, 8, lognormal, steady);
    stretch(0, 1.08);
    cr_assert_eq(compare(), TH_OK, "%s", err.text);
    double least = 1, wanted = 1;
    for (uint32_t r = 0; r < 2; r++)
        for (int e = 0; e < TH_ESTIMATORS_JUDGED; e++) {
            const th_change_estimate *estimate = &p.result.changes[r].estimates[e];
            least = fmin(least, estimate->p);
            wanted = fmin(wanted, 6 * th_log_p(&estimate->log_change));
        }
    cr_expect_float_eq(least / wanted, 1, 1e-9, "%g, %g", least, wanted);
}

/* Who looks again and again finds something some day, unless each look has a share of the risk. */
Test(compare, looks_share_the_risk)
{
    make_pair(2, 12, steady, steady_again);
    stretch(0, 1.02);
    cr_assert_eq(compare(), TH_OK, "%s", err.text);
    const th_change_estimate once = *median_of(0);
    p.desc.looks = 3;
    cr_assert_eq(compare(), TH_OK, "%s", err.text);
    cr_expect_float_eq(median_of(0)->p, 3 * once.p, 1e-12);
    cr_expect(median_of(0)->interval.low < once.interval.low);
    cr_expect(median_of(0)->interval.high > once.interval.high);
}

/* A machine is another one some minutes later. */
Test(compare, results_measured_one_after_the_other_have_wider_intervals)
{
    make_pair(1, 12, lognormal, steady);
    cr_assert_eq(compare(), TH_OK, "%s", err.text);
    th_change_estimate both[TH_ESTIMATOR_COUNT];
    memcpy(both, p.result.changes[0].estimates, sizeof both);
    p.desc.interleaved = false;
    cr_assert_eq(compare(), TH_OK, "%s", err.text);
    const th_change_estimate *e = p.result.changes[0].estimates;
    const double median = both[TH_ESTIMATOR_MEDIAN].log_change.error, worst = both[TH_ESTIMATOR_WORST].log_change.error;
    cr_expect_float_eq(e[TH_ESTIMATOR_MEDIAN].log_change.error, 2 * median, 1e-12);
    cr_expect_float_eq(e[TH_ESTIMATOR_WORST].log_change.error, sqrt(worst * worst + 3 * median * median), 1e-12);
    cr_expect_float_eq(log((1 + e->interval.high) / (1 + e->change)),
                       2 * log((1 + both->interval.high) / (1 + both->change)), 1e-9);
}

/* ---- each estimator ---- */

/* One repetition in ten takes three times as long: the mean a fifth. */
static double stalling(uint32_t row, uint32_t process, uint32_t repetition)
{
    return steady_again(row, process, repetition) * (repetition % 10 == 7 ? 3 : 1);
}

/* Every other repetition, so that the mean is the same. */
static double split(uint32_t row, uint32_t process, uint32_t repetition)
{
    return steady_again(row, process, repetition) * (repetition % 2 ? 0.9 : 1.1);
}

static double mostly_slower(uint32_t row, uint32_t process, uint32_t repetition)
{
    return steady_again(row, process, repetition) * (repetition % 3 ? 1.04 : 0.93);
}

/* Rarely, and not in each process, so that the mean says little. */
static double unsteady(uint32_t row, uint32_t process, uint32_t repetition)
{
    const double stall = repetition == 3 && th_random_unit(th_random_bits(7, row), process) < 0.4 ? 20 : 1;
    return steady_again(row, process, repetition) * stall;
}

/* About as long as the threshold of the slowest, and hardly longer in the mean. */
static double longer_tail(uint32_t row, uint32_t process, uint32_t repetition)
{
    const double more = process % 2 ? 0.2 : 0.35;
    return steady_again(row, process, repetition) * (repetition == 3 ? 1 + more : 1 - more / 30);
}

static double faster_but_unsteady(uint32_t row, uint32_t process, uint32_t repetition)
{
    return 0.9 * unsteady(row, process, repetition);
}

Test(compare, an_entry_is_what_its_estimators_are)
{
    enum { EQUAL = TH_VERDICT_EQUIVALENT, SLOWER = TH_VERDICT_SLOWER, FASTER = TH_VERDICT_FASTER };
    enum { UNSURE = TH_VERDICT_INCONCLUSIVE };
    static const struct {
        made_up_time *old_ns, *new_ns;
        const char *told;
        uint32_t processes;
        int median, mean, worst; /* -1: any */
    } cases[] = {
        {steady, stalling, "slower: mean, worst 5 %; CPU time ", 12, EQUAL, SLOWER, SLOWER},
        {steady, split, "equivalent", 12, EQUAL, EQUAL, EQUAL},
        {steady, mostly_slower, "slower: median; CPU", 12, SLOWER, EQUAL, EQUAL},
        {steady, unsteady, "inconclusive: mean sees ", 12, EQUAL, UNSURE, UNSURE},
        {steady, faster_but_unsteady, "inconclusive: mean sees ", 12, FASTER, UNSURE, UNSURE},
        {steady, longer_tail, "inconclusive: worst 5 % sees ", 12, EQUAL, EQUAL, UNSURE},
        {stalling, steady, "faster", 12, EQUAL, FASTER, FASTER},
        {steady, steady_again, "inconclusive: 7 processes", 7, UNSURE, UNSURE, UNSURE},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        make_pair(1, cases[c].processes, cases[c].old_ns, cases[c].new_ns);
        cr_assert_eq(compare(), TH_OK, "%s", err.text);
        const int wanted[] = {cases[c].median, cases[c].mean, cases[c].worst};
        for (int e = 0; e < TH_ESTIMATORS_JUDGED; e++)
            if (wanted[e] >= 0)
                expect_estimate(0, (th_estimator)e, (th_verdict)wanted[e]);
        char text[128] = "";
        th_change_describe(&p.result.changes[0], text, sizeof text);
        cr_expect_eq(strncmp(text, cases[c].told, strlen(cases[c].told)), 0, "case %zu: %s", c, text);
    }
}

/* ---- processes ---- */

/* Each stricter choice has the failures of those before it. */
Test(compare, fail_on_says_what_fails)
{
    static const th_outcome wanted[][TH_FAIL_ON_COUNT] = {
        {TH_OUTCOME_INCONCLUSIVE, TH_OUTCOME_GOOD, TH_OUTCOME_GOOD},
        {TH_OUTCOME_BAD, TH_OUTCOME_BAD, TH_OUTCOME_GOOD},
        {TH_OUTCOME_BAD, TH_OUTCOME_BAD, TH_OUTCOME_BAD},
        {TH_OUTCOME_INCONCLUSIVE, TH_OUTCOME_INCONCLUSIVE, TH_OUTCOME_GOOD}, /* too few processes */
        {TH_OUTCOME_INCONCLUSIVE, TH_OUTCOME_INCONCLUSIVE, TH_OUTCOME_GOOD}, /* baselines alone */
    };
    for (int what = 0; what < 5; what++) {
        make_pair(1, what == 3 ? 7 : 12, what == 0 ? wild : steady, what == 0 ? wild_again : steady_again);
        stretch(0, what == 1 ? 1.5 : 1);
        p.reports[1].rows[0].palette_hash += what == 2;
        for (int side = 0; side < 2 && what == 4; side++)
            strcpy(p.reports[side].rows[0].name, "limit/x");
        for (int f = 0; f < TH_FAIL_ON_COUNT; f++) {
            p.desc.fail_on = (th_fail_on)f;
            cr_assert_eq(compare(), TH_OK, "%s", err.text);
            cr_expect_eq(th_comparison_outcome(&p.result), wanted[what][f], "%d, %d", what, f);
        }
    }
}

Test(compare, results_of_other_programs_are_of_one_process)
{
    make_pair(1, 1, steady, steady_again);
    json_t *document = document_of(&p.reports[1]);
    json_object_del(json_object_get(document, "context"), "usable_cpus");
    json_object_del(json_object_get(document, "context"), "throng_schema_version");
    json_t *row;
    size_t index;
    json_array_foreach(json_object_get(document, "benchmarks"), index, row)
    {
        json_object_del(row, "characters");
        json_object_del(row, "bones");
    }
    p.reports[0].rows[0].characters = p.reports[0].rows[0].bones = 0;
    p.result_files[0] = result_file_of(&p.reports[0], "old.json");
    cr_assert_eq(parse_document(document, "new.json", &p.result_files[1], &err), TH_OK, "%s", err.text);
    json_decref(document);
    p.desc.old_results = p.result_files[0];
    p.desc.new_results = p.result_files[1];
    p.desc.force = true; /* what the other program does not tell of the machine differs */
    cr_assert_eq(th_compare(&p.desc, &p.result, &err), TH_OK, "%s", err.text);
    expect_verdict(0, TH_VERDICT_INCONCLUSIVE);
    cr_expect(is_warned(p.result.warnings, "new.json was written by another program, in one process"));
    cr_expect_not(is_warned(p.result.warnings, "old.json was written by another program"));
}

static double nothing(uint32_t row, uint32_t process, uint32_t repetition)
{
    (void)row, (void)process, (void)repetition;
    return 0;
}

/* Sets the times of processes of a row of the new report to 0. */
static void stop_clock(uint32_t row, uint32_t processes)
{
    th_row *r = &p.reports[1].rows[row];
    for (uint32_t i = 0; i < processes * REPETITIONS; i++)
        r->real_ns.values[i] = r->cpu_ns.values[i] = 0;
}

/* A process is out by a single 0, and the others count. */
Test(compare, times_of_0_hide_no_change)
{
    static const struct {
        uint32_t stopped;
        th_verdict verdict;
        th_outcome outcome;
    } cases[] = {{1, TH_VERDICT_SLOWER, TH_OUTCOME_BAD},
                 {5, TH_VERDICT_INCONCLUSIVE, TH_OUTCOME_INCONCLUSIVE},
                 {12, TH_VERDICT_INCONCLUSIVE, TH_OUTCOME_INCONCLUSIVE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_pair(2, 12, steady, steady_again);
        stretch(0, 1.6);
        stop_clock(0, cases[i].stopped);
        cr_assert_eq(compare(), TH_OK, "%s", err.text);
        expect_verdict(0, cases[i].verdict);
        expect_verdict(1, TH_VERDICT_EQUIVALENT);
        cr_expect_eq(p.result.changes[0].counts[1], 12 - cases[i].stopped);
        cr_expect_eq(th_comparison_outcome(&p.result), cases[i].outcome);
        cr_expect_eq(is_warned(p.result.warnings, "row/0: 1 of 12 processes in new.json"), cases[i].stopped == 1);
    }
    p.reports[1].rows[1].real_ns.values[7] = 0; /* one repetition */
    cr_assert_eq(compare(), TH_OK, "%s", err.text);
    cr_expect_eq(p.result.changes[1].counts[1], 11);
}

Test(compare, no_times_are_untimed_and_nothing_in_common_is_refused)
{
    for (int side = 0; side < 2; side++) {
        make_pair(1, 8, side == 0 ? nothing : steady, side == 0 ? steady : nothing);
        cr_expect_eq(compare(), TH_ERR_INPUT);
        cr_expect(strstr(err.text, "no entry in common with times above 0"), "%s", err.text);
    }
    end();
    p = (pair){.reports = {report_of(2, 8, REPETITIONS, steady), report_of(2, 0, 0, steady)}, .desc.threshold = 0.03};
    p.reports[1].is_dry_run = true;
    cr_assert_eq(compare(), TH_OK, "%s", err.text);
    cr_expect_eq(p.result.verdicts[TH_VERDICT_UNTIMED], 2);
    cr_expect_eq(p.result.same_palettes, 2);
    cr_expect_eq(th_comparison_outcome(&p.result), TH_OUTCOME_GOOD, "palettes are compared");
}

/* However much its processes scatter, few as they are, and times of 0, too. Another repetition is another result. */
Test(compare, a_result_is_identical_to_itself)
{
    static made_up_time *const times[] = {wild, wild, nothing};
    for (uint32_t c = 0; c < 3; c++) {
        make_pair(2, c == 1 ? 1 : 12, times[c], times[c]);
        strcpy(p.reports[0].rows[0].name, "limit/x");
        p.result_files[0] = result_file_of(&p.reports[0], "old.json");
        p.result_files[1] = result_file_of(&p.reports[0], "new.json");
        p.desc.old_results = p.result_files[0];
        p.desc.new_results = p.result_files[1];
        cr_assert_eq(th_compare(&p.desc, &p.result, &err), TH_OK, "%s", err.text);
        cr_expect(p.result.identical);
        expect_verdict(1, TH_VERDICT_EQUIVALENT);
        cr_expect_eq(p.result.same_palettes, 2);
        cr_expect_eq(th_comparison_outcome(&p.result), TH_OUTCOME_GOOD);
        p.result_files[1]->entries[1].real_ns.values[0] += 1; /* as that of a process that was appended */
        th_comparison_fini(&p.result);
        cr_assert(th_compare(&p.desc, &p.result, &err) == (c == 2 ? TH_ERR_INPUT : TH_OK) && !p.result.identical);
    }
}

/* ---- which entries ---- */

Test(compare, entries_that_are_gone_are_not_known_to_be_no_slower)
{
    make_pair(3, 8, steady, steady_again);
    strcpy(p.reports[0].rows[0].name, "gone");
    strcpy(p.reports[1].rows[2].name, "added");
    cr_assert_eq(compare(), TH_OK, "%s", err.text);
    cr_expect_eq(p.result.count, 5);
    cr_expect_eq(p.result.verdicts[TH_VERDICT_ONLY_OLD], 2);
    cr_expect_eq(p.result.verdicts[TH_VERDICT_ONLY_NEW], 2);
    cr_expect_str_eq(p.result.changes[2].name, "added");
    expect_verdict(2, TH_VERDICT_ONLY_NEW);
    cr_expect_str_eq(p.result.changes[3].name, "gone");
    expect_verdict(3, TH_VERDICT_ONLY_OLD);
    cr_expect_eq(th_comparison_outcome(&p.result), TH_OUTCOME_INCONCLUSIVE);
    p.desc.fail_on = TH_FAIL_ON_SLOWER;
    cr_assert_eq(compare(), TH_OK, "%s", err.text);
    cr_expect_eq(th_comparison_outcome(&p.result), TH_OUTCOME_INCONCLUSIVE, "not compared at all");
    p.desc.filter = "row/1|added"; /* what is new is fine */
    cr_assert_eq(compare(), TH_OK, "%s", err.text);
    cr_expect_eq(th_comparison_outcome(&p.result), TH_OUTCOME_GOOD);
}

Test(compare, only_what_both_have_and_the_filter_lets_through_counts)
{
    make_pair(4, 8, steady, steady_again);
    stretch(3, 1.2);
    p.desc.filter = "row/[12]$";
    cr_assert_eq(compare(), TH_OK, "%s", err.text);
    cr_expect_eq(p.result.count, 2);
    cr_expect_eq(th_comparison_outcome(&p.result), TH_OUTCOME_GOOD);
    p.desc.filter = "nothing";
    cr_expect_eq(compare(), TH_ERR_INPUT);
    cr_expect_str_eq(err.text, "old.json and new.json have no entry in common that the filter lets through");
    make_pair(1, 8, steady, steady_again);
    strcpy(p.reports[1].rows[0].name, "another");
    cr_expect_eq(compare(), TH_ERR_INPUT);
    cr_expect_str_eq(err.text, "old.json and new.json have no entry in common");
}

/* ---- palettes ---- */

/* What failed before and no longer does is fine. */
Test(compare, other_palettes_and_larger_errors_are_failures_of_their_own)
{
    make_pair(10, 8, steady, steady_again);
    for (int side = 0; side < 2; side++)
        p.reports[side].rows[9].own = json_pack("{s:i}", "visible", 20 - side);
    p.reports[1].rows[0].palette_hash++;
    p.reports[1].rows[1].max_error *= 1.02;
    p.reports[1].rows[2].max_error *= 1.005; /* the last digits of a library */
    p.reports[1].rows[3].max_error *= 0.5;
    strcpy(p.reports[1].rows[4].failure, "joint hand is off");
    for (int side = 0; side < 2; side++)
        p.reports[side].rows[5].overrides = p.reports[side].rows[6].overrides = true;
    p.reports[0].rows[5].error_vs_source = p.reports[0].rows[6].error_vs_source = 1e-3;
    p.reports[1].rows[5].error_vs_source = 1.02e-3;
    p.reports[1].rows[6].error_vs_source = 1.005e-3;
    strcpy(p.reports[0].rows[7].failure, "joint hand is off");
    p.reports[0].rows[7].palette_hash++;
    strcpy(p.reports[1].rows[8].name, "added");
    strcpy(p.reports[1].rows[8].failure, "off by a metre");
    cr_assert_eq(compare(), TH_OK, "%s", err.text);
    cr_expect_str_eq(p.result.changes[0].problem, "its palettes changed: 1234567890abcdf0, was 1234567890abcdef");
    cr_expect_str_eq(p.result.changes[9].problem, "its picture has 19 characters, it had 20");
    cr_expect_str_eq(p.result.changes[1].problem, "its error grew from 0.0001 to 0.000102");
    cr_expect_str_eq(p.result.changes[2].problem, "");
    cr_expect_str_eq(p.result.changes[3].problem, "");
    cr_expect_str_eq(p.result.changes[4].problem, "it failed: joint hand is off");
    expect_verdict(4, TH_VERDICT_UNTIMED);
    cr_expect_str_eq(p.result.changes[5].problem, "its error vs source grew from 0.001 to 0.00102");
    cr_expect_str_eq(p.result.changes[6].problem, "");
    cr_expect_str_eq(p.result.changes[7].problem, "");
    expect_verdict(7, TH_VERDICT_UNTIMED);
    cr_expect_str_eq(p.result.changes[8].problem, "it failed: off by a metre");
    expect_verdict(8, TH_VERDICT_ONLY_NEW);
    cr_expect_eq(p.result.problems, 6);
    cr_expect_eq(p.result.verdicts[TH_VERDICT_SLOWER], 0);
    cr_expect_eq(th_comparison_outcome(&p.result), TH_OUTCOME_BAD);
}

/* ---- conditions ---- */

Test(compare, other_conditions_are_refused_by_name_unless_forced)
{
    static const char *const fields[] = {
        "cpu_model",     "num_cpus",          "usable_cpus", "cgroup_quota_cpus",  "governor",
        "compiler",      "compiler_flags",    "build_type",  "library_build_type", "isa",
        "repetition_ms", "repetition_frames", "scene.seed",  "scene.characters",   "scene.models",
        "scene.extra",
    };
    make_pair(1, 8, steady, steady_again);
    p.value = "\"odd\"";
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        char words[128];
        p.field = fields[i];
        p.desc.force = false;
        cr_expect_eq(compare(), TH_ERR_INPUT, "%s", fields[i]);
        snprintf(words, sizeof words, "not measured under the same conditions: %s is ", fields[i]);
        cr_expect_eq(strncmp(err.text, words, strlen(words)), 0, "%s", err.text);
        cr_expect(strstr(err.text, " in old.json and \"odd\" in new.json"), "%s", err.text);
        p.desc.force = true;
        cr_expect_eq(compare(), TH_OK, "%s", err.text);
        cr_expect_eq(json_array_size(p.result.differences), 1);
    }
}

Test(compare, what_is_found_out_or_hardly_matters_may_differ)
{
    static const struct {
        const char *field, *value;
        bool is_told;
    } cases[] = {
        {"date", "\"odd\"", false},
        {"commit", "\"odd\"", false},
        {"load_avg", "[7.0]", false},
        {"executable", "\"odd\"", false},
        {"host_name", "\"odd\"", true},
        {"system", "\"odd\"", true},
        {"scene.models",
         "[{\"name\": \"human\", \"exact_clips\": 3, \"bytes_per_character\": 2496, \"bytes_per_clip\": 38765.0}]",
         false},
    };
    make_pair(1, 8, steady, steady_again);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        p.field = cases[i].field;
        p.value = cases[i].value;
        cr_expect_eq(compare(), TH_OK, "%s", err.text);
        cr_expect_eq(is_warned(p.result.warnings, "\"odd\" in new.json"), cases[i].is_told, "%s", p.field);
    }
}

Test(compare, other_numbers_of_threads_or_characters_are_refused)
{
    make_pair(1, 8, steady, steady_again);
    p.reports[1].rows[0].threads = 2;
    cr_expect_eq(compare(), TH_ERR_INPUT);
    cr_expect(strstr(err.text, "row/0 has 1 thread in old.json and 2 in new.json"), "%s", err.text);
    p.reports[1].rows[0].threads = 1;
    p.reports[1].rows[0].bones = 530;
    cr_expect_eq(compare(), TH_ERR_INPUT);
    cr_expect(strstr(err.text, "row/0 has other characters in new.json than in old.json"), "%s", err.text);
}

/* Another instruction set rounds otherwise, another scene has other palettes. */
Test(compare, palettes_of_other_conditions_are_not_compared)
{
    make_pair(1, 8, steady, steady_again);
    p.reports[1].rows[0].palette_hash++;
    p.reports[1].rows[0].max_error *= 2;
    json_object_set_new(p.reports[1].scene, "seed", json_string("2"));
    p.desc.force = true;
    cr_assert_eq(compare(), TH_OK, "%s", err.text);
    cr_expect_str_eq(p.result.changes[0].problem, "");
    cr_expect_eq(th_comparison_outcome(&p.result), TH_OUTCOME_GOOD);
}

/* Palettes depend on what is posed, on the kernel, and on the sines that clips were made with. */
Test(compare, palettes_without_times_may_come_from_another_machine)
{
    static const struct {
        const char *name, *field;
        bool are_compared;
    } cases[] = {
        {"pose/avx2/f32", "cpu_model", true}, {"pose/avx2/f32", "compiler", true}, {"pose/avx2/f32", "isa", true},
        {"pose/avx2", "isa", true},           {"avx2/pose", "isa", false},         {"pose/avx29", "isa", false},
        {"threads:2", "isa", false},          {"pose/avx2/f32", "libc", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_pair(1, 8, steady, steady_again);
        for (int s = 0; s < 2; s++) {
            th_row *row = &p.reports[s].rows[0];
            row->real_ns.count = row->cpu_ns.count = row->process_count = 0;
            p.reports[s].is_dry_run = true;
            strcpy(row->name, cases[i].name);
        }
        p.reports[1].rows[0].palette_hash++;
        p.field = cases[i].field;
        p.value = "\"odd\"";
        const th_result result = compare();
        const bool is_other_kernel = !cases[i].are_compared && strcmp(cases[i].field, "isa") == 0;
        cr_assert_eq(result, is_other_kernel ? TH_ERR_INPUT : TH_OK, "%s: %s", cases[i].name, err.text);
        if (is_other_kernel)
            continue; /* and there is nothing else to compare */
        const th_change *c = &p.result.changes[0];
        cr_expect_eq(c->verdict, TH_VERDICT_UNTIMED);
        cr_expect_eq(strncmp(c->problem, "its palettes changed", 20) == 0, cases[i].are_compared, "%s: %s", c->name,
                     c->problem);
    }
}

/* ---- pixels ---- */

/* The p99 and the maximum of a row in one of the reports. */
static void set_pixels(int side, uint32_t row, double p99, double max)
{
    json_t **own = &p.reports[side].rows[row].own;
    json_decref(*own);
    *own = json_pack("{s:f, s:f}", "error_px_p99", p99, "error_px_max", max);
}

static void expect_pixels(uint32_t row, th_pixel_verdict verdict)
{
    const th_pixel_change *px = &p.result.changes[row].pixels;
    cr_expect_eq(px->verdict, verdict, "row %u: %s, not %s", row, th_pixel_verdict_name(px->verdict),
                 th_pixel_verdict_name(verdict));
}

Test(compare, pixels_are_judged_as_times_are)
{
    static const struct {
        double old_p99, old_max, new_p99, new_max;
        th_pixel_verdict verdict;
    } rows[] = {
        {0.5, 2, 0.5, 2, TH_PIXELS_EQUAL},    {0.5, 2, 0.51, 2.04, TH_PIXELS_EQUAL},
        {0.5, 2, 0.6, 2, TH_PIXELS_WORSE},    {0.5, 2, 0.5, 2.5, TH_PIXELS_WORSE},
        {0.5, 2, 0.4, 2.5, TH_PIXELS_WORSE},  {0.5, 2, 0.4, 2, TH_PIXELS_BETTER},
        {0.5, 2, 0.5, 1.5, TH_PIXELS_BETTER}, {0, 0, 0.009, 0.009, TH_PIXELS_EQUAL},
        {0, 0, 0.02, 0.02, TH_PIXELS_WORSE},  {0.02, 0.02, 0, 0, TH_PIXELS_BETTER},
    };
    enum { ROWS = sizeof rows / sizeof *rows };
    make_pair(ROWS + 3, 12, steady, steady_again);
    for (uint32_t r = 0; r < ROWS; r++) {
        set_pixels(0, r, rows[r].old_p99, rows[r].old_max);
        set_pixels(1, r, rows[r].new_p99, rows[r].new_max);
    }
    set_pixels(0, ROWS, 0.1, 0.2);
    set_pixels(1, ROWS + 1, 0.1, 0.2);
    cr_assert_eq(compare(), TH_OK, "%s", err.text);
    for (uint32_t r = 0; r < ROWS; r++)
        expect_pixels(r, rows[r].verdict);
    expect_pixels(ROWS, TH_PIXELS_ONLY_OLD);
    expect_pixels(ROWS + 1, TH_PIXELS_ONLY_NEW);
    expect_pixels(ROWS + 2, TH_PIXELS_UNKNOWN);
    cr_expect_eq(p.result.pixels[TH_PIXELS_WORSE], 4);
    cr_expect_eq(p.result.verdicts[TH_VERDICT_EQUIVALENT], ROWS + 3);
    cr_expect_eq(th_comparison_outcome(&p.result), TH_OUTCOME_BAD);
    for (uint32_t r = 0; r < ROWS; r++)
        if (rows[r].verdict == TH_PIXELS_WORSE)
            set_pixels(1, r, rows[r].old_p99, rows[r].old_max);
    cr_assert_eq(compare(), TH_OK, "%s", err.text);
    cr_expect_eq(th_comparison_outcome(&p.result), TH_OUTCOME_GOOD, "what did not grow is no failure");
}

/* Of any process, the most counts. */
Test(compare, more_memory_is_a_failure_as_slower_is)
{
    static const double bytes[][2] = {{1000, 2000}, {1000, 1029}, {2000, 1000}, {1000, 1031}};
    make_pair(5, 12, steady, steady_again);
    for (int side = 0; side < 2; side++)
        for (uint32_t r = 0; r < 4; r++)
            p.reports[side].rows[r].own = json_pack("{s:f}", "bytes", bytes[r][side]);
    cr_assert_eq(compare(), TH_OK, "%s", err.text);
    for (uint32_t r = 0; r < 5; r++)
        cr_expect_eq(p.result.changes[r].has_more_bytes, r == 0 || r == 3, "row %u", r);
    cr_expect_eq(p.result.more_bytes, 2);
    cr_expect_eq(th_comparison_outcome(&p.result), TH_OUTCOME_BAD);
    p.result.fail_on = TH_FAIL_ON_WRONG;
    cr_expect_eq(th_comparison_outcome(&p.result), TH_OUTCOME_GOOD);
}

/* Pages of comparisons of made-up results. */
#include "fixture_page.h"
#include "fixture_result_file.h"

#include <throng/bench/compare.h>
#include <throng/bench/page.h>

#include <criterion/criterion.h>

#include <math.h>
#include <string.h>

static th_error err;

/* row/1 takes half as long again, row/2 a quarter less, row/3 twelve times as long. */
static double changed(uint32_t row, uint32_t process, uint32_t repetition)
{
    static const double factors[] = {1, 1.5, 0.75, 12};
    return steady_again(row, process, repetition) * factors[row];
}

typedef struct sides {
    th_report reports[2];
    th_result_file *result_files[2];
    th_comparison comparison;
    web_page page;
} sides;

static void compare(sides *s)
{
    s->result_files[0] = result_file_of(&s->reports[0], "old<&>.json");
    s->result_files[1] = result_file_of(&s->reports[1], "new.json");
    const th_compare_desc desc = {
        .old_results = s->result_files[0], .new_results = s->result_files[1], .threshold = 0.03, .force = true};
    cr_assert_eq(th_compare(&desc, &s->comparison, &err), TH_OK, "%s", err.text);
    s->page = page_begin();
    cr_assert(th_comparison_page(&s->comparison, "throng compare", s->page.file));
    page_read(&s->page);
    expect_clean(&s->page);
}

static void forget(sides *s)
{
    page_free(&s->page);
    th_comparison_fini(&s->comparison);
    for (int i = 0; i < 2; i++) {
        th_result_file_free(s->result_files[i]);
        th_report_fini(&s->reports[i]);
    }
}

/* In a plot of ratios, or of percent. */
static void expect_row(const sides *s, const char *figure, int index, const th_change *c, bool is_ratio)
{
    double point[2], interval[3];
    cr_assert_eq(numbers_of(&s->page, figure, "mark", index, "d", point, 2), 2);
    cr_assert_eq(numbers_of(&s->page, figure, "interval", index, "d", interval, 3), 3);
    const double index_by_name[] = {point[0], interval[0], interval[2]};
    const th_change_estimate *core = &c->estimates[TH_ESTIMATOR_CORE]; /* all three have the same verdict */
    const double changes[] = {core->change, core->interval.low, core->interval.high};
    for (int i = 0; i < 3; i++) {
        const double value = value_at(&s->page, figure, false, is_ratio, index_by_name[i]);
        const double change = is_ratio ? value - 1 : value / 100;
        cr_expect_float_eq(change, changes[i], is_ratio ? 0.02 * (1 + changes[i]) : 0.004, "%s: %g, not %g", c->name,
                           change, changes[i]);
    }
}

Test(page_compare, shows_changes_and_intervals_where_they_are)
{
    sides s = {.reports = {report_of(3, 8, 20, steady), report_of(3, 8, 20, changed)}};
    compare(&s);
    cr_assert_eq(s.comparison.verdicts[TH_VERDICT_SLOWER], 1);
    cr_assert_eq(s.comparison.verdicts[TH_VERDICT_FASTER], 1);
    for (int i = 0; i < 3; i++)
        expect_row(&s, "row", i + 1, &s.comparison.changes[i], false);
    expect_row(&s, "What changed", 1, &s.comparison.changes[1], false);
    expect_row(&s, "What changed", 2, &s.comparison.changes[2], false);
    cr_expect_eq(page_count(&s.page, "//h:figure[.//h:h3='What changed']//s:rect[@class='band']"), 2);
    cr_expect_str_eq(page_text(&s.page, "//h:p[@class='headline']"),
                     "1 slower, 1 faster, 1 equivalent, 0 inconclusive");
    forget(&s);
}

Test(page_compare, shows_large_changes_as_ratios)
{
    sides s = {.reports = {report_of(4, 8, 20, steady), report_of(4, 8, 20, changed)}};
    compare(&s);
    for (int i = 0; i < 4; i++)
        expect_row(&s, "row", i + 1, &s.comparison.changes[i], true);
    forget(&s);
}

Test(page_compare, bands_are_the_thresholds)
{
    sides s = {.reports = {report_of(2, 1, 20, steady), report_of(2, 1, 20, changed)}};
    compare(&s);
    for (int i = 0; i < 2; i++) {
        double left, width;
        cr_assert_eq(numbers_of(&s.page, "row", "band", i + 1, "x", &left, 1), 1);
        cr_assert_eq(numbers_of(&s.page, "row", "band", i + 1, "width", &width, 1), 1);
        cr_expect_float_eq(value_at(&s.page, "row", false, false, left), -3, 0.4);
        cr_expect_float_eq(value_at(&s.page, "row", false, false, left + width), 3, 0.4);
    }
    forget(&s);
}

Test(page_compare, says_what_differs)
{
    sides s = {.reports = {report_of(1, 8, 20, steady), report_of(1, 8, 20, steady_again)}};
    strcpy(s.reports[0].context.cpu, "<Old CPU>");
    compare(&s);
    cr_expect(
        strstr(page_text(&s.page, "//h:div[@class='warnings']"), "differs: cpu_model is \"<Old CPU>\" in old<&>.json"),
        "%s", page_text(&s.page, "//h:div[@class='warnings']"));
    cr_expect_str_eq(page_text(&s.page, "//h:tr[h:th='cpu_model']/h:td[3]"), "differs");
    cr_expect_str_eq(page_text(&s.page, "//h:tr[h:th='cores']/h:td[3]"), "");
    forget(&s);
}

Test(page_compare, without_times_has_no_plots)
{
    sides s = {.reports = {report_of(2, 1, 9, steady), report_of(2, 1, 9, steady)}};
    for (uint32_t r = 0; r < 2; r++)
        s.reports[1].rows[r].real_ns.count = s.reports[1].rows[r].cpu_ns.count =
            s.reports[1].rows[r].core_clock_ns.count = 0;
    s.reports[1].is_dry_run = true;
    compare(&s);
    cr_expect_eq(page_count(&s.page, "//s:svg"), 0);
    forget(&s);
}

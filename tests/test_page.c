/* Pages of made-up results: what they show is what was measured, and no name gets out of its place. */
#include "fixture_page.h"
#include "fixture_result_file.h"

#include <throng/bench/bench.h>
#include <throng/bench/page.h>
#include <throng/bench/rank_scaling.h>
#include <throng/bench/scale.h>
#include <throng/bench/stress.h>
#include <throng/core/table.h>

#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HOSTILE "</title><script>alert(1)</script>&\"'\xff\x01"

static th_error err;

/* ---- texts ---- */

static const char *html_of(const char *text)
{
    static char out[256];
    FILE *file = fmemopen(out, sizeof out, "w");
    th_html_escape(text, file);
    fclose(file);
    return out;
}

Test(html, markup_becomes_text)
{
    cr_expect_str_eq(html_of("a < b > c & \"d\" 'e'"), "a &lt; b &gt; c &amp; &quot;d&quot; &#39;e&#39;");
}

#define NONE "\xEF\xBF\xBD"

Test(html, what_xml_does_not_allow_is_replaced)
{
    static const struct {
        const char *text, *html;
    } cases[] = {
        {"gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80", "gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80"},
        {"tab\tline\n", "tab\tline\n"},
        {"\x01\x1B\x7F", NONE NONE NONE},
        {"\xC2\x85", NONE NONE},                   /* a control character of two bytes */
        {"\xFFz\xC3", NONE "z" NONE},              /* no character, and half of one */
        {"\xC0\xAF", NONE NONE},                   /* a slash in too many bytes */
        {"\xED\xA0\x80", NONE NONE NONE},          /* half of a pair */
        {"\xEF\xBF\xBF", NONE NONE NONE},          /* U+FFFF */
        {"\xF4\x90\x80\x80", NONE NONE NONE NONE}, /* beyond the last */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_str_eq(html_of(cases[i].text), cases[i].html, "case %zu: %s", i, html_of(cases[i].text));
}

Test(html, table_has_a_cell_for_each_and_no_blank_rows)
{
    web_page p = page_begin();
    th_table *table = th_table_create("<name|>number");
    th_table_cell(table, "%s", "<b>");
    th_table_cell(table, "%d", 7);
    th_table_cell(table, "%s", "");
    th_table_cell(table, "%s", "");
    fputs("<div xmlns=\"http://www.w3.org/1999/xhtml\">", p.file);
    cr_assert(th_table_write(table, TH_FORMAT_HTML, p.file));
    fputs("</div>", p.file);
    page_read(&p);
    cr_expect_eq(page_count(&p, "//h:tr"), 2);
    cr_expect_str_eq(page_text(&p, "//h:thead/h:tr/h:th[2]"), "number");
    cr_expect_str_eq(page_text(&p, "//h:tbody/h:tr/h:th"), "<b>");
    cr_expect_str_eq(page_text(&p, "//h:tbody/h:tr/h:td[@class='right']"), "7");
    th_table_destroy(table);
    page_free(&p);
}

/* ---- scale ---- */

enum { POINTS = 6 };

/* Times of 1 to 32 threads by the Universal Scalability Law. The last are more than there are CPUs. th_scale_fini. */
static th_scale made_up_scale(double kappa)
{
    th_scale scale = {.point_count = POINTS, .curve_count = 1, .part_count = 2, .memory_count = 2};
    th_fit_point fitted[POINTS];
    cr_assert_eq(th_report_init(&scale.report, POINTS, 3, &err), TH_OK);
    scale.report.interference = (th_interference){0};
    scale.points = calloc(POINTS, sizeof *scale.points);
    scale.curves = calloc(1, sizeof *scale.curves);
    scale.memory = calloc(2, sizeof *scale.memory);
    scale.memory[0] = (th_scale_memory){1, {1e10, 2e10, (double)NAN}};
    scale.memory[1] = (th_scale_memory){16, {3e10, 5e10, (double)NAN}};
    scale.parts[0] = (th_scale_parts){.threads = 1, .frame_ns = {8e5, 6e5, 5e5, 3e5, 1e3}};
    scale.parts[1] = (th_scale_parts){.threads = 16, .frame_ns = {8e4, 6e4, 5e4, 3e4, 1e3}};
    scale.curves[0] = (th_scale_curve){.characters = 1000, .grain = 2, .count = POINTS};
    strcpy(scale.bottleneck.text, "It is the memory.");
    scale.bottleneck.kind = TH_BOTTLENECK_MEMORY;
    for (uint32_t i = 0; i < POINTS; i++) {
        const double n = 1u << i, frame_ns = 1e6 * (1 + 0.02 * (n - 1) + kappa * n * (n - 1)) / n;
        th_row *row = &scale.report.rows[i];
        scale.points[i] = (th_scale_point){
            .threads = 1u << i,
            .characters = 1000,
            .frame_ns = frame_ns,
            .speed_up = 1e6 / frame_ns,
            .efficiency = 1e6 / frame_ns / n,
            .efficiency_interval = {0.9e6 / frame_ns / n, 1.2e6 / frame_ns / n},
            .karp_flatt = i == 0 ? (double)NAN : 0.02,
            .busy = 0.8,
            .idle_at_end = 0.1,
            .serial = 0.05,
            .imbalance = 0.03,
            .oversubscribed = i == POINTS - 1,
        };
        snprintf(row->name, sizeof row->name, "scale/threads:%u", 1u << i);
        row->characters = 1000;
        row->threads = 1u << i;
        row->time_unit = "us";
        for (int r = -1; r <= 1; r++)
            th_samples_add(&row->real_ns, frame_ns * (1 + 0.1 * r)), th_samples_add(&row->cpu_ns, frame_ns);
        fitted[i] = (th_fit_point){n, 1000, row->real_ns.values, 3};
    }
    for (int law = 0; law < TH_FIT_LAW_COUNT; law++)
        cr_assert(th_fit_run((th_fit_law)law, fitted, POINTS, 1, &scale.curves[0].fits[law]));
    return scale;
}

static web_page scale_page(const th_scale *scale, const char *command)
{
    web_page p = page_begin();
    cr_assert(th_scale_page(scale, command, p.file));
    page_read(&p);
    return p;
}

/* Places are rounded, those of ticks to a tenth. span: of the axis. */
static void expect_near(double value, double wanted, double span)
{
    cr_expect_float_eq(value, wanted, span * 0.003, "%g, not %g", value, wanted);
}

Test(page, scale_shows_points_intervals_and_fits_where_the_figures_are)
{
    static const char figure[] = "Speed-up";
    th_scale scale = made_up_scale(0.0002);
    web_page p = scale_page(&scale, "throng scale");
    expect_clean(&p);
    for (uint32_t i = 0; i < POINTS; i++) {
        double interval[8], point[2];
        const bool is_hollow = i == POINTS - 1;
        const double speed_up = scale.points[i].speed_up;
        const th_interval wanted = {0.9 * speed_up, 1.2 * speed_up};
        cr_assert_eq(numbers_of(&p, figure, "interval", (int)i + 1, "d", interval, 3), 3); /* M x low V high */
        expect_near(value_at(&p, figure, false, true, interval[0]), scale.points[i].threads, scale.points[i].threads);
        expect_near(value_at(&p, figure, true, true, interval[1]) / wanted.low, 1, 5);
        expect_near(value_at(&p, figure, true, true, interval[2]) / wanted.high, 1, 5);
        cr_assert_eq(numbers_of(&p, figure, is_hollow ? "hollow" : "mark", is_hollow ? 1 : (int)i + 1, "d", point, 2),
                     2);
        expect_near(value_at(&p, figure, true, true, point[1]) / scale.points[i].speed_up, 1, 5);
    }
    double law[4];
    cr_assert_eq(numbers_of(&p, figure, "line", 3, "d", law, 2), 2, "ideal, Amdahl, Gunther");
    expect_near(value_at(&p, figure, true, true, law[1]), 1, 5);
    page_free(&p);
    th_scale_fini(&scale);
}

Test(page, scale_says_the_limit_and_how_it_was_called)
{
    th_scale scale = made_up_scale(0.0002);
    web_page p = scale_page(&scale, "throng scale --model " HOSTILE);
    cr_expect(strstr(page_text(&p, "//h:p[@class='headline']"), "times as fast on 16 threads as on 1"), "%s",
              page_text(&p, "//h:p[@class='headline']"));
    cr_expect(strstr(page_text(&p, "//h:p[@class='headline']"), "limited by memory"));
    cr_expect_str_eq(page_text(&p, "//h:p[@class='lead']"), "It is the memory.");
    cr_expect_str_eq(page_text(&p, "//h:code"), "throng scale --model </title><script>alert(1)</script>&\"'" NONE NONE);
    page_free(&p);
    th_scale_fini(&scale);
}

static void expect_scale_headline(const th_scale *scale, const char *headline)
{
    web_page p = scale_page(scale, "throng scale");
    cr_expect_str_eq(page_text(&p, "//h:p[@class='headline']"), headline);
    page_free(&p);
}

Test(page, scale_has_no_headline_that_the_measurement_does_not_carry)
{
    th_scale scale = made_up_scale(0.0002);
    th_scale_point *last = &scale.points[POINTS - 2];
    expect_scale_headline(&scale,
                          "11.87 times as fast on 16 threads as on 1 (74 % [67, 89] efficiency), limited by memory");
    scale.bottleneck.kind = TH_BOTTLENECK_EXTERNAL_LOAD;
    expect_scale_headline(&scale, "Disturbed from outside: 11.87 times as fast on 16 threads as on 1 (74 % [67, 89] "
                                  "efficiency)");
    last->efficiency = 2.12;
    expect_scale_headline(&scale, "Disturbed from outside: The speed-up is impossible: the first point was disturbed");
    th_scale_fini(&scale);
}

Test(page, scale_of_many_curves_has_a_cell_for_each)
{
    static const char figure[] = "Crowd and grain, scheduler work-stealing";
    th_scale scale = made_up_scale(0.0002);
    free(scale.curves);
    scale.curves = calloc(POINTS, sizeof *scale.curves);
    scale.curve_count = POINTS;
    for (uint32_t i = 0; i < POINTS; i++)
        scale.curves[i] =
            (th_scale_curve){.characters = i < 3 ? 100 : 1000, .grain = 1 + i % 3, .first = i, .count = 1};
    web_page p = scale_page(&scale, "");
    expect_clean(&p);
    cr_expect_eq(page_count(&p, "//s:rect[starts-with(@class, 'cell')]"), POINTS);
    for (int i = 1; i < POINTS; i++) {
        double here[2], before[2];
        for (int a = 0; a < 2; a++) {
            numbers_of(&p, figure, "cell", i, a ? "y" : "x", &before[a], 1);
            cr_assert_eq(numbers_of(&p, figure, "cell", i + 1, a ? "y" : "x", &here[a], 1), 1);
        }
        cr_expect(i == 3 ? here[1] > before[1] && here[0] < before[0] : here[1] <= before[1] && here[0] > before[0]);
    }
    cr_expect_eq(page_count(&p, "//h:figure[.//s:rect[starts-with(@class, 'cell')]]//s:text[@class='tick']"), 2 + 3);
    page_free(&p);
    th_scale_fini(&scale);
}

Test(page, scale_without_a_good_point_has_no_plots_and_says_why)
{
    th_scale scale = made_up_scale(0.0002);
    for (uint32_t i = 0; i < POINTS; i++) {
        snprintf(scale.report.rows[i].failure, sizeof scale.report.rows[i].failure, "wrong %u " HOSTILE, i);
        scale.points[i] = (th_scale_point){.threads = 1u << i};
    }
    web_page p = scale_page(&scale, "");
    expect_clean(&p);
    cr_expect_eq(page_count(&p, "//s:svg"), 0);
    cr_expect(strstr(page_text(&p, "//h:p[@class='headline']"), "6 of 6 entries failed"), "%s",
              page_text(&p, "//h:p[@class='headline']"));
    cr_expect_eq(page_count(&p, "//h:section[h:h2='Failed']//h:tbody/h:tr"), POINTS);
    page_free(&p);
    th_scale_fini(&scale);
}

Test(page, scale_with_a_first_point_that_failed_has_no_number_that_is_none)
{
    th_scale scale = made_up_scale(0.0002);
    strcpy(scale.report.rows[0].failure, "wrong");
    scale.points[0] = (th_scale_point){.threads = 1};
    for (uint32_t i = 1; i < POINTS; i++)
        scale.points[i].speed_up = scale.points[i].efficiency = scale.points[i].karp_flatt = (double)NAN;
    web_page p = scale_page(&scale, "");
    expect_clean(&p);
    page_free(&p);
    th_scale_fini(&scale);
}

/* ---- ranks ---- */

/* Alone a frame takes 1000 us; two ranks take 650, of which the bare barrier has 10. */
static th_rank_scaling made_up_ranks(void)
{
    static const double stages_ns[2][TH_RANK_STAGE_COUNT] = {{1e6, 11e5, 1e3, 1e5}, {650e3, 9e5, 1e4, 2e5}};
    th_rank_scaling s = {
        .point_count = 2, .rounds = 2, .rounds_done = 2, .frames = 1, .ranks = 2, .threads = 1, .has_gather = true};
    cr_assert_eq(th_rank_scaling_init(&s, (uint32_t[]){1, 2}, &err), TH_OK, "%s", err.text);
    for (uint32_t i = 0; i < 2; i++) {
        th_rank_point *p = &s.points[i];
        p->characters = 100;
        p->bones = 5000;
        for (uint32_t f = 0; f < 2; f++) {
            for (int stage = 0; stage < TH_RANK_STAGE_COUNT; stage++)
                th_samples_add(&p->stages[stage], stages_ns[i][stage]);
            for (uint32_t r = 0; r <= i; r++)
                p->poses_ns[f * (i + 1) + r] = 1e6 / (i + 1);
        }
    }
    strcpy(s.hosts[1], HOSTILE);
    cr_assert(th_rank_scaling_analyze(&s));
    return s;
}

static web_page ranks_page(const th_rank_scaling *scaling)
{
    web_page p = page_begin();
    cr_assert(th_rank_scaling_page(scaling, "mpirun " HOSTILE, p.file));
    page_read(&p);
    expect_clean(&p);
    return p;
}

Test(page, ranks_have_curves_where_the_figures_are)
{
    static const struct {
        const char *figure;
        int mark;
        double ranks, y, scale;
    } marks[] = {
        {"Speed-up", 1, 1, 1, 10},           {"Speed-up", 2, 2, 1000. / 650, 10},
        {"Efficiency", 1, 1, 100, 200},      {"Efficiency", 2, 2, 100 * 1000. / 1300, 200},
        {"Time of a frame", 2, 2, 0.65, 10}, {"Time of a frame", 8, 2, 0.2, 10},
    };
    th_rank_scaling s = made_up_ranks();
    web_page p = ranks_page(&s);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        double point[2];
        cr_assert_eq(numbers_of(&p, marks[i].figure, "mark", marks[i].mark, "d", point, 2), 2);
        expect_near(value_at(&p, marks[i].figure, false, false, point[0]), marks[i].ranks, 10);
        expect_near(value_at(&p, marks[i].figure, true, false, point[1]), marks[i].y, marks[i].scale);
    }
    cr_expect_str_eq(page_text(&p, "//h:p[@class='headline']"),
                     "1.54 times as fast on 2 ranks as on 1 (77 % efficiency)");
    cr_expect_eq(page_count(&p, "//s:svg"), 3);
    page_free(&p);
    s.is_weak = true;
    p = ranks_page(&s);
    cr_expect_str_eq(page_text(&p, "//h:p[@class='headline']"),
                     "1.54 times as many characters a second on 2 ranks as on 1 (77 % efficiency)");
    page_free(&p);
    th_rank_scaling_fini(&s);
}

Test(page, of_ranks_of_which_one_was_lost_is_called_partial)
{
    th_rank_scaling s = made_up_ranks();
    s.rounds_done = 1;
    cr_assert(th_rank_scaling_analyze(&s));
    web_page p = ranks_page(&s);
    cr_expect(strstr(page_text(&p, "//h:p[@class='headline']"), "Partial, 1 of 2 rounds: 1.54 times"));
    page_free(&p);
    s.rounds_done = 0;
    p = ranks_page(&s);
    cr_expect_str_eq(page_text(&p, "//h:p[@class='headline']"), "Partial, 0 of 2 rounds");
    cr_expect_eq(page_count(&p, "//s:svg"), 0);
    page_free(&p);
    th_rank_scaling_fini(&s);
}

/* ---- stress ---- */

enum { FRAMES = 1000 };

/* 67,000 characters on one thread: 900 frames of 12 to 15 ms, 99 of 17, one of a second. th_stress_fini. */
static th_stress made_up_stress(void)
{
    th_stress stress = {.points = calloc(1, sizeof *stress.points),
                        .point_count = 1,
                        .budget_ns = 16.6e6,
                        .frames = FRAMES,
                        .searched = true,
                        .headline = "67,000 characters hold it " HOSTILE};
    cr_assert_eq(th_report_init(&stress.report, 1, FRAMES, &err), TH_OK);
    stress.report.interference = (th_interference){0};
    th_row *row = &stress.report.rows[0];
    th_stress_point *p = &stress.points[0];
    strcpy(row->name, "stress/threads:1");
    row->threads = 1;
    row->time_unit = "ms";
    for (int f = 0; f < FRAMES; f++) {
        th_samples_add(&row->real_ns, f < 900 ? 12e6 + 3e6 * f / 900 : f < 999 ? 17e6 : 1e9);
        th_samples_add(&row->cpu_ns, 12e6);
    }
    *p = (th_stress_point){
        .threads = 1,
        .characters = 67000,
        .meets_budget = true,
        .ticks = {.scheduled = FRAMES + 159, .frames = FRAMES, .late = 100, .missed = 159, .longest_ns = 1e9},
    };
    const th_capacity_ticks none = {.scheduled = 100, .frames = 100},
                            half = {.scheduled = 100, .frames = 50, .late = 50, .missed = 50};
    p->times = th_samples_stats(&row->real_ns);
    p->unpreempted = th_samples_stats(&(th_samples){0});
    p->search = (th_capacity){.items = 67000, .probe_count = 3, .first_failing = 70000};
    p->search.probes[0] = (th_capacity_probe){TH_CAPACITY_BRACKET, 16, none, true, 1e4, 1e4};
    p->search.probes[1] = (th_capacity_probe){TH_CAPACITY_SEARCH, 70000, half, false, 16e6, 20e6};
    p->search.probes[2] = (th_capacity_probe){TH_CAPACITY_SEARCH, 60000, none, true, 12e6, (double)NAN};
    p->search.confirmed = (th_capacity_probe){TH_CAPACITY_CONFIRM, 67000, p->ticks, true, 13e6, 17e6};
    return stress;
}

static web_page stress_page(const th_stress *stress)
{
    web_page p = page_begin();
    cr_assert(th_stress_page(stress, "throng stress", p.file));
    page_read(&p);
    return p;
}

Test(page, stress_shows_every_frame_or_says_how_many_it_does_not)
{
    static const char figure[] = "Frame times of 67,000 characters";
    th_stress stress = made_up_stress();
    web_page p = stress_page(&stress);
    char path[256];
    uint32_t shown = 0, late = 0;
    expect_clean(&p);
    snprintf(path, sizeof path, "//h:figure[.//h:h3='%s']//s:rect", figure);
    const int bars = page_count(&p, path);
    cr_assert_gt(bars, 10);
    for (int b = 1; b <= bars; b++) {
        double from, to, left, width;
        unsigned frames;
        snprintf(path, sizeof path, "(//h:figure[.//h:h3='%s']//s:rect)[%d]/s:title", figure, b);
        cr_assert_eq(sscanf(page_text(&p, path), "%lf to %lf ms: %u", &from, &to, &frames), 3);
        snprintf(path, sizeof path, "(//h:figure[.//h:h3='%s']//s:rect)[%d]/@x", figure, b);
        left = atof(page_text(&p, path));
        snprintf(path, sizeof path, "(//h:figure[.//h:h3='%s']//s:rect)[%d]/@width", figure, b);
        width = atof(page_text(&p, path));
        expect_near(value_at(&p, figure, false, false, left), from, 10);
        expect_near(value_at(&p, figure, false, false, left + width), to, 10);
        shown += frames;
        late += from > 16.6 ? frames : 0;
    }
    cr_expect_eq(shown, FRAMES - 1);
    cr_expect_eq(late, 99);
    snprintf(path, sizeof path, "//h:figure[.//h:h3='%s']//h:p", figure);
    cr_expect(strstr(page_text(&p, path), "1 more are beyond the axis, up to 1000 ms"), "%s", page_text(&p, path));
    page_free(&p);
    th_stress_fini(&stress);
}

/* As many in the bars of a colour. */
static uint32_t frames_in(const web_page *p, const char *figure, const char *class)
{
    char path[256];
    unsigned sum = 0, frames;
    for (int b = 1;; b++) {
        snprintf(path, sizeof path, "(//h:figure[.//h:h3='%s']//s:rect[@class='%s'])[%d]/s:title", figure, class, b);
        if (page_count(p, path) == 0)
            return sum;
        cr_assert_eq(sscanf(page_text(p, path), "%*f to %*f ms: %u", &frames), 1);
        sum += frames;
    }
}

/* Just below and just above it. */
Test(page, stress_parts_frames_at_the_budget)
{
    static const double budgets_ns[] = {16.6e6, 16.71e6, 0.123e6, 1e9};
    for (size_t i = 0; i < sizeof budgets_ns / sizeof *budgets_ns; i++) {
        th_stress stress = made_up_stress();
        stress.budget_ns = budgets_ns[i];
        uint32_t late = 0;
        for (int f = 0; f < FRAMES; f++) {
            double *ns = &stress.report.rows[0].real_ns.values[f];
            *ns = budgets_ns[i] + (f % 10 - 6.0) * 0.001e6; /* 6 of 10 below, 1 on it, 3 above */
            late += *ns > budgets_ns[i];
        }
        stress.points[0].times = th_samples_stats(&stress.report.rows[0].real_ns);
        web_page p = stress_page(&stress);
        expect_clean(&p);
        cr_expect_eq(late, 300);
        cr_expect_eq(frames_in(&p, "Frame times of 67,000 characters", "mark i1"), 300);
        cr_expect_eq(frames_in(&p, "Frame times of 67,000 characters", "mark i0"), 700);
        page_free(&p);
        th_stress_fini(&stress);
    }
}

Test(page, stress_shows_the_budget_the_p99_and_what_was_tried)
{
    static const char figure[] = "Frame times of 67,000 characters";
    th_stress stress = made_up_stress();
    web_page p = stress_page(&stress);
    double budget[2], p99[2], probe[2];
    cr_assert_eq(numbers_of(&p, figure, "rule", 1, "d", budget, 2), 2);
    cr_assert_eq(numbers_of(&p, figure, "rule", 2, "d", p99, 2), 2);
    expect_near(value_at(&p, figure, false, false, budget[0]), 16.6, 10);
    expect_near(value_at(&p, figure, false, false, p99[0]), 17, 10);
    /* One of those tried is far off, one has no p99. */
    cr_assert_eq(numbers_of(&p, "The search", "mark", 1, "d", probe, 2), 2);
    cr_expect_eq(numbers_of(&p, "The search", "mark", 2, "d", p99, 2), 0);
    cr_expect_eq(numbers_of(&p, "The search", "hollow", 1, "d", p99, 2), 0);
    expect_near(value_at(&p, "The search", true, false, probe[1]), 20, 10);
    cr_expect(strstr(page_text(&p, "//h:p[@class='headline']"), "67,000 characters hold it </title><script>"));
    page_free(&p);
    th_stress_fini(&stress);
}

/* The largest of every few, where there are many frames. */
Test(page, stress_shows_the_error_over_time)
{
    static const uint32_t counts[] = {5, 1600};
    th_stress stress = made_up_stress();
    web_page without = stress_page(&stress);
    cr_expect_eq(page_count(&without, "//h:figure[.//h:h3='Error on screen']"), 0);
    page_free(&without);
    for (int i = 0; i < 2; i++) {
        th_stress_point *p = &stress.points[0];
        const uint32_t count = counts[i], shown = count > 400 ? 400 : count;
        stress.error_every = 60;
        p->error_count = count;
        p->errors = calloc(count, sizeof *p->errors);
        for (uint32_t e = 0; e < count; e++)
            p->errors[e] = (th_stress_error){60 * e, 0.1, 0.2, e == 3 ? 0.8 : 0.4};
        web_page page = stress_page(&stress);
        double places[2 * 401];
        expect_clean(&page);
        cr_assert_eq(numbers_of(&page, "Error on screen", "line", 1, "d", places, 2 * 401), 2 * (int)shown);
        const uint32_t peak = i == 0 ? 3 : 0, last = shown - 1;
        expect_near(value_at(&page, "Error on screen", true, false, places[2 * peak + 1]), 0.8, 10);
        expect_near(value_at(&page, "Error on screen", true, false, places[2 * last + 1]), 0.4, 10);
        expect_near(value_at(&page, "Error on screen", false, false, places[2 * last]), i == 0 ? 4 : 1596,
                    i == 0 ? 4 : 1596);
        page_free(&page);
        free(p->errors);
    }
    stress.points[0].errors = NULL;
    th_stress_fini(&stress);
}

/* ---- bench ---- */

static web_page bench_page(const th_report *report)
{
    web_page p = page_begin();
    cr_assert(th_bench_page(report, "throng bench", p.file));
    page_read(&p);
    return p;
}

/* Poses, their floor, and interpolations. th_report_fini. */
static th_report made_up_bench(void)
{
    static const char *const names[] = {"pose/scalar/f32",       "pose/avx2/f32",     "pose/tutorial",
                                        "limit/write_cached",    "interp/slerp/avx2", "interp/step/avx2",
                                        "jobs/a:1/work-stealing"};
    th_report report = report_of(sizeof names / sizeof *names, 1, 20, steady);
    for (uint32_t r = 0; r < report.row_count; r++) {
        th_row *row = &report.rows[r];
        strcpy(row->name, names[r]);
        for (uint32_t i = 0; i < row->real_ns.count; i++)
            row->real_ns.values[i] *= (r == 1 ? 0.1 : r == 3 ? 0.05 : 1) * (1 + 0.2 * (i % 3));
        row->overrides = r == 5;
        row->error_vs_source = 0.125;
    }
    report.rows[4].max_error = 0; /* which a logarithmic axis cannot show */
    report.rows[6].characters = report.rows[6].bones = 0;
    report.rows[6].checked = false;
    return report;
}

Test(page, bench_shows_the_cost_of_each_entry)
{
    static const char figure[] = "Poses: from keys to palettes";
    th_report report = made_up_bench();
    web_page p = bench_page(&report);
    expect_clean(&p);
    for (uint32_t r = 0; r < 4; r++) {
        double point[2], interval[4];
        const double ns = th_samples_stats(&report.rows[r].real_ns).median / 520;
        const th_interval wanted = th_median_interval(&report.rows[r].real_ns);
        cr_assert_eq(numbers_of(&p, figure, "mark", (int)r + 1, "d", point, 2), 2);
        cr_assert_eq(numbers_of(&p, figure, "interval", (int)r + 1, "d", interval, 3), 3); /* M low y H high */
        expect_near(value_at(&p, figure, false, true, point[0]) / ns, 1, 5);
        expect_near(value_at(&p, figure, false, true, interval[0]) * 520 / wanted.low, 1, 5);
        expect_near(value_at(&p, figure, false, true, interval[2]) * 520 / wanted.high, 1, 5);
    }
    cr_expect(strstr(page_text(&p, "//h:p[@class='headline']"), "pose/avx2/f32: "), "the quickest");
    cr_expect(strstr(page_text(&p, "//h:p[@class='headline']"), "10 times as fast as the tutorials"), "%s",
              page_text(&p, "//h:p[@class='headline']"));
    cr_expect_eq(page_count(&p, "//h:figure[.//h:h3='jobs/a:1']"), 1);
    page_free(&p);
    th_report_fini(&report);
}

Test(page, bench_shows_errors_from_what_the_file_says)
{
    static const char figure[] = "Error against cost";
    th_report report = made_up_bench();
    web_page p = bench_page(&report);
    double point[2];
    cr_assert_eq(numbers_of(&p, figure, "mark", 4, "d", point, 2), 2, "three that play what the file says, and step");
    expect_near(value_at(&p, figure, true, true, point[1]) / 0.125, 1, 20);
    cr_expect_eq(numbers_of(&p, figure, "mark", 5, "d", point, 2), 0, "no error, no point");
    cr_expect_eq(page_count(&p, "//h:figure[.//h:h3='Error against cost']//s:text[@class='key']"), 2,
                 "as authored, step");
    page_free(&p);
    th_report_fini(&report);
}

/* As measured: most kernels lie within half a decade, and curves beside them in the errors of nlerp and cubic. */
Test(page, bench_names_all_poses_among_their_errors)
{
    static const struct {
        const char *name;
        double ns, error;
    } entries[] = {
        {"pose/scalar/f32", 17.05, 8.2e-5},  {"pose/scalar/quat", 28.46, 1.5e-3},  {"pose/sse4/f32", 4.98, 8.2e-5},
        {"pose/sse4/quat", 9.36, 1.5e-3},    {"pose/avx2/f32", 3.05, 8.2e-5},      {"pose/avx2/quat", 2.56, 1.5e-3},
        {"pose/avx512/f32", 2.32, 8.2e-5},   {"pose/avx512/quat", 2.22, 1.5e-3},   {"pose/exact", 95.3, 1.7e-7},
        {"pose/tutorial", 202.9, 7.2e-7},    {"limit/write_cached", 1.21, 0},      {"interp/nlerp/sse4", 4.94, 2.8e-4},
        {"interp/nlerp/avx2", 3.04, 2.8e-4}, {"interp/nlerp/avx512", 2.7, 2.8e-4}, {"interp/cubic/sse4", 5.43, 7.7e-3},
        {"interp/cubic/avx2", 3.51, 7.7e-3}, {"interp/cubic/avx512", 3.0, 7.7e-3}, {"interp/step/avx2", 3.03, 0.13},
    };
    enum { COUNT = sizeof entries / sizeof *entries };
    th_report report = report_of(COUNT, 1, 20, steady);
    for (uint32_t r = 0; r < COUNT; r++) {
        th_row *row = &report.rows[r];
        strcpy(row->name, entries[r].name);
        for (uint32_t i = 0; i < row->real_ns.count; i++)
            row->real_ns.values[i] = (double)row->bones * entries[r].ns;
        row->checked = r != 10;
        row->overrides = r > 10;
        row->max_error = row->error_vs_source = entries[r].error;
    }
    web_page p = bench_page(&report);
    for (uint32_t r = 0; r < 10; r++) {
        char path[160];
        snprintf(path, sizeof path, "//h:figure[.//h:h3='Error against cost']//s:text[@class='label'][.='%s']",
                 entries[r].name + strlen("pose/"));
        cr_expect_eq(page_count(&p, path), 1, "%s", entries[r].name);
    }
    page_free(&p);
    th_report_fini(&report);
}

Test(page, bench_of_many_entries_with_any_name_is_well_formed)
{
    enum { MANY = 200 };
    th_report report = report_of(MANY, 1, 9, steady);
    for (uint32_t r = 0; r < MANY; r++)
        snprintf(report.rows[r].name, sizeof report.rows[r].name, "%.*s/%u/" HOSTILE, (int)(r % 9), "ab<c&d]]>", r);
    strcpy(report.context.host, HOSTILE);
    strcpy(report.context.cpu, "]]><CPU>\xC3");
    json_object_set_new(report.scene, "hostile", json_string("<i>&amp;"));
    web_page p = bench_page(&report);
    expect_clean(&p);
    cr_expect_eq(page_count(&p, "//s:path[starts-with(@class, 'mark')]/s:title"), MANY);
    cr_expect_eq(page_count(&p, "//h:td[.='<i>&amp;amp;']"), 0);
    cr_expect_eq(page_count(&p, "//h:tr[h:th='scene.hostile']/h:td[contains(., '<i>&')]"), 1);
    page_free(&p);
    th_report_fini(&report);
}

Test(page, dry_run_of_bench_has_no_plots)
{
    th_report report = made_up_bench();
    report.is_dry_run = true;
    for (uint32_t r = 0; r < report.row_count; r++)
        report.rows[r].real_ns.count = report.rows[r].cpu_ns.count = 0;
    web_page p = bench_page(&report);
    expect_clean(&p);
    cr_expect_eq(page_count(&p, "//s:svg"), 0);
    cr_expect(strstr(page_text(&p, "//h:p[@class='headline']"), "A dry run"));
    page_free(&p);
    th_report_fini(&report);
}

Test(page, that_cannot_be_written_says_so)
{
    char room[1000];
    th_report report = made_up_bench();
    FILE *file = fmemopen(room, sizeof room, "w");
    setvbuf(file, NULL, _IONBF, 0);
    cr_expect_not(th_bench_page(&report, "", file));
    fclose(file);
    th_report_fini(&report);
}

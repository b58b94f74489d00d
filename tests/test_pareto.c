/* Which settings are on the front of milliseconds against pixels, and how that is said. */
#include "bench/report/pareto.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct setting {
    const char *name;
    double ms, px;
    bool is_front;
} setting;

static const setting settings[] = {
    {"error/full", 8, 0, true},        {"error/share:120", 3, 0.3, true},
    {"error/share:60", 2, 0.45, true}, {"error/share:60_again", 2, 0.45, true},
    {"error/poor", 2.5, 0.45, false},  {"error/worse", 3, 0.6, false},
    {"error/share:30", 1, 0.9, true},  {"error/too_far", 1.5, 2, false},
};
enum { COUNT = sizeof settings / sizeof *settings };

static th_report report_of(const setting *s, uint32_t count)
{
    th_report report = {.rows = calloc(count + 2u, sizeof *report.rows), .row_count = count + 2};
    for (uint32_t r = 0; r < count; r++) {
        strcpy(report.rows[r].name, s[r].name);
        report.rows[r].own = json_pack("{s:f, s:f}", "pose_ms", s[r].ms, "error_px_p99", s[r].px);
    }
    strcpy(report.rows[count].name, "pose/avx2/f32");
    strcpy(report.rows[count + 1].name, "error/failed");
    strcpy(report.rows[count + 1].failure, "it is wrong");
    report.rows[count + 1].own = json_pack("{s:f, s:f}", "pose_ms", 0.1, "error_px_p99", 0.1);
    return report;
}

static void end(th_report *report)
{
    for (uint32_t r = 0; r < report->row_count; r++)
        json_decref(report->rows[r].own);
    free(report->rows);
}

Test(pareto, front_is_what_nothing_beats)
{
    th_report report = report_of(settings, COUNT);
    for (uint32_t r = 0; r < COUNT; r++)
        cr_expect_eq(th_pareto_is_front(&report, &report.rows[r]), settings[r].is_front, "%s", settings[r].name);
    for (uint32_t r = COUNT; r < COUNT + 2; r++)
        cr_expect_not(th_pareto_is_front(&report, &report.rows[r]));
    end(&report);
}

Test(pareto, best_is_the_fastest_within_the_pixels)
{
    static const struct {
        double px;
        int best;
    } cases[] = {{0, 0}, {0.29, 0}, {0.3, 1}, {0.5, 2}, {0.9, 6}, {100, 6}};
    th_report report = report_of(settings, COUNT);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(th_pareto_best(&report, cases[i].px), &report.rows[cases[i].best], "%g", cases[i].px);
    end(&report);
    report = report_of(settings + 5, 3);
    cr_expect_null(th_pareto_best(&report, TH_PARETO_PX));
    end(&report);
}

/* To be freed. */
static char *written(const th_report *report, bool is_plot)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (is_plot)
        th_pareto_draw(report, file);
    else
        th_pareto_summarize(report, TH_FORMAT_TEXT, file);
    fclose(file);
    return text;
}

static uint32_t count_of(const char *text, const char *part)
{
    uint32_t count = 0;
    for (; (text = strstr(text, part)); text++)
        count++;
    return count;
}

Test(pareto, is_written_and_drawn)
{
    th_report report = report_of(settings, COUNT), none = report_of(settings, 0), coarse = report_of(settings + 5, 3);
    char *line = written(&report, false), *plot = written(&report, true), *empty = written(&none, false),
         *blank = written(&none, true), *missed = written(&coarse, false);
    cr_expect_str_eq(line, "Best at half a pixel: share:60, 2 ms to pose a frame, p99 0.45 pixels.\n");
    cr_expect_str_eq(missed, "No setting is within half a pixel (p99).\n");
    cr_expect_str_eq(empty, "");
    cr_expect_str_eq(blank, "");
    cr_expect_eq(count_of(plot, "<title>error/"), COUNT);
    cr_expect_eq(count_of(plot, "class=\"mark i1\""), 5 + 1); /* and its key */
    cr_expect_eq(count_of(plot, "class=\"mark i0\""), 3 + 1);
    cr_expect_not_null(strstr(plot, "half a pixel"));
    cr_expect_not_null(strstr(plot, "Best at half a pixel: share:60"));
    cr_expect_null(strstr(plot, "nan"));
    free(line);
    free(plot);
    free(empty);
    free(blank);
    free(missed);
    end(&report);
    end(&none);
    end(&coarse);
}

/* Which setting is the best of milliseconds against pixels, and how that is said. */
#include "bench/report/pareto.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct setting {
    const char *name;
    double ms, px;
} setting;

static const setting settings[] = {
    {"error/full", 8, 0},        {"error/share:120", 3, 0.3},
    {"error/share:60", 2, 0.45}, {"error/share:60_again", 2, 0.45},
    {"error/poor", 2.5, 0.45},   {"error/worse", 3, 0.6},
    {"error/share:30", 1, 0.9},  {"error/too_far", 1.5, 2},
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

Test(pareto, is_written)
{
    static const struct {
        uint32_t first, count;
        const char *text;
    } cases[] = {
        {0, COUNT, "Best at half a pixel: share:60, 2 ms to pose a frame, p99 0.45 pixels.\n"},
        {5, 3, "No setting is within half a pixel (p99).\n"},
        {0, 0, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[128] = "";
        FILE *file = fmemopen(text, sizeof text, "w");
        th_report report = report_of(settings + cases[i].first, cases[i].count);
        th_pareto_summarize(&report, TH_FORMAT_TEXT, file);
        fclose(file);
        cr_expect_str_eq(text, cases[i].text);
        end(&report);
    }
}

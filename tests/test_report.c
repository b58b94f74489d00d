/* Reports on made-up figures: the table for other programs, and what makes figures doubtful. */
#include <throng/bench/bench.h>
#include <throng/bench/report.h>
#include <throng/core/json.h>

#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static th_error err;

/* A quiet machine, and `rows` steady rows of so many samples each, a millisecond give or take 0.1 %. */
static th_report report_of(uint32_t rows, uint32_t samples)
{
    th_report report;
    cr_assert_eq(th_report_init(&report, rows, samples, &err), TH_OK, "%s", err.text);
    report.context = (th_context){.cpus = {.online = 4, .affinity = 4, .usable = 4}, .clock_step_ns = 20};
    report.interference = (th_interference){0};
    report.precision = 0.01;
    for (uint32_t r = 0; r < rows; r++) {
        th_row *row = &report.rows[r];
        snprintf(row->name, sizeof row->name, "row/%u", r);
        row->time_unit = "us";
        row->threads = row->iterations = row->iterations_timed_at_once = 1;
        for (uint32_t i = 0; i < samples; i++) {
            th_samples_add(&row->real_ns, 1e6 + 1e3 * (i * 7 % 3 - 1.0));
            th_samples_add(&row->cpu_ns, 1e6);
        }
    }
    return report;
}

/* ---- warnings ---- */

/* What is said, a line for each; but for what an unoptimised build says of itself. */
static const char *warnings_of(const th_report *report)
{
    static char text[4096];
    size_t index;
    const json_t *warning;
    json_t *warnings = th_report_warnings(report);
    text[0] = '\0';
    cr_assert(json_is_array(warnings));
    json_array_foreach(warnings, index, warning) if (!strstr(json_string_value(warning), "assertions"))
        th_append(text, sizeof text, "%s\n", json_string_value(warning));
    json_decref(warnings);
    return text;
}

static void expect_warning(const th_report *report, const char *wanted)
{
    cr_expect_str_eq(warnings_of(report), wanted);
}

Test(warnings, quiet_machine_and_steady_figures_leave_none)
{
    th_report report = report_of(3, 20);
    expect_warning(&report, "");
    th_report_fini(&report);
}

Test(warnings, company_on_the_machine_is_named)
{
    th_report report = report_of(1, 20);
    report.interference = (th_interference){.external_cpu_load = 0.3, .steal_cpu_load = 0.12, .throttled_s = 1.5};
    expect_warning(&report, "external CPU load: other programs used 0.30 CPUs\n"
                            "steal: the hypervisor withheld 0.12 CPUs\n"
                            "the cgroup's quota throttled threads for 1.50 s\n");
    report.interference = (th_interference){.external_cpu_load = 0.05, .steal_cpu_load = 0.01};
    expect_warning(&report, "");
    report.interference = (th_interference){.external_cpu_load = 0.051, .steal_cpu_load = 0.011};
    expect_warning(&report, "external CPU load: other programs used 0.05 CPUs\n"
                            "steal: the hypervisor withheld 0.01 CPUs\n");
    report.interference = (th_interference){.external_cpu_load = nan(""), .steal_cpu_load = nan("")};
    report.context.load[0] = 2;
    expect_warning(&report, "the load average was 2.0 before, and the external CPU load is unknown\n");
    report.context.load[0] = 0.2;
    expect_warning(&report, "");
    th_report_fini(&report);
}

Test(warnings, low_priority_is_named)
{
    th_report report = report_of(1, 20);
    report.context.nice = -5;
    expect_warning(&report, "");
    report.context.nice = 10;
    expect_warning(&report, "nice 10: programs without it go first\n");
    th_report_fini(&report);
}

Test(warnings, clock_that_changes_is_named)
{
    th_report report = report_of(1, 20);
    strcpy(report.context.governor, "performance");
    report.context.boost = TH_BOOST_OFF;
    expect_warning(&report, "");
    strcpy(report.context.governor, "schedutil");
    report.context.boost = TH_BOOST_ON;
    expect_warning(&report, "the clock changes with the load (governor schedutil)\n"
                            "the clock changes with heat and with how many cores are busy (boost is on)\n");
    th_report_fini(&report);
}

Test(warnings, too_many_threads_are_named)
{
    th_report report = report_of(2, 20);
    report.rows[1].threads = 9;
    expect_warning(&report, "9 threads share 4 usable CPUs, so they take turns\n");
    th_report_fini(&report);
}

Test(warnings, few_samples_are_named)
{
    th_report report = report_of(2, 8);
    expect_warning(&report, "2 entries have fewer than 9 repetitions, too few to compare\n");
    th_report_fini(&report);
}

Test(warnings, medians_that_are_not_known_are_named)
{
    th_report report = report_of(3, 20);
    for (uint32_t i = 0; i < 20; i++) {
        report.rows[1].real_ns.values[i] *= i % 2 ? 1 : 1.03;
        report.rows[2].real_ns.values[i] *= i % 2 ? 1 : 1.3;
    }
    const char *text = warnings_of(&report);
    cr_expect(strstr(text, "2 of 3 medians have a 95 % CI wider than +-1 % (worst: row/2, +-13 %)"), "%s", text);
    for (uint32_t i = 0; i < 20; i++)
        report.rows[2].real_ns.values[i] *= i % 2 ? 1 : 20;
    text = warnings_of(&report);
    cr_expect(strstr(text, "worst: row/2, +-93 %"), "%s", text);
    report.precision = 0; /* nobody asked for one: 5 % */
    text = warnings_of(&report);
    cr_expect(strstr(text, "1 of 3 medians has a 95 % CI wider than +-5 %"), "%s", text);
    th_report_fini(&report);
}

Test(warnings, coarse_clock_is_named)
{
    th_report report = report_of(2, 20);
    report.context.clock_step_ns = 15000;
    report.rows[0].iterations = report.rows[0].iterations_timed_at_once = 2;
    expect_warning(&report, "the clock's resolution of 15000 ns is too coarse for 1 entry (worst: row/1)\n");
    report.rows[0].iterations_timed_at_once = 1; /* in two laps, each timed on its own */
    expect_warning(&report, "the clock's resolution of 15000 ns is too coarse for 2 entries (worst: row/0)\n");
    th_report_fini(&report);
}

Test(warnings, drift_is_named)
{
    th_report report = report_of(2, 40);
    for (uint32_t i = 20; i < 40; i++)
        report.rows[1].real_ns.values[i] *= 1.025;
    const char *text = warnings_of(&report);
    cr_expect(strstr(text, "1 entry was not stable: the second half of the repetitions of row/1 differs by 2.5 %"),
              "%s", text);
    th_report_fini(&report);
}

Test(warnings, rows_that_failed_or_were_not_timed_are_left_alone)
{
    th_report report = report_of(2, 5);
    report.rows[0].real_ns.count = 0;
    strcpy(report.rows[1].failure, "wrong");
    expect_warning(&report, "");
    report.is_dry_run = true;
    report.interference.external_cpu_load = 2;
    expect_warning(&report, "");
    th_report_fini(&report);
}

/* The system's ticks are coarse. */
Test(interference, is_known_after_a_while_and_not_before)
{
    const th_interference_mark begin = th_interference_begin();
    const th_interference soon = th_interference_end(&begin);
    cr_expect(isnan(soon.external_cpu_load) && isnan(soon.steal_cpu_load));
    nanosleep(&(struct timespec){.tv_nsec = 250000000}, NULL);
    const th_interference later = th_interference_end(&begin);
    cr_expect(later.external_cpu_load >= 0 && later.external_cpu_load < 1e6, "%g", later.external_cpu_load);
    cr_expect(later.steal_cpu_load >= 0 && later.throttled_s >= 0);
}

/* ---- JSON ---- */

Test(report, median_says_how_well_it_is_known)
{
    th_report report = report_of(1, 20);
    report.rows[0].real_ns.values[3] = 9e6;
    json_t *document = th_report_json(&report);
    const json_t *row = json_array_get(json_object_get(document, "benchmarks"), 21);
    cr_expect_str_eq(json_string_value(json_object_get(row, "name")), "row/0_median");
    const th_interval interval = th_median_interval(&report.rows[0].real_ns);
    cr_expect_eq(json_real_value(json_object_get(row, "real_time_low")), interval.low / 1000);
    cr_expect_eq(json_real_value(json_object_get(row, "real_time_high")), interval.high / 1000);
    cr_expect_eq(json_real_value(json_object_get(row, "confidence")), 0.95);
    cr_expect_eq(json_integer_value(json_object_get(row, "outliers")), 1);
    cr_expect_str_eq(json_string_value(json_object_get(row, "interval_unit")), "repetition");
    json_decref(document);
    th_report_fini(&report);
}

/* Processes of 8, 8, 12 and 12 ms, whose repetitions are all alike: by hand, of log(8) and log(12). */
Test(report, median_of_several_processes_is_known_as_well_as_they_agree)
{
    static const double ms[] = {8, 8, 12, 12};
    th_report report = report_of(1, 40);
    th_row *entry = &report.rows[0];
    entry->process_count = 4;
    for (uint32_t i = 0; i < 40; i++) {
        entry->real_ns.values[i] = 1e6 * ms[i / 10];
        entry->ends[i / 10] = i + 1;
    }
    json_t *document = th_report_json(&report);
    const json_t *row = json_array_get(json_object_get(document, "benchmarks"), 41);
    const double half = 3.182446 * log(1.5) / 2 * sqrt(4 / 3.0) / 2, middle = sqrt(96);
    cr_expect_float_eq(json_real_value(json_object_get(row, "real_time_low")) / (1e3 * middle), exp(-half), 1e-6);
    cr_expect_float_eq(json_real_value(json_object_get(row, "real_time_high")) / (1e3 * middle), exp(half), 1e-6);
    cr_expect_str_eq(json_string_value(json_object_get(row, "interval_unit")), "process");
    json_decref(document);
    th_report_fini(&report);
}

/* ---- CSV ---- */

static char *csv_of(const th_report *report)
{
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    cr_assert(th_report_csv(report, file));
    fclose(file);
    return text;
}

/* Cell of a row (0: the headings), without quotes. */
static const char *cell_of(const char *text, int row, int column)
{
    static char cell[256];
    size_t used = 0;
    while (row-- > 0)
        text = strstr(text, "\r\n") + 2;
    for (bool quoted = false; column >= 0 && (quoted || *text != '\r'); text++) {
        quoted ^= *text == '"';
        if (!quoted && *text == ',')
            column--;
        else if (column == 0 && *text != '"')
            cell[used++] = *text;
    }
    cell[used] = '\0';
    return cell;
}

static void expect_cell(const char *text, int row, const char *column, const char *wanted)
{
    int c = 0;
    while (strcmp(cell_of(text, 0, c), column) != 0)
        cr_assert_lt(c++, 128, "no %s", column);
    cr_expect_str_eq(cell_of(text, row, c), wanted, "%s", column);
}

Test(report, csv_has_a_row_for_each_entry_with_all_there_is_to_say)
{
    th_report report = report_of(3, 5);
    report.rows[0].own = json_pack("{s:f, s:[i]}", "speed_up", 1.5, "long", 1);
    report.rows[1].checked = report.rows[1].moving = true;
    report.rows[1].max_error = 0.25;
    report.rows[1].palette_hash = 0xab;
    strcpy(report.rows[2].failure, "wrong, by \"far\"");
    report.scene = json_pack("{s:s, s:[]}", "sampling", "exact", "models");
    strcpy(report.context.cpu, "a CPU, or so");
    char *text = csv_of(&report);
    expect_cell(text, 1, "name", "row/0");
    expect_cell(text, 1, "median_ns", "1000000");
    expect_cell(text, 1, "min_ns", "999000");
    expect_cell(text, 1, "cpu_median_ns", "1000000");
    expect_cell(text, 1, "repetitions", "5");
    expect_cell(text, 1, "speed_up", "1.5");
    expect_cell(text, 2, "speed_up", "");
    expect_cell(text, 2, "palette_hash", "00000000000000ab");
    expect_cell(text, 2, "max_error", "0.25");
    expect_cell(text, 2, "moving", "1");
    expect_cell(text, 3, "error_message", "wrong, by far"); /* unquoted by cell_of */
    for (int row = 1; row <= 3; row++) {
        expect_cell(text, row, "cpu_model", "a CPU, or so");
        expect_cell(text, row, "scene_sampling", "exact");
        expect_cell(text, row, "usable_cpus", "4");
    }
    cr_expect_not(strstr(text, "nan"), "%s", text);
    cr_expect_not(strstr(text, "long"), "%s", text);
    free(text);
    th_report_fini(&report);
}

Test(report, csv_names_the_models_and_their_clips)
{
    th_report report = report_of(1, 5);
    report.scene = json_pack("{s:[{s:s, s:s}, {s:s, s:n}], s:i}", "models", "name", "fox.glb", "clip", "all", "name",
                             "human", "clip", "characters", 10);
    char *text = csv_of(&report);
    expect_cell(text, 1, "scene_models", "fox.glb; human");
    expect_cell(text, 1, "scene_clips", "all; none");
    expect_cell(text, 1, "scene_characters", "10");
    free(text);
    th_report_fini(&report);
}

/* ---- the summary of a bench run ---- */

/* Rows of the names, which take so many times a millisecond; the text that ends the report. */
static void expect_summary(const char *const names[], const double times[], uint32_t count, const char *wanted)
{
    char *text;
    size_t size;
    th_report report = report_of(count, 20);
    report.scene = json_pack("{s:[]}", "models");
    for (uint32_t r = 0; r < count; r++) {
        snprintf(report.rows[r].name, sizeof report.rows[r].name, "%s", names[r]);
        for (uint32_t i = 0; i < 20; i++)
            report.rows[r].real_ns.values[i] *= times[r];
    }
    FILE *file = open_memstream(&text, &size);
    cr_assert(th_bench_print(&report, TH_FORMAT_WIDE, file));
    fclose(file);
    cr_expect(strstr(text, wanted), "no \"%s\" in:\n%s", wanted, text);
    free(text);
    th_report_fini(&report);
}

/* A frame's calls and the smallest call; of other entries the first comparison that there is. */
Test(report, summary_without_poses_compares_schedulers)
{
    static const char *const names[] = {
        "jobs/wake:cold/work-stealing",    "jobs/wake:cold/openmp-guided",    "jobs/fork_join:2/serial",
        "jobs/fork_join:2/work-stealing",  "jobs/fork_join:2/openmp-guided",  "jobs/fork_join:2/openmp-static",
        "jobs/fork_join:16/work-stealing", "jobs/fork_join:16/openmp-guided", "jobs/frame:60hz/work-stealing",
        "jobs/frame:60hz/openmp-guided",   "jobs/frame:60hz/openmp-static"};
    static const double times[] = {1, 2, 0.1, 1.5, 3, 1, 1, 2, 0.5, 20, 0.5001};
    expect_summary(names, times, 11,
                   "\njobs/frame:60hz: work-stealing is fastest, 500.00 us/call; openmp-static takes 1.00 times as "
                   "long, which is not significant.\n"
                   "jobs/fork_join:2: openmp-static is fastest, 1000.00 us/call; work-stealing takes 1.50 times as "
                   "long.\nDoubt: ");
    expect_summary(
        names, times, 2,
        "\njobs/wake:cold: work-stealing is fastest, 1000.00 us/call; openmp-guided takes 2.00 times as long.\n"
        "Doubt: ");
    expect_summary(names + 2, times, 2, "\n\nDoubt: ");
}

/* Reports on made-up figures: what makes them doubtful. How all is said: test_documents. */
#include <bench/report.h>
#include <core/json.h>

#include <criterion/criterion.h>

#include <math.h>
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

/* What each of them says, all at once, is tests/golden/documents/bench/bench_doubtful.txt. */
Test(warnings, begin_where_they_should)
{
    th_report report = report_of(3, 20);
    expect_warning(&report, "");
    report.interference = (th_interference){.external_cpu_load = 0.05, .steal_cpu_load = 0.01};
    report.context.nice = -5;
    expect_warning(&report, "");
    report.interference = (th_interference){.external_cpu_load = 0.051, .steal_cpu_load = 0.011};
    expect_warning(&report, "external CPU load: other programs used 0.05 CPUs\n"
                            "steal: the hypervisor withheld 0.01 CPUs\n");
    report.interference = (th_interference){.external_cpu_load = nan(""), .steal_cpu_load = nan("")};
    report.context.load[0] = 0.2;
    expect_warning(&report, "");
    report.context.load[0] = 2;
    expect_warning(&report, "the load average was 2.0 before, and the external CPU load is unknown\n");
    report.context.load[0] = 0;
    report.context.clock_step_ns = 9990; /* 100 of them in the shortest repetition */
    expect_warning(&report, "");
    report.context.clock_step_ns = 9991;
    report.rows[2].iterations_timed_at_once = 2;
    expect_warning(&report, "the clock's resolution of 9991 ns is too coarse for 2 entries (worst: row/0)\n");
    report.is_dry_run = true;
    report.interference.external_cpu_load = 2;
    expect_warning(&report, "");
    th_report_fini(&report);
}

Test(warnings, of_medians_are_of_the_worst_beyond_what_was_asked_for)
{
    th_report report = report_of(3, 20);
    for (uint32_t i = 0; i < 20; i++) {
        report.rows[1].real_ns.values[i] *= i % 2 ? 1 : 1.03;
        report.rows[2].real_ns.values[i] *= i % 2 ? 1 : 1.3;
    }
    expect_warning(&report, "2 of 3 medians have a 95 % CI wider than +-1 % (worst: row/2, +-13 %)\n");
    for (uint32_t i = 0; i < 20; i++)
        report.rows[2].real_ns.values[i] *= i % 2 ? 1 : 20;
    expect_warning(&report, "2 of 3 medians have a 95 % CI wider than +-1 % (worst: row/2, +-93 %)\n");
    report.precision = 0; /* nobody asked for one: 5 % */
    expect_warning(&report, "1 of 3 medians has a 95 % CI wider than +-5 % (worst: row/2, +-93 %)\n");
    strcpy(report.rows[2].failure, "wrong");
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

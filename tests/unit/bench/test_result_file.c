/* Records: what is written is read back, and what is no result is refused with words that help. */
#include "fixture_nightly.h"
#include "fixture_result_file.h"

#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static th_error err;

/* ---- what is read ---- */

Test(result_file, gives_back_what_a_report_wrote)
{
    th_report report = report_of(2, 3, 4, steady);
    th_result_file *results = result_file_of(&report, "some.json");
    cr_expect(results->is_ours);
    cr_expect_str_eq(results->name, "some.json");
    cr_expect_eq(results->entry_count, 2);
    const th_result_file_entry *e = th_result_file_find(results, "row/1");
    const th_row *row = &report.rows[1];
    cr_assert(e);
    cr_expect_eq(e->real_ns.count, 12);
    for (uint32_t i = 0; i < 12; i++) {
        cr_expect_float_eq(e->real_ns.values[i], row->real_ns.values[i], 1e-3);
        cr_expect_float_eq(e->cpu_ns.values[i], row->cpu_ns.values[i], 1e-3);
        cr_expect_float_eq(e->core_clock_ns.values[i], 1, 1e-9);
    }
    cr_expect_eq(e->process_count, 3);
    for (uint32_t p = 0; p < 3; p++)
        cr_expect_eq(e->ends[p], 4 * (p + 1));
    cr_expect_eq(e->characters, 10);
    cr_expect_eq(e->bones, 520);
    cr_expect_str_eq(e->palette_hash, "1234567890abcdf0");
    cr_expect_eq(e->max_error, 1e-4);
    cr_expect(isnan(e->error_vs_source));
    cr_expect_null(e->failure);
    cr_expect_null(th_result_file_find(results, "row/2"));
    th_result_file_free(results);
    th_report_fini(&report);
}

Test(result_file, knows_failed_and_skipped_entries_and_dry_runs)
{
    th_report report = report_of(2, 1, 4, steady);
    strcpy(report.rows[1].failure, "wrong");
    th_result_file *results = result_file_of(&report, "");
    cr_expect_str_eq(results->entries[1].failure, "wrong");
    cr_expect_eq(results->entries[1].real_ns.count, 0);
    th_result_file_free(results);
    th_report_fini(&report);

    report = report_of(1, 1, 4, steady);
    report.rows[0].skipped = true;
    strcpy(report.rows[0].failure, "no display");
    report.rows[0].threads = 0;
    results = result_file_of(&report, "");
    cr_expect_null(results->entries[0].failure);
    cr_expect_eq(results->entries[0].real_ns.count, 0);
    th_result_file_free(results);
    th_report_fini(&report);

    report = report_of(1, 0, 0, steady);
    report.is_dry_run = true;
    results = result_file_of(&report, "");
    cr_expect_eq(results->entries[0].real_ns.count, 0);
    cr_expect_eq(results->entries[0].process_count, 0);
    cr_expect_str_eq(results->entries[0].palette_hash, "1234567890abcdef");
    th_result_file_free(results);
    th_report_fini(&report);
}

/* As Google Benchmark 1.7 writes it, with a counter that has a name of ours. */
static const char foreign[] =
    "{\"context\": {\"date\": \"2024-01-01\", \"host_name\": \"h\", \"num_cpus\": 2, \"mhz_per_cpu\": 2600,"
    " \"cpu_scaling_enabled\": false, \"caches\": [], \"library_build_type\": \"release\"},\n"
    "\"benchmarks\": [\n"
    "{\"name\": \"BM_Copy/8\", \"family_index\": 0, \"run_name\": \"BM_Copy/8\", \"run_type\": \"iteration\","
    " \"repetitions\": 2, \"repetition_index\": 0, \"threads\": 1, \"iterations\": 1000, \"real_time\": 1.5e+00,"
    " \"cpu_time\": 1.25, \"time_unit\": \"us\", \"bones\": 5.2e+01, \"palette_hash\": 7},\n"
    "{\"name\": \"BM_Copy/8\", \"run_name\": \"BM_Copy/8\", \"run_type\": \"iteration\", \"threads\": 1,"
    " \"real_time\": 2e-3, \"cpu_time\": 1e-3, \"time_unit\": \"ms\"},\n"
    "{\"name\": \"BM_Copy/8_mean\", \"run_name\": \"BM_Copy/8\", \"run_type\": \"aggregate\", \"threads\": 1,"
    " \"aggregate_name\": \"mean\", \"real_time\": 1.75, \"cpu_time\": 1.1, \"time_unit\": \"us\"},\n"
    "{\"name\": \"BM_Old\", \"iterations\": 5, \"real_time\": 3, \"cpu_time\": 3, \"time_unit\": \"ns\"}]}";

Test(result_file, reads_the_times_of_google_benchmark)
{
    th_result_file *results;
    cr_assert_eq(th_result_file_parse(foreign, strlen(foreign), "gb.json", &results, &err), TH_OK, "%s", err.text);
    cr_expect_not(results->is_ours);
    cr_expect_eq(results->entry_count, 2);
    const th_result_file_entry *e = &results->entries[0];
    cr_expect_str_eq(e->name, "BM_Copy/8");
    cr_expect_eq(e->real_ns.count, 2);
    cr_expect_eq(e->real_ns.values[0], 1500);
    cr_expect_eq(e->cpu_ns.values[1], 1000);
    cr_expect_eq(e->core_clock_ns.count, 0);
    cr_expect_eq(e->process_count, 1);
    cr_expect_eq(e->bones, 0, "means something else there");
    cr_expect_null(e->palette_hash);
    cr_expect_eq(results->entries[1].threads, 1);
    cr_expect_eq(results->entries[1].real_ns.values[0], 3);
    th_result_file_free(results);
}

/* ---- what is refused ---- */

static void expect_refused(const char *text, size_t size, const char *words)
{
    th_result_file *results = (th_result_file *)1;
    err.text[0] = '\0';
    cr_expect_eq(th_result_file_parse(text, size, "x.json", &results, &err), TH_ERR_INPUT, "%.*s", (int)size, text);
    cr_expect_null(results);
    cr_expect(strstr(err.text, words), "\"%s\" is not in: %s", words, err.text);
    cr_expect_eq(strncmp(err.text, "x.json: ", 8), 0, "%s", err.text);
}

static void refuses(const char *text, const char *words)
{
    expect_refused(text, strlen(text), words);
}

Test(result_file, says_where_a_text_is_no_json)
{
    refuses("", "no JSON: line 1, column 0");
    refuses("{\"context\": {},\n  \"benchmarks\": [1, oops]}", "no JSON: line 2, column 24: invalid token near 'oops'");
    refuses("{\"a\": NaN}", "invalid token near 'NaN'");
    refuses("{\"a\": 1, \"a\": 2}", "duplicate object key");
    refuses("{} {}", "end of file expected");
    refuses("{\"a\": \"\xff\"}", "line 1, column 7: unable to decode byte 0xff");
    expect_refused("{}\0", 3, "no JSON");
}

Test(result_file, says_what_a_foreign_document_lacks)
{
    refuses("[]", "no result of throng, nor of Google Benchmark: it is no object");
    refuses("{\"version\": 3}", "context is missing");
    refuses("{\"context\": 1, \"benchmarks\": []}", "context is no object");
    refuses("{\"context\": {}}", "benchmarks is missing");
    refuses("{\"context\": {\"scene\": true}, \"benchmarks\": []}", "scene or picture is no object");
    refuses("{\"context\": {}, \"benchmarks\": {}}", "benchmarks is no array");
    refuses("{\"context\": {}, \"benchmarks\": []}", "benchmarks has no repetitions");
    refuses("{\"context\": {}, \"benchmarks\": [{\"name\": \"a_mean\", \"run_type\": \"aggregate\"}]}",
            "only figures over them");
    refuses("{\"context\": {}, \"benchmarks\": [7]}", "benchmarks[0]: is no object");
    refuses("{\"context\": {}, \"benchmarks\": [{}]}", "benchmarks[0]: name is missing");
}

/* Of one row. */
static json_t *make_document(uint32_t repetitions)
{
    th_report report = report_of(1, 1, repetitions, steady);
    json_t *document = document_of(&report);
    th_report_fini(&report);
    return document;
}

/* What is said when a field of the second repetition is set to a value; "-": is taken away. */
Test(result_file, names_the_row_and_the_field_that_is_wrong)
{
    static const char *const cases[][3] = {
        {"name", "-", "is missing"},
        {"name", "3", "is no text"},
        {"run_name", "3", "is no text"},
        {"run_type", "\"other\"", "is neither iteration nor aggregate"},
        {"run_type", "[]", "is no text"},
        {"real_time", "-", "is missing"},
        {"real_time", "null", "is no number"},
        {"real_time", "\"1\"", "is no number"},
        {"real_time", "-1", "is negative"},
        {"real_time", "1.5e308", "or cpu_time is too large"},
        {"cpu_time", "-", "is missing"},
        {"time_unit", "-", "is missing"},
        {"time_unit", "\"hours\"", "is none of"},
        {"threads", "0", "is no whole number within bounds"},
        {"threads", "1.5", "is no whole number within bounds"},
        {"threads", "-1", "is no whole number within bounds"},
        {"threads", "2", "differs from row to row"},
        {"characters", "1", "or bones differ"},
        {"palette_hash", "\"12\"", "is not 16 hexadecimal digits"},
        {"palette_hash", "\"ffffffffffffffff\"", "differs from row to row"},
        {"palette_hash", "-", "differs from row to row"},
        {"max_error", "\"small\"", "is no number"},
        {"max_error", "-1e-9", "is negative"},
        {"core_clock_ns", "-", "is in some rows only"},
        {"core_clock_ns", "0", "is not above 0"},
        {"process", "2", "is out of order"},
        {"process", "192", "is no whole number within bounds"},
        {"error_occurred", "1", "is neither true nor false"},
        {"error_message", "1", "is no text"},
        {"skipped", "0", "is neither true nor false"},
    };
    json_t *document = make_document(2), *row = json_array_get(json_object_get(document, "benchmarks"), 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *field = cases[i][0];
        json_t *right = json_deep_copy(json_object_get(row, field));
        if (strcmp(cases[i][1], "-") == 0)
            json_object_del(row, field);
        else
            json_object_set_new(row, field, json_loads(cases[i][1], JSON_DECODE_ANY, NULL));
        char *text = json_dumps(document, 0), place[256];
        snprintf(place, sizeof place, "benchmarks[1]%s: %s %s", strcmp(field, "name") == 0 ? "" : " (row/0)", field,
                 cases[i][2]);
        refuses(text, place);
        free(text);
        if (right)
            json_object_set_new(row, field, right);
        else
            json_object_del(row, field);
    }
    json_decref(document);
}

Test(result_file, truncated_at_any_byte_is_refused)
{
    json_t *document = make_document(1);
    char *text = json_dumps(document, JSON_COMPACT);
    const size_t size = strlen(text);
    for (size_t length = 0; length < size; length += is_nightly() ? 1 : 3) {
        char *exact = malloc(length + 1); /* so that row_map beyond shows */
        cr_assert(exact);
        memcpy(exact, text, length);
        th_result_file *results;
        cr_expect_eq(th_result_file_parse(exact, length, "x.json", &results, &err), TH_ERR_INPUT, "%zu", length);
        cr_expect(strstr(err.text, "x.json: no JSON: line 1, column "), "%s", err.text);
        free(exact);
    }
    free(text);
    json_decref(document);
}

Test(result_file, a_megabyte_is_read_and_files_that_are_none_refused)
{
    th_report report = report_of(6, 10, 30, steady);
    json_t *document = document_of(&report);
    char folder[] = "/tmp/throng-results-XXXXXX", path[64];
    cr_assert(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/big.json", folder);
    cr_assert_eq(json_dump_file(document, path, JSON_INDENT(2)), 0);
    th_result_file *results;
    cr_expect_eq(th_result_file_read(path, &results, &err), TH_OK, "%s", err.text);
    cr_expect_eq(results->entry_count, 6);
    cr_expect_eq(results->entries[5].real_ns.count, 300);
    th_result_file_free(results);
    unlink(path);
    cr_expect_eq(th_result_file_read(path, &results, &err), TH_ERR_INPUT);
    cr_expect(strstr(err.text, "big.json: No such file or directory"), "%s", err.text);
    cr_expect_eq(th_result_file_read(folder, &results, &err), TH_ERR_INPUT);
    cr_expect(strstr(err.text, "Is a directory"), "%s", err.text);
    rmdir(folder);
    json_decref(document);
    th_report_fini(&report);
}

/* ---- several processes, one report ---- */

/* What another process wrote, "other", into a report. */
static th_result merge(th_report *report, const th_report *other)
{
    th_result_file *results = result_file_of(other, "other");
    const th_result result = th_result_file_merge_into(results, report, &err);
    th_result_file_free(results);
    return result;
}

Test(result_file, of_another_process_goes_into_the_report)
{
    th_report report = report_of(1, 1, 4, steady), other = report_of(1, 1, 3, steady_again);
    report.rows[0].process_count = 0; /* as a measurement leaves it */
    other.rows[0].process_count = 0;
    other.rows[0].max_error = 2e-4;
    report.interference.external_cpu_load = 0.5;
    other.interference.external_cpu_load = 0.1;
    report.interference.steal_cpu_load = 0.02;
    other.interference.steal_cpu_load = 0.04;
    report.interference.throttled_s = 0.25;
    other.interference.throttled_s = 0.5;
    cr_assert_eq(merge(&report, &other), TH_OK, "%s", err.text);
    const th_row *row = &report.rows[0];
    cr_expect_eq(row->real_ns.count, 7);
    cr_expect(row->core_clock_ns.count == 7 && row->queued_ns.count == 7);
    cr_expect_float_eq(row->cpu_ns.values[6], steady_again(0, 0, 2), 1e-3);
    cr_expect_eq(row->process_count, 2);
    cr_expect_eq(row->ends[0], 4);
    cr_expect_eq(row->ends[1], 7);
    cr_expect_eq(row->max_error, 2e-4);
    cr_expect_float_eq(report.interference.external_cpu_load, 0.3, 1e-9);
    cr_expect_float_eq(report.interference.steal_cpu_load, 0.03, 1e-9);
    cr_expect_float_eq(report.interference.throttled_s, 0.75, 1e-9, "time adds up");
    cr_expect_eq(report.process_count, 2);
    cr_expect_str_eq(row->failure, "");

    th_result_file *both = result_file_of(&report, "both");
    cr_expect_eq(both->entries[0].process_count, 2);
    cr_expect_eq(both->entries[0].ends[0], 4);
    cr_assert_eq(merge(&report, &other), TH_OK, "%s", err.text);
    cr_expect_float_eq(report.interference.external_cpu_load, 0.7 / 3, 1e-9, "the mean over processes");
    report.interference.external_cpu_load = (double)NAN;
    cr_assert_eq(merge(&report, &other), TH_OK, "%s", err.text);
    cr_expect_float_eq(report.interference.external_cpu_load, 0.1, 1e-9, "of those that know");
    th_result_file_free(both);
    th_report_fini(&other);
    th_report_fini(&report);
}

Test(result_file, of_another_process_with_other_palettes_fails_the_entry)
{
    th_report report = report_of(1, 1, 4, steady), other = report_of(1, 1, 4, steady);
    other.rows[0].palette_hash++;
    cr_assert_eq(merge(&report, &other), TH_OK, "%s", err.text);
    cr_expect_str_eq(report.rows[0].failure, "its palettes differ from process to process");
    strcpy(report.rows[0].failure, "");
    strcpy(other.rows[0].failure, "joint x is off");
    cr_assert_eq(merge(&report, &other), TH_OK, "%s", err.text);
    cr_expect_str_eq(report.rows[0].failure, "joint x is off");
    th_report_fini(&other);
    th_report_fini(&report);
}

Test(result_file, of_another_process_is_refused)
{
    th_report report = report_of(1, 100, 1, steady), other = report_of(1, 1, 4, steady);
    cr_expect_eq(merge(&report, &report), TH_ERR_LIMIT);
    cr_expect_str_eq(err.text, "other: more than 192 processes");
    strcpy(other.rows[0].name, "another");
    cr_expect_eq(merge(&report, &other), TH_ERR_INPUT);
    cr_expect_str_eq(err.text, "other: no row/0");
    other.is_partial = true;
    cr_expect_eq(merge(&report, &other), TH_ERR_INPUT);
    cr_expect_str_eq(err.text, "other is partial: its measurement was interrupted");
    cr_expect_eq(report.rows[0].real_ns.count, 100);
    th_report_fini(&other);
    th_report_fini(&report);
}

/* ---- several processes, one result file ---- */

/* What another process wrote, "more", behind what is in a file. */
static th_result append(th_result_file *results, const th_report *other)
{
    th_result_file *more = result_file_of(other, "more");
    const th_result result = th_result_file_append(results, more, &err);
    th_result_file_free(more);
    return result;
}

Test(result_file, of_another_process_goes_into_a_result_file)
{
    th_report report = report_of(1, 1, 4, steady), other = report_of(1, 1, 3, steady_again);
    report.rows[0].own = json_pack("{s:f, s:f}", "error_px_p99", 0.5, "error_px_max", 2.0);
    other.rows[0].own = json_pack("{s:f, s:f}", "error_px_p99", 0.75, "error_px_max", 1.0);
    other.rows[0].max_error = 2e-4;
    report.interference.external_cpu_load = 0.5;
    other.interference.external_cpu_load = 0.1;
    th_result_file *results = result_file_of(&report, "results");
    const th_result_file_entry *e = &results->entries[0];
    cr_assert_eq(append(results, &other), TH_OK, "%s", err.text);
    cr_expect_eq(e->real_ns.count, 7);
    cr_expect(e->core_clock_ns.count == 7 && e->queued_ns.count == 7);
    cr_expect_float_eq(e->cpu_ns.values[6], steady_again(0, 0, 2), 1e-3);
    cr_expect_eq(e->process_count, 2);
    cr_expect_eq(e->ends[0], 4);
    cr_expect_eq(e->ends[1], 7);
    cr_expect_eq(e->max_error, 2e-4);
    cr_expect_eq(e->error_px_p99, 0.75);
    cr_expect_eq(e->error_px_max, 2);
    cr_expect_float_eq(json_number_value(json_object_get(results->context, "external_cpu_load")), 0.3, 1e-9);

    other.rows[0].core_clock_ns.count = other.rows[0].queued_ns.count = 0;
    cr_assert_eq(append(results, &other), TH_OK, "%s", err.text);
    cr_expect(e->core_clock_ns.count + e->queued_ns.count == 0, "what one process lacks, all lack");
    cr_expect_float_eq(json_number_value(json_object_get(results->context, "external_cpu_load")), 0.7 / 3, 1e-9);

    strcpy(other.rows[0].failure, "joint x is off");
    cr_assert_eq(append(results, &other), TH_OK, "%s", err.text);
    cr_expect_str_eq(e->failure, "joint x is off", "a copy");
    strcpy(other.rows[0].name, "another");
    cr_expect_eq(append(results, &other), TH_ERR_INPUT);
    cr_expect_str_eq(err.text, "more: no row/0 as in the process before");
    th_result_file_free(results);
    th_report_fini(&other);
    th_report_fini(&report);
}

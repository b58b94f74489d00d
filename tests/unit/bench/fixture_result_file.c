#include "fixture_result_file.h"

#include <core/random.h>

#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

static void fill_row(th_row *row, uint32_t number, uint32_t processes, uint32_t repetitions, made_up_time *ns)
{
    snprintf(row->name, sizeof row->name, "row/%u", number);
    row->time_unit = "us";
    row->threads = row->iterations = row->iterations_timed_at_once = 1;
    row->characters = 10;
    row->bones = 520;
    row->checked = row->moving = true;
    row->max_error = 1e-4;
    row->palette_hash = 0x1234567890abcdefu + number;
    for (uint32_t p = 0; p < processes; p++) {
        for (uint32_t i = 0; i < repetitions; i++) {
            th_samples_add(&row->real_ns, 2 * ns(number, p, i));
            th_samples_add(&row->cpu_ns, ns(number, p, i));
            th_samples_add(&row->core_clock_ns, 1);
            th_samples_add(&row->queued_ns, 0);
        }
        row->ends[row->process_count++] = row->real_ns.count;
    }
}

th_report report_of(uint32_t rows, uint32_t processes, uint32_t repetitions, made_up_time *ns)
{
    th_report report;
    th_error err;
    cr_assert_eq(th_report_init(&report, rows, processes * repetitions, &err), TH_OK, "%s", err.text);
    report.interference = (th_interference){0};
    report.process_count = processes;
    report.scene = json_pack("{s:[{s:s, s:n}], s:i, s:s}", "models", "name", "human", "exact_clips", "characters", 10,
                             "seed", "1");
    for (uint32_t r = 0; r < rows; r++)
        fill_row(&report.rows[r], r, processes, repetitions, ns);
    return report;
}

static double scattered(uint64_t seed, uint32_t row, uint32_t process, uint32_t repetition)
{
    const uint64_t own = th_random_bits(th_random_bits(seed, row), process);
    const double of_process = 0.01 * (th_random_unit(own, 0) - 0.5);
    return 1e6 * (1 + of_process + 0.002 * th_random_unit(own, 1 + repetition));
}

double steady(uint32_t row, uint32_t process, uint32_t repetition)
{
    return scattered(1, row, process, repetition);
}

double steady_again(uint32_t row, uint32_t process, uint32_t repetition)
{
    return scattered(2, row, process, repetition);
}

json_t *document_of(const th_report *report)
{
    json_t *document = th_report_json(report);
    cr_assert(document);
    return document;
}

th_result parse_document(const json_t *document, const char *name, th_result_file **out, th_error *err)
{
    char *text = json_dumps(document, JSON_REAL_PRECISION(12));
    cr_assert(text);
    const th_result result = th_result_file_parse(text, strlen(text), name, out, err);
    free(text);
    return result;
}

th_result_file *result_file_of(const th_report *report, const char *name)
{
    th_result_file *results;
    th_error err;
    json_t *document = document_of(report);
    cr_assert_eq(parse_document(document, name, &results, &err), TH_OK, "%s", err.text);
    json_decref(document);
    return results;
}

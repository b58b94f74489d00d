#include <throng/bench/report.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>

th_result th_report_init(th_report *report, uint32_t rows, uint32_t repetitions, th_error *err)
{
    assert(report);
    *report = (th_report){.rows = calloc(rows, sizeof *report->rows),
                          .row_count = rows,
                          .process_count = 1,
                          .interference = {.external_cpu_load = nan(""), .steal_cpu_load = nan("")}};
    th_context_read(&report->context);
    bool room = report->rows != NULL;
    for (uint32_t r = 0; room && r < rows; r++)
        room = th_samples_init(&report->rows[r].real_ns, repetitions) &&
               th_samples_init(&report->rows[r].cpu_ns, repetitions) &&
               th_samples_init(&report->rows[r].core_clock_ns, repetitions);
    if (room)
        return TH_OK;
    th_report_fini(report);
    return th_fail(err, TH_ERR_MEMORY, "no memory for %u repetitions of %u entries", repetitions, rows);
}

void th_report_fini(th_report *report)
{
    for (uint32_t r = 0; report->rows && r < report->row_count; r++) {
        th_samples_fini(&report->rows[r].real_ns);
        th_samples_fini(&report->rows[r].cpu_ns);
        th_samples_fini(&report->rows[r].core_clock_ns);
        json_decref(report->rows[r].own);
        json_decref(report->rows[r].once);
    }
    free(report->rows);
    json_decref(report->scene);
    json_decref(report->picture);
    *report = (th_report){0};
}

const th_row *th_report_failure(const th_report *report)
{
    assert(report);
    for (uint32_t r = 0; r < report->row_count; r++)
        if (report->rows[r].failure[0] && !report->rows[r].skipped)
            return &report->rows[r];
    return NULL;
}

const th_row *th_report_skipped(const th_report *report)
{
    assert(report);
    for (uint32_t r = 0; r < report->row_count; r++)
        if (report->rows[r].skipped)
            return &report->rows[r];
    return NULL;
}

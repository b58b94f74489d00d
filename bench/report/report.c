#include <bench/report.h>

#include <core/clock.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static bool init_row(th_row *row, uint32_t repetitions)
{
    row->begin_ns = th_clock_ns();
    return th_samples_init(&row->real_ns, repetitions) && th_samples_init(&row->cpu_ns, repetitions) &&
           th_samples_init(&row->core_clock_ns, repetitions) && th_samples_init(&row->start_ns, repetitions) &&
           th_samples_init(&row->order, repetitions);
}

static void fini_row(th_row *row)
{
    th_samples_fini(&row->real_ns);
    th_samples_fini(&row->cpu_ns);
    th_samples_fini(&row->core_clock_ns);
    th_samples_fini(&row->start_ns);
    th_samples_fini(&row->order);
    json_decref(row->own);
    json_decref(row->once);
}

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
        room = init_row(&report->rows[r], repetitions);
    if (room)
        return TH_OK;
    th_report_fini(report);
    return th_fail(err, TH_ERR_MEMORY, "no memory for %u repetitions of %u entries", repetitions, rows);
}

void th_report_fini(th_report *report)
{
    for (uint32_t r = 0; report->rows && r < report->row_count; r++)
        fini_row(&report->rows[r]);
    free(report->rows);
    json_decref(report->scene);
    json_decref(report->picture);
    *report = (th_report){0};
}

void th_row_interrupt(th_row *row)
{
    assert(row);
    if (row->failure[0] || row->real_ns.count > 0)
        return;
    row->skipped = true;
    snprintf(row->failure, sizeof row->failure, "the measurement was interrupted");
}

void th_report_interrupt(th_report *report)
{
    assert(report);
    report->is_partial = true;
    for (uint32_t r = 0; r < report->row_count && !report->is_dry_run; r++)
        th_row_interrupt(&report->rows[r]);
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

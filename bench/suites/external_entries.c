/* The program's own entries (external_benchmark.h). */
#include "registry.h"

#include <stdio.h>

static th_result create_external(th_entry *entry, const th_bench_desc *desc, const th_fixture *fixture, th_row *row,
                                 th_error *err)
{
    const th_external_benchmark *benchmark = entry->variant;
    th_error reason;
    (void)fixture, (void)err;
    row->time_unit = "ms";
    if (benchmark->create(benchmark, desc->external->ctx, row, &entry->subject, &reason) == TH_OK)
        return TH_OK;
    row->skipped = true;
    snprintf(row->failure, sizeof row->failure, "%.*s", (int)sizeof row->failure - 1, reason.text);
    return TH_OK;
}

static void summarize_external(const th_entry *entry, const th_row *baseline, th_row *row)
{
    const th_external_benchmark *benchmark = entry->variant;
    benchmark->summarize(entry->subject, baseline, row);
}

uint32_t th_external_entries(const th_external_benchmarks *external, bool of_poses, th_entry *entries)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < external->count; i++) {
        const th_external_benchmark *benchmark = &external->entries[i];
        if ((benchmark->shape == NULL) != of_poses)
            continue;
        th_entry *e = &entries[count++];
        *e = (th_entry){
            .shape = benchmark->shape,
            .variant = benchmark,
            .is_baseline = benchmark->is_baseline,
            .create = create_external,
            .before = benchmark->before,
            .run = benchmark->run,
            .timed_run = benchmark->timed_run,
            .after = benchmark->after,
            .summarize = summarize_external,
            .destroy = benchmark->destroy,
        };
        snprintf(e->name, sizeof e->name, "%s", benchmark->name);
    }
    return count;
}

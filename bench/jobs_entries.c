#include "entry.h"

#include <throng/frame.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ITEMS = 256, STEPS = 250 };

/* A pool and something for it to do. */
typedef struct worker_group {
    th_jobs *jobs;
    uint32_t items;
    th_jobs_fn *fn;
    double sums[MOST_ITEMS]; /* so that the compiler cannot drop the work */
} worker_group;

/* A few cycles a step: each waits for the one before. */
static double burn(uint32_t steps)
{
    double x = 1;
    for (uint32_t i = 0; i < steps; i++)
        x = x * 0.999 + 0.1;
    return x;
}

static int do_nothing(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    (void)begin, (void)end, (void)worker, (void)ctx;
    return 0;
}

static int do_even(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    worker_group *group = ctx;
    (void)worker;
    for (uint32_t i = begin; i < end; i++)
        group->sums[i] = burn(STEPS);
    return 0;
}

/* The same work in all, but an item's share falls from twice the mean to nothing: a split down the middle gives one
 * side three quarters. */
static int do_uneven(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    worker_group *group = ctx;
    (void)worker;
    for (uint32_t i = begin; i < end; i++)
        group->sums[i] = burn(2 * STEPS * (MOST_ITEMS - 1 - i) / (MOST_ITEMS - 1));
    return 0;
}

static void run_group(void *subject, uint64_t frame)
{
    worker_group *group = subject;
    (void)frame;
    th_jobs_for(group->jobs, group->items, 1, group->fn, group);
}

static void destroy_group(void *subject)
{
    worker_group *group = subject;
    th_jobs_destroy(group->jobs);
    free(group);
}

static th_result create_group(th_entry *entry, const th_bench_desc *desc, const th_stage *stage, th_row *row,
                              th_error *err)
{
    (void)stage;
    worker_group *group = calloc(1, sizeof *group);
    if (!group)
        return th_fail(err, TH_ERR_MEMORY, "no memory for %s", entry->name);
    entry->subject = group;
    group->items = entry->items;
    group->fn = strstr(entry->name, "/even/") ? do_even : strstr(entry->name, "/uneven/") ? do_uneven : do_nothing;
    th_jobs_desc jobs = {
        .threads = desc->threads,
        .scheduler = (th_scheduler)entry->variant,
        .placement = TH_PLACEMENT_WORKERS,
    };
    th_result result = th_threads_create(&jobs, &group->jobs, err);
    if (result == TH_OK) {
        row->time_unit = "ns";
        row->threads = th_jobs_threads(group->jobs);
    }
    return result;
}

static uint32_t add(th_entry *entries, const char *what, uint32_t items)
{
    uint32_t count = 0;
    for (int s = 0; s < TH_SCHEDULER_COUNT; s++) {
        if (!th_scheduler_available((th_scheduler)s))
            continue;
        th_entry *e = &entries[count++];
        *e = (th_entry){
            .variant = s, .items = items, .create = create_group, .run = run_group, .destroy = destroy_group};
        snprintf(e->name, sizeof e->name, "jobs/%s/%s", what, th_scheduler_name((th_scheduler)s));
    }
    return count;
}

uint32_t th_jobs_entries(th_entry *entries)
{
    uint32_t count = add(entries, "fork_join:2", 2);
    count += add(entries + count, "fork_join:16", 16);
    count += add(entries + count, "fork_join:256", 256);
    count += add(entries + count, "even", MOST_ITEMS);
    count += add(entries + count, "uneven", MOST_ITEMS);
    return count;
}

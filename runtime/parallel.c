#include <runtime/parallel.h>

#include <assert.h>

typedef struct items {
    void (*fn)(uint32_t item, void *ctx);
    void *ctx;
} items;

static int run_items(uint32_t begin, uint32_t end, uint32_t worker, void *ctx)
{
    const items *all = ctx;
    (void)worker;
    for (uint32_t i = begin; i < end; i++)
        all->fn(i, all->ctx);
    return 0;
}

void th_parallel_run(uint32_t count, void (*fn)(uint32_t item, void *ctx), void *ctx, void *jobs)
{
    assert(fn);
    items all = {fn, ctx};
    th_jobs_desc desc = jobs ? *(const th_jobs_desc *)jobs : (th_jobs_desc){0};
    th_jobs *pool;
    if (desc.threads == 0)
        desc.threads = th_cpus_read().usable;
    if (desc.threads > count)
        desc.threads = count;
    if (count < 2 || desc.threads < 2 || th_jobs_create(&desc, &pool, NULL) != TH_OK) {
        run_items(0, count, 0, &all);
        return;
    }
    th_jobs_for(pool, count, 1, run_items, &all);
    th_jobs_destroy(pool);
}

#include "placement.h"

#include "cpus.h"
#include "placement_plan.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

static const char *const names[] = {
    [TH_PLACEMENT_NONE] = "none",     [TH_PLACEMENT_WORKERS] = "workers", [TH_PLACEMENT_COMPACT] = "compact",
    [TH_PLACEMENT_SPREAD] = "spread", [TH_PLACEMENT_CORES] = "cores",
};
_Static_assert(sizeof names / sizeof *names == TH_PLACEMENT_COUNT, "every placement has a name");

const char *th_placement_name(th_placement placement)
{
    return (uint32_t)placement < TH_PLACEMENT_COUNT ? names[placement] : "unknown";
}

/* Reads the topology only if the placement needs it, because that takes milliseconds. */
int th_placement_find(th_placement placement, int here, uint32_t workers, uint32_t *cpus, uint32_t *count)
{
    assert((unsigned)placement < TH_PLACEMENT_COUNT);
    assert(cpus && count);
    *count = 0;
    if (placement == TH_PLACEMENT_WORKERS)
        *count = th_cpus_others(here, cpus, workers);
    const bool needs_topology = placement > TH_PLACEMENT_WORKERS;
    return needs_topology ? th_placement_plan_here(placement, here, workers, cpus, count) : 0;
}

/* ---- pinning ---- */

typedef struct pin {
    _Atomic(int) cpu; /* relaxed: a thread that reads an old value is pinned one call later */
    pthread_t thread;
} pin;

struct th_affinity {
    th_cpu_mask allowed;
    int caller_cpu; /* where it last ran */
    bool has_threads;
    uint32_t count; /* workers from 1 on; there may be more workers than CPUs */
    pin pins[];
};

int th_affinity_create(th_placement placement, uint32_t workers, const pthread_t *threads, th_affinity **out)
{
    assert((unsigned)placement < TH_PLACEMENT_COUNT);
    assert(workers < TH_JOBS_MAX_THREADS);
    uint32_t cpus[TH_JOBS_MAX_THREADS], count;
    *out = NULL;
    if (placement == TH_PLACEMENT_NONE)
        return 0;
    const int here = sched_getcpu();
    const int error = th_placement_find(placement, here, workers, cpus, &count);
    if (error)
        return error;
    assert(count <= workers);
    th_affinity *affinity = calloc(1, sizeof *affinity + count * sizeof(pin));
    if (!affinity)
        return ENOMEM;
    affinity->allowed = th_cpu_mask_read();
    affinity->caller_cpu = here;
    affinity->has_threads = threads != NULL;
    affinity->count = count;
    for (uint32_t i = 0; i < count; i++) {
        atomic_init(&affinity->pins[i].cpu, (int)cpus[i]);
        if (threads) {
            affinity->pins[i].thread = threads[i];
            th_cpus_pin(threads[i], cpus[i]);
        }
    }
    *out = affinity;
    return 0;
}

void th_affinity_destroy(th_affinity *affinity)
{
    if (!affinity)
        return;
    th_cpu_mask_free(affinity->allowed);
    free(affinity);
}

void th_affinity_apply(const th_affinity *affinity, uint32_t worker)
{
    static _Thread_local int held = -1;
    if (!affinity || worker == 0 || worker > affinity->count)
        return;
    const int cpu = atomic_load_explicit(&affinity->pins[worker - 1].cpu, memory_order_relaxed);
    if (cpu == held)
        return;
    th_cpus_pin(pthread_self(), (uint32_t)cpu);
    held = cpu;
}

void th_affinity_avoid_caller(th_affinity *affinity)
{
    const int here = affinity ? sched_getcpu() : -1;
    if (!affinity || here == affinity->caller_cpu)
        return;
    const int before = affinity->caller_cpu;
    affinity->caller_cpu = here;
    if (!th_cpu_mask_has(affinity->allowed, before))
        return;
    for (uint32_t i = 0; i < affinity->count; i++) {
        pin *p = &affinity->pins[i];
        if (atomic_load_explicit(&p->cpu, memory_order_relaxed) != here)
            continue;
        atomic_store_explicit(&p->cpu, before, memory_order_relaxed);
        if (affinity->has_threads)
            th_cpus_pin(p->thread, (uint32_t)before);
        return;
    }
}

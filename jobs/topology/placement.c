#include "placement.h"

#include "cpus.h"
#include "placement_plan.h"

#include <assert.h>
#include <errno.h>

static const char *const names[] = {
    [TH_PLACEMENT_NONE] = "none",     [TH_PLACEMENT_WORKERS] = "workers", [TH_PLACEMENT_COMPACT] = "compact",
    [TH_PLACEMENT_SPREAD] = "spread", [TH_PLACEMENT_CORES] = "cores",
};
_Static_assert(sizeof names / sizeof *names == TH_PLACEMENT_COUNT, "every placement has a name");

const char *th_placement_name(th_placement placement)
{
    return (uint32_t)placement < TH_PLACEMENT_COUNT ? names[placement] : "unknown";
}

#if !TH_HAVE_HWLOC

int th_placement_plan_here(th_placement placement, int here, uint32_t workers, uint32_t *cpus, uint32_t *count)
{
    (void)placement, (void)here, (void)workers, (void)cpus;
    *count = 0;
    return ENOTSUP;
}

#endif

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

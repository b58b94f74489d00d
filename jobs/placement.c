#include "placement.h"

#include "cpus.h"

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

int th_placement_find(th_placement placement, uint32_t workers, uint32_t *cpus, uint32_t *count)
{
    *count = 0;
    switch (placement) {
    case TH_PLACEMENT_NONE:
        return 0;
    case TH_PLACEMENT_WORKERS:
        *count = th_cpus_others(cpus, workers);
        return 0;
    default:
        return ENOTSUP;
    }
}

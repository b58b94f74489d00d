/* Which CPU each worker shall have. */
#ifndef TH_JOBS_PLACEMENT_H
#define TH_JOBS_PLACEMENT_H

#include <throng/jobs.h>

#include <hwloc.h>

/* For `workers` workers of a caller on CPU `here`, from the calling thread's affinity mask: cpus gets one for each of
 * the first *count of them; none is left for the others. Returns 0 or an errno value: ENOMEM, or what hwloc says. */
int th_placement_find(th_placement placement, int here, uint32_t workers, uint32_t *cpus, uint32_t *count);

/* What a plan goes by. */
typedef struct th_ground {
    hwloc_topology_t topology;
    hwloc_const_cpuset_t allowed; /* may name CPUs that the topology does not have; they are not used */
    uint32_t here;                /* the caller's CPU; one that the topology does not have: no caller to count */
} th_ground;

/* The rest of th_placement_find for the placements that need a topology. Fewer workers get the beginning of the same
 * plan. Returns 0 or ENOMEM. */
int th_placement_plan(th_placement placement, const th_ground *ground, uint32_t workers, uint32_t *cpus,
                      uint32_t *count);

#endif

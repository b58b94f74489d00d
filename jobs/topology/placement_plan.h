/* Placements that need the machine's topology, which hwloc reads. */
#ifndef TH_JOBS_TOPOLOGY_PLACEMENT_PLAN_H
#define TH_JOBS_TOPOLOGY_PLACEMENT_PLAN_H

#include <throng/jobs/jobs.h>

/* The rest of th_placement_find for them. */
int th_placement_plan_here(th_placement placement, int here, uint32_t workers, uint32_t *cpus, uint32_t *count);

#if TH_HAVE_HWLOC
#include <hwloc.h>

/* What a plan goes by. */
typedef struct th_topology {
    hwloc_topology_t topology;
    hwloc_const_cpuset_t allowed; /* may name CPUs that the topology does not have; they are not used */
    uint32_t here;                /* the caller's CPU; one that the topology does not have: no caller to count */
} th_topology;

/* On this ground. Fewer workers get the beginning of the same plan. Returns 0 or ENOMEM. */
int th_placement_plan(th_placement placement, const th_topology *machine, uint32_t workers, uint32_t *cpus,
                      uint32_t *count);
#endif

#endif

/* Placements that need the machine's topology, which hwloc reads. */
#ifndef TH_JOBS_TOPOLOGY_PLACEMENT_PLAN_H
#define TH_JOBS_TOPOLOGY_PLACEMENT_PLAN_H

#include <jobs/jobs.h>

/* th_placement_find for these placements. */
int th_placement_plan_here(th_placement placement, int here, uint32_t workers, uint32_t *cpus, uint32_t *count);

#if TH_HAVE_HWLOC
#include <hwloc.h>

/* The input of a plan. */
typedef struct th_topology {
    hwloc_topology_t topology;
    hwloc_const_cpuset_t allowed; /* may contain CPUs that the topology does not have; they are not used */
    uint32_t here;                /* the caller's CPU; if the topology does not have it, the caller is ignored */
} th_topology;

/* A plan for fewer workers is the beginning of the one for more. Returns 0 or ENOMEM. */
int th_placement_plan(th_placement placement, const th_topology *machine, uint32_t workers, uint32_t *cpus,
                      uint32_t *count);
#endif

#endif

/* Placements that need the machine's topology. */
#ifndef TH_JOBS_TOPOLOGY_PLACEMENT_PLAN_H
#define TH_JOBS_TOPOLOGY_PLACEMENT_PLAN_H

#include "topology.h"

/* th_placement_find for these placements. */
int th_placement_plan_here(th_placement placement, int here, uint32_t workers, uint32_t *cpus, uint32_t *count);

/* On a machine. here: the caller's CPU; if the machine does not have it, the caller is ignored. A plan for fewer
 * workers is the beginning of the one for more. Returns 0 or ENOMEM. */
int th_placement_plan(th_placement placement, const th_topology *machine, uint32_t here, uint32_t workers,
                      uint32_t *cpus, uint32_t *count);

#endif

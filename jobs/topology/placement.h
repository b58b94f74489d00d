/* Which CPU each worker shall have. */
#ifndef TH_JOBS_TOPOLOGY_PLACEMENT_H
#define TH_JOBS_TOPOLOGY_PLACEMENT_H

#include <throng/jobs/jobs.h>

/* For `workers` workers of a caller on CPU `here`, from the calling thread's affinity mask: cpus gets one for each of
 * the first *count of them; none is left for the others. Returns 0 or an errno value: ENOMEM, ENOTSUP in a build
 * without hwloc, or what hwloc says. */
int th_placement_find(th_placement placement, int here, uint32_t workers, uint32_t *cpus, uint32_t *count);

#endif

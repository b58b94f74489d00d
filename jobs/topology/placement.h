/* Chooses the CPU of each worker. */
#ifndef TH_JOBS_TOPOLOGY_PLACEMENT_H
#define TH_JOBS_TOPOLOGY_PLACEMENT_H

#include <throng/jobs/jobs.h>

/* Places `workers` workers of a caller on CPU `here`, within the calling thread's affinity mask. Writes one CPU for
 * each of the first *count workers; no CPU is left for the others. Returns 0 or an errno value: ENOMEM, ENOTSUP in a
 * build without hwloc, or hwloc's. */
int th_placement_find(th_placement placement, int here, uint32_t workers, uint32_t *cpus, uint32_t *count);

#endif

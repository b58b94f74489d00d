/* Which CPU each worker shall have. */
#ifndef TH_JOBS_PLACEMENT_H
#define TH_JOBS_PLACEMENT_H

#include <throng/jobs.h>

/* For `workers` workers, from the calling thread's affinity mask and where that thread runs now: cpus gets one for each
 * of the first *count of them; none is left for the others. Returns 0 or an errno value. */
int th_placement_find(th_placement placement, uint32_t workers, uint32_t *cpus, uint32_t *count);

#endif

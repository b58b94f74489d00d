/* The machine: which CPUs share packages, memory, caches and cores, as /sys has it. */
#ifndef TH_JOBS_TOPOLOGY_TOPOLOGY_H
#define TH_JOBS_TOPOLOGY_TOPOLOGY_H

#include <jobs/jobs.h>

enum { TH_TOPOLOGY_LEVELS = 10 };

/* From the widest level to the narrowest the group that this CPU is in, its first CPU << 16 | its size; then its own
 * number. So in order of these numbers CPUs that share more are closer. */
typedef struct th_topology_cpu {
    uint32_t groups[TH_TOPOLOGY_LEVELS], cpu;
    bool allowed; /* by the calling thread's affinity mask */
} th_topology_cpu;

typedef struct th_topology {
    th_topology_cpu *cpus; /* in order */
    uint32_t count, core;  /* core: the level of cores */
} th_topology;

/* root: as for th_cgroup_quota. Release cpus with free(). Returns 0 or an errno value. */
int th_topology_read(const char *root, th_topology *out);

#endif

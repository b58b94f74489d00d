/* The limits of control groups on this process's CPU time and memory. */
#ifndef TH_JOBS_TOPOLOGY_CGROUP_H
#define TH_JOBS_TOPOLOGY_CGROUP_H

#include <stdint.h>

/* The CPU limit in CPUs: the tightest from the process's own group up to the root, of v1 and v2; 0 = no readable limit.
 * root: "" for this system; a test gives a folder with proc/self/{cgroup,mountinfo} and, below the mount points named
 * there, the groups. */
double th_cgroup_quota(const char *root);

/* Nanoseconds for which quotas have throttled threads, the maximum of these groups; 0 = none. */
uint64_t th_cgroup_throttled_ns(const char *root);

/* Bytes that this process and its group may still allocate, the minimum of these groups; 0 = no limit. */
double th_cgroup_memory_left(const char *root);

/* Bytes that the group may use in all, the minimum of these groups; 0 = no limit. */
double th_cgroup_memory_limit(const char *root);

#endif

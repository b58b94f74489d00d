/* The CPU time and memory that control groups grant this process, and refuse it. */
#ifndef TH_JOBS_TOPOLOGY_CGROUP_H
#define TH_JOBS_TOPOLOGY_CGROUP_H

#include <stdint.h>

/* CPUs' worth of time, the tightest limit from the process's own group up to the top, of v1 and v2; 0 = no limit, or
 * none that can be read. root: "" for this system; a test gives a folder that holds proc/self/{cgroup,mountinfo} and,
 * below the mount points named there, the groups. */
double th_cgroup_quota(const char *root);

/* Nanoseconds for which a quota has kept threads from running, the most that any of these groups tells; 0 = none. */
uint64_t th_cgroup_throttled_ns(const char *root);

/* Bytes that this process and its group may still take, the tightest of these groups; 0 = no limit. */
double th_cgroup_memory_left(const char *root);

#endif

/* The CPU time that control groups grant this process. */
#ifndef TH_JOBS_CGROUP_H
#define TH_JOBS_CGROUP_H

/* CPUs' worth of time, the tightest limit from the process's own group up to the top, of v1 and v2; 0 = no limit, or
 * none that can be read. root: "" for this system; a test gives a folder that holds proc/self/{cgroup,mountinfo} and,
 * below the mount points named there, the groups. */
double th_cgroup_quota(const char *root);

#endif

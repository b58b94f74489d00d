/* What else went on in the machine while something was measured. */
#ifndef THRONG_BENCH_INTERFERENCE_H
#define THRONG_BENCH_INTERFERENCE_H

#include <throng/core/api.h>

#include <stdint.h>

TH_API_BEGIN

/* The system's counters at a moment; those of /proc/stat are of the CPUs this process may run on. */
typedef struct th_interference_mark {
    uint64_t wall_ns, own_ns;
    double busy_s, steal_s; /* for anybody; NaN where the system does not tell */
    uint64_t throttled_ns;  /* as th_cpus_throttled_ns */
} th_interference_mark;

typedef struct th_interference {
    double external_cpu_load; /* CPUs' worth of time that other programs used; NaN when not known */
    double steal_cpu_load;    /* that the host of this virtual machine gave to somebody else; NaN when not known */
    double throttled_s;       /* for which a cgroup's quota kept threads of this group from running */
} th_interference;

th_interference_mark th_interference_begin(void);

/* Since then. What comes from /proc/stat is not known for less than 0.2 s: its clock ticks by 10 ms. */
th_interference th_interference_end(const th_interference_mark *begin);

TH_API_END

#endif

/* CPU load of other programs, steal and throttling during a measurement. */
#ifndef THRONG_BENCH_INTERFERENCE_H
#define THRONG_BENCH_INTERFERENCE_H

#include <throng/core/api.h>

#include <stdint.h>

TH_API_BEGIN

/* The system's counters at one moment. Those of /proc/stat cover the CPUs that this process may run on. */
typedef struct th_interference_mark {
    uint64_t wall_ns;
    uint64_t own_ns;        /* CPU time of this process, and of its children that have ended */
    double busy_s, steal_s; /* of all processes; NaN where the system does not report it */
    uint64_t throttled_ns;  /* as th_cpus_throttled_ns */
} th_interference_mark;

typedef struct th_interference {
    double external_cpu_load; /* CPUs used by other programs; NaN when unknown */
    double steal_cpu_load;    /* CPUs that the hypervisor gave to others; NaN when unknown */
    double throttled_s;       /* how long a cgroup's quota throttled our threads */
} th_interference;

th_interference_mark th_interference_begin(void);

/* Depends only on the marks. For less than 0.2 s the fields from /proc/stat are NaN: its clock ticks every 10 ms. */
th_interference th_interference_between(const th_interference_mark *begin, const th_interference_mark *end);

/* The interference since `begin`. */
th_interference th_interference_end(const th_interference_mark *begin);

TH_API_END

#endif

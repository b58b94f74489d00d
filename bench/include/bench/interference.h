/* What else runs during a measurement: CPU load of other programs, steal and throttling; how long threads wait for a
 * CPU; and waiting until this process is idle. */
#ifndef THRONG_BENCH_INTERFERENCE_H
#define THRONG_BENCH_INTERFERENCE_H

#include <stdbool.h>
#include <stdint.h>

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

/* Run-queue delay: how long threads of this process wait for a CPU while they are runnable.
 *
 * The kernel adds it up for each thread (/proc/PID/task/TID/schedstat, second number), from when the thread becomes
 * runnable until it runs. This shows preemption and its length, but also the wake-up latency: up to some 0.05 ms where
 * the CPU slept. Involuntary context switches are no substitute: on a quiet machine nearly all of them are kernel
 * threads that end after 0.01 to 0.03 ms. */
typedef struct th_runqueue_delay {
    int *files;          /* [thread] */
    uint64_t *marked_ns; /* [thread] */
    uint32_t count;
} th_runqueue_delay;

/* Opens the counters of all current threads. False, with nothing to close, when the system does not report them. */
bool th_runqueue_delay_open(th_runqueue_delay *delay);
void th_runqueue_delay_close(th_runqueue_delay *delay); /* zero is fine */

/* The largest delay of any thread between begin and max, in nanoseconds. Each call takes a microsecond a thread. */
void th_runqueue_delay_begin(th_runqueue_delay *delay);
uint64_t th_runqueue_delay_max(const th_runqueue_delay *delay);

/* Waits until no other thread of this process runs. OpenMP's threads spin on after a call (GCC's for some milliseconds,
 * LLVM's for 200) and would take CPUs from what is measured next. They can be configured to spin forever, hence a limit
 * of 0.24 s. Takes at least 4 ms: the kernel accounts a running thread's time at ticks, which may be that far apart. */
void th_wait_quiescent(void);

#endif

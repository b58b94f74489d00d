/* The machine that nobody lent: runs code that was compiled with explore_atomics.h on as many cores as wanted, in
 * simulated time.
 *
 * Every thread is a fiber with a clock of its own, and whose clock is earliest goes on. Atomics cost what their cache
 * line costs: little where the core has it; else a transfer, which is shorter within a group of cores that share a
 * cache. A line serves one transfer at a time, and who is to change it passes it on only afterwards, so what all want
 * takes as long as all together. Pauses, looks at the
 * clock and futexes cost a fixed time. Plain memory, frequency and bandwidth are not part of it, except for what
 * simulate_work says. */
#ifndef TH_TESTS_SIMULATE_H
#define TH_TESTS_SIMULATE_H

#include <stdint.h>

enum { SIMULATE_MAX_CORES = 128 };

/* Nanoseconds. */
typedef struct simulate_machine {
    uint32_t cores_together; /* that share a cache */
    double hit;              /* a line that the core has */
    double atomic;           /* a read-modify-write of such a line */
    double near, far;        /* until a line arrives from a core of the same group, of another one */
    double occupied;         /* for so long a core that reads a line keeps it from the next one */
    double pause, clock;
    double wake_call; /* a futex call that wakes one thread: for its caller */
    double wake;      /* from then until the sleeper runs */
} simulate_machine;

/* Runs fn(arg) as the thread on core 0, until it returns. Threads that it creates get a core each. */
void simulate_run(const simulate_machine *machine, void *(*fn)(void *arg), void *arg);

/* ---- for what is run ---- */

double simulate_now(void); /* the fiber's clock, in nanoseconds */
void simulate_work(double ns);

#endif

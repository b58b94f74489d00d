/* Chooses the CPU of each worker. */
#ifndef TH_JOBS_TOPOLOGY_PLACEMENT_H
#define TH_JOBS_TOPOLOGY_PLACEMENT_H

#include <jobs/jobs.h>

#include <pthread.h>

/* Places `workers` workers of a caller on CPU `here`, within the calling thread's affinity mask. Writes one CPU for
 * each of the first *count workers; no CPU is left for the others. Returns 0 or an errno value: ENOMEM, or ENODEV where
 * /sys does not say what CPUs there are. */
int th_placement_find(th_placement placement, int here, uint32_t workers, uint32_t *cpus, uint32_t *count);

/* Pins workers to them, for all schedulers.
 *
 * All schedulers place threads alike. Otherwise a baseline whose threads share CPUs after each sleep would measure the
 * system's placement. */
typedef struct th_affinity th_affinity;

/* threads: those of the workers from 1 on, if they persist and can be pinned from outside; NULL if a runtime starts and
 * ends threads as it likes: then each thread calls th_affinity_apply. Returns 0 or an errno value; *out is NULL for
 * TH_PLACEMENT_NONE. */
int th_affinity_create(th_placement placement, uint32_t workers, const pthread_t *threads, th_affinity **out);
void th_affinity_destroy(th_affinity *affinity); /* NULL is allowed */

/* Called by a worker whose thread is not known from outside, before it works. NULL is allowed. */
void th_affinity_apply(const th_affinity *affinity, uint32_t worker);

/* Called by the calling thread, before work begins. After a sleep it may run on a worker's CPU. The two would take
 * turns, for milliseconds if the worker spins, until the system moves one. So this moves the worker to the CPU where
 * the caller last ran. One thread at a time; allocates nothing; NULL is allowed. */
void th_affinity_avoid_caller(th_affinity *affinity);

#endif

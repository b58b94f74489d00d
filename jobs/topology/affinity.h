/* Which CPU each worker holds, whatever the scheduler.
 *
 * A baseline whose threads lie two to a CPU after every sleep would measure the system's luck; so all are placed
 * alike.
 */
#ifndef TH_JOBS_TOPOLOGY_AFFINITY_H
#define TH_JOBS_TOPOLOGY_AFFINITY_H

#include <throng/jobs/jobs.h>

#include <pthread.h>

typedef struct th_affinity th_affinity;

/* threads: of the workers from 1 on, where they stay the same and so can be pinned from outside, now and later; NULL
 * where a runtime ends and starts threads as it likes: then each one takes its pin itself. Returns 0 or an errno
 * value; *out is NULL for TH_PLACEMENT_NONE. */
int th_affinity_create(th_placement placement, uint32_t workers, const pthread_t *threads, th_affinity **out);
void th_affinity_destroy(th_affinity *affinity); /* NULL is fine */

/* By a worker whose thread is not known from outside, before it works. NULL is fine. */
void th_affinity_apply(const th_affinity *affinity, uint32_t worker);

/* By the calling thread, before work begins. After a sleep it may find itself on a worker's CPU. The two would take
 * turns there, a spinning worker for milliseconds, until the system notices; so the worker takes the CPU that the
 * caller was last seen on. One thread at a time; allocates nothing; NULL is fine. */
void th_affinity_avoid_caller(th_affinity *affinity);

#endif

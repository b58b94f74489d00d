/* Which CPU each worker holds, whatever the scheduler.
 *
 * A yardstick whose threads lie two to a CPU after every sleep would measure the system's luck; so all are placed
 * alike.
 */
#ifndef TH_JOBS_SEATS_H
#define TH_JOBS_SEATS_H

#include <throng/jobs.h>

typedef struct th_seats th_seats;

/* Makes one call on `jobs` in which every worker answers, and pins them. None for TH_PLACEMENT_NONE: *out is NULL then.
 * Returns 0 or an errno value. free() in the end. */
int th_seats_take(th_jobs *jobs, th_placement placement, th_seats **out);

/* Before work begins. After a sleep the calling thread may find itself on a worker's CPU. The two would take turns
 * there, a spinning worker for milliseconds, until the system notices; so the worker takes the CPU that the caller has
 * left. One thread at a time; NULL is fine. */
void th_seats_make_way(th_seats *seats);

#endif

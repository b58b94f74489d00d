/* The other yardstick people know: tbb::parallel_for over the chunks. */
#ifndef TH_JOBS_ONETBB_H
#define TH_JOBS_ONETBB_H

#include "job.h"
#include "seats.h"

typedef struct th_onetbb th_onetbb;

bool th_onetbb_available(void);

/* tallies: one a thread. Returns 0, ENOMEM, or EAGAIN when the runtime does not bring so many threads; *out is NULL
 * then. Only when available, and for two threads at least. */
int th_onetbb_create(const th_jobs *jobs, uint32_t threads, th_tally *tallies, th_onetbb **out);
void th_onetbb_destroy(th_onetbb *tbb); /* NULL is fine */

/* Its threads run in the role of workers of the pool. One call at a time. start: of the call, in ticks. Returns what
 * the first failing chunk returned, or ENOMEM or EAGAIN when the runtime itself gave up. */
int th_onetbb_run(th_onetbb *tbb, const th_job *job, const th_trace *trace, const th_seats *seats, uint64_t start);

#endif

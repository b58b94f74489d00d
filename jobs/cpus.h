/* Which CPUs there are for workers. */
#ifndef TH_JOBS_CPUS_H
#define TH_JOBS_CPUS_H

#include <throng/jobs.h>

#include <pthread.h>

/* Writes up to `max` CPUs of the calling thread's affinity mask in rising order, without the one it runs on; returns
 * how many. */
uint32_t th_cpus_others(uint32_t *out, uint32_t max);

/* A wish: when the system refuses, the thread stays where it may. */
void th_cpus_pin(pthread_t thread, uint32_t cpu);

#endif

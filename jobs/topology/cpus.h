/* The CPUs available to workers. */
#ifndef TH_JOBS_TOPOLOGY_CPUS_H
#define TH_JOBS_TOPOLOGY_CPUS_H

#include <jobs/jobs.h>

#include <pthread.h>
#include <sched.h>

/* The calling thread's affinity mask, for CPU_ISSET_S and related macros. */
typedef struct th_cpu_mask {
    cpu_set_t *set; /* NULL if it could not be read */
    size_t bytes;
    uint32_t cpus; /* capacity */
} th_cpu_mask;

th_cpu_mask th_cpu_mask_read(void);
void th_cpu_mask_free(th_cpu_mask mask);
bool th_cpu_mask_has(th_cpu_mask mask, int cpu);

/* Writes up to `max` CPUs of the calling thread's affinity mask, ascending, without `here`; returns how many. */
uint32_t th_cpus_others(int here, uint32_t *out, uint32_t max);

/* Pins a thread. If the system refuses, the thread stays unpinned. Allocates nothing. */
void th_cpus_pin(pthread_t thread, uint32_t cpu);

#endif

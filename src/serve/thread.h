/* The server's threads other than the tick thread. */
#ifndef TH_SERVE_THREAD_H
#define TH_SERVE_THREAD_H

#include <pthread.h>
#include <stdint.h>

/* Nice increment of threads that serve clients and build crowds: if CPUs are scarce, ticks have priority. */
#define TH_THREAD_NICE 10

/* Applies to the calling thread and to threads that it creates later. Call once. */
void th_thread_lower_priority(void);

/* CPU time of a thread that has not been joined. */
uint64_t th_thread_cpu_ns(pthread_t thread);

#endif

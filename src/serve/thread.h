/* The server's threads beside the one that ticks. */
#ifndef TH_SERVE_THREAD_H
#define TH_SERVE_THREAD_H

#include <pthread.h>
#include <stdint.h>

/* How much nicer than others threads are that answer clients and prepare crowds: where CPUs are short, ticks come
 * first. */
#define TH_THREAD_NICE 10

/* From now on, for the calling thread and for those that it creates. Once. */
void th_thread_lower_priority(void);

/* CPU time of a thread that has not been joined. */
uint64_t th_thread_cpu_ns(pthread_t thread);

#endif

/* What the server's process has of its own: threads, and files that must not outlive it. */
#ifndef TH_SERVE_PROCESS_H
#define TH_SERVE_PROCESS_H

#include <pthread.h>
#include <stdint.h>

/* ---- threads other than the tick thread ---- */

/* Nice increment of threads that serve clients and build crowds: if CPUs are scarce, ticks have priority. */
#define TH_THREAD_NICE 10

/* Applies to the calling thread and to threads that it creates later. Call once. */
void th_thread_lower_priority(void);

/* CPU time of a thread that has not been joined. */
uint64_t th_thread_cpu_ns(pthread_t thread);

/* ---- leftovers ----
 *
 * Files and folders that must not outlive the server, however it stops: temporary folders of runs, a Unix socket. A
 * stop that takes too long ends the process without waiting for the threads that would have removed them. */

enum { TH_LEFTOVERS = 8 };

/* Any thread. At most TH_LEFTOVERS at a time; further ones are not remembered. Copies the path. */
void th_leftovers_add(const char *path);

/* Removes one, if it was added, or all: NULL. A folder goes with the files in it. */
void th_leftovers_remove(const char *path);

/* Removes the files of a folder whose names begin like that. Returns how many. */
unsigned th_remove_files(const char *folder, const char *prefix);

#endif

/* What the server's process has of its own: threads, memory, and files that must not outlive it. */
#ifndef TH_SERVE_PROCESS_H
#define TH_SERVE_PROCESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- threads other than the tick thread ---- */

/* Nice increment of threads that serve clients and build crowds: if CPUs are scarce, ticks have priority. */
#define TH_THREAD_NICE 10

/* Applies to the calling thread and to threads that it creates later. Call once. */
void th_thread_lower_priority(void);

/* CPU time of a thread that has not been joined. */
uint64_t th_thread_cpu_ns(pthread_t thread);

/* ---- memory ----
 *
 * The memory of the server and of the processes that it starts, --max-memory. What is large and what clients decide on
 * is reserved here before it is allocated; a process gets what it has reserved as its limit, beyond a constant base.
 * The bases are what programs need before they have read or drawn anything; they do not count. */

/* Of a process that draws pictures, with Mesa's software renderer and LLVM, and of a run, with the stacks of its
 * threads. */
#define TH_PICTURES_BASE_BYTES ((uint64_t)192 << 20)
#define TH_RUN_BASE_BYTES      ((uint64_t)64 << 20)
#define TH_RUN_THREAD_BYTES    ((uint64_t)8 << 20)

typedef enum th_memory_kind {
    TH_MEMORY_MODELS,   /* being read, compiled, and kept */
    TH_MEMORY_CROWDS,   /* in use, and in preparation */
    TH_MEMORY_PICTURES, /* the process that draws them, and what it is sent */
    TH_MEMORY_RUNS,     /* the processes of a run: itself and the importer */
    TH_MEMORY_KINDS
} th_memory_kind;

typedef struct th_memory_budget {
    uint64_t limit;
    uint64_t used[TH_MEMORY_KINDS]; /* protected by the lock */
    pthread_mutex_t lock;
} th_memory_budget;

#define TH_MEMORY_BUDGET(bytes)                                                                                        \
    {                                                                                                                  \
        .limit = (bytes), .lock = PTHREAD_MUTEX_INITIALIZER                                                            \
    }

/* All may be called by any thread. */

/* Returns false, and reserves nothing, if less is left. */
bool th_memory_reserve(th_memory_budget *budget, th_memory_kind kind, uint64_t bytes);

/* Reserves what is left divided by `parts`, and returns it. */
uint64_t th_memory_reserve_part(th_memory_budget *budget, th_memory_kind kind, uint64_t parts);

void th_memory_release(th_memory_budget *budget, th_memory_kind kind, uint64_t bytes);
uint64_t th_memory_used(th_memory_budget *budget, th_memory_kind kind);
uint64_t th_memory_left(th_memory_budget *budget);

/* Limits the data of a process that has just been started (RLIMIT_DATA). Address space would be a limit for drivers of
 * GPUs, which reserve much of it. Not in builds with a sanitizer, which do, too. */
void th_memory_limit_process(pid_t pid, uint64_t bytes);

/* ---- leftovers ----
 *
 * Files and folders that must not outlive the server, however it stops: temporary folders of runs, a Unix socket. A
 * stop that takes too long ends the process without waiting for the threads that would have removed them. */

enum { TH_LEFTOVERS = 8 };

/* Any thread. At most TH_LEFTOVERS at a time; further ones are not remembered. Copies the path. */
void th_leftovers_add(const char *path);

/* Removes one, if it was added, or all: NULL. A folder goes with the files in it. */
void th_leftovers_remove(const char *path);

#endif

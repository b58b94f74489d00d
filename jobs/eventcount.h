/* An eventcount: a thread spins for a short time, then sleeps until a notify.
 *
 *     waiter                                       waker
 *     th_spin spin = {0};                          change the condition;
 *     while (condition not met)                    th_eventcount_notify(&event, 1);
 *         if (!th_spin_again(&spin, limit_ns)) {
 *             uint32_t key = th_eventcount_prepare_wait(&event);
 *             if (condition not met)
 *                 th_eventcount_wait(&event, key);
 *             th_eventcount_finish_wait(&event);
 *         }
 *
 * The condition must be an atomic that both sides access sequentially consistently. The waiter registers, then reads
 * the condition; the waker changes the condition, then reads the number of waiters. At least one sees the other
 * (Dekker). A notify after prepare_wait ends the sleep, or prevents it.
 *
 * Waking a thread costs its waker some microseconds. So a notify wakes two, and each woken thread wakes two of the
 * pending ones: a tree, in which 127 threads are awake after seven steps. That none is lost is tried under all
 * schedules: tests/threads/explore_jobs.c. */
#ifndef TH_JOBS_EVENTCOUNT_H
#define TH_JOBS_EVENTCOUNT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct th_spin {
    uint64_t start_ns;
    uint32_t spins;
} th_spin;

/* Pauses for a moment. Returns false once limit_ns have passed since the first call, or if limit_ns is 0. */
bool th_spin_again(th_spin *spin, uint64_t limit_ns);

typedef struct th_eventcount {
    _Atomic(uint32_t) epoch;
    _Atomic(uint32_t) waiters;       /* between prepare_wait and finish_wait */
    _Atomic(uint32_t) pending_wakes; /* to be woken by threads that were woken */
    _Atomic(uint64_t) notified_at;   /* the last notify, in ticks */
} th_eventcount;

uint32_t th_eventcount_prepare_wait(th_eventcount *event);

/* Returns how long ago the notify was, in ticks, at least 1; 0 if the thread did not sleep or woke without a notify. */
uint64_t th_eventcount_wait(th_eventcount *event, uint32_t key);
void th_eventcount_finish_wait(th_eventcount *event);

/* Wakes up to `count` waiters. Costs one load if there are none. */
void th_eventcount_notify(th_eventcount *event, uint32_t count);

#endif

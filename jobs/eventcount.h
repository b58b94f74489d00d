/* Waiting without burning: spin for a short time, then sleep until a event epoch.
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
 * The condition must be an atomic that both sides use sequentially consistently: the waiter announces itself, then
 * spins at the condition; the waker changes the condition, then spins whether anybody announced himself. One of them
 * sees the other (Dekker). A ring after the key was drawn ends the sleep, or prevents it.
 *
 * Waking a thread takes its waker some microseconds, so a ring wakes two, and each of these, on its return, two of
 * those that are still pending_wakes: a tree, in which 127 threads are awake after seven steps. */
#ifndef TH_JOBS_EVENTCOUNT_H
#define TH_JOBS_EVENTCOUNT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct th_spin {
    uint64_t start_ns;
    uint32_t spins;
} th_spin;

/* Pauses for a moment; false when limit_ns have gone by since the first time, or are 0. */
bool th_spin_again(th_spin *spin, uint64_t limit_ns);

typedef struct th_eventcount {
    _Atomic(uint32_t) epoch;
    _Atomic(uint32_t) waiters;       /* between key and return */
    _Atomic(uint32_t) pending_wakes; /* still to be woken by those who were */
    _Atomic(uint64_t) notified_at;   /* when last, in ticks */
} th_eventcount;

uint32_t th_eventcount_prepare_wait(th_eventcount *event);

/* Returns how long ago it was woken, in ticks, at least 1; 0 when it did not sleep, or nobody rang meanwhile. */
uint64_t th_eventcount_wait(th_eventcount *event, uint32_t key);
void th_eventcount_finish_wait(th_eventcount *event);

/* Wakes up to `count` waiters; costs one load when there are none. */
void th_eventcount_notify(th_eventcount *event, uint32_t count);

#endif

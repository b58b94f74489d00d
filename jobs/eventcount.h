/* Waiting without burning: spin for a short time, then sleep until a bell rings.
 *
 *     waiter                                       waker
 *     th_spin spin = {0};                          change the condition;
 *     while (condition not met)                    th_bell_ring(&bell, 1);
 *         if (!th_spin_again(&spin, limit_ns)) {
 *             uint32_t ticket = th_bell_ticket(&bell);
 *             if (condition not met)
 *                 th_bell_sleep(&bell, ticket);
 *             th_bell_return(&bell);
 *         }
 *
 * The condition must be an atomic that both sides use sequentially consistently: the waiter announces itself, then
 * looks at the condition; the waker changes the condition, then looks whether anybody announced himself. One of them
 * sees the other (Dekker). A ring after the ticket was drawn ends the sleep, or prevents it.
 *
 * Waking a thread takes its waker some microseconds, so a ring wakes two, and each of these, on its return, two of
 * those that are still owed: a tree, in which 127 threads are awake after seven steps. */
#ifndef TH_JOBS_EVENTCOUNT_H
#define TH_JOBS_EVENTCOUNT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct th_spin {
    uint64_t start_ns;
    uint32_t looks;
} th_spin;

/* Pauses for a moment; false when limit_ns have gone by since the first time, or are 0. */
bool th_spin_again(th_spin *spin, uint64_t limit_ns);

typedef struct th_bell {
    _Atomic(uint32_t) rings;
    _Atomic(uint32_t) sleepers; /* between ticket and return */
    _Atomic(uint32_t) owed;     /* still to be woken by those who were */
    _Atomic(uint64_t) rung;     /* when last, in ticks */
} th_bell;

uint32_t th_bell_ticket(th_bell *bell);

/* Returns how long ago it was woken, in ticks, at least 1; 0 when it did not sleep, or nobody rang meanwhile. */
uint64_t th_bell_sleep(th_bell *bell, uint32_t ticket);
void th_bell_return(th_bell *bell);

/* Wakes up to `count` sleepers; costs one load when there are none. */
void th_bell_ring(th_bell *bell, uint32_t count);

#endif

/* Waiting without burning: spin for a short time, then sleep until a bell rings.
 *
 *     waiter                                       waker
 *     th_spin spin = {.limit_ns = ...};            change the condition;
 *     while (condition not met)                    th_bell_ring(&bell, 1);
 *         if (!th_spin_again(&spin)) {
 *             uint32_t ticket = th_bell_ticket(&bell);
 *             if (condition not met)
 *                 th_bell_sleep(&bell, ticket);
 *             th_bell_return(&bell);
 *         }
 *
 * The condition must be an atomic that both sides use sequentially consistently: the waiter announces itself, then
 * looks at the condition; the waker changes the condition, then looks whether anybody announced himself. One of them
 * sees the other (Dekker). A ring after the ticket was drawn ends the sleep, or prevents it. */
#ifndef TH_JOBS_PARK_H
#define TH_JOBS_PARK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct th_spin {
    uint64_t limit_ns; /* 0: do not spin */
    uint64_t deadline_ns;
    uint32_t looks;
} th_spin;

/* Pauses for a moment; false when the time is up. */
bool th_spin_again(th_spin *spin);

typedef struct th_bell {
    _Atomic(uint32_t) rings;
    _Atomic(uint32_t) sleepers; /* between ticket and return */
} th_bell;

uint32_t th_bell_ticket(th_bell *bell);
void th_bell_sleep(th_bell *bell, uint32_t ticket);
void th_bell_return(th_bell *bell);

/* Wakes up to `count` sleepers; costs one load when there are none. */
void th_bell_ring(th_bell *bell, uint32_t count);

#endif

#include "eventcount.h"

#include "clock.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FAN_OUT = 2 };

static void pause_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

bool th_spin_again(th_spin *spin, uint64_t limit_ns)
{
    enum { LOOKS_PER_CLOCK = 32 }; /* a pause takes 5 to 60 ns, reading the clock about 20 */
    if (limit_ns == 0)
        return false;
    pause_cpu();
    if (spin->looks++ % LOOKS_PER_CLOCK != 0)
        return true;
    const uint64_t now_ns = th_clock_monotonic_ns();
    if (spin->start_ns == 0)
        spin->start_ns = now_ns;
    return now_ns - spin->start_ns < limit_ns;
}

uint32_t th_bell_ticket(th_bell *bell)
{
    atomic_fetch_add(&bell->sleepers, 1);
    return atomic_load(&bell->rings);
}

uint64_t th_bell_sleep(th_bell *bell, uint32_t ticket)
{
    if (syscall(SYS_futex, &bell->rings, FUTEX_WAIT_PRIVATE, ticket, NULL, NULL, 0) != 0)
        return 0;
    const uint64_t now = th_clock_ticks();
    /* The ticket tells whether somebody rang; rung would not, since it may be written before this one falls asleep.
     * Acquire, partner of the increment: who sees a ring sees when it was. */
    if (atomic_load_explicit(&bell->rings, memory_order_acquire) == ticket)
        return 0;
    const uint64_t rung = atomic_load_explicit(&bell->rung, memory_order_relaxed);
    return now > rung ? now - rung : 1; /* a later ring may have written it since */
}

static void wake(th_bell *bell, uint32_t count)
{
    syscall(SYS_futex, &bell->rings, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

void th_bell_return(th_bell *bell)
{
    atomic_fetch_sub(&bell->sleepers, 1);
    uint32_t owed = atomic_load(&bell->owed), some;
    do {
        some = owed < FAN_OUT ? owed : FAN_OUT;
        if (some == 0)
            return;
    } while (!atomic_compare_exchange_weak(&bell->owed, &owed, owed - some));
    wake(bell, some);
}

void th_bell_ring(th_bell *bell, uint32_t count)
{
    const uint32_t sleepers = atomic_load(&bell->sleepers);
    count = count < sleepers ? count : sleepers;
    if (count == 0)
        return;
    const uint32_t first = count < FAN_OUT ? count : FAN_OUT;
    atomic_store_explicit(&bell->rung, th_clock_ticks(), memory_order_relaxed);
    /* Before owed: one who returns meanwhile would spend it on wake-ups that find nobody, while others are still about
     * to fall asleep on the old ticket. After this, nobody does. */
    atomic_fetch_add(&bell->rings, 1);
    uint32_t owed = atomic_load(&bell->owed);
    while (owed < count - first && !atomic_compare_exchange_weak(&bell->owed, &owed, count - first))
        ; /* what an earlier ring still owes stays owed */
    wake(bell, first);
}

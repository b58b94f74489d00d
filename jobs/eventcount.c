#include "eventcount.h"

#include "clock.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FAN_OUT = 2 }; /* woken by a notify, and by each that wakes; eventcount.h says why */

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
    if (spin->spins++ % LOOKS_PER_CLOCK != 0)
        return true;
    const uint64_t now_ns = th_clock_monotonic_ns();
    if (spin->start_ns == 0)
        spin->start_ns = now_ns;
    return now_ns - spin->start_ns < limit_ns;
}

uint32_t th_eventcount_prepare_wait(th_eventcount *event)
{
    atomic_fetch_add(&event->waiters, 1);
    return atomic_load(&event->epoch);
}

uint64_t th_eventcount_wait(th_eventcount *event, uint32_t key)
{
    if (syscall(SYS_futex, &event->epoch, FUTEX_WAIT_PRIVATE, key, NULL, NULL, 0) != 0)
        return 0;
    const uint64_t now = th_clock_ticks();
    /* The epoch shows whether a notify happened. notified_at does not, because it may be written before this thread
     * sleeps. Acquire, paired with the increment: a thread that sees the new epoch sees its notified_at. */
    if (atomic_load_explicit(&event->epoch, memory_order_acquire) == key)
        return 0;
    const uint64_t notified_at = atomic_load_explicit(&event->notified_at, memory_order_relaxed);
    return now > notified_at ? now - notified_at : 1; /* a later notify may have written it since */
}

static void wake(th_eventcount *event, uint32_t count)
{
    syscall(SYS_futex, &event->epoch, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

/* A thread that was woken must see the pending_wakes of that notify, or nobody wakes the others. No order here says so:
 * the kernel orders all before a wake-up before all after it. */
void th_eventcount_finish_wait(th_eventcount *event)
{
    atomic_fetch_sub(&event->waiters, 1);
    uint32_t pending_wakes = atomic_load(&event->pending_wakes), some;
    do {
        some = pending_wakes < FAN_OUT ? pending_wakes : FAN_OUT;
        if (some == 0)
            return;
    } while (!atomic_compare_exchange_weak(&event->pending_wakes, &pending_wakes, pending_wakes - some));
    wake(event, some);
}

void th_eventcount_notify(th_eventcount *event, uint32_t count)
{
    const uint32_t waiters = atomic_load(&event->waiters);
    count = count < waiters ? count : waiters;
    if (count == 0)
        return;
    const uint32_t first = count < FAN_OUT ? count : FAN_OUT;
    atomic_store_explicit(&event->notified_at, th_clock_ticks(), memory_order_relaxed);
    /* Before pending_wakes: otherwise a thread that returns meanwhile could use it up on wake-ups that find no sleeper,
     * while others are still about to sleep with the old key. After the increment, none of them can. */
    atomic_fetch_add(&event->epoch, 1);
    uint32_t pending_wakes = atomic_load(&event->pending_wakes);
    while (pending_wakes < count - first &&
           !atomic_compare_exchange_weak(&event->pending_wakes, &pending_wakes, count - first))
        ; /* keeps what an earlier notify still has to wake */
    wake(event, first);
}

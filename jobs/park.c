#include "park.h"

#include "clock.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static void pause_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

bool th_spin_again(th_spin *spin)
{
    enum { LOOKS_PER_CLOCK = 32 }; /* a pause takes 5 to 60 ns, reading the clock about 20 */
    if (spin->limit_ns == 0)
        return false;
    pause_cpu();
    if (spin->looks++ % LOOKS_PER_CLOCK != 0)
        return true;
    const uint64_t now_ns = th_clock_ns();
    if (spin->deadline_ns == 0)
        spin->deadline_ns = now_ns + spin->limit_ns;
    return now_ns < spin->deadline_ns;
}

uint32_t th_bell_ticket(th_bell *bell)
{
    atomic_fetch_add(&bell->sleepers, 1);
    return atomic_load(&bell->rings);
}

void th_bell_sleep(th_bell *bell, uint32_t ticket)
{
    syscall(SYS_futex, &bell->rings, FUTEX_WAIT_PRIVATE, ticket, NULL, NULL, 0);
}

void th_bell_return(th_bell *bell)
{
    atomic_fetch_sub(&bell->sleepers, 1);
}

void th_bell_ring(th_bell *bell, uint32_t count)
{
    if (atomic_load(&bell->sleepers) == 0)
        return;
    atomic_fetch_add(&bell->rings, 1);
    syscall(SYS_futex, &bell->rings, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

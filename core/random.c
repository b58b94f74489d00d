#include <core/random.h>

#include <core/clock.h>

#include <sys/random.h>

uint64_t th_entropy(void)
{
    uint64_t bits;
    if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) != sizeof bits) /* soon after the system has started */
        bits = th_random_bits(th_clock_ns(), 0);
    return bits ? bits : 1;
}

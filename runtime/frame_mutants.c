#include "frame_mutants.h"

#include <throng/core/clock.h>
#include <throng/core/mutant.h>

static void spin_until(uint64_t end_ns)
{
    while (th_clock_ns() < end_ns) {
    }
}

uint64_t th_frame_chunk_begin(void)
{
    return th_mutant_is(TH_MUTANT_IMBALANCE) || th_mutant_is(TH_MUTANT_THROTTLE) ? th_clock_ns() : 0;
}

void th_frame_chunk_delay(uint64_t begin_ns, uint32_t worker, uint32_t workers)
{
    if (begin_ns == 0 || workers == 1 || (worker > 0 && th_mutant_is(TH_MUTANT_IMBALANCE)))
        return;
    const uint64_t now_ns = th_clock_ns();
    spin_until(now_ns + (now_ns - begin_ns) * th_mutant_number() / 100);
}

void th_frame_caller_delay(void)
{
    if (th_mutant_is(TH_MUTANT_SERIAL))
        spin_until(th_clock_ns() + 1000 * (uint64_t)th_mutant_number());
}

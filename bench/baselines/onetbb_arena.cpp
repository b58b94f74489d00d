/* C++, because the interface of oneTBB is C++.
 *
 * The worker numbers are the arena's slots. Slot 0 is reserved for a thread from outside, which is the caller: there is
 * one at a time, so it is always number 0 and never waits for a slot.
 *
 * tbb::parallel_for uses auto_partitioner, its default: about four ranges a thread, split again when another thread
 * steals. */
#include "onetbb_arena.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <cerrno>
#include <new>

struct th_onetbb_arena {
    th_onetbb_arena(uint32_t threads, uint32_t most)
        : limit(tbb::global_control::max_allowed_parallelism, most), arena(static_cast<int>(threads), 1)
    {
        arena.initialize();
    }

    /* By default the process has as many threads as CPUs. The smallest limit in force applies to all arenas, so one
     * pool must not limit another: all set the maximum, and each arena limits its own threads. */
    tbb::global_control limit;
    tbb::task_arena arena;
};

template <typename action> static int catching(const action &act)
{
    try {
        act();
        return 0;
    } catch (const std::bad_alloc &) {
        return ENOMEM;
    } catch (...) {
        return EAGAIN;
    }
}

int th_onetbb_arena_create(uint32_t threads, uint32_t most, th_onetbb_arena **out)
{
    *out = nullptr;
    return catching([=] { *out = new th_onetbb_arena(threads, most); });
}

void th_onetbb_arena_destroy(th_onetbb_arena *arena)
{
    delete arena;
}

int th_onetbb_arena_run(th_onetbb_arena *arena, uint32_t count, th_onetbb_arena_fn *fn, void *ctx)
{
    const auto run = [=](const tbb::blocked_range<uint32_t> &range) {
        fn(range.begin(), range.end(), static_cast<uint32_t>(tbb::this_task_arena::current_thread_index()), ctx);
    };
    const tbb::blocked_range<uint32_t> all(0, count);
    return catching([&] { arena->arena.execute([&] { tbb::parallel_for(all, run, tbb::auto_partitioner()); }); });
}

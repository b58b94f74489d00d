#include "job.h"

#include <assert.h>

void th_call_trace(const th_call *call, uint32_t begin, uint32_t end, uint32_t worker, th_worker_counters *counters)
{
    assert(call->trace && call->trace->fn);
    assert(begin < end && end <= call->job.count);
    const th_trace *trace = call->trace;
    const uint64_t start = counters->mark;
    counters->mark = th_clock_ticks();
    const th_span span = {
        .start_ns = th_clock_moment_ns(&trace->rate, start),
        .end_ns = th_clock_moment_ns(&trace->rate, counters->mark),
        .begin = begin,
        .end = end,
        .worker = worker,
    };
    trace->fn(&span, trace->ctx);
}

void th_call_fail(th_call *call, int error)
{
    assert(error != 0);
    int none = 0;
    atomic_compare_exchange_strong_explicit(&call->error, &none, error, memory_order_relaxed, memory_order_relaxed);
}

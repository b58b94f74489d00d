#include "trace_frames.h"

#include <assert.h>

void th_trace_frames(th_tracer *tracer, const th_row *row, th_jobs *jobs, void (*run)(void *ctx, uint64_t frame),
                     void *ctx)
{
    assert(row && run);
    if (!tracer)
        return;
    const uint64_t first_event = th_tracer_recorded(tracer);
    uint64_t frame = 0, spent_ns = 0;
    th_tracer_group(tracer, row->name);
    do {
        th_tracer_frame_begin(tracer, jobs, frame);
        const uint64_t begin = th_tracer_begin(tracer, "run");
        run(ctx, frame);
        const uint64_t end = th_tracer_end(tracer);
        th_tracer_frame_end(tracer, jobs);
        spent_ns += end - begin;
        if (row->bones > 0)
            th_tracer_count(tracer, "ns per bone", (double)(end - begin) / (double)row->bones);
        frame++;
    } while (frame < TH_TRACED_FRAMES && spent_ns < TH_TRACED_NS &&
             th_tracer_recorded(tracer) - first_event < TH_TRACED_EVENTS);
    th_tracer_group(tracer, NULL);
}

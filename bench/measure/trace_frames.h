/* Traces a measurement: runs additional frames, because tracing the timed ones would add to their times. Private to
 * bench. */
#ifndef TH_BENCH_MEASURE_TRACE_FRAMES_H
#define TH_BENCH_MEASURE_TRACE_FRAMES_H

#include <bench/report.h>
#include <throng/runtime/tracer.h>

/* Enough frames to see a worker come late, but few enough that a whole bench run fits into a trace. The first limit
 * that is reached ends them. */
enum { TH_TRACED_FRAMES = 16, TH_TRACED_NS = 5000000, TH_TRACED_EVENTS = 1500 };

/* Runs frames in a trace group with the row's name, with the chunks of `jobs` (may be NULL) and, where the row has
 * bones, a counter of nanoseconds per bone. Does nothing when tracer is NULL. */
void th_trace_frames(th_tracer *tracer, const th_row *row, th_jobs *jobs, void (*run)(void *ctx, uint64_t frame),
                     void *ctx);

#endif

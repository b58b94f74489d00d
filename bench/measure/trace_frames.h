/* What a trace has of a measurement: some frames more, as tracing those that are timed would add to their times.
 * Private to bench. */
#ifndef TH_BENCH_MEASURE_TRACE_FRAMES_H
#define TH_BENCH_MEASURE_TRACE_FRAMES_H

#include <throng/bench/report.h>
#include <throng/runtime/tracer.h>

/* Enough frames to see a worker come late, but not so many that a whole bench would not fit into a trace: they end with
 * the first of these to be reached. */
enum { TH_TRACED_FRAMES = 16, TH_TRACED_NS = 5000000, TH_TRACED_EVENTS = 1500 };

/* Runs them in a group of the row's name, with the chunks of `jobs` (may be NULL) and, where the row has bones, a
 * counter of nanoseconds a joint. A tracer that is NULL: runs nothing. */
void th_trace_frames(th_tracer *tracer, const th_row *row, th_jobs *jobs, void (*run)(void *ctx, uint64_t frame),
                     void *ctx);

#endif

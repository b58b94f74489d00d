/* A tracer: records what ran when on which thread, for trace viewers (ui.perfetto.dev, chrome://tracing).
 *
 * Each thread has a ring buffer of TH_TRACER_EVENTS events; the oldest are overwritten. So memory is bounded, and the
 * file has the end of the run and counts the dropped events.
 *
 * One thread, the main thread of the tracer, makes all calls. Workers of a pool record their chunks without locks. Only
 * functions that say so allocate. The functions that record accept NULL as tracer and then record nothing. */
#ifndef THRONG_RUNTIME_TRACER_H
#define THRONG_RUNTIME_TRACER_H

#include <core/error.h>
#include <jobs/jobs.h>

#include <stdio.h>

#define TH_TRACER_EVENTS (1u << 17) /* per thread: 5 MB, allocated and touched when the thread first appears */

typedef struct th_tracer th_tracer;

/* name: of the first group; the tracer copies the names of groups. The only error is TH_ERR_MEMORY. */
th_result th_tracer_create(const char *name, th_tracer **out, th_error *err);
void th_tracer_destroy(th_tracer *tracer);

/* Assigns the following events to a group, which viewers show as a process. A known name continues that group. NULL:
 * the first group. Must not be called inside a frame. Allocates. */
void th_tracer_group(th_tracer *tracer, const char *name);

/* Spans of the main thread, nested up to 15 deep, frames included; each ends after the spans in it. name: a string
 * literal, because only its address is kept. Each returns the time of th_clock_ns, also without a tracer, so that
 * callers that add up times need not read the clock again and get the times of the trace. */
uint64_t th_tracer_begin(th_tracer *tracer, const char *name);
uint64_t th_tracer_next(th_tracer *tracer, const char *name); /* ends the innermost, begins another without a gap */
uint64_t th_tracer_end(th_tracer *tracer);

/* A span "frame". Each chunk that the pool runs in it is recorded under the name of the main thread's innermost span.
 * jobs: may be NULL; its own trace (th_jobs_trace) is replaced. Must not be called within a call of that pool. Each
 * frame compares the clocks of pool and tracer again, which takes a microsecond outside of the frame. Allocates for a
 * pool with more threads than any before. */
void th_tracer_frame_begin(th_tracer *tracer, th_jobs *jobs, uint64_t number);
void th_tracer_frame_end(th_tracer *tracer, th_jobs *jobs);

/* Sets a counter from now on. name: as for spans. NaN and infinity are ignored. */
void th_tracer_count(th_tracer *tracer, const char *name, double value);

/* Events recorded so far, including dropped ones. tracer must not be NULL. Not within a call of a pool. */
uint64_t th_tracer_recorded(const th_tracer *tracer);

/* What a file of the trace would contain. */
typedef struct th_tracer_extent {
    uint64_t kept;
    uint64_t dropped;          /* they all ended before complete_from_ns */
    uint64_t complete_from_ns; /* since the tracer was created; from then on the trace is complete */
} th_tracer_extent;

/* tracer must not be NULL. */
th_tracer_extent th_tracer_get_extent(const th_tracer *tracer);

/* Ends open spans and writes Chrome trace events (JSON): times in microseconds since the tracer was created, ascending,
 * a span before the spans in it. producer: program and version, for the file. tracer must not be NULL. Returns
 * TH_ERR_MEMORY, also if memory ran out while recording. For errors of the file check ferror(). Allocates. */
th_result th_tracer_write(th_tracer *tracer, const char *producer, FILE *file, th_error *err);

#endif

/* A tracer: what ran when on which thread, in a file for trace viewers (ui.perfetto.dev, chrome://tracing).
 *
 * A flight recorder: each thread has room for TH_TRACER_EVENTS events, and when that is full the oldest give way. So
 * memory is bounded however long the program runs, and the file holds the end of the run; what it lacks is counted.
 *
 * One thread, the main one, makes all calls here. What a pool runs is recorded by the workers that run it, without
 * locks. Only the functions that say so allocate. NULL for a tracer is fine and records nothing, so nobody need ask
 * whether there is one. */
#ifndef THRONG_RUNTIME_TRACER_H
#define THRONG_RUNTIME_TRACER_H

#include <throng/core/error.h>
#include <throng/jobs/jobs.h>

#include <stdio.h>

#define TH_TRACER_EVENTS (1u << 17) /* of a thread: 5 MB, which are allocated and touched when it first appears */

typedef struct th_tracer th_tracer;

/* name: of the first group; copied, as those of all groups. */
th_result th_tracer_create(const char *name, th_tracer **out, th_error *err);
void th_tracer_destroy(th_tracer *tracer);

/* What begins from now on is shown apart, as a process of its own; the same name again continues that group. NULL: back
 * to the first. Not inside a frame. Allocates. */
void th_tracer_group(th_tracer *tracer, const char *name);

/* Spans of the main thread; they nest, 15 deep. name: a string literal, since it is kept by address. Each returns the
 * moment, of th_clock_ns, even without a tracer: who adds up times for himself then reads the clock once, and finds the
 * same times in the trace. */
uint64_t th_tracer_begin(th_tracer *tracer, const char *name);
uint64_t th_tracer_next(th_tracer *tracer, const char *name); /* ends the innermost, begins another: no gap between */
uint64_t th_tracer_end(th_tracer *tracer);

/* A span called "frame", in which every chunk that the pool runs is recorded under the name of the main thread's
 * innermost span. jobs: may be NULL; not within a call of it; in place of a trace that it may have (th_jobs_trace).
 * Each frame compares the clocks of pool and tracer anew, which takes a microsecond, not counted as part of the frame.
 * Allocates when it meets a pool of more threads than any before. */
void th_tracer_frame_begin(th_tracer *tracer, th_jobs *jobs, uint64_t number);
void th_tracer_frame_end(th_tracer *tracer, th_jobs *jobs);

/* The value of a counter from now on. name: as that of a span. NaN and infinity are left out. */
void th_tracer_count(th_tracer *tracer, const char *name, double value);

/* Events so far, those included that have given way. Not within a call of a pool. */
uint64_t th_tracer_recorded(const th_tracer *tracer);

/* What a file of it would hold. */
typedef struct th_tracer_extent {
    uint64_t kept;
    uint64_t dropped;          /* all of them ended before the moment below */
    uint64_t complete_from_ns; /* since the tracer was created: whatever happened later is there */
} th_tracer_extent;

th_tracer_extent th_tracer_get_extent(const th_tracer *tracer);

/* Ends what is still open and writes everything as Chrome's trace events (JSON): times in microseconds since the tracer
 * was created, in ascending order, a span before those within it. TH_ERR_MEMORY also when memory was out while
 * recording. What goes wrong with the file shows in ferror(). producer: who says so, program and version. Allocates. */
th_result th_tracer_write(th_tracer *tracer, const char *producer, FILE *file, th_error *err);

#endif

/* Additional frames that are counted or traced, never timed: that would add to their times. Private to bench. */
#ifndef TH_BENCH_MEASURE_UNTIMED_FRAMES_H
#define TH_BENCH_MEASURE_UNTIMED_FRAMES_H

#include <bench/counters.h>
#include <bench/report.h>
#include <runtime/frame.h>
#include <runtime/tracer.h>

/* ---- counted ---- */

/* Each worker reads its own counters before and after what it does in a frame, and nothing of its waits is counted:
 * spinning executes instructions, too. */
typedef struct th_worker_counts th_worker_counts;

/* For up to `workers` workers. A worker opens its counters in its first frame. */
th_result th_worker_counts_create(uint32_t workers, th_worker_counts **out, th_error *err);
void th_worker_counts_destroy(th_worker_counts *counts);

typedef struct th_counted_frames {
    th_worker_counts *counts; /* NULL: nothing is counted */
    th_frame *frame;          /* whose workers are counted. NULL: the calling thread in each call of `run` */
    void (*run)(void *ctx, uint64_t frame);
    void *ctx;
} th_counted_frames;

/* Runs frames from 0 on, for at least 50 ms; in the first one threads open their counters, and it is not counted. out:
 * of one frame. out_by_worker: the same by worker, as JSON; NULL when memory is out. Where the processor had to take
 * turns between counters, their values are scaled by the share of the time in which they counted. */
void th_counted_frames_run(const th_counted_frames *frames, th_counters *out, json_t **out_by_worker);

/* Runs frames, and adds what they count to the fields of the row. False when memory is out. */
bool th_counted_frames_describe(const th_counted_frames *frames, th_row *row);

/* Sets th_report.counters_missing: which counters are not counted, why, and what to do. */
void th_counted_frames_end(const th_worker_counts *counts, th_report *report);

/* ---- traced ---- */

/* Enough frames to see a worker come late, but few enough that a whole bench run fits into a trace. The first limit
 * that is reached ends them. */
enum { TH_TRACED_FRAMES = 16, TH_TRACED_NS = 5000000, TH_TRACED_EVENTS = 1500 };

/* Runs frames in a trace group with the row's name, with the chunks of `jobs` (may be NULL) and, where the row has
 * bones, a counter of nanoseconds per bone. Does nothing when tracer is NULL. */
void th_trace_frames(th_tracer *tracer, const th_row *row, th_jobs *jobs, void (*run)(void *ctx, uint64_t frame),
                     void *ctx);

#endif

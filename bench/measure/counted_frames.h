/* Additional frames that are counted, never timed: counting takes time. Private to bench. */
#ifndef TH_BENCH_MEASURE_COUNTED_FRAMES_H
#define TH_BENCH_MEASURE_COUNTED_FRAMES_H

#include "chunk_counters.h"

#include <throng/bench/report.h>

typedef struct th_counted_frames {
    th_chunk_counters *counters; /* NULL: nothing is counted */
    th_frame *frame;             /* its chunks are counted, on */
    uint32_t threads;            /* so many workers. NULL: each call of `run` is one chunk, of the calling thread */
    void (*run)(void *ctx, uint64_t frame);
    void *ctx;
} th_counted_frames;

/* Runs frames from 0 on, for at least 50 ms; in the first one threads open their counters, and it is not counted. out:
 * of one frame. out_by_worker: the same by worker and stage, as JSON; NULL when memory is out. */
void th_counted_frames_run(const th_counted_frames *frames, th_counters *out, json_t **out_by_worker);

/* Runs frames, and adds what they count to the fields of the row. False when memory is out. */
bool th_counted_frames_describe(const th_counted_frames *frames, th_row *row);

/* Sets th_report.counters_missing. */
void th_counted_frames_end(const th_chunk_counters *counters, th_report *report);

json_t *th_counters_json(const th_counters *counters);

#endif

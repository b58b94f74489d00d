/* Counts what workers do inside of chunks, and nothing of what they do while they wait: spinning executes instructions,
 * too. Each worker reads its own counters at both ends of a chunk. That costs some 2 microseconds a chunk, so frames
 * that are timed are not counted. Private to bench. */
#ifndef TH_BENCH_MEASURE_CHUNK_COUNTERS_H
#define TH_BENCH_MEASURE_CHUNK_COUNTERS_H

#include <throng/bench/counters.h>
#include <throng/core/error.h>
#include <throng/runtime/frame.h>

typedef struct th_chunk_counters th_chunk_counters;

/* For up to `workers` workers. A worker opens its counters in its first chunk. */
th_result th_chunk_counters_create(uint32_t workers, th_chunk_counters **out, th_error *err);
void th_chunk_counters_destroy(th_chunk_counters *counters);

/* The observer of frames that counts. The counters must outlive its frames. */
th_frame_observer th_chunk_counters_observer(th_chunk_counters *counters);

/* Forgets what was counted. This and the next two: not while a frame runs. */
void th_chunk_counters_reset(th_chunk_counters *counters);

/* What a worker counted in chunks of a stage since the begin, or since the last reset. TH_NO_INDEX: all
 * workers; TH_FRAME_STAGE_COUNT: all stages. Where the processor had to take turns between counters, their values are
 * scaled by the share of the time in which they counted. */
th_counters th_chunk_counters_get(const th_chunk_counters *counters, uint32_t worker, th_frame_stage stage);

/* Which counters are not counted, why, and what to do; "": all are. */
void th_chunk_counters_describe_missing(const th_chunk_counters *counters, char *text, size_t size);

/* "ENOENT"; never NULL. */
const char *th_errno_name(int error);

/* Why perf_event_open failed, and what to do, as a part of a sentence. */
void th_counter_error_describe(int error, char *text, size_t size);

#endif

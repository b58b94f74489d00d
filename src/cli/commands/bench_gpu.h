/* The entries gpu/<mapping>/<palette> of the bench: the crowd of pose/ entries, posed by the compute shader
 * (gpu_evaluator.h).
 *
 * An iteration finds where each character is in its clip, on one thread, uploads that and lets the GPU pose. Iterations
 * are pipelined as frame/ entries are, so that their time is the interval from one to the next, in wall time; where
 * timer queries are reliable, `gpu_us` is the GPU's own. Palettes are read back before the timing and held against
 * those of the scalar kernel and against double precision, and those that timed iterations left are checked as well. */
#ifndef TH_CLI_BENCH_GPU_H
#define TH_CLI_BENCH_GPU_H

#include "bench_frames.h"

typedef struct th_bench_gpu_entry {
    th_gpu_mapping mapping;
    th_palette palette;
} th_bench_gpu_entry;

/* The functions of th_external_benchmark; ctx: a th_bench_frames, what: a th_bench_gpu_entry. */
th_result th_bench_gpu_create(const th_external_benchmark *benchmark, void *ctx, th_row *row, void **out,
                              th_error *err);
void th_bench_gpu_before(void *subject);
void th_bench_gpu_run(void *subject, uint64_t frame);
void th_bench_gpu_after(void *subject);
void th_bench_gpu_summarize(void *subject, const th_row *baseline, th_row *row);
void th_bench_gpu_destroy(void *subject);

#endif

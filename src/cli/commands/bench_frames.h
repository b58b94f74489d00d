/* The entries of the bench that draw or let the GPU pose.
 *
 * frame/<picture>/<what> and error/<setting>: whole frames, where their time goes, and what settings that save it look
 * like.
 *
 *   all_visible         a crowd, all of it visible
 *   10_percent_visible  10 times as many characters, of which as many are visible; posed only
 *   1_percent_visible   100 times as many
 *
 *   whole   sets transforms, culls, poses and draws
 *   redraw  the same draw calls with palettes that are already uploaded: the baseline
 *   posed   everything up to the draw calls
 *   gpu     as whole, but the GPU poses (gpu_evaluator.h)
 *
 * error/<setting> is the crowd of 10_percent_visible, posed, with a setting that trades accuracy for time. Its error on
 * screen is measured before it is timed, over a second of frames.
 *
 * What the last frame of a repetition has left, and a frame at any time, are held against the truth (frame_check.h).
 *
 * Frames are pipelined as in an application: only the ring waits, for the picture of TH_RING_SLOTS frames ago. A
 * repetition begins with that many untimed frames in flight and ends with as many. So a frame's time is the interval
 * from one frame to the next, whether the CPUs or the GPU limit it. All times are wall time; `gpu_us` is the
 * GPU's own where timer queries are reliable.
 *
 * gpu/<mapping>/<palette>: the crowd of pose/ entries, posed by the compute shader. An iteration finds where each
 * character is in its clip, on one thread, uploads that and lets the GPU pose. Iterations are pipelined as frames are.
 * Palettes are read back before the timing and held against double precision, and those that timed iterations left are
 * checked as well. */
#ifndef TH_CLI_BENCH_FRAMES_H
#define TH_CLI_BENCH_FRAMES_H

#include "picture.h"

#include <bench/bench.h>

enum { TH_BENCH_FRAMES_CROWDS = 3 };

/* What the entries share; made when first needed. */
typedef struct th_bench_frames {
    th_crowd_view_desc crowds[TH_BENCH_FRAMES_CROWDS]; /* ascending */
    th_crowd_view *crowd_views[TH_BENCH_FRAMES_CROWDS];
    th_target_desc size;
    th_picture picture;
    const th_scene_desc *posed; /* of gpu/ entries */
} th_bench_frames;

/* crowd: its count is that of the visible characters; its camera is ignored. posed: the crowd of gpu/ entries;
 * borrowed. Allocates nothing. Call th_bench_frames_fini in the end. */
void th_bench_frames_init(th_bench_frames *entries, const th_crowd_view_desc *crowd, const th_target_desc *picture,
                          const th_scene_desc *posed);
void th_bench_frames_fini(th_bench_frames *entries);

/* entries: NULL for a list that cannot be run. */
th_external_benchmarks th_bench_frames_external(th_bench_frames *entries);

#endif

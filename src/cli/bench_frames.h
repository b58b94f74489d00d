/* The entries frame/<picture>/<what> of the bench: whole frames, and where their time goes.
 *
 *   all_visible        a crowd, all of it in the picture
 *   1_percent_visible  100 times as many, as many of which are in the picture
 *
 *   whole           places, culls, poses and draws
 *   redraw     the same draws with palettes that are already in place: the baseline
 *   posed           everything up to the draws
 *
 * Frames follow each other as those of a program that draws do: nobody waits for a picture, but the ring for that of
 * TH_RING_SLOTS frames ago. A repetition begins with so many frames, which are not timed, under way, and ends with as
 * many: so a frame's time is that from one to the next, whoever works meanwhile. All figures are wall time. */
#ifndef TH_CLI_BENCH_FRAMES_H
#define TH_CLI_BENCH_FRAMES_H

#include "model_set.h"
#include "picture.h"

#include <throng/bench/external_benchmark.h>

/* What the entries share, made when the first of them wants it. */
typedef struct th_bench_frames {
    th_options few, many; /* the options, each with its number of characters */
    const th_model_set *model_set;
    th_picture picture;
    th_crowd_view *crowd_views[2]; /* of few, of many */
} th_bench_frames;

/* Makes nothing yet. Options and model_set must outlive it; th_bench_frames_fini in the end. */
void th_bench_frames_init(th_bench_frames *entries, const th_options *options, const th_model_set *model_set);
void th_bench_frames_fini(th_bench_frames *entries);

/* entries: NULL to list them. */
th_external_benchmarks th_bench_frames_external(th_bench_frames *entries);

#endif

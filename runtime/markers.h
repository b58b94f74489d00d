/* Regions for LIKWID's marker API, in builds with THRONG_LIKWID: a worker is in the region "pose", "sample" or
 * "resolve" during each of its chunks. Private to runtime. */
#ifndef TH_RUNTIME_MARKERS_H
#define TH_RUNTIME_MARKERS_H

#include <throng/runtime/frame.h>

/* What observes frames that have no other observer: without THRONG_LIKWID nothing. */
#ifdef TH_HAVE_LIKWID
th_frame_observer th_markers_observer(void);
#else
static inline th_frame_observer th_markers_observer(void)
{
    return (th_frame_observer){0};
}
#endif

#endif

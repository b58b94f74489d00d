#include "markers.h"

#include <likwid-marker.h>

#include <pthread.h>
#include <stdlib.h>

static void write_results(void)
{
    LIKWID_MARKER_CLOSE;
}

static void open_markers(void)
{
    LIKWID_MARKER_INIT;
    atexit(write_results);
}

/* A thread's first start of a region registers it. Measurements begin with a frame that is not timed. */
static void begin_chunk(void *ctx, uint32_t worker, th_frame_stage stage)
{
    static _Thread_local bool is_known;
    (void)ctx, (void)worker;
    if (!is_known)
        LIKWID_MARKER_THREADINIT;
    is_known = true;
    LIKWID_MARKER_START(th_frame_stage_name(stage));
}

static void end_chunk(void *ctx, uint32_t worker, th_frame_stage stage)
{
    (void)ctx, (void)worker;
    LIKWID_MARKER_STOP(th_frame_stage_name(stage));
}

th_frame_observer th_markers_observer(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_markers);
    return (th_frame_observer){begin_chunk, end_chunk, NULL};
}

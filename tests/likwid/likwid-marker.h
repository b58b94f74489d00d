/* In the place of LIKWID's header, for test_markers: the macros of its marker API, to be told who was where. */
#ifndef LIKWID_MARKER_H
#define LIKWID_MARKER_H

typedef enum likwid_call { INIT, THREADINIT, START, STOP, CLOSE } likwid_call;

/* region: NULL for calls about none. */
void likwid_called(likwid_call call, const char *region);

#define LIKWID_MARKER_INIT          likwid_called(INIT, 0)
#define LIKWID_MARKER_THREADINIT    likwid_called(THREADINIT, 0)
#define LIKWID_MARKER_START(region) likwid_called(START, region)
#define LIKWID_MARKER_STOP(region)  likwid_called(STOP, region)
#define LIKWID_MARKER_CLOSE         likwid_called(CLOSE, 0)

#endif

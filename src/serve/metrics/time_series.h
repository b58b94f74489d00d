/* The last hour, a second at a time. One thread adds, any thread reads, nobody waits: a reader that was overtaken
 * leaves out what is gone. */
#ifndef TH_SERVE_METRICS_TIME_SERIES_H
#define TH_SERVE_METRICS_TIME_SERIES_H

#include <stdatomic.h>
#include <stdint.h>

#define TH_TIMELINE_SECONDS 3600u

/* One second of ticks, or a little more where a tick lasted beyond it. Only 8-byte numbers. */
typedef struct th_second {
    double end_s;  /* since the start of the crowd */
    double span_s; /* how long it was */
    uint64_t ticks, missed;
    uint64_t characters;                       /* animated, all ticks together */
    double mean_s, p50_s, p90_s, p99_s, max_s; /* of ticks; 0 for none */
    double late_s;                             /* the latest start of a tick, after its time */
    double busy;                               /* share of the workers' time that went into animating, 0 to 1 */
    uint64_t paused;                           /* 1: at its end nothing ticked by request */
} th_second;

enum { TH_SECOND_WORDS = sizeof(th_second) / 8 };

/* All zero: no seconds yet. Large: not for the stack. */
typedef struct th_timeline {
    _Atomic uint64_t count; /* added since the start */
    _Atomic uint64_t words[TH_TIMELINE_SECONDS][TH_SECOND_WORDS];
} th_timeline;

void th_timeline_add(th_timeline *timeline, const th_second *second);

/* The last `most` seconds at most, the oldest first; returns how many. */
uint32_t th_timeline_read(th_timeline *timeline, th_second *out, uint32_t most);

#endif

/* The last hour, a second at a time. One thread adds, any thread reads, nobody waits: a reader that was overtaken
 * leaves out what is gone. */
#ifndef TH_SERVE_METRICS_TIME_SERIES_H
#define TH_SERVE_METRICS_TIME_SERIES_H

#include <stdatomic.h>
#include <stdint.h>

#define TH_TIME_SERIES_SECONDS 3600u

/* One second of ticks, or a little more where a tick lasted beyond it. Only 8-byte numbers. */
typedef struct th_second {
    double end_s;  /* since the start of the crowd */
    double span_s; /* how long it was */
    uint64_t ticks, missed;
    uint64_t characters;                       /* animated, all ticks together */
    double mean_s, p50_s, p90_s, p99_s, max_s; /* of ticks; 0 for none */
    double max_start_delay_s;                  /* the latest start of a tick, after its time */
    double busy;                               /* share of the workers' time that went into animating, 0 to 1 */
    uint64_t paused;                           /* 1: at its end nothing ticked by request */
} th_second;

enum { TH_SECOND_WORDS = sizeof(th_second) / 8 };

/* All zero: no seconds yet. Large: not for the stack. */
typedef struct th_time_series {
    _Atomic uint64_t count; /* added since the start */
    _Atomic uint64_t words[TH_TIME_SERIES_SECONDS][TH_SECOND_WORDS];
} th_time_series;

void th_time_series_add(th_time_series *time_series, const th_second *second);

/* The last `most` seconds at most, the oldest first; returns how many. */
uint32_t th_time_series_read(th_time_series *time_series, th_second *out, uint32_t most);

#endif

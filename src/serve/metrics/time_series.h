/* The last hour, one entry per second. One thread adds, any thread reads, and none waits. A reader that is overtaken
 * drops the overwritten entries. */
#ifndef TH_SERVE_METRICS_TIME_SERIES_H
#define TH_SERVE_METRICS_TIME_SERIES_H

#include <bench/histogram.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define TH_TIME_SERIES_SECONDS 3600u

/* One second of ticks, or slightly more if a tick took longer. Only 8-byte numbers. */
typedef struct th_second {
    double end_s;  /* since the start of the crowd */
    double span_s; /* length */
    uint64_t ticks, missed;
    uint64_t characters;                       /* animated, summed over the ticks */
    double mean_s, p50_s, p90_s, p99_s, max_s; /* duration of ticks; 0 if there were none */
    double max_start_delay_s;                  /* the largest delay between a tick's due time and its start */
    double busy;                               /* fraction of the workers' time spent animating, 0 to 1 */
    uint64_t paused;                           /* 1: paused by request at its end */
} th_second;

/* What was counted in a second. Times are since the start of the crowd. */
typedef struct th_second_counts {
    uint64_t begin_ns, end_ns;
    const th_histogram *ticks; /* their durations */
    uint64_t missed, characters, max_start_delay_ns;
    double busy_s; /* time that the workers spent animating, summed over them */
    uint64_t workers;
    bool paused;
} th_second_counts;

th_second th_second_of(const th_second_counts *counts);

enum { TH_SECOND_WORDS = sizeof(th_second) / 8 };

/* All zero: empty. Too large for the stack. */
typedef struct th_time_series {
    _Atomic uint64_t count; /* added since the start */
    _Atomic uint64_t words[TH_TIME_SERIES_SECONDS][TH_SECOND_WORDS];
} th_time_series;

void th_time_series_add(th_time_series *time_series, const th_second *second);

/* Returns the last `most` seconds or fewer, oldest first; returns how many. */
uint32_t th_time_series_read(th_time_series *time_series, th_second *out, uint32_t most);

#endif

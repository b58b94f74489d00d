/* Times things against each other: many short repetitions, in turn, so that a slow moment of the machine hits all. */
#ifndef THRONG_MEASURE_H
#define THRONG_MEASURE_H

#include <throng/report.h>

/* What an iteration says that it took. */
typedef struct th_lap {
    uint64_t real_ns, cpu_ns;
} th_lap;

typedef struct th_subject {
    void (*before)(void *ctx);              /* before each repetition, not timed; may be NULL */
    void (*run)(void *ctx, uint64_t frame); /* one iteration; frame: never the same number twice in a repetition */
    void (*after)(void *ctx);               /* after each repetition, not timed; may be NULL, may fail the row */
    void *ctx;
    th_row *row; /* gets the samples and the number of iterations; rows with a failure are skipped */
} th_subject;

typedef struct th_measure_desc {
    uint32_t repetitions;
    uint32_t iterations;    /* in each; 0: for each subject as many as take repetition_ns */
    uint64_t repetition_ns; /* 0 = TH_MEASURE_REPETITION_NS */
    /* Instead of run, for all subjects, as what is compared is timed alike: an iteration of which only a part counts,
     * and which says how long that took. NULL: run. */
    th_lap (*lap)(void *ctx, uint64_t frame);
    void (*progress)(void *ctx, uint32_t done, uint32_t total); /* now and then, between timings; may be NULL */
    void *progress_ctx;
} th_measure_desc;

#define TH_MEASURE_REPETITION_NS 5000000u

/* Nothing that is run while finding the number of iterations is counted, and there is always such a run: it also warms
 * caches and clocks. */
void th_measure(const th_measure_desc *desc, const th_subject *subjects, uint32_t count);

#endif

/* Work of known duration that the compiler cannot remove. Private to bench. */
#ifndef TH_BENCH_MEASURE_CALIBRATED_WORK_H
#define TH_BENCH_MEASURE_CALIBRATED_WORK_H

#include <stdint.h>

/* How the items of a job differ in cost. */
typedef enum th_costs {
    TH_COSTS_EVEN = 0,
    TH_COSTS_ASCENDING, /* from 0 to twice the mean */
    TH_COSTS_DESCENDING,
    TH_COSTS_TAIL,   /* the items of the last sixteenth cost eight times the others */
    TH_COSTS_RANDOM, /* 1 to 16, with a frequency of 1 / cost squared, in a fixed order */
} th_costs;

typedef struct th_work {
    uint32_t count;
    uint64_t checksum; /* of all items */
    uint64_t nothing;  /* 0, but the compiler cannot know that */
    uint32_t steps[];  /* of each item */
} th_work;

/* Steps of work that this machine does in a microsecond. Takes some milliseconds. */
double th_work_calibrate(void);

/* Work of item_ns nanoseconds an item, on average. NULL when memory is out; release it with free(). */
th_work *th_work_create(uint32_t count, uint32_t item_ns, th_costs costs, double steps_per_us);

/* Does the items [begin, end) and adds their checksums to the sum. Each item depends on the sum so far: otherwise the
 * CPU would overlap the end of an item with the start of the next. */
void th_work_do(const th_work *work, uint32_t begin, uint32_t end, uint64_t *sum);

/* Work without items: a chain of steps that starts with x. */
uint64_t th_work_steps(uint64_t x, uint32_t steps);

#endif

/* Work whose length is known and that cannot be skipped. Private to bench. */
#ifndef TH_BENCH_MEASURE_CALIBRATED_WORK_H
#define TH_BENCH_MEASURE_CALIBRATED_WORK_H

#include <stdint.h>

/* How the items of a job differ in cost. */
typedef enum th_costs {
    TH_COSTS_EVEN = 0,
    TH_COSTS_ASCENDING, /* from nothing to twice the mean */
    TH_COSTS_DESCENDING,
    TH_COSTS_TAIL,   /* the last sixteenth costs eight times the rest */
    TH_COSTS_RANDOM, /* 1 to 16, the dearer the rarer (as 1 / cost squared), in an order that is always the same */
} th_costs;

typedef struct th_work {
    uint32_t count;
    uint64_t checksum; /* of all items */
    uint64_t nothing;  /* 0, which the compiler does not know */
    uint32_t steps[];  /* of each item */
} th_work;

/* How many steps of work this machine does in a microsecond. Takes some milliseconds. */
double th_work_calibrate(void);

/* Work of item_ns nanoseconds an item on average. NULL when memory is out; free() it. */
th_work *th_work_create(uint32_t count, uint32_t item_ns, th_costs costs, double steps_per_us);

/* Does the items [begin, end) and adds their checksums to the sum, one after the other: none can begin before those
 * that went into the sum are done, or the CPU would run the end of one and the start of the next at once. */
void th_work_do(const th_work *work, uint32_t begin, uint32_t end, uint64_t *sum);

/* Work without items: a chain of steps that begins with x. */
uint64_t th_work_steps(uint64_t x, uint32_t steps);

#endif

/* A range of portions of one call, packed into a word that an atomic exchange can change at once.
 *
 *     63          32 31       16 15        0
 *     |    epoch    |   begin   |   end    |
 *
 * The epoch names the call, so that who comes late cannot mistake one call's range for another's. It takes half of the
 * word: in 16 bits it would come round within the time a thread is preempted. That leaves 65,534 portions a call. */
#ifndef TH_JOBS_RANGE_H
#define TH_JOBS_RANGE_H

#include <stdint.h>

#ifndef TH_RANGE_MAX
#define TH_RANGE_MAX 65534u
#endif

/* Added to a range's word, takes its first portion. An empty range may so come to begin one behind its end. */
#define TH_RANGE_FIRST (1u << 16)

typedef struct th_range {
    uint32_t epoch;
    uint32_t begin, end;
} th_range;

static inline uint64_t th_range_pack(th_range range)
{
    return (uint64_t)range.epoch << 32 | range.begin << 16 | range.end;
}

static inline th_range th_range_unpack(uint64_t word)
{
    return (th_range){
        .epoch = (uint32_t)(word >> 32),
        .begin = (uint32_t)(word >> 16) & UINT16_MAX,
        .end = (uint32_t)word & UINT16_MAX,
    };
}

static inline uint32_t th_range_length(th_range range)
{
    return range.begin < range.end ? range.end - range.begin : 0;
}

/* The part of `whole` that worker `index` begins with. The first `sharers` have one, the others an empty one. */
static inline th_range th_range_share(th_range whole, uint32_t index, uint32_t sharers)
{
    const uint32_t length = index < sharers ? th_range_length(whole) : 0;
    return (th_range){
        .epoch = whole.epoch,
        .begin = whole.begin + length * index / sharers,
        .end = whole.begin + length * (index + 1) / sharers,
    };
}

/* Cuts a part off a range that is not empty, and returns the part. */
typedef th_range th_range_cut(th_range *range);

static inline th_range th_range_cut_first(th_range *range)
{
    const uint32_t first = range->begin++;
    return (th_range){.epoch = range->epoch, .begin = first, .end = first + 1};
}

/* The back half, rounded down but at least one: what a thief carries away is out of others' sight until it has stored
 * it, so it should not be more than what it leaves. */
static inline th_range th_range_cut_half(th_range *range)
{
    const uint32_t length = th_range_length(*range), end = range->end;
    range->end -= length > 1 ? length / 2 : 1;
    return (th_range){.epoch = range->epoch, .begin = range->end, .end = end};
}

#endif

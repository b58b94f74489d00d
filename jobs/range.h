/* A range of chunks of one call, packed into a word for atomic exchange.
 *
 *      63      32 31   16 15    0
 *     |  epoch   | begin |  end  |
 *
 * The epoch identifies the call, so that a late thread cannot confuse the ranges of two calls. It takes half of the
 * word: with 16 bits it could wrap around while a thread is preempted. That leaves 65,535 chunks per call; a call of
 * more takes several as one. */
#ifndef TH_JOBS_RANGE_H
#define TH_JOBS_RANGE_H

#include <assert.h>
#include <stdint.h>

#ifndef TH_RANGE_MAX
#define TH_RANGE_MAX 65535u
#endif

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
    return range.end - range.begin;
}

/* The initial partition of worker `index` in `whole`. Workers from `participants` on get an empty one. */
static inline th_range th_range_partition(th_range whole, uint32_t index, uint32_t participants)
{
    assert(participants > 0);
    const uint32_t length = index < participants ? th_range_length(whole) : 0;
    return (th_range){
        .epoch = whole.epoch,
        .begin = whole.begin + length * index / participants,
        .end = whole.begin + length * (index + 1) / participants,
    };
}

/* Splits a part of at most `most` chunks (not 0) off a range that is not empty, and returns it. */
typedef th_range th_range_split(th_range *range, uint32_t most);

/* From the front, for the owner: half, rounded up, so that something is left to steal. */
static inline th_range th_range_split_front(th_range *range, uint32_t most)
{
    assert(most > 0);
    const uint32_t half = (th_range_length(*range) + 1) / 2, first = range->begin;
    range->begin += most < half ? most : half;
    return (th_range){.epoch = range->epoch, .begin = first, .end = range->begin};
}

/* From the back, for a thief: half, rounded down, but at least one. Stolen chunks are invisible to others until they
 * are stored, so they should not be more than what is left. */
static inline th_range th_range_split_back(th_range *range, uint32_t most)
{
    assert(most > 0);
    const uint32_t length = th_range_length(*range), half = length > 1 ? length / 2 : 1, end = range->end;
    range->end -= most < half ? most : half;
    return (th_range){.epoch = range->epoch, .begin = range->end, .end = end};
}

#endif

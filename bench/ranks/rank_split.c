#include <bench/rank_scaling.h>

#include <assert.h>

void th_rank_split(const th_instance *instances, uint32_t count, const uint32_t *costs, uint32_t ranks,
                   uint32_t *bounds)
{
    assert((instances || count == 0) && costs && ranks > 0 && bounds);
    uint64_t total = 0, before = 0;
    uint32_t rank = 1;
    for (uint32_t i = 0; i < count; i++)
        total += costs[instances[i].model];
    bounds[0] = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t cost = costs[instances[i].model];
        /* A block ends before the character whose middle lies beyond the block's part of the cost. */
        while (rank < ranks && (2 * before + cost) * ranks > 2 * total * rank)
            bounds[rank++] = i;
        before += cost;
    }
    while (rank <= ranks)
        bounds[rank++] = count;
}

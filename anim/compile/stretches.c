#include "stretches.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Sets the level of each cell, along the path of least cost (A. Viterbi, 1967). A change of level costs as much as
 * `change` frames. from: room for a level by cell and level. */
static void find_path(const uint8_t *need, uint32_t cell_count, const double *frames, uint32_t level_count,
                      double change, uint8_t *from, uint8_t *path)
{
    double cost[TH_MOST_LEVELS] = {0};
    uint32_t cheapest = 0;
    for (uint32_t i = 0; i < cell_count; i++) {
        const uint32_t before = cheapest;
        const double changed = cost[before] + change;
        for (uint32_t level = 0; level < level_count; level++) {
            const bool changes = changed < cost[level];
            from[(size_t)i * level_count + level] = (uint8_t)(changes ? before : level);
            cost[level] = level < need[i] ? HUGE_VAL : (changes ? changed : cost[level]) + frames[level];
        }
        cheapest = 0;
        for (uint32_t level = 1; level < level_count; level++)
            cheapest = cost[level] < cost[cheapest] ? level : cheapest;
    }
    for (uint32_t i = cell_count, level = cheapest; i-- > 0; level = from[(size_t)i * level_count + level])
        path[i] = (uint8_t)level;
}

/* Returns the number of runs, of which it writes the first `most`. */
static uint32_t find_runs(const uint8_t *path, uint32_t cell_count, uint32_t most, th_cells *out)
{
    uint32_t count = 0;
    for (uint32_t begin = 0, end; begin < cell_count; begin = end, count++) {
        for (end = begin + 1; end < cell_count && path[end] == path[begin]; end++)
            ;
        if (count < most)
            out[count] = (th_cells){begin, end, path[begin]};
    }
    return count;
}

uint32_t th_stretches_choose(const uint8_t *need, uint32_t cell_count, const double *frames, uint32_t level_count,
                             uint32_t most, th_cells *out)
{
    assert(need && frames && out && cell_count > 0 && most > 0);
    assert(level_count > 0 && level_count <= TH_MOST_LEVELS);
    uint8_t *from = malloc((size_t)cell_count * level_count), *path = malloc(cell_count);
    uint32_t count = 0;
    double change = 2;
    do {
        if (from && path)
            find_path(need, cell_count, frames, level_count, change, from, path);
        count = from && path ? find_runs(path, cell_count, most, out) : 0;
        change *= 2;
    } while (count > most);
    free(from);
    free(path);
    return count;
}

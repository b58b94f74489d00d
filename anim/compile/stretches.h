/* Which parts of a clip share a rate. For resample.c. Private to anim. */
#ifndef TH_ANIM_COMPILE_STRETCHES_H
#define TH_ANIM_COMPILE_STRETCHES_H

#include <stdint.h>

#define TH_MOST_LEVELS 64

/* Cells [begin, end) at one level. */
typedef struct th_cells {
    uint32_t begin, end, level;
} th_cells;

/* Splits cells into at most `most` runs, so that each cell gets at least the level that it needs and the frames are
 * few. frames: of a cell, by level, ascending. level_count: at most
 * TH_MOST_LEVELS. out: room for `most`. Returns their count, or 0 if out of memory. */
uint32_t th_stretches_choose(const uint8_t *need, uint32_t cell_count, const double *frames, uint32_t level_count,
                             uint32_t most, th_cells *out);

#endif

/* Resamples authored clips for the kernel. For compile.c. Private to anim. */
#ifndef TH_ANIM_COMPILE_RESAMPLE_H
#define TH_ANIM_COMPILE_RESAMPLE_H

#include "compiled_data.h"

/* The largest error of a clip. */
typedef struct th_worst {
    double error, ticks;
    uint32_t joint;
} th_worst;

/* A clip resampled at the rates of compiled_clip. */
typedef struct th_resampled {
    void *keys; /* the caller frees it; NULL on failure: */
    const char *reason;
    bool out_of_memory;
    th_compiled_clip compiled_clip;
    th_worst worst;
} th_resampled;

/* What resampling one clip after the other needs. A thread has one of its own. */
typedef struct th_resampler th_resampler;

/* compiled: its program is complete; borrowed. Returns NULL if out of memory. */
th_resampler *th_resampler_create(const th_compiled_model *compiled);
void th_resampler_destroy(th_resampler *resampler); /* NULL is allowed */

/* clip: NULL for the rest pose. *budget: how many joints may be posed; reduced by the number used. The result depends
 * on the clip, on the budget and on the room that is left for clips, on nothing else. */
th_resampled th_resample_clip(th_resampler *resampler, const th_clip *clip, int64_t *budget);

/* ---- which parts of a clip share a rate ---- */

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

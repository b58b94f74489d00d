/* The contents of a crowd, for crowd.c and crowd_layers.c. Private to anim. */
#ifndef TH_ANIM_CROWD_DATA_H
#define TH_ANIM_CROWD_DATA_H

#include "compile/compiled_data.h"

#include <throng/anim/crowd.h>
#include <throng/anim/playback.h>

#include <assert.h>

/* Members of a batch. The last batch of a group may have up to 15 more, which saves lanes. */
#define BATCH     16u
#define MAX_BATCH (2 * BATCH - 1)

/* The data of an instance that a frame reads. */
typedef struct crowd_member {
    const th_compiled_clip *compiled_clip;
    th_playback playback; /* 0 for a single pose */
} crowd_member;

/* All active instances of one compiled model. Their batches and palettes are contiguous. */
typedef struct crowd_group {
    const th_compiled_model *compiled;
    uint32_t first_member, member_count;
    bool exact; /* some clips play exact */
    uint32_t first_batch, batch_count;
    size_t palette_offset, palette_stride, palette_bytes; /* stride: as th_palette_stride */
    size_t scratch_bytes;                                 /* without the palette of a member that plays exact */
    size_t pose_offset, pose_stride;                      /* poses of compiled clips; stride: of a batch */
    size_t exact_offset, exact_stride;                    /* poses of exact clips, if any; stride: of a member */
} crowd_group;

struct th_crowd {
    th_isa isa;
    th_palette format;
    th_writes writes; /* as requested */
    bool streamed;    /* resolved for the active instances */
    bool prefetches;  /* prefetches lines that are not streamed before writing them */
    const th_kernels *kernels;
    crowd_group *groups;
    uint32_t group_count;
    crowd_member *all;     /* [instance] */
    crowd_member *members; /* the active ones, in palette order, so that a batch reads neighbours */
    uint32_t *instance_of; /* [member] */
    uint32_t *member_of;   /* [instance]; undefined for inactive ones */
    uint32_t *group_of;    /* [instance] its own */
    uint32_t *posed_in;    /* [instance] the group in which it is posed; undefined for inactive ones */
    uint32_t instance_count, active_count, batch_count;
    size_t palette_bytes, scratch_bytes, pose_bytes, bytes;
};

/* Offset of the palette of a member. */
static inline size_t palette_offset(const crowd_group *group, uint32_t member)
{
    assert(member - group->first_member < group->member_count); /* the instance is active */
    return group->palette_offset + (member - group->first_member) * group->palette_stride;
}

/* Members [begin, end) of a group. */
typedef struct batch {
    const crowd_group *group;
    uint32_t index; /* within the group */
    uint32_t first, count;
} batch;

/* group: that of this batch or of an earlier one. */
static inline batch batch_at(const crowd_group *group, uint32_t index)
{
    while (index - group->first_batch >= group->batch_count)
        group++;
    const uint32_t within = index - group->first_batch, before = within * BATCH;
    const bool last = within + 1 == group->batch_count;
    assert(within < group->batch_count && group->member_count - before >= (last ? 1 : BATCH));
    assert(!last || group->member_count - before <= MAX_BATCH);
    return (batch){group, within, group->first_member + before, last ? group->member_count - before : BATCH};
}

/* Call after the last palette. Cached writes need no fence, and would wait for their own stores. */
static inline void finish_writes(const th_crowd *crowd)
{
    if (crowd->streamed)
        crowd->kernels->fence();
}

/* Resolves local transforms of all joints, and weights behind them, and writes the palette. scratch:
 * th_crowd_scratch_bytes; local may be its beginning. */
void th_crowd_resolve_exact(const th_crowd *crowd, const crowd_group *group, const th_dmat34 *local, char *palette,
                            char *scratch);

#endif

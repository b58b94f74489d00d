/* Decides in each frame which palettes are evaluated, and which of them each listed character reads.
 *
 * Without sharing every listed character has a palette of its own. With sharing (anim/sharing.h) characters far away
 * read that of a step of their clip. Palettes of a model are in this order: shared poses, by key; then those of
 * characters that share with nobody, in the order of the list. So the plan depends on the list and the time only, not
 * on threads. A frame allocates nothing. */
#ifndef THRONG_RUNTIME_POSE_PLAN_H
#define THRONG_RUNTIME_POSE_PLAN_H

#include <throng/anim/crowd.h>
#include <throng/anim/sharing.h>
#include <throng/core/api.h>
#include <throng/jobs/jobs.h>

TH_API_BEGIN

typedef struct th_pose_plan_desc {
    th_crowd *crowd;        /* required; borrowed; only the plan sets its active instances */
    th_sharing_rates rates; /* at which groups may share; none: nobody shares */
    /* The most that shared palettes of a model may take. In a frame that needs more, its characters do not share, which
     * would save little: they are hardly ever the same. 0: no limit. */
    size_t most_bytes;
    uint32_t most_groups; /* of a list */
} th_pose_plan_desc;

/* Characters list[first] to list[first + count - 1], all posed in one compiled model of the crowd, which has the clips
 * of their own. */
typedef struct th_pose_group {
    uint32_t model, first, count;
    bool shares;   /* false: also of instances that play layers */
    uint32_t rate; /* if they share: index into the rates */
} th_pose_group;

/* The palettes of a group: those that its characters share, or one for each character in order. */
typedef struct th_pose_palettes {
    th_palette_range range;
    uint32_t first;  /* among the active ones of the crowd */
    bool are_shared; /* th_pose_plan_palettes says who reads which */
} th_pose_palettes;

/* Of the last frame: palettes evaluated, and characters listed beyond that, who read one that was evaluated anyway. */
typedef struct th_pose_counts {
    uint32_t evaluated, shared;
} th_pose_counts;

typedef struct th_pose_plan th_pose_plan;

/* Errors: as th_sharing_create. */
th_result th_pose_plan_create(const th_pose_plan_desc *desc, th_pose_plan **out, th_error *err);
void th_pose_plan_destroy(th_pose_plan *plan); /* NULL does nothing */

/* Makes the palettes of a frame active. list: no instance twice. groups: cover the list in order; both are
 * read until the next call. */
void th_pose_plan_make(th_pose_plan *plan, th_jobs *jobs, double time_s, const uint32_t *list,
                       const th_pose_group *groups, uint32_t group_count);

th_pose_counts th_pose_plan_counts(const th_pose_plan *plan);
th_pose_palettes th_pose_plan_group(const th_pose_plan *plan, uint32_t group);

/* By index in the list: the palette that a character reads, among the active ones of the crowd. For groups that share.
 */
const uint32_t *th_pose_plan_palettes(const th_pose_plan *plan);

/* NULL without rates. */
const th_sharing *th_pose_plan_sharing(const th_pose_plan *plan);

TH_API_END

#endif

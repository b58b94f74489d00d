/* Decides in each frame which palettes are evaluated, and which of them each listed character reads.
 *
 * Without sharing every listed character has a palette of its own. With sharing (anim/sharing.h) characters far away
 * read that of a step of their clip. Palettes of a model are in this order: shared poses, by key; then those of
 * characters that share with nobody, in the order of the list. So the plan depends on the list and the time only, not
 * on threads. A frame allocates nothing.
 *
 * Characters of a draw list may also hold their pose for some frames: they read the palette that was evaluated for them
 * in one of the frames before, which the caller keeps. In a frame with number n, instance i is posed anew if n + i is a
 * multiple of its draw list's `hold`; so the work is the same in each frame. It is posed anew as well if it has not
 * been for that long, or never, or then in another model than that list was, or if the last pose that it read was
 * shared or of a frame whose palettes exceeded most_bytes. So no pose is older than `hold` frames, nobody goes back to
 * a pose before the last, and a character that comes into sight shows no other; and a list that goes over to another
 * model does so step by step, as does one that begins to hold. The plan then depends on the frames before, too. */
#ifndef THRONG_RUNTIME_POSE_PLAN_H
#define THRONG_RUNTIME_POSE_PLAN_H

#include <anim/crowd.h>
#include <anim/sharing.h>
#include <jobs/jobs.h>

typedef struct th_pose_plan_desc {
    th_crowd *crowd;        /* required; borrowed; only the plan sets its active instances */
    th_sharing_rates rates; /* at which draw lists may share; none: nobody shares */
    /* The most that shared palettes of a model may take. In a frame that needs more, its characters do not share, which
     * would save little: they are hardly ever the same. 0: no limit. */
    size_t most_bytes;   /* also without sharing, where poses are held */
    uint32_t most_lists; /* draw lists of a frame */
    uint32_t most_hold;  /* the largest th_draw_list.hold, at most TH_POSE_MAX_HOLD; 0: nobody holds a pose */
} th_pose_plan_desc;

/* Characters list[first] to list[first + count - 1], which are drawn alike. */
typedef struct th_draw_list {
    uint32_t first, count;
    uint32_t own, lod; /* their own model, and how finely they are drawn; this and the next say nothing to a plan */
    bool shadow_only;  /* out of sight, but with a visible shadow */

    /* How they are posed. */
    uint32_t posed_as; /* all in one compiled model of the crowd, which has the clips of their own */
    bool shares;       /* false: also of instances that play layers */
    uint32_t rate;     /* if they share: index into the rates */
    uint32_t hold;     /* if they do not: frames for which a pose is held; 0 or 1: each is posed in every frame */
} th_draw_list;

/* The palettes of a draw list: those that its characters share, or one for each character in order who holds no pose.
 */
typedef struct th_pose_palettes {
    th_palette_range range;
    uint32_t first;  /* among the active ones of the crowd */
    bool are_shared; /* th_pose_readers.palettes says who reads which */
    bool are_held;   /* some may be; th_pose_readers.places says who reads which */
} th_pose_palettes;

/* Of the last frame: palettes evaluated; characters listed beyond that, who read one that was evaluated anyway, or one
 * of a frame before. */
typedef struct th_pose_counts {
    uint32_t evaluated, shared, held;
} th_pose_counts;

#define TH_POSE_MAX_HOLD 8u

/* Where a character of a draw list that holds poses finds its palette. */
typedef struct th_pose_place {
    uint32_t frames_ago; /* when it was evaluated; 0: in this frame */
    uint32_t palette;    /* which of those that its model had in that frame */
    uint32_t at;         /* index in the list, if each draw list is ordered by frames_ago */
} th_pose_place;

/* Characters of a draw list whose palettes are of one frame. */
typedef struct th_pose_part {
    uint32_t model;         /* of the draw list in that frame */
    uint32_t first, count;  /* in the list, if each draw list is ordered by frames_ago */
    th_palette_range range; /* all palettes of their model in that frame */
} th_pose_part;

typedef struct th_pose_plan th_pose_plan;

/* Errors: as th_sharing_create. */
th_result th_pose_plan_create(const th_pose_plan_desc *desc, th_pose_plan **out, th_error *err);
void th_pose_plan_destroy(th_pose_plan *plan); /* NULL does nothing */

/* Makes the palettes of a frame active. list: no instance twice. draw_lists: cover the list in order, where
 * poses are held the same ones in each frame; both are read until the next call. */
void th_pose_plan_make(th_pose_plan *plan, th_jobs *jobs, double time_s, const uint32_t *list,
                       const th_draw_list *draw_lists, uint32_t list_count);

/* Only with most_hold. begin: before the plan of a frame is made. keep: after it was made for the last time; the caller
 * then keeps its palettes until most_hold - 1 frames later. number: rises by one each frame, and by more than
 * TH_POSE_MAX_HOLD where palettes of the frames before are lost. */
void th_pose_plan_begin(th_pose_plan *plan, uint32_t number);
void th_pose_plan_keep(th_pose_plan *plan, th_jobs *jobs, uint32_t number);

/* What a frame is read by. */
typedef struct th_pose_readers {
    const uint32_t *palettes; /* by index in the list, of who shares: the palette, among the active ones of the crowd */
    const th_pose_place *places; /* the same of draw lists that hold poses, after keep; NULL without most_hold */
    const th_sharing *sharing;   /* NULL without rates */
} th_pose_readers;

th_pose_readers th_pose_plan_readers(const th_pose_plan *plan);
th_pose_counts th_pose_plan_counts(const th_pose_plan *plan);
th_pose_palettes th_pose_plan_list(const th_pose_plan *plan, uint32_t draw_list);
th_pose_part th_pose_plan_part(const th_pose_plan *plan, uint32_t draw_list, uint32_t frames_ago);

#endif

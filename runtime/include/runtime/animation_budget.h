/* Keeps the evaluated bones of a frame within a budget: one tolerance for all levels of detail, in pixels, and for each
 * level the cheapest way to pose that stays within it.
 *
 * The tolerance goes through a fixed ladder. At 0 every character has a pose of its own, with all joints, in each
 * frame. Above it the characters of a level are posed in the cheapest way of which the error is no more than the
 * tolerance, at the largest size in pixels that the level has: with the joints of a joint level, and then either
 * sharing, where half a step of their clips' motion is lost, or holding their pose, where the motion of the frames in
 * between is. So one number says what is lost, and it is the least that the budget allows.
 *
 * A frame that would take too much takes the next tolerance at once: whoever plans it plans again until it fits. Twice
 * a second the finer one is tried, and kept if it fits with a margin. So a camera that turns away and back changes
 * tolerances at most by one each half second, while it always holds the budget; and as levels depend on distance, not
 * on where the camera looks, nothing else changes. The result depends on the frames so far and on the budget in bones,
 * not on threads. Pure; only th_budget_motion allocates. */
#ifndef THRONG_RUNTIME_ANIMATION_BUDGET_H
#define THRONG_RUNTIME_ANIMATION_BUDGET_H

#include <anim/compiled_model.h>
#include <anim/joint_lod.h>
#include <anim/sharing.h>

/* Steps per second at which levels share, the most frames for which they hold a pose, and tolerances in pixels. */
#define TH_BUDGET_RATES_HZ                                                                                             \
    {                                                                                                                  \
        120, 60, 30, 15, 8                                                                                             \
    }
#define TH_BUDGET_RATES      5u
#define TH_BUDGET_MOST_HOLD  4u
#define TH_BUDGET_TOLERANCES 9u

/* 0, 0.25, 0.5, 1, ... 32 */
double th_budget_tolerance_px(uint32_t tolerance);

/* How fast the fastest joint of the model moves in its clips, in model sizes per second of clip time: at 95 of 100
 * moments it is slower. Takes milliseconds. False if out of memory. */
bool th_budget_motion(const th_model *model, double *out);

/* What ways of posing a model lose and save. Nothing here depends on who is in sight, so nor does what is chosen. */
typedef struct th_budget_means {
    uint32_t level_count;         /* of the joints; at least 1 */
    double errors[TH_LOD_LEVELS]; /* [level] in model sizes; level 0 loses none */
    uint32_t bones[TH_LOD_LEVELS];
    double motion;                 /* in model sizes per second of clip time (th_budget_motion) */
    double speed;                  /* in model sizes per second, with the way that is walked, of the fastest instance */
    double poses[TH_BUDGET_RATES]; /* [rate] if all instances share: poses for each of them; 1: they do not share */
} th_budget_means;

/* A way of posing. */
typedef struct th_budget_way {
    uint32_t level; /* of the joints */
    uint32_t rate;  /* at which characters share, an index into TH_BUDGET_RATES_HZ; TH_NO_INDEX: they do not */
    uint32_t hold;  /* frames for which they hold their pose; 1: they do not */
} th_budget_way;

/* The way that evaluates fewest bones for each character, of those that are off by no more than the tolerance; of equal
 * ones that which loses less. size_px: of the model in the picture; frame_s: from one frame to the next. */
th_budget_way th_budget_choose(uint32_t tolerance, const th_budget_means *means, double size_px, double frame_s);

/* Of the frames so far. Zero at first. */
typedef struct th_animation_budget {
    uint32_t tolerance; /* that is in use */
    uint32_t frames;    /* since it last changed, or was tried to */
    bool is_trial;      /* this frame tries a finer one */
    double ns_per_bone; /* smoothed */
} th_animation_budget;

/* The bones that a frame may evaluate: `bones` if not 0, otherwise as many as lately took `ns`. */
uint64_t th_budget_bones(const th_animation_budget *budget, double ns, uint64_t bones);

/* Begins a frame, which is then planned with budget.tolerance. */
void th_budget_begin(th_animation_budget *budget);

/* After a plan that evaluates `bones`: whether that is too much and another tolerance has been set, with which to plan
 * again. False also where there is no coarser one. */
bool th_budget_exceeded(th_animation_budget *budget, uint64_t bones, uint64_t allowed);

/* Ends a frame. ns: that evaluating its bones took. */
void th_budget_end(th_animation_budget *budget, uint64_t bones, double ns);

#endif

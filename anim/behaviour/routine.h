/* Routines: closed sequences of clips, and all those of a model. Private to anim. */
#ifndef TH_ANIM_BEHAVIOUR_ROUTINE_H
#define TH_ANIM_BEHAVIOUR_ROUTINE_H

#include "mix.h"
#include "transition.h"

#define TH_GESTURE_FADE_S 0.3

#define TH_BEHAVIOUR_SALT 0x6265686176u /* keeps the streams apart from the crowd's of the same seed */

/* A power of two, because parts are found by bisection. */
#define TH_ROUTINE_PARTS 64u

/* Plays one clip: first the transition into it, from the part before. Times are in the routine. */
typedef struct th_routine_part {
    const th_transition *in;
    double from_ratio; /* of the old clip, when the transition begins; added to those of the transition */
    double settled_s;  /* when only this clip plays */
    double ratio;      /* of this clip then */
    double rate;       /* in clip lengths per second */
    double begin_travel, settled_travel, speed;
    uint32_t clip, gesture; /* gesture: index in the repertoire, or TH_NO_INDEX */
    double gesture_s, gesture_end_s, gesture_rate;
} th_routine_part;

typedef struct th_routine {
    double begin_s[TH_ROUTINE_PARTS]; /* of the parts; those that are not used begin at infinity */
    th_routine_part parts[TH_ROUTINE_PARTS];
    uint32_t count;          /* 0: nothing to play */
    double length_s, length; /* after which it repeats, in time and over the ground */
    double least, most;      /* distance from where the mean speed would lead, over the routine */
} th_routine;

struct th_routines {
    const th_compiled_model *compiled;
    const th_repertoire *repertoire; /* NULL: only fades between all clips */
    th_pace_space *space;            /* NULL: no blend, and the rest is valid */
    double speed, deviation;         /* speed: mean over the ground; 0: in place */
    uint64_t bytes, max_bytes;
    bool is_full;                /* max_bytes have been reached */
    th_transition **transitions; /* [from][to] those that some routine uses */
    th_routine routines[];       /* [TH_ROUTINES], and none for a blend */
};

/* The part at a time within the routine. */
static inline uint32_t th_routine_part_at(const th_routine *routine, double time_s)
{
    uint32_t part = 0;
    for (uint32_t step = TH_ROUTINE_PARTS / 2; step > 0; step /= 2)
        part += time_s >= routine->begin_s[part + step] ? step : 0;
    return part;
}

#endif

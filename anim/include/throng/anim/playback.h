/* How far an instance has played its clip. In one place, so that who carries a model on by whole loops and who poses it
 * within one agree to the last bit: where they did not, it would jump by a loop. */
#ifndef THRONG_ANIM_PLAYBACK_H
#define THRONG_ANIM_PLAYBACK_H

#include <math.h>
#include <stdint.h>

/* In whole clips, and whole clips a second. */
typedef struct th_playback {
    double phase, speed;
} th_playback;

/* duration_s: of the clip, above 0; phase_s: clip seconds at time 0; speed: clip seconds per second. */
static inline th_playback th_playback_of(double duration_s, double phase_s, double speed)
{
    /* A little late: at the time of a key, rounding must not show what was before it. */
    const double late = 0x1p-32;
    return (th_playback){phase_s / duration_s + late, speed / duration_s};
}

/* Played by then. The whole ones are floor() of it. */
static inline double th_playback_clips(th_playback playback, double time_s)
{
    return playback.phase + playback.speed * time_s;
}

/* How far it is into the clip, from 0 to 1: what is left of the whole ones. */
static inline double th_playback_part(th_playback playback, double time_s)
{
    const double clips = th_playback_clips(playback, time_s);
    if (!(fabs(clips) < 0x1p51)) /* no fraction left, or none that an integer could help to find */
        return 0;
    const double part = clips - (double)(int64_t)clips;
    return part < 0 ? part + 1 : part;
}

#endif

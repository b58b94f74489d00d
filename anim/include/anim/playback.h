/* Playback position of an instance in its clip. Root motion counts whole loops and poses use the position within a
 * loop; both use these functions, so that they agree to the last bit. Otherwise an instance could jump by a loop. */
#ifndef THRONG_ANIM_PLAYBACK_H
#define THRONG_ANIM_PLAYBACK_H

#include <assert.h>
#include <math.h>
#include <stdint.h>

/* phase in clip lengths at time 0, speed in clip lengths per second. */
typedef struct th_playback {
    double phase, speed;
} th_playback;

/* duration_s: of the clip, above 0; phase_s: clip seconds at time 0; speed: clip seconds per second. */
static inline th_playback th_playback_of(double duration_s, double phase_s, double speed)
{
    assert(duration_s > 0);
    /* Slightly late, so that rounding at the time of a key never selects the frame before it. */
    const double late = 0x1p-32;
    const th_playback playback = {phase_s / duration_s + late, speed / duration_s};
    return playback;
}

/* Clip lengths played at time_s. Whole loops are its floor(). */
static inline double th_playback_loops(th_playback playback, double time_s)
{
    return playback.phase + playback.speed * time_s;
}

/* Position within the clip, in [0, 1]: the fraction of th_playback_loops. */
static inline double th_playback_ratio(th_playback playback, double time_s)
{
    const double clips = th_playback_loops(playback, time_s);
    if (!(fabs(clips) < 0x1p51)) /* a double has no fraction left, or an int64_t may overflow */
        return 0;
    const double ratio = clips - (double)(int64_t)clips;
    return ratio < 0 ? ratio + 1 : ratio;
}

#endif

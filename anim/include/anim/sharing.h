/* Sharing of poses: instances whose clips have nearly reached the same moment read one palette.
 *
 * The duration of each clip is divided into steps: a whole number of them, so that loops stay seamless. All instances
 * within a step share the pose in its middle, so each is shown at most half a step early or late. A key names a step of
 * a clip of a compiled model. It depends on the time, and on what the instance plays and when, not on who else is in
 * sight: a pose does not change when a character comes or goes. Instances of any speed share.
 *
 * Only the clips of instances are shared, not layers: callers leave out instances with a behaviour. */
#ifndef THRONG_ANIM_SHARING_H
#define THRONG_ANIM_SHARING_H

#include <anim/crowd.h>

#define TH_SHARING_MAX_HZ 1e6

/* Immutable: any number of threads may read it. */
typedef struct th_sharing th_sharing;

#define TH_SHARING_MAX_RATES 8u
#define TH_SHARING_MAX_KEYS  (UINT32_C(1) << 26)

/* Steps per second of clip time, rounded for each clip so that they are a whole number; each above 0, at most
 * TH_SHARING_MAX_HZ. */
typedef struct th_sharing_rates {
    double hz[TH_SHARING_MAX_RATES];
    uint32_t count; /* at least 1 */
} th_sharing_rates;

/* The crowd is borrowed. TH_ERR_LIMIT: more than TH_SHARING_MAX_KEYS; TH_ERR_MEMORY. */
th_result th_sharing_create(const th_crowd *crowd, const th_sharing_rates *rates, th_sharing **out, th_error *err);
void th_sharing_destroy(th_sharing *sharing); /* NULL does nothing */

/* The keys [first, end) of a compiled model at a rate (an index), both multiples of 64. Ranges follow each other, by
 * model, then by rate. Not each key names a step. */
typedef struct th_sharing_range {
    uint32_t first, end;
} th_sharing_range;

th_sharing_range th_sharing_range_of(const th_sharing *sharing, uint32_t model, uint32_t rate);
uint32_t th_sharing_key_count(const th_sharing *sharing); /* the last end */

/* The keys of instances at time_s, at this rate (an index), posed in compiled model `model`, which has the same clips
 * as their own. */
void th_sharing_keys(const th_sharing *sharing, uint32_t model, uint32_t rate, const uint32_t *instances,
                     uint32_t count, double time_s, uint32_t *out);

/* The pose that instances of this key share. key: from th_sharing_keys. */
th_shared_pose th_sharing_pose(const th_sharing *sharing, uint32_t key);

#endif

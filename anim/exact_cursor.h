/* Exact evaluation of a clip at one time after another. Each channel has a cursor, which keeps the keys around the last
 * time and what follows from them, so that a time nearby takes no search and no arc cosine. The values are those of
 * exact.h, bit for bit. Private to anim. */
#ifndef TH_ANIM_EXACT_CURSOR_H
#define TH_ANIM_EXACT_CURSOR_H

#include <anim/exact.h>

#include <stddef.h>

typedef struct th_exact_cursor {
    uint32_t translation, rotation, scale; /* the keys at or before the last time, or TH_NO_INDEX */
    double t;                              /* how far the last time was from that of the rotation to the next */
    double turned[4];                      /* the rotation at the last time */
    uint32_t arc_key;                      /* where the arc begins, or TH_NO_INDEX */
    th_quat_arc arc;
} th_exact_cursor;

/* Cursors that are nowhere yet. */
void th_exact_cursors_reset(th_exact_cursor *cursors, size_t count);

/* As th_exact_channel. The cursor belongs to the channel and to the interpolation mode, here and below. */
void th_exact_cursor_channel(th_exact_cursor *cursor, const th_channel *channel, double ticks,
                             th_interpolation interpolation, th_trs *out);

/* When a track has the value of a key: at its time or, if the next key has the same time, just before that. */
double th_exact_key_ticks(const th_track *track, uint32_t key);

/* th_trs_take_signs for a transform that the channel has at some time. It decides the same at all times. */
void th_channel_take_signs(const th_channel *channel, const double like[3], th_trs *trs);

#endif

/* The stands of TH_LAYOUT_STADIUM: rows of seats on rounded rectangles around the origin, each row behind and above the
 * one before. Closed forms, so that a seat costs the same wherever it is. Private to render. */
#ifndef TH_RENDER_VIEW_STADIUM_H
#define TH_RENDER_VIEW_STADIUM_H

#include <throng/render/layout.h>

#include <stdint.h>

typedef struct th_stadium {
    uint32_t rows;
    uint32_t straight[2]; /* seats of a row along X, and along Z */
    uint32_t corner;      /* seats in each corner of the first row */
    double seat;          /* from a seat to the next; this and below: scene units */
    double depth, rise;   /* from a row to the next */
    double base;          /* height of the first row */
    double half[2];       /* half of the straight parts along X, and along Z */
    double radius;        /* of the corners of the first row */
} th_stadium;

/* At least `count` seats, in stands about as deep as a football stadium of that many. seat: above 0 */
th_stadium th_stadium_make(uint32_t count, double seat);

uint64_t th_stadium_seats(const th_stadium *stadium);

/* Of TH_LAYOUT_STADIUM. */
th_stadium th_layout_stadium(const th_layout *layout);

/* Where one sits: X, Y of the floor, Z, and the heading towards the pitch. */
typedef struct th_stadium_place {
    double position[3], heading_rad;
} th_stadium_place;

/* A point of the rounded rectangle that lies `out` behind the first row. quarter: 0 for the straight on the +Z side and
 * the corner after it, then +X, -Z, -X. along: from -1 to 1 on the straight, from 1 to 2 in the corner. */
th_stadium_place th_stadium_at(const th_stadium *stadium, double out, uint32_t quarter, double along);

#endif

/* A corner is a quarter of a circle. With rows 4/pi of a seat apart it takes exactly two more seats in each row, so row
 * r has first + 8 r seats, and the rows before it first r + 4 r (r - 1). */
#include "stadium.h"

#include <math.h>

#define PI 3.14159265358979323846

#define SHAPE     28.0 /* seats of the first row for each row */
#define USED      0.93 /* of all seats */
#define LENGTHY   0.61 /* of the straight seats, those along X */
#define ROUNDNESS 18u  /* one of so many seats of the first row is in a corner, of each of the four */
#define BLOCK     18u  /* seats between two aisles */
#define AISLE     1.8  /* width, in seats */

static uint64_t first_row(const th_stadium *s)
{
    return 2 * ((uint64_t)s->straight[0] + s->straight[1]) + 4 * (uint64_t)s->corner;
}

/* Seats of all rows before this one. */
static uint64_t before(const th_stadium *s, uint64_t row)
{
    return row == 0 ? 0 : first_row(s) * row + 4 * row * (row - 1);
}

uint64_t th_stadium_seats(const th_stadium *s)
{
    return before(s, s->rows);
}

static double straight_length(const th_stadium *s, int axis)
{
    return s->seat * (s->straight[axis] + AISLE * ((s->straight[axis] - 1) / BLOCK));
}

th_stadium th_stadium_make(uint32_t count, double seat)
{
    th_stadium s = {.seat = seat, .depth = 4 / PI * seat, .rise = 0.62 * seat, .base = 1.9 * seat};
    const double wanted = count / USED;
    s.rows = (uint32_t)fmax(1, ceil(sqrt(wanted / (SHAPE + 4))));
    const uint32_t first = (uint32_t)fmax(24, ceil(wanted / s.rows - 4.0 * (s.rows - 1)));
    s.corner = first / ROUNDNESS;
    s.straight[0] = (uint32_t)(LENGTHY * (first / 2 - 2 * s.corner));
    s.straight[1] = first / 2 - 2 * s.corner - s.straight[0];
    while (th_stadium_seats(&s) < count)
        s.rows++;
    for (int axis = 0; axis < 2; axis++)
        s.half[axis] = straight_length(&s, axis) / 2;
    s.radius = s.corner * seat * 2 / PI;
    return s;
}

th_stadium_place th_stadium_at(const th_stadium *s, double out, uint32_t quarter, double along)
{
    const double straight = fmin(along, 1), turned = fmax(along - 1, 0), first = quarter * PI / 2,
                 angle = first + turned * PI / 2;
    const double own = s->half[quarter % 2], other = s->half[(quarter + 1) % 2], reach = s->radius + out;
    return (th_stadium_place){
        {other * sin(first) + straight * own * cos(first) + reach * sin(angle), 0,
         other * cos(first) - straight * own * sin(first) + reach * cos(angle)},
        remainder(angle + PI, 2 * PI),
    };
}

static uint64_t row_of(const th_stadium *s, uint64_t seat)
{
    const double half = ((double)first_row(s) - 4) / 8;
    uint64_t row = (uint64_t)(sqrt(half * half + (double)seat / 4) - half);
    while (before(s, row + 1) <= seat)
        row++;
    while (before(s, row) > seat)
        row--;
    return row;
}

th_stadium_place th_stadium_place_of(const th_stadium *s, uint64_t seat)
{
    const uint64_t row = row_of(s, seat), corner = s->corner + 2 * row;
    uint64_t at = seat - before(s, row);
    uint32_t quarter = 0;
    for (; at >= s->straight[quarter % 2] + corner; quarter++)
        at -= s->straight[quarter % 2] + corner;
    const uint64_t straight = s->straight[quarter % 2];
    const double along = at < straight
                             ? s->seat * ((double)at + 0.5 + AISLE * (double)(at / BLOCK)) / s->half[quarter % 2] - 1
                             : 1 + ((double)(at - straight) + 0.5) / (double)corner;
    th_stadium_place place = th_stadium_at(s, (double)row * s->depth, quarter, along);
    place.position[1] = s->base + (double)row * s->rise;
    return place;
}

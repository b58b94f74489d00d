#include "shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

void th_shape_fini(th_shape *s)
{
    free(s->vertices);
    free(s->indices);
    *s = (th_shape){0};
}

/* Room for one more quad. */
static bool reserve(th_shape *s)
{
    if (s->vertex_count < 4 * s->capacity)
        return true;
    const uint32_t capacity = s->capacity ? 2 * s->capacity : 256;
    th_shape_vertex *vertices = realloc(s->vertices, 4 * (size_t)capacity * sizeof *vertices);
    if (vertices)
        s->vertices = vertices;
    uint32_t *indices = realloc(s->indices, 6 * (size_t)capacity * sizeof *indices);
    if (indices)
        s->indices = indices;
    s->failed = s->failed || !vertices || !indices;
    if (!s->failed)
        s->capacity = capacity;
    return !s->failed;
}

void th_shape_quad(th_shape *s, const double corners[4][3], const double front[3], th_paint paint)
{
    static const uint32_t orders[2][6] = {{0, 1, 2, 0, 2, 3}, {0, 2, 1, 0, 3, 2}}; /* counter-clockwise in front */
    double a[3], b[3], towards = 0;
    if (!reserve(s))
        return;
    for (int i = 0; i < 3; i++) {
        a[i] = corners[2][i] - corners[0][i];
        b[i] = corners[3][i] - corners[1][i];
    }
    double normal[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    for (int i = 0; i < 3; i++)
        towards += normal[i] * (front[i] - corners[0][i]);
    const double length = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    const double scale = length > 0 ? copysign(127 / length, towards) : 0;
    for (uint32_t i = 0; i < 6; i++)
        s->indices[s->index_count++] = s->vertex_count + orders[towards < 0][i];
    for (uint32_t c = 0; c < 4; c++) {
        th_shape_vertex *v = &s->vertices[s->vertex_count++];
        *v = (th_shape_vertex){.paint = paint};
        for (int i = 0; i < 3; i++) {
            v->position[i] = (float)corners[c][i];
            v->normal[i] = (int8_t)lround(scale * normal[i]);
        }
    }
}

void th_shape_box(th_shape *s, const double centre[3], const double half[3], double heading_rad, th_paint paint)
{
    const double sine = sin(heading_rad), cosine = cos(heading_rad);
    for (int face = 0; face < 6; face++) {
        const int axis = face / 2, next = (axis + 1) % 3, last = (axis + 2) % 3;
        const double side = face % 2 ? 1 : -1;
        double corners[5][3]; /* the last is in front of the face */
        for (int c = 0; c < 5; c++) {
            double p[3];
            p[axis] = side * half[axis] * (c == 4 ? 2 : 1);
            p[next] = c == 4 ? 0 : half[next] * (c == 0 || c == 3 ? -1 : 1);
            p[last] = c == 4 ? 0 : half[last] * (c < 2 ? -1 : 1);
            corners[c][0] = centre[0] + p[0] * cosine + p[2] * sine;
            corners[c][1] = centre[1] + p[1];
            corners[c][2] = centre[2] - p[0] * sine + p[2] * cosine;
        }
        th_shape_quad(s, (const double(*)[3])corners, corners[4], paint);
    }
}

/* A point of a circle. */
static void around(const double centre[3], double radius, double height, double angle, double out[3])
{
    out[0] = centre[0] + radius * sin(angle);
    out[1] = centre[1] + height;
    out[2] = centre[2] + radius * cos(angle);
}

static void cone_side(th_shape *s, const double foot[3], const double radii[2], const double heights[2], double first,
                      double second, th_paint paint)
{
    double corners[4][3], front[3];
    around(foot, radii[0], heights[0], first, corners[0]);
    around(foot, radii[0], heights[0], second, corners[1]);
    around(foot, radii[1], heights[1], second, corners[2]);
    around(foot, radii[1], heights[1], first, corners[3]);
    around(foot, 9 * (radii[0] + radii[1]), heights[0] == heights[1] ? heights[0] + 9 * radii[0] : heights[0],
           (first + second) / 2, front);
    th_shape_quad(s, (const double(*)[3])corners, front, paint);
}

void th_shape_cone(th_shape *s, const double foot[3], double radius, double top_radius, double height, uint32_t sides,
                   th_paint paint)
{
    for (uint32_t i = 0; i < sides; i++) {
        const double first = 2 * PI * i / sides, second = 2 * PI * (i + 1) / sides;
        cone_side(s, foot, (double[]){radius, top_radius}, (double[]){0, height}, first, second, paint);
        if (top_radius > 0)
            cone_side(s, foot, (double[]){top_radius, 0}, (double[]){height, height}, first, second, paint);
    }
}

void th_shape_ball(th_shape *s, const double centre[3], double radius, th_paint paint)
{
    enum { BANDS = 5, SIDES = 9 };
    for (int band = 0; band < BANDS; band++) {
        const double low = PI * band / BANDS, high = PI * (band + 1) / BANDS;
        for (int i = 0; i < SIDES; i++)
            cone_side(s, centre, (double[]){radius * sin(low), radius * sin(high)},
                      (double[]){-radius * cos(low), -radius * cos(high)}, 2 * PI * i / SIDES, 2 * PI * (i + 1) / SIDES,
                      paint);
    }
}

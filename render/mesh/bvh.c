/* A bounding volume hierarchy of boxes, split at the median triangle along the longest side. */
#include "bvh.h"

#include <core/arena.h>

#include <assert.h>
#include <math.h>
#include <stdbool.h>

#define LEAF_TRIANGLES 4u
#define SAMPLED        61 /* each of so many points is looked at first */
#define DEEPEST        64 /* enough for 2^32 triangles, since a median split halves */

typedef struct node {
    float low[3], high[3];
    uint32_t first, count; /* triangles of a leaf; count is 0 for an inner node */
    uint32_t right;        /* index of the right child; the left one is the next node */
} node;

typedef struct box {
    float low[3], high[3], middle[3];
    uint32_t triangle;
} box;

struct th_bvh {
    th_arena *arena; /* holds this */
    const float *positions;
    const uint32_t *indices;
    size_t triangle_count;
    uint32_t node_count;
    node *nodes;
    box *boxes; /* of triangles, in leaf order */
};

/* ---- building ---- */

/* Moves the lower half along the axis to the front (Hoare's quickselect). */
static void split_at_median(box *boxes, uint32_t count, int axis)
{
    const uint32_t wanted = count / 2;
    uint32_t begin = 0, end = count;
    while (end - begin > 1) {
        const float pivot = boxes[begin + (end - begin) / 2].middle[axis];
        uint32_t i = begin, j = end - 1;
        for (;;) {
            while (boxes[i].middle[axis] < pivot)
                i++;
            while (boxes[j].middle[axis] > pivot)
                j--;
            if (i >= j)
                break;
            const box swap = boxes[i];
            boxes[i++] = boxes[j];
            boxes[j--] = swap;
        }
        /* [begin, j] is at most the pivot, [j + 1, end) at least the pivot. */
        if (j + 1 == end)
            j--;
        if (wanted <= j)
            end = j + 1;
        else
            begin = j + 1;
    }
}

static void build(th_bvh *bvh, uint32_t first, uint32_t count)
{
    assert(count > 0);
    box *boxes = bvh->boxes + first;
    const uint32_t at = bvh->node_count++;
    assert(at <= bvh->triangle_count);
    node *n = &bvh->nodes[at];
    int axis = 0;
    for (int i = 0; i < 3; i++) {
        n->low[i] = boxes[0].low[i];
        n->high[i] = boxes[0].high[i];
    }
    for (uint32_t b = 1; b < count; b++)
        for (int i = 0; i < 3; i++) {
            n->low[i] = boxes[b].low[i] < n->low[i] ? boxes[b].low[i] : n->low[i];
            n->high[i] = boxes[b].high[i] > n->high[i] ? boxes[b].high[i] : n->high[i];
        }
    if (count <= LEAF_TRIANGLES) {
        n->first = first;
        n->count = count;
        return;
    }
    for (int i = 1; i < 3; i++)
        if (n->high[i] - n->low[i] > n->high[axis] - n->low[axis])
            axis = i;
    split_at_median(boxes, count, axis);
    build(bvh, first, count / 2);
    n->right = bvh->node_count;
    build(bvh, first + count / 2, count - count / 2);
}

th_bvh *th_bvh_create(const float *positions, const uint32_t *indices, size_t triangle_count)
{
    assert((positions && indices) || triangle_count == 0);
    th_arena *arena = th_arena_create();
    th_bvh *bvh = th_arena_new(arena, th_bvh, 1);
    /* A leaf holds at least two triangles, so there are fewer nodes than triangles. A single triangle is one node. */
    node *nodes = th_arena_new(arena, node, triangle_count + 1);
    box *boxes = th_arena_new(arena, box, triangle_count);
    if (th_arena_failed(arena)) {
        th_arena_destroy(arena);
        return NULL;
    }
    *bvh = (th_bvh){arena, positions, indices, triangle_count, 0, nodes, boxes};
    for (uint32_t t = 0; t < triangle_count; t++) {
        const uint32_t *index = indices + 3 * (size_t)t;
        box *out = &boxes[t];
        out->triangle = t;
        for (size_t i = 0; i < 3; i++) {
            const float a = positions[3 * (size_t)index[0] + i], b = positions[3 * (size_t)index[1] + i],
                        c = positions[3 * (size_t)index[2] + i];
            const float least = a < b ? a : b, most = a < b ? b : a;
            out->low[i] = c < least ? c : least;
            out->high[i] = c > most ? c : most;
            out->middle[i] = out->low[i] / 2 + out->high[i] / 2;
        }
    }
    if (triangle_count > 0)
        build(bvh, 0, (uint32_t)triangle_count);
    return bvh;
}

void th_bvh_destroy(th_bvh *bvh)
{
    if (bvh)
        th_arena_destroy(bvh->arena);
}

/* ---- distances, squared ---- */

/* Not fmin and fmax, which are function calls. If b is NaN the result is NaN, which ends a search. */
static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void subtract(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = a[i] - b[i];
}

static void cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static double to_edge(const double point[3], const double from[3], const double along[3])
{
    double to_point[3];
    subtract(point, from, to_point);
    const double length2 = dot(along, along);
    const double t = length2 > 0 ? smaller(larger(dot(to_point, along) / length2, 0), 1) : 0;
    for (int i = 0; i < 3; i++)
        to_point[i] -= t * along[i];
    return dot(to_point, to_point);
}

static void corners_of(const th_bvh *bvh, uint32_t triangle, double out[3][3])
{
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < 3; i++)
            out[c][i] = (double)bvh->positions[3 * (size_t)bvh->indices[3 * (size_t)triangle + (size_t)c] + (size_t)i];
}

/* Above or below the triangle, the distance to its plane; elsewhere, the distance to the nearest edge. */
static double to_triangle(const th_bvh *bvh, uint32_t triangle, const double point[3])
{
    double corner[3][3], edge[3][3], normal[3], side[3], to_point[3], nearest = HUGE_VAL;
    corners_of(bvh, triangle, corner);
    for (int c = 0; c < 3; c++)
        subtract(corner[(c + 1) % 3], corner[c], edge[c]);
    cross(edge[0], edge[1], normal);
    const double area2 = dot(normal, normal);
    bool inside = area2 > 0;
    for (int c = 0; c < 3 && inside; c++) {
        subtract(point, corner[c], to_point);
        cross(edge[c], to_point, side);
        inside = dot(side, normal) >= 0;
    }
    if (inside) {
        const double height = dot(to_point, normal);
        return height * height / area2;
    }
    for (int c = 0; c < 3; c++)
        nearest = smaller(nearest, to_edge(point, corner[c], edge[c]));
    return nearest;
}

static double to_box(const float low[3], const float high[3], const double point[3])
{
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        const double outside = larger(larger((double)low[i] - point[i], point[i] - (double)high[i]), 0);
        sum += outside * outside;
    }
    return sum;
}

/* Exact if the result is above `enough`; otherwise any value up to `enough`. */
static double to_nearest(const th_bvh *bvh, const double point[3], double enough, uint32_t *out_triangle)
{
    assert(bvh->triangle_count > 0 && out_triangle);
    uint32_t open[DEEPEST], open_count = 0;
    double nearest = HUGE_VAL;
    open[open_count++] = 0;
    while (open_count > 0 && nearest > enough) {
        const uint32_t at = open[--open_count];
        const node *n = &bvh->nodes[at];
        if (to_box(n->low, n->high, point) >= nearest)
            continue;
        for (uint32_t b = n->first; b < n->first + n->count; b++) {
            if (to_box(bvh->boxes[b].low, bvh->boxes[b].high, point) >= nearest)
                continue;
            const double distance = to_triangle(bvh, bvh->boxes[b].triangle, point);
            *out_triangle = distance < nearest ? bvh->boxes[b].triangle : *out_triangle;
            nearest = smaller(nearest, distance);
        }
        if (n->count == 0) {
            assert(open_count + 2 <= DEEPEST);
            const node *left = n + 1, *right = &bvh->nodes[n->right];
            const bool left_first = to_box(left->low, left->high, point) <= to_box(right->low, right->high, point);
            open[open_count++] = left_first ? n->right : at + 1;
            open[open_count++] = left_first ? at + 1 : n->right;
        }
    }
    return nearest;
}

/* Looks at a few points everywhere first: they may already be nearly as far away as any, and then most others need only
 * be nearer than that. The triangle nearest to the point before shows it at once if the points are neighbours. */
double th_bvh_max_distance(const th_bvh *bvh, const float *points, size_t point_count, double least, double limit)
{
    assert(bvh && (points || point_count == 0) && least >= 0 && limit >= 0);
    if (bvh->triangle_count == 0)
        return point_count > 0 ? HUGE_VAL : least;
    double farthest = least * least;
    uint32_t triangle = 0;
    for (size_t step = SAMPLED; step > 0; step = step > 1 ? 1 : 0)
        for (size_t p = 0; p < point_count && farthest <= limit * limit; p += step) {
            const double point[3] = {(double)points[3 * p], (double)points[3 * p + 1], (double)points[3 * p + 2]};
            if (!(to_triangle(bvh, triangle, point) <= farthest))
                farthest = larger(farthest, to_nearest(bvh, point, farthest, &triangle));
        }
    return sqrt(farthest);
}

uint32_t th_bvh_nearest(const th_bvh *bvh, const double point[3], double out_weights[3])
{
    assert(bvh && bvh->triangle_count > 0 && out_weights);
    uint32_t triangle = 0;
    double corner[3][3], edge[3][3], normal[3], side[3], to_point[3], sum = 0;
    to_nearest(bvh, point, 0, &triangle);
    corners_of(bvh, triangle, corner);
    for (int c = 0; c < 3; c++)
        subtract(corner[(c + 2) % 3], corner[(c + 1) % 3], edge[c]); /* opposite the corner */
    cross(edge[0], edge[1], normal);
    for (int c = 0; c < 3; c++) {
        subtract(point, corner[(c + 1) % 3], to_point);
        cross(edge[c], to_point, side);
        out_weights[c] = larger(dot(side, normal), 0);
        sum += out_weights[c];
    }
    for (int c = 0; c < 3; c++)
        out_weights[c] = sum > 0 ? out_weights[c] / sum : 1.0 / 3;
    return triangle;
}

/* The surface of the body and its polygons.
 *
 * The surface is implicit, of soft tubes (J. Bloomenthal, Introduction to Implicit Surfaces, 1997). The tubes of a part
 * are joined with I. Quilez's quadratic smooth minimum, so that shoulders, crotch and finger webs need no special
 * treatment. The same blend gives the skin weights.
 *
 * Polygons come by surface nets (S. Gibson, Constrained Elastic Surface Nets, 1998): one vertex in every grid cell that
 * the surface crosses, one quad across every grid edge that it cuts. Grid lines need not be evenly spaced, so rings are
 * dense where a limb bends and sparse where it is straight. */
#include "parts.h"

#include <core/arena.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TUBES    8 /* of a part */
#define MAX_VERTICES 8000
#define MAX_INDICES  (6 * MAX_VERTICES)
#define MAX_LINES    64
#define MAX_POINTS   40000
#define NO_REGION    255 /* of a vertex that no triangle uses yet */

/* ---- the surface ---- */

static th_human_station station_slope(const th_human_tube *t, uint32_t i)
{
    const th_human_station *a = &t->stations[i > 0 ? i - 1 : i],
                           *b = &t->stations[i + 1 < t->station_count ? i + 1 : i];
    double per_metre = 1 / dot(sub(b->centre, a->centre), t->axis);
    return (th_human_station){scale(sub(b->centre, a->centre), per_metre), (b->width - a->width) * per_metre,
                              (b->depth - a->depth) * per_metre, (b->slack - a->slack) * per_metre};
}

/* The cross-section at the point of the tube closest to `along`. Slopes are finite differences, which makes the surface
 * smooth across stations. */
static th_human_station section_at(const th_human_tube *t, double along)
{
    assert(t->station_count > 0);
    const th_human_station *s = t->stations, *last = s + t->station_count - 1;
    if (along <= dot(s->centre, t->axis))
        return *s;
    if (along >= dot(last->centre, t->axis))
        return *last;
    while (along > dot(s[1].centre, t->axis))
        s++;

    uint32_t i = (uint32_t)(s - t->stations);
    th_human_station a = s[0], b = s[1], da = station_slope(t, i), db = station_slope(t, i + 1);
    double width = dot(sub(b.centre, a.centre), t->axis), at = (along - dot(a.centre, t->axis)) / width;
    return (th_human_station){{hermite(a.centre.x, b.centre.x, da.centre.x, db.centre.x, width, at),
                               hermite(a.centre.y, b.centre.y, da.centre.y, db.centre.y, width, at),
                               hermite(a.centre.z, b.centre.z, da.centre.z, db.centre.z, width, at)},
                              hermite(a.width, b.width, da.width, db.width, width, at),
                              hermite(a.depth, b.depth, da.depth, db.depth, width, at),
                              hermite(a.slack, b.slack, da.slack, db.slack, width, at)};
}

/* First-order distance to an ellipsoid. The third axis counts only beyond the ends of the tube. */
static double tube_distance(const th_human_tube *t, vec3 point)
{
    th_human_station s = section_at(t, dot(point, t->axis));
    vec3 from_centre = sub(point, s.centre), radius = {s.width, s.depth, t->cap};
    vec3 r = {dot(from_centre, t->side) / radius.x, dot(from_centre, cross(t->axis, t->side)) / radius.y,
              dot(from_centre, t->axis) / radius.z};
    double round = length(r);
    double steepness = length((vec3){r.x / radius.x, r.y / radius.y, r.z / radius.z});
    if (steepness < 1e-9)
        return -fmin(radius.x, radius.y);
    double box = sqrt(sqrt(r.x * r.x * r.x * r.x + r.y * r.y * r.y * r.y + r.z * r.z * r.z * r.z));
    return (round + t->boxiness * (box - round) - 1) * round / steepness;
}

static double smooth_min(double a, double b, double width)
{
    double overlap = fmax(width - fabs(a - b), 0);
    return fmin(a, b) - overlap * overlap / (4 * width);
}

/* Approximate distance to the surface: negative inside, exact in sign, smooth in space. */
static double distance_to(const th_human_part *part, vec3 point)
{
    assert(part->tube_count > 0 && !part->tubes[0].carve);
    if (!part->pair)
        point.x = fabs(point.x);
    double distance = tube_distance(&part->tubes[0], point);
    for (uint32_t i = 1; i < part->tube_count; i++) {
        const th_human_tube *t = &part->tubes[i];
        double d = tube_distance(t, point);
        distance = t->carve ? -smooth_min(-distance, d, t->blend) : smooth_min(distance, d, t->blend);
    }
    return distance;
}

/* How much each tube counts at a point, by how near it is; the sum is 1. */
static void find_shares(const th_human_part *part, vec3 point, double shares[MAX_TUBES])
{
    assert(part->tube_count <= MAX_TUBES);
    double total = 0, nearest = HUGE_VAL;
    for (uint32_t i = 0; i < part->tube_count; i++) {
        shares[i] = tube_distance(&part->tubes[i], point);
        if (!part->tubes[i].carve)
            nearest = fmin(nearest, shares[i]);
    }
    for (uint32_t i = 0; i < part->tube_count; i++) {
        double closeness = fmax(1 - (shares[i] - nearest) / (1.5 * part->tubes[i].blend), 0);
        shares[i] = part->tubes[i].carve ? 0 : closeness * closeness;
        total += shares[i];
    }
    for (uint32_t i = 0; i < part->tube_count; i++)
        shares[i] /= total;
}

/* The weight of each joint at a point near the part; the sum is 1. Near the midline both sides contribute, so that both
 * legs move the seat of the trousers equally. */
static void find_weights(const th_human_part *part, vec3 point, double weights[J_COUNT])
{
    const double left = part->pair ? 1 : smoothstep(-part->midline, part->midline, point.x);
    memset(weights, 0, J_COUNT * sizeof *weights);
    for (int side = 0; side < 2; side++, point.x = -point.x) {
        const bool is_right = side == 1;
        const double share = is_right ? 1 - left : left;
        double shares[MAX_TUBES];
        if (!(share > 0))
            continue;
        find_shares(part, point, shares);
        for (uint32_t t = 0; t < part->tube_count; t++) {
            const th_human_chain *c = &th_human_chains[part->tubes[t].chain];
            double reached = 1; /* the part of the weight that belongs to this link or a later one */
            for (uint32_t i = 0; shares[t] > 0 && c->links[i].joint != J_NONE; i++) {
                const uint32_t joint = c->links[i].joint, next = c->links[i + 1].joint;
                const double soft = c->links[i + 1].soft;
                double beyond = 0;
                if (next != J_NONE)
                    beyond = smoothstep(-soft, soft, dot(sub(point, th_human_joint_position(next)), c->axis));
                weights[is_right ? mirror_joint(joint) : joint] += share * shares[t] * reached * (1 - beyond);
                reached *= beyond;
            }
        }
    }
}

/* How far the surface may move inwards at a point near the part, in metres; see th_human_station. */
static double slack_at(const th_human_part *part, vec3 point)
{
    double shares[MAX_TUBES], slack = 0;
    if (!part->pair)
        point.x = fabs(point.x);
    find_shares(part, point, shares);
    for (uint32_t i = 0; i < part->tube_count; i++)
        slack += shares[i] * fmax(section_at(&part->tubes[i], dot(point, part->tubes[i].axis)).slack, 0);
    return slack;
}

/* ---- vertices ---- */

/* Scratch; the results are copied to the arena. */
typedef struct builder {
    uint32_t vertex_count, index_count;
    th_vertex vertices[MAX_VERTICES];
    uint32_t copies[MAX_VERTICES]; /* the next vertex at the same place, of another region; 0: none */
    uint32_t indices[MAX_INDICES];

    double lines[3][MAX_LINES];
    uint32_t line_count[3], stride[3];
    double distance[MAX_POINTS];      /* at each grid point */
    uint32_t cell_vertex[MAX_POINTS]; /* by the grid point at the cell's lowest corner */
} builder;

static vec3 grid_point(const builder *b, uint32_t x, uint32_t y, uint32_t z)
{
    return (vec3){b->lines[0][x], b->lines[1][y], b->lines[2][z]};
}

/* Distance and gradient, sampled at the corners of a small tetrahedron. */
static double distance_and_gradient(const th_human_part *part, vec3 p, vec3 *out_gradient)
{
    const double h = 2e-4;
    double a = distance_to(part, add(p, (vec3){h, -h, -h}));
    double b = distance_to(part, add(p, (vec3){-h, -h, h}));
    double c = distance_to(part, add(p, (vec3){-h, h, -h}));
    double d = distance_to(part, add(p, (vec3){h, h, h}));
    *out_gradient = scale((vec3){a - b - c + d, -a - b + c + d, -a + b - c + d}, 1 / (4 * h));
    return (a + b + c + d) / 4;
}

/* The mean of the points where the surface cuts the edges of the cell; returns false if it does not. */
static bool cell_crossing(const builder *b, const uint32_t cell[3], uint32_t point, vec3 *out)
{
    vec3 sum = {0, 0, 0};
    int crossings = 0;
    for (uint32_t edge = 0; edge < 12; edge++) {
        uint32_t axis = edge / 4, u = (axis + 1) % 3, v = (axis + 2) % 3;
        uint32_t at[3] = {cell[0], cell[1], cell[2]};
        at[u] += edge & 1;
        at[v] += edge >> 1 & 1;
        uint32_t from = point + (edge & 1) * b->stride[u] + (edge >> 1 & 1) * b->stride[v];
        double d0 = b->distance[from], d1 = b->distance[from + b->stride[axis]];
        if ((d0 < 0) == (d1 < 0))
            continue;
        vec3 p0 = grid_point(b, at[0], at[1], at[2]);
        at[axis]++;
        vec3 p1 = grid_point(b, at[0], at[1], at[2]);
        sum = add(sum, add(p0, scale(sub(p1, p0), d0 / (d0 - d1))));
        crossings++;
    }
    if (crossings == 0)
        return false;
    *out = scale(sum, 1.0 / crossings);
    return true;
}

/* Sides of zones that pass through the cell: the vertex lies on them, so that edges of the mesh do. */
static void find_cuts(const builder *b, const th_human_part *part, const uint32_t cell[3], vec3 p, double cut[3])
{
    const double at[3] = {fabs(p.x), p.y, p.z};
    cut[0] = cut[1] = cut[2] = (double)NAN;
    for (uint32_t i = 0; i < part->zone_count; i++) {
        const th_human_zone *zone = &part->zones[i];
        const double low[3] = {zone->low.x, zone->low.y, zone->low.z},
                     high[3] = {zone->high.x, zone->high.y, zone->high.z};
        for (int axis = 0; axis < 3; axis++) {
            const int u = (axis + 1) % 3, v = (axis + 2) % 3;
            const double one = b->lines[axis][cell[axis]], other = b->lines[axis][cell[axis] + 1];
            const bool left = axis == 0 && other <= 0;
            const double from = left ? -other : one, to = left ? -one : other;
            if (at[u] < low[u] || at[u] > high[u] || at[v] < low[v] || at[v] > high[v])
                continue;
            if (low[axis] >= from && low[axis] < to)
                cut[axis] = left ? -low[axis] : low[axis];
            if (high[axis] >= from && high[axis] < to)
                cut[axis] = left ? -high[axis] : high[axis];
        }
    }
}

/* Moves the vertex onto the surface: the mean of crossings is slightly inside a curved one. */
static vec3 project(const th_human_part *part, vec3 p, const double cut[3])
{
    const double longest_step = 0.01;
    p = (vec3){isnan(cut[0]) ? p.x : cut[0], isnan(cut[1]) ? p.y : cut[1], isnan(cut[2]) ? p.z : cut[2]};
    for (int i = 0; i < 3; i++) {
        vec3 gradient;
        double d = distance_and_gradient(part, p, &gradient);
        gradient =
            (vec3){isnan(cut[0]) ? gradient.x : 0, isnan(cut[1]) ? gradient.y : 0, isnan(cut[2]) ? gradient.z : 0};
        if (dot(gradient, gradient) < 0.04)
            break;
        double step = clamp(d / dot(gradient, gradient), -longest_step, longest_step);
        p = sub(p, scale(gradient, step));
    }
    return p;
}

static th_vertex make_vertex(const th_human_part *part, vec3 p)
{
    vec3 gradient;
    distance_and_gradient(part, p, &gradient);
    vec3 n = unit(gradient);

    /* A front view of the character; so there are no seams. */
    th_vertex v = {.position = {(float)p.x, (float)p.y, (float)p.z},
                   .normal = {(float)n.x, (float)n.y, (float)n.z},
                   .uv = {(float)(0.5 + p.x / 2), (float)(1 - p.y / 2)}};
    v.color[TH_APPEARANCE_SHADE] = 255;
    v.color[TH_APPEARANCE_SLACK] = (uint8_t)lrint(255 * clamp(slack_at(part, p) / TH_HUMAN_SLACK, 0, 1));
    v.color[TH_APPEARANCE_REGION] = NO_REGION;
    double weights[J_COUNT];
    find_weights(part, p, weights);

    /* The four largest weights, descending, rescaled to sum 1. */
    double kept[4] = {0, 0, 0, 0}, sum = 0;
    for (uint32_t j = 0; j < J_COUNT; j++) {
        if (weights[j] <= kept[3])
            continue;
        int k = 3;
        for (; k > 0 && weights[j] > kept[k - 1]; k--) {
            kept[k] = kept[k - 1];
            v.bone[k] = v.bone[k - 1];
        }
        kept[k] = weights[j];
        v.bone[k] = (uint16_t)j;
    }
    for (int k = 0; k < 4; k++)
        sum += kept[k];
    for (int k = 0; k < 4; k++)
        v.weight[k] = (float)(kept[k] / sum);
    return v;
}

/* ---- triangles ---- */

static double distance_between(const builder *b, uint32_t i, uint32_t j)
{
    const float *p = b->vertices[i].position, *q = b->vertices[j].position;
    return length((vec3){(double)p[0] - (double)q[0], (double)p[1] - (double)q[1], (double)p[2] - (double)q[2]});
}

static void add_triangle(builder *b, uint32_t v0, uint32_t v1, uint32_t v2)
{
    assert(b->index_count + 3 <= MAX_INDICES);
    b->indices[b->index_count++] = v0;
    b->indices[b->index_count++] = v1;
    b->indices[b->index_count++] = v2;
}

/* The vertex, or its copy of this region. */
static uint32_t in_region(builder *b, uint32_t vertex, th_human_region region)
{
    if (b->vertices[vertex].color[TH_APPEARANCE_REGION] == NO_REGION)
        b->vertices[vertex].color[TH_APPEARANCE_REGION] = (uint8_t)region;
    while (b->vertices[vertex].color[TH_APPEARANCE_REGION] != region) {
        if (b->copies[vertex] == 0) {
            assert(b->vertex_count < MAX_VERTICES);
            b->vertices[b->vertex_count] = b->vertices[vertex];
            b->vertices[b->vertex_count].color[TH_APPEARANCE_REGION] = (uint8_t)region;
            b->copies[vertex] = b->vertex_count++;
        }
        vertex = b->copies[vertex];
    }
    return vertex;
}

/* Splits the quad along the shorter diagonal. Its region is that of its middle. */
static void add_quad(builder *b, const th_human_part *part, const uint32_t q[4])
{
    double at[3] = {0, 0, 0};
    for (int corner = 0; corner < 4; corner++) {
        assert(q[corner] < b->vertex_count);
        for (int axis = 0; axis < 3; axis++)
            at[axis] += (double)b->vertices[q[corner]].position[axis] / 4;
    }
    at[0] = fabs(at[0]);
    th_human_region region = part->region;
    for (uint32_t k = 0; k < part->zone_count; k++) {
        const th_human_zone *z = &part->zones[k];
        if (at[0] >= z->low.x && at[0] <= z->high.x && at[1] >= z->low.y && at[1] <= z->high.y && at[2] >= z->low.z &&
            at[2] <= z->high.z)
            region = z->region;
    }
    const uint32_t c[4] = {in_region(b, q[0], region), in_region(b, q[1], region), in_region(b, q[2], region),
                           in_region(b, q[3], region)};
    const uint32_t first = distance_between(b, c[0], c[2]) <= distance_between(b, c[1], c[3]) ? 0 : 1;
    add_triangle(b, c[first], c[first + 1], c[first + 2]);
    add_triangle(b, c[first], c[first + 2], c[(first + 3) % 4]);
}

/* ---- parts ---- */

static void add_part(builder *b, const th_human_part *part)
{
    const uint32_t first_vertex = b->vertex_count, first_index = b->index_count;
    uint32_t stride = 1;
    for (int axis = 0; axis < 3; axis++) {
        const th_human_lines *grid = &part->grid[axis];
        uint32_t n = 0;
        b->lines[axis][n++] = grid->from;
        for (int run = 0; run < 6; run++)
            while (grid->runs[run].step > 0 && b->lines[axis][n - 1] < grid->runs[run].to) {
                assert(n < MAX_LINES);
                b->lines[axis][n] = b->lines[axis][n - 1] + grid->runs[run].step;
                n++;
            }
        b->line_count[axis] = n;
        b->stride[axis] = stride;
        stride *= n;
    }
    assert(stride <= MAX_POINTS);

    double *distance = b->distance;
    for (uint32_t z = 0; z < b->line_count[2]; z++)
        for (uint32_t y = 0; y < b->line_count[1]; y++)
            for (uint32_t x = 0; x < b->line_count[0]; x++)
                *distance++ = distance_to(part, grid_point(b, x, y, z));

    uint32_t at[3];
    for (at[2] = 0; at[2] + 1 < b->line_count[2]; at[2]++)
        for (at[1] = 0; at[1] + 1 < b->line_count[1]; at[1]++)
            for (at[0] = 0; at[0] + 1 < b->line_count[0]; at[0]++) {
                uint32_t point = at[0] + at[1] * b->stride[1] + at[2] * b->stride[2];
                vec3 p;
                if (!cell_crossing(b, at, point, &p))
                    continue;
                double cut[3];
                find_cuts(b, part, at, p, cut);
                assert(b->vertex_count < MAX_VERTICES);
                b->cell_vertex[point] = b->vertex_count;
                b->vertices[b->vertex_count++] = make_vertex(part, project(part, p, cut));
            }

    /* The four cells around each cut edge, counter-clockwise seen from the edge's outer end. Edges at the border of the
     * grid have fewer cells, but are never cut: the grid surrounds the part. */
    for (at[2] = 0; at[2] + 1 < b->line_count[2]; at[2]++)
        for (at[1] = 0; at[1] + 1 < b->line_count[1]; at[1]++)
            for (at[0] = 0; at[0] + 1 < b->line_count[0]; at[0]++)
                for (uint32_t axis = 0; axis < 3; axis++) {
                    uint32_t u = b->stride[(axis + 1) % 3], v = b->stride[(axis + 2) % 3];
                    uint32_t point = at[0] + at[1] * b->stride[1] + at[2] * b->stride[2];
                    bool inside = b->distance[point] < 0, next_inside = b->distance[point + b->stride[axis]] < 0;
                    if (inside == next_inside)
                        continue;
                    const uint32_t *cell = b->cell_vertex + point;
                    uint32_t out_of[4] = {*(cell - u - v), *(cell - v), *cell, *(cell - u)};
                    uint32_t into[4] = {*(cell - u - v), *(cell - u), *cell, *(cell - v)};
                    add_quad(b, part, inside ? out_of : into);
                }

    if (!part->pair)
        return;
    /* The right side is the mirror image. */
    uint32_t vertex_count = b->vertex_count - first_vertex, index_count = b->index_count - first_index;
    assert(b->vertex_count + vertex_count <= MAX_VERTICES && b->index_count + index_count <= MAX_INDICES);
    for (uint32_t i = 0; i < vertex_count; i++) {
        th_vertex v = b->vertices[first_vertex + i];
        v.position[0] = -v.position[0];
        v.normal[0] = -v.normal[0];
        v.uv[0] = 1 - v.uv[0];
        for (int k = 0; k < 4; k++)
            if (v.weight[k] > 0)
                v.bone[k] = (uint16_t)mirror_joint(v.bone[k]);
        b->vertices[b->vertex_count++] = v;
    }
    for (uint32_t i = 0; i < index_count; i += 3) {
        const uint32_t *t = b->indices + first_index + i;
        add_triangle(b, t[0] + vertex_count, t[2] + vertex_count, t[1] + vertex_count);
    }
}

bool th_human_add_mesh(th_model *model)
{
    builder *b = calloc(1, sizeof *b);
    th_mesh *mesh = th_arena_new(model->arena, th_mesh, 1);
    if (!b || !mesh) {
        free(b);
        return false;
    }
    for (uint32_t i = 0; i < th_human_part_count; i++)
        add_part(b, &th_human_parts[i]);

    *mesh = (th_mesh){.name = TH_HUMAN_NAME,
                      .vertex_count = b->vertex_count,
                      .index_count = b->index_count,
                      .vertices = th_arena_copy(model->arena, b->vertices, b->vertex_count, sizeof *b->vertices),
                      .indices = th_arena_copy(model->arena, b->indices, b->index_count, sizeof *b->indices)};
    free(b);
    model->meshes = mesh;
    model->mesh_count = 1;
    return mesh->vertices && mesh->indices;
}

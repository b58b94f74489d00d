/* Polygons from the distance functions of shape.c, by surface nets (S. Gibson, Constrained Elastic Surface Nets, 1998):
 * one vertex in every grid cell that the surface crosses, one quad across every grid edge that it cuts. Grid lines need
 * not be evenly spaced, so rings are dense where a limb bends and sparse where it is straight. */
#include "parts.h"

#include <core/arena.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define MAX_VERTICES 8000
#define MAX_INDICES  (6 * MAX_VERTICES)
#define MAX_LINES    64
#define MAX_POINTS   40000
#define NO_REGION    255 /* of a vertex that no triangle uses yet */

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

static void lay_lines(builder *b, const th_human_part *part)
{
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
}

static vec3 grid_point(const builder *b, uint32_t x, uint32_t y, uint32_t z)
{
    return (vec3){b->lines[0][x], b->lines[1][y], b->lines[2][z]};
}

static void measure_distances(builder *b, const th_human_part *part)
{
    uint32_t i = 0;
    for (uint32_t z = 0; z < b->line_count[2]; z++)
        for (uint32_t y = 0; y < b->line_count[1]; y++)
            for (uint32_t x = 0; x < b->line_count[0]; x++)
                b->distance[i++] = th_human_part_distance(part, grid_point(b, x, y, z));
}

/* ---- vertices ---- */

/* Distance and gradient, sampled at the corners of a small tetrahedron. */
static double distance_and_gradient(const th_human_part *part, vec3 p, vec3 *out_gradient)
{
    const double h = 2e-4;
    double a = th_human_part_distance(part, add(p, (vec3){h, -h, -h}));
    double b = th_human_part_distance(part, add(p, (vec3){-h, -h, h}));
    double c = th_human_part_distance(part, add(p, (vec3){-h, h, -h}));
    double d = th_human_part_distance(part, add(p, (vec3){h, h, h}));
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

/* The four largest weights, descending, rescaled to sum 1. */
static void set_influences(th_vertex *v, const double weights[J_COUNT])
{
    double kept[4] = {0, 0, 0, 0}, sum = 0;
    for (uint32_t j = 0; j < J_COUNT; j++) {
        if (weights[j] <= kept[3])
            continue;
        int k = 3;
        for (; k > 0 && weights[j] > kept[k - 1]; k--) {
            kept[k] = kept[k - 1];
            v->bone[k] = v->bone[k - 1];
        }
        kept[k] = weights[j];
        v->bone[k] = (uint16_t)j;
    }
    for (int k = 0; k < 4; k++)
        sum += kept[k];
    for (int k = 0; k < 4; k++)
        v->weight[k] = (float)(kept[k] / sum);
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
    v.color[TH_APPEARANCE_SLACK] = (uint8_t)lrint(255 * clamp(th_human_part_slack(part, p) / TH_HUMAN_SLACK, 0, 1));
    v.color[TH_APPEARANCE_REGION] = NO_REGION;
    double weights[J_COUNT];
    th_human_part_weights(part, p, weights);
    set_influences(&v, weights);
    return v;
}

static void add_vertices(builder *b, const th_human_part *part)
{
    uint32_t cell[3];
    for (cell[2] = 0; cell[2] + 1 < b->line_count[2]; cell[2]++)
        for (cell[1] = 0; cell[1] + 1 < b->line_count[1]; cell[1]++)
            for (cell[0] = 0; cell[0] + 1 < b->line_count[0]; cell[0]++) {
                uint32_t point = cell[0] + cell[1] * b->stride[1] + cell[2] * b->stride[2];
                vec3 p;
                if (!cell_crossing(b, cell, point, &p))
                    continue;
                double cut[3];
                find_cuts(b, part, cell, p, cut);
                assert(b->vertex_count < MAX_VERTICES);
                b->cell_vertex[point] = b->vertex_count;
                b->vertices[b->vertex_count++] = make_vertex(part, project(part, p, cut));
            }
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

/* The region of a quad: that of its middle. */
static th_human_region region_of(const builder *b, const th_human_part *part, const uint32_t q[4])
{
    double at[3] = {0, 0, 0};
    for (int corner = 0; corner < 4; corner++)
        for (int axis = 0; axis < 3; axis++)
            at[axis] += (double)b->vertices[q[corner]].position[axis] / 4;
    at[0] = fabs(at[0]);
    th_human_region region = part->region;
    for (uint32_t i = 0; i < part->zone_count; i++) {
        const th_human_zone *z = &part->zones[i];
        if (at[0] >= z->low.x && at[0] <= z->high.x && at[1] >= z->low.y && at[1] <= z->high.y && at[2] >= z->low.z &&
            at[2] <= z->high.z)
            region = z->region;
    }
    return region;
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

/* Splits the quad along the shorter diagonal. */
static void add_quad(builder *b, const th_human_part *part, const uint32_t q[4])
{
    assert(q[0] < b->vertex_count && q[1] < b->vertex_count && q[2] < b->vertex_count && q[3] < b->vertex_count);
    const th_human_region region = region_of(b, part, q);
    const uint32_t c[4] = {in_region(b, q[0], region), in_region(b, q[1], region), in_region(b, q[2], region),
                           in_region(b, q[3], region)};
    uint32_t first = distance_between(b, c[0], c[2]) <= distance_between(b, c[1], c[3]) ? 0 : 1;
    add_triangle(b, c[first], c[first + 1], c[first + 2]);
    add_triangle(b, c[first], c[first + 2], c[(first + 3) % 4]);
}

/* The four cells around each cut edge, counter-clockwise seen from the edge's outer end. Edges at the border of the
 * grid have fewer cells, but are never cut: the grid surrounds the part. */
static void add_quads(builder *b, const th_human_part *part)
{
    uint32_t at[3];
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
}

/* ---- parts ---- */

/* Mirrors everything from the given vertex and index on, for the right side. */
static void add_mirror_image(builder *b, uint32_t first_vertex, uint32_t first_index)
{
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

static void add_part(builder *b, const th_human_part *part)
{
    uint32_t first_vertex = b->vertex_count, first_index = b->index_count;
    lay_lines(b, part);
    measure_distances(b, part);
    add_vertices(b, part);
    add_quads(b, part);
    if (part->pair)
        add_mirror_image(b, first_vertex, first_index);
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

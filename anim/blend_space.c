/* Delaunay triangulation by its definition: three samples are a triangle if no other one lies in their circle.
 *
 * That is decided exactly, in integers: positions are rounded to 2^-30 of the extent, so that the determinant of the
 * circle test (L. Guibas, J. Stolfi, Primitives for the manipulation of general subdivisions, 1985) fits into 128 bits.
 * Ties are decided as if the lowest sample had moved by an infinitesimal amount (H. Edelsbrunner, E. Mücke, Simulation
 * of Simplicity, 1990). So triangles neither overlap nor leave gaps.
 *
 * Samples that are meant to lie on one line, such as (0.1, 0.2) (0.2, 0.1) (0.3, 0), miss it by a rounding error. At
 * the border that makes a triangle so flat that weights would jump across it. Such triangles are removed. */
#include <anim/blend_space.h>

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define MAX_SAMPLES   TH_BLEND_SPACE_MAX_SAMPLES
#define MAX_SIMPLICES (2 * MAX_SAMPLES) /* n samples have at most 2n - 5 triangles, and 3n - 6 sides */
#define MAX_EDGES     (3 * MAX_SAMPLES)
#define GRID_BITS     30
#define FLAT          0x1p8   /* height in units of the grid; twice what rounding to float does */
#define CLOSE         1e-5    /* of the extent; so far above FLAT that flat triangles are obtuse */
#define NEGLIGIBLE    0x1p-22 /* more than a sum of two weights may be off in float, so that the third is above 0 */

typedef struct point {
    double x, y;
} point;

/* A triangle. In one dimension an interval, and the third weight is 0. */
typedef struct simplex {
    uint32_t sample[3]; /* ascending */
    point begin;        /* sample[0] */
    point gradient[2];  /* of the weights of sample[1] and sample[2] */
} simplex;

/* One side of the border. In one dimension it leads from the lowest sample to the highest. */
typedef struct edge {
    uint32_t sample[2];
    point begin, along; /* sample[0], and the way to sample[1] */
    point gradient;     /* of the weight of sample[1] */
} edge;

struct th_blend_space {
    uint32_t simplex_count, edge_count;
    simplex simplices[MAX_SIMPLICES];
    edge edges[MAX_EDGES];
};

/* ---- samples ---- */

/* On the grid, 0 to 2^GRID_BITS. */
typedef struct place {
    int64_t x, y;
} place;

typedef struct samples {
    uint32_t count;
    point at[MAX_SAMPLES]; /* in one dimension, y is 0 */
    place on_grid[MAX_SAMPLES];
} samples;

static th_result read_samples(const th_blend_space_desc *desc, samples *s, th_error *err)
{
    if (s->count == 0)
        return th_fail(err, TH_ERR_INPUT, "a blend space needs at least one sample");
    if (s->count > MAX_SAMPLES)
        return th_fail(err, TH_ERR_LIMIT, "a blend space has %u samples; %d are the most", s->count, MAX_SAMPLES);
    for (uint32_t i = 0; i < s->count; i++) {
        const point at = s->at[i] = (point){desc->x[i], desc->y ? desc->y[i] : 0};
        if (!(fabs(at.x) <= TH_BLEND_SPACE_MAX_POSITION && fabs(at.y) <= TH_BLEND_SPACE_MAX_POSITION))
            return th_fail(err, TH_ERR_INPUT, "sample %u of a blend space is at (%g, %g), which is not within +-%g", i,
                           at.x, at.y, TH_BLEND_SPACE_MAX_POSITION);
    }

    point low = s->at[0], high = low;
    for (uint32_t i = 1; i < s->count; i++) {
        low = (point){fmin(low.x, s->at[i].x), fmin(low.y, s->at[i].y)};
        high = (point){fmax(high.x, s->at[i].x), fmax(high.y, s->at[i].y)};
    }
    const double extent = fmax(high.x - low.x, high.y - low.y), least = fmax(CLOSE * extent, 1e-9);
    for (uint32_t b = 1; b < s->count; b++)
        for (uint32_t a = 0; a < b; a++)
            if (hypot(s->at[b].x - s->at[a].x, s->at[b].y - s->at[a].y) < least)
                return th_fail(err, TH_ERR_INPUT, "samples %u and %u of a blend space are less than %g apart", a, b,
                               least);
    int exponent;
    frexp(extent, &exponent);
    const double scale = ldexp(1, GRID_BITS - exponent); /* a power of two, so that regular grids stay regular */
    for (uint32_t i = 0; i < s->count; i++)
        s->on_grid[i] = (place){llrint((s->at[i].x - low.x) * scale), llrint((s->at[i].y - low.y) * scale)};
    return TH_OK;
}

/* ---- triangulation ---- */

__extension__ typedef __int128 wide;

/* Above 0 if ab to ac is a turn to the left; twice the area. */
static int64_t turn(place a, place b, place c)
{
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

static bool is_lower(place a, place b)
{
    return a.x != b.x ? a.x < b.x : a.y < b.y;
}

/* Whether d lies in the circle of a triangle that turns left. The lowest of four samples on one circle counts as moved
 * inwards. So it lies in the circle of the other three, and the sample opposite to it in the circle of its triangle. */
static bool encircles(const place corners[3], place d)
{
    wide determinant = 0;
    int lowest = 0;
    for (int i = 0; i < 3; i++) {
        const place a = corners[i], b = corners[(i + 1) % 3], c = corners[(i + 2) % 3];
        const int64_t x = a.x - d.x, y = a.y - d.y;
        determinant += (wide)(x * x + y * y) * turn(d, b, c);
        lowest = is_lower(a, corners[lowest]) ? i : lowest;
    }
    if (determinant != 0)
        return determinant > 0;
    return is_lower(d, corners[lowest]) || turn(corners[(lowest + 1) % 3], corners[(lowest + 2) % 3], d) < 0;
}

static bool is_delaunay(const samples *s, uint32_t i, uint32_t j, uint32_t k)
{
    const int64_t area = turn(s->on_grid[i], s->on_grid[j], s->on_grid[k]);
    const uint32_t second = area > 0 ? j : k, third = area > 0 ? k : j;
    const place corners[3] = {s->on_grid[i], s->on_grid[second], s->on_grid[third]};
    for (uint32_t d = 0; d < s->count && area != 0; d++)
        if (d != i && d != j && d != k && encircles(corners, s->on_grid[d]))
            return false;
    return area != 0;
}

static bool is_border(const th_blend_space *space, uint32_t a, uint32_t b)
{
    uint32_t triangles = 0;
    for (const simplex *t = space->simplices; t < space->simplices + space->simplex_count; t++) {
        const uint32_t *of = t->sample;
        triangles += (of[0] == a || of[1] == a) && (of[1] == b || of[2] == b);
    }
    return triangles == 1;
}

static const int SIDES[3][2] = {{1, 2}, {0, 2}, {0, 1}}; /* the n-th is opposite the n-th corner */

/* Whether the longest side is at the border, with the other corner next to it. */
static bool is_flat_border(const th_blend_space *space, const samples *s, const simplex *t)
{
    for (int side = 0; side < 3; side++) {
        const uint32_t begin = t->sample[SIDES[side][0]], end = t->sample[SIDES[side][1]];
        const place a = s->on_grid[begin], b = s->on_grid[end], c = s->on_grid[t->sample[side]];
        const bool is_obtuse = (a.x - c.x) * (b.x - c.x) + (a.y - c.y) * (b.y - c.y) < 0;
        const double height = fabs((double)turn(a, b, c)) / hypot((double)(b.x - a.x), (double)(b.y - a.y));
        if (is_obtuse && height < FLAT && is_border(space, begin, end))
            return true;
    }
    return false;
}

/* ---- gradients ---- */

static point from_to(point a, point b)
{
    return (point){b.x - a.x, b.y - a.y};
}

static void add_edge(th_blend_space *space, const samples *s, uint32_t a, uint32_t b)
{
    assert(space->edge_count < MAX_EDGES);
    const point along = from_to(s->at[a], s->at[b]);
    const double squared = along.x * along.x + along.y * along.y; /* 0 for a single sample: clamp makes its NaN 0 */
    space->edges[space->edge_count++] = (edge){{a, b}, s->at[a], along, {along.x / squared, along.y / squared}};
}

static void connect_line(th_blend_space *space, const samples *s)
{
    uint32_t lowest = 0, highest = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t next = i;
        for (uint32_t j = 0; j < s->count; j++)
            if (s->at[j].x > s->at[i].x && (next == i || s->at[j].x < s->at[next].x))
                next = j;
        const uint32_t a = i < next ? i : next, b = i < next ? next : i;
        if (next != i)
            space->simplices[space->simplex_count++] =
                (simplex){{a, b}, s->at[a], {{1 / (s->at[b].x - s->at[a].x), 0}}};
        else
            highest = i;
        lowest = s->at[i].x < s->at[lowest].x ? i : lowest;
    }
    add_edge(space, s, lowest, highest);
}

static th_result connect_plane(th_blend_space *space, const samples *s, th_error *err)
{
    for (uint32_t i = 0; i < s->count; i++)
        for (uint32_t j = i + 1; j < s->count; j++)
            for (uint32_t k = j + 1; k < s->count; k++)
                if (is_delaunay(s, i, j, k)) {
                    assert(space->simplex_count < MAX_SIMPLICES);
                    space->simplices[space->simplex_count++] = (simplex){.sample = {i, j, k}};
                }

    /* Where all triangles are flat, all go: the longest of their sides would otherwise be opposite two obtuse angles,
     * and then the corner at the one lies in the circle of the other. */
    for (uint32_t t = 0; t < space->simplex_count;) {
        if (!is_flat_border(space, s, &space->simplices[t])) {
            t++;
            continue;
        }
        space->simplices[t] = space->simplices[--space->simplex_count];
        t = 0; /* its neighbours are at the border now */
    }

    bool has_triangle[MAX_SAMPLES] = {false};
    for (const simplex *t = space->simplices; t < space->simplices + space->simplex_count; t++)
        has_triangle[t->sample[0]] = has_triangle[t->sample[1]] = has_triangle[t->sample[2]] = true;
    for (uint32_t i = 0; i < s->count; i++)
        if (!has_triangle[i])
            return th_fail(err, TH_ERR_INPUT,
                           "sample %u of a blend space is on one line with those around it; samples on a line have one "
                           "dimension",
                           i);
    for (simplex *t = space->simplices; t < space->simplices + space->simplex_count; t++) {
        t->begin = s->at[t->sample[0]];
        const point b = from_to(t->begin, s->at[t->sample[1]]), c = from_to(t->begin, s->at[t->sample[2]]);
        const double area = b.x * c.y - b.y * c.x;
        t->gradient[0] = (point){c.y / area, -c.x / area};
        t->gradient[1] = (point){-b.y / area, b.x / area};
        for (int side = 0; side < 3; side++)
            if (is_border(space, t->sample[SIDES[side][0]], t->sample[SIDES[side][1]]))
                add_edge(space, s, t->sample[SIDES[side][0]], t->sample[SIDES[side][1]]);
    }
    return TH_OK;
}

th_result th_blend_space_create(const th_blend_space_desc *desc, th_blend_space **out, th_error *err)
{
    assert(desc && out && (desc->x || desc->sample_count == 0));
    *out = NULL;
    samples s = {.count = desc->sample_count};
    th_result result = read_samples(desc, &s, err);
    if (result != TH_OK)
        return result;
    th_blend_space *space = calloc(1, sizeof *space);
    if (!space)
        return th_fail(err, TH_ERR_MEMORY, "out of memory");
    if (desc->y)
        result = connect_plane(space, &s, err);
    else
        connect_line(space, &s);
    if (result == TH_OK)
        *out = space;
    else
        th_blend_space_destroy(space);
    return result;
}

void th_blend_space_destroy(th_blend_space *space)
{
    free(space);
}

/* ---- evaluation ---- */

/* NaN becomes the least. */
static double clamp(double value, double least, double most)
{
    const double high_enough = value > least ? value : least;
    return high_enough < most ? high_enough : most;
}

static double weight_at(point gradient, point from_begin)
{
    return gradient.x * from_begin.x + gradient.y * from_begin.y;
}

static const edge *find_nearest(const th_blend_space *space, point p, double *out_weight)
{
    const edge *nearest = NULL;
    point near = {0, 0};
    for (const edge *e = space->edges; e < space->edges + space->edge_count; e++) {
        const double weight = clamp(weight_at(e->gradient, from_to(e->begin, p)), 0, 1);
        const point at = {e->begin.x + weight * e->along.x, e->begin.y + weight * e->along.y};
        /* The difference of the squared distances, but precise from far away, where they are nearly equal. */
        const double farther =
            (at.x - near.x) * (at.x + near.x - 2 * p.x) + (at.y - near.y) * (at.y + near.y - 2 * p.y);
        if (!nearest || farther < 0) {
            nearest = e;
            near = at;
            *out_weight = weight;
        }
    }
    return nearest;
}

static uint32_t write_weights(const uint32_t *sample, const double *weight, int count, uint32_t *out_index,
                              float *out_weight)
{
    uint32_t written = 0;
    float sum = 0, others = 0;
    for (int i = 0; i < count; i++) {
        if (weight[i] < NEGLIGIBLE)
            continue;
        others = sum;
        sum += (float)weight[i];
        out_index[written] = sample[i];
        out_weight[written++] = (float)weight[i];
    }
    out_weight[written - 1] = 1 - others;
    return written;
}

uint32_t th_blend_space_weights(const th_blend_space *space, double x, double y, uint32_t out_index[3],
                                float out_weight[3])
{
    assert(space && out_index && out_weight);
    const double most = TH_BLEND_SPACE_MAX_POSITION;
    const point p = {clamp(x, -most, most), clamp(y, -most, most)};
    for (const simplex *t = space->simplices; t < space->simplices + space->simplex_count; t++) {
        const point from_begin = from_to(t->begin, p);
        const double b = weight_at(t->gradient[0], from_begin), c = weight_at(t->gradient[1], from_begin),
                     a = 1 - b - c;
        if (a >= -NEGLIGIBLE && b >= -NEGLIGIBLE && c >= -NEGLIGIBLE) /* rounding leaves no gap between triangles */
            return write_weights(t->sample, (double[3]){a, b, c}, 3, out_index, out_weight);
    }
    double b = 0;
    const edge *e = find_nearest(space, p, &b);
    return write_weights(e->sample, (double[2]){1 - b, b}, 2, out_index, out_weight);
}

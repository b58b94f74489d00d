#include "surroundings.h"

#include <core/random.h>
#include <glad/gl.h>

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

/* ---- solids ---- */

/* Lengths below are metres. */
typedef struct site {
    th_shape *shape;
    double unit; /* scene units in a metre */
    uint64_t seed, drawn;
} site;

void th_shape_fini(th_shape *s)
{
    free(s->vertices);
    free(s->indices);
    *s = (th_shape){0};
}

/* A plane quad, in scene units. corners: around it, either way; it faces the point `front`. */
static void quad(th_shape *s, const double corners[4][3], const double front[3], th_paint paint)
{
    static const uint32_t orders[2][6] = {{0, 1, 2, 0, 2, 3}, {0, 2, 1, 0, 3, 2}}; /* counter-clockwise in front */
    double a[3], b[3], towards = 0;
    if (s->vertex_count >= 4 * s->capacity) { /* there is no room for one more */
        const uint32_t capacity = s->capacity ? 2 * s->capacity : 256;
        th_shape_vertex *vertices = realloc(s->vertices, 4 * (size_t)capacity * sizeof *vertices);
        if (vertices)
            s->vertices = vertices;
        uint32_t *indices = realloc(s->indices, 6 * (size_t)capacity * sizeof *indices);
        if (indices)
            s->indices = indices;
        s->failed = s->failed || !vertices || !indices;
        if (s->failed)
            return;
        s->capacity = capacity;
    }
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

/* On (x, y, z), which is the middle of its bottom; wide along X and deep along Z before it is turned by the heading. */
static void box(const site *p, double x, double y, double z, double wide, double high, double deep, double heading_rad,
                th_paint paint)
{
    const double u = p->unit, centre[3] = {x * u, (y + high / 2) * u, z * u},
                 half[3] = {wide * u / 2, high * u / 2, deep * u / 2};
    const double sine = sin(heading_rad), cosine = cos(heading_rad);
    for (int face = 0; face < 6; face++) {
        const int axis = face / 2, next = (axis + 1) % 3, last = (axis + 2) % 3;
        const double side = face % 2 ? 1 : -1;
        double corners[5][3]; /* the last is in front of the face */
        for (int c = 0; c < 5; c++) {
            double at[3];
            at[axis] = side * half[axis] * (c == 4 ? 2 : 1);
            at[next] = c == 4 ? 0 : half[next] * (c == 0 || c == 3 ? -1 : 1);
            at[last] = c == 4 ? 0 : half[last] * (c < 2 ? -1 : 1);
            corners[c][0] = centre[0] + at[0] * cosine + at[2] * sine;
            corners[c][1] = centre[1] + at[1];
            corners[c][2] = centre[2] - at[0] * sine + at[2] * cosine;
        }
        quad(p->shape, (const double(*)[3])corners, corners[4], paint);
    }
}

/* Between two upright circles around a foot, in scene units, from one angle to another. */
static void cone_side(th_shape *s, const double foot[3], const double radii[2], const double heights[2], double first,
                      double second, th_paint paint)
{
    const double points[5][3] = {
        /* radius, height, angle: the last is in front of the side */
        {radii[0], heights[0], first},
        {radii[0], heights[0], second},
        {radii[1], heights[1], second},
        {radii[1], heights[1], first},
        {9 * (radii[0] + radii[1]), heights[0] == heights[1] ? heights[0] + 9 * radii[0] : heights[0],
         (first + second) / 2}};
    double corners[5][3];
    for (int c = 0; c < 5; c++) {
        corners[c][0] = foot[0] + points[c][0] * sin(points[c][2]);
        corners[c][1] = foot[1] + points[c][1];
        corners[c][2] = foot[2] + points[c][0] * cos(points[c][2]);
    }
    quad(s, (const double(*)[3])corners, corners[4], paint);
}

/* Upright, and cut off: a radius at its foot, another at its top, which is closed. */
static void cone(const site *p, double x, double y, double z, double radius, double top, double high, uint32_t sides,
                 th_paint paint)
{
    const double u = p->unit, foot[3] = {x * u, y * u, z * u}, height = high * u, radii[] = {radius * u, top * u, 0};
    for (uint32_t i = 0; i < sides; i++) {
        const double first = 2 * PI * i / sides, second = 2 * PI * (i + 1) / sides;
        cone_side(p->shape, foot, radii, (double[]){0, height}, first, second, paint);
        if (top > 0)
            cone_side(p->shape, foot, radii + 1, (double[]){height, height}, first, second, paint);
    }
}

static void ball(const site *p, double x, double y, double z, double radius, th_paint paint)
{
    enum { BANDS = 5, SIDES = 9 };
    const double u = p->unit, centre[3] = {x * u, y * u, z * u}, r = radius * u;
    for (int band = 0; band < BANDS; band++) {
        const double low = PI * band / BANDS, high = PI * (band + 1) / BANDS;
        for (int i = 0; i < SIDES; i++)
            cone_side(p->shape, centre, (double[]){r * sin(low), r * sin(high)},
                      (double[]){-r * cos(low), -r * cos(high)}, 2 * PI * i / SIDES, 2 * PI * (i + 1) / SIDES, paint);
    }
}

/* ---- furniture ---- */

static double next_random(site *p)
{
    return th_random_unit(p->seed, p->drawn++);
}

static double between(site *p, double low, double high)
{
    return low + (high - low) * next_random(p);
}

static const th_paint iron = TH_PAINT(44, 48, 50), wood = TH_PAINT(134, 92, 58), stone = TH_PAINT(178, 170, 158),
                      bark = TH_PAINT(84, 66, 52), lamp = TH_PAINT(250, 240, 214), water = TH_PAINT(84, 132, 150);

static const th_paint walls[] = {TH_WALL(188, 150, 122), TH_WALL(208, 190, 160), TH_WALL(160, 96, 76),
                                 TH_WALL(196, 184, 172), TH_WALL(214, 172, 120), TH_WALL(150, 152, 150),
                                 TH_WALL(224, 212, 190), TH_WALL(176, 124, 100)};
static const th_paint cloths[] = {TH_PAINT(152, 44, 40), TH_PAINT(38, 84, 76), TH_PAINT(196, 144, 60),
                                  TH_PAINT(52, 70, 108)};

static void add_tree(site *p, double x, double z)
{
    const double high = between(p, 4.6, 6.4), green = between(p, 0.85, 1.15);
    const th_paint leaves = TH_PAINT((uint8_t)(74 * green), (uint8_t)(104 * green), 48);
    cone(p, x, 0, z, 0.17, 0.11, 0.8 * high, 7, bark);
    ball(p, x, high, z, 0.30 * high, leaves);
    ball(p, x + 0.17 * high, 0.82 * high, z + 0.1 * high, 0.2 * high, leaves);
    ball(p, x - 0.14 * high, 0.80 * high, z - 0.13 * high, 0.21 * high, leaves);
    box(p, x, 0, z, 1.3, 0.12, 1.3, 0, stone);
}

static void add_lamp(const site *p, double x, double z)
{
    cone(p, x, 0, z, 0.14, 0.10, 0.9, 8, iron);
    cone(p, x, 0.9, z, 0.06, 0.045, 3.5, 6, iron);
    cone(p, x, 4.4, z, 0.16, 0.24, 0.5, 6, lamp);
    cone(p, x, 4.9, z, 0.3, 0.03, 0.22, 6, iron);
}

/* heading_rad: where one looks who sits on it */
static void add_bench(const site *p, double x, double z, double heading_rad)
{
    const double back_x = -0.22 * sin(heading_rad), back_z = -0.22 * cos(heading_rad);
    box(p, x, 0.42, z, 1.8, 0.07, 0.46, heading_rad, wood);
    box(p, x + back_x, 0.49, z + back_z, 1.8, 0.42, 0.06, heading_rad, wood);
    for (int side = -1; side <= 1; side += 2)
        box(p, x + 0.75 * side * cos(heading_rad), 0, z - 0.75 * side * sin(heading_rad), 0.07, 0.42, 0.4, heading_rad,
            iron);
}

/* Its front is at (x, z) and looks along the heading. */
static void add_house(site *p, double x, double z, double wide, double high, double heading_rad)
{
    const double deep = 11, sine = sin(heading_rad), cosine = cos(heading_rad);
    const th_paint wall = walls[(size_t)(next_random(p) * sizeof walls / sizeof *walls)];
    const th_paint trim =
        TH_PAINT((uint8_t)(wall.rgba[0] * 0.8), (uint8_t)(wall.rgba[1] * 0.8), (uint8_t)(wall.rgba[2] * 0.8));
    box(p, x - deep / 2 * sine, 0, z - deep / 2 * cosine, wide, high, deep, heading_rad, wall);
    box(p, x - deep / 2 * sine, high, z - deep / 2 * cosine, wide + 0.3, 0.5, deep + 0.7, heading_rad, trim);
    box(p, x + 0.1 * sine, 3.3, z + 0.1 * cosine, wide, 0.3, 0.3, heading_rad, trim);
    if (next_random(p) < 0.6) { /* an awning */
        const th_paint cloth = cloths[(size_t)(next_random(p) * sizeof cloths / sizeof *cloths)];
        box(p, x + 0.8 * sine, 2.75, z + 0.8 * cosine, 0.7 * wide, 0.16, 1.5, heading_rad, cloth);
    }
}

/* ---- street ---- */

#define KERB      0.6  /* from the last lane to the kerb, in lanes */
#define PAVEMENT  1.3  /* from the last who stand to the furniture, m */
#define FRONT     3.2  /* from the furniture to the houses, m */
#define BEYOND    70.0 /* houses go on beyond the crowd, m */
#define TREE_STEP 12.0 /* m */
#define CORNER    14.0 /* from the last houses to those across the end, m */

static void build_street(const th_layout *layout, site *p)
{
    const double line = (layout->lanes + 0.5) * layout->lane_width / p->unit + PAVEMENT, front = line + FRONT,
                 end = (double)layout->length / p->unit / 2 + BEYOND;
    p->shape->ground[0] = (float)((layout->lanes / 2 + KERB) * layout->lane_width);
    p->shape->ground[1] = (float)((double)layout->length / 2 - 9 * p->unit);
    p->shape->ground[2] = (float)((double)layout->length / 2 + BEYOND * p->unit);
    for (int side = -1; side <= 1; side += 2) {
        for (double z = -end, wide; z < end; z += wide) {
            wide = 2.5 * floor(between(p, 4, 7.99)); /* lower where they would darken a narrow street */
            add_house(p, side * front, z + wide / 2, wide, 3.3 * floor(between(p, 3, front < 11 ? 4.6 : 6.6)),
                      -side * PI / 2);
        }
        for (double x = -front - CORNER, wide; x < front + CORNER; x += wide) { /* those across the ends */
            wide = 2.5 * floor(between(p, 4, 7.99));
            add_house(p, x + wide / 2, side * (end + CORNER), wide, 3.3 * floor(between(p, 3, 6.6)), side < 0 ? 0 : PI);
        }
        for (double z = -end + 4; z < end; z += TREE_STEP) {
            add_tree(p, side * line, z);
            add_lamp(p, side * line, z + TREE_STEP / 2);
            add_bench(p, side * (line + 0.4), z + TREE_STEP / 4, -side * PI / 2);
        }
    }
}

/* ---- plaza ---- */

#define BEHIND_GATE 22.0 /* from the houses around to the one behind a gap between them, m */

static void build_plaza(const th_layout *layout, site *p)
{
    enum { SIDES = 24, BENCHES = 8, GATES = 4 };
    const double free = (double)th_layout_plaza_free(layout) / p->unit,
                 all = (double)th_layout_plaza_radius(layout) / p->unit + 2;
    const double radius = 0.45 * free; /* of the fountain in the middle */
    p->shape->ground[0] = th_layout_plaza_radius(layout) + (float)(2 * p->unit);
    for (int i = 0; i < SIDES; i++) {
        const double angle = 2 * PI * i / SIDES;
        box(p, radius * sin(angle), 0, radius * cos(angle), 2.1 * radius * sin(PI / SIDES), 0.62, 0.5, angle, stone);
    }
    cone(p, 0, 0, 0, radius, radius, 0.42, SIDES, water);
    cone(p, 0, 0.42, 0, 0.75, 0.5, 1.3, 8, stone);
    cone(p, 0, 1.72, 0, 0.4, 0.45 * radius, 0.5, 16, stone);
    cone(p, 0, 2.22, 0, 0.40 * radius, 0.40 * radius, 0.06, 16, water);
    cone(p, 0, 2.2, 0, 0.32, 0.24, 1.5, 8, stone);
    cone(p, 0, 3.7, 0, 0.2, 0.16 * radius, 0.3, 12, stone);
    ball(p, 0, 4.25, 0, 0.34, stone);
    for (int i = 0; i < BENCHES; i++) {
        const double angle = 2 * PI * (i + 0.5) / BENCHES;
        add_bench(p, 0.78 * free * sin(angle), 0.78 * free * cos(angle), angle);
    }
    const uint32_t posts = 2 * (uint32_t)fmax(4, PI * all / 7);
    for (uint32_t i = 0; i < posts; i++) {
        const double angle = 2 * PI * i / posts;
        (i % 2 ? add_lamp(p, all * sin(angle), all * cos(angle)) : add_tree(p, all * sin(angle), all * cos(angle)));
    }
    const double front = all + 7;
    const uint32_t houses = GATES * (uint32_t)fmax(3, 2 * PI * front / 15 / GATES);
    for (uint32_t i = 0; i < houses; i++) {
        const double angle = 2 * PI * (i + 0.5) / houses, far = front + (i % (houses / GATES) == 0 ? BEHIND_GATE : 0);
        add_house(p, far * sin(angle), far * cos(angle), 2 * (far + 1) * tan(PI / houses),
                  3.3 * floor(between(p, 3, 5.99)), angle + PI);
    }
}

/* ---- stadium ---- */

#define WALL    0.95 /* height of the wall in front of the first row above its floor, in rises */
#define CANOPY  4.5  /* height of the roof above the last row, m */
#define PILLARS 10u  /* of the roof, on each side */
#define TREES   12u  /* on each side without a stand */

/* A strip around the whole stadium between two curves, each at a distance behind the first row and at a height. */
typedef struct strip {
    double out[2], height[2];
    enum { INWARDS, OUTWARDS, UPWARDS, DOWNWARDS } faces;
    uint32_t paint_count;
    const th_paint *paints; /* for parts along it, in turn */
    bool is_all_around;     /* where there is one stand, too */
} strip;

static void add_strip(const site *p, const th_stadium *s, const strip *t)
{
    enum { STRAIGHT = 12, TURN = 8, PARTS = STRAIGHT + TURN };
    for (uint32_t i = 0; i < 4 * PARTS; i++) {
        double corners[4][3], front[3];
        if (s->is_one_stand && !t->is_all_around && !(i / PARTS == 2 && i % PARTS < STRAIGHT))
            continue;
        for (uint32_t c = 0; c < 4; c++) {
            const uint32_t curve = c / 2, at = i % PARTS + (c == 1 || c == 2);
            const double along = at <= STRAIGHT ? 2.0 * at / STRAIGHT - 1 : 1 + (double)(at - STRAIGHT) / TURN;
            const th_stadium_place place = th_stadium_at(s, t->out[curve], i / PARTS, along);
            corners[c][0] = place.position[0];
            corners[c][1] = t->height[curve];
            corners[c][2] = place.position[2];
        }
        const double far = t->faces == OUTWARDS ? 100 : 0;
        front[0] = far * corners[0][0];
        front[1] = corners[0][1] + (t->faces == UPWARDS ? 1e4 : t->faces == DOWNWARDS ? -1e4 : 0) * p->unit;
        front[2] = far * corners[0][2];
        quad(p->shape, (const double(*)[3])corners, front, t->paints[i % t->paint_count]);
    }
}

static void build_stadium(site *p, const th_stadium *s)
{
    static const th_paint tread[] = {TH_PAINT(146, 142, 136)},
                          seats[] = {TH_PAINT(112, 42, 46), TH_PAINT(112, 42, 46), TH_PAINT(188, 184, 176)};
    static const th_paint concrete[] = {TH_PAINT(170, 166, 158)}, dark[] = {TH_PAINT(88, 92, 98)},
                          sheet[] = {TH_PAINT(206, 208, 208)},
                          boards[] = {TH_PAINT(196, 44, 40),   TH_PAINT(232, 230, 222), TH_PAINT(24, 66, 120),
                                      TH_PAINT(232, 230, 222), TH_PAINT(226, 166, 40),  TH_PAINT(20, 90, 74)};
    const double u = p->unit, front = -0.5 * s->depth, back = (s->rows - 0.5) * s->depth,
                 top = s->base + s->rows * s->rise, wall = s->base + WALL * s->rise, thick = 0.15 * u;
    /* Treads on which people stand, and the seats at their backs, in blocks of colours. */
    for (uint32_t row = 0; row < s->rows; row++) {
        const double tread_out = (row - 0.5) * s->depth, seats_out = (row + 0.5) * s->depth,
                     height = s->base + row * s->rise;
        add_strip(p, s, &(strip){{tread_out, seats_out}, {height, height}, UPWARDS, 1, tread, false});
        add_strip(p, s, &(strip){{seats_out, seats_out}, {height, height + s->rise}, INWARDS, 3, seats, false});
    }
    /* Walls before and behind them. The roof hangs over the rows at the back. */
    const double in = back - fmin(0.45 * back, 9 * u), out = back + 2 * u, low = top + CANOPY * u, rim = 0.6 * u;
    const strip strips[] = {{{front, front}, {0, wall}, INWARDS, 6, boards, true},
                            {{front, front + thick}, {wall, wall}, UPWARDS, 1, concrete, true},
                            {{front + thick, front + thick}, {0, wall}, OUTWARDS, 1, concrete, true},
                            {{back, back}, {top, top + 1.4 * u}, INWARDS, 1, concrete, false},
                            {{back + thick, back + thick}, {0, top + 1.4 * u}, OUTWARDS, 1, dark, false},
                            {{in, out}, {low + 0.9 * u, low}, DOWNWARDS, 1, dark, false},
                            {{in, out}, {low + 0.9 * u + rim, low + rim}, UPWARDS, 1, sheet, false},
                            {{in, in}, {low + 0.9 * u, low + 0.9 * u + rim}, INWARDS, 1, sheet, false}};
    for (size_t i = 0; i < sizeof strips / sizeof *strips; i++)
        add_strip(p, s, &strips[i]);
    for (uint32_t i = 0; i < 4 * TREES && s->is_one_stand; i++) {
        const th_stadium_place at =
            th_stadium_at(s, between(p, 5, 12) * u, i / TREES, (i % TREES + 0.5) * 3 / TREES - 1);
        if (i / TREES != 2)
            add_tree(p, at.position[0] / u, at.position[2] / u);
    }
    for (int end = -1; end <= 1 && s->is_one_stand; end += 2)
        box(p, end * s->half[0] / u, 0, -(s->half[1] + s->radius + (front + back) / 2) / u, 0.2, top / u + 1.4,
            (back - front) / u, 0, concrete[0]);
    for (uint32_t i = 0; i < 4 * PILLARS; i++) {
        if (s->is_one_stand && !(i / PILLARS == 2 && 3 * (i % PILLARS) < 2 * PILLARS))
            continue;
        const th_stadium_place at =
            th_stadium_at(s, back + thick + 0.2 * u, i / PILLARS, (i % PILLARS + 0.5) * 3 / PILLARS - 1);
        cone(&(site){p->shape, .unit = 1}, at.position[0], 0, at.position[2], 0.16 * u, 0.16 * u, low, 6, iron);
    }
    /* Half the length and half the width of the pitch, with a border before the stands; and goals, for one of 105 m. */
    const th_paint white = TH_PAINT(240, 240, 236);
    const double border = fmin(5 * u, 0.15 * (s->half[1] + s->radius));
    for (int axis = 0; axis < 2; axis++) {
        p->shape->ground[axis] = (float)(s->half[axis] + s->radius - border);
        p->shape->ground[2 + axis] = (float)(s->half[axis] + s->radius + s->rows * s->depth);
    }
    const double length = (s->half[0] + s->radius - border) / u, scale = length / 52.5, wide = 7.32 * scale,
                 high = 2.44 * scale;
    for (int end = -1; end <= 1; end += 2) {
        for (int side = -1; side <= 1; side += 2)
            box(p, end * length, 0, side * wide / 2, 0.14, high, 0.14, 0, white);
        box(p, end * length, high, 0, 0.14, 0.14, wide + 0.14, 0, white);
    }
}

/* ---- all ---- */

bool th_surroundings_has(th_layout_kind kind)
{
    return kind == TH_LAYOUT_STREET || th_layout_is_for_standing(kind);
}

void th_surroundings_build(const th_layout *layout, double unit, th_shape *out)
{
    assert(layout && unit > 0 && out);
    site p = {out, unit, layout->desc.seed ^ 0x7363656E65, 0};
    if (layout->desc.kind == TH_LAYOUT_STREET)
        build_street(layout, &p);
    else if (layout->desc.kind == TH_LAYOUT_PLAZA)
        build_plaza(layout, &p);
    else if (layout->desc.kind == TH_LAYOUT_STADIUM) {
        const th_stadium stadium = th_layout_stadium(layout);
        build_stadium(&p, &stadium);
    }
}

th_result th_surroundings_create(const th_layout *layout, double unit, th_surroundings **out, th_error *err)
{
    const GLsizei stride = sizeof(th_shape_vertex);
    th_shape shape = {0};
    th_surroundings *s = calloc(1, sizeof *s);
    *out = s;
    if (s)
        th_surroundings_build(layout, unit, &shape);
    if (!s || shape.failed) {
        th_shape_fini(&shape);
        return th_fail(err, TH_ERR_MEMORY, "no memory for what stands around the crowd");
    }
    s->unit = (float)unit;

    memcpy(s->shape, shape.ground, sizeof s->shape);
    s->index_count = shape.index_count;
    glGenBuffers(2, s->buffers);
    glGenVertexArrays(1, &s->array);
    glBindVertexArray(s->array);
    glBindBuffer(GL_ARRAY_BUFFER, s->buffers[0]);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)(shape.vertex_count * sizeof *shape.vertices), shape.vertices,
                 GL_STATIC_DRAW);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, s->buffers[1]);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, (GLsizeiptr)(shape.index_count * sizeof *shape.indices), shape.indices,
                 GL_STATIC_DRAW);
    for (GLuint a = 0; a < 3; a++)
        glEnableVertexAttribArray(a);
    glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, stride, (const void *)offsetof(th_shape_vertex, position));
    glVertexAttribPointer(1, 4, GL_BYTE, GL_TRUE, stride, (const void *)offsetof(th_shape_vertex, normal));
    glVertexAttribPointer(2, 4, GL_UNSIGNED_BYTE, GL_TRUE, stride, (const void *)offsetof(th_shape_vertex, paint));
    glBindVertexArray(0);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    th_shape_fini(&shape);
    return TH_OK;
}

void th_surroundings_destroy(th_surroundings *s)
{
    if (!s)
        return;
    glDeleteBuffers(2, s->buffers);
    glDeleteVertexArrays(1, &s->array);
    free(s);
}

/* ---- the camera ---- */

void th_surroundings_frame(const th_layout *layout, double unit, double zoom, th_camera *camera)
{
    double at[3] = {0}, distance = 0;
    if (layout->desc.kind == TH_LAYOUT_STREET) { /* among the first of them, where they come, or before all */
        const double end = (double)layout->length / 2, half = (layout->lanes / 2 + 1.0) * layout->lane_width,
                     aside = fabs(sin((double)camera->yaw_rad));
        at[0] = (sin((double)camera->yaw_rad) < -0.01 ? 0.5 : -0.5) * half;
        at[1] = 1.2 * unit;
        at[2] = fmax(end - 20 * unit, 0);
        distance = fmin(fmin(15 * unit, end + 4 * unit), 1.5 * half / fmax(aside, 0.01)); /* not into the houses */
    } else if (layout->desc.kind == TH_LAYOUT_PLAZA) {
        at[1] = 2 * unit;
        distance = fmin(fmax(12 * unit, 0.6 * (double)th_layout_plaza_radius(layout)), 30 * unit);
    } else {
        const th_stadium stadium = th_layout_stadium(layout);
        /* Looks along the stand opposite, from over the pitch. */
        const double deep = stadium.rows * stadium.depth, yaw = (double)camera->yaw_rad;
        const double side = cos(yaw) < -0.01 && !stadium.is_one_stand ? 1 : -1;
        at[0] = (sin(yaw) < -0.01 ? 0.6 : -0.6) * stadium.half[0];
        at[1] = stadium.base + 0.35 * stadium.rows * stadium.rise;
        at[2] = side * (stadium.half[1] + stadium.radius + 0.15 * deep);
        distance = stadium.half[0] + stadium.radius;
    }
    for (int i = 0; i < 3; i++)
        camera->target[i] = (float)at[i];
    camera->distance = (float)(distance / zoom);
}

#include "surroundings.h"

#include <anim/playback.h>
#include <core/random.h>

#include <assert.h>
#include <math.h>

#define PI 3.14159265358979323846

#define FREE_RINGS   1u /* circles left free in the middle */
#define ROOM         1.05f
#define TURNS        3.0  /* radians for a looseness of 1 */
#define STREET_SHAPE 6.0  /* approximate ratio of length to width, */
#define MOST_LANES   10u  /* until it is as wide as it gets, */
#define MOST_LENGTH  2000 /* or so many spacings long: then it is wider */
#define STREET_LEAST 4u   /* slots per lane */
#define STRIDES      1.5  /* between slots along a lane, in spacings; walkers need more room */
#define SWAY         0.3  /* largest offset from the middle of a lane, in spacings */
#define LANE_ROOM    1.0  /* width of a lane of routines, in spacings: arms may be where others swing theirs */
#define LANE_SWAY    0.05 /* the same as SWAY in such a lane, in its widths */
#define PACES        0.1  /* largest relative difference of a lane's pace */
#define BEND         0.17 /* largest angle between the way of a routine and its lane */
#define WEAVE        0.24 /* how far it leads to either side, in widths of the lane, at most */
#define SHORTEST     0.8  /* the shortest such wave, in lengths of the longest */

/* Streams of random numbers. SALT keeps them apart from the crowd's streams of the same seed. */
enum { RANDOM_SCALE, RANDOM_LANE, RANDOM_PLACE, RANDOM_WAVE, RANDOM_TURN, RANDOM_X, RANDOM_Z };
#define LANE_SALT 0x6C616E65u
#define SALT      0x6C61796F7574u

const char *th_layout_name(th_layout_kind kind)
{
    static const char *const names[TH_LAYOUT_COUNT] = {[TH_LAYOUT_GRID] = "grid",
                                                       [TH_LAYOUT_RING] = "ring",
                                                       [TH_LAYOUT_STREET] = "street",
                                                       [TH_LAYOUT_PLAZA] = "plaza",
                                                       [TH_LAYOUT_STADIUM] = "stadium"};
    return kind >= 0 && kind < TH_LAYOUT_COUNT ? names[kind] : "unknown";
}

/* In [-1, 1). */
static double random_signed(const th_layout *layout, uint32_t instance, int what)
{
    uint64_t own = th_random_bits(layout->desc.seed ^ SALT, instance);
    return 2 * th_random_unit(own, (uint64_t)what) - 1;
}

static float scale_of(const th_layout *layout, uint32_t instance)
{
    const th_instance_motion *motion = &layout->desc.motions[instance];
    const double stature = motion->stature > 0 ? (double)motion->stature : 1;
    const double own = stature * (double)layout->desc.locomotions[motion->locomotion].scale;
    return (float)(own * (1 + (double)layout->desc.scale_spread * random_signed(layout, instance, RANDOM_SCALE)));
}

/* ---- creation ---- */

static bool has_routine(const th_layout *layout, uint32_t instance)
{
    return layout->desc.locomotions[layout->desc.motions[instance].locomotion].deviation > 0;
}

/* Characters per lane of a street. */
static uint32_t rows(const th_layout *layout)
{
    return (layout->desc.count + layout->lanes - 1) / layout->lanes;
}

th_layout th_layout_make(const th_layout_desc *desc)
{
    assert(desc && desc->kind >= 0 && desc->kind < TH_LAYOUT_COUNT);
    assert(desc->locomotions && (desc->motions || desc->count == 0));
    assert(desc->spacing >= 0 && desc->scale_spread >= 0 && desc->scale_spread < 1);
    th_layout layout = {.desc = *desc};
    float reach = 0;
    for (uint32_t s = 0; s < desc->locomotion_count; s++) {
        const th_locomotion *l = &desc->locomotions[s];
        reach = fmaxf(reach, l->reach * l->scale);
        if (!(l->deviation > 0))
            continue;
        /* In a street the slowest routine sets the pace, and the one that strays most the distance. */
        const double pace = (double)(l->speed * l->scale);
        layout.pace = layout.pace > 0 ? fmin(layout.pace, pace) : pace;
        layout.strayed = fmax(layout.strayed, (double)(l->deviation * l->scale * (1 + desc->scale_spread)));
    }
    if (!(desc->spacing > 0))
        layout.desc.spacing = reach > 0 ? 2 * reach * (1 + desc->scale_spread) * ROOM : 1;
    const double spacing = (double)layout.desc.spacing;
    layout.lane_width = layout.pace > 0 ? LANE_ROOM * spacing : spacing;
    layout.step = layout.pace > 0 ? 2 * layout.strayed + spacing : STRIDES * spacing;
    const double area = layout.step * desc->count / layout.lane_width;
    const double most = fmax(MOST_LANES, layout.step * desc->count / (MOST_LENGTH * spacing));
    layout.lanes = 2 * (uint32_t)fmin(fmax(1, round(sqrt(area / STREET_SHAPE) / 2)), ceil(most / 2));
    const uint32_t slots = rows(&layout) > STREET_LEAST ? rows(&layout) : STREET_LEAST;
    layout.length = (float)(slots * layout.step);
    return layout;
}

/* ---- grid ---- */

/* The square ring around cell 0 that holds the cell. Cells wind outward; ring r ends with cell (2r + 1)^2 - 1. */
static uint32_t square_ring(uint32_t cell)
{
    uint32_t r = (uint32_t)((sqrt((double)cell) + 1) / 2);
    while ((2 * (uint64_t)r + 1) * (2 * (uint64_t)r + 1) <= cell)
        r++;
    while (r > 0 && (2 * (uint64_t)r - 1) * (2 * (uint64_t)r - 1) > cell)
        r--;
    return r;
}

/* A ring starts at a corner and runs along its sides in turn. */
static void place_in_grid(const th_layout *layout, uint32_t i, th_instance_transform *out)
{
    const uint32_t r = square_ring(i), side = 2 * r;
    double x = 0, z = 0;
    if (r > 0) {
        uint64_t inner = 2 * (uint64_t)r - 1, at = i - inner * inner;
        double along = (double)(at % side) - r + 1, edge = r;
        const double corners[4][2] = {{edge, along}, {-along, edge}, {-edge, -along}, {along, -edge}};
        x = corners[at / side][0];
        z = corners[at / side][1];
    }
    const double loose = (double)layout->desc.looseness, spacing = (double)layout->desc.spacing;
    x += loose > 0 && (int64_t)z % 2 != 0 ? 0.5 : 0; /* no aisles */
    out->position[0] = (float)((x + loose * random_signed(layout, i, RANDOM_X)) * spacing);
    out->position[2] = (float)((z + loose * random_signed(layout, i, RANDOM_Z)) * spacing);
    out->heading_rad = (float)(TURNS * loose * random_signed(layout, i, RANDOM_TURN));
}

float th_layout_grid_half(const th_layout *layout)
{
    assert(layout);
    const uint32_t outermost = square_ring(layout->desc.count); /* of one more, which is not full */
    return (float)(outermost > 0 ? outermost - 1 : 0) * layout->desc.spacing;
}

/* ---- ring ---- */

/* Circle k has 6k slots at a radius of k spacings, so slots are at least one spacing apart. Circles 1 to k have 3k(k +
 * 1) slots. */
static uint32_t circle_of(uint64_t slot)
{
    uint32_t k = (uint32_t)((3 + sqrt(9 + 12 * (double)slot)) / 6);
    while (3 * (uint64_t)k * (k + 1) <= slot)
        k++;
    while (k > 1 && 3 * (uint64_t)k * (k - 1) > slot)
        k--;
    return k;
}

static void place_in_ring(const th_layout *layout, uint32_t i, th_instance_transform *out)
{
    uint64_t slot = i + 3 * (uint64_t)FREE_RINGS * (FREE_RINGS + 1);
    uint32_t k = circle_of(slot);
    /* Each circle starts at another angle; otherwise the first slots would line up. */
    double start = th_random_unit(layout->desc.seed ^ SALT, (uint64_t)UINT32_MAX + k);
    double angle = 2 * PI * ((double)(slot - 3 * (uint64_t)k * (k - 1)) / (6.0 * k) + start);
    out->position[0] = (float)(k * (double)layout->desc.spacing * sin(angle));
    out->position[2] = (float)(k * (double)layout->desc.spacing * cos(angle));
    out->heading_rad = (float)remainder(angle + PI, 2 * PI);
}

/* ---- plaza ---- */

/* Sizes of groups, repeated, and the first member of each. */
enum { GROUPS = 10, MEMBERS = 27 };
static const uint8_t first_member[GROUPS + 1] = {0, 3, 5, 9, 10, 12, 17, 20, 21, 25, MEMBERS};

#define GROUP_ROOM  1.27 /* groups lie on a spiral of seeds in a sunflower, at least 1.7 of this apart, in spacings */
#define CLOSE       0.8  /* between neighbours in a group, in spacings */
#define GOLDEN_TURN 2.39996322972865332
#define FREE_GROUPS 20u /* that would have room in the free area */

static double group_distance(const th_layout *layout, uint32_t group)
{
    return GROUP_ROOM * (double)layout->desc.spacing * sqrt((double)group + FREE_GROUPS);
}

/* Members stand on a circle and look at its middle; who is alone looks at the middle of the plaza. */
static void place_in_plaza(const th_layout *layout, uint32_t i, th_instance_transform *out)
{
    uint32_t g = 0;
    while (i % MEMBERS >= first_member[g + 1])
        g++;
    const uint32_t group = i / MEMBERS * GROUPS + g, size = first_member[g + 1] - first_member[g];
    const double start = th_random_unit(layout->desc.seed ^ SALT, (uint64_t)UINT32_MAX + group);
    const double angle = group * GOLDEN_TURN, far = group_distance(layout, group);
    const double own = 2 * PI * (start + (double)(i % MEMBERS - first_member[g]) / size);
    const double radius = size > 1 ? CLOSE * (double)layout->desc.spacing / (2 * sin(PI / size)) : 0;
    out->position[0] = (float)(far * sin(angle) + radius * sin(own));
    out->position[2] = (float)(far * cos(angle) + radius * cos(own));
    out->heading_rad = (float)remainder((size > 1 ? own : angle) + PI, 2 * PI);
}

float th_layout_plaza_free(const th_layout *layout)
{
    assert(layout);
    return (float)(group_distance(layout, 0) - (double)layout->desc.spacing);
}

float th_layout_plaza_radius(const th_layout *layout)
{
    assert(layout);
    return (float)(group_distance(layout, (layout->desc.count + MEMBERS - 1) / MEMBERS * GROUPS) +
                   (double)layout->desc.spacing);
}

/* ---- stadium ----
 *
 * A corner is a quarter of a circle. With rows 4/pi of a seat apart it takes exactly two more seats in each row, so row
 * r has first + 8 r seats, and the rows before it first r + 4 r (r - 1). */

#define SEAT      0.46 /* width, in spacings: arms swing above the neighbours' */
#define SHAPE     28.0 /* seats of the first row for each row */
#define USED      0.93 /* of all seats */
#define LENGTHY   0.61 /* of the straight seats, those along X */
#define ROUNDNESS 18u  /* one of so many seats of the first row is in a corner, of each of the four */
#define BLOCK     18u  /* seats between two aisles */
#define AISLE     1.8  /* width, in seats */
#define FEW       300u /* fill one stand */
#define LONG      24.0 /* seats of each of its rows for each row */

static uint64_t first_row(const th_stadium *s)
{
    return 2 * ((uint64_t)s->straight[0] + s->straight[1]) + 4 * (uint64_t)s->corner;
}

/* Seats of all rows before this one. */
static uint64_t seats_before(const th_stadium *s, uint64_t row)
{
    return s->is_one_stand ? s->straight[0] * row : row == 0 ? 0 : first_row(s) * row + 4 * row * (row - 1);
}

uint64_t th_stadium_seats(const th_stadium *s)
{
    return seats_before(s, s->rows);
}

/* At least as many seats as characters, in stands about as deep as a football stadium of that many. */
th_stadium th_layout_stadium(const th_layout *layout)
{
    assert(layout && layout->desc.kind == TH_LAYOUT_STADIUM);
    const uint32_t count = layout->desc.count;
    const double seat = SEAT * (double)layout->desc.spacing, wanted = count / USED;
    th_stadium s = {.seat = seat, .depth = 4 / PI * seat, .rise = 0.62 * seat, .base = 1.9 * seat};
    s.is_one_stand = count <= FEW;
    s.rows = (uint32_t)fmax(1, ceil(sqrt(wanted / (s.is_one_stand ? LONG : SHAPE + 4))));
    const uint32_t first = (uint32_t)fmax(24, ceil(wanted / s.rows - 4.0 * (s.rows - 1)));
    s.corner = first / ROUNDNESS;
    s.straight[0] = (uint32_t)(LENGTHY * (first / 2 - 2 * s.corner));
    s.straight[1] = first / 2 - 2 * s.corner - s.straight[0];
    if (s.is_one_stand) {
        s.corner = 0;
        s.straight[0] = (uint32_t)fmax(1, ceil(wanted / s.rows));
        s.straight[1] = s.straight[0] / 2 + 1;
    }
    while (th_stadium_seats(&s) < count)
        s.rows++;
    for (int axis = 0; axis < 2; axis++)
        s.half[axis] = seat * (s.straight[axis] + AISLE * ((s.straight[axis] - 1) / BLOCK)) / 2;
    s.radius = s.is_one_stand ? s.depth : s.corner * seat * 2 / PI;
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

/* Empty seats are spread evenly. */
static void place_in_stadium(const th_layout *layout, uint32_t i, th_instance_transform *out)
{
    const th_stadium s = th_layout_stadium(layout);
    const uint64_t seat = i * th_stadium_seats(&s) / layout->desc.count;
    const double half = ((double)first_row(&s) - 4) / 8;
    uint64_t row = (uint64_t)(sqrt(half * half + (double)seat / 4) - half);
    while (seats_before(&s, row + 1) <= seat)
        row++;
    while (seats_before(&s, row) > seat)
        row--;
    const uint64_t corner = s.corner + 2 * row;
    uint64_t at = seat - seats_before(&s, row);
    uint32_t quarter = s.is_one_stand ? 2 : 0;
    for (; at >= s.straight[quarter % 2] + corner; quarter++)
        at -= s.straight[quarter % 2] + corner;
    const uint64_t straight = s.straight[quarter % 2];
    const double along = at < straight
                             ? s.seat * ((double)at + 0.5 + AISLE * (double)(at / BLOCK)) / s.half[quarter % 2] - 1
                             : 1 + ((double)(at - straight) + 0.5) / (double)corner;
    const th_stadium_place place = th_stadium_at(&s, (double)row * s.depth, quarter, along);
    out->position[0] = (float)place.position[0];
    out->position[1] += (float)(s.base + (double)row * s.rise);
    out->position[2] = (float)place.position[2];
    out->heading_rad = (float)place.heading_rad;
}

/* ---- street ---- */

static bool walks(const th_locomotion *locomotion, const th_instance_motion *motion)
{
    return locomotion->speed != 0 && motion->speed != 0;
}

static float walked_to(const th_layout *layout, const th_walk *walk, double time_s)
{
    const bool whole_loops = walk->playback.speed != 0;
    const double since = whole_loops ? floor(th_playback_loops(walk->playback, time_s)) : time_s;
    /* Off the nearest whole number. Adding and subtracting 1.5 * 2^52 rounds to one, in vectors of any instruction set.
     */
    const double x = walk->start + walk->rate * since, shift = 0x1.8p52, off = x - ((x + shift) - shift);
    return (float)((double)layout->length * off);
}

/* In [-1/2, 1/2), the same for all instances in a lane. */
static double lane_random(const th_layout *layout, uint32_t instance, uint64_t what)
{
    return th_random_unit(th_random_bits(layout->desc.seed ^ LANE_SALT, instance % layout->lanes), what) - 0.5;
}

double th_layout_routine_speed(const th_layout *layout, uint32_t instance)
{
    assert(layout && instance < layout->desc.count);
    const th_instance_motion *motion = &layout->desc.motions[instance];
    if (layout->desc.kind != TH_LAYOUT_STREET || !has_routine(layout, instance))
        return motion->speed;
    const double mean = (double)layout->desc.locomotions[motion->locomotion].speed;
    const double pace = layout->pace * (1 + 2 * PACES * lane_random(layout, instance, 0)); /* of the lane */
    return pace / (mean * (double)scale_of(layout, instance));
}

/* Instances go to the lanes in turn, centred along Z if there are too few to fill the lanes. Lanes on the -X side walk
 * along +Z. `along` is the distance from the beginning of the lane, in the direction in which it is walked. */
th_walk th_layout_walk(const th_layout *layout, uint32_t i)
{
    assert(layout && i < layout->desc.count);
    if (layout->desc.kind != TH_LAYOUT_STREET)
        return (th_walk){0};
    const th_instance_motion *motion = &layout->desc.motions[i];
    const th_locomotion *locomotion = &layout->desc.locomotions[motion->locomotion];
    const double way = i % layout->lanes < layout->lanes / 2 ? 1 : -1, length = (double)layout->length,
                 step = layout->step;
    const double jitter =
        has_routine(layout, i) ? lane_random(layout, i, 1) : 0.25 * random_signed(layout, i, RANDOM_PLACE);
    double along = (i / layout->lanes + 0.5 + jitter) * step;
    along += (length - rows(layout) * step) / 2;
    th_walk walk = {0};
    if (walks(locomotion, motion)) {
        const double speed = (double)locomotion->speed * (double)scale_of(layout, i); /* per second of the clip */
        walk.rate = way * speed * th_layout_routine_speed(layout, i) / length;
        if (locomotion->loop_s > 0) {
            walk.playback = th_playback_of(locomotion->loop_s, motion->phase_s, motion->speed);
            walk.rate = way * speed * locomotion->loop_s / length;
            along -= speed * motion->phase_s;
        }
    }
    walk.start = way * (along / length - 0.5);
    return walk;
}

void th_layout_walk_to(const th_layout *layout, const th_walk *walks, uint32_t count, double time_s, float *out_z)
{
    assert(layout && (count == 0 || (walks && out_z)));
    for (uint32_t i = 0; i < count; i++)
        out_z[i] = walked_to(layout, &walks[i], time_s);
}

/* ---- ways that weave ----
 *
 * A sine-generated curve (Langbein and Leopold 1966): after a distance s the way heads BEND sin(u) away from its lane,
 * u = wave s + phase. By the expansions of Jacobi and Anger, with the Bessel functions J of BEND,
 *
 *    X = middle - sum of 2 J_n / (n wave) cos(n u) over odd n
 *    Z = J_0 s + sum of 2 J_n / (n wave) sin(n u) over even n
 *
 * Terms from J_5 on are below a micrometre of a lane of 2 m. All ways have the same BEND, so walkers of a lane keep
 * their distance along Z, but for twice the second sum, which is about 1 % of the width of the lane. */

static const double bessel[5] = {0.99278804, 0.084693307, 0.00360380775, 0.000102169423, 2.17188502e-06};

static bool weaves(const th_layout *layout, uint32_t i)
{
    const th_instance_motion *motion = &layout->desc.motions[i];
    return layout->desc.kind == TH_LAYOUT_STREET && has_routine(layout, i) &&
           walks(&layout->desc.locomotions[motion->locomotion], motion);
}

th_weave th_layout_weave(const th_layout *layout, uint32_t i)
{
    assert(layout && i < layout->desc.count);
    const double facing_rad = (double)layout->desc.locomotions[layout->desc.motions[i].locomotion].facing_rad;
    if (!weaves(layout, i))
        return (th_weave){0};
    const double longest = 2 * PI * WEAVE * layout->lane_width / BEND;
    const double part = 1 + (SHORTEST - 1) * (1 + random_signed(layout, i, RANDOM_WAVE)) / 2;
    const uint32_t lane = i % layout->lanes, half = layout->lanes / 2;
    const double sway = LANE_SWAY * random_signed(layout, i, RANDOM_LANE);
    return (th_weave){.wave = 2 * PI / (part * longest),
                      .phase = PI * random_signed(layout, i, RANDOM_TURN),
                      .middle = (lane + 0.5 - half + (lane < half ? -sway : sway)) * layout->lane_width,
                      .heading_rad = (lane < half ? 0 : PI) - facing_rad};
}

void th_layout_weave_to(const th_weave *weave, double z, th_instance_transform *out)
{
    assert(weave && weave->wave > 0 && out);
    const double u = weave->wave * z + weave->phase, s = sin(u), c = cos(u), s2 = 2 * s * c, c2 = c * c - s * s;
    const double odd = 2 * bessel[1] * c + 2.0 / 3 * bessel[3] * (c2 * c - s2 * s);
    const double even = bessel[2] * s2 + bessel[4] / 2 * (2 * s2 * c2);
    out->position[0] = (float)(weave->middle - odd / weave->wave);
    out->position[2] = (float)(bessel[0] * z + even / weave->wave);
    out->heading_rad = (float)remainder(weave->heading_rad + BEND * s, 2 * PI);
}

static void place_in_street(const th_layout *layout, uint32_t i, double time_s, th_instance_transform *out)
{
    const th_instance_motion *motion = &layout->desc.motions[i];
    const double width = layout->lane_width, half = layout->lanes / 2;
    const uint32_t lane = i % layout->lanes;
    const double side = lane < layout->lanes / 2 ? -1 : 1;
    double out_of_middle = fabs(lane + 0.5 - half); /* in lanes */
    double desired_rad = side < 0 ? 0 : PI;
    if (walks(&layout->desc.locomotions[motion->locomotion], motion)) {
        out_of_middle += SWAY * random_signed(layout, i, RANDOM_LANE);
    } else { /* the same position mirrored at the kerb */
        out_of_middle = 2 * half - out_of_middle + 0.5;
        desired_rad = -side * PI / 2;
    }
    const th_walk walk = th_layout_walk(layout, i);
    out->position[0] = (float)(side * out_of_middle * width);
    out->position[2] = walked_to(layout, &walk, time_s);
    out->heading_rad = (float)desired_rad;
}

/* ---- all ---- */

void th_layout_place(const th_layout *layout, uint32_t begin, uint32_t end, double time_s, th_instance_transform *out)
{
    assert(layout);
    assert(begin <= end && end <= layout->desc.count);
    assert(begin == end || out);
    for (uint32_t i = begin; i < end; i++, out++) {
        assert(layout->desc.motions[i].locomotion < layout->desc.locomotion_count);
        const th_locomotion *locomotion = &layout->desc.locomotions[layout->desc.motions[i].locomotion];
        out->scale = scale_of(layout, i);
        out->position[1] = -locomotion->lowest_y * out->scale;
        if (weaves(layout, i)) {
            const th_walk walk = th_layout_walk(layout, i);
            const th_weave weave = th_layout_weave(layout, i);
            th_layout_weave_to(&weave, (double)walked_to(layout, &walk, time_s), out);
            continue;
        }
        const th_layout_kind kind = layout->desc.kind;
        if (kind == TH_LAYOUT_RING)
            place_in_ring(layout, i, out);
        else if (kind == TH_LAYOUT_STREET)
            place_in_street(layout, i, time_s, out);
        else if (kind == TH_LAYOUT_PLAZA)
            place_in_plaza(layout, i, out);
        else if (kind == TH_LAYOUT_STADIUM)
            place_in_stadium(layout, i, out);
        else
            place_in_grid(layout, i, out);
        out->heading_rad = remainderf(out->heading_rad - locomotion->facing_rad, (float)(2 * PI));
    }
}

bool th_layout_is_for_standing(th_layout_kind kind)
{
    return kind == TH_LAYOUT_PLAZA || kind == TH_LAYOUT_STADIUM;
}

th_sphere th_layout_bounds(const th_layout *layout)
{
    assert(layout);
    double high = 0, wide = 0;
    for (uint32_t s = 0; s < layout->desc.locomotion_count; s++) {
        const th_locomotion *locomotion = &layout->desc.locomotions[s];
        const float *c = locomotion->sphere.centre;
        double scale = (double)(locomotion->scale * (1 + layout->desc.scale_spread)),
               radius = (double)locomotion->sphere.radius;
        high = fmax(high, scale * ((double)(c[1] - locomotion->lowest_y) + radius));
        wide = fmax(wide, scale * (hypot((double)c[0], (double)c[2]) + radius));
    }
    /* The largest distance of a slot from the middle, and the height of the highest. */
    const double spacing = (double)layout->desc.spacing;
    const uint32_t last = layout->desc.count > 0 ? layout->desc.count - 1 : 0;
    double extent = 0;
    if (layout->desc.kind == TH_LAYOUT_STADIUM) {
        const th_stadium s = th_layout_stadium(layout);
        high += s.base + (s.rows - 1) * s.rise;
        extent = hypot(s.half[0], s.half[1]) + s.radius + s.rows * s.depth;
    } else if (layout->desc.kind == TH_LAYOUT_STREET) {
        extent = hypot((layout->lanes + 0.5) * layout->lane_width, (double)layout->length / 2 + layout->strayed);
    } else if (layout->desc.kind == TH_LAYOUT_PLAZA) {
        extent = (double)th_layout_plaza_radius(layout);
    } else if (layout->desc.kind == TH_LAYOUT_RING) {
        extent = circle_of(last + 3 * (uint64_t)FREE_RINGS * (FREE_RINGS + 1)) * spacing;
    } else {
        extent = (square_ring(last) + (layout->desc.looseness > 0 ? 1 : 0)) * spacing * sqrt(2);
    }
    const double radius = hypot((layout->desc.count > 0 ? extent : 0) + wide, high / 2);
    return (th_sphere){{0, (float)(high / 2), 0}, radius > 0 ? (float)(radius * 1.0001) : 1};
}

/* A sphere of the locomotion, in the scene. */
static th_sphere sphere_at(const th_sphere *sphere, const th_instance_transform *at)
{
    const th_mat34 m = th_instance_transform_matrix(at);
    const float *c = sphere->centre;
    th_sphere placed = {.radius = at->scale * sphere->radius};
    for (int row = 0; row < 3; row++) {
        const float *to = m.m + 4 * row;
        placed.centre[row] = to[0] * c[0] + to[1] * c[1] + to[2] * c[2] + to[3];
    }
    return placed;
}

/* Which part of the clip plays at a time. */
static uint32_t part_at(const th_locomotion *locomotion, const th_instance_motion *motion, double time_s)
{
    const th_playback playback = th_playback_of(locomotion->loop_s, motion->phase_s, motion->speed);
    const double part = th_playback_ratio(playback, time_s) * TH_BOUNDS_PARTS;
    return part < TH_BOUNDS_PARTS - 1 ? (uint32_t)part : TH_BOUNDS_PARTS - 1;
}

/* Clips without root motion are framed whole, so that all pictures of them are framed alike. */
static uint32_t reach_of_clip(const th_locomotion *locomotion, const th_instance_motion *motion, double time_s,
                              double shown_s, const th_instance_transform *at, th_sphere *out)
{
    const double most_parts = fabs(motion->speed) * shown_s / locomotion->loop_s * TH_BOUNDS_PARTS;
    if (!(locomotion->loop_s > 0) || !(most_parts < TH_BOUNDS_PARTS - 1)) {
        out[0] = sphere_at(&locomotion->sphere, at);
        return 1;
    }
    const uint32_t step = motion->speed < 0 ? TH_BOUNDS_PARTS - 1 : 1;
    const uint32_t last = part_at(locomotion, motion, time_s + shown_s);
    uint32_t count = 0;
    for (uint32_t part = part_at(locomotion, motion, time_s);; part = (part + step) % TH_BOUNDS_PARTS) {
        assert(count < TH_BOUNDS_PARTS);
        out[count++] = sphere_at(&locomotion->parts[part], at);
        if (part == last)
            return count;
    }
}

th_sphere th_layout_sphere(const th_layout *layout, uint32_t instance, double time_s)
{
    assert(layout && instance < layout->desc.count);
    const th_instance_motion *motion = &layout->desc.motions[instance];
    th_instance_transform at;
    th_sphere sphere[1];
    th_layout_place(layout, instance, instance + 1, time_s, &at);
    reach_of_clip(&layout->desc.locomotions[motion->locomotion], motion, time_s, 0, &at, sphere);
    return sphere[0];
}

uint32_t th_layout_reach(const th_layout *layout, uint32_t instance, double time_s, double shown_s,
                         th_sphere out[TH_BOUNDS_PARTS])
{
    assert(layout && out && instance < layout->desc.count && shown_s >= 0);
    const th_instance_motion *motion = &layout->desc.motions[instance];
    const th_locomotion *locomotion = &layout->desc.locomotions[motion->locomotion];
    th_instance_transform at;
    th_layout_place(layout, instance, instance + 1, time_s, &at);
    if (layout->desc.kind != TH_LAYOUT_STREET || !walks(locomotion, motion))
        return reach_of_clip(locomotion, motion, time_s, shown_s, &at, out);
    double aside = 0;
    if (weaves(layout, instance)) {
        const float *c = locomotion->sphere.centre;
        const th_weave weave = th_layout_weave(layout, instance);
        at.position[0] = (float)weave.middle;
        at.heading_rad = (float)weave.heading_rad;
        aside = WEAVE * layout->lane_width + BEND * (double)at.scale * hypot((double)c[0], (double)c[2]);
    }
    for (uint32_t end = 0; end < 2; end++) {
        const float far = layout->length / 2 + (float)layout->strayed;
        at.position[2] = end == 0 ? -far : far;
        out[end] = sphere_at(&locomotion->sphere, &at);
        out[end].radius += (float)aside;
    }
    return 2;
}

th_mat34 th_instance_transform_matrix(const th_instance_transform *transform)
{
    assert(transform);
    const float *p = transform->position;
    const float s = transform->scale * sinf(transform->heading_rad),
                c = transform->scale * cosf(transform->heading_rad);
    return (th_mat34){{c, 0, s, p[0], 0, transform->scale, 0, p[1], -s, 0, c, p[2]}};
}

/* The shape of the body: soft tubes along the limbs, in the manner of implicit modelling (J. Bloomenthal, Introduction
 * to Implicit Surfaces, 1997). A tube is a row of stations, elliptic cross-sections of which a smooth curve is drawn
 * through centres and radii. Tubes of a part melt into each other over a given width (I. Quilez's quadratic smooth
 * minimum), so that shoulders, crotch and finger webs need no care of their own.
 *
 * The skin weights come from the same tables. A tube hangs on a chain of joints, and its points are handed on from
 * joint to joint as one walks down the chain; where tubes melt together, their weights do. Parts that lie on each
 * other, such as wrist and cuff, hang on the same chains, and so move together.
 *
 * Why clothes: each part is a closed surface of its own, so colours meet in sharp lines and openings hide in overlaps
 * (the hand begins inside the sleeve), at a resolution that suits the part. */
#include "human_parts.h"

#include <string.h>

#define MAX_STATIONS 10
#define MAX_LINKS    6

typedef struct station {
    vec3 centre;
    double width, depth; /* half of each; width is measured along the tube's side vector */
} station;

typedef enum chain_id { TORSO, SKULL, ARM, LEG, FOOT, THUMB, INDEX, MIDDLE, RING, PINKY } chain_id;

typedef struct th_human_tube {
    chain_id chain;
    vec3 axis, side; /* unit length, at right angles */
    double cap;      /* how far the rounded ends reach past the first and last station */
    double blend;    /* how softly it melts into the tubes before it */
    double boxiness; /* 0: elliptic cross-section, 1: nearly a box */
    bool carve;      /* takes away what is there, instead of adding to it */
    uint32_t station_count;
    station stations[MAX_STATIONS];
} tube;

/* A joint takes over from the one before it between `soft` before and `soft` behind its own place on the axis. */
typedef struct chain {
    vec3 axis;
    struct {
        uint32_t joint;
        double soft;
    } links[MAX_LINKS];
} chain;

#define X_AXIS                                                                                                         \
    {                                                                                                                  \
        1, 0, 0                                                                                                        \
    }
#define Y_AXIS                                                                                                         \
    {                                                                                                                  \
        0, 1, 0                                                                                                        \
    }
#define Z_AXIS                                                                                                         \
    {                                                                                                                  \
        0, 0, 1                                                                                                        \
    }
#define END                                                                                                            \
    {                                                                                                                  \
        J_NONE, 0                                                                                                      \
    }

static const chain CHAINS[] = {
    [TORSO] =
        {Y_AXIS,
         {{J_HIPS, 0}, {J_SPINE_01, 0.07}, {J_SPINE_02, 0.07}, {J_SPINE_03, 0.07}, {J_NECK, 0.035}, {J_HEAD, 0.03}}},
    [SKULL] = {Y_AXIS, {{J_HEAD, 0}, END}},
    [ARM] =
        {X_AXIS,
         {{J_SPINE_03, 0}, {J_CLAVICLE_L, 0.05}, {J_UPPERARM_L, 0.075}, {J_LOWERARM_L, 0.045}, {J_HAND_L, 0.025}, END}},
    [LEG] = {{0, -1, 0}, {{J_HIPS, 0}, {J_THIGH_L, 0.09}, {J_CALF_L, 0.055}, {J_FOOT_L, 0.03}, END}},
    [FOOT] = {Z_AXIS, {{J_FOOT_L, 0}, {J_TOE_L, 0.025}, END}},
    [THUMB] = {{0.726, -0.183, 0.663},
               {{J_HAND_L, 0}, {J_THUMB_01_L, 0.015}, {J_THUMB_02_L, 0.009}, {J_THUMB_03_L, 0.008}, END}},
    [INDEX] = {X_AXIS, {{J_HAND_L, 0}, {J_INDEX_01_L, 0.012}, {J_INDEX_02_L, 0.008}, {J_INDEX_03_L, 0.007}, END}},
    [MIDDLE] = {X_AXIS, {{J_HAND_L, 0}, {J_MIDDLE_01_L, 0.012}, {J_MIDDLE_02_L, 0.008}, {J_MIDDLE_03_L, 0.007}, END}},
    [RING] = {X_AXIS, {{J_HAND_L, 0}, {J_RING_01_L, 0.012}, {J_RING_02_L, 0.008}, {J_RING_03_L, 0.007}, END}},
    [PINKY] = {X_AXIS, {{J_HAND_L, 0}, {J_PINKY_01_L, 0.012}, {J_PINKY_02_L, 0.008}, {J_PINKY_03_L, 0.007}, END}},
};

#define UPRIGHT .axis = Y_AXIS, .side = X_AXIS /* width to the side, depth to the front */
#define ACROSS  .axis = X_AXIS, .side = Z_AXIS /* width to the front, depth upwards */
#define FORWARD .axis = Z_AXIS, .side = X_AXIS /* width to the side, depth upwards */

static const tube SHIRT[] = {
    {TORSO, UPRIGHT, .cap = 0.02, .blend = 0.05, .boxiness = 0.35, .station_count = 10,
     .stations = {{{0, 0.895, -0.012}, 0.181, 0.130},
                  {{0, 0.970, -0.010}, 0.172, 0.123},
                  {{0, 1.060, 0.000}, 0.152, 0.110},
                  {{0, 1.160, -0.002}, 0.153, 0.112},
                  {{0, 1.260, -0.005}, 0.168, 0.120},
                  {{0, 1.340, -0.008}, 0.178, 0.124},
                  {{0, 1.410, -0.014}, 0.172, 0.110},
                  {{0, 1.460, -0.020}, 0.130, 0.086},
                  {{0, 1.495, -0.020}, 0.083, 0.070},
                  {{0, 1.525, -0.014}, 0.064, 0.064}}},
    {ARM, ACROSS, .cap = 0.02, .blend = 0.06, .station_count = 9,
     .stations = {{{0.060, 1.425, -0.018}, 0.050, 0.040},
                  {{0.180, 1.444, -0.018}, 0.068, 0.064},
                  {{0.240, 1.447, -0.020}, 0.060, 0.060},
                  {{0.330, 1.449, -0.022}, 0.053, 0.054},
                  {{0.440, 1.450, -0.024}, 0.046, 0.047},
                  {{0.500, 1.450, -0.022}, 0.046, 0.047},
                  {{0.570, 1.450, -0.020}, 0.044, 0.044},
                  {{0.660, 1.450, -0.016}, 0.037, 0.036},
                  {{0.700, 1.450, -0.014}, 0.036, 0.034}}},
};

static const tube TROUSERS[] = {
    {TORSO, UPRIGHT, .cap = 0.03, .blend = 0.04, .boxiness = 0.2, .station_count = 4,
     .stations = {{{0, 0.810, -0.004}, 0.130, 0.085},
                  {{0, 0.870, -0.012}, 0.150, 0.105},
                  {{0, 0.920, -0.012}, 0.150, 0.105},
                  {{0, 0.960, -0.010}, 0.142, 0.100}}},
    {LEG, .axis = {0, -1, 0}, .side = X_AXIS, .cap = 0.01, .blend = 0.05, .station_count = 9,
     .stations = {{{0.078, 0.920, -0.014}, 0.060, 0.080},
                  {{0.086, 0.850, -0.016}, 0.084, 0.102},
                  {{0.090, 0.750, -0.005}, 0.082, 0.092},
                  {{0.092, 0.620, 0.003}, 0.069, 0.076},
                  {{0.094, 0.515, 0.006}, 0.058, 0.064},
                  {{0.095, 0.420, -0.008}, 0.056, 0.065},
                  {{0.096, 0.340, -0.014}, 0.057, 0.066},
                  {{0.097, 0.210, -0.016}, 0.052, 0.058},
                  {{0.098, 0.085, -0.016}, 0.052, 0.062}}},
};

static const tube HEAD[] = {
    {SKULL, UPRIGHT, .cap = 0.012, .blend = 0.02, .boxiness = 0.1, .station_count = 9,
     .stations = {{{0, 1.577, 0.052}, 0.026, 0.030},
                  {{0, 1.592, 0.036}, 0.045, 0.053},
                  {{0, 1.615, 0.021}, 0.058, 0.073},
                  {{0, 1.645, 0.010}, 0.067, 0.087},
                  {{0, 1.685, 0.003}, 0.073, 0.094},
                  {{0, 1.720, 0.000}, 0.075, 0.096},
                  {{0, 1.750, -0.003}, 0.070, 0.089},
                  {{0, 1.770, -0.005}, 0.057, 0.073},
                  {{0, 1.781, -0.006}, 0.036, 0.047}}},
    {TORSO, UPRIGHT, .cap = 0.02, .blend = 0.02, .station_count = 4,
     .stations = {{{0, 1.490, -0.020}, 0.055, 0.056},
                  {{0, 1.520, -0.018}, 0.054, 0.056},
                  {{0, 1.570, -0.012}, 0.053, 0.057},
                  {{0, 1.640, -0.010}, 0.053, 0.060}}},
    /* Eye sockets first: brow and nose stand out from them. */
    {SKULL, ACROSS, .cap = 0.014, .blend = 0.022, .carve = true, .station_count = 2,
     .stations = {{{0.024, 1.683, 0.108}, 0.016, 0.011}, {{0.040, 1.683, 0.100}, 0.016, 0.010}}},
    {SKULL, .axis = {0, -0.9285, 0.3714}, .side = X_AXIS, .cap = 0.012, .blend = 0.014, .station_count = 2,
     .stations = {{{0, 1.688, 0.092}, 0.007, 0.010}, {{0, 1.648, 0.108}, 0.013, 0.013}}},
    {SKULL, UPRIGHT, .cap = 0.018, .blend = 0.008, .station_count = 2,
     .stations = {{{0.073, 1.653, -0.006}, 0.008, 0.011}, {{0.077, 1.675, -0.010}, 0.009, 0.016}}},
    {SKULL, ACROSS, .cap = 0.016, .blend = 0.016, .station_count = 1, .stations = {{{0, 1.585, 0.082}, 0.014, 0.014}}},
};

static const tube HAIR[] = {
    {SKULL, UPRIGHT, .cap = 0.012, .blend = 0.02, .boxiness = 0.1, .station_count = 7,
     .stations = {{{0, 1.610, -0.030}, 0.050, 0.056},
                  {{0, 1.645, -0.012}, 0.072, 0.086},
                  {{0, 1.690, -0.006}, 0.083, 0.100},
                  {{0, 1.725, -0.004}, 0.085, 0.103},
                  {{0, 1.755, -0.006}, 0.078, 0.097},
                  {{0, 1.777, -0.008}, 0.062, 0.078},
                  {{0, 1.789, -0.008}, 0.038, 0.050}}},
    {SKULL, ACROSS, .cap = 0.06, .blend = 0.012, .boxiness = 0.3, .carve = true, .station_count = 2,
     .stations = {{{-0.05, 1.640, 0.110}, 0.105, 0.094}, {{0.05, 1.640, 0.110}, 0.105, 0.094}}},
};

static const tube EYE[] = {
    {SKULL, ACROSS, .cap = 0.0125, .blend = 0.01, .station_count = 1,
     .stations = {{{0.0315, 1.683, 0.078}, 0.0125, 0.010}}},
};

static const tube IRIS[] = {
    {SKULL, ACROSS, .cap = 0.006, .blend = 0.01, .station_count = 1,
     .stations = {{{0.0315, 1.683, 0.088}, 0.0045, 0.0065}}},
};

static const tube BROW[] = {
    {SKULL, ACROSS, .cap = 0.006, .blend = 0.01, .station_count = 3,
     .stations = {{{0.016, 1.702, 0.094}, 0.005, 0.004},
                  {{0.032, 1.707, 0.090}, 0.005, 0.004},
                  {{0.048, 1.703, 0.077}, 0.005, 0.003}}},
};

static const tube LIPS[] = {
    {SKULL, ACROSS, .cap = 0.010, .blend = 0.01, .station_count = 3,
     .stations = {{{-0.014, 1.6175, 0.088}, 0.006, 0.004},
                  {{0, 1.6165, 0.093}, 0.007, 0.007},
                  {{0.014, 1.6175, 0.088}, 0.006, 0.004}}},
};

#define FINGER(id, ax, ay, az, bx, by, bz, radius)                                                                     \
    {                                                                                                                  \
        id, ACROSS, .cap = 0.007, .blend = 0.006, .boxiness = 0.1, .station_count = 3, .stations = {                   \
            {{ax, ay, az}, radius, radius},                                                                            \
            {{(ax + bx) / 2, (ay + by) / 2, (az + bz) / 2}, radius * 0.96, radius},                                    \
            {{bx, by, bz}, radius * 0.8, radius * 0.75}                                                                \
        }                                                                                                              \
    }

static const tube HAND[] = {
    {ARM, ACROSS, .cap = 0.010, .blend = 0.010, .boxiness = 0.4, .station_count = 5,
     .stations = {{{0.670, 1.450, -0.014}, 0.026, 0.021},
                  {{0.715, 1.450, -0.014}, 0.027, 0.020},
                  {{0.750, 1.449, -0.011}, 0.035, 0.018},
                  {{0.785, 1.450, -0.009}, 0.042, 0.0165},
                  {{0.802, 1.451, -0.009}, 0.041, 0.0145}}},
    {THUMB, .axis = {0.726, -0.183, 0.663}, .side = {-0.674, 0, 0.738}, .cap = 0.008, .blend = 0.014,
     .station_count = 4,
     .stations = {{{0.737, 1.443, 0.006}, 0.014, 0.016},
                  {{0.772, 1.434, 0.036}, 0.0115, 0.013},
                  {{0.800, 1.427, 0.056}, 0.010, 0.0105},
                  {{0.819, 1.422, 0.068}, 0.008, 0.008}}},
    FINGER(INDEX, 0.805, 1.451, 0.023, 0.888, 1.448, 0.0345, 0.0090),
    FINGER(MIDDLE, 0.808, 1.453, 0.001, 0.899, 1.450, 0.0042, 0.0094),
    FINGER(RING, 0.804, 1.452, -0.020, 0.890, 1.449, -0.0260, 0.0090),
    FINGER(PINKY, 0.797, 1.449, -0.040, 0.866, 1.446, -0.0512, 0.0080),
};

static const tube SHOE[] = {
    {FOOT, FORWARD, .cap = 0.018, .blend = 0.02, .boxiness = 0.3, .station_count = 7,
     .stations = {{{0.097, 0.046, -0.068}, 0.029, 0.038},
                  {{0.097, 0.058, -0.040}, 0.037, 0.050},
                  {{0.098, 0.057, 0.000}, 0.038, 0.050},
                  {{0.102, 0.047, 0.060}, 0.043, 0.037},
                  {{0.106, 0.038, 0.115}, 0.048, 0.030},
                  {{0.107, 0.033, 0.160}, 0.044, 0.026},
                  {{0.105, 0.029, 0.185}, 0.033, 0.021}}},
    {LEG, .axis = {0, -1, 0}, .side = X_AXIS, .cap = 0.012, .blend = 0.03, .station_count = 2,
     .stations = {{{0.097, 0.110, -0.024}, 0.038, 0.046}, {{0.097, 0.060, -0.026}, 0.038, 0.046}}},
};

static const tube SOLE[] = {
    {FOOT, FORWARD, .cap = 0.018, .blend = 0.02, .boxiness = 1, .station_count = 6,
     .stations = {{{0.097, 0.013, -0.070}, 0.032, 0.013},
                  {{0.097, 0.013, -0.030}, 0.040, 0.013},
                  {{0.099, 0.013, 0.030}, 0.040, 0.013},
                  {{0.105, 0.013, 0.100}, 0.051, 0.013},
                  {{0.107, 0.013, 0.155}, 0.049, 0.013},
                  {{0.105, 0.013, 0.190}, 0.036, 0.013}}},
};

#define TUBES(table) .tube_count = sizeof(table) / sizeof *(table), .tubes = (table)

/* Symmetric parts need lines at equal distances from x = 0. */
const th_human_part th_human_parts[] = {
    {"shirt",
     {30, 67, 102},
     TUBES(SHIRT),
     .grid = {{-0.78, {{0.78, 0.04}}}, {0.835, {{1.33, 0.052}, {1.58, 0.023}}}, {-0.172, {{0.15, 0.029}}}}},
    {"trousers",
     {12, 14, 19},
     TUBES(TROUSERS),
     .grid = {{-0.2025, {{0.20, 0.027}}},
              {0.04, {{0.45, 0.058}, {0.60, 0.04}, {1.03, 0.048}}},
              {-0.16, {{0.14, 0.029}}}}},
    {"head",
     {190, 105, 67},
     TUBES(HEAD),
     .grid = {{-0.1035, {{-0.06, 0.0175}, {0.06, 0.0115}, {0.11, 0.0175}}},
              {1.41, {{1.55, 0.04}, {1.72, 0.0125}, {1.83, 0.022}}},
              {-0.14, {{0.02, 0.032}, {0.14, 0.0115}}}}},
    {"hair",
     {16, 8, 5},
     TUBES(HAIR),
     .grid = {{-0.1265, {{0.12, 0.023}}}, {1.56, {{1.84, 0.0205}}}, {-0.145, {{0.13, 0.0235}}}}},
    {"eye",
     {215, 210, 205},
     .pair = true,
     TUBES(EYE),
     .grid = {{0.005, {{0.058, 0.0088}}}, {1.661, {{1.706, 0.0088}}}, {0.056, {{0.1, 0.012}}}}},
    {"iris",
     {11, 6, 4},
     .pair = true,
     TUBES(IRIS),
     .grid = {{0.019, {{0.045, 0.005}}}, {1.67, {{1.697, 0.005}}}, {0.078, {{0.1, 0.006}}}}},
    {"brow",
     {16, 8, 5},
     .pair = true,
     TUBES(BROW),
     .grid = {{0.002, {{0.065, 0.009}}}, {1.69, {{1.725, 0.0068}}}, {0.065, {{0.105, 0.0075}}}}},
    {"lips",
     {131, 46, 36},
     TUBES(LIPS),
     .grid = {{-0.0315, {{0.035, 0.009}}}, {1.602, {{1.635, 0.006}}}, {0.075, {{0.11, 0.0075}}}}},
    {"hand",
     {190, 105, 67},
     .pair = true,
     TUBES(HAND),
     .grid = {{0.64, {{0.73, 0.03}, {0.95, 0.0165}}}, {1.4, {{1.49, 0.0083}}}, {-0.072, {{0.1, 0.0066}}}}},
    {"shoe",
     {78, 23, 11},
     .pair = true,
     TUBES(SHOE),
     .grid = {{0.025, {{0.19, 0.025}}}, {-0.012, {{0.16, 0.025}}}, {-0.13, {{0.25, 0.034}}}}},
    {"sole",
     {192, 183, 164},
     .pair = true,
     TUBES(SOLE),
     .grid = {{0.02, {{0.19, 0.027}}}, {-0.011, {{0.05, 0.0165}}}, {-0.13, {{0.25, 0.036}}}}},
};
const uint32_t th_human_part_count = sizeof th_human_parts / sizeof *th_human_parts;

/* ---- distance ---- */

static double hermite(double a, double b, double slope_a, double slope_b, double width, double t)
{
    double t2 = t * t, t3 = t2 * t;
    return a * (2 * t3 - 3 * t2 + 1) + b * (3 * t2 - 2 * t3) +
           width * (slope_a * (t3 - 2 * t2 + t) + slope_b * (t3 - t2));
}

static station station_slope(const tube *t, uint32_t i)
{
    const station *a = &t->stations[i > 0 ? i - 1 : i], *b = &t->stations[i + 1 < t->station_count ? i + 1 : i];
    double per_metre = 1 / dot(sub(b->centre, a->centre), t->axis);
    return (station){scale(sub(b->centre, a->centre), per_metre), (b->width - a->width) * per_metre,
                     (b->depth - a->depth) * per_metre};
}

/* The cross-section at the place on the tube that is nearest to `along`; finite differences as slopes make the surface
 * smooth across stations. */
static station section_at(const tube *t, double along)
{
    const station *s = t->stations, *last = s + t->station_count - 1;
    if (along <= dot(s->centre, t->axis))
        return *s;
    if (along >= dot(last->centre, t->axis))
        return *last;
    while (along > dot(s[1].centre, t->axis))
        s++;

    uint32_t i = (uint32_t)(s - t->stations);
    station a = s[0], b = s[1], da = station_slope(t, i), db = station_slope(t, i + 1);
    double width = dot(sub(b.centre, a.centre), t->axis), at = (along - dot(a.centre, t->axis)) / width;
    return (station){{hermite(a.centre.x, b.centre.x, da.centre.x, db.centre.x, width, at),
                      hermite(a.centre.y, b.centre.y, da.centre.y, db.centre.y, width, at),
                      hermite(a.centre.z, b.centre.z, da.centre.z, db.centre.z, width, at)},
                     hermite(a.width, b.width, da.width, db.width, width, at),
                     hermite(a.depth, b.depth, da.depth, db.depth, width, at)};
}

/* First-order distance to an ellipsoid whose third axis only counts beyond the ends of the tube. */
static double tube_distance(const tube *t, vec3 point)
{
    station s = section_at(t, dot(point, t->axis));
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

double th_human_part_distance(const th_human_part *part, vec3 point)
{
    if (!part->pair)
        point.x = fabs(point.x);
    double distance = tube_distance(&part->tubes[0], point);
    for (uint32_t i = 1; i < part->tube_count; i++) {
        const tube *t = &part->tubes[i];
        double d = tube_distance(t, point);
        distance = t->carve ? -smooth_min(-distance, d, t->blend) : smooth_min(distance, d, t->blend);
    }
    return distance;
}

/* ---- weights ---- */

static void add_chain_weights(const chain *c, vec3 point, bool right, double share, double weights[J_COUNT])
{
    double reached = 1; /* how much of the point belongs to this link or a later one */
    for (uint32_t i = 0; i < MAX_LINKS && c->links[i].joint != J_NONE; i++) {
        uint32_t joint = c->links[i].joint;
        double beyond = 0;
        if (i + 1 < MAX_LINKS && c->links[i + 1].joint != J_NONE) {
            double along = dot(sub(point, th_human_joint_position(c->links[i + 1].joint)), c->axis);
            beyond = smoothstep(-c->links[i + 1].soft, c->links[i + 1].soft, along);
        }
        weights[right ? mirror_joint(joint) : joint] += share * reached * (1 - beyond);
        reached *= beyond;
    }
}

static void add_side_weights(const th_human_part *part, vec3 point, bool right, double share, double weights[J_COUNT])
{
    double shares[8], total = 0, nearest = HUGE_VAL;
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
        if (shares[i] > 0)
            add_chain_weights(&CHAINS[part->tubes[i].chain], point, right, share * shares[i] / total, weights);
}

/* Near the midline both sides have a say, so that left leg and right leg pull evenly at the seat of the trousers. */
void th_human_part_weights(const th_human_part *part, vec3 point, double out_weights[J_COUNT])
{
    const double midline = 0.03;
    memset(out_weights, 0, J_COUNT * sizeof *out_weights);
    double left = part->pair ? 1 : smoothstep(-midline, midline, point.x);
    if (left > 0)
        add_side_weights(part, point, false, left, out_weights);
    point.x = -point.x;
    if (left < 1)
        add_side_weights(part, point, true, 1 - left, out_weights);
}

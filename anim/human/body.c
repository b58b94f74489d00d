/* The shape of the body in numbers: metres, in the T-pose. parts.h explains the tables.
 *
 * The character wears clothes because each part is a closed surface of its own: colours meet in sharp lines, openings
 * are hidden by overlaps (the hand begins inside the sleeve), and each part has its own resolution. */
#include "parts.h"

const th_human_chain th_human_chains[] = {
    [CHAIN_TORSO] = {{0, 1, 0},
                     {{J_HIPS, 0},
                      {J_SPINE_01, 0.07},
                      {J_SPINE_02, 0.07},
                      {J_SPINE_03, 0.07},
                      {J_NECK, 0.035},
                      {J_HEAD, 0.03},
                      {J_NONE, 0}}},
    [CHAIN_SKULL] = {{0, 1, 0}, {{J_HEAD, 0}, {J_NONE, 0}}},
    [CHAIN_ARM] = {{1, 0, 0},
                   {{J_SPINE_03, 0},
                    {J_CLAVICLE_L, 0.05},
                    {J_UPPERARM_L, 0.075},
                    {J_LOWERARM_L, 0.055},
                    {J_HAND_L, 0.025},
                    {J_NONE, 0}}},
    [CHAIN_LEG] = {{0, -1, 0}, {{J_HIPS, 0}, {J_THIGH_L, 0.09}, {J_CALF_L, 0.065}, {J_FOOT_L, 0.03}, {J_NONE, 0}}},
    [CHAIN_SKIRT] = {{0, -1, 0}, {{J_HIPS, 0}, {J_THIGH_L, 0.22}, {J_NONE, 0}}},
    [CHAIN_FOOT] = {{0, 0, 1}, {{J_FOOT_L, 0}, {J_TOE_L, 0.035}, {J_NONE, 0}}},
    [CHAIN_THUMB] = {{0.726, -0.183, 0.663},
                     {{J_HAND_L, 0}, {J_THUMB_01_L, 0.018}, {J_THUMB_02_L, 0.013}, {J_THUMB_03_L, 0.012}, {J_NONE, 0}}},
    [CHAIN_INDEX] = {{1, 0, 0},
                     {{J_HAND_L, 0}, {J_INDEX_01_L, 0.015}, {J_INDEX_02_L, 0.012}, {J_INDEX_03_L, 0.011}, {J_NONE, 0}}},
    [CHAIN_MIDDLE] =
        {{1, 0, 0},
         {{J_HAND_L, 0}, {J_MIDDLE_01_L, 0.015}, {J_MIDDLE_02_L, 0.012}, {J_MIDDLE_03_L, 0.011}, {J_NONE, 0}}},
    [CHAIN_RING] = {{1, 0, 0},
                    {{J_HAND_L, 0}, {J_RING_01_L, 0.015}, {J_RING_02_L, 0.012}, {J_RING_03_L, 0.011}, {J_NONE, 0}}},
    [CHAIN_PINKY] = {{1, 0, 0},
                     {{J_HAND_L, 0}, {J_PINKY_01_L, 0.015}, {J_PINKY_02_L, 0.012}, {J_PINKY_03_L, 0.011}, {J_NONE, 0}}},
};

#define UPRIGHT .axis = {0, 1, 0}, .side = {1, 0, 0} /* width to the side, depth to the front */
#define ACROSS  .axis = {1, 0, 0}, .side = {0, 0, 1} /* width to the front, depth upwards */
#define FORWARD .axis = {0, 0, 1}, .side = {1, 0, 0} /* width to the side, depth upwards */

static const th_human_tube SHIRT[] = {
    {CHAIN_TORSO, UPRIGHT, .cap = 0.02, .blend = 0.05, .boxiness = 0.35, .station_count = 10,
     .stations = {{{0, 0.895, -0.012}, 0.196, 0.150, 0.022},
                  {{0, 0.970, -0.008}, 0.197, 0.152, 0.034},
                  {{0, 1.060, 0.004}, 0.190, 0.152, 0.043},
                  {{0, 1.160, 0.002}, 0.188, 0.148, 0.041},
                  {{0, 1.260, -0.003}, 0.191, 0.144, 0.030},
                  {{0, 1.340, -0.008}, 0.192, 0.138, 0.018},
                  {{0, 1.410, -0.014}, 0.181, 0.118, 0.010},
                  {{0, 1.462, -0.020}, 0.140, 0.088, 0.005},
                  {{0, 1.496, -0.020}, 0.093, 0.070, 0.006},
                  {{0, 1.525, -0.014}, 0.064, 0.064, 0.013}}},
    {CHAIN_ARM, ACROSS, .cap = 0.02, .blend = 0.06, .station_count = 9,
     .stations = {{{0.060, 1.425, -0.018}, 0.052, 0.042, 0.004},
                  {{0.180, 1.442, -0.018}, 0.074, 0.067, 0.012},
                  {{0.240, 1.446, -0.020}, 0.068, 0.066, 0.013},
                  {{0.330, 1.449, -0.022}, 0.060, 0.061, 0.013},
                  {{0.440, 1.450, -0.024}, 0.051, 0.052, 0.011},
                  {{0.500, 1.450, -0.022}, 0.050, 0.051, 0.011},
                  {{0.570, 1.450, -0.020}, 0.048, 0.048, 0.010},
                  {{0.660, 1.450, -0.016}, 0.040, 0.038, 0.010},
                  {{0.700, 1.450, -0.014}, 0.038, 0.035, 0.010}}},
};

static const th_human_zone SHIRT_ZONES[] = {
    {REGION_TORSO, {-1, 0.888, -1}, {1, 2, 1}}, /* an edge along the bottom */
    {REGION_FRONT, {-1, -1, 0}, {0.078, 1.505, 1}},   {REGION_COLLAR, {-1, 1.505, -1}, {0.15, 2, 1}},
    {REGION_UPPER_ARM, {0.24, -1, -1}, {0.36, 2, 1}}, {REGION_FOREARM, {0.36, -1, -1}, {1, 2, 1}},
};

static const th_human_tube HOOD[] = {
    {CHAIN_TORSO, ACROSS, .cap = 0.04, .blend = 0.03, .station_count = 3,
     .stations = {{{-0.055, 1.462, -0.110}, 0.036, 0.060, 0},
                  {{0, 1.456, -0.126}, 0.042, 0.072, 0},
                  {{0.055, 1.462, -0.110}, 0.036, 0.060, 0}}},
};

static const th_human_tube TROUSERS[] = {
    {CHAIN_TORSO, UPRIGHT, .cap = 0.03, .blend = 0.04, .boxiness = 0.2, .station_count = 4,
     .stations = {{{0, 0.815, -0.008}, 0.138, 0.093, 0.018},
                  {{0, 0.870, -0.012}, 0.171, 0.124, 0.023},
                  {{0, 0.920, -0.012}, 0.170, 0.125, 0.024},
                  {{0, 0.960, -0.010}, 0.160, 0.118, 0.024}}},
    {CHAIN_LEG, .axis = {0, -1, 0}, .side = {1, 0, 0}, .cap = 0.014, .blend = 0.05, .station_count = 9,
     .stations = {{{0.080, 0.920, -0.012}, 0.068, 0.096, 0.020},
                  {{0.089, 0.850, -0.012}, 0.083, 0.115, 0.020},
                  {{0.093, 0.750, -0.006}, 0.080, 0.100, 0.016},
                  {{0.094, 0.620, 0.003}, 0.070, 0.079, 0.011},
                  {{0.094, 0.515, 0.006}, 0.061, 0.068, 0.010},
                  {{0.095, 0.420, -0.008}, 0.060, 0.069, 0.011},
                  {{0.096, 0.340, -0.014}, 0.060, 0.070, 0.012},
                  {{0.097, 0.210, -0.016}, 0.054, 0.061, 0.014},
                  {{0.098, 0.092, -0.016}, 0.055, 0.066, 0.019}}},
};

static const th_human_zone TROUSERS_ZONES[] = {{REGION_THIGH, {-1, -1, -1}, {1, 0.70, 1}},
                                               {REGION_SHIN, {-1, -1, -1}, {1, 0.56, 1}}};

/* Each side follows its thigh, so legs that stride take it along. */
static const th_human_tube SKIRT[] = {
    {CHAIN_SKIRT, UPRIGHT, .cap = 0.015, .blend = 0.03, .station_count = 6,
     .stations = {{{0, 0.585, -0.002}, 0.238, 0.190, 0.030},
                  {{0, 0.700, -0.006}, 0.220, 0.172, 0.030},
                  {{0, 0.820, -0.010}, 0.200, 0.154, 0.027},
                  {{0, 0.900, -0.012}, 0.178, 0.124, 0.024},
                  {{0, 0.960, -0.010}, 0.166, 0.114, 0.024},
                  {{0, 1.000, -0.006}, 0.155, 0.110, 0.030}}},
};

static const th_human_zone SKIRT_ZONES[] = {{REGION_SKIRT, {-1, 0.58, -1}, {1, 2, 1}}}; /* an edge along the bottom */

static const th_human_tube HEAD[] = {
    {CHAIN_SKULL, UPRIGHT, .cap = 0.012, .blend = 0.02, .boxiness = 0.1, .station_count = 9,
     .stations = {{{0, 1.577, 0.052}, 0.026, 0.030, 0},
                  {{0, 1.592, 0.036}, 0.045, 0.053, 0},
                  {{0, 1.615, 0.021}, 0.058, 0.073, 0},
                  {{0, 1.645, 0.010}, 0.067, 0.087, 0},
                  {{0, 1.685, 0.003}, 0.073, 0.094, 0},
                  {{0, 1.720, 0.000}, 0.075, 0.096, 0},
                  {{0, 1.750, -0.003}, 0.070, 0.089, 0},
                  {{0, 1.770, -0.005}, 0.057, 0.073, 0},
                  {{0, 1.781, -0.006}, 0.036, 0.047, 0}}},
    {CHAIN_TORSO, UPRIGHT, .cap = 0.02, .blend = 0.035, .station_count = 4,
     .stations = {{{0, 1.490, -0.020}, 0.054, 0.055, 0},
                  {{0, 1.520, -0.018}, 0.051, 0.054, 0},
                  {{0, 1.570, -0.012}, 0.049, 0.055, 0},
                  {{0, 1.640, -0.010}, 0.050, 0.060, 0}}},
    /* Eye sockets first, so that brow and nose project from them. */
    {CHAIN_SKULL, ACROSS, .cap = 0.014, .blend = 0.022, .carve = true, .station_count = 2,
     .stations = {{{0.024, 1.683, 0.108}, 0.016, 0.011, 0}, {{0.040, 1.683, 0.100}, 0.016, 0.010, 0}}},
    {CHAIN_SKULL, .axis = {0, -0.9285, 0.3714}, .side = {1, 0, 0}, .cap = 0.012, .blend = 0.014, .station_count = 2,
     .stations = {{{0, 1.688, 0.092}, 0.007, 0.010, 0}, {{0, 1.648, 0.108}, 0.013, 0.013, 0}}},
    {CHAIN_SKULL, UPRIGHT, .cap = 0.018, .blend = 0.008, .station_count = 2,
     .stations = {{{0.073, 1.653, -0.006}, 0.008, 0.011, 0}, {{0.077, 1.675, -0.010}, 0.009, 0.016, 0}}},
    {CHAIN_SKULL, ACROSS, .cap = 0.020, .blend = 0.03, .station_count = 1,
     .stations = {{{0, 1.586, 0.076}, 0.016, 0.013, 0}}},
};

/* Inside the skull at the face, so that the hairline is where the two surfaces meet. */
static const th_human_tube HAIR[] = {
    {CHAIN_SKULL, UPRIGHT, .cap = 0.062, .blend = 0.02, .boxiness = 0.1, .station_count = 3,
     .stations = {{{0, 1.665, -0.038}, 0.074, 0.062, 0},
                  {{0, 1.708, -0.026}, 0.083, 0.080, 0},
                  {{0, 1.738, -0.008}, 0.084, 0.102, 0}}},
};

/* Hangs down from under the short hair. */
static const th_human_tube LONG_HAIR[] = {
    {CHAIN_SKULL, UPRIGHT, .cap = 0.030, .blend = 0.02, .boxiness = 0.1, .station_count = 5,
     .stations = {{{0, 1.545, -0.060}, 0.079, 0.044, 0},
                  {{0, 1.605, -0.052}, 0.090, 0.062, 0},
                  {{0, 1.660, -0.041}, 0.089, 0.072, 0},
                  {{0, 1.700, -0.030}, 0.085, 0.077, 0},
                  {{0, 1.735, -0.024}, 0.082, 0.083, 0}}},
};

static const th_human_tube BUN[] = {
    {CHAIN_SKULL, UPRIGHT, .cap = 0.026, .blend = 0.02, .station_count = 2,
     .stations = {{{0, 1.738, -0.122}, 0.038, 0.036, 0}, {{0, 1.752, -0.122}, 0.038, 0.036, 0}}},
};

static const th_human_tube EYE[] = {
    {CHAIN_SKULL, ACROSS, .cap = 0.0125, .blend = 0.01, .station_count = 1,
     .stations = {{{0.0315, 1.683, 0.0785}, 0.0125, 0.0082, 0}}},
};

static const th_human_tube IRIS[] = {
    {CHAIN_SKULL, ACROSS, .cap = 0.0068, .blend = 0.01, .station_count = 1,
     .stations = {{{0.0318, 1.683, 0.0872}, 0.005, 0.0072, 0}}},
};

static const th_human_tube BROW[] = {
    {CHAIN_SKULL, ACROSS, .cap = 0.010, .blend = 0.01, .station_count = 3,
     .stations = {{{0.021, 1.7035, 0.092}, 0.006, 0.0045, 0},
                  {{0.034, 1.706, 0.087}, 0.006, 0.0042, 0},
                  {{0.047, 1.7025, 0.077}, 0.006, 0.0034, 0}}},
};

static const th_human_tube LIPS[] = {
    {CHAIN_SKULL, ACROSS, .cap = 0.012, .blend = 0.01, .station_count = 3,
     .stations = {{{-0.015, 1.6185, 0.0885}, 0.006, 0.0042, 0},
                  {{0, 1.6165, 0.0945}, 0.007, 0.0065, 0},
                  {{0.015, 1.6185, 0.0885}, 0.006, 0.0042, 0}}},
};

/* clang-format off */
#define FINGER(id, ax, ay, az, bx, by, bz, radius)                                                                     \
    {id, ACROSS, .cap = 0.010, .blend = 0.006, .boxiness = 0.1, .station_count = 3,                                    \
     .stations = {{{ax, ay, az}, radius, radius, 0},                                                                   \
                  {{(ax + bx) / 2, (ay + by) / 2, (az + bz) / 2}, radius * 0.96, radius, 0},                           \
                  {{bx, by, bz}, radius * 0.8, radius * 0.75, 0}}}
/* clang-format on */

static const th_human_tube HAND[] = {
    {CHAIN_ARM, ACROSS, .cap = 0.010, .blend = 0.010, .boxiness = 0.4, .station_count = 5,
     .stations = {{{0.685, 1.450, -0.014}, 0.026, 0.021, 0},
                  {{0.715, 1.450, -0.014}, 0.027, 0.020, 0},
                  {{0.750, 1.449, -0.011}, 0.035, 0.018, 0},
                  {{0.785, 1.450, -0.009}, 0.042, 0.0165, 0},
                  {{0.802, 1.451, -0.009}, 0.041, 0.0145, 0}}},
    {CHAIN_THUMB, .axis = {0.726, -0.183, 0.663}, .side = {-0.674, 0, 0.738}, .cap = 0.008, .blend = 0.014,
     .station_count = 4,
     .stations = {{{0.737, 1.443, 0.006}, 0.014, 0.016, 0},
                  {{0.772, 1.434, 0.036}, 0.0115, 0.013, 0},
                  {{0.800, 1.427, 0.056}, 0.010, 0.0105, 0},
                  {{0.819, 1.422, 0.068}, 0.008, 0.008, 0}}},
    FINGER(CHAIN_INDEX, 0.805, 1.451, 0.023, 0.888, 1.448, 0.0345, 0.0090),
    FINGER(CHAIN_MIDDLE, 0.808, 1.453, 0.001, 0.899, 1.450, 0.0042, 0.0094),
    FINGER(CHAIN_RING, 0.804, 1.452, -0.020, 0.890, 1.449, -0.0260, 0.0090),
    FINGER(CHAIN_PINKY, 0.797, 1.449, -0.040, 0.866, 1.446, -0.0512, 0.0080),
};

static const th_human_tube SHOE[] = {
    {CHAIN_FOOT, FORWARD, .cap = 0.018, .blend = 0.02, .boxiness = 0.3, .station_count = 7,
     .stations = {{{0.097, 0.046, -0.068}, 0.029, 0.038, 0},
                  {{0.097, 0.058, -0.040}, 0.037, 0.050, 0},
                  {{0.098, 0.057, 0.000}, 0.038, 0.050, 0},
                  {{0.102, 0.047, 0.060}, 0.043, 0.037, 0},
                  {{0.106, 0.038, 0.115}, 0.048, 0.030, 0},
                  {{0.107, 0.033, 0.160}, 0.044, 0.026, 0},
                  {{0.105, 0.029, 0.185}, 0.033, 0.021, 0}}},
    {CHAIN_LEG, .axis = {0, -1, 0}, .side = {1, 0, 0}, .cap = 0.012, .blend = 0.03, .station_count = 2,
     .stations = {{{0.097, 0.110, -0.022}, 0.033, 0.042, 0}, {{0.097, 0.060, -0.026}, 0.036, 0.045, 0}}},
};

static const th_human_tube SOLE[] = {
    {CHAIN_FOOT, FORWARD, .cap = 0.018, .blend = 0.02, .boxiness = 1, .station_count = 6,
     .stations = {{{0.097, 0.013, -0.070}, 0.032, 0.013, 0},
                  {{0.097, 0.013, -0.030}, 0.040, 0.013, 0},
                  {{0.099, 0.013, 0.030}, 0.040, 0.013, 0},
                  {{0.105, 0.013, 0.100}, 0.051, 0.013, 0},
                  {{0.107, 0.013, 0.155}, 0.049, 0.013, 0},
                  {{0.105, 0.013, 0.190}, 0.036, 0.013, 0}}},
};

#define TUBES(table) .tube_count = sizeof(table) / sizeof *(table), .tubes = (table)
#define ZONES(table) .zone_count = sizeof(table) / sizeof *(table), .zones = (table)

/* Symmetric parts need grid lines at equal distances from x = 0. */
const th_human_part th_human_parts[] = {
    {"shirt", REGION_TORSO, .midline = 0.03, TUBES(SHIRT), ZONES(SHIRT_ZONES),
     .grid = {{-0.78, {{0.78, 0.04}}},
              {0.846, {{0.924, 0.026}, {1.33, 0.052}, {1.58, 0.023}}},
              {-0.195, {{0.18, 0.029}}}}},
    {"hood", REGION_HOOD, .midline = 0.03, TUBES(HOOD),
     .grid = {{-0.16, {{0.155, 0.032}}}, {1.36, {{1.56, 0.03}}}, {-0.205, {{0, 0.026}}}}},
    {"trousers", REGION_HIPS, .midline = 0.05, TUBES(TROUSERS), ZONES(TROUSERS_ZONES),
     .grid = {{-0.196, {{-0.035, 0.027}, {0.033, 0.068 / 3}, {0.19, 0.027}}},
              {0.058, {{0.10, 0.018}, {0.44, 0.064}, {0.60, 0.043}, {0.75, 0.049}, {0.84, 0.0245}, {1.02, 0.049}}},
              {-0.165, {{0.14, 0.029}}}}},
    {"skirt", REGION_SKIRT, .midline = 0.12, TUBES(SKIRT), ZONES(SKIRT_ZONES),
     .grid = {{-0.295, {{0.29, 0.059}}}, {0.545, {{1.04, 0.056}}}, {-0.235, {{0.23, 0.058}}}}},
    {"head", REGION_SKIN, .midline = 0.03, TUBES(HEAD),
     .grid = {{-0.1035, {{-0.06, 0.0175}, {0.06, 0.0115}, {0.11, 0.0175}}},
              {1.41, {{1.55, 0.04}, {1.72, 0.0125}, {1.83, 0.022}}},
              {-0.14, {{0.02, 0.032}, {0.14, 0.0115}}}}},
    {"hair", REGION_HAIR, .midline = 0.03, TUBES(HAIR),
     .grid = {{-0.1265, {{0.12, 0.023}}}, {1.56, {{1.84, 0.0205}}}, {-0.145, {{0.13, 0.0235}}}}},
    {"long hair", REGION_LONG_HAIR, .midline = 0.03, TUBES(LONG_HAIR),
     .grid = {{-0.13, {{0.125, 0.026}}}, {1.455, {{1.78, 0.032}}}, {-0.16, {{0.09, 0.0275}}}}},
    {"bun", REGION_BUN, .midline = 0.03, TUBES(BUN),
     .grid = {{-0.06, {{0.055, 0.02}}}, {1.68, {{1.81, 0.02}}}, {-0.18, {{-0.06, 0.02}}}}},
    {"eye", REGION_EYE, .pair = true, TUBES(EYE),
     .grid = {{0.008, {{0.058, 0.0088}}}, {1.665, {{1.706, 0.007}}}, {0.056, {{0.1, 0.012}}}}},
    {"iris", REGION_IRIS, .pair = true, TUBES(IRIS),
     .grid = {{0.019, {{0.045, 0.005}}}, {1.67, {{1.697, 0.005}}}, {0.078, {{0.1, 0.006}}}}},
    {"brow", REGION_BROW, .pair = true, TUBES(BROW),
     .grid = {{0.002, {{0.065, 0.009}}}, {1.6915, {{1.72, 0.0042}}}, {0.062, {{0.105, 0.0085}}}}},
    {"lips", REGION_LIPS, .midline = 0.03, TUBES(LIPS),
     .grid = {{-0.0315, {{0.035, 0.009}}}, {1.602, {{1.635, 0.006}}}, {0.075, {{0.11, 0.0075}}}}},
    {"hand", REGION_SKIN, .pair = true, TUBES(HAND),
     .grid = {{0.64, {{0.73, 0.03}, {0.95, 0.0165}}}, {1.4025, {{1.49, 0.0083}}}, {-0.072, {{0.1, 0.0066}}}}},
    {"shoe", REGION_SHOE, .pair = true, TUBES(SHOE),
     .grid = {{0.025, {{0.19, 0.025}}}, {-0.012, {{0.16, 0.025}}}, {-0.13, {{0.25, 0.034}}}}},
    {"sole", REGION_SOLE, .pair = true, TUBES(SOLE),
     .grid = {{0.02, {{0.19, 0.027}}}, {-0.0075, {{0.04, 0.013}}}, {-0.13, {{0.25, 0.036}}}}},
};
const uint32_t th_human_part_count = sizeof th_human_parts / sizeof *th_human_parts;

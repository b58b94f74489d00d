/* The clips: tables of waves and footsteps, the pose at a phase of them, and the keys generated from poses. The body
 * follows its waves. The legs follow given paths of the feet, where errors are most visible, by two-bone inverse
 * kinematics. */
#include "parts.h"
#include <anim/transform.h>

#include <core/arena.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define PI              3.14159265358979323846
#define KEYS_PER_SECOND 30
#define MAX_KEYS        128

/* What a wave moves: rotations about the joint's own axes, in degrees, or the hips along the model's axes, in metres.
 * Signs are those of the left side. BEND: the tip moves to its front. TWIST: about the bone. TILT: sideways. */
typedef enum th_human_motion { BEND, TWIST, TILT, MOVE_X, MOVE_Y, MOVE_Z } th_human_motion;

/* ALTERNATE: the right side moves half a cycle later. */
typedef enum th_human_side { BOTH, ALTERNATE, LEFT, RIGHT } th_human_side;

/* mean + amplitude * sin(2 pi (cycles * phase + shift)). phase runs from 0 to 1 over the clip; cycles are whole, so
 * that it loops without a seam. */
typedef struct th_human_wave {
    uint32_t joint; /* on the midline or left */
    th_human_side side;
    th_human_motion motion;
    double mean, amplitude, cycles, shift;
} th_human_wave;

/* A foot at one moment of its cycle, which starts when it touches the ground. */
typedef struct th_human_footstep {
    double phase;
    double pitch; /* degrees; above 0 the foot stands on its heel, below on its ball */
    double toe;   /* degrees that the toes bend up; -pitch keeps them flat on the ground */
    double lift;  /* metres above the ground */
} th_human_footstep;

typedef struct th_human_gait {
    double stride;  /* metres that the character advances per cycle */
    double contact; /* fraction of the cycle in which the foot is on the ground */
    double lead;    /* metres in front of the hips at which it touches down */
    double spread;  /* from the midline to the ankle, metres */
    double toe_out; /* degrees */
    uint32_t step_count;
    const th_human_footstep *steps;
} th_human_gait;

typedef struct th_human_clip {
    const char *name;
    uint32_t frames; /* of one cycle */
    const th_human_gait *gait;
    uint32_t wave_count;
    const th_human_wave *waves;
} th_human_clip;

#define WAVES(table) .wave_count = sizeof(table) / sizeof *(table), .waves = (table)
#define STEPS(table) .step_count = sizeof(table) / sizeof *(table), .steps = (table)

/* clang-format off */

/* Fingers of a relaxed hand: each joint bends slightly more than the one before, the little finger most. */
#define CURLED(side, by)                                                                                               \
    {J_THUMB_01_L,  side, BEND,  8, 0, 0, 0},        {J_THUMB_02_L,  side, BEND,  8, 0, 0, 0},                         \
    {J_THUMB_03_L,  side, BEND, 10, 0, 0, 0},        {J_INDEX_01_L,  side, BEND, 12 + (by), 0, 0, 0},                  \
    {J_INDEX_02_L,  side, BEND, 16 + (by), 0, 0, 0}, {J_INDEX_03_L,  side, BEND, 10 + (by), 0, 0, 0},                  \
    {J_MIDDLE_01_L, side, BEND, 16 + (by), 0, 0, 0}, {J_MIDDLE_02_L, side, BEND, 20 + (by), 0, 0, 0},                  \
    {J_MIDDLE_03_L, side, BEND, 12 + (by), 0, 0, 0}, {J_RING_01_L,   side, BEND, 19 + (by), 0, 0, 0},                  \
    {J_RING_02_L,   side, BEND, 23 + (by), 0, 0, 0}, {J_RING_03_L,   side, BEND, 14 + (by), 0, 0, 0},                  \
    {J_PINKY_01_L,  side, BEND, 22 + (by), 0, 0, 0}, {J_PINKY_02_L,  side, BEND, 25 + (by), 0, 0, 0},                  \
    {J_PINKY_03_L,  side, BEND, 15 + (by), 0, 0, 0}

/* From the T-pose to hanging arms: clavicle and upper arm together. */
#define HANGING(side) {J_CLAVICLE_L, side, TILT, -6, 0, 0, 0}, {J_UPPERARM_L, side, TILT, -73, 0, 0, 0}

/* clang-format on */

/* ---- walk ---- */

static const th_human_footstep WALK_STEPS[] = {
    {0.00, 20, 0, 0},   {0.09, 0, 0, 0},        {0.34, 0, 0, 0},       {0.46, -18, 18, 0},
    {0.60, -56, 56, 0}, {0.70, -50, 40, 0.045}, {0.80, -18, 12, 0.06}, {0.92, 17, 4, 0.025},
};
static const th_human_gait WALK_GAIT = {.stride = TH_HUMAN_WALK_SPEED * 32 / KEYS_PER_SECOND,
                                        .contact = 0.6,
                                        .lead = 0.30,
                                        .spread = 0.078,
                                        .toe_out = 6,
                                        STEPS(WALK_STEPS)};

/* The left heel touches down at phase 0, the right one at 0.5. */
static const th_human_wave WALK[] = {
    /* The pelvis drops after contact and rises over the standing leg; it rotates with the leading leg. */
    {J_HIPS, BOTH, MOVE_Y, -0.029, 0.018, 2, 0.67},
    {J_HIPS, BOTH, MOVE_X, 0, 0.018, 1, -0.05},
    {J_HIPS, BOTH, TWIST, 0, 6, 1, 0.75},
    {J_HIPS, BOTH, TILT, 0, 3.5, 1, 0.10},
    {J_HIPS, BOTH, BEND, 3, 1, 2, 0.60},
    /* The shoulders rotate the opposite way; the head keeps looking forward. */
    {J_SPINE_01, BOTH, TWIST, 0, 4, 1, 0.25},
    {J_SPINE_02, BOTH, TWIST, 0, 5, 1, 0.25},
    {J_SPINE_03, BOTH, TWIST, 0, 4, 1, 0.25},
    {J_SPINE_01, BOTH, TILT, 0, 2.2, 1, 0.60},
    {J_SPINE_02, BOTH, TILT, 0, 1.8, 1, 0.60},
    {J_SPINE_02, BOTH, BEND, -1, 0.8, 2, 0.05},
    {J_NECK, BOTH, TWIST, 0, 3.2, 1, 0.75},
    {J_HEAD, BOTH, TWIST, 0, 3.2, 1, 0.75},
    {J_HEAD, BOTH, BEND, -1, 1, 2, 0.15},
    /* Each arm moves with the opposite leg, the elbow slightly later. */
    HANGING(BOTH),
    {J_CLAVICLE_L, ALTERNATE, TWIST, 0, 2, 1, 0.75},
    {J_UPPERARM_L, ALTERNATE, BEND, -1, 21, 1, 0.73},
    {J_UPPERARM_L, BOTH, TWIST, -8, 0, 0, 0},
    {J_LOWERARM_L, ALTERNATE, BEND, 24, 13, 1, 0.68},
    {J_LOWERARM_L, BOTH, TWIST, 12, 0, 0, 0},
    {J_HAND_L, ALTERNATE, TILT, 0, 4, 1, 0.60},
    CURLED(BOTH, 2),
};

/* ---- idle ---- */

static const th_human_footstep STANDING_STEPS[] = {{0, 0, 0, 0}};
static const th_human_gait STANDING = {
    .stride = 0, .contact = 1, .lead = 0, .spread = 0.088, .toe_out = 7, STEPS(STANDING_STEPS)};

static const th_human_wave IDLE[] = {
    {J_HIPS, BOTH, MOVE_X, 0, 0.018, 1, 0},
    {J_HIPS, BOTH, MOVE_Y, -0.006, 0.003, 2, 0.25},
    {J_HIPS, BOTH, TILT, 0, 1.6, 1, 0},
    {J_HIPS, BOTH, TWIST, 0, 2, 1, 0.1},
    {J_SPINE_01, BOTH, TILT, 0, 1.3, 1, 0.5},
    {J_SPINE_02, BOTH, BEND, 0, 0.9, 1, 0.30},
    {J_SPINE_03, BOTH, BEND, 0.5, 1.1, 1, 0.32},
    {J_NECK, BOTH, BEND, 1, 1, 1, 0.8},
    {J_NECK, BOTH, TWIST, 0, 4, 1, 0.12},
    {J_HEAD, BOTH, TWIST, 1, 6, 1, 0.15},
    {J_HEAD, BOTH, TWIST, 0, 3, 2, 0.4},
    {J_HEAD, BOTH, BEND, 1, 1.5, 2, 0.1},
    HANGING(BOTH),
    {J_CLAVICLE_L, BOTH, TILT, 0, 1.1, 1, 0.82},
    {J_UPPERARM_L, BOTH, BEND, -2, 1.5, 1, 0.4},
    {J_UPPERARM_L, BOTH, TWIST, -10, 0, 0, 0},
    {J_LOWERARM_L, BOTH, BEND, 14, 1.5, 1, 0.45},
    {J_LOWERARM_L, BOTH, TWIST, 14, 0, 0, 0},
    CURLED(BOTH, 0),
};

/* ---- run and jog ---- */

static const th_human_footstep RUN_STEPS[] = {
    {0.00, 6, 0, 0},       {0.06, 0, 0, 0},      {0.15, 0, 0, 0},      {0.23, -22, 22, 0},  {0.32, -62, 62, 0},
    {0.45, -98, 20, 0.17}, {0.60, -84, 0, 0.30}, {0.78, -28, 0, 0.20}, {0.92, 6, 4, 0.045},
};
static const th_human_gait RUN_GAIT = {.stride = TH_HUMAN_RUN_SPEED * 21 / KEYS_PER_SECOND,
                                       .contact = 0.32,
                                       .lead = 0.27,
                                       .spread = 0.06,
                                       .toe_out = 4,
                                       STEPS(RUN_STEPS)};

static const th_human_wave RUN[] = {
    /* Lowest in the middle of a step, highest between steps. */
    {J_HIPS, BOTH, MOVE_Y, -0.042, 0.036, 2, 0.43},
    {J_HIPS, BOTH, MOVE_X, 0, 0.01, 1, 0.09},
    {J_HIPS, BOTH, TWIST, 0, 9, 1, 0.72},
    {J_HIPS, BOTH, TILT, 0, 4, 1, 0.10},
    {J_HIPS, BOTH, BEND, 8, 2, 2, 0.70},
    {J_SPINE_01, BOTH, TWIST, 0, 6, 1, 0.22},
    {J_SPINE_02, BOTH, TWIST, 0, 8, 1, 0.22},
    {J_SPINE_03, BOTH, TWIST, 0, 6, 1, 0.22},
    {J_SPINE_01, BOTH, TILT, 0, 2.5, 1, 0.60},
    {J_SPINE_02, BOTH, TILT, 0, 2, 1, 0.60},
    {J_SPINE_02, BOTH, BEND, 3, 1.5, 2, 0.20},
    {J_SPINE_03, BOTH, BEND, 2, 0, 0, 0},
    {J_NECK, BOTH, BEND, -4, 0, 0, 0},
    {J_HEAD, BOTH, BEND, -5, 1.5, 2, 0.70},
    {J_NECK, BOTH, TWIST, 0, 5.5, 1, 0.72},
    {J_HEAD, BOTH, TWIST, 0, 5.5, 1, 0.72},
    HANGING(BOTH),
    {J_CLAVICLE_L, ALTERNATE, TWIST, 0, 4, 1, 0.75},
    {J_UPPERARM_L, BOTH, TILT, -2, 0, 0, 0},
    {J_UPPERARM_L, ALTERNATE, BEND, -10, 38, 1, 0.73},
    {J_UPPERARM_L, BOTH, TWIST, 8, 0, 0, 0},
    {J_LOWERARM_L, ALTERNATE, BEND, 86, 16, 1, 0.70},
    {J_LOWERARM_L, BOTH, TWIST, -10, 0, 0, 0},
    {J_HAND_L, BOTH, BEND, 6, 3, 2, 0.1},
    CURLED(BOTH, 32),
};

static const th_human_footstep JOG_STEPS[] = {
    {0.00, 12, 0, 0},      {0.07, 0, 0, 0},      {0.20, 0, 0, 0},      {0.30, -20, 20, 0},   {0.40, -56, 56, 0},
    {0.52, -80, 18, 0.11}, {0.65, -62, 2, 0.18}, {0.80, -16, 0, 0.12}, {0.92, 10, 4, 0.035},
};
static const th_human_gait JOG_GAIT = {.stride = TH_HUMAN_JOG_SPEED * 24 / KEYS_PER_SECOND,
                                       .contact = 0.4,
                                       .lead = 0.25,
                                       .spread = 0.068,
                                       .toe_out = 5,
                                       STEPS(JOG_STEPS)};

static const th_human_wave JOG[] = {
    {J_HIPS, BOTH, MOVE_Y, -0.045, 0.03, 2, 0.38},
    {J_HIPS, BOTH, MOVE_X, 0, 0.013, 1, 0.06},
    {J_HIPS, BOTH, TWIST, 0, 7, 1, 0.73},
    {J_HIPS, BOTH, TILT, 0, 3.5, 1, 0.10},
    {J_HIPS, BOTH, BEND, 5, 1.5, 2, 0.68},
    {J_SPINE_01, BOTH, TWIST, 0, 5, 1, 0.23},
    {J_SPINE_02, BOTH, TWIST, 0, 6, 1, 0.23},
    {J_SPINE_03, BOTH, TWIST, 0, 5, 1, 0.23},
    {J_SPINE_01, BOTH, TILT, 0, 2.2, 1, 0.60},
    {J_SPINE_02, BOTH, TILT, 0, 1.8, 1, 0.60},
    {J_SPINE_02, BOTH, BEND, 2, 1, 2, 0.15},
    {J_NECK, BOTH, BEND, -2, 0, 0, 0},
    {J_HEAD, BOTH, BEND, -3, 1.5, 2, 0.65},
    {J_NECK, BOTH, TWIST, 0, 4.5, 1, 0.73},
    {J_HEAD, BOTH, TWIST, 0, 4.5, 1, 0.73},
    HANGING(BOTH),
    {J_CLAVICLE_L, ALTERNATE, TWIST, 0, 3, 1, 0.75},
    {J_UPPERARM_L, ALTERNATE, BEND, -8, 27, 1, 0.73},
    {J_UPPERARM_L, BOTH, TWIST, 4, 0, 0, 0},
    {J_LOWERARM_L, ALTERNATE, BEND, 72, 12, 1, 0.70},
    {J_LOWERARM_L, BOTH, TWIST, -6, 0, 0, 0},
    CURLED(BOTH, 24),
};

/* ---- wave, cheer and dance ---- */

static const th_human_wave WAVE[] = {
    {J_HIPS, BOTH, MOVE_X, 0.012, 0.006, 1, 0},
    {J_HIPS, BOTH, MOVE_Y, -0.006, 0.002, 3, 0.25},
    {J_HIPS, BOTH, TILT, 1, 1, 1, 0},
    {J_HIPS, BOTH, TWIST, 2, 1, 1, 0.2},
    {J_SPINE_01, BOTH, TILT, 1, 1, 1, 0.4},
    {J_SPINE_02, BOTH, TILT, 1.5, 0.8, 3, 0.1},
    {J_SPINE_03, BOTH, BEND, 0, 1, 1, 0.32},
    {J_NECK, BOTH, TILT, -2, 1, 1, 0.6},
    {J_HEAD, BOTH, TILT, -3, 2, 1, 0.65},
    {J_HEAD, BOTH, BEND, 0, 1.5, 3, 0.1},
    {J_HEAD, BOTH, TWIST, 0, 3, 1, 0.9},
    /* The right arm: upper arm raised to the side and rotated so that the elbow bends upwards, palm to the front. */
    {J_CLAVICLE_L, RIGHT, TILT, 9, 1.5, 3, 0},
    {J_UPPERARM_L, RIGHT, TILT, -4, 4, 3, 0.95},
    {J_UPPERARM_L, RIGHT, BEND, 14, 0, 0, 0},
    {J_UPPERARM_L, RIGHT, TWIST, -84, 4, 1, 0.3},
    {J_LOWERARM_L, RIGHT, BEND, 82, 20, 3, 0},
    {J_LOWERARM_L, RIGHT, BEND, 0, 5, 1, 0.3},
    {J_HAND_L, RIGHT, TILT, 0, 14, 3, 0.40},
    {J_HAND_L, RIGHT, BEND, -8, 4, 3, 0.2},
    CURLED(RIGHT, -8),
    {J_CLAVICLE_L, LEFT, TILT, -6, 1, 1, 0.8},
    {J_UPPERARM_L, LEFT, TILT, -71, 1, 1, 0.1},
    {J_UPPERARM_L, LEFT, BEND, -2, 2, 1, 0.4},
    {J_UPPERARM_L, LEFT, TWIST, -10, 0, 0, 0},
    {J_LOWERARM_L, LEFT, BEND, 16, 2, 1, 0.45},
    {J_LOWERARM_L, LEFT, TWIST, 14, 0, 0, 0},
    CURLED(LEFT, 0),
};

/* In place: the heels rise alternately. */
static const th_human_footstep BOUNCE_STEPS[] = {{0, 0, 0, 0}, {0.25, 0, 0, 0}, {0.5, -30, 30, 0}, {0.75, 0, 0, 0}};
static const th_human_gait BOUNCE = {
    .stride = 0, .contact = 1, .lead = 0, .spread = 0.088, .toe_out = 7, STEPS(BOUNCE_STEPS)};

static const th_human_wave CHEER[] = {
    {J_HIPS, BOTH, MOVE_Y, -0.03, 0.02, 2, 0.75},
    {J_HIPS, BOTH, MOVE_X, 0, 0.022, 1, 0},
    {J_HIPS, BOTH, TILT, 0, 4, 1, 0},
    {J_SPINE_01, BOTH, TILT, 0, 3, 1, 0.5},
    {J_SPINE_02, BOTH, BEND, -3, 3, 2, 0.3},
    {J_SPINE_03, BOTH, BEND, -3, 2, 2, 0.35},
    {J_SPINE_03, BOTH, TWIST, 0, 6, 1, 0.1},
    {J_HEAD, BOTH, BEND, -7, 4, 2, 0.4},
    {J_HEAD, BOTH, TWIST, 0, 6, 1, 0.6},
    {J_CLAVICLE_L, BOTH, TILT, 16, 4, 2, 0.70},
    {J_UPPERARM_L, BOTH, TILT, 34, 10, 2, 0.72},
    {J_UPPERARM_L, ALTERNATE, TILT, 0, 6, 1, 0},
    {J_UPPERARM_L, BOTH, BEND, 10, 6, 2, 0.2},
    {J_UPPERARM_L, BOTH, TWIST, -62, 0, 0, 0},
    {J_LOWERARM_L, BOTH, BEND, 52, 22, 2, 0.20},
    {J_HAND_L, BOTH, BEND, -4, 8, 2, 0.05},
    CURLED(BOTH, 38),
};

static const th_human_wave DANCE[] = {
    {J_HIPS, BOTH, MOVE_Y, -0.035, 0.018, 4, 0.75},
    {J_HIPS, BOTH, MOVE_X, 0, 0.05, 1, 0},
    {J_HIPS, BOTH, MOVE_X, 0, 0.012, 3, 0},
    {J_HIPS, BOTH, TILT, 0, 6, 1, 0},
    {J_HIPS, BOTH, TWIST, 0, 10, 1, 0.1},
    {J_HIPS, BOTH, BEND, 4, 2, 4, 0.5},
    {J_SPINE_01, BOTH, TILT, 0, 5, 1, 0.45},
    {J_SPINE_02, BOTH, TILT, 0, 4, 1, 0.40},
    {J_SPINE_02, BOTH, TWIST, 0, 8, 1, 0.65},
    {J_SPINE_03, BOTH, TWIST, 0, 8, 1, 0.70},
    {J_SPINE_03, BOTH, BEND, 1, 3, 4, 0.1},
    {J_NECK, BOTH, BEND, 0, 3, 4, 0.0},
    {J_HEAD, BOTH, BEND, 0, 5, 4, 0.95},
    {J_HEAD, BOTH, TILT, 0, 5, 1, 0.9},
    {J_HEAD, BOTH, TWIST, 0, 8, 1, 0.2},
    HANGING(BOTH),
    {J_CLAVICLE_L, ALTERNATE, TILT, 2, 5, 2, 0.75},
    {J_UPPERARM_L, BOTH, TILT, 16, 5, 2, 0.75},
    {J_UPPERARM_L, ALTERNATE, BEND, 18, 24, 1, 0.2},
    {J_UPPERARM_L, BOTH, TWIST, -6, 0, 0, 0},
    {J_LOWERARM_L, BOTH, BEND, 82, 10, 4, 0.2},
    {J_LOWERARM_L, ALTERNATE, BEND, 0, 16, 1, 0.1},
    {J_HAND_L, ALTERNATE, BEND, 4, 10, 2, 0.1},
    CURLED(BOTH, 20),
};

/* ---- all of them ---- */

static const th_human_clip CLIPS[] = {
    {"idle", 120, &STANDING, WAVES(IDLE)}, {"walk", 32, &WALK_GAIT, WAVES(WALK)}, {"jog", 24, &JOG_GAIT, WAVES(JOG)},
    {"run", 21, &RUN_GAIT, WAVES(RUN)},    {"wave", 72, &STANDING, WAVES(WAVE)},  {"cheer", 36, &BOUNCE, WAVES(CHEER)},
    {"dance", 60, &BOUNCE, WAVES(DANCE)},
};
#define CLIP_COUNT (sizeof CLIPS / sizeof *CLIPS)

/* ---- poses ---- */

static double radians(double degrees)
{
    return degrees * (PI / 180);
}

/* Rotates the joint about one of its own axes, after its previous rotations. */
static void turn(th_trs *joint, int axis, double degrees)
{
    double q[4] = {0, 0, 0, th_human_cos(radians(degrees) / 2)};
    q[axis] = th_human_sin(radians(degrees) / 2);
    th_quat_mul(joint->rotation, q, joint->rotation);
}

static double wave_at(const th_human_wave *wave, double phase)
{
    return wave->mean + wave->amplitude * th_human_sin(2 * PI * (wave->cycles * phase + wave->shift));
}

/* ---- feet ---- */

/* Slope at a key of a closed curve: the harmonic mean of the neighbouring slopes, or 0 at a peak, so that the curve
 * never leaves the range of its keys (F. Fritsch, J. Butland, A Method for Constructing Local Monotone Piecewise Cubic
 * Interpolants, 1984). So a foot that should lie flat does. */
static double monotone_slope(double before, double after)
{
    return before * after > 0 ? 2 * before * after / (before + after) : 0;
}

static const th_human_footstep *step_at(const th_human_gait *gait, uint32_t i)
{
    assert(gait->step_count > 0);
    return &gait->steps[i % gait->step_count];
}

/* Slope from key i to the next, cyclically. */
static double step_width(const th_human_gait *gait, uint32_t i)
{
    double width = step_at(gait, i + 1)->phase - step_at(gait, i)->phase;
    return width > 0 ? width : width + 1;
}

/* Interpolates between v1 and v2; v0 and v3 are the neighbouring keys. */
static double curve(double v0, double v1, double v2, double v3, const double width[3], double t)
{
    double slope = (v2 - v1) / width[1];
    return hermite(v1, v2, monotone_slope((v1 - v0) / width[0], slope), monotone_slope(slope, (v3 - v2) / width[2]),
                   width[1], t);
}

/* The first key has phase 0. */
static th_human_footstep footstep_at(const th_human_gait *gait, double phase)
{
    assert(phase >= 0 && phase <= 1 && gait->steps[0].phase == 0);
    uint32_t n = gait->step_count, i = n;
    while (step_at(gait, i + 1)->phase > step_at(gait, i)->phase && step_at(gait, i + 1)->phase <= phase)
        i++;
    const th_human_footstep *a = step_at(gait, i - 1), *b = step_at(gait, i), *c = step_at(gait, i + 1),
                            *d = step_at(gait, i + 2);
    double width[3] = {step_width(gait, i - 1), step_width(gait, i), step_width(gait, i + 1)};
    double t = (phase - b->phase) / width[1];
    return (th_human_footstep){.phase = phase,
                               .pitch = curve(a->pitch, b->pitch, c->pitch, d->pitch, width, t),
                               .toe = curve(a->toe, b->toe, c->toe, d->toe, width, t),
                               .lift = curve(a->lift, b->lift, c->lift, d->lift, width, t)};
}

static th_dmat34 rotation_about(int axis, double degrees)
{
    th_trs trs = {.rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
    turn(&trs, axis, degrees);
    return th_dmat34_from_trs(&trs);
}

static vec3 transform(const th_dmat34 *m, vec3 p)
{
    const double in[3] = {p.x, p.y, p.z};
    double out[3];
    th_dmat34_point(m, in, out);
    return (vec3){out[0], out[1], out[2]};
}

/* model_from_foot. The foot is flat, or rotates about the edge of the heel or the joint of the toes, which stay in
 * place. */
static th_dmat34 foot_frame(const th_human_gait *gait, uint32_t foot, const th_human_footstep *step)
{
    double side = foot == J_FOOT_L ? 1 : -1;
    vec3 rest = th_human_joint_position(foot), toe = th_human_joint_position(foot + 1);

    /* On the ground it moves backwards at the speed of the gait; in the air it swings forward and lands at the same
     * speed. */
    double ahead = gait->lead - gait->stride * step->phase;
    if (step->phase > gait->contact) {
        double off = gait->lead - gait->stride * gait->contact, width = 1 - gait->contact;
        ahead = hermite(off, gait->lead, -gait->stride, -gait->stride, width, (step->phase - gait->contact) / width);
    }
    vec3 ankle = {side * gait->spread, rest.y + step->lift, rest.z + ahead};

    th_dmat34 yaw = rotation_about(1, side * gait->toe_out), pitch = rotation_about(0, -step->pitch);
    th_dmat34 turned = th_dmat34_mul(yaw, pitch);
    vec3 heel = {0, -rest.y, -0.06}, pivot = step->pitch > 0 ? heel : sub(toe, rest);
    ankle = add(ankle, sub(transform(&yaw, pivot), transform(&turned, pivot)));
    return th_human_bone_frame(ankle, transform(&turned, sub(toe, rest)), transform(&turned, (vec3){0, 1, 0}));
}

/* ---- legs ---- */

static vec3 origin_of(const th_dmat34 *frame)
{
    return (vec3){frame->m[3], frame->m[7], frame->m[11]};
}

static double translation_length(const th_trs *trs)
{
    return length((vec3){trs->translation[0], trs->translation[1], trs->translation[2]});
}

/* Sets a joint's rotation so that it gets the given frame in model space. Its position follows from its parent. */
static void aim(const th_dmat34 *model_from_parent, const th_dmat34 *frame, th_trs *out)
{
    th_dmat34 parent_from_model;
    th_trs local;
    if (th_dmat34_invert(model_from_parent, &parent_from_model)) {
        th_dmat34 m = th_dmat34_mul(parent_from_model, *frame);
        th_dmat34_decompose(&m, &local);
        memcpy(out->rotation, local.rotation, sizeof local.rotation);
    }
}

/* The leg is never fully stretched: close to that, a small movement of the foot rotates the knee by a large angle. */
static double soft_reach(double distance, double reach)
{
    const double softness = 0.015;
    double begin = reach * (1 - softness);
    if (distance <= begin)
        return distance;
    return begin + reach * softness * (1 - th_human_exp(-(distance - begin) / (reach * softness)));
}

static void place_leg(const th_human_gait *gait, uint32_t thigh, double phase, th_trs pose[J_COUNT])
{
    assert(thigh == J_THIGH_L || thigh == J_THIGH_R);
    uint32_t calf = thigh + 1, foot = thigh + 2, toe = thigh + 3;
    th_human_footstep step = footstep_at(gait, phase - floor(phase));
    th_dmat34 target = foot_frame(gait, foot, &step);
    th_dmat34 hips = th_dmat34_from_trs(&pose[J_HIPS]), thigh_rest = th_dmat34_from_trs(&pose[thigh]);
    thigh_rest = th_dmat34_mul(hips, thigh_rest);

    /* The triangle of hip, knee and ankle, in the plane that contains the foot's direction. */
    vec3 hip = origin_of(&thigh_rest), to_ankle = sub(origin_of(&target), hip);
    double upper = translation_length(&pose[calf]), lower = translation_length(&pose[foot]);
    double reach = soft_reach(length(to_ankle), upper + lower);
    double side = thigh == J_THIGH_L ? 1 : -1, toe_out = radians(gait->toe_out);
    vec3 down = unit(to_ankle),
         hinge = unit(cross(down, (vec3){side * th_human_sin(toe_out), 0, th_human_cos(toe_out)}));
    double along = (reach * reach + upper * upper - lower * lower) / (2 * reach);
    double ahead = sqrt(fmax(upper * upper - along * along, 0));
    vec3 knee = add(hip, add(scale(down, along), scale(cross(hinge, down), ahead)));
    vec3 ankle = add(hip, scale(down, reach));

    th_dmat34 thigh_frame = th_human_bone_frame(hip, sub(knee, hip), cross(hinge, sub(knee, hip)));
    th_dmat34 calf_frame = th_human_bone_frame(knee, sub(ankle, knee), cross(hinge, sub(ankle, knee)));
    aim(&hips, &thigh_frame, &pose[thigh]);
    aim(&thigh_frame, &calf_frame, &pose[calf]);
    aim(&calf_frame, &target, &pose[foot]);
    turn(&pose[toe], BEND, step.toe);
}

/* Computes the local transforms of all joints at a phase of the clip. rest: those at rest. */
static void pose_at(const th_human_clip *clip, double phase, const th_trs rest[J_COUNT], th_trs out[J_COUNT])
{
    memcpy(out, rest, J_COUNT * sizeof *out);
    for (const th_human_wave *wave = clip->waves; wave < clip->waves + clip->wave_count; wave++) {
        assert(wave->joint < J_COUNT && mirror_joint(mirror_joint(wave->joint)) == wave->joint);
        assert(wave->motion < MOVE_X || wave->joint == J_HIPS);
        uint32_t right = mirror_joint(wave->joint);
        double value = wave_at(wave, phase);
        if (wave->motion >= MOVE_X) {
            out[wave->joint].translation[wave->motion - MOVE_X] += value;
            continue;
        }
        if (wave->side != RIGHT)
            turn(&out[wave->joint], (int)wave->motion, value);
        if (wave->side == LEFT || right == wave->joint)
            continue;
        /* Mirroring keeps rotations about X and reverses the others; see th_human_bone_frame. */
        if (wave->side == ALTERNATE)
            value = wave_at(wave, phase + 0.5);
        turn(&out[right], (int)wave->motion, wave->motion == BEND ? value : -value);
    }
    place_leg(clip->gait, J_THIGH_L, phase, out);
    place_leg(clip->gait, J_THIGH_R, phase + 0.5, out);
}

/* ---- keys ---- */

/* values: of all keys, in order. A track that never moves keeps one key. */
static bool set_track(th_arena *arena, const float *values, uint32_t key_count, uint32_t width, th_track *out)
{
    bool moves = false;
    for (uint32_t i = width; i < key_count * width; i++)
        moves |= values[i] != values[i - width];
    out->key_count = moves ? key_count : 1;
    double *times = th_arena_new(arena, double, out->key_count);
    out->values = th_arena_copy(arena, values, (size_t)out->key_count * width, sizeof *values);
    out->times = times;
    if (!times || !out->values)
        return false;
    for (uint32_t k = 0; k < out->key_count; k++)
        times[k] = k;
    return true;
}

/* poses: by frame, then by joint. The last key repeats the first. */
static bool add_channel(th_arena *arena, const th_trs *poses, uint32_t frames, uint32_t joint, th_channel *out)
{
    float translation[3 * MAX_KEYS], rotation[4 * MAX_KEYS];
    const float one[3] = {1, 1, 1};
    for (uint32_t k = 0; k <= frames; k++) {
        const th_trs *local = &poses[k % frames * J_COUNT + joint];
        const double *q = local->rotation;
        float *to = rotation + 4 * k, *before = k > 0 ? to - 4 : to;
        for (uint32_t i = 0; i < 3; i++)
            translation[3 * k + i] = (float)local->translation[i];
        /* q or -q, whichever is closer to the previous key. */
        const bool is_far = k > 0 && q[0] * (double)before[0] + q[1] * (double)before[1] + q[2] * (double)before[2] +
                                             q[3] * (double)before[3] <
                                         0;
        for (int i = 0; i < 4; i++)
            to[i] = (float)((is_far ? -1 : 1) * q[i]);
    }
    out->joint = joint;
    return set_track(arena, translation, frames + 1, 3, &out->translation) &&
           set_track(arena, rotation, frames + 1, 4, &out->rotation) && set_track(arena, one, 1, 3, &out->scale);
}

bool th_human_add_clips(th_model *model)
{
    th_clip *clips = th_arena_new(model->arena, th_clip, CLIP_COUNT);
    th_trs *poses = malloc(sizeof(th_trs) * MAX_KEYS * J_COUNT), rest[J_COUNT];
    bool ok = clips && poses;
    for (uint32_t j = 0; j < J_COUNT; j++) {
        th_dmat34 m = th_dmat34_from(model->joints[j].rest);
        th_dmat34_decompose(&m, &rest[j]);
    }
    for (uint32_t i = 0; ok && i < CLIP_COUNT; i++) {
        const th_human_clip *clip = &CLIPS[i];
        assert(clip->frames < MAX_KEYS);
        for (uint32_t f = 0; f < clip->frames; f++)
            pose_at(clip, (double)f / clip->frames, rest, poses + f * J_COUNT);
        th_channel *channels = th_arena_new(model->arena, th_channel, J_COUNT);
        ok = channels;
        for (uint32_t j = 0; ok && j < J_COUNT; j++)
            ok = add_channel(model->arena, poses, clip->frames, j, &channels[j]);
        clips[i] = (th_clip){.name = clip->name,
                             .duration_ticks = clip->frames,
                             .ticks_per_second = KEYS_PER_SECOND,
                             .channel_count = J_COUNT,
                             .channels = channels};
    }
    free(poses);
    model->clips = clips;
    model->clip_count = CLIP_COUNT;
    return ok;
}

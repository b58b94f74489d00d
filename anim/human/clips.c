/* The clips: tables of motion, and the keys generated from them. */
#include "parts.h"

#include <core/arena.h>

#include <assert.h>
#include <stdlib.h>

#define KEYS_PER_SECOND 30
#define MAX_KEYS        128

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

/* Chooses q or -q, whichever is closer to the previous key. */
static void set_rotation(const double q[4], const float *before, float out[4])
{
    double sign = 1;
    if (before &&
        q[0] * (double)before[0] + q[1] * (double)before[1] + q[2] * (double)before[2] + q[3] * (double)before[3] < 0)
        sign = -1;
    for (int i = 0; i < 4; i++)
        out[i] = (float)(sign * q[i]);
}

/* poses: by frame, then by joint. The last key repeats the first. */
static bool add_channel(th_arena *arena, const th_trs *poses, uint32_t frames, uint32_t joint, th_channel *out)
{
    float translation[3 * MAX_KEYS], rotation[4 * MAX_KEYS];
    const float one[3] = {1, 1, 1};
    for (uint32_t k = 0; k <= frames; k++) {
        const th_trs *local = &poses[k % frames * J_COUNT + joint];
        for (uint32_t i = 0; i < 3; i++)
            translation[3 * k + i] = (float)local->translation[i];
        set_rotation(local->rotation, k > 0 ? rotation + 4 * (k - 1) : NULL, rotation + 4 * k);
    }
    out->joint = joint;
    return set_track(arena, translation, frames + 1, 3, &out->translation) &&
           set_track(arena, rotation, frames + 1, 4, &out->rotation) && set_track(arena, one, 1, 3, &out->scale);
}

static bool add_clip(th_arena *arena, const th_human_clip *clip, const th_trs rest[J_COUNT], th_trs *poses,
                     th_clip *out)
{
    assert(clip->frames < MAX_KEYS);
    for (uint32_t f = 0; f < clip->frames; f++)
        th_human_pose(clip, (double)f / clip->frames, rest, poses + f * J_COUNT);

    th_channel *channels = th_arena_new(arena, th_channel, J_COUNT);
    if (!channels)
        return false;
    for (uint32_t j = 0; j < J_COUNT; j++)
        if (!add_channel(arena, poses, clip->frames, j, &channels[j]))
            return false;
    *out = (th_clip){.name = clip->name,
                     .duration_ticks = clip->frames,
                     .ticks_per_second = KEYS_PER_SECOND,
                     .channel_count = J_COUNT,
                     .channels = channels};
    return true;
}

bool th_human_add_clips(th_model *model)
{
    th_clip *clips = th_arena_new(model->arena, th_clip, CLIP_COUNT);
    th_trs *poses = malloc(sizeof(th_trs) * MAX_KEYS * J_COUNT);
    bool ok = clips && poses;

    th_trs rest[J_COUNT];
    for (uint32_t j = 0; j < J_COUNT; j++) {
        th_dmat34 m = th_dmat34_from(model->joints[j].rest);
        th_dmat34_decompose(&m, &rest[j]);
    }
    for (uint32_t i = 0; ok && i < CLIP_COUNT; i++)
        ok = add_clip(model->arena, &CLIPS[i], rest, poses, &clips[i]);
    free(poses);
    model->clips = clips;
    model->clip_count = CLIP_COUNT;
    return ok;
}

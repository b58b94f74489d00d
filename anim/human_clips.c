/* The clips: tables of motion, and the keys made from them. */
#include "arena.h"
#include "human_parts.h"

#include <string.h>

#define KEYS_PER_SECOND 30

/* Fingers of a hand at ease: each joint a little more closed than the one before, the little finger most. */
#define CURLED(side, by)                                                                                               \
    {J_INDEX_01_L, side, BEND, 12 + (by), 0, 0, 0}, {J_INDEX_02_L, side, BEND, 16 + (by), 0, 0, 0},                    \
        {J_INDEX_03_L, side, BEND, 10 + (by), 0, 0, 0}, {J_MIDDLE_01_L, side, BEND, 16 + (by), 0, 0, 0},               \
        {J_MIDDLE_02_L, side, BEND, 20 + (by), 0, 0, 0}, {J_MIDDLE_03_L, side, BEND, 12 + (by), 0, 0, 0},              \
        {J_RING_01_L, side, BEND, 19 + (by), 0, 0, 0}, {J_RING_02_L, side, BEND, 23 + (by), 0, 0, 0},                  \
        {J_RING_03_L, side, BEND, 14 + (by), 0, 0, 0}, {J_PINKY_01_L, side, BEND, 22 + (by), 0, 0, 0},                 \
        {J_PINKY_02_L, side, BEND, 25 + (by), 0, 0, 0}, {J_PINKY_03_L, side, BEND, 15 + (by), 0, 0, 0},                \
        {J_THUMB_01_L, side, BEND, 8, 0, 0, 0}, {J_THUMB_02_L, side, BEND, 8, 0, 0, 0},                                \
    {                                                                                                                  \
        J_THUMB_03_L, side, BEND, 10, 0, 0, 0                                                                          \
    }

/* From the T-pose to arms that hang: clavicle and upper arm together. */
#define HANGING(side)                                                                                                  \
    {J_CLAVICLE_L, side, TILT, -6, 0, 0, 0},                                                                           \
    {                                                                                                                  \
        J_UPPERARM_L, side, TILT, -71, 0, 0, 0                                                                         \
    }

/* ---- walk ---- */

static const th_human_footstep WALK_STEPS[] = {
    {0.00, 20, 0, 0},   {0.09, 0, 0, 0},       {0.36, 0, 0, 0},      {0.48, -18, 18, 0},
    {0.60, -56, 56, 0}, {0.70, -52, 16, 0.03}, {0.80, -18, 4, 0.04}, {0.92, 16, 4, 0.022},
};
static const th_human_gait WALK_GAIT = {TH_HUMAN_WALK_SPEED * 32 / KEYS_PER_SECOND, 0.6, 0.30, 0.078, 6, 8, WALK_STEPS};

/* The left heel comes down at phase 0, the right one at 0.5. */
static const th_human_wave WALK[] = {
    /* The pelvis drops after contact, vaults over the standing leg, turns with the leading leg, sags on the free side.
     */
    {J_HIPS, BOTH, MOVE_Y, -0.024, 0.02, 2, 0.65},
    {J_HIPS, BOTH, MOVE_X, 0, 0.018, 1, -0.05},
    {J_HIPS, BOTH, TWIST, 0, 6, 1, 0.75},
    {J_HIPS, BOTH, TILT, 0, 3.5, 1, 0.10},
    {J_HIPS, BOTH, BEND, 3, 1, 2, 0.60},
    /* The shoulders turn against it; the head stays where it looks. */
    {J_SPINE_01, BOTH, TWIST, 0, 4, 1, 0.25},
    {J_SPINE_02, BOTH, TWIST, 0, 5, 1, 0.25},
    {J_SPINE_03, BOTH, TWIST, 0, 4, 1, 0.25},
    {J_SPINE_01, BOTH, TILT, 0, 2.2, 1, 0.60},
    {J_SPINE_02, BOTH, TILT, 0, 1.8, 1, 0.60},
    {J_SPINE_02, BOTH, BEND, -1, 0.8, 2, 0.05},
    {J_NECK, BOTH, TWIST, 0, 3.2, 1, 0.75},
    {J_HEAD, BOTH, TWIST, 0, 3.2, 1, 0.75},
    {J_HEAD, BOTH, BEND, -1, 1, 2, 0.15},
    /* Each arm goes with the other side's leg, the elbow a little later. */
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
static const th_human_gait STANDING = {0, 1, 0, 0.105, 9, 1, STANDING_STEPS};

static const th_human_wave IDLE[] = {
    {J_HIPS, BOTH, MOVE_X, 0, 0.018, 1, 0},
    {J_HIPS, BOTH, MOVE_Y, -0.014, 0.003, 2, 0.25},
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

#define WAVES(table) .wave_count = sizeof(table) / sizeof *(table), .waves = (table)

static const th_human_clip CLIPS[] = {
    {"idle", 120, &STANDING, WAVES(IDLE)},
    {"walk", 32, &WALK_GAIT, WAVES(WALK)},
};
#define CLIP_COUNT (sizeof CLIPS / sizeof *CLIPS)

/* ---- keys ---- */

/* values: of all keys, one after another. A track that never moves keeps one key only. */
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

/* q or -q, whichever continues from the key before. */
static void set_rotation(const double q[4], const float *before, float out[4])
{
    double sign = 1;
    if (before &&
        q[0] * (double)before[0] + q[1] * (double)before[1] + q[2] * (double)before[2] + q[3] * (double)before[3] < 0)
        sign = -1;
    for (int i = 0; i < 4; i++)
        out[i] = (float)(sign * q[i]);
}

#define MAX_KEYS 128

/* poses: frame by frame, joint by joint. The last key is the first one again. */
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

static bool add_clip(th_arena *arena, const th_human_clip *clip, const th_trs rest[J_COUNT], th_clip *out)
{
    static th_trs poses[MAX_KEYS * J_COUNT];
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
    if (!clips)
        return false;
    th_trs rest[J_COUNT];
    for (uint32_t j = 0; j < J_COUNT; j++) {
        th_dmat34 m = th_dmat34_from(model->joints[j].rest);
        th_dmat34_decompose(&m, &rest[j]);
    }
    for (uint32_t i = 0; i < CLIP_COUNT; i++)
        if (!add_clip(model->arena, &CLIPS[i], rest, &clips[i]))
            return false;
    model->clips = clips;
    model->clip_count = CLIP_COUNT;
    return true;
}

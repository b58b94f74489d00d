/* The skeleton, in a T-pose (arms out, palms down), in which limbs and shapes are easiest to define. */
#include "parts.h"
#include <anim/transform.h>

#include <core/arena.h>

#include <assert.h>
#include <string.h>

typedef struct bone {
    const char *name;
    uint32_t parent;
    vec3 head, tail, front; /* front: the direction in which the bone bends; see th_human_bone_frame */
} bone;

/* clang-format off */
#define FORWARD {0, 0, 1}
#define UP      {0, 1, 0}
#define DOWN    {0, -1, 0}
#define INWARD  {-0.5, -0.5, -0.7} /* the thumb closes across the palm */
/* clang-format on */

/* Midline and left side; the right side is mirrored. Segment lengths are those of a person of 1.8 m (D. A. Winter,
 * Biomechanics and Motor Control of Human Movement, 2009, figure 4.1). */
static const bone BONES[J_COUNT] = {
    [J_HIPS] = {"hips", TH_NO_INDEX, {0, 0.97, 0}, {0, 1.06, -0.005}, FORWARD},
    [J_SPINE_01] = {"spine_01", J_HIPS, {0, 1.06, -0.005}, {0, 1.19, -0.012}, FORWARD},
    [J_SPINE_02] = {"spine_02", J_SPINE_01, {0, 1.19, -0.012}, {0, 1.33, -0.018}, FORWARD},
    [J_SPINE_03] = {"spine_03", J_SPINE_02, {0, 1.33, -0.018}, {0, 1.5, -0.02}, FORWARD},
    [J_NECK] = {"neck", J_SPINE_03, {0, 1.5, -0.02}, {0, 1.595, 0}, FORWARD},
    [J_HEAD] = {"head", J_NECK, {0, 1.595, 0}, {0, 1.8, 0}, FORWARD},

    [J_CLAVICLE_L] = {"clavicle_l", J_SPINE_03, {0.025, 1.455, 0.005}, {0.18, 1.45, -0.018}, FORWARD},
    [J_UPPERARM_L] = {"upperarm_l", J_CLAVICLE_L, {0.18, 1.45, -0.018}, {0.46, 1.45, -0.024}, FORWARD},
    [J_LOWERARM_L] = {"lowerarm_l", J_UPPERARM_L, {0.46, 1.45, -0.024}, {0.715, 1.45, -0.014}, FORWARD},
    [J_HAND_L] = {"hand_l", J_LOWERARM_L, {0.715, 1.45, -0.014}, {0.81, 1.45, -0.008}, DOWN},

    [J_THUMB_01_L] = {"thumb_01_l", J_HAND_L, {0.737, 1.443, 0.008}, {0.772, 1.434, 0.036}, INWARD},
    [J_THUMB_02_L] = {"thumb_02_l", J_THUMB_01_L, {0.772, 1.434, 0.036}, {0.8, 1.427, 0.056}, INWARD},
    [J_THUMB_03_L] = {"thumb_03_l", J_THUMB_02_L, {0.8, 1.427, 0.056}, {0.824, 1.421, 0.071}, INWARD},
    [J_INDEX_01_L] = {"index_01_l", J_HAND_L, {0.805, 1.451, 0.023}, {0.847, 1.45, 0.029}, DOWN},
    [J_INDEX_02_L] = {"index_02_l", J_INDEX_01_L, {0.847, 1.45, 0.029}, {0.872, 1.449, 0.0325}, DOWN},
    [J_INDEX_03_L] = {"index_03_l", J_INDEX_02_L, {0.872, 1.449, 0.0325}, {0.894, 1.448, 0.0355}, DOWN},
    [J_MIDDLE_01_L] = {"middle_01_l", J_HAND_L, {0.808, 1.453, 0.001}, {0.854, 1.452, 0.0025}, DOWN},
    [J_MIDDLE_02_L] = {"middle_02_l", J_MIDDLE_01_L, {0.854, 1.452, 0.0025}, {0.882, 1.451, 0.0035}, DOWN},
    [J_MIDDLE_03_L] = {"middle_03_l", J_MIDDLE_02_L, {0.882, 1.451, 0.0035}, {0.905, 1.45, 0.0045}, DOWN},
    [J_RING_01_L] = {"ring_01_l", J_HAND_L, {0.804, 1.452, -0.02}, {0.847, 1.451, -0.023}, DOWN},
    [J_RING_02_L] = {"ring_02_l", J_RING_01_L, {0.847, 1.451, -0.023}, {0.874, 1.45, -0.025}, DOWN},
    [J_RING_03_L] = {"ring_03_l", J_RING_02_L, {0.874, 1.45, -0.025}, {0.896, 1.449, -0.0265}, DOWN},
    [J_PINKY_01_L] = {"pinky_01_l", J_HAND_L, {0.797, 1.449, -0.04}, {0.831, 1.448, -0.0455}, DOWN},
    [J_PINKY_02_L] = {"pinky_02_l", J_PINKY_01_L, {0.831, 1.448, -0.0455}, {0.852, 1.447, -0.049}, DOWN},
    [J_PINKY_03_L] = {"pinky_03_l", J_PINKY_02_L, {0.852, 1.447, -0.049}, {0.871, 1.446, -0.052}, DOWN},

    [J_THIGH_L] = {"thigh_l", J_HIPS, {0.09, 0.935, 0}, {0.094, 0.51, 0.006}, FORWARD},
    [J_CALF_L] = {"calf_l", J_THIGH_L, {0.094, 0.51, 0.006}, {0.097, 0.085, -0.025}, FORWARD},
    [J_FOOT_L] = {"foot_l", J_CALF_L, {0.097, 0.085, -0.025}, {0.102, 0.028, 0.115}, UP},
    [J_TOE_L] = {"toe_l", J_FOOT_L, {0.102, 0.028, 0.115}, {0.105, 0.026, 0.19}, UP},
};

static vec3 mirrored(vec3 v)
{
    return (vec3){-v.x, v.y, v.z};
}

/* A bone of either side, by the name of the left one. */
static bone bone_of(uint32_t joint)
{
    assert(joint < J_COUNT);
    if (BONES[joint].name)
        return BONES[joint];
    bone b = BONES[mirror_joint(joint)];
    assert(b.name); /* the left one has it */
    b.parent = mirror_joint(b.parent);
    b.head = mirrored(b.head);
    b.tail = mirrored(b.tail);
    b.front = mirrored(b.front);
    return b;
}

vec3 th_human_joint_position(uint32_t joint)
{
    return bone_of(joint).head;
}

th_dmat34 th_human_bone_frame(vec3 origin, vec3 along, vec3 front)
{
    vec3 y = unit(along), x = unit(cross(y, front)), z = cross(x, y);
    return (th_dmat34){{x.x, y.x, z.x, origin.x, x.y, y.y, z.y, origin.y, x.z, y.z, z.z, origin.z}};
}

/* Every joint has one bone, with the same index. */
bool th_human_add_skeleton(th_model *model)
{
    th_joint *joints = th_arena_new(model->arena, th_joint, J_COUNT);
    th_bone *bones = th_arena_new(model->arena, th_bone, J_COUNT);
    if (!joints || !bones)
        return false;

    th_dmat34 model_from_joint[J_COUNT], joint_from_model[J_COUNT];
    for (uint32_t j = 0; j < J_COUNT; j++) {
        bone b = bone_of(j);
        char *name = th_arena_string(model->arena, b.name);
        if (!name)
            return false;
        if (!BONES[j].name)
            name[strlen(name) - 1] = 'r';
        joints[j].name = name;
        joints[j].parent = b.parent;
        model_from_joint[j] = th_human_bone_frame(b.head, sub(b.tail, b.head), b.front);
        th_dmat34_invert(&model_from_joint[j], &joint_from_model[j]);
        assert(b.parent == TH_NO_INDEX || b.parent < j);
        th_dmat34 rest = model_from_joint[j];
        if (b.parent != TH_NO_INDEX)
            rest = th_dmat34_mul(joint_from_model[b.parent], rest);
        joints[j].rest = th_mat34_from(rest);
        bones[j] = (th_bone){.joint = j, .inverse_bind = th_mat34_from(joint_from_model[j])};
    }
    model->joints = joints;
    model->joint_count = J_COUNT;
    model->bones = bones;
    model->bone_count = J_COUNT;
    return true;
}

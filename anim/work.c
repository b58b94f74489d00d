/* The work of posing a crowd, by constants of what kernels do (kernels/pose_body.h, pose_quat.h).
 * tests/unit/anim/test_work.c runs their code over numbers that count. */
#include "crowd_data.h"

#include <anim/ceilings.h>

/* Operations. */
enum {
    ALPHAS = 3,  /* of interpolation, once a block */
    LINEAR = 38, /* a matrix from a rotation, */
    SCALE = 9,
    OFFSET = 18,
    PRODUCT = 63, /* of matrices */
    PIVOT = 72,
    UNIT = 13, /* a rotation of any length, */
    NEAR_UNIT = 15,
    MOVE = 6,
    FOLLOW = 61, /* a parent's rotation and place */
    PACK = 14,   /* an entry of QUAT16 */
};

/* Of a key: the frames that are read, operations for 32 and for 16 bits, and those of a rotation. */
static const struct {
    uint8_t frames, flops[TH_KEYS_COUNT], rotation[TH_KEYS_COUNT];
} of_key[TH_INTERPOLATION_COUNT] = {
    [TH_INTERPOLATION_STEP] = {1, {0, 8}, {0, 8}},
    [TH_INTERPOLATION_NLERP] = {2, {12, 20}, {12, 20}},
    [TH_INTERPOLATION_SLERP] = {2, {12, 20}, {53, 69}},
    [TH_INTERPOLATION_CUBIC] = {4, {28, 36}, {28, 36}},
};

static th_crowd_work work_of_one(const th_program *program, th_format format)
{
    const size_t entry_bytes = th_palette_entry_bytes(format);
    const bool is_quats = th_pose_form_of(format) == TH_POSE_QUATS;
    th_crowd_work sum = {.palette_bytes = th_cache_line_round(program->entry_count * entry_bytes)};
    for (uint32_t k = 0; k < program->op_count; k++) {
        const th_joint_op *op = &program->ops[k];
        const th_quat_op *quat = is_quats ? &program->quat->ops[k] : NULL;
        const uint32_t flags = quat ? quat->flags : op->flags;
        const uint32_t rotations = (flags & TH_JOINT_OP_ROTATION) != 0,
                       translations = (flags & TH_JOINT_OP_TRANSLATION) != 0,
                       scales = !quat && (flags & TH_JOINT_OP_SCALE) != 0,
                       weights = !quat && (flags & TH_JOINT_OP_WEIGHTS) != 0 ? TH_ENTRY / TH_KEY : 0;
        const uint32_t others = translations + scales + weights;
        const bool begins = k % TH_BLOCK == 0 || (op->flags & ~op[-1].flags & TH_JOINT_OP_WEIGHTS);
        sum.flops += begins && program->curve != TH_INTERPOLATION_CUBIC ? ALPHAS : 0;
        sum.flops += rotations * of_key[program->curve].rotation[program->keys] +
                     others * of_key[program->curve].flops[program->keys];
        sum.key_bytes += (rotations + others) * of_key[program->curve].frames * th_keys_bytes(program->keys);
        if (quat) {
            sum.flops += rotations * (flags & TH_JOINT_OP_NEAR ? NEAR_UNIT : UNIT) + translations * MOVE;
            sum.flops += ((quat->parent != TH_NO_PARENT) + quat->product_count) * FOLLOW;
        } else {
            sum.flops += rotations * LINEAR + scales * SCALE + (flags & TH_JOINT_OP_OFFSET ? OFFSET : 0);
            sum.flops += flags & TH_JOINT_OP_PIVOT ? PIVOT : op->parent != TH_NO_PARENT ? PRODUCT : 0;
            sum.flops += op->product_count * PRODUCT;
        }
    }
    sum.flops += format == TH_FORMAT_QUAT16 ? sum.palette_bytes / entry_bytes * PACK : 0;
    return sum;
}

th_crowd_work th_crowd_count_work(const th_crowd *crowd)
{
    assert(crowd);
    th_crowd_work sum = {0};
    for (const crowd_model *model = crowd->models; model != crowd->models + crowd->model_count; model++) {
        const th_crowd_work one = work_of_one(&model->compiled->program, crowd->format);
        uint64_t count = 0;
        for (uint32_t i = model->first; i < model->first + model->count; i++)
            count += crowd->active[i].compiled_clip->keys != NULL;
        sum.flops += count * one.flops;
        sum.key_bytes += count * one.key_bytes;
        sum.palette_bytes += count * one.palette_bytes;
    }
    return sum;
}

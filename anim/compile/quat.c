#include "quat.h"

#include "frames.h"

#include <anim/exact.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Largest part of a matrix that may be neither rotation nor uniform scale. A vertex is nearer to its joint than the
 * model's size, so that this costs a tenth of the default bound at most. */
#define RIGID 5e-6

#define SAME_POINT 2.5e-7 /* times the model's size */

/* The linear part of a matrix: a rotation times a scale. */
typedef struct similarity {
    double scale, rotation[4];
} similarity;

static const similarity IDENTITY = {.scale = 1, .rotation = {0, 0, 0, 1}};

/* Returns false if it is something else. */
static bool similarity_from(th_dmat34 linear, similarity *out)
{
    th_trs trs;
    for (int row = 0; row < 3; row++)
        linear.m[4 * row + 3] = 0;
    if (!(th_dmat34_decompose(&linear, &trs) < RIGID) || !(trs.scale[0] > 0))
        return false;
    out->scale = cbrt(trs.scale[0] * trs.scale[1] * trs.scale[2]);
    memcpy(out->rotation, trs.rotation, sizeof out->rotation);
    for (int i = 0; i < 3; i++)
        if (!(fabs(trs.scale[i] / out->scale - 1) < RIGID))
            return false;
    return true;
}

static th_dmat34 matrix_from(const float m[12])
{
    th_mat34 out;
    memcpy(out.m, m, sizeof out.m);
    return th_dmat34_from(out);
}

/* ---- ops ---- */

/* What ops have beside th_quat_op. */
typedef struct builder {
    const th_model *model;
    const th_program *program;
    const th_entry_source *sources;
    double (*places)[3]; /* b of each op */
    th_quat_op *ops;
    float (*bone_places)[3];
} builder;

/* The scale of D where it comes from keys, which in many files hold nothing but rounding. Returns false if they hold
 * more. */
static bool find_scale(const th_model *model, const th_compiled_track *track, similarity *out)
{
    similarity rest;
    if (!similarity_from(th_dmat34_from(model->joints[track->joint].rest), &rest))
        return false;
    for (uint32_t c = 0; c < model->clip_count; c++) {
        const th_clip *clip = &model->clips[c];
        uint32_t at = 0, end = clip->channel_count;
        while (at < end) {
            const uint32_t middle = at + (end - at) / 2;
            if (clip->channels[middle].joint < track->joint)
                at = middle + 1;
            else
                end = middle;
        }
        if (at == clip->channel_count || clip->channels[at].joint != track->joint)
            continue;
        const th_track *scale = &clip->channels[at].scale;
        const th_transform_curves *curves = clip->channels[at].curves;
        if (scale->tangents ||
            (curves && scale->key_count > 1 && th_curves_bend(curves, TH_CURVE_SCALE, RIGID * rest.scale)))
            return false;
        for (uint32_t k = 0; k < 3 * scale->key_count; k++)
            if (!(fabs((double)scale->values[k] / rest.scale - 1) < RIGID))
                return false;
    }
    out->scale = rest.scale * track->scale;
    return true;
}

/* ---- products ---- */

/* What remains of a bone's entry after M of its op. */
static th_dmat34 product_matrix(const builder *b, uint32_t bone)
{
    const th_entry_source *from = &b->sources[bone];
    if (from->product == TH_NO_PRODUCT)
        return TH_DMAT34_IDENTITY;
    return matrix_from(b->program->products[b->program->ops[from->op].product + from->product]);
}

static bool is_direct(const builder *b, uint32_t bone)
{
    const uint32_t op = b->sources[bone].op;
    double far = 0;
    for (int i = 0; i < 3; i++)
        far = fmax(far, fabs((double)b->bone_places[bone][i] - b->places[op][i]));
    return b->sources[bone].product == TH_NO_PRODUCT && far * (double)b->ops[op].scale < SAME_POINT * b->model->size;
}

static th_quat_product product_of(const builder *b, uint32_t bone)
{
    const uint32_t op = b->sources[bone].op;
    const double scale = (double)b->ops[op].scale;
    const float *place = b->bone_places[bone];
    const th_dmat34 matrix = product_matrix(b, bone);
    similarity s = IDENTITY;
    double moved[3];
    similarity_from(matrix, &s);
    th_dmat34_point(&matrix, (double[3]){(double)place[0], (double)place[1], (double)place[2]}, moved);
    th_quat_product out = {.scale = (float)(scale * s.scale)};
    for (int i = 0; i < 4; i++)
        out.rotation[i] = (float)s.rotation[i];
    for (int i = 0; i < 3; i++)
        out.step[i] = (float)(scale * (moved[i] - b->places[op][i]));
    return out;
}

void th_find_ready(const th_program *program, const th_entry_source *sources, uint32_t entry_rows, uint32_t *ready)
{
    const uint32_t blocks = (program->op_count + TH_BLOCK - 1) / TH_BLOCK;
    uint32_t entry = 0;
    for (uint32_t i = 0; i < blocks; i++) {
        while (entry < program->entry_count && sources[entry].op / TH_BLOCK <= i)
            entry++;
        const uint32_t rows = entry_rows * entry + (entry < program->entry_count ? 0 : TH_CACHE_LINE_ROWS - 1);
        ready[i] = rows / TH_CACHE_LINE_ROWS * TH_CACHE_LINE_ROWS;
        assert(i == 0 || ready[i] >= ready[i - 1]);
    }
}

/* ---- the program ---- */

/* track: of the first op that moves. The joint that is no rotation, translation and constant scale; TH_NO_INDEX if all
 * are. */
static uint32_t set_ops(const builder *b, const th_compiled_track *track, const uint32_t *joints)
{
    const th_program *program = b->program;
    for (uint32_t bone = 0; bone < b->model->bone_count; bone++)
        if (!th_bone_place(&b->model->bones[bone], b->bone_places[bone]))
            return b->model->bones[bone].joint;

    /* The point about which D rotates. Of an op that does not rotate, that of a bone, which then needs no product. */
    for (uint32_t bone = b->model->bone_count; bone-- > 0;)
        for (int i = 0; i < 3 && b->sources[bone].product == TH_NO_PRODUCT; i++)
            b->places[b->sources[bone].op][i] = (double)b->bone_places[bone][i];
    for (uint32_t i = 0; i < program->op_count; i++) {
        const th_joint_op *op = &program->ops[i];
        for (int k = 0; k < 3 && (op->flags & TH_JOINT_OP_ROTATION); k++)
            b->places[i][k] = op->flags & TH_JOINT_OP_PIVOT ? (double)op->offset[k] : -(double)op->offset[k];
    }

    for (uint32_t i = 0; i < program->op_count; i++) {
        const th_joint_op *op = &program->ops[i];
        const bool is_root = op->parent == TH_NO_PARENT;
        similarity d = IDENTITY;
        if ((op->flags & TH_JOINT_OP_SCALE) && !find_scale(b->model, track, &d))
            return joints[i];
        if (!(op->flags & TH_JOINT_OP_ROTATION) && !similarity_from(matrix_from(op->local), &d))
            return joints[i];

        /* D b, without the translation that comes from a key. */
        double moved[3];
        th_dmat34 local = matrix_from(op->local);
        for (int row = 0; row < 3; row++) {
            local.m[4 * row + 3] = op->flags & TH_JOINT_OP_TRANSLATION ? 0 : local.m[4 * row + 3];
            moved[row] = local.m[4 * row + 3];
        }
        if (op->flags & TH_JOINT_OP_PIVOT)
            memcpy(moved, b->places[i], sizeof moved);
        if (!(op->flags & TH_JOINT_OP_ROTATION))
            th_dmat34_point(&local, b->places[i], moved);

        const double parent_scale = is_root ? 1 : (double)b->ops[op->parent].scale;
        const uint32_t keys_before = th_joint_keys(op->flags & (TH_JOINT_OP_ROTATION | TH_JOINT_OP_SCALE));
        th_quat_op *out = &b->ops[i];
        *out = (th_quat_op){.parent_scale = (float)parent_scale,
                            .scale = (float)(parent_scale * d.scale),
                            .translation_key = op->key + keys_before * (uint32_t)th_keys_bytes(program->keys),
                            .flags = op->flags & TH_JOINT_OP_MOVES,
                            .parent = op->parent,
                            .key = op->key};
        for (int k = 0; k < 4; k++)
            out->rotation[k] = (float)d.rotation[k];
        for (int k = 0; k < 3; k++)
            out->step[k] = (float)(parent_scale * (moved[k] - (is_root ? 0 : b->places[op->parent][k])));
        track += (op->flags & TH_JOINT_OP_MOVES) != 0;
    }
    similarity s;
    for (uint32_t bone = 0; bone < b->model->bone_count; bone++)
        if (!similarity_from(product_matrix(b, bone), &s))
            return b->model->bones[bone].joint;
    return TH_NO_INDEX;
}

/* ---- the range of 16 bytes ---- */

/* Joints that are posed at most, in all clips, and the times of a clip. */
#define RANGE_BUDGET  2000000u
#define RANGE_SAMPLES 256u

/* Of the range of 22 bits, so that places may go somewhat farther between two samples. */
#define RANGE_PART 0.875

static double range_of(const th_model *model)
{
    return (double)th_palette_step(model->size) * 0x1p21;
}

/* Updates *most with the farthest coordinate of a bone, as a part of the range. */
static void measure_pose(const th_model *model, const th_dmat34 *pose, double *most)
{
    const double range = range_of(model);
    for (uint32_t b = 0; b < model->bone_count; b++)
        for (int i = 3; i < 12; i += 4)
            *most = fmax(*most, fabs(pose[model->bones[b].joint].m[i]) / range);
}

/* How far from the origin a joint may get, and how much what hangs on it may be scaled. */
typedef struct reach {
    double distance, scale;
} reach;

/* A joint's reach from its parent; infinite where curves may leave their keys. channel: NULL if it is at rest. */
static reach own_reach(const th_joint *joint, const th_channel *channel, th_interpolation interpolation)
{
    reach own = {0};
    if (!channel) {
        const th_dmat34 rest = th_dmat34_from(joint->rest);
        return (reach){hypot(hypot(rest.m[3], rest.m[7]), rest.m[11]), th_dmat34_stretch(&rest)};
    }
    if (interpolation == TH_INTERPOLATION_CUBIC || channel->translation.tangents || channel->scale.tangents ||
        channel->curves)
        return (reach){HUGE_VAL, HUGE_VAL};
    for (size_t k = 0; k < channel->translation.key_count; k++) {
        const float *v = channel->translation.values + 3 * k;
        own.distance = fmax(own.distance, hypot(hypot((double)v[0], (double)v[1]), (double)v[2]));
    }
    for (size_t i = 0; i < 3 * (size_t)channel->scale.key_count; i++)
        own.scale = fmax(own.scale, fabs((double)channel->scale.values[i]));
    return own;
}

/* Whether the bones of a clip stay within the range wherever its rotations point. That spares most clips the
 * measuring. reaches: scratch, by joint. */
static bool stays_near(const th_model *model, const th_clip *clip, th_interpolation interpolation, reach *reaches)
{
    const th_channel *channel = clip->channels, *end = channel + clip->channel_count;
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const th_joint *joint = &model->joints[j];
        const bool moves = channel != end && channel->joint == j;
        const reach own = own_reach(joint, moves ? channel : NULL, interpolation);
        const reach parent = joint->parent == TH_NO_INDEX ? (reach){0, 1} : reaches[joint->parent];
        reaches[j] = (reach){parent.distance + parent.scale * own.distance, parent.scale * own.scale};
        channel += moves;
    }
    for (uint32_t b = 0; b < model->bone_count; b++)
        if (!(reaches[model->bones[b].joint].distance <= RANGE_PART * range_of(model)))
            return false;
    return true;
}

bool th_quat_program_create(th_compiled_model *compiled, const uint32_t *joints, const th_entry_source *sources,
                            th_arena *scratch)
{
    assert(compiled && joints && sources);
    const th_model *model = compiled->model;
    const th_program *program = &compiled->program;
    th_arena *arena = compiled->arena;
    if (model->weight_count > 0) {
        compiled->quat_obstacle = compiled->quat16_obstacle = "its palettes hold weights of morph targets";
        return true;
    }
    const builder b = {.model = model,
                       .program = program,
                       .sources = sources,
                       .places = th_arena_alloc(scratch, program->op_count, sizeof *b.places),
                       .ops = th_arena_new(arena, th_quat_op, program->op_count),
                       .bone_places = th_arena_alloc(scratch, model->bone_count, sizeof *b.bone_places)};
    th_quat_program *quat = th_arena_new(arena, th_quat_program, 1);
    if (th_arena_failed(arena) || th_arena_failed(scratch))
        return false;
    const uint32_t joint = set_ops(&b, compiled->tracks, joints);
    if (joint != TH_NO_INDEX) {
        compiled->quat_obstacle = compiled->quat16_obstacle =
            th_arena_format(arena, "joint %s is scaled, sheared or mirrored", model->joints[joint].name);
        return !th_arena_failed(arena);
    }

    /* The products of an op lie side by side. */
    for (uint32_t bone = 0; bone < model->bone_count; bone++)
        b.ops[sources[bone].op].product_count += !is_direct(&b, bone);
    for (uint32_t i = 0; i < program->op_count; i++) {
        b.ops[i].product = quat->product_count;
        quat->product_count += b.ops[i].product_count;
        b.ops[i].product_count = 0;
    }
    const uint32_t used = 2 * model->bone_count, zero = program->op_count + quat->product_count;
    th_quat_product *products = th_arena_new(arena, th_quat_product, quat->product_count);
    uint32_t *rows = th_arena_new(arena, uint32_t, used + TH_CACHE_LINE_ROWS);
    uint32_t *ready = th_arena_new(arena, uint32_t, program->op_count / TH_BLOCK + 1);
    th_dmat34 *pose = th_arena_new(scratch, th_dmat34, model->joint_count);
    reach *reaches = th_arena_new(scratch, reach, model->joint_count);
    if (th_arena_failed(arena) || th_arena_failed(scratch))
        return false;
    for (uint32_t bone = 0; bone < model->bone_count; bone++) {
        uint32_t slot = sources[bone].op;
        float scale = b.ops[slot].scale;
        if (!is_direct(&b, bone)) {
            th_quat_op *op = &b.ops[slot];
            const uint32_t product = op->product + op->product_count++;
            products[product] = product_of(&b, bone);
            scale = products[product].scale;
            slot = program->op_count + product;
        }
        rows[2 * bone] = 2 * slot * TH_ROW_BYTES;
        rows[2 * bone + 1] = (2 * slot + 1) * TH_ROW_BYTES;
        if (fabs((double)scale - 1) > RIGID)
            compiled->quat16_obstacle = "it is scaled as a whole";
    }
    /* Rows that pad the last cache line come from the zeros behind all products. */
    for (uint32_t i = used; i < used + TH_CACHE_LINE_ROWS; i++)
        rows[i] = 2 * zero * TH_ROW_BYTES;
    th_find_ready(program, sources, 2, ready);
    quat->ops = b.ops;
    quat->steps = 1 / th_palette_step(model->size);
    quat->products = products;
    quat->rows = rows;
    quat->ready = ready;
    compiled->program.quat = quat;
    for (uint32_t n = 0; n < compiled->socket_count; n++) {
        th_socket *socket = &compiled->sockets[n];
        for (int i = 0; i < 3 && socket->op != TH_NO_PARENT; i++)
            socket->from_op[TH_POSE_QUATS].m[4 * i + 3] -= (float)b.places[socket->op][i];
    }

    /* Do places stay within the range of 16 bytes? */
    double most = 0;
    th_exact_pose(model, NULL, 0, TH_INTERPOLATION_AUTHORED, pose);
    measure_pose(model, pose, &most);
    for (uint32_t c = 0; c < model->clip_count; c++) {
        const th_clip *clip = &model->clips[c];
        if (stays_near(model, clip, compiled->interpolation, reaches))
            continue;
        const uint32_t fair = RANGE_BUDGET / model->joint_count / (model->clip_count + 1);
        const uint32_t samples = fair < 2 ? 2 : fair > RANGE_SAMPLES ? RANGE_SAMPLES : fair;
        for (uint32_t k = 0; k < samples; k++) {
            th_exact_pose(model, clip, clip->duration_ticks * k / (samples - 1), compiled->interpolation, pose);
            measure_pose(model, pose, &most);
        }
    }
    if (most > RANGE_PART && !compiled->quat16_obstacle)
        compiled->quat16_obstacle = "a clip carries it too far from the origin";
    return true;
}

/* ---- distances of keys ---- */

static void read_key(const th_program *program, const char *frame, size_t at, double out[TH_KEY])
{
    int16_t shorts[TH_KEY];
    float floats[TH_KEY];
    memcpy(floats, frame + at, program->keys == TH_KEYS_32 ? sizeof floats : 0);
    memcpy(shorts, frame + at, program->keys == TH_KEYS_16 ? sizeof shorts : 0);
    for (int i = 0; i < TH_KEY; i++) {
        if (program->keys == TH_KEYS_16) {
            const th_key_range *range = program->ranges + at / sizeof shorts;
            out[i] = (double)range->base[i] + (double)range->span[i] * shorts[i];
        } else {
            out[i] = (double)floats[i];
        }
    }
}

/* The least dot product of neighbouring rotation keys of a clip; 1 if nothing is interpolated between keys. */
static double least_dot(const th_program *program, const th_compiled_clip *compiled_clip, size_t at)
{
    double least = 1;
    for (uint32_t i = 0; compiled_clip->keys && !compiled_clip->is_stepped && i < compiled_clip->interval_count; i++) {
        const char *frame = compiled_clip->keys + (size_t)i * program->frame_bytes;
        double a[TH_KEY], b[TH_KEY];
        read_key(program, frame, at, a);
        read_key(program, frame + program->frame_bytes, at, b);
        least = fmin(least, a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]);
    }
    return least;
}

/* Whether all rotations of all clips are within an eighth of a turn of the rest pose, in four dimensions. */
static bool is_aligned(const th_compiled_model *compiled, size_t at)
{
    const th_program *program = &compiled->program;
    const uint32_t rest = compiled->model->clip_count;
    double axis[TH_KEY], a[TH_KEY];
    if (!compiled->compiled_clips[rest].keys)
        return false;
    read_key(program, compiled->compiled_clips[rest].keys, at, axis);
    for (uint32_t c = 0; c <= rest; c++) {
        const th_compiled_clip *compiled_clip = &compiled->compiled_clips[c];
        for (uint32_t i = 0; compiled_clip->keys && i <= compiled_clip->interval_count; i++) {
            read_key(program, compiled_clip->keys + (size_t)i * program->frame_bytes, at, a);
            if (!(a[0] * axis[0] + a[1] * axis[1] + a[2] * axis[2] + a[3] * axis[3] > 0.7072))
                return false;
        }
    }
    return true;
}

/* Only NLERP: of a slerp and of cubic curves the length is another. */
void th_program_mark_near(th_compiled_model *compiled)
{
    assert(compiled);
    const th_program *program = &compiled->program;
    for (uint32_t i = 0; i < program->op_count && program->curve == TH_INTERPOLATION_NLERP; i++) {
        th_joint_op *op = (th_joint_op *)&program->ops[i];
        double least = op->flags & TH_JOINT_OP_ROTATION ? 1 : -1;
        for (uint32_t c = 0; c <= compiled->model->clip_count && least >= (double)TH_NEAR; c++)
            least = fmin(least, least_dot(program, &compiled->compiled_clips[c], op->key));
        if (least < (double)TH_NEAR)
            continue;
        const bool turns = !(op->flags & (TH_JOINT_OP_SCALE | TH_JOINT_OP_TRANSLATION));
        op->traits = TH_JOINT_OP_NEAR;
        if (is_aligned(compiled, op->key))
            op->traits |= TH_JOINT_OP_ALIGNED | (turns && least >= (double)TH_STEADY ? TH_JOINT_OP_STEADY : 0);
        if (program->quat)
            ((th_quat_op *)&program->quat->ops[i])->flags |= TH_JOINT_OP_NEAR;
    }
}

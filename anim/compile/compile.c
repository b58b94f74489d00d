/* From a model to a compiled model: a program, for which it decides which joints need an op, which of their transforms
 * move, and in which space each is computed; then clips and masks in the order of its ops. */
#include "compiled_data.h"
#include "frames.h"
#include "model/motion.h"
#include "quat.h"
#include "resample.h"

#include <anim/exact.h>

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Tolerances below which a value counts as constant or as one: far below any error bound, above the noise of authored
 * floats. */
#define STILL      1e-6 /* lengths: times the model's size */
#define SAME_SCALE 1e-4
#define SAME_POINT 2.5e-7 /* times the model's size: rounding error of a joint's position relative to its parent */

/* A joint that no clip moves further than this part of the error bound is held still. That is true of most joints in a
 * file whose exporter wrote all channels, with noise. */
#define STILL_PART (1.0 / 16)

/* Limit on the joints posed while measuring, for all clips of a model together, so that a hostile file cannot run
 * forever. Joints whose exact pose is kept from an earlier attempt count half. About four seconds, and up to four times
 * as much for more clips than are usual. A count instead of a time, so that the result does not depend on the machine.
 */
#define TH_COMPILE_BUDGET 20000000
#define USUAL_CLIPS       16.0

/* A space X = scale * [rotation | translation]: see kernels/pose.h. */
typedef struct joint_space {
    double scale, rotation[4], translation[3];
} joint_space;

typedef struct joint_plan {
    bool sheared;      /* the rest transform is more than translation, rotation and scale */
    bool needed;       /* a palette entry or a socket depends on the joint */
    bool has_children; /* and a palette entry on a child of it */
    bool merged;       /* it does not move relative to its parent and has the same M: no op */
    bool fixed;        /* merged into the scene itself: there is no M */
    bool has_channel;  /* in some clip */
    uint16_t moves;    /* th_joint_op_flags: what clips move */
    uint32_t bone, bone_count;
    th_trs rest;
    joint_space space; /* X */
    uint32_t op;       /* the op that computes its M; fixed: TH_NO_PARENT */
} joint_plan;

/* ---- what moves ---- */

static bool differs(const float *value, const double *rest, int width, double tolerance)
{
    for (int i = 0; i < width; i++)
        if (fabs((double)value[i] - rest[i]) > tolerance)
            return true;
    return false;
}

/* Whether a track leaves `rest`. Tangents may leave the straight line between equal keys: one of 1 departs from it by a
 * quarter of the interval at most. */
static bool track_moves(const th_track *track, const double *rest, int width, double tolerance)
{
    static const double still[4];
    double opposite[4];
    for (int i = 0; i < width; i++)
        opposite[i] = -rest[i];
    for (uint32_t k = 0; k < track->key_count; k++) {
        const float *value = track->values + (size_t)k * (size_t)width;
        bool same_rotation = width == 4 && !track->tangents && !differs(value, opposite, 4, tolerance);
        if (!same_rotation && differs(value, rest, width, tolerance))
            return true;
    }
    for (uint32_t k = 0; track->tangents && k + 1 < track->key_count; k++) {
        const float *leave = track->tangents + (2 * (size_t)k + 1) * (size_t)width, *arrive = leave + width;
        const double length = track->times[k + 1] - track->times[k],
                     slope = length > 0 ? tolerance * 4 / length : HUGE_VAL;
        if (differs(leave, still, width, slope) || differs(arrive, still, width, slope))
            return true;
    }
    return false;
}

/* Whether a channel takes a part of its joint's transform away from `rest`. */
static bool part_moves(const th_channel *channel, const th_track *track, const double *rest, double tolerance)
{
    const uint32_t first = track == &channel->translation ? TH_CURVE_TRANSLATION
                           : track == &channel->rotation  ? TH_CURVE_ANGLES
                                                          : TH_CURVE_SCALE;
    return track_moves(track, rest, first == TH_CURVE_ANGLES ? 4 : 3, tolerance) ||
           (channel->curves && track->key_count > 1 && th_curves_bend(channel->curves, first, tolerance));
}

/* Sets what moves and which joints are needed. shift: translations that stay this close to rest do not count as motion.
 * Returns whether any of these is motion and not noise. */
static bool find_moves(const th_model *model, double shift, joint_plan *plans)
{
    assert(shift > 0);
    bool held = false;
    for (uint32_t j = 0; j < model->joint_count; j++) {
        th_dmat34 rest = th_dmat34_from(model->joints[j].rest);
        plans[j].sheared = !model->joints[j].rest_parts && th_dmat34_decompose(&rest, &plans[j].rest) > STILL;
        plans[j].rest = th_joint_rest(&model->joints[j], NULL);
    }
    for (uint32_t c = 0; c < model->clip_count; c++) {
        const th_clip *clip = &model->clips[c];
        for (uint32_t i = 0; i < clip->channel_count; i++) {
            const th_channel *channel = &clip->channels[i];
            joint_plan *p = &plans[channel->joint];
            if (!p->has_channel) {
                p->rest = th_joint_rest(&model->joints[channel->joint], channel);
                p->has_channel = true;
            }
            if (p->sheared) /* no channel can hold this joint still */
                p->moves |= TH_JOINT_OP_ROTATION | TH_JOINT_OP_SCALE | TH_JOINT_OP_TRANSLATION;
            if (part_moves(channel, &channel->translation, p->rest.translation, shift))
                p->moves |= TH_JOINT_OP_TRANSLATION;
            else
                held |= part_moves(channel, &channel->translation, p->rest.translation, STILL * model->size);
            if (part_moves(channel, &channel->rotation, p->rest.rotation, STILL))
                p->moves |= TH_JOINT_OP_ROTATION;
            if (part_moves(channel, &channel->scale, p->rest.scale, STILL))
                p->moves |= TH_JOINT_OP_ROTATION | TH_JOINT_OP_SCALE;
        }
    }
    for (uint32_t b = 0; b < model->bone_count; b++) {
        joint_plan *p = &plans[model->bones[b].joint];
        if (p->bone_count++ == 0)
            p->bone = b;
        p->needed = true;
    }
    for (uint32_t j = model->joint_count; j-- > 0;)
        if (plans[j].needed && model->joints[j].parent != TH_NO_INDEX) {
            joint_plan *parent = &plans[model->joints[j].parent];
            parent->needed = parent->has_children = true;
        }
    return held;
}

/* Of sockets the joints that move and those above them: what stands still below them is a constant of the socket. What
 * becomes of joints that bones need stays as it is. */
static void need_sockets(const th_compiled_model *compiled, joint_plan *plans)
{
    for (uint32_t s = 0; s < compiled->socket_count; s++) {
        bool moves = false;
        for (uint32_t j = compiled->socket_joints[s]; j != TH_NO_INDEX; j = compiled->model->joints[j].parent) {
            moves |= (plans[j].moves & TH_JOINT_OP_MOVES) != 0;
            plans[j].needed |= moves;
        }
    }
}

/* ---- spaces ---- */

static const joint_space NO_SPACE = {.scale = 1, .rotation = {0, 0, 0, 1}};

static th_dmat34 space_matrix(const joint_space *space)
{
    th_trs trs;
    for (int i = 0; i < 3; i++) {
        trs.translation[i] = space->translation[i];
        trs.scale[i] = space->scale;
    }
    memcpy(trs.rotation, space->rotation, sizeof trs.rotation);
    return th_dmat34_from_trs(&trs);
}

/* Reads a matrix as a space. Returns false if it is far from one (mirrored, stretched, sheared). The space need not be
 * exact: any X gives the right palette, a close one saves work. */
static bool space_from(const th_dmat34 *matrix, joint_space *out)
{
    th_trs trs;
    double shear = th_dmat34_decompose(matrix, &trs), scale = trs.scale[1];
    if (!(shear < SAME_SCALE) || !(scale > 1e-9 && scale < 1e9))
        return false;
    for (int i = 0; i < 3; i++)
        if (!(fabs(trs.scale[i] / scale - 1) < SAME_SCALE))
            return false;
    out->scale = scale;
    memcpy(out->rotation, trs.rotation, sizeof out->rotation);
    memcpy(out->translation, trs.translation, sizeof out->translation);
    return true;
}

/* Chooses X of a joint: the space of its first bone, or of the bone it would have at rest. For a joint that moves, D =
 * inverse(parent) T R S own must stay free of scale. If that is impossible, X is the identity and S is applied
 * separately. */
static joint_space choose_space(const th_model *model, const joint_plan *p, const joint_space *parent,
                                const th_dmat34 *rest_pose)
{
    th_dmat34 bone;
    if (p->bone_count > 0)
        bone = th_dmat34_from(model->bones[p->bone].inverse_bind);
    else if (!th_dmat34_invert(rest_pose, &bone))
        return NO_SPACE;
    joint_space space;
    if (!space_from(&bone, &space))
        return NO_SPACE;
    if (!(p->moves & TH_JOINT_OP_MOVES))
        return space;

    if (p->moves & TH_JOINT_OP_SCALE)
        return NO_SPACE;
    double wanted = parent->scale / p->rest.scale[1];
    for (int i = 0; i < 3; i++)
        if (!(fabs(p->rest.scale[i] / p->rest.scale[1] - 1) < SAME_SCALE))
            return NO_SPACE;
    if (!(fabs(space.scale / wanted - 1) < SAME_SCALE))
        return NO_SPACE;
    space.scale = wanted;
    return space;
}

/* Whether a matrix between two spaces is the identity, within tolerance. scale: of these spaces. */
static bool is_identity(th_dmat34 matrix, double scale, double size, double tolerance)
{
    const th_dmat34 identity = TH_DMAT34_IDENTITY;
    /* Translation errors are lengths in mesh space, and the space's scale leads from there to the scene. */
    for (int row = 0; row < 3; row++)
        matrix.m[4 * row + 3] *= scale / size;
    return th_dmat34_distance(&matrix, &identity) < tolerance;
}

static th_dmat34 space_inverse(const joint_space *x)
{
    th_dmat34 matrix = space_matrix(x), inverse = TH_DMAT34_IDENTITY;
    bool invertible = th_dmat34_invert(&matrix, &inverse);
    assert(invertible); /* it is a rotation and a scale within bounds */
    (void)invertible;
    return inverse;
}

/* inverse(X) B: the factor that remains after M. */
static th_dmat34 bone_product(const th_model *model, const joint_space *x, uint32_t bone)
{
    return th_dmat34_mul(space_inverse(x), th_dmat34_from(model->bones[bone].inverse_bind));
}

/* Whether M is the palette entry of a bone, without another product. */
static bool is_direct(const th_model *model, const joint_space *x, uint32_t bone)
{
    return is_identity(bone_product(model, x, bone), x->scale, model->size, STILL);
}

/* A joint that stands still (L = rest) can share its parent's M if X = inverse(L) X_parent, so that D is the identity.
 * It must not if its children need the space of its bone, or if there is no M for its bones. */
static bool can_merge(const th_model *model, const joint_plan *p, const joint_space *parent, bool on_scene,
                      th_dmat34 rest, joint_space *space)
{
    th_dmat34 back;
    if ((p->moves & TH_JOINT_OP_MOVES) || (on_scene && p->bone_count > 0) || !th_dmat34_invert(&rest, &back))
        return false;
    const th_dmat34 matrix = th_dmat34_mul(back, space_matrix(parent));
    if (!space_from(&matrix, space))
        return false;
    const th_dmat34 d = th_dmat34_mul(space_inverse(parent), th_dmat34_mul(rest, space_matrix(space)));
    return is_identity(d, parent->scale, model->size, SAME_POINT) &&
           (p->bone_count == 0 || !p->has_children || is_direct(model, space, p->bone));
}

static const joint_space *parent_space(const th_model *model, const joint_plan *plans, uint32_t joint)
{
    uint32_t parent = model->joints[joint].parent;
    return parent == TH_NO_INDEX ? &NO_SPACE : &plans[parent].space;
}

/* pose: that at rest. */
static void find_spaces(const th_model *model, const th_dmat34 *pose, joint_plan *plans)
{
    for (uint32_t j = 0; j < model->joint_count; j++) {
        joint_plan *p = &plans[j];
        const joint_space *parent = parent_space(model, plans, j);
        const uint32_t above = model->joints[j].parent;
        const bool on_scene = above == TH_NO_INDEX || plans[above].fixed; /* no joint above it moves */
        p->merged = can_merge(model, p, parent, on_scene, th_dmat34_from(model->joints[j].rest), &p->space);
        p->fixed = p->merged && on_scene;
        if (!p->merged)
            p->space = choose_space(model, p, parent, &pose[j]);
        /* The remaining scale needs a key if the rotation has one, even if it is constant. */
        if ((p->moves & TH_JOINT_OP_ROTATION) && memcmp(&p->space, &NO_SPACE, sizeof NO_SPACE) == 0)
            for (int i = 0; i < 3; i++)
                if (fabs(p->rest.scale[i] / parent->scale - 1) > STILL)
                    p->moves |= TH_JOINT_OP_SCALE;
    }
}

/* ---- ops ---- */

/* Vector times the linear part of the inverse of a space. */
static void rotate_back(const joint_space *x, const double v[3], double out[3])
{
    const double *q = x->rotation;
    th_trs trs = {.rotation = {-q[0], -q[1], -q[2], q[3]}, .scale = {1, 1, 1}};
    th_dmat34 rotation = th_dmat34_from_trs(&trs);
    th_dmat34_point(&rotation, v, out);
    for (int i = 0; i < 3; i++)
        out[i] /= x->scale;
}

/* Sets the constant parts of D; keys replace the others. */
static void set_constants(const joint_plan *p, const joint_space *parent, th_dmat34 rest, double size, th_joint_op *op)
{
    th_dmat34 back = space_inverse(parent), own = space_matrix(&p->space);
    if (!(op->flags & TH_JOINT_OP_ROTATION)) {
        th_mat34 d = th_mat34_from(th_dmat34_mul(back, th_dmat34_mul(rest, own)));
        memcpy(op->local, d.m, sizeof op->local);
        return;
    }
    double translation[3], offset[3];
    bool pivots = op->flags == TH_JOINT_OP_ROTATION && op->parent != TH_NO_PARENT;
    th_dmat34_point(&back, p->rest.translation, translation);
    rotate_back(&p->space, p->space.translation, offset);
    for (int i = 0; i < 3; i++) {
        op->local[4 * i + 3] = (float)translation[i];
        op->offset[i] = (float)offset[i];
        if (op->offset[i] != 0)
            op->flags |= TH_JOINT_OP_OFFSET;
        pivots &= fabs(translation[i] + offset[i]) * parent->scale < SAME_POINT * size;
    }
    if (!pivots)
        return;
    op->flags = TH_JOINT_OP_ROTATION | TH_JOINT_OP_PIVOT;
    for (int i = 0; i < 3; i++)
        op->offset[i] = (float)translation[i];
}

static void set_track(const joint_plan *p, const joint_space *parent, th_dmat34 rest, uint32_t joint,
                      th_compiled_track *track)
{
    assert(parent->scale > 0);
    *track = (th_compiled_track){.joint = joint, .flags = p->moves, .rest = p->rest, .scale = 1 / parent->scale};
    for (int i = 0; i < 4; i++) {
        track->before[i] = i < 3 ? -parent->rotation[i] : parent->rotation[i];
        track->after[i] = p->space.rotation[i];
    }
    track->from_parent = space_inverse(parent);
    if (!(p->moves & TH_JOINT_OP_ROTATION)) { /* otherwise the op's offset covers it */
        double turned[3];
        for (int row = 0; row < 3; row++)
            rest.m[4 * row + 3] = 0;
        th_dmat34_point(&rest, p->space.translation, turned);
        rotate_back(parent, turned, track->offset);
    }
}

/* Lists the palette entries of which a clip moves a weight, ascending; returns how many. */
static uint32_t find_moving_entries(const th_model *model, uint32_t *out)
{
    uint32_t count = 0;
    for (uint32_t c = 0; c < model->clip_count; c++)
        for (uint32_t t = 0; t < model->clips[c].weight_track_count; t++) {
            const th_weight_track *track = &model->clips[c].weight_tracks[t];
            /* ever differs from the weight at rest */
            bool moves = track->track.tangents || (track->curves && track->track.key_count > 1);
            for (uint32_t k = 0; k < track->track.key_count; k++)
                moves |= track->track.values[k] != model->weights[track->weight].rest;
            out[track->weight / TH_ENTRY] |= moves;
        }
    for (uint32_t e = 0; e < th_weights_entries(model); e++)
        if (out[e])
            out[count++] = e;
    return count;
}

/* G = M inverse(X) rest, with the rests of joints below the op's, or from the scene on. */
static void make_sockets(th_compiled_model *compiled, const joint_plan *plans)
{
    const th_joint *joints = compiled->model->joints;
    const uint32_t *of = compiled->socket_joints, count = compiled->socket_count;
    compiled->socket_joints = th_arena_copy(compiled->arena, of, count, sizeof *of);
    compiled->sockets = th_arena_new(compiled->arena, th_socket, count);
    for (uint32_t s = 0; s < count && compiled->sockets; s++) {
        uint32_t j = of[s];
        th_dmat34 from = TH_DMAT34_IDENTITY;
        for (; j != TH_NO_INDEX && !plans[j].needed; j = joints[j].parent)
            from = th_dmat34_mul(th_dmat34_from(joints[j].rest), from);
        if (j != TH_NO_INDEX)
            from = th_dmat34_mul(space_inverse(&plans[j].space), from);
        compiled->sockets[s] = (th_socket){j == TH_NO_INDEX ? TH_NO_PARENT : plans[j].op, {th_mat34_from(from)}};
        compiled->sockets[s].from_op[TH_POSE_QUATS] = compiled->sockets[s].from_op[TH_POSE_MATRICES];
    }
}

/* shift: see find_moves. false: out of memory. */
static bool create_program(th_compiled_model *compiled, double shift, th_arena *scratch)
{
    const th_model *model = compiled->model;
    th_program *program = &compiled->program;
    joint_plan *plans = th_arena_new(scratch, joint_plan, model->joint_count);
    th_dmat34 *pose = th_arena_new(scratch, th_dmat34, model->joint_count);
    if (th_arena_failed(scratch))
        return false;
    compiled->holds_shifts = find_moves(model, shift, plans);
    need_sockets(compiled, plans);
    th_exact_pose(model, NULL, 0, TH_INTERPOLATION_AUTHORED, pose);
    find_spaces(model, pose, plans);
    for (uint32_t j = 0; j < model->joint_count; j++) {
        joint_plan *p = &plans[j];
        if (!p->needed)
            continue;
        if (p->merged) {
            p->op = p->fixed ? TH_NO_PARENT : plans[model->joints[j].parent].op;
            continue;
        }
        p->op = program->op_count++;
        compiled->track_count += (p->moves & TH_JOINT_OP_MOVES) != 0;
    }
    make_sockets(compiled, plans);

    const uint32_t weight_entries = th_weights_entries(model), entries = model->bone_count + weight_entries;
    const size_t op_count = (size_t)program->op_count + weight_entries;
    th_joint_op *ops = th_arena_new(compiled->arena, th_joint_op, op_count);
    th_compiled_track *tracks = th_arena_new(compiled->arena, th_compiled_track, compiled->track_count);
    float(*products)[12] = th_arena_alloc(compiled->arena, model->bone_count, sizeof *products);
    uint32_t *rows = th_arena_new(compiled->arena, uint32_t, 3 * entries + TH_CACHE_LINE_ROWS);
    uint32_t *ready = th_arena_new(compiled->arena, uint32_t, op_count / TH_BLOCK + 1);
    uint32_t *moving = th_arena_new(compiled->arena, uint32_t, weight_entries);
    uint32_t *joints = th_arena_new(scratch, uint32_t, op_count); /* by op */
    th_entry_source *sources = th_arena_new(scratch, th_entry_source, entries);
    if (th_arena_failed(compiled->arena) || th_arena_failed(scratch))
        return false;
    program->ops = ops;
    program->products = (const float(*)[12])products;
    program->rows = rows;
    program->ready = ready;
    program->entry_count = entries;
    compiled->tracks = tracks;
    compiled->weight_entries = moving;
    compiled->weight_entry_count = find_moving_entries(model, moving);

    /* Joints: at most 65,535 with 48 bytes of keys each, so that offsets of keys fit into 32 bits. */
    const size_t key_bytes = th_keys_bytes(program->keys);
    size_t key = 0; /* offset in a frame */
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const joint_plan *p = &plans[j];
        const uint32_t above = model->joints[j].parent;
        const joint_space *parent = parent_space(model, plans, j);
        const th_dmat34 rest = th_dmat34_from(model->joints[j].rest);
        if (!p->needed)
            continue;
        assert(key <= UINT32_MAX);
        if (!p->merged) {
            /* Where layers are blended, an op without keys reads some as well, and ignores them: they must be there. */
            ops[p->op] = (th_joint_op){.flags = p->moves,
                                       .parent = above == TH_NO_INDEX ? TH_NO_PARENT : plans[above].op,
                                       .key = p->moves & TH_JOINT_OP_MOVES ? (uint32_t)key : 0};
            /* The kernel runs ops front to back. */
            assert(ops[p->op].parent == TH_NO_PARENT || ops[p->op].parent < p->op);
            set_constants(p, parent, rest, model->size, &ops[p->op]);
            joints[p->op] = j;
        }
        assert(p->bone_count == 0 || p->op != TH_NO_PARENT); /* can_merge keeps joints with bones out of the scene */
        for (uint32_t b = p->bone; b < p->bone + p->bone_count; b++) {
            const bool direct = is_direct(model, &p->space, b);
            sources[b] = (th_entry_source){p->op, direct ? TH_NO_PRODUCT : ops[p->op].product_count++};
        }
        if (!(p->moves & TH_JOINT_OP_MOVES))
            continue;
        set_track(p, parent, rest, j, tracks++);
        key += key_bytes * th_joint_keys(p->moves);
    }
    assert(tracks == compiled->tracks + compiled->track_count);

    /* Morph weights: first those that stay, then those that move. */
    uint32_t still_op = program->op_count, moving_op = still_op + weight_entries - compiled->weight_entry_count;
    for (uint32_t e = 0; e < weight_entries; e++) {
        const bool moves = moving != compiled->weight_entries + compiled->weight_entry_count && *moving == e;
        const uint32_t op = moves ? moving_op++ : still_op++;
        assert(key <= UINT32_MAX);
        ops[op] = (th_joint_op){
            .flags = moves ? TH_JOINT_OP_WEIGHTS : 0, .parent = TH_NO_PARENT, .key = moves ? (uint32_t)key : 0};
        for (uint32_t w = e * TH_ENTRY; !moves && w < (e + 1) * TH_ENTRY && w < model->weight_count; w++)
            ops[op].local[w % TH_ENTRY] = model->weights[w].rest;
        sources[model->bone_count + e] = (th_entry_source){op, TH_NO_PRODUCT};
        key += moves ? TH_ENTRY / TH_KEY * key_bytes : 0;
        moving += moves;
    }
    program->op_count += weight_entries;
    program->frame_bytes = key;

    /* The products of an op lie side by side, including those of joints merged into it. */
    for (uint32_t i = 0; i < program->op_count; i++) {
        ops[i].product = program->product_count;
        program->product_count += ops[i].product_count;
    }
    assert(program->product_count <= model->bone_count);
    for (uint32_t b = 0; b < model->bone_count; b++) {
        if (sources[b].product == TH_NO_PRODUCT)
            continue;
        const th_dmat34 product = bone_product(model, &plans[model->bones[b].joint].space, b);
        memcpy(products[ops[sources[b].op].product + sources[b].product], th_mat34_from(product).m, sizeof *products);
    }

    /* Rows that pad the last cache line come from the zero matrix. */
    const uint32_t zero = 3 * (th_program_results(program, TH_POSE_MATRICES) - 1) * TH_ROW_BYTES;
    for (uint32_t i = 0; i < 3 * entries; i++) {
        const th_entry_source from = sources[i / 3];
        const uint32_t product = program->op_count + ops[from.op].product + from.product;
        rows[i] = (3 * (from.product == TH_NO_PRODUCT ? from.op : product) + i % 3) * TH_ROW_BYTES;
    }
    for (uint32_t i = 3 * entries; i < 3 * entries + TH_CACHE_LINE_ROWS; i++)
        rows[i] = zero;
    th_find_ready(program, sources, 3, ready);
    return th_quat_program_create(compiled, joints, sources, scratch);
}

/* ---- clips ----
 *
 * They share a budget of work, so what becomes of a clip depends on those before it. Side by side each is tried as if
 * it were the first. Afterwards they are taken in order: if the budget that is left would have been enough for what a
 * clip took, then it would have come out the same; otherwise it is compiled again with what is left. So the result is
 * that of one after the other. */

enum { MOST_WORKERS = 16 }; /* each may keep exact palettes of 64 MB */

/* A clip that was tried as if it were the first. */
typedef struct trial {
    bool tried;
    int64_t used;
    th_resampled resampled;
} trial;

typedef struct clip_run {
    th_compiled_model *compiled;
    th_resampler *workers[MOST_WORKERS];
    uint32_t worker_count, clip_count; /* with the rest pose */
    int64_t budget;
    trial *trials;
    atomic_uint next;
    atomic_llong left; /* of the budget, if all trials count */
} clip_run;

/* Takes the next clip until there is none, or until trials have spent the budget. */
static void try_clips(uint32_t worker, void *ctx)
{
    clip_run *run = ctx;
    for (uint32_t i; atomic_load(&run->left) > 0 && (i = atomic_fetch_add(&run->next, 1)) < run->clip_count;) {
        int64_t budget = run->budget;
        trial *t = &run->trials[i];
        t->resampled = th_resample_clip(run->workers[worker], run->compiled->compiled_clips[i].clip, &budget);
        t->used = run->budget - budget;
        t->tried = true;
        atomic_fetch_sub(&run->left, t->used);
    }
}

static size_t track_bytes(const th_track *track, size_t width)
{
    return track->key_count * sizeof(float) * (1 + width + (track->tangents ? 2 * width : 0));
}

static size_t layer_bytes(const th_curve_layer *layers, uint32_t layer_count, uint32_t curve_count)
{
    size_t keys = 0;
    for (uint32_t l = 0; l < layer_count; l++) {
        keys += layers[l].weight.key_count;
        for (uint32_t i = 0; i < curve_count; i++)
            keys += layers[l].curves[i].key_count;
    }
    return keys * sizeof(float) * (2 + 4); /* with leave and arrive, of time and value */
}

/* Of curves instead of the tracks that were made of them. */
static size_t raw_bytes(const th_clip *clip)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < clip->channel_count; i++) {
        const th_channel *channel = &clip->channels[i];
        bytes += channel->curves
                     ? layer_bytes(channel->curves->layers, channel->curves->layer_count, TH_TRANSFORM_CURVES)
                     : track_bytes(&channel->translation, 3) + track_bytes(&channel->rotation, 4) +
                           track_bytes(&channel->scale, 3);
    }
    for (uint32_t t = 0; t < clip->weight_track_count; t++) {
        const th_weight_track *track = &clip->weight_tracks[t];
        bytes += track->curves ? layer_bytes(track->curves->layers, track->curves->layer_count, 1)
                               : track_bytes(&track->track, 1);
    }
    return bytes;
}

/* Keeps what a clip has become, and says so. If no rate meets the bound, leaves it exact and sets the reason. */
static bool keep_clip(th_compiled_model *compiled, const th_resampled *a, uint32_t i)
{
    th_clip_report *report = &compiled->reports[i];
    report->reason = a->reason;
    if (!a->keys)
        return !a->out_of_memory;
    assert(a->worst.error <= compiled->bound);
    const th_clip *clip = a->compiled_clip.clip;
    const uint32_t intervals = a->compiled_clip.interval_count;
    const double ticks_per_second = clip ? clip->ticks_per_second : 1, duration = clip ? clip->duration_ticks : 0;
    report->compiled = true;
    report->reason = "";
    report->frame_count = intervals + 1;
    report->stretch_count = a->compiled_clip.stretch_count;
    report->rate_hz = duration > 0 ? intervals / duration * ticks_per_second : 0;
    report->bytes = th_frames_count(&compiled->program, intervals) * compiled->program.frame_bytes;
    report->max_error = a->worst.error;
    report->error_joint = a->worst.joint;
    report->error_time_s = a->worst.ticks / ticks_per_second;
    compiled->compiled_clips[i] = a->compiled_clip;
    compiled->compiled_clips[i].keys = th_arena_copy(compiled->arena, a->keys, report->bytes, 1);
    free(a->keys);
    return compiled->compiled_clips[i].keys != NULL;
}

/* *budget: how many joints may be posed; reduced by the number used. */
static bool compile_clips(th_compiled_model *compiled, const th_compiled_model_desc *desc, int64_t *budget)
{
    const th_model *model = compiled->model;
    const uint32_t count = model->clip_count + 1;
    compiled->compiled_clips = th_arena_new(compiled->arena, th_compiled_clip, count);
    compiled->reports = th_arena_new(compiled->arena, th_clip_report, count);
    if (th_arena_failed(compiled->arena))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const th_clip *clip = i < model->clip_count ? &model->clips[i] : NULL;
        compiled->compiled_clips[i].clip = clip;
        compiled->reports[i].raw_bytes = clip ? raw_bytes(clip) : 0;
        compiled->reports[i].reason = "asked for";
    }
    if (compiled->program.keys == TH_KEYS_16 && !th_frames_find_ranges(compiled, budget))
        return false;
    if (desc->sampling != TH_SAMPLING_COMPILED)
        return true;

    /* What is left of a limit on memory depends on the clips before, too. */
    const uint32_t most = desc->parallel && desc->max_bytes == 0 ? MOST_WORKERS : 1;
    clip_run run = {.compiled = compiled, .clip_count = count, .budget = *budget};
    atomic_init(&run.left, *budget);
    run.trials = calloc(count, sizeof *run.trials);
    bool ok = run.trials != NULL;
    for (; ok && run.worker_count < most && run.worker_count < count; run.worker_count++)
        ok = (run.workers[run.worker_count] = th_resampler_create(compiled)) != NULL;
    if (ok && run.worker_count > 1)
        desc->parallel(run.worker_count, try_clips, &run, desc->parallel_ctx);
    for (uint32_t i = 0, frames = 0; ok && i < count; i++) {
        th_compiled_clip *compiled_clip = &compiled->compiled_clips[i];
        trial *t = &run.trials[i];
        const bool counts = t->tried && t->used < *budget;
        *budget -= counts ? t->used : 0;
        t->tried &= !counts; /* what it allocated is kept */
        const th_resampled resampled =
            counts ? t->resampled : th_resample_clip(run.workers[0], compiled_clip->clip, budget);
        ok = keep_clip(compiled, &resampled, i);
        compiled_clip->first_frame = frames;
        frames += compiled_clip->keys ? th_frames_count(&compiled->program, compiled_clip->interval_count) : 0;
    }
    for (uint32_t i = 0; i < run.worker_count; i++)
        th_resampler_destroy(run.workers[i]);
    for (uint32_t i = 0; run.trials && i < count; i++)
        if (run.trials[i].tried)
            free(run.trials[i].resampled.keys);
    free(run.trials);
    return ok;
}

/* ---- the compiled model ---- */

/* Masks in the order of ops. */
static bool compile_masks(th_compiled_model *compiled)
{
    const th_program *program = &compiled->program;
    const size_t blocks = (program->op_count + TH_BLOCK - 1) / TH_BLOCK;
    compiled->mask_weights = th_arena_new(compiled->arena, const float *, compiled->mask_count + 1);
    for (uint32_t m = 0; compiled->mask_weights && m <= compiled->mask_count; m++) {
        const float *mask = m < compiled->mask_count ? compiled->masks[m].weights : NULL;
        const th_compiled_track *track = compiled->tracks;
        float *weights = th_arena_new(compiled->arena, float, blocks *TH_BLOCK);
        for (uint32_t i = 0; weights && i < program->op_count; i++) {
            const bool moves = program->ops[i].flags & TH_JOINT_OP_MOVES;
            weights[i] = mask && moves ? mask[track->joint] : 1;
            track += moves;
        }
        compiled->mask_weights[m] = weights;
    }
    return !th_arena_failed(compiled->arena);
}

/* *budget: see th_resample_clip. */
static th_result create_compiled(const th_compiled_model_desc *desc, const th_compiled_more *more, double bound,
                                 double shift, int64_t *budget, th_compiled_model **out, th_error *err)
{
    th_arena *arena = th_arena_create(), *scratch = th_arena_create();
    th_compiled_model *compiled = th_arena_new(arena, th_compiled_model, 1);
    *out = NULL;
    if (!compiled) {
        th_arena_destroy(arena);
        th_arena_destroy(scratch);
        return th_fail(err, TH_ERR_MEMORY, "%s: out of memory", desc->model->name);
    }
    *compiled = (th_compiled_model){.model = desc->model,
                                    .authored = desc->model,
                                    .interpolation = desc->interpolation,
                                    .max_bytes = desc->max_bytes,
                                    .masks = desc->masks,
                                    .mask_count = desc->mask_count,
                                    .socket_joints = desc->sockets,
                                    .socket_count = desc->socket_count,
                                    .bound = bound,
                                    .arena = arena};
    compiled->program.keys = desc->keys;
    compiled->program.curve = desc->interpolation ? desc->interpolation : TH_INTERPOLATION_NLERP;
    const th_compiled_model *as = more->in_place_as;
    const th_in_place_source source = as ? (th_in_place_source){as->authored, as->model} : (th_in_place_source){0};
    bool ok = (!desc->in_place ||
               th_model_in_place(desc->model, desc->interpolation, as ? &source : NULL, arena, &compiled->model)) &&
              create_program(compiled, shift, scratch);
    th_arena_destroy(scratch);
    ok = ok && compile_clips(compiled, desc, budget);
    if (ok && more->repertoire) {
        const th_result result =
            th_repertoire_create(compiled->model, compiled->interpolation, &compiled->repertoire, err);
        if (result != TH_OK) {
            th_compiled_model_destroy(compiled);
            return result;
        }
        compiled->masks = compiled->repertoire->masks;
        compiled->mask_count = compiled->repertoire->mask_count;
    }
    if (!ok || !compile_masks(compiled)) {
        th_compiled_model_destroy(compiled);
        return th_fail(err, TH_ERR_MEMORY, "%s: out of memory", desc->model->name);
    }
    th_program_mark_near(compiled);
    *out = compiled;
    return TH_OK;
}

static const char *wrong_field(const th_compiled_model_desc *d)
{
    if (!d->model || !d->model->arena)
        return "model";
    for (uint32_t m = 0; d->masks && m < d->mask_count && m < TH_MAX_MASKS; m++) {
        const float *weights = d->masks[m].weights;
        for (uint32_t j = 0; j < (weights ? d->model->joint_count : 1); j++)
            if (!weights || !(weights[j] >= 0 && weights[j] <= 1))
                return "masks";
    }
    return (unsigned)d->sampling > TH_SAMPLING_EXACT                          ? "sampling"
           : (unsigned)d->interpolation >= TH_INTERPOLATION_COUNT             ? "interpolation"
           : (unsigned)d->keys >= TH_KEYS_COUNT                               ? "keys"
           : !(d->bound_m >= 0 && isfinite(d->bound_m))                       ? "bound_m"
           : !(d->effort >= 0)                                                ? "effort"
           : d->mask_count > TH_MAX_MASKS || (d->mask_count > 0 && !d->masks) ? "mask_count"
           : d->socket_count > 0 && !d->sockets                               ? "sockets"
           : !th_reserved_is_zero(d->reserved)                                ? "reserved"
                                                                              : NULL;
}

/* Holds small shifts still first, and compiles again with all motion if that is why a clip misses its bound. */
th_result th_compiled_model_create_with(const th_compiled_model_desc *desc, const th_compiled_more *more,
                                        th_compiled_model **out, th_error *err)
{
    if (!TH_VALID(desc && out))
        return th_fail(err, TH_ERR_USAGE, "th_compiled_model_create: desc or out is NULL");
    *out = NULL;
    if (!TH_VALID(!wrong_field(desc)))
        return th_fail(err, TH_ERR_USAGE, "th_compiled_model_desc.%s is not valid", wrong_field(desc));
    assert(!more->repertoire || desc->mask_count == 0);
    for (uint32_t s = 0; s < desc->socket_count; s++)
        if (desc->sockets[s] >= desc->model->joint_count)
            return th_fail(err, TH_ERR_USAGE, "%s: no joint %u for a socket, it has %u", desc->model->name,
                           desc->sockets[s], desc->model->joint_count);
    const double bound_m = desc->bound_m > 0 ? desc->bound_m : TH_DEFAULT_BOUND_M;
    const double bound = bound_m / TH_REFERENCE_SIZE_M * desc->model->size, noise = STILL * desc->model->size;
    const double shift = fmax(noise, bound * STILL_PART);
    const double effort = desc->effort > 0 ? desc->effort : 1, clips = desc->model->clip_count / USUAL_CLIPS;
    int64_t budget = (int64_t)fmin(ceil(TH_COMPILE_BUDGET * effort * fmax(1, fmin(4, clips))), 0x1p62);
    th_result result = create_compiled(desc, more, bound, shift, &budget, out, err);
    if (result != TH_OK || desc->sampling == TH_SAMPLING_EXACT || th_compiled_model_exact_clips(*out) == 0 ||
        !(*out)->holds_shifts)
        return result;
    th_compiled_model *strict, *worse;
    if (create_compiled(desc, more, bound, noise, &budget, &strict, NULL) != TH_OK)
        return TH_OK;
    worse = th_compiled_model_exact_clips(strict) < th_compiled_model_exact_clips(*out) ? *out : strict;
    *out = worse == strict ? *out : strict;
    th_compiled_model_destroy(worse);
    return TH_OK;
}

th_result th_compiled_model_create(const th_compiled_model_desc *desc, th_compiled_model **out, th_error *err)
{
    return th_compiled_model_create_with(desc, &(th_compiled_more){0}, out, err);
}

void th_compiled_model_destroy(th_compiled_model *compiled)
{
    if (!compiled)
        return;
    th_repertoire_destroy(compiled->repertoire);
    th_arena_destroy(compiled->arena);
}

const th_model *th_compiled_model_source(const th_compiled_model *compiled)
{
    assert(compiled);
    return compiled->model;
}

double th_compiled_model_bound(const th_compiled_model *compiled)
{
    return TH_VALID(compiled) ? compiled->bound : 0;
}

th_interpolation th_compiled_model_interpolation(const th_compiled_model *compiled)
{
    assert(compiled);
    return compiled->interpolation;
}

const th_repertoire *th_compiled_model_repertoire(const th_compiled_model *compiled)
{
    assert(compiled);
    return compiled->repertoire;
}

const th_mask *th_compiled_model_masks(const th_compiled_model *compiled, uint32_t *out_count)
{
    assert(compiled && out_count);
    *out_count = compiled->mask_count;
    return compiled->masks;
}

const uint32_t *th_compiled_model_sockets(const th_compiled_model *compiled, uint32_t *count)
{
    assert(compiled && count);
    *count = compiled->socket_count;
    return compiled->socket_joints;
}

const th_clip_report *th_compiled_model_clip_report(const th_compiled_model *compiled, uint32_t clip)
{
    return TH_VALID(compiled && clip < compiled->model->clip_count) ? &compiled->reports[clip] : NULL;
}

uint32_t th_compiled_model_exact_clips(const th_compiled_model *compiled)
{
    assert(compiled);
    uint32_t count = 0;
    for (uint32_t c = 0; c < compiled->model->clip_count; c++)
        count += !compiled->reports[c].compiled;
    return count;
}

double th_compiled_model_bytes_per_clip(const th_compiled_model *compiled)
{
    assert(compiled);
    size_t bytes = 0;
    for (uint32_t c = 0; c < compiled->model->clip_count; c++)
        bytes += compiled->reports[c].compiled ? compiled->reports[c].bytes : 0;
    return (double)bytes / (compiled->model->clip_count - th_compiled_model_exact_clips(compiled));
}

const char *th_compiled_model_obstacle(const th_compiled_model *compiled, th_format palette)
{
    if (!TH_VALID(compiled && (unsigned)palette < TH_FORMAT_COUNT))
        return "there is no such format";
    if (palette == TH_FORMAT_QUAT16)
        return compiled->quat16_obstacle;
    return palette == TH_FORMAT_QUAT ? compiled->quat_obstacle : NULL;
}

size_t th_compiled_model_bytes(const th_compiled_model *compiled)
{
    if (!TH_VALID(compiled))
        return 0;
    return th_arena_bytes(compiled->arena) + th_repertoire_bytes(compiled->repertoire, compiled->model);
}

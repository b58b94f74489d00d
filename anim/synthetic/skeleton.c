/* Hierarchy and rest pose. */
#include "parts.h"

#include <throng/anim/exact.h>

#include <assert.h>
#include <stdlib.h>

#define GOLDEN_RATIO 0.6180339887498949 /* turns between limbs, so that a limb is never above one of the last few */

#define THICKEST_M 0.09
#define THINNEST_M 0.004
#define TREE_DEPTH 12 /* a human with fingers has 11 */

/* Bones are written front to back, so that a subtree is contiguous. */
typedef struct grower {
    const th_synthetic_desc *desc;
    th_synthetic_bone *bones;
    uint32_t count, limbs, depth;
} grower;

/* A number from low to high, both included. unit: in [0, 1). */
static uint32_t between(double unit, uint32_t low, uint32_t high)
{
    assert(unit >= 0 && unit < 1 && low <= high);
    return low + (uint32_t)(unit * (high - low + 1));
}

static double chance(const grower *g, uint64_t stream, uint64_t n)
{
    return th_random_unit(th_random_bits(g->desc->seed, stream), n);
}

/* Rotates by `tilt` away from the parent's axis, to the side `around`; both in turns. */
static void lean(double tilt, double around, double out[4])
{
    double turn[4];
    turn_about(1, around, out);
    turn_about(0, tilt, turn);
    th_quat_mul(out, turn, out);
}

static uint32_t add_bone(grower *g, uint32_t parent, bool side)
{
    const uint32_t index = g->count++, level = parent == TH_NO_INDEX ? 0 : g->bones[parent].level + 1;
    assert(index < g->desc->joints && (parent == TH_NO_INDEX || parent < index));
    th_synthetic_bone *bone = &g->bones[index];
    /* Shorter towards the tips: 1 at the root, 0.6 at full depth. The longest path adds up to the height. */
    const double share = 1 - 0.4 * level / g->depth, all = g->depth - 0.2 * (g->depth - 1);
    *bone = (th_synthetic_bone){.parent = parent, .level = level, .length = HEIGHT_M * share / all};
    if (parent != TH_NO_INDEX)
        bone->offset = g->bones[parent].length;
    const double by = chance(g, STREAM_BENDS, index);
    if (side)
        lean(0.06 + 0.12 * by, g->limbs++ * GOLDEN_RATIO, bone->rotation);
    else
        lean(parent == TH_NO_INDEX ? 0 : 0.05 * by / sqrt(g->depth), index * GOLDEN_RATIO, bone->rotation);
    return index;
}

/* ---- trees ---- */

static void grow_limb(grower *g, uint32_t parent, uint32_t joints, uint32_t length, bool side);

/* Adds limbs of `joints` in total to one bone, of at most `levels` each. */
static void grow_sides(grower *g, uint32_t parent, uint32_t joints, uint32_t levels)
{
    assert(levels > 0);
    while (joints > 0) {
        const double large = chance(g, STREAM_LIMBS, 2 * (uint64_t)g->count);
        const double far = chance(g, STREAM_LIMBS, 2 * (uint64_t)g->count + 1);
        uint32_t most = joints < 3 * levels ? joints : 3 * levels;
        uint32_t size = levels == 1 ? 1 : between(large, most < 8 ? most : 8, most);
        uint32_t reach = size < levels ? size : levels;
        uint32_t length = between(far, reach - reach / 3, reach);
        grow_limb(g, parent, size, length, true);
        joints -= size;
    }
}

/* A limb of `length` bones, at least 2 if `joints` is. The remaining joints branch off, at most as far out as the limb
 * itself. Half of its bones have no branches, the others three times their share: few limbs, but large ones. */
static void grow_limb(grower *g, uint32_t parent, uint32_t joints, uint32_t length, bool side)
{
    assert(length > 0 && length <= joints);
    uint32_t left = joints - length;
    for (uint32_t i = 0; i < length; i++) {
        parent = add_bone(g, parent, side && i == 0);
        const uint32_t levels = length - 1 - i; /* beyond this bone */
        const bool bare = levels > 3 && chance(g, STREAM_LIMBS, ~(uint64_t)parent) < 0.5;
        if (levels == 0 || bare)
            continue;
        const uint32_t here = levels > 3 ? left * 3 / levels : left;
        grow_sides(g, parent, here, levels);
        left -= here;
    }
}

/* The cross-sections of branches add up to that of the branch they come from (after Leonardo da Vinci, Notebooks, J. P.
 * Richter 1883, 394). */
static void set_radii(th_synthetic_bone *bones, uint32_t count)
{
    assert(count > 0 && count <= TH_SYNTHETIC_MAX_JOINTS);
    uint32_t grown[TH_SYNTHETIC_MAX_JOINTS] = {0}; /* number of joints at and below each joint */
    for (uint32_t j = count; j-- > 0;) {
        grown[j]++;
        if (j > 0)
            grown[bones[j].parent] += grown[j];
        bones[j].radius = THINNEST_M + (THICKEST_M - THINNEST_M) * sqrt((double)grown[j] / count);
        if (bones[j].tip_radius == 0)
            bones[j].tip_radius = bones[j].radius / 2;
        if (j > 0 && bones[bones[j].parent].tip_radius < bones[j].radius)
            bones[bones[j].parent].tip_radius = bones[j].radius;
    }
}

/* ---- stars ---- */

/* Rays in evenly spread directions (Fibonacci lattice: A. Gonzalez, Measurement of Areas on a Sphere Using Fibonacci
 * and Latitude-Longitude Lattices, 2010). */
static void lay_star(th_synthetic_bone *bones, uint32_t count)
{
    assert(count > 0);
    const double hub = 0.12, rays = count - 1;
    bones[0] = (th_synthetic_bone){.parent = TH_NO_INDEX, .rotation = {0, 0, 0, 1}, .length = hub, .radius = hub};
    bones[0].offset = HEIGHT_M / 2 - hub / 2;
    bones[0].tip_radius = hub;
    for (uint32_t j = 1; j < count; j++) {
        const double cosine = 1 - 2 * (j - 0.5) / rays,
                     tilt[4] = {sqrt((1 - cosine) / 2), 0, 0, sqrt((1 + cosine) / 2)};
        const double radius = fmin(0.4 * hub, hub * sqrt(2.5 / rays));
        bones[j] =
            (th_synthetic_bone){.parent = 0, .level = 1, .offset = hub / 2, .length = HEIGHT_M / 2, .radius = radius};
        bones[j].tip_radius = radius / 4;
        turn_about(1, j * GOLDEN_RATIO, bones[j].rotation);
        th_quat_mul(bones[j].rotation, tilt, bones[j].rotation);
    }
}

uint32_t th_synthetic_depth(const th_synthetic_desc *desc)
{
    assert(desc && (unsigned)desc->shape < TH_SYNTHETIC_SHAPE_COUNT);
    uint32_t depth = desc->depth ? desc->depth : TREE_DEPTH;
    if (desc->shape == TH_SYNTHETIC_CHAIN)
        depth = desc->joints;
    else if (desc->shape == TH_SYNTHETIC_STAR)
        depth = 2;
    return depth < desc->joints ? depth : desc->joints;
}

void th_synthetic_lay_bones(const th_synthetic_desc *desc, th_synthetic_bone *bones)
{
    assert(desc && bones && desc->joints > 0);
    if (desc->shape == TH_SYNTHETIC_STAR) {
        lay_star(bones, desc->joints);
        return;
    }
    grower g = {.desc = desc, .bones = bones, .depth = th_synthetic_depth(desc)};
    grow_limb(&g, TH_NO_INDEX, desc->joints, g.depth, false);
    assert(g.count == desc->joints);
    set_radii(bones, desc->joints);
}

/* ---- joints ---- */

bool th_synthetic_add_skeleton(th_model *model, const th_synthetic_bone *bones, uint32_t count)
{
    assert(model && model->arena && !model->joints && bones && count > 0);
    th_joint *joints = th_arena_new(model->arena, th_joint, count);
    th_bone *model_bones = th_arena_new(model->arena, th_bone, count);
    th_dmat34 *pose = calloc(count, sizeof *pose);
    bool built = joints && model_bones && pose;
    for (uint32_t j = 0; built && j < count; j++) {
        const th_synthetic_bone *b = &bones[j];
        const th_trs rest = {.translation = {0, b->offset, 0},
                             .rotation = {b->rotation[0], b->rotation[1], b->rotation[2], b->rotation[3]},
                             .scale = {1, 1, 1}};
        joints[j] = (th_joint){.name = th_arena_format(model->arena, "joint_%03u", j),
                               .parent = b->parent,
                               .rest = th_mat34_from(th_dmat34_from_trs(&rest))};
        built = joints[j].name != NULL;
    }
    model->joints = joints;
    model->joint_count = count;
    if (built)
        th_exact_pose(model, NULL, 0, TH_INTERPOLATION_AUTHORED, pose);
    for (uint32_t j = 0; built && j < count; j++) {
        th_dmat34 inverse = TH_DMAT34_IDENTITY;
        th_dmat34_invert(&pose[j], &inverse);
        model_bones[j] = (th_bone){.joint = j, .inverse_bind = th_mat34_from(inverse)};
    }
    free(pose);
    model->bones = model_bones;
    model->bone_count = count;
    return built;
}

/* FBX pivots: one joint for each node of the file.
 *
 * The transform of an FBX node is a product of up to eleven parts (Autodesk, FBX SDK Help, "Computing transformation
 * matrices"):
 *
 *    Translation RotationOffset RotationPivot PreRotation Rotation PostRotation^-1 RotationPivot^-1
 *      ScalingOffset ScalingPivot Scaling ScalingPivot^-1
 *
 * Assimp turns it into a chain of nodes, X_$AssimpFbx$_Translation and so on, down to X. What clips do with such a
 * chain depends on Assimp's version and on the node:
 *
 *    a channel for X         holds the whole local transform; the parts above must not apply again (assimp#3390; in
 *                            5.2.5 all nodes without pivots, that is all of Mixamo's). Its rotation is PreRotation *
 *                            Rotation * PostRotation, with the last one not inverted.
 *    channels for parts      each holds its part (6.0.5: all nodes with a chain).
 *
 * The choice depends on the node alone, so a node never has both kinds.
 *
 * A chain whose parts do not move, or that has no pivots, is a translation, a rotation and a scale: it becomes one
 * joint, X, and one channel. A node that rotates or scales about a pivot while it moves stays a chain.
 *
 * Geometric transforms (GeometricTranslation, ...) move the mesh of a node, but neither its children nor the meshes
 * skinned to it. Assimp puts them above X and their inverses below. Here they become a child of X that holds the
 * meshes, and a factor of the inverse bind matrices of skinned meshes. */
#include "fbx_records.h"

#include <assimp/cimport.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TAG "_$AssimpFbx$_"

/* In the order of the product. */
enum part {
    TRANSLATION,
    ROTATION_OFFSET,
    ROTATION_PIVOT,
    PRE_ROTATION,
    ROTATION,
    POST_ROTATION,
    ROTATION_PIVOT_INVERSE,
    SCALING_OFFSET,
    SCALING_PIVOT,
    SCALING,
    SCALING_PIVOT_INVERSE,
    GEOMETRIC_TRANSLATION,
    GEOMETRIC_ROTATION,
    GEOMETRIC_SCALING,
    PART_COUNT,
    WHOLE = PART_COUNT /* the channel of the node itself */
};

static const char *const part_names[PART_COUNT] = {
    "Translation",         "RotationOffset",       "RotationPivot",     "PreRotation",      "Rotation",
    "PostRotation",        "RotationPivotInverse", "ScalingOffset",     "ScalingPivot",     "Scaling",
    "ScalingPivotInverse", "GeometricTranslation", "GeometricRotation", "GeometricScaling",
};

/* A node of the file, as the chain of nodes that Assimp makes of it. */
typedef struct chain {
    struct aiNode *part[PART_COUNT]; /* NULL: the node has no such part */
    struct aiNode *node;
} chain;

/* The channels of one clip: those of the file, sorted by name, and their replacements. */
typedef struct channels {
    uint32_t count, added_count;
    struct aiNodeAnim **sorted, **added;
} channels;

/* ---- names ---- */

static const char *find_tag(const struct aiNode *node)
{
    return strstr(node->mName.data, TAG);
}

/* PART_COUNT if the node is not part of a chain. */
static enum part part_of(const struct aiNode *node)
{
    const char *tag = find_tag(node);
    enum part p = 0;
    while (tag && p < PART_COUNT && strcmp(tag + strlen(TAG), part_names[p]) != 0)
        p++;
    return tag ? p : PART_COUNT;
}

static bool is_part_of(const struct aiNode *part, const struct aiNode *node)
{
    const char *tag = find_tag(part);
    size_t length = tag ? (size_t)(tag - part->mName.data) : 0;
    return tag && node->mName.length == length && memcmp(part->mName.data, node->mName.data, length) == 0;
}

/* ---- channels ---- */

static int compare_channels(const void *a, const void *b)
{
    const struct aiNodeAnim *const *x = a, *const *y = b;
    return strcmp((*x)->mNodeName.data, (*y)->mNodeName.data);
}

static channels *sort_channels(scene *s)
{
    channels *all = make(s, channels, s->ai->mNumAnimations);
    for (unsigned a = 0; a < s->ai->mNumAnimations; a++) {
        const struct aiAnimation *clip = s->ai->mAnimations[a];
        uint32_t count = clip->mNumChannels;
        all[a] = (channels){.count = count, .sorted = make(s, struct aiNodeAnim *, count)};
        if (count > 0)
            memcpy(all[a].sorted, clip->mChannels, count * sizeof *all[a].sorted);
        qsort(all[a].sorted, count, sizeof *all[a].sorted, compare_channels);
    }
    return all;
}

/* NULL if the clip does not move this part of the node. */
static struct aiNodeAnim *find_channel(const channels *clip, const chain *c, enum part part)
{
    const struct aiNode *node = part == WHOLE ? c->node : c->part[part];
    if (!node)
        return NULL;
    struct aiNodeAnim key = {.mNodeName = node->mName}, *wanted = &key;
    struct aiNodeAnim **found =
        bsearch(&wanted, clip->sorted, clip->count, sizeof(struct aiNodeAnim *), compare_channels);
    return found ? *found : NULL;
}

static void add_channel(scene *s, channels *clip, struct aiNodeAnim *channel)
{
    if (clip->added_count % 64 == 0) {
        struct aiNodeAnim **grown = make(s, struct aiNodeAnim *, clip->added_count + 64);
        if (clip->added_count > 0)
            memcpy(grown, clip->added, clip->added_count * sizeof *grown);
        clip->added = grown;
    }
    clip->added[clip->added_count++] = channel;
}

/* A dropped channel is marked by having no keys; Assimp never returns such channels. */
static void drop_channel(struct aiNodeAnim *channel)
{
    channel->mNumPositionKeys = channel->mNumRotationKeys = channel->mNumScalingKeys = 0;
}

static bool was_dropped(const struct aiNodeAnim *channel)
{
    return channel->mNumPositionKeys + channel->mNumRotationKeys + channel->mNumScalingKeys == 0;
}

/* Sets the clip's channel list, without the dropped ones and with the added ones. */
static void write_channels(scene *s, const channels *clip, struct aiAnimation *out)
{
    struct aiNodeAnim **list = make(s, struct aiNodeAnim *, clip->count + clip->added_count);
    uint32_t count = 0;
    for (uint32_t c = 0; c < clip->count; c++)
        if (!was_dropped(out->mChannels[c]))
            list[count++] = out->mChannels[c];
    for (uint32_t c = 0; c < clip->added_count; c++)
        list[count++] = clip->added[c];
    out->mChannels = list;
    out->mNumChannels = count;
}

static bool has_pivots(const chain *c)
{
    return c->part[ROTATION_PIVOT] || c->part[ROTATION_PIVOT_INVERSE] || c->part[SCALING_OFFSET] ||
           c->part[SCALING_PIVOT] || c->part[SCALING_PIVOT_INVERSE];
}

static bool moves_in_parts(const scene *s, const channels *all, const chain *c)
{
    for (unsigned a = 0; a < s->ai->mNumAnimations; a++)
        for (enum part p = 0; p < PART_COUNT; p++)
            if (find_channel(&all[a], c, p))
                return true;
    return false;
}

/* ---- arithmetic ---- */

static th_dmat34 matrix_of(const struct aiMatrix4x4 *m)
{
    return (th_dmat34){{(double)m->a1, (double)m->a2, (double)m->a3, (double)m->a4, (double)m->b1, (double)m->b2,
                        (double)m->b3, (double)m->b4, (double)m->c1, (double)m->c2, (double)m->c3, (double)m->c4}};
}

static struct aiMatrix4x4 to_assimp(const th_dmat34 *d)
{
    const th_mat34 m = th_mat34_from(*d);
    return (struct aiMatrix4x4){m.m[0], m.m[1], m.m[2],  m.m[3],  m.m[4], m.m[5], m.m[6], m.m[7],
                                m.m[8], m.m[9], m.m[10], m.m[11], 0,      0,      0,      1};
}

/* Product of the rest transforms of parts [first, end). */
static th_dmat34 product(const chain *c, enum part first, enum part end)
{
    th_dmat34 all = TH_DMAT34_IDENTITY;
    for (enum part p = first; p < end; p++)
        if (c->part[p])
            all = th_dmat34_mul(all, matrix_of(&c->part[p]->mTransformation));
    return all;
}

/* The rotation of a part that is a pure rotation. */
static void rotation_of(const struct aiNode *part, double out[4])
{
    th_trs trs = {.rotation = {0, 0, 0, 1}};
    th_dmat34 matrix = part ? matrix_of(&part->mTransformation) : TH_DMAT34_IDENTITY;
    th_dmat34_decompose(&matrix, &trs);
    memcpy(out, trs.rotation, sizeof trs.rotation);
}

/* Each rotation key q becomes before * q * after. */
static void turn_keys(struct aiNodeAnim *channel, const double before[4], const double after[4])
{
    for (unsigned k = 0; k < channel->mNumRotationKeys; k++) {
        struct aiQuaternion *value = &channel->mRotationKeys[k].mValue;
        double q[4] = {(double)value->x, (double)value->y, (double)value->z, (double)value->w};
        th_quat_mul(before, q, q);
        th_quat_mul(q, after, q);
        *value = (struct aiQuaternion){(float)q[3], (float)q[0], (float)q[1], (float)q[2]};
    }
}

/* ---- the channel of a whole node ---- */

/* Assimp multiplies by PostRotation instead of by its inverse. The part's node has the inverse. */
static void invert_post_rotation(const chain *c, struct aiNodeAnim *whole)
{
    double inverse[4], twice[4];
    if (!c->part[POST_ROTATION])
        return;
    rotation_of(c->part[POST_ROTATION], inverse);
    th_quat_mul(inverse, inverse, twice);
    turn_keys(whole, (double[4]){0, 0, 0, 1}, twice);
}

static struct aiVectorKey *make_vector_key(scene *s, struct aiVector3D value)
{
    struct aiVectorKey *key = make(s, struct aiVectorKey, 1);
    key->mValue = value;
    return key;
}

/* A channel that holds the node's rest transform. */
static struct aiNodeAnim *make_still_channel(scene *s, const struct aiNode *node)
{
    struct aiNodeAnim *channel = make(s, struct aiNodeAnim, 1);
    struct aiVector3D translation, scale;
    struct aiQuatKey *turn = make(s, struct aiQuatKey, 1);
    aiDecomposeMatrix(&node->mTransformation, &scale, &turn->mValue, &translation);
    channel->mNodeName = node->mName;
    channel->mNumPositionKeys = channel->mNumRotationKeys = channel->mNumScalingKeys = 1;
    channel->mPositionKeys = make_vector_key(s, translation);
    channel->mRotationKeys = turn;
    channel->mScalingKeys = make_vector_key(s, scale);
    return channel;
}

/* Builds the node's channel from those of its parts, and drops these. The node already has its rest transform. */
static struct aiNodeAnim *join_channels(scene *s, const chain *c, struct aiNodeAnim *const part[PART_COUNT])
{
    struct aiNodeAnim *whole = make_still_channel(s, c->node);
    if (part[TRANSLATION]) {
        th_dmat34 offset = product(c, ROTATION_OFFSET, ROTATION_PIVOT);
        whole->mNumPositionKeys = part[TRANSLATION]->mNumPositionKeys;
        whole->mPositionKeys = part[TRANSLATION]->mPositionKeys;
        for (unsigned k = 0; k < whole->mNumPositionKeys; k++) {
            struct aiVector3D *v = &whole->mPositionKeys[k].mValue;
            *v = (struct aiVector3D){v->x + (float)offset.m[3], v->y + (float)offset.m[7], v->z + (float)offset.m[11]};
        }
    }
    if (part[ROTATION]) {
        double before[4], after[4];
        rotation_of(c->part[PRE_ROTATION], before);
        rotation_of(c->part[POST_ROTATION], after);
        whole->mNumRotationKeys = part[ROTATION]->mNumRotationKeys;
        whole->mRotationKeys = part[ROTATION]->mRotationKeys;
        turn_keys(whole, before, after);
    }
    if (part[SCALING]) {
        whole->mNumScalingKeys = part[SCALING]->mNumScalingKeys;
        whole->mScalingKeys = part[SCALING]->mScalingKeys;
    }
    for (enum part p = 0; p < PART_COUNT; p++)
        if (part[p])
            drop_channel(part[p]);
    return whole;
}

static void join_clip(scene *s, const chain *c, channels *clip)
{
    struct aiNodeAnim *part[PART_COUNT];
    bool any = false;
    for (enum part p = 0; p < PART_COUNT; p++)
        any |= (part[p] = find_channel(clip, c, p)) != NULL;
    if (any)
        add_channel(s, clip, join_channels(s, c, part));
}

/* ---- nodes ---- */

/* Returns false if the node does not begin a chain of known parts; then *out is undefined. */
static bool gather(struct aiNode *first, chain *out)
{
    struct aiNode *node = first;
    *out = (chain){0};
    for (enum part p; (p = part_of(node)) < PART_COUNT && node->mNumChildren == 1; node = node->mChildren[0]) {
        if (out->part[p] || node->mNumMeshes > 0 || !node->mChildren[0])
            return false;
        out->part[p] = node;
    }
    out->node = node;
    for (enum part p = 0; p < PART_COUNT; p++)
        if (out->part[p] && !is_part_of(out->part[p], node))
            return false;
    return node != first;
}

/* Moves the children of a node from below the inverses of its geometric transforms. */
static void skip_inverses(struct aiNode *node)
{
    struct aiNode *below = node;
    while (below->mNumChildren == 1 && below->mChildren[0] && is_part_of(below->mChildren[0], node) &&
           strncmp(find_tag(below->mChildren[0]) + strlen(TAG), "Geometric", 9) == 0)
        below = below->mChildren[0];
    node->mNumChildren = below->mNumChildren;
    node->mChildren = below->mChildren;
    for (unsigned c = 0; c < node->mNumChildren; c++)
        if (node->mChildren[c])
            node->mChildren[c]->mParent = node;
}

/* Whether the file has this matrix as a cluster's, which leads from the mesh's node to the bone. */
static bool is_of_cluster(scene *s, const th_dmat34 *offset)
{
    const fbx_record *objects = find_fbx_record(s->fbx, NULL, "Objects"), *deformer = NULL;
    while ((deformer = find_fbx_record(objects, deformer, "Deformer"))) {
        uint32_t count;
        const double *columns = read_fbx_numbers(s, find_fbx_record(deformer, NULL, "Transform"), &count);
        bool same = count == 16;
        for (int i = 0; same && i < 12; i++) {
            double theirs = columns[i % 4 * 4 + i / 4];
            same = fabs(theirs - offset->m[i]) <= 1e-5 * fmax(1, fabs(theirs));
        }
        if (same)
            return true;
    }
    return false;
}

/* Applies the geometric transform to skinned meshes, which see it in the bind pose. Assimp 5.2.5 returns the cluster's
 * matrix unchanged; 6.0.5 returns its own, which includes the geometric transform. A mesh of several nodes is skinned
 * once, as its first node has it. */
static void move_bones(scene *s, const struct aiNode *holder, const th_dmat34 *geometric, bool *moved)
{
    for (unsigned m = 0; m < holder->mNumMeshes; m++) {
        unsigned mesh = holder->mMeshes[m];
        if (mesh >= s->ai->mNumMeshes || moved[mesh])
            continue;
        moved[mesh] = true;
        for (unsigned b = 0; b < s->ai->mMeshes[mesh]->mNumBones; b++) {
            struct aiMatrix4x4 *offset = &s->ai->mMeshes[mesh]->mBones[b]->mOffsetMatrix;
            th_dmat34 given = matrix_of(offset), both = th_dmat34_mul(given, *geometric);
            if (is_of_cluster(s, &given))
                *offset = to_assimp(&both);
        }
    }
}

/* Moves the meshes to a child of their own, which has the geometric transform. */
static void lower_geometry(scene *s, chain *c, bool *moved)
{
    struct aiNode *node = c->node;
    if (!c->part[GEOMETRIC_TRANSLATION] && !c->part[GEOMETRIC_ROTATION] && !c->part[GEOMETRIC_SCALING])
        return;
    th_dmat34 geometric = product(c, GEOMETRIC_TRANSLATION, PART_COUNT);
    c->part[GEOMETRIC_TRANSLATION] = c->part[GEOMETRIC_ROTATION] = c->part[GEOMETRIC_SCALING] = NULL;
    skip_inverses(node);
    if (node->mNumMeshes == 0)
        return;
    struct aiNode *holder = make(s, struct aiNode, 1), **children = make(s, struct aiNode *, node->mNumChildren + 1);
    holder->mName = node->mName;
    strncat(holder->mName.data, TAG "Geometric", sizeof holder->mName.data - 1 - strlen(holder->mName.data));
    holder->mName.length = (ai_uint32)strlen(holder->mName.data);
    holder->mTransformation = to_assimp(&geometric);
    holder->mParent = node;
    holder->mNumMeshes = node->mNumMeshes;
    holder->mMeshes = node->mMeshes;
    if (node->mNumChildren > 0)
        memcpy(children, node->mChildren, node->mNumChildren * sizeof *children);
    children[node->mNumChildren++] = holder;
    node->mChildren = children;
    node->mNumMeshes = 0;
    move_bones(s, holder, &geometric, moved);
}

/* The topmost node that replaces the chain. */
static struct aiNode *settle(scene *s, chain *c, channels *all, bool *moved)
{
    struct aiNode *top = NULL, *bottom = NULL;
    lower_geometry(s, c, moved);
    bool plain = !has_pivots(c) || !moves_in_parts(s, all, c);
    if (plain) {
        th_dmat34 rest = product(c, 0, PART_COUNT);
        c->node->mTransformation = to_assimp(&rest);
    }
    for (unsigned a = 0; a < s->ai->mNumAnimations; a++) {
        struct aiNodeAnim *whole = find_channel(&all[a], c, WHOLE);
        if (whole)
            invert_post_rotation(c, whole);
        else if (plain)
            join_clip(s, c, &all[a]);
    }
    for (enum part p = 0; p < PART_COUNT && !plain; p++)
        if (c->part[p]) {
            if (bottom)
                bottom->mChildren[0] = c->part[p];
            c->part[p]->mParent = bottom;
            bottom = c->part[p];
            top = top ? top : bottom;
        }
    if (bottom)
        bottom->mChildren[0] = c->node;
    c->node->mParent = bottom;
    return top ? top : c->node;
}

static void settle_children(scene *s, struct aiNode *node, channels *all, bool *moved)
{
    for (unsigned i = 0; i < node->mNumChildren; i++) {
        chain c;
        if (!node->mChildren[i])
            continue;
        if (gather(node->mChildren[i], &c)) {
            node->mChildren[i] = settle(s, &c, all, moved);
            node->mChildren[i]->mParent = node;
            settle_children(s, c.node, all, moved);
        } else {
            settle_children(s, node->mChildren[i], all, moved);
        }
    }
}

void join_fbx_pivots(scene *s)
{
    if (!has_format(s, "Autodesk FBX"))
        return;
    channels *all = sort_channels(s);
    settle_children(s, s->ai->mRootNode, all, make(s, bool, s->ai->mNumMeshes));
    for (unsigned a = 0; a < s->ai->mNumAnimations; a++)
        write_channels(s, &all[a], s->ai->mAnimations[a]);
}

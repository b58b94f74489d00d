/* All nodes of the file become joints, depth first. What refers to them does so by name; resolve() finds out which one
 * is meant when several nodes have that name. */
#include "reply.h"
#include "scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- nodes ---- */

/* Assimp's RAW reader leaves holes among the children, hence the NULL. */
static uint32_t count_nodes(const struct aiNode *node)
{
    if (!node)
        return 0;
    uint32_t count = 1;
    for (unsigned c = 0; c < node->mNumChildren && count <= TH_MAX_JOINTS; c++)
        count += count_nodes(node->mChildren[c]);
    return count;
}

static void add_node(scene *s, th_joint *joints, const struct aiNode *node, uint32_t parent)
{
    nodes *n = &s->nodes;
    uint32_t j = n->count++;
    n->node[j] = node;
    n->name[j] = read_text(s, &node->mName);
    joints[j] = (th_joint){n->name[j], parent, read_matrix(s, &node->mTransformation, n->name[j])};
    n->rest[j] = th_dmat34_from(joints[j].rest);
    if (parent != TH_NO_INDEX)
        n->rest[j] = th_dmat34_mul(n->rest[parent], n->rest[j]);
    for (unsigned c = 0; c < node->mNumChildren; c++)
        if (node->mChildren[c])
            add_node(s, joints, node->mChildren[c], j);
    n->end[j] = n->count;
}

static int compare_names(const void *a, const void *b, void *context)
{
    const nodes *n = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int order = strcmp(n->name[x], n->name[y]);
    return order ? order : (x > y) - (x < y);
}

/* Joints with a name: *out_count of them, ascending. */
static const uint32_t *joints_named(const nodes *n, const char *name, uint32_t *out_count)
{
    uint32_t low = 0, high = n->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (strcmp(n->name[n->by_name[middle]], name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    while (high < n->count && strcmp(n->name[n->by_name[high]], name) == 0)
        high++;
    *out_count = high - low;
    return n->by_name + low;
}

/* A name no node has: `stem`, with as many underscores behind it as that takes. */
static const char *unused_name(scene *s, const char *stem)
{
    uint32_t holders;
    joints_named(&s->nodes, stem, &holders);
    return holders == 0 ? stem : unused_name(s, make_text(s, "%s_", stem));
}

void read_joints(scene *s)
{
    uint32_t count = count_nodes(s->ai->mRootNode);
    if (count > TH_MAX_JOINTS)
        give_up(TH_ERR_LIMIT, "more than %u nodes", TH_MAX_JOINTS);
    th_joint *joints = make(s, th_joint, count);
    s->nodes = (nodes){.node = make(s, const struct aiNode *, count),
                       .name = make(s, const char *, count),
                       .by_name = make(s, uint32_t, count),
                       .end = make(s, uint32_t, count),
                       .rest = make(s, th_dmat34, count)};
    add_node(s, joints, s->ai->mRootNode, TH_NO_INDEX);
    for (uint32_t j = 0; j < count; j++)
        s->nodes.by_name[j] = j;
    qsort_r(s->nodes.by_name, count, sizeof(uint32_t), compare_names, &s->nodes);

    for (uint32_t j = 0; j < count; j++)
        if (!joints[j].name[0]) {
            joints[j].name = unused_name(s, make_text(s, "node_%u", j));
            repair(s, REPAIR_NODE_UNNAMED, 1, "%s", joints[j].name);
        }
    s->model->joints = joints;
    s->model->joint_count = count;
}

/* Numbers the holders of each name that a bind or a channel refers to, so that clips of another file find the right
 * one. The first keeps its name; names nobody refers to are left alone. */
void tell_joints_apart(scene *s)
{
    const th_model *model = s->model;
    nodes *n = &s->nodes;
    bool *used = make(s, bool, n->count);
    for (uint32_t b = 0; b < model->bind_count; b++)
        used[model->binds[b].joint] = true;
    for (uint32_t c = 0; c < model->clip_count; c++)
        for (uint32_t k = 0; k < model->clips[c].channel_count; k++)
            used[model->clips[c].channels[k].joint] = true;

    th_joint *joints = (th_joint *)model->joints;
    for (uint32_t j = 0; j < n->count; j++) {
        uint32_t holders;
        const uint32_t *held_by = joints_named(n, n->name[j], &holders);
        if (!n->name[j][0] || held_by[0] != j)
            continue; /* unnamed, or seen before */
        bool referred_to = false;
        for (uint32_t h = 0; h < holders; h++)
            referred_to |= used[held_by[h]];
        for (uint32_t h = 1; h < holders && referred_to; h++) {
            joints[held_by[h]].name = unused_name(s, make_text(s, "%s#%u", n->name[j], h + 1));
            repair(s, REPAIR_NODE_RENAMED, 1, "%s", joints[held_by[h]].name);
        }
    }
}

/* ---- references ---- */

static bool beneath(const nodes *n, uint32_t joint, uint32_t root)
{
    return root <= joint && joint < n->end[root];
}

/* The lowest joint that has all resolved references beneath it, or TH_NO_INDEX when there are none. */
static uint32_t common_root(const scene *s, const reference *references, uint32_t count)
{
    uint32_t root = TH_NO_INDEX;
    for (uint32_t r = 0; r < count; r++) {
        uint32_t joint = references[r].joint;
        if (joint == TH_NO_INDEX)
            continue;
        if (root == TH_NO_INDEX)
            root = joint;
        while (!beneath(&s->nodes, joint, root))
            root = s->model->joints[root].parent;
    }
    return root;
}

/* Whether the bone was bound where this joint rests. Exporters print six digits or so. */
static bool rests_at_bind(const scene *s, uint32_t joint, const th_mat34 *inverse_bind)
{
    th_dmat34 product = th_dmat34_mul(s->nodes.rest[joint], th_dmat34_from(*inverse_bind)),
              identity = TH_DMAT34_IDENTITY;
    double far = 1;
    for (int row = 0; row < 3; row++)
        far = fmax(far, fabs(s->nodes.rest[joint].m[4 * row + 3]));
    return th_dmat34_distance(&product, &identity) < 1e-4 * far;
}

/* The one candidate that is at rest where the bone was bound or, failing that, the one beneath the root. */
static uint32_t choose(const scene *s, const reference *r, const uint32_t *candidates, uint32_t count, uint32_t root)
{
    uint32_t at_bind = 0, under_root = 0, chosen_by_bind = TH_NO_INDEX, chosen_by_root = TH_NO_INDEX;
    for (uint32_t c = 0; c < count; c++) {
        bool under = root != TH_NO_INDEX && beneath(&s->nodes, candidates[c], root);
        if (under && ++under_root)
            chosen_by_root = candidates[c];
        if (r->inverse_bind && rests_at_bind(s, candidates[c], r->inverse_bind) && ++at_bind)
            chosen_by_bind = candidates[c];
    }
    if (at_bind == 1)
        return chosen_by_bind;
    return under_root == 1 ? chosen_by_root : TH_NO_INDEX;
}

static const char *path_of(scene *s, uint32_t joint)
{
    uint32_t parent = s->model->joints[joint].parent;
    return make_text(s, "%s/%s", parent == TH_NO_INDEX ? "" : path_of(s, parent), s->model->joints[joint].name);
}

void resolve(scene *s, reference *references, uint32_t count, const char *whose)
{
    uint32_t holders;
    for (uint32_t r = 0; r < count; r++) {
        const uint32_t *held_by = joints_named(&s->nodes, references[r].name, &holders);
        references[r].joint = holders == 1 ? held_by[0] : TH_NO_INDEX;
    }
    uint32_t root = common_root(s, references, count);
    for (uint32_t r = 0; r < count; r++) {
        const uint32_t *held_by = joints_named(&s->nodes, references[r].name, &holders);
        if (holders < 2)
            continue;
        references[r].joint = choose(s, &references[r], held_by, holders, root);
        if (references[r].joint == TH_NO_INDEX)
            give_up(TH_ERR_INPUT, "%s refers to a node named \"%s\", which may be %s or %s", whose, references[r].name,
                    path_of(s, held_by[0]), path_of(s, held_by[1]));
    }
}

/* All nodes of the file become joints, depth first. References to them are by name; resolve_references() decides which
 * node is meant if several have that name. */
#include "scene.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

th_mat34 read_matrix(scene *s, const struct aiMatrix4x4 *matrix, const char *where)
{
    const float m[16] = {matrix->a1, matrix->a2, matrix->a3, matrix->a4, matrix->b1, matrix->b2,
                         matrix->b3, matrix->b4, matrix->c1, matrix->c2, matrix->c3, matrix->c4,
                         matrix->d1, matrix->d2, matrix->d3, matrix->d4};
    for (int i = 0; i < 12; i++)
        if (!isfinite(m[i]))
            give_up(TH_ERR_INPUT, "the matrix of %s is not finite", where);
    bool projective = m[12] != 0 || m[13] != 0 || m[14] != 0 || fabsf(m[15] - 1) > 1e-6f;
    warn(s, WARN_MATRIX_PROJECTIVE, projective, "%s", where);
    th_mat34 upper;
    memcpy(upper.m, m, sizeof upper.m);
    return upper;
}

/* ---- nodes ---- */

/* Assimp's RAW reader leaves gaps among the children, hence the check for NULL. */
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
    assert(parent == TH_NO_INDEX || parent < j);
    n->node[j] = node;
    n->name[j] = read_name(s, node->mName.data);
    const char *name = s->fbx ? find_fbx_name(s, node) : s->true_names ? s->true_names[j] : NULL; /* NULL: the same */
    joints[j] = (th_joint){.name = name ? read_name(s, name) : n->name[j],
                           .parent = parent,
                           .rest = read_matrix(s, &node->mTransformation, n->name[j]),
                           .rest_parts = s->gltf  ? find_gltf_rest(s, j)
                                         : s->fbx ? find_fbx_rest(s, node)
                                                  : NULL};
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

static void sort_names(nodes *n)
{
    for (uint32_t j = 0; j < n->count; j++)
        n->by_name[j] = j;
    qsort_r(n->by_name, n->count, sizeof *n->by_name, compare_names, n);
}

/* Counts the joints with a smaller name, or with a smaller or equal one. */
static uint32_t rank(const nodes *n, const char *name, bool or_equal)
{
    uint32_t low = 0, high = n->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        int order = strcmp(n->name[n->by_name[middle]], name);
        if (order < 0 || (order == 0 && or_equal))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the *out_count joints with a name, ascending. */
static const uint32_t *joints_named(const nodes *n, const char *name, uint32_t *out_count)
{
    uint32_t first = rank(n, name, false);
    *out_count = rank(n, name, true) - first;
    return n->by_name + first;
}

/* Returns a name that no node has: `stem` plus the underscores it takes. */
static const char *unused_name(scene *s, const char *stem)
{
    uint32_t holders;
    joints_named(&s->nodes, stem, &holders);
    return holders == 0 ? stem : unused_name(s, make_string(s, "%s_", stem));
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
    assert(s->nodes.count == count);
    sort_names(&s->nodes);

    for (uint32_t j = 0; j < count; j++)
        if (!joints[j].name[0]) {
            joints[j].name = unused_name(s, make_string(s, "node_%u", j));
            warn(s, WARN_NODE_UNNAMED, 1, "%s", joints[j].name);
        }
    s->model->joints = joints;
    s->model->joint_count = count;
}

/* Numbers the joints that share a name to which a bone, a weight or a channel refers, so that clips of another file
 * find the right one. Other names stay unchanged. */
void make_joint_names_unique(scene *s)
{
    const th_model *model = s->model;
    th_joint *joints = (th_joint *)model->joints;
    nodes *n = &s->nodes;
    bool *used = make(s, bool, n->count);
    for (uint32_t j = 0; j < n->count; j++)
        n->name[j] = n->name[j][0] ? joints[j].name : "";
    sort_names(n);
    for (uint32_t b = 0; b < model->bone_count; b++)
        used[model->bones[b].joint] = true;
    for (uint32_t w = 0; w < model->weight_count; w++)
        used[model->weights[w].joint] = true;
    for (uint32_t c = 0; c < model->clip_count; c++)
        for (uint32_t k = 0; k < model->clips[c].channel_count; k++)
            used[model->clips[c].channels[k].joint] = true;

    uint32_t holders;
    for (uint32_t first = 0; first < n->count; first += holders) {
        const uint32_t *held_by = joints_named(n, n->name[n->by_name[first]], &holders);
        bool referred_to = false;
        for (uint32_t h = 0; h < holders; h++)
            referred_to |= used[held_by[h]];
        if (!referred_to || !n->name[held_by[0]][0]) /* joints without a name have got one */
            continue;
        for (uint32_t h = 1; h < holders; h++) { /* the first keeps it */
            th_joint *joint = &joints[held_by[h]];
            joint->name = unused_name(s, make_string(s, "%s#%u", joint->name, h + 1));
            warn(s, WARN_NODE_RENAMED, 1, "%s", joint->name);
        }
    }
}

/* ---- references ---- */

/* The lowest joint with all resolved references below it, or TH_NO_INDEX if there are none. */
static uint32_t common_root(const scene *s, const reference *references, uint32_t count)
{
    uint32_t root = TH_NO_INDEX;
    for (uint32_t r = 0; r < count; r++) {
        uint32_t joint = references[r].joint;
        if (joint == TH_NO_INDEX)
            continue;
        if (root == TH_NO_INDEX)
            root = joint;
        while (joint < root || joint >= s->nodes.end[root])
            root = s->model->joints[root].parent;
    }
    return root;
}

/* The only candidate that rests where the bone was bound, or TH_NO_INDEX. */
static uint32_t choose_by_bind(const scene *s, const reference *r, const uint32_t *candidates, uint32_t count)
{
    const th_dmat34 identity = TH_DMAT34_IDENTITY;
    uint32_t chosen = TH_NO_INDEX, fitting = 0;
    for (uint32_t c = 0; c < count && r->inverse_bind; c++) {
        const th_dmat34 *rest = &s->nodes.rest[candidates[c]];
        const th_dmat34 product = th_dmat34_mul(*rest, th_dmat34_from(*r->inverse_bind));
        double far = 1; /* exporters print about six digits */
        for (int row = 0; row < 3; row++)
            far = fmax(far, fabs(rest->m[4 * row + 3]));
        if (th_dmat34_distance(&product, &identity) < 1e-4 * far && ++fitting)
            chosen = candidates[c];
    }
    return fitting == 1 ? chosen : TH_NO_INDEX;
}

/* Counts the candidates, which ascend, below this joint. */
static uint32_t count_before(const uint32_t *candidates, uint32_t count, uint32_t joint)
{
    uint32_t low = 0;
    while (low < count) {
        uint32_t middle = (low + count) / 2;
        if (candidates[middle] < joint)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

/* The only candidate below the root, or TH_NO_INDEX. */
static uint32_t choose_by_root(const scene *s, const uint32_t *candidates, uint32_t count, uint32_t root)
{
    if (root == TH_NO_INDEX)
        return TH_NO_INDEX;
    uint32_t first = count_before(candidates, count, root), end = count_before(candidates, count, s->nodes.end[root]);
    return end - first == 1 ? candidates[first] : TH_NO_INDEX;
}

/* The joint's name with as many ancestors as help to identify it. */
static const char *path_of(scene *s, uint32_t joint, int levels)
{
    const th_joint *j = &s->model->joints[joint];
    const char *above = j->parent == TH_NO_INDEX ? "" : levels == 0 ? "..." : path_of(s, j->parent, levels - 1);
    return make_string(s, "%s/%s", above, j->name);
}

void resolve_references(scene *s, reference *references, uint32_t count, const char *whose)
{
    assert(references || count == 0);
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
        references[r].joint = choose_by_bind(s, &references[r], held_by, holders);
        if (references[r].joint == TH_NO_INDEX)
            references[r].joint = choose_by_root(s, held_by, holders, root);
        if (references[r].joint == TH_NO_INDEX)
            give_up(TH_ERR_INPUT, "%s refers to a node named \"%s\", which may be node %u at %s or node %u at %s",
                    whose, references[r].name, held_by[0], path_of(s, held_by[0], 3), held_by[1],
                    path_of(s, held_by[1], 3));
    }
}

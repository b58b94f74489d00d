/* The node tree (section 3.5). Nodes lie in one array, depth first, so a node's index there is its joint. */
#include "gltf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 4096 };

/* The tree while it is built. */
typedef struct tree {
    gltf *g;
    const json_t *nodes;
    size_t given;     /* how many they are */
    uint32_t *parent; /* by node of the file; TH_NO_INDEX: none */
    uint32_t *next;   /* by node of the file: how many of its children are there */
    struct aiNode *out;
    uint32_t count, capacity;
} tree;

static const char *label(const tree *t, uint32_t node)
{
    return make_string(t->g->s, "node %u", node);
}

/* ---- transforms ---- */

/* In single precision, and not normalised: what the file means by a rotation that is off in the last digits. */
static struct aiMatrix4x4 matrix_of(const th_trs *trs)
{
    const double *q = trs->rotation;
    const float x = (float)q[0], y = (float)q[1], z = (float)q[2], w = (float)q[3];
    const float turn[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)},
                              {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)},
                              {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)}};
    float m[16] = {[15] = 1};
    for (int row = 0; row < 3; row++) {
        for (int column = 0; column < 3; column++)
            m[4 * row + column] = turn[row][column] * (float)trs->scale[column];
        m[4 * row + 3] = (float)trs->translation[row];
    }
    struct aiMatrix4x4 out;
    memcpy(&out, m, sizeof out);
    return out;
}

double gltf_excess(const th_trs *trs)
{
    const double *q = trs->rotation;
    return fabs(sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]) - 1);
}

static void read_transform(const tree *t, const json_t *node, uint32_t joint)
{
    struct aiMatrix4x4 *out = &t->out[joint].mTransformation;
    th_trs *rest = &t->g->rest[joint];
    const json_t *matrix = json_object_get(node, "matrix");
    *rest = (th_trs){{0, 0, 0}, {0, 0, 0, 1}, {1, 1, 1}};
    gltf_numbers(json_object_get(node, "translation"), rest->translation, 3);
    gltf_numbers(json_object_get(node, "rotation"), rest->rotation, 4);
    gltf_numbers(json_object_get(node, "scale"), rest->scale, 3);
    t->g->has_rest[joint] = !matrix;
    warn(t->g->s, WARN_NODE_ROTATION, gltf_excess(rest) > 1e-3, "%s", read_name(t->g->s, t->out[joint].mName.data));
    *out = matrix_of(rest);
    if (!matrix)
        return;
    double m[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    gltf_numbers(matrix, m, 16);
    float rows[16];
    for (int i = 0; i < 16; i++)
        rows[i] = (float)m[i % 4 * 4 + i / 4];
    memcpy(out, rows, sizeof rows);
}

/* ---- nodes ---- */

static struct aiNode *add_node(tree *t, struct aiNode *parent, struct aiString name, size_t children)
{
    if (t->count == t->capacity)
        give_up(TH_ERR_LIMIT, "more than %u nodes", TH_MAX_JOINTS);
    struct aiNode *out = &t->out[t->count++];
    out->mName = name;
    out->mParent = parent;
    out->mChildren = make(t->g->s, struct aiNode *, children + 1);
    return out;
}

/* The instances of a node's mesh become its children. The node keeps its mesh in the file alone: gltf_meshes.c asks for
 * instances. */
static void add_instances(tree *t, uint32_t index, struct aiNode *node, const json_t *attributes, size_t count)
{
    static const char *const names[] = {"TRANSLATION", "ROTATION", "SCALE"};
    const char *what = make_string(t->g->s, "the instances of %s", label(t, index));
    float *numbers[3] = {0};
    for (int p = 0; p < 3; p++) {
        const uint32_t accessor = gltf_link(t->g, attributes, names[p], "accessors", what);
        uint32_t width = p == 1 ? 4 : 3;
        if (accessor == TH_NO_INDEX)
            continue;
        if (gltf_count(t->g, accessor, what) != count)
            give_up(TH_ERR_INPUT, "%s are of different numbers", what);
        numbers[p] = gltf_read_floats(t->g, accessor, p == 1 ? GLTF_FLOAT | GLTF_SNORM : GLTF_FLOAT, &width, what);
    }
    for (size_t i = 0; i < count; i++) {
        const uint32_t joint = t->count;
        const char *name = make_string(t->g->s, "%.900s[%zu]", node->mName.data, i);
        node->mChildren[node->mNumChildren++] = add_node(t, node, gltf_string(name), 0);
        th_trs *rest = &t->g->rest[joint];
        *rest = (th_trs){{0, 0, 0}, {0, 0, 0, 1}, {1, 1, 1}};
        for (int k = 0; k < 4; k++) {
            if (k < 3 && numbers[0])
                rest->translation[k] = (double)numbers[0][3 * i + (size_t)k];
            if (numbers[1])
                rest->rotation[k] = (double)numbers[1][4 * i + (size_t)k];
            if (k < 3 && numbers[2])
                rest->scale[k] = (double)numbers[2][3 * i + (size_t)k];
        }
        t->g->has_rest[joint] = true;
        t->out[joint].mTransformation = matrix_of(rest);
    }
}

static const json_t *instances_of(const json_t *node)
{
    return json_object_get(gltf_extension(node, "EXT_mesh_gpu_instancing"), "attributes");
}

/* The number of elements of the first attribute. */
static size_t count_instances(const tree *t, uint32_t index, const json_t *attributes)
{
    const char *name;
    json_t *accessor;
    json_object_foreach((json_t *)attributes, name, accessor)
    {
        const char *what = make_string(t->g->s, "the instances of %s", label(t, index));
        const size_t count = gltf_count(t->g, gltf_link(t->g, attributes, name, "accessors", what), what);
        if (count > TH_MAX_JOINTS)
            give_up(TH_ERR_LIMIT, "%s are more than %u", what, TH_MAX_JOINTS);
        return count;
    }
    return 0;
}

static void begin_node(tree *t, uint32_t index, struct aiNode *parent)
{
    const json_t *node = json_array_get(t->nodes, index);
    const char *name = json_string_value(json_object_get(node, "name"));
    const size_t children = json_array_size(json_object_get(node, "children"));
    if (!name || !name[0])
        name = make_string(t->g->s, "nodes[%u]", index);
    struct aiNode *out =
        add_node(t, parent, gltf_string(name), children + count_instances(t, index, instances_of(node)));
    t->g->node[index] = out;
    read_transform(t, node, (uint32_t)(out - t->out));
    if (parent)
        parent->mChildren[parent->mNumChildren++] = out;
}

/* Adds a root and all below it. No recursion: each name takes a kilobyte of the stack. */
static void build(tree *t, uint32_t root, struct aiNode *parent)
{
    uint32_t at = root, depth = 0;
    begin_node(t, root, parent);
    for (;;) {
        const json_t *node = json_array_get(t->nodes, at), *child;
        if ((child = json_array_get(json_object_get(node, "children"), t->next[at]++))) {
            if (++depth > MAX_DEPTH)
                give_up(TH_ERR_LIMIT, "%s is more than %d levels deep", label(t, at), MAX_DEPTH);
            begin_node(t, gltf_index_of(child), t->g->node[at]);
            at = gltf_index_of(child);
            continue;
        }
        add_instances(t, at, t->g->node[at], instances_of(node), count_instances(t, at, instances_of(node)));
        if (at == root)
            return;
        at = t->parent[at];
        depth--;
    }
}

/* Every node has one parent at most, and roots have none, so that no walk from the roots meets a node twice. */
static void find_parents(tree *t)
{
    size_t n, i;
    const json_t *node, *child;
    t->parent = make(t->g->s, uint32_t, t->given + 1);
    memset(t->parent, 0xff, t->given * sizeof *t->parent);
    json_array_foreach(t->nodes, n, node) json_array_foreach(json_object_get(node, "children"), i, child)
    {
        const uint32_t index = gltf_index_of(child);
        if (index >= t->given)
            give_up(TH_ERR_INPUT, "node %zu has a child that is out of bounds", n);
        uint32_t *parent = &t->parent[index];
        if (*parent != TH_NO_INDEX)
            give_up(TH_ERR_INPUT, "node %u is a child of node %u and of node %zu", index, *parent, n);
        *parent = (uint32_t)n;
    }
}

/* Marks a node and all above it. */
static void mark(const tree *t, uint32_t node, bool *marked)
{
    for (; node < t->given && !marked[node]; node = t->parent[node])
        marked[node] = true;
}

/* Marks what skins and clips refer to. */
static void mark_referred(const tree *t, bool *marked)
{
    size_t i, k;
    const json_t *each, *one;
    json_array_foreach(gltf_list(t->g, "skins"), i, each) json_array_foreach(json_object_get(each, "joints"), k, one)
        mark(t, gltf_index_of(one), marked);
    json_array_foreach(gltf_list(t->g, "animations"), i, each)
        json_array_foreach(json_object_get(each, "channels"), k, one)
    {
        const json_t *target = json_object_get(one, "target");
        const char *path = json_string_value(json_object_get(target, "path"));
        const uint32_t node = gltf_index(target, "node");
        mark(t, node, marked);
        if (node < t->given && path && strcmp(path, "weights") == 0)
            t->g->morphed[node] = true;
    }
}

/* Lists the scene's roots, or all nodes without a parent if the file has no scene; then those that the scene does not
 * show, but a skin or a clip needs. Returns how many there are, and in *shown how many the scene shows. */
static uint32_t list_roots(const tree *t, uint32_t *roots, uint32_t *shown)
{
    const gltf *g = t->g;
    uint32_t count = 0;
    size_t i;
    const uint32_t given = gltf_link(g, g->file, "scene", "scenes", "the file");
    const json_t *root, *view = gltf_at(gltf_list(g, "scenes"), given == TH_NO_INDEX ? 0 : given);
    bool *marked = make(g->s, bool, t->given + 1);
    mark_referred(t, marked);
    json_array_foreach(json_object_get(view, "nodes"), i, root)
    {
        const uint32_t index = gltf_index_of(root);
        if (index >= t->given || i >= t->given)
            give_up(TH_ERR_INPUT, "the scene has a root that is out of bounds");
        if (t->parent[index] != TH_NO_INDEX)
            give_up(TH_ERR_INPUT, "node %u is a root of the scene and a child of node %u", index, t->parent[index]);
        marked[index] = false;
        roots[count++] = index;
    }
    *shown = view ? count : TH_NO_INDEX;
    for (uint32_t r = 0; r < t->given; r++)
        if (t->parent[r] == TH_NO_INDEX && (marked[r] || !view))
            roots[count++] = r;
    return count;
}

void gltf_build_nodes(gltf *g)
{
    scene *s = g->s;
    tree t = {.g = g, .nodes = gltf_list(g, "nodes"), .given = json_array_size(gltf_list(g, "nodes"))};
    size_t n;
    const json_t *node;
    if (t.given == 0 && !gltf_list(g, "scenes"))
        return;
    find_parents(&t);

    /* The most nodes that there may be: those of the file, their instances and a root. */
    size_t most = 1;
    json_array_foreach(t.nodes, n, node) most += 1 + count_instances(&t, (uint32_t)n, instances_of(node));
    t.capacity = most < TH_MAX_JOINTS ? (uint32_t)most : TH_MAX_JOINTS;

    t.out = make(s, struct aiNode, t.capacity);
    t.next = make(s, uint32_t, t.given + 1);
    g->node = make(s, struct aiNode *, t.given + 1);
    g->morphed = make(s, bool, t.given + 1);
    g->rest = make(s, th_trs, t.capacity);
    g->has_rest = make(s, bool, t.capacity);
    g->ai->mRootNode = t.out;
    uint32_t *roots = make(s, uint32_t, 2 * t.given + 1), shown;
    const uint32_t count = list_roots(&t, roots, &shown);
    struct aiNode *made_up = NULL;
    if (count != 1) {
        made_up = add_node(&t, NULL, gltf_string("ROOT"), count);
        read_transform(&t, NULL, 0);
    }
    for (uint32_t r = 0; r < count; r++) {
        if (g->node[roots[r]])
            give_up(TH_ERR_INPUT, "node %u is twice a root of the scene", roots[r]);
        build(&t, roots[r], made_up);
        g->shown = r < shown ? t.count : g->shown;
    }
}

uint32_t gltf_joint(const gltf *g, uint32_t node)
{
    if (!g->node[node])
        give_up(TH_ERR_INPUT, "node %u is below itself", node);
    return (uint32_t)(g->node[node] - g->ai->mRootNode);
}

const th_trs *find_gltf_rest(const scene *s, uint32_t joint)
{
    const th_trs *rest = &s->gltf->rest[joint];
    return s->gltf->has_rest[joint] && gltf_excess(rest) <= 1e-6 ? rest : NULL; /* else its matrix scales as well */
}

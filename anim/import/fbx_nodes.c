/* Nodes of FBX: the transforms of its models, in place of those that Assimp makes of them.
 *
 * A node whose children inherit less than its scale becomes two (curves.h): all of it, with its meshes, below one
 * without its scale, to which these children move. Geometric transforms (GeometricTranslation, ...) move the mesh of a
 * node, but neither its children nor the meshes skinned to it. They become a child of it that holds the meshes, and a
 * factor of the inverse bind matrices of skinned meshes. */
#include "fbx.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* InheritType: how a node inherits its parent's scale: about its own axes, fully (about the parent's axes), not. */
enum { INHERIT_OWN_AXES = 0, INHERIT_FULLY = 1, INHERIT_NO_SCALE = 2 };

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

static struct aiMatrix4x4 matrix_at_rest(const th_transform_curves *transform)
{
    th_trs trs;
    th_transform_curves_at(transform, 0, &trs);
    const th_dmat34 matrix = th_dmat34_from_trs(&trs);
    return to_assimp(&matrix);
}

/* Angles in degrees, the first axis turns first. */
static void quat_from_angles(const double degrees[3], double out[4])
{
    th_transform_curves turn = {.before = {0, 0, 0, 1}, .after = {0, 0, 0, 1}, .frame = TH_TRS_IDENTITY};
    th_trs trs;
    for (int i = 0; i < 3; i++)
        turn.numbers[TH_CURVE_ANGLES + i] = (float)(DEGREE * degrees[i]);
    th_transform_curves_at(&turn, 0, &trs);
    memcpy(out, trs.rotation, sizeof trs.rotation);
}

static void read_length(const fbx *f, const fbx_object *model, const char *name, double out[3])
{
    fbx_vector(f, model, name, 0, out);
    for (int i = 0; i < 3; i++)
        out[i] *= f->metres;
}

/* ---- transforms ---- */

static th_transform_curves read_transform(const fbx *f, const fbx_object *model)
{
    th_transform_curves t = {.before = {0, 0, 0, 1}, .after = {0, 0, 0, 1}, .frame = TH_TRS_IDENTITY};
    double translation[3], angles[3], scale[3];
    read_length(f, model, "Lcl Translation", translation);
    fbx_vector(f, model, "Lcl Rotation", 0, angles);
    fbx_vector(f, model, "Lcl Scaling", 1, scale);
    for (int i = 0; i < 3; i++) {
        t.numbers[TH_CURVE_TRANSLATION + i] = (float)translation[i];
        t.numbers[TH_CURVE_ANGLES + i] = (float)(DEGREE * angles[i]);
        t.numbers[TH_CURVE_SCALE + i] = (float)scale[i];
    }
    read_length(f, model, "RotationOffset", t.rotation_offset);
    read_length(f, model, "RotationPivot", t.rotation_pivot);
    read_length(f, model, "ScalingOffset", t.scaling_offset);
    read_length(f, model, "ScalingPivot", t.scaling_pivot);
    if (fbx_property(f, model, "RotationActive", 1) != 0 &&
        fbx_property(f, model, "RotationSpaceForLimitOnly", 0) == 0) {
        const double order = fbx_property(f, model, "RotationOrder", 0);
        double before[3], after[3];
        fbx_vector(f, model, "PreRotation", 0, before);
        fbx_vector(f, model, "PostRotation", 0, after);
        quat_from_angles(before, t.before);
        quat_from_angles(after, t.after);
        for (int i = 0; i < 3; i++)
            t.after[i] = -t.after[i];                            /* the inverse */
        t.order = order >= 0 && order < 6 ? (uint32_t)order : 0; /* 6: spheric, which turns as 0 does */
    }
    return t;
}

/* The scale that a model has of its own. */
static fbx_scale scale_of(const fbx *f, const fbx_object *model)
{
    double rest[3];
    fbx_vector(f, model, "Lcl Scaling", 1, rest);
    const bool even = fabs(rest[1] - rest[0]) < 1e-6 && fabs(rest[2] - rest[0]) < 1e-6;
    const fbx_links links = fbx_into(f, model);
    for (const fbx_link *l = links.first; l < links.end; l++) {
        if (l->from->kind != FBX_CURVE_NODE || !is_fbx_link_to(l, "Lcl Scaling"))
            continue;
        const fbx_links curves = fbx_into(f, l->from);
        for (const fbx_link *c = curves.first; c < curves.end; c++) {
            uint32_t count;
            const double *values =
                read_fbx_numbers(f->s, find_fbx_record(c->from->record, NULL, "KeyValueFloat"), &count);
            for (uint32_t k = 0; k < count; k++)
                if (!(fabs(values[k] - rest[0]) < 1e-6))
                    return FBX_SCALE_ANY;
        }
    }
    return !even ? FBX_SCALE_ANY : fabs(rest[0] - 1) < 1e-6 ? FBX_SCALE_ONE : FBX_SCALE_EVEN;
}

/* ---- geometric transforms ---- */

static struct aiNode *make_node(fbx *f, const char *name, const char *suffix, unsigned child_count)
{
    struct aiNode *node = make(f->s, struct aiNode, 1);
    node->mName.length = (ai_uint32)snprintf(node->mName.data, sizeof node->mName.data, "%.900s%s", name, suffix);
    node->mChildren = make(f->s, struct aiNode *, child_count);
    return node;
}

static void add_child(struct aiNode *node, struct aiNode *child)
{
    node->mChildren[node->mNumChildren++] = child;
    child->mParent = node;
}

/* Whether the file has this matrix as a cluster's, which leads from the mesh's node to the bone. */
static bool is_of_cluster(const fbx *f, const th_dmat34 *offset)
{
    const fbx_record *objects = find_fbx_record(f->root, NULL, "Objects"), *deformer = NULL;
    while ((deformer = find_fbx_record(objects, deformer, "Deformer"))) {
        uint32_t count;
        const double *columns = read_fbx_numbers(f->s, find_fbx_record(deformer, NULL, "Transform"), &count);
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
static void move_bones(const fbx *f, const struct aiNode *holder, const th_dmat34 *geometric, bool *moved)
{
    for (unsigned m = 0; m < holder->mNumMeshes; m++) {
        unsigned mesh = holder->mMeshes[m];
        if (mesh >= f->s->ai->mNumMeshes || moved[mesh])
            continue;
        moved[mesh] = true;
        for (unsigned b = 0; b < f->s->ai->mMeshes[mesh]->mNumBones; b++) {
            struct aiMatrix4x4 *offset = &f->s->ai->mMeshes[mesh]->mBones[b]->mOffsetMatrix;
            th_dmat34 given = matrix_of(offset), both = th_dmat34_mul(given, *geometric);
            if (is_of_cluster(f, &given))
                *offset = to_assimp(&both);
        }
    }
}

/* Moves the meshes to a child of their own, which has the geometric transform. */
static void lower_geometry(fbx *f, struct aiNode *node, const fbx_object *model, bool *moved)
{
    th_trs trs;
    double angles[3];
    fbx_vector(f, model, "GeometricTranslation", 0, trs.translation);
    fbx_vector(f, model, "GeometricRotation", 0, angles);
    fbx_vector(f, model, "GeometricScaling", 1, trs.scale);
    quat_from_angles(angles, trs.rotation);
    const th_dmat34 identity = TH_DMAT34_IDENTITY;
    th_dmat34 geometric = th_dmat34_from_trs(&trs);
    if (node->mNumMeshes == 0 || th_dmat34_distance(&geometric, &identity) < 1e-9)
        return;
    struct aiNode *holder = make_node(f, model->name, "_geometry", 0);
    holder->mNumMeshes = node->mNumMeshes;
    holder->mMeshes = node->mMeshes;
    node->mNumMeshes = 0;
    move_bones(f, holder, &geometric, moved);
    for (int i = 3; i < 12; i += 4)
        geometric.m[i] *= f->metres;
    holder->mTransformation = to_assimp(&geometric);
    add_child(node, holder);
}

/* ---- nodes ---- */

static fbx_node *add_node(fbx *f, const struct aiNode *node, const fbx_node *like, th_curve_part part)
{
    fbx_node *out = &f->nodes[f->node_count++];
    *out = *like;
    out->node = node;
    out->rest.part = part;
    return out;
}

/* The model of a child of Assimp's: of those that are called so, one that no node is yet, if there is one. */
static fbx_object *find_child(const fbx *f, const fbx_object *parent, const struct aiNode *child)
{
    fbx_object *found = NULL;
    const fbx_links links = fbx_into(f, parent);
    for (const fbx_link *l = links.first; l < links.end; l++)
        if (l->from->kind == FBX_MODEL && strcmp(l->from->known, child->mName.data) == 0 && (!found || found->used > 0))
            found = l->from;
    if (!found)
        give_up(TH_ERR_INPUT, "Assimp has a node %.200s that is no model of the file", child->mName.data);
    found->used++;
    return found;
}

/* Whether the scale that the parent passes on reaches a model otherwise than by its matrix. */
static bool stands_apart(const fbx *f, const fbx_node *parent, const fbx_object *model)
{
    const double mode = fbx_property(f, model, "InheritType", INHERIT_FULLY);
    return parent && parent->scale != FBX_SCALE_ONE &&
           (mode == INHERIT_NO_SCALE || (mode == INHERIT_OWN_AXES && parent->scale != FBX_SCALE_EVEN));
}

static fbx_node *add_model(fbx *f, struct aiNode *node, const fbx_object *model, const fbx_node *parent)
{
    fbx_node like = {.model = model, .rest = read_transform(f, model), .scale = scale_of(f, model)};
    if (stands_apart(f, parent, model)) {
        like.scaled_by = parent;
        like.scale_from = fbx_property(f, model, "InheritType", 0) == INHERIT_OWN_AXES ? parent : parent->scale_from;
        like.rest.scaled_by = &parent->rest;
        like.rest.scale_from = like.scale_from ? &like.scale_from->rest : NULL;
        if (like.scale_from)
            like.scale = like.scale == FBX_SCALE_ONE ? like.scale_from->scale : FBX_SCALE_ANY;
    }
    uint32_t row = 0;
    for (const fbx_node *n = like.scaled_by; n; n = n->scaled_by ? n->scaled_by : n->scale_from)
        if (++row == TH_MOST_INHERITED)
            give_up(TH_ERR_LIMIT, "node %s inherits a scale from more than %u others", model->name, TH_MOST_INHERITED);
    return add_node(f, node, &like, TH_CURVE_WHOLE);
}

/* Sets a model's node and what is below it. Returns the node that takes its place, which is another if it becomes two.
 */
static struct aiNode *settle(fbx *f, struct aiNode *node, const fbx_object *model, fbx_node *own, bool *moved)
{
    const unsigned count = node->mNumChildren;
    struct aiNode **children = node->mChildren, *unscaled = NULL;
    node->mChildren = make(f->s, struct aiNode *, count + 1); /* one more for geometry */
    node->mNumChildren = 0;
    for (unsigned c = 0; c < count; c++) {
        fbx_object *child = find_child(f, model, children[c]);
        struct aiNode *parent = node;
        if (stands_apart(f, own, child)) {
            if (!unscaled) {
                unscaled = make_node(f, model->name, "_unscaled", count + 1);
                own->rest.part = TH_CURVE_SCALE_ALONE;
                unscaled->mTransformation = matrix_at_rest(&add_node(f, unscaled, own, TH_CURVE_UNSCALED)->rest);
            }
            parent = unscaled;
        }
        add_child(parent, settle(f, children[c], child, add_model(f, children[c], child, own), moved));
    }
    if (!own) /* the scene's root */
        return node;
    node->mTransformation = matrix_at_rest(&own->rest);
    lower_geometry(f, node, model, moved);
    if (unscaled)
        add_child(unscaled, node);
    return unscaled ? unscaled : node;
}

static uint32_t count_nodes(const struct aiNode *node)
{
    uint32_t count = 1;
    for (unsigned c = 0; c < node->mNumChildren && count <= TH_MAX_JOINTS; c++)
        count += count_nodes(node->mChildren[c]);
    return count;
}

static int compare_nodes(const void *a, const void *b)
{
    const fbx_node *const *x = a, *const *y = b;
    return ((*x)->node > (*y)->node) - ((*x)->node < (*y)->node);
}

const fbx_node *find_fbx_node(const fbx *f, const struct aiNode *node)
{
    const fbx_node key = {.node = node}, *wanted = &key;
    const fbx_node **found = bsearch(&wanted, f->by_node, f->node_count, sizeof *f->by_node, compare_nodes);
    return found ? *found : NULL;
}

const char *find_fbx_name(const scene *s, const struct aiNode *node)
{
    const fbx_node *own = find_fbx_node(s->fbx, node);
    return own && own->rest.part != TH_CURVE_UNSCALED ? own->model->name : NULL;
}

const th_trs *find_fbx_rest(const scene *s, const struct aiNode *node)
{
    const fbx_node *own = find_fbx_node(s->fbx, node);
    th_trs *rest = own ? make(s->fbx->s, th_trs, 1) : NULL;
    if (rest)
        th_transform_curves_at(&own->rest, 0, rest);
    return rest;
}

void settle_fbx_nodes(scene *s)
{
    fbx *f = s->fbx;
    if (!f)
        return;
    const uint32_t count = count_nodes(s->ai->mRootNode);
    if (count > TH_MAX_JOINTS)
        give_up(TH_ERR_LIMIT, "more than %u nodes", TH_MAX_JOINTS);
    f->nodes = make(s, fbx_node, 2 * count);
    settle(f, s->ai->mRootNode, fbx_root(f), NULL, make(s, bool, s->ai->mNumMeshes));
    f->by_node = make(s, const fbx_node *, f->node_count);
    for (uint32_t n = 0; n < f->node_count; n++)
        f->by_node[n] = &f->nodes[n];
    qsort(f->by_node, f->node_count, sizeof *f->by_node, compare_nodes);
}

/* ---- morph targets ---- */

/* The percents at which a channel's shapes are whole, as places (curves.h), of which *zero is that of no shape. Blender
 * stores something else there, of each vertex. */
static const float *read_places(const fbx *f, const fbx_object *channel, uint32_t shape_count, uint32_t *zero)
{
    uint32_t count;
    const double *percents = read_fbx_numbers(f->s, find_fbx_record(channel->record, NULL, "FullWeights"), &count);
    float *places = make(f->s, float, shape_count + 1);
    *zero = 0;
    for (uint32_t i = 0, n = 0; i < shape_count; i++, n++) {
        places[n] = (float)(count == shape_count ? percents[i] / 100 : (i + 1.0) / shape_count);
        /* Shapes of one place, or out of order, do not tell how they are mixed. */
        if (!isfinite(places[n]) || places[n] == 0 || (n > 0 && !(places[n] > places[n - 1])))
            return NULL;
        if (places[n] < 0)
            *zero = n + 1;
    }
    memmove(places + *zero + 1, places + *zero, (shape_count - *zero) * sizeof *places);
    places[*zero] = 0;
    return places;
}

static uint32_t add_channel_shapes(const fbx *f, const fbx_object *channel, fbx_shape *out)
{
    uint32_t shape_count = 0, zero;
    const fbx_links links = fbx_into(f, channel);
    for (const fbx_link *l = links.first; l < links.end; l++)
        shape_count += is_fbx_text(l->from->record, 2, "Shape");
    const fbx_record *direct = find_fbx_record(channel->record, NULL, "DeformPercent");
    const double percent = fbx_property(f, channel, "DeformPercent", fbx_number(direct, 0, 0));
    const float *places = shape_count > 0 && out ? read_places(f, channel, shape_count, &zero) : NULL;
    static const float alone[2] = {0, 1};
    if (out && shape_count > 0)
        warn(f->s, WARN_MORPH_PLACES, !places, "%s", channel->name);
    for (uint32_t i = 0; out && i < shape_count; i++)
        out[i] = (fbx_shape){channel,
                             {.number = (float)(percent / 100),
                              .place_count = places ? shape_count + 1 : 2,
                              .place = places ? i + (i >= zero) : 1,
                              .places = places ? places : alone}};
    return shape_count;
}

/* In the order of the file. */
static const fbx_shape *list_shapes(const fbx *f, const struct aiNode *node, uint32_t *out_count)
{
    fbx_shape *shapes = NULL;
    const fbx_node *own = find_fbx_node(f, node);
    if (!own && node->mParent) /* of a geometric transform */
        own = find_fbx_node(f, node->mParent);
    for (int pass = 0; pass < 2 && own; pass++) {
        *out_count = 0;
        const fbx_links meshes = fbx_into(f, own->model);
        for (const fbx_link *m = meshes.first; m < meshes.end; m++) {
            const fbx_links deformers = fbx_into(f, m->from);
            for (const fbx_link *d = deformers.first; d < deformers.end && is_fbx_text(m->from->record, 2, "Mesh");
                 d++) {
                const fbx_links channels = fbx_into(f, d->from);
                for (const fbx_link *c = channels.first; c < channels.end; c++)
                    if (c->from->kind == FBX_SHAPE_CHANNEL)
                        *out_count += add_channel_shapes(f, c->from, shapes ? shapes + *out_count : NULL);
            }
        }
        shapes = shapes ? shapes : make(f->s, fbx_shape, *out_count);
    }
    return shapes;
}

const fbx_shape **find_fbx_shapes(const scene *s, uint32_t joint, const struct aiMesh *mesh)
{
    uint32_t count = 0;
    const fbx_shape *shapes = list_shapes(s->fbx, s->nodes.node[joint], &count), **out;
    bool *taken = make(s->fbx->s, bool, count);
    out = make(s->fbx->s, const fbx_shape *, mesh->mNumAnimMeshes);
    for (unsigned t = 0; t < mesh->mNumAnimMeshes; t++) {
        const char *name = mesh->mAnimMeshes[t]->mName.data;
        name += strncmp(name, "SubDeformer::", 13) == 0 ? 13 : 0;
        uint32_t i = 0;
        while (i < count && (taken[i] || strcmp(shapes[i].channel->name, name) != 0))
            i++;
        if (i < count) {
            out[t] = &shapes[i];
            taken[i] = true;
        }
    }
    return out;
}

float find_fbx_weight(const fbx_shape *shape, float otherwise)
{
    return shape ? (float)th_weight_curves_at(&shape->rest, 0) : otherwise;
}

/* Morph targets of meshes, and the weights of the nodes that draw them.
 *
 * A node's meshes share its weights. They are listed by node while meshes are read, and numbered at the end, when it is
 * known which nodes have some. */
#include "morphs.h"

#include "importer.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* ---- what a target adds to a vertex ---- */

typedef struct delta {
    float position[3], normal[3];
} delta;

static bool is_finite(const delta *d)
{
    const float *v = d->position;
    return isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2]) && isfinite(d->normal[0]) && isfinite(d->normal[1]) &&
           isfinite(d->normal[2]);
}

static void subtract(const struct aiVector3D *from, const struct aiVector3D *base, float out[3])
{
    out[0] = from->x - (base ? base->x : 0);
    out[1] = from->y - (base ? base->y : 0);
    out[2] = from->z - (base ? base->z : 0);
}

/* The targets of glTF hold differences, those of Assimp positions. meshes.c gives normals unit length. */
static delta delta_of(const scene *s, const struct aiMesh *mesh, unsigned target, uint32_t v)
{
    const struct aiAnimMesh *to = mesh->mAnimMeshes[target];
    delta d = {{0}, {0}};
    if (to->mVertices)
        subtract(&to->mVertices[v], s->gltf ? NULL : &mesh->mVertices[v], d.position);
    if (!to->mNormals || !mesh->mNormals)
        return d;
    const struct aiVector3D n = mesh->mNormals[v];
    const float length = sqrtf(n.x * n.x + n.y * n.y + n.z * n.z);
    subtract(&to->mNormals[v], s->gltf ? NULL : &n, d.normal);
    for (int i = 0; i < 3; i++)
        d.normal[i] = isnormal(length) ? d.normal[i] / length : 0;
    return d;
}

static bool is_zero(const delta *d)
{
    const float *p = d->position, *n = d->normal;
    return p[0] == 0 && p[1] == 0 && p[2] == 0 && n[0] == 0 && n[1] == 0 && n[2] == 0;
}

static bool moves(const delta *d)
{
    return !is_zero(d) && is_finite(d);
}

bool same_deltas(const scene *s, const struct aiMesh *mesh, uint32_t a, uint32_t b)
{
    for (unsigned t = 0; t < mesh->mNumAnimMeshes; t++) {
        const delta x = delta_of(s, mesh, t, a), y = delta_of(s, mesh, t, b);
        if (memcmp(&x, &y, sizeof x) != 0)
            return false;
    }
    return true;
}

uint64_t hash_deltas(const scene *s, const struct aiMesh *mesh, uint32_t v)
{
    uint64_t hash = 0;
    for (unsigned t = 0; t < mesh->mNumAnimMeshes; t++) {
        const delta d = delta_of(s, mesh, t, v);
        hash = XXH3_64bits_withSeed(&d, sizeof d, hash);
    }
    return hash;
}

/* ---- targets ---- */

static th_morph_target read_target(scene *s, const struct aiMesh *mesh, unsigned t, const uint32_t *sources,
                                   uint32_t vertices, uint64_t *broken)
{
    uint32_t count = 0;
    for (uint32_t v = 0; v < vertices; v++) {
        const delta d = delta_of(s, mesh, t, sources[v]);
        count += moves(&d);
        *broken += !is_finite(&d);
    }
    th_morph_delta *deltas = make(s, th_morph_delta, count);
    uint32_t n = 0;
    for (uint32_t v = 0; v < vertices; v++) {
        const delta d = delta_of(s, mesh, t, sources[v]);
        if (!moves(&d))
            continue;
        deltas[n].vertex = v;
        memcpy(deltas[n].position, d.position, sizeof d.position);
        memcpy(deltas[n++].normal, d.normal, sizeof d.normal);
    }
    return (th_morph_target){.weight = t, .delta_count = count, .deltas = deltas};
}

/* Makes sure that the node has a weight for each target. */
static void add_weights(scene *s, const struct aiMesh *mesh, uint32_t joint)
{
    weight_set *set = &s->weights[joint];
    if (mesh->mNumAnimMeshes <= set->count)
        return;
    th_weight *weights = make(s, th_weight, mesh->mNumAnimMeshes);
    if (set->count > 0)
        memcpy(weights, set->weights, set->count * sizeof *weights);
    for (unsigned t = set->count; t < mesh->mNumAnimMeshes; t++) {
        const struct aiAnimMesh *to = mesh->mAnimMeshes[t];
        const float rest = s->gltf  ? find_gltf_weight(s, joint, t, to->mWeight)
                           : s->fbx ? find_fbx_weight(s, &to->mName, to->mWeight)
                                    : to->mWeight;
        warn(s, WARN_MORPH_NOT_FINITE, isfinite(rest) == 0, "node %s", s->model->joints[joint].name);
        weights[t] = (th_weight){read_name(s, to->mName.data), joint, isfinite(rest) ? rest : 0};
    }
    *set = (weight_set){.count = mesh->mNumAnimMeshes, .weights = weights};
}

void read_targets(scene *s, const struct aiMesh *mesh, const char *label, uint32_t joint, const uint32_t *sources,
                  th_mesh *out)
{
    uint64_t broken = 0, deltas = 0;
    if (mesh->mNumAnimMeshes == 0)
        return;
    th_morph_target *targets = make(s, th_morph_target, mesh->mNumAnimMeshes);
    for (unsigned t = 0; t < mesh->mNumAnimMeshes; t++) {
        targets[t] = read_target(s, mesh, t, sources, out->vertex_count, &broken);
        deltas += targets[t].delta_count;
    }
    warn(s, WARN_MORPH_NOT_FINITE, broken, "mesh %s", label);
    s->delta_count += deltas;
    const bool many = s->delta_count > TH_MAX_DELTAS;
    warn(s, WARN_MORPH_MANY, many, "mesh %s", label);
    if (many) {
        s->delta_count -= deltas;
        return;
    }
    add_weights(s, mesh, joint);
    out->targets = targets;
    out->target_count = mesh->mNumAnimMeshes;
}

/* ---- weights ---- */

void begin_weights(scene *s)
{
    s->weights = make(s, weight_set, s->nodes.count);
}

/* Sets the first weight of each node, and the list of the model. A node whose weights do not fit has none. */
static void number_weights(scene *s)
{
    uint32_t count = 0;
    for (uint32_t j = 0; j < s->nodes.count; j++) {
        weight_set *set = &s->weights[j];
        const bool many = set->count > TH_MAX_WEIGHTS - count;
        warn(s, WARN_MORPH_MANY, many, "node %s", s->model->joints[j].name);
        set->count = many ? 0 : set->count;
        set->first = count;
        count += set->count;
    }
    th_weight *weights = make(s, th_weight, count);
    for (uint32_t j = 0; j < s->nodes.count; j++)
        if (s->weights[j].count > 0)
            memcpy(weights + s->weights[j].first, s->weights[j].weights, s->weights[j].count * sizeof *weights);
    s->model->weights = weights;
    s->model->weight_count = count;
}

void finish_weights(scene *s, const uint32_t *joints, th_mesh *meshes, uint32_t count)
{
    number_weights(s);
    for (uint32_t m = 0; m < count; m++) {
        const weight_set *set = &s->weights[joints[m]];
        meshes[m].target_count = set->count > 0 ? meshes[m].target_count : 0;
        for (uint32_t t = 0; t < meshes[m].target_count; t++)
            ((th_morph_target *)meshes[m].targets)[t].weight += set->first;
    }
}

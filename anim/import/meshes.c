/* Meshes: vertices with their weights, triangles, the bones that they use, and morph targets.
 *
 * A mesh with weights follows its bones wherever its node is, so nodes that use it in one shape share one copy. A mesh
 * without weights follows its node: every node that uses it gets a copy, bound to that node only.
 *
 * The meshes of a node share the weights of their morph targets. They are listed by node while meshes are read, and
 * numbered at the end, when it is known which nodes have some. */
#include "scene.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* The largest weights of one vertex, descending, and the sum of all. */
typedef struct influence {
    uint16_t bone[TH_MAX_INFLUENCES];
    float weight[TH_MAX_INFLUENCES];
    float sum;
    uint32_t count;
} influence;

/* A mesh while it is built. Scratch arrays come from malloc, because meshes are large and the arena never shrinks. */
typedef struct work {
    const struct aiMesh *ai;
    const char *label;     /* for warnings */
    uint32_t joint;        /* joint of the mesh's node */
    influence *influences; /* by vertex */
    th_vertex *vertices;
    uint32_t *indices;
    uint32_t index_count;
    uint32_t *sources; /* by welded vertex: the vertex of the file */
} work;

static void *scratch(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    if (!memory)
        give_up_memory();
    return memory;
}

/* ---- bones ---- */

/* Returns the index of the bone with this joint and matrix, which is added if it is new. Preliminary until
 * finish_bones. */
static uint16_t find_bone(scene *s, uint32_t joint, th_mat34 inverse_bind)
{
    assert(joint < s->nodes.count && s->bones.count <= s->bones.capacity);
    bone_list *b = &s->bones;
    if (b->count == b->capacity) {
        const bone_list old = *b;
        b->capacity = 2 * old.capacity + 64;
        b->bone = make(s, th_bone, b->capacity);
        b->next = make(s, uint32_t, b->capacity);
        if (old.count > 0) {
            memcpy(b->bone, old.bone, old.count * sizeof *b->bone);
            memcpy(b->next, old.next, old.count * sizeof *b->next);
        }
    }
    uint32_t *link = &b->first[joint];
    for (; *link != TH_NO_INDEX; link = &b->next[*link])
        if (memcmp(&b->bone[*link].inverse_bind, &inverse_bind, sizeof inverse_bind) == 0)
            return (uint16_t)*link;
    if (b->count == TH_MAX_BONES)
        give_up(TH_ERR_LIMIT, "more than %u bones", TH_MAX_BONES);
    b->bone[b->count] = (th_bone){joint, inverse_bind};
    b->next[b->count] = TH_NO_INDEX;
    *link = b->count;
    return (uint16_t)b->count++;
}

/* Stores the bones in the model, sorted by joint: one list per joint exists already. Returns a map from preliminary to
 * final indices. */
static const uint16_t *finish_bones(scene *s)
{
    const bone_list *b = &s->bones;
    th_bone *sorted = make(s, th_bone, b->count);
    uint16_t *final = make(s, uint16_t, b->count);
    uint32_t count = 0;
    for (uint32_t j = 0; j < s->nodes.count; j++)
        for (uint32_t i = b->first[j]; i != TH_NO_INDEX; i = b->next[i]) {
            final[i] = (uint16_t)count;
            sorted[count++] = b->bone[i];
        }
    assert(count == b->count);
    s->model->bones = sorted;
    s->model->bone_count = count;
    return final;
}

/* ---- weights ---- */

/* Several bones of a mesh may map to one bone of the model; then their weights add up. */
static void add_weight(influence *v, uint16_t bone, float weight)
{
    assert(weight > 0);
    const int last = TH_MAX_INFLUENCES - 1;
    int slot = 0;
    while (slot <= last && v->weight[slot] > 0 && v->bone[slot] != bone)
        slot++;
    v->sum += weight;
    if (slot <= last && v->weight[slot] > 0) {
        v->weight[slot] += weight;
    } else {
        v->count++;
        if (slot > last && weight <= v->weight[last])
            return;
        slot = slot <= last ? slot : last;
        v->bone[slot] = bone;
        v->weight[slot] = weight;
    }
    for (; slot > 0 && v->weight[slot] > v->weight[slot - 1]; slot--) {
        const uint16_t lesser_bone = v->bone[slot - 1];
        const float lesser = v->weight[slot - 1];
        v->bone[slot - 1] = v->bone[slot];
        v->weight[slot - 1] = v->weight[slot];
        v->bone[slot] = lesser_bone;
        v->weight[slot] = lesser;
    }
}

/* Returns false if the mesh has none. */
static bool read_weights(scene *s, work *w)
{
    const struct aiMesh *mesh = w->ai;
    w->influences = scratch(mesh->mNumVertices, sizeof *w->influences);
    th_mat34 *inverse_binds = scratch(mesh->mNumBones, sizeof *inverse_binds);
    reference *bones = scratch(mesh->mNumBones, sizeof *bones);
    for (unsigned b = 0; b < mesh->mNumBones; b++) {
        const struct aiBone *bone = mesh->mBones[b];
        bones[b].name = read_name(s, bone->mName.data);
        inverse_binds[b] = read_matrix(s, &bone->mOffsetMatrix, bones[b].name);
        bones[b].inverse_bind = &inverse_binds[b];
        if (s->gltf)
            bones[b].joint = bone->mNode ? (uint32_t)(bone->mNode - s->ai->mRootNode) : TH_NO_INDEX;
    }
    if (!s->gltf)
        resolve_references(s, bones, mesh->mNumBones, make_string(s, "a bone of mesh %s", w->label));

    for (unsigned b = 0; b < mesh->mNumBones; b++) {
        const struct aiBone *bone = mesh->mBones[b];
        warn(s, WARN_BONE_LOST, bones[b].joint == TH_NO_INDEX, "%s", bones[b].name);
        if (bones[b].joint == TH_NO_INDEX)
            continue;
        uint16_t bone_index = find_bone(s, bones[b].joint, inverse_binds[b]);
        for (unsigned k = 0; k < bone->mNumWeights; k++) {
            struct aiVertexWeight weight = bone->mWeights[k];
            if (weight.mVertexId >= mesh->mNumVertices || !(weight.mWeight >= 0) || weight.mWeight > 1e30f)
                warn(s, WARN_WEIGHT_DROPPED, 1, "mesh %s, bone %s", w->label, bones[b].name);
            else if (weight.mWeight > 0)
                add_weight(&w->influences[weight.mVertexId], bone_index, weight.mWeight);
        }
    }
    free(bones);
    free(inverse_binds);

    uint64_t many = 0, sum = 0, none = 0;
    for (unsigned v = 0; v < mesh->mNumVertices; v++) {
        const influence *i = &w->influences[v];
        many += i->count > TH_MAX_INFLUENCES;
        sum += i->count > 0 && fabsf(i->sum - 1) > 1e-3f;
        none += i->count == 0;
    }
    if (none == mesh->mNumVertices)
        return false;
    warn(s, WARN_WEIGHTS_MANY, many, "mesh %s", w->label);
    warn(s, WARN_WEIGHTS_SUM, sum, "mesh %s", w->label);
    warn(s, WARN_WEIGHTS_NONE, none, "mesh %s", w->label);
    return true;
}

/* Scales weights to sum 1. A vertex without weights follows the mesh's node. Huge weights are scaled first, so that
 * their sum does not overflow. */
static void write_weights(scene *s, const work *w, unsigned v, th_vertex *out)
{
    influence i = w->influences[v];
    if (i.count == 0) {
        i.bone[0] = find_bone(s, w->joint, TH_MAT34_IDENTITY);
        i.weight[0] = 1;
    }
    assert(i.weight[0] > 0);
    float sum = 0;
    for (uint32_t k = 0; k < TH_MAX_INFLUENCES; k++)
        sum += out->weight[k] = i.weight[k] / i.weight[0];
    for (uint32_t k = 0; k < TH_MAX_INFLUENCES; k++) {
        out->weight[k] /= sum;
        out->bone[k] = out->weight[k] > 0 ? i.bone[k] : 0;
    }
}

/* ---- vertices ---- */

static uint8_t to_byte(float value)
{
    return value >= 1 ? 255 : value > 0 ? (uint8_t)(value * 255 + 0.5f) : 0; /* NaN: 0 */
}

static void read_vertices(scene *s, work *w)
{
    const struct aiMesh *mesh = w->ai;
    uint64_t bad_normals = 0, bad_uvs = 0;
    w->vertices = scratch(mesh->mNumVertices, sizeof *w->vertices);
    for (unsigned v = 0; v < mesh->mNumVertices; v++) {
        th_vertex *out = &w->vertices[v];
        struct aiVector3D p = mesh->mVertices[v];
        memcpy(out->position, (float[3]){p.x, p.y, p.z}, sizeof out->position);
        const struct aiVector3D n = mesh->mNormals ? mesh->mNormals[v] : (struct aiVector3D){0, 0, 0};
        const float length = sqrtf(n.x * n.x + n.y * n.y + n.z * n.z);
        const float normal[3] = {n.x / length, n.y / length, n.z / length}, up[3] = {0, 1, 0};
        memcpy(out->normal, isnormal(length) ? normal : up, sizeof out->normal);
        bad_normals += !isnormal(length);
        if (mesh->mTextureCoords[0]) {
            struct aiVector3D uv = mesh->mTextureCoords[0][v];
            bool good = isfinite(uv.x) && isfinite(uv.y);
            bad_uvs += !good;
            out->uv[0] = good ? uv.x : 0;
            out->uv[1] = good ? uv.y : 0;
        }
        struct aiColor4D c = mesh->mColors[0] ? mesh->mColors[0][v] : (struct aiColor4D){1, 1, 1, 1};
        memcpy(out->color, (uint8_t[4]){to_byte(c.r), to_byte(c.g), to_byte(c.b), to_byte(c.a)}, sizeof out->color);
        write_weights(s, w, v, out);
    }
    warn(s, WARN_NORMAL_MISSING, bad_normals, "mesh %s", w->label);
    warn(s, WARN_UV_NOT_FINITE, bad_uvs, "mesh %s", w->label);
}

/* ---- triangles ---- */

static bool usable(const work *w, unsigned index)
{
    if (index >= w->ai->mNumVertices)
        return false;
    const float *p = w->vertices[index].position;
    return isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2]);
}

static void read_triangles(scene *s, work *w)
{
    uint64_t dropped = 0;
    w->indices = scratch(w->ai->mNumFaces, 3 * sizeof *w->indices);
    for (unsigned f = 0; f < w->ai->mNumFaces; f++) {
        const struct aiFace *face = &w->ai->mFaces[f];
        if (face->mNumIndices != 3)
            continue; /* points and lines are counted before Assimp removes them */
        if (!usable(w, face->mIndices[0]) || !usable(w, face->mIndices[1]) || !usable(w, face->mIndices[2])) {
            dropped++;
            continue;
        }
        for (int i = 0; i < 3; i++)
            w->indices[w->index_count++] = face->mIndices[i];
    }
    warn(s, WARN_TRIANGLE_DROPPED, dropped, "mesh %s", w->label);
}

/* Assimp makes a mesh, with a material of this name, for files with bones and no mesh. */
static bool is_made_of_bones(const scene *s, const struct aiMesh *mesh)
{
    return mesh->mMaterialIndex < s->model->material_count &&
           strcmp(s->model->materials[mesh->mMaterialIndex].name, "SkeletonMaterial") == 0;
}

/* The side of a triangle to which the sum of its normals points: above 0 the front, below 0 the back. */
static float side_of_normals(const work *w, const uint32_t *corner)
{
    const th_vertex *a = &w->vertices[corner[0]], *b = &w->vertices[corner[1]], *c = &w->vertices[corner[2]];
    float u[3], v[3], side = 0;
    for (int i = 0; i < 3; i++) {
        u[i] = b->position[i] - a->position[i];
        v[i] = c->position[i] - a->position[i];
    }
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        side += (u[j] * v[k] - u[k] * v[j]) * (a->normal[i] + b->normal[i] + c->normal[i]);
    }
    return side;
}

/* Some exporters mirror a mesh and keep its order of corners. Then nearly all normals point to the back of their
 * triangles. The normals are right, because their author saw them lit. */
static void repair_winding(scene *s, work *w)
{
    uint32_t front = 0, back = 0;
    for (uint32_t i = 0; w->ai->mNormals && i < w->index_count; i += 3) {
        const float side = side_of_normals(w, &w->indices[i]);
        front += side > 0;
        back += side < 0;
    }
    if (back == 0 || is_made_of_bones(s, w->ai) || (uint64_t)back * 10 < ((uint64_t)front + back) * 9)
        return;
    for (uint32_t i = 0; i < w->index_count; i += 3) {
        const uint32_t second = w->indices[i + 1];
        w->indices[i + 1] = w->indices[i + 2];
        w->indices[i + 2] = second;
    }
    warn(s, WARN_WINDING, 1, "mesh %s", w->label);
}

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

/* The targets of glTF hold differences, those of Assimp positions. Normals get unit length. */
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

static bool moves(const delta *d)
{
    const float *p = d->position, *n = d->normal;
    const bool is_zero = p[0] == 0 && p[1] == 0 && p[2] == 0 && n[0] == 0 && n[1] == 0 && n[2] == 0;
    return !is_zero && is_finite(d);
}

/* Whether all targets add the same to two vertices. Equal ones have equal hashes. */
static bool same_deltas(const scene *s, const struct aiMesh *mesh, uint32_t a, uint32_t b)
{
    for (unsigned t = 0; t < mesh->mNumAnimMeshes; t++) {
        const delta x = delta_of(s, mesh, t, a), y = delta_of(s, mesh, t, b);
        if (memcmp(&x, &y, sizeof x) != 0)
            return false;
    }
    return true;
}

static uint64_t hash_deltas(const scene *s, const struct aiMesh *mesh, uint32_t v)
{
    uint64_t hash = 0;
    for (unsigned t = 0; t < mesh->mNumAnimMeshes; t++) {
        const delta d = delta_of(s, mesh, t, v);
        hash = XXH3_64bits_withSeed(&d, sizeof d, hash);
    }
    return hash;
}

/* ---- welding ---- */

/* The vertices that differ, so far. The table maps hashes to index + 1; 0 is a free slot. */
typedef struct welded {
    th_vertex *vertices;
    uint32_t *table;
    size_t mask;
    uint32_t count;
} welded;

/* Returns the index of vertex v among those that differ; adds it if missing. */
static uint32_t weld(const scene *s, work *w, uint32_t v, welded *out)
{
    const th_vertex *vertex = &w->vertices[v];
    size_t slot = XXH3_64bits_withSeed(vertex, sizeof *vertex, hash_deltas(s, w->ai, v)) & out->mask;
    for (; out->table[slot]; slot = (slot + 1) & out->mask) {
        const uint32_t other = out->table[slot] - 1;
        if (memcmp(&out->vertices[other], vertex, sizeof *vertex) == 0 && same_deltas(s, w->ai, w->sources[other], v))
            return other;
    }
    out->vertices[out->count] = *vertex;
    w->sources[out->count] = v;
    out->table[slot] = ++out->count;
    return out->count - 1;
}

/* Merges vertices that are equal in everything, weights and morph targets included, and removes unused ones. The order
 * is that of first use. */
static void weld_mesh(scene *s, work *w, th_mesh *out)
{
    size_t table_size = 64;
    while (table_size < 2 * (size_t)w->ai->mNumVertices)
        table_size *= 2;
    welded all = {.table = scratch(table_size, sizeof *all.table), .mask = table_size - 1};
    all.vertices = scratch(w->ai->mNumVertices, sizeof *all.vertices);
    w->sources = scratch(w->ai->mNumVertices, sizeof *w->sources);
    uint32_t *indices = make(s, uint32_t, w->index_count);
    for (uint32_t i = 0; i < w->index_count; i++)
        indices[i] = weld(s, w, w->indices[i], &all);
    th_vertex *vertices = make(s, th_vertex, all.count);
    memcpy(vertices, all.vertices, all.count * sizeof *vertices);
    free(all.vertices);
    free(all.table);

    assert(all.count <= w->ai->mNumVertices && all.count <= w->index_count && w->index_count % 3 == 0);
    out->vertices = vertices;
    out->vertex_count = all.count;
    out->indices = indices;
    out->index_count = w->index_count;
}

/* ---- morph targets ---- */

/* For vertices and the node that are known by now. */
static void read_targets(scene *s, const work *w, th_mesh *out)
{
    const struct aiMesh *mesh = w->ai;
    const unsigned count = mesh->mNumAnimMeshes;
    uint64_t broken = 0, all = 0;
    if (count == 0)
        return;
    th_morph_target *targets = make(s, th_morph_target, count);
    for (unsigned t = 0; t < count; t++) {
        uint32_t moved = 0, n = 0;
        for (uint32_t v = 0; v < out->vertex_count; v++) {
            const delta d = delta_of(s, mesh, t, w->sources[v]);
            moved += moves(&d);
            broken += !is_finite(&d);
        }
        th_morph_delta *deltas = make(s, th_morph_delta, moved);
        for (uint32_t v = 0; v < out->vertex_count; v++) {
            const delta d = delta_of(s, mesh, t, w->sources[v]);
            if (!moves(&d))
                continue;
            deltas[n].vertex = v;
            memcpy(deltas[n].position, d.position, sizeof d.position);
            memcpy(deltas[n++].normal, d.normal, sizeof d.normal);
        }
        targets[t] = (th_morph_target){.weight = t, .delta_count = moved, .deltas = deltas};
        all += moved;
    }
    warn(s, WARN_MORPH_NOT_FINITE, broken, "mesh %s", w->label);
    const bool many = s->delta_count + all > TH_MAX_DELTAS;
    warn(s, WARN_MORPH_MANY, many, "mesh %s", w->label);
    if (many)
        return;
    s->delta_count += all;
    out->targets = targets;
    out->target_count = count;

    /* The node needs a weight for each target. */
    weight_set *set = &s->weights[w->joint];
    if (count <= set->count)
        return;
    th_weight *weights = make(s, th_weight, count);
    const struct fbx_shape **shapes = s->fbx ? find_fbx_shapes(s, w->joint, mesh) : NULL;
    if (set->count > 0)
        memcpy(weights, set->weights, set->count * sizeof *weights);
    for (unsigned t = set->count; t < count; t++) {
        const struct aiAnimMesh *to = mesh->mAnimMeshes[t];
        const float rest = s->gltf  ? find_gltf_weight(s, w->joint, t, to->mWeight)
                           : s->fbx ? find_fbx_weight(shapes[t], to->mWeight)
                                    : to->mWeight;
        warn(s, WARN_MORPH_NOT_FINITE, isfinite(rest) == 0, "node %s", s->model->joints[w->joint].name);
        weights[t] = (th_weight){read_name(s, to->mName.data), w->joint, isfinite(rest) ? rest : 0};
    }
    *set = (weight_set){.count = count, .weights = weights, .shapes = shapes};
}

/* Lists the weights of all nodes in the model, and sets what the targets of meshes refer to. A node whose weights do
 * not fit has none. joints: of the nodes, by mesh. */
static void finish_weights(scene *s, const uint32_t *joints, th_mesh *meshes, uint32_t count)
{
    uint32_t weight_count = 0;
    for (uint32_t j = 0; j < s->nodes.count; j++) {
        weight_set *set = &s->weights[j];
        const bool many = set->count > TH_MAX_WEIGHTS - weight_count;
        warn(s, WARN_MORPH_MANY, many, "node %s", s->model->joints[j].name);
        set->count = many ? 0 : set->count;
        set->first = weight_count;
        weight_count += set->count;
    }
    th_weight *weights = make(s, th_weight, weight_count);
    for (uint32_t j = 0; j < s->nodes.count; j++)
        if (s->weights[j].count > 0)
            memcpy(weights + s->weights[j].first, s->weights[j].weights, s->weights[j].count * sizeof *weights);
    s->model->weights = weights;
    s->model->weight_count = weight_count;
    for (uint32_t m = 0; m < count; m++) {
        const weight_set *set = &s->weights[joints[m]];
        meshes[m].target_count = set->count > 0 ? meshes[m].target_count : 0;
        for (uint32_t t = 0; t < meshes[m].target_count; t++)
            ((th_morph_target *)meshes[m].targets)[t].weight += set->first;
    }
}

/* ---- meshes ---- */

/* Keeps one user of a skinned mesh for each shape that morph targets give it: by the mesh itself, but in glTF by the
 * node. Returns how many are kept. */
static uint32_t keep_shapes(scene *s, const work *w, uint32_t *users, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t u = 0; u < count; u++) {
        uint32_t k = 0;
        while (k < kept && s->gltf && !share_gltf_weights(s, w->ai, users[k], users[u]))
            k++;
        if (k == kept)
            users[kept++] = users[u];
    }
    warn(s, WARN_SKIN_REPEATED, kept < count, "mesh %s", w->label);
    return kept;
}

/* users: joints of the nodes that refer to the mesh; gets those that draw it. Writes a th_mesh for each; returns how
 * many. */
static uint32_t read_mesh(scene *s, uint32_t index, uint32_t *users, uint32_t user_count, th_mesh *out)
{
    assert(index < s->ai->mNumMeshes && user_count > 0);
    work common = {.ai = s->ai->mMeshes[index], .label = label_mesh(s, index)};
    if (read_weights(s, &common))
        user_count = keep_shapes(s, &common, users, user_count);
    uint64_t vertices = 0;
    for (uint32_t u = 0; u < user_count; u++, out++) {
        work w = common;
        w.joint = users[u];
        out->name = read_name(s, w.ai->mName.data);
        out->material = w.ai->mMaterialIndex < s->model->material_count ? w.ai->mMaterialIndex : 0;
        read_vertices(s, &w);
        read_triangles(s, &w);
        repair_winding(s, &w);
        weld_mesh(s, &w, out);
        read_targets(s, &w, out);
        free(w.vertices);
        free(w.indices);
        free(w.sources);
        vertices += out->vertex_count;
        if (vertices > TH_MAX_VERTICES)
            give_up(TH_ERR_LIMIT, "more than %u vertices", TH_MAX_VERTICES);
    }
    free(common.influences);
    return user_count;
}

/* Lists the nodes that refer to each mesh: users[first[m] .. first[m + 1]) for mesh m. Returns their number. */
static uint32_t list_users(scene *s, uint32_t **out_first, uint32_t **out_users)
{
    uint32_t mesh_count = s->ai->mNumMeshes, count = 0;
    uint32_t *first = make(s, uint32_t, mesh_count + 2);
    for (uint32_t j = 0; j < s->nodes.count; j++)
        for (unsigned m = 0; m < s->nodes.node[j]->mNumMeshes; m++)
            if (s->nodes.node[j]->mMeshes[m] < mesh_count) {
                first[s->nodes.node[j]->mMeshes[m] + 2]++;
                count++;
            }
    for (uint32_t m = 2; m < mesh_count + 2; m++)
        first[m] += first[m - 1];
    uint32_t *users = make(s, uint32_t, count);
    for (uint32_t j = 0; j < s->nodes.count; j++)
        for (unsigned m = 0; m < s->nodes.node[j]->mNumMeshes; m++)
            if (s->nodes.node[j]->mMeshes[m] < mesh_count)
                users[first[s->nodes.node[j]->mMeshes[m] + 1]++] = j;
    *out_first = first;
    *out_users = users;
    return count;
}

void read_meshes(scene *s)
{
    uint32_t *first, *users;
    uint32_t user_count = list_users(s, &first, &users);
    th_mesh *meshes = make(s, th_mesh, user_count);
    uint32_t *joints = make(s, uint32_t, user_count); /* by mesh: of the node that draws it */
    uint32_t count = 0;
    s->weights = make(s, weight_set, s->nodes.count);
    s->bones = (bone_list){.first = make(s, uint32_t, s->nodes.count)};
    memset(s->bones.first, 0xff, s->nodes.count * sizeof *s->bones.first); /* TH_NO_INDEX */
    for (uint32_t m = 0; m < s->ai->mNumMeshes; m++) {
        const struct aiMesh *mesh = s->ai->mMeshes[m];
        bool unused = first[m] == first[m + 1];
        bool empty = !(mesh->mPrimitiveTypes & aiPrimitiveType_TRIANGLE) || !mesh->mVertices;
        warn(s, WARN_MESH_UNUSED, unused, "%s", label_mesh(s, m));
        warn(s, WARN_MESH_EMPTY, empty && !unused, "%s", label_mesh(s, m));
        warn(s, WARN_MESH_BONES, is_made_of_bones(s, mesh), "%s", label_mesh(s, m));
        if (unused || empty)
            continue;
        memcpy(joints + count, users + first[m], (first[m + 1] - first[m]) * sizeof *joints);
        count += read_mesh(s, m, joints + count, first[m + 1] - first[m], meshes + count);
    }
    finish_weights(s, joints, meshes, count);
    s->model->meshes = meshes;
    s->model->mesh_count = count;

    assert(count <= user_count);
    for (uint32_t j = 0; j < s->nodes.count && count == 0; j++) { /* so that there is a palette to look at */
        th_dmat34 inverse = TH_DMAT34_IDENTITY;
        const bool singular = !th_dmat34_invert(&s->nodes.rest[j], &inverse);
        warn(s, WARN_BIND_INVERSE, singular, "%s", s->model->joints[j].name);
        find_bone(s, j, th_mat34_from(inverse));
    }
    const uint16_t *final = finish_bones(s);
    for (uint32_t m = 0; m < count; m++)
        for (uint32_t v = 0; v < meshes[m].vertex_count; v++) {
            th_vertex *vertex = (th_vertex *)&meshes[m].vertices[v];
            for (uint32_t k = 0; k < TH_MAX_INFLUENCES; k++)
                if (vertex->weight[k] > 0)
                    vertex->bone[k] = final[vertex->bone[k]];
        }
}

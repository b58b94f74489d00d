/* Meshes and skins (section 3.7): one of Assimp's meshes for each primitive, with each skin that it is used with. */
#include "gltf.h"
#include "gltf_draco.h"
#include "import/materials.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct aiVector3D) == 3 * sizeof(float), "read as three floats");

#ifdef TH_HAVE_DRACO
static const bool has_draco = true;
#else
static const bool has_draco = false;
#endif

/* A primitive while it is read. */
typedef struct primitive {
    gltf *g;
    const json_t *json;
    uint32_t mesh, skin;
    struct aiMesh *out;
    uint32_t integers; /* kinds that may stand for positions: KHR_mesh_quantization */
    gltf_draco *draco;
    const json_t *draco_ids; /* by attribute */
} primitive;

static const char *label(const primitive *p, const char *part)
{
    return make_string(p->g->s, "the %s of mesh %u", part, p->mesh);
}

/* ---- attributes ---- */

/* Returns an attribute of every vertex, as floats or, if `kinds` is 0, integers; NULL if there is none. attributes: of
 * the primitive or of a morph target. draco_id: where the attribute is in a compressed mesh; TH_NO_INDEX: it is not. */
static void *read_attribute(const primitive *p, const json_t *attributes, const char *name, uint32_t draco_id,
                            uint32_t kinds, uint32_t *width, const char *what)
{
    gltf *g = p->g;
    const uint32_t accessor = gltf_link(g, attributes, name, "accessors", what);
    if (accessor == TH_NO_INDEX)
        return NULL;
    if (p->draco && draco_id != TH_NO_INDEX) {
        const uint32_t there = gltf_draco_width(p->draco, draco_id);
        if (there == 0 || (*width && *width != there))
            give_up(TH_ERR_INPUT, "%s: no such attribute is compressed", what);
        *width = there;
        void *out = make(g->s, float, gltf_draco_vertices(p->draco) * there + 1);
        const json_t *json = gltf_at(gltf_list(g, "accessors"), accessor);
        const bool normalized = json_is_true(json_object_get(json, "normalized"));
        if (!(kinds ? gltf_draco_floats(p->draco, draco_id, normalized, out)
                    : gltf_draco_integers(p->draco, draco_id, out)))
            give_up(TH_ERR_INPUT, "%s cannot be decoded", what);
        return out;
    }
    const size_t count = gltf_count(g, accessor, what);
    if (count != p->out->mNumVertices)
        give_up(TH_ERR_INPUT, "%s (accessor %u) are %zu, for %u vertices", what, accessor, count, p->out->mNumVertices);
    return kinds ? (void *)gltf_read_floats(g, accessor, kinds, width, what)
                 : (void *)gltf_read_integers(g, accessor, *width, what);
}

static void *read_own(const primitive *p, const char *name, uint32_t kinds, uint32_t *width)
{
    return read_attribute(p, json_object_get(p->json, "attributes"), name, gltf_index(p->draco_ids, name), kinds, width,
                          label(p, name));
}

/* A file that does not require the extension KHR_draco_mesh_compression has the numbers uncompressed too. */
static void open_draco(primitive *p)
{
    const json_t *packed = gltf_extension(p->json, "KHR_draco_mesh_compression");
    if (!packed || (!has_draco && !gltf_names(p->g, "extensionsRequired", "KHR_draco_mesh_compression")))
        return;
    const char *what = label(p, "KHR_draco_mesh_compression");
    const uint32_t view = gltf_link(p->g, packed, "bufferView", "bufferViews", what);
    if (view == TH_NO_INDEX)
        give_up(TH_ERR_INPUT, "%s lies in no bufferView", what);
    const gltf_bytes bytes = gltf_read_view(p->g, view, what);
    p->draco = gltf_draco_decode(bytes.at, bytes.size);
    if (!p->draco)
        give_up(TH_ERR_INPUT, "%s cannot be decoded%s", what, has_draco ? "" : ": built without Draco");
    p->draco_ids = json_object_get(packed, "attributes");
}

static void read_vertices(const primitive *p, uint32_t material)
{
    gltf *g = p->g;
    struct aiMesh *out = p->out;
    const char *what = label(p, "POSITION");
    const uint32_t accessor = gltf_link(g, json_object_get(p->json, "attributes"), "POSITION", "accessors", what);
    const size_t count = accessor == TH_NO_INDEX ? 0
                         : p->draco              ? gltf_draco_vertices(p->draco)
                                                 : gltf_count(g, accessor, what);
    if (count > TH_MAX_VERTICES)
        give_up(TH_ERR_LIMIT, "more than %u vertices", TH_MAX_VERTICES);
    out->mNumVertices = (unsigned)count;

    uint32_t three = 3, two = 2, width = 0;
    out->mVertices = read_own(p, "POSITION", GLTF_FLOAT | p->integers, &three);
    out->mNormals = read_own(p, "NORMAL", GLTF_FLOAT | (p->integers & GLTF_SNORM), &three);

    const gltf_uv base = gltf_base_uv(g, material);
    const float *uvs = read_own(p, make_string(g->s, "TEXCOORD_%u", base.set),
                                GLTF_FLOAT | GLTF_UNORM | (p->integers & (GLTF_INTEGER | GLTF_SNORM)), &two);
    const double c = cos(base.rotation), s = sin(base.rotation);
    if (uvs) {
        out->mTextureCoords[0] = make(g->s, struct aiVector3D, count + 1);
        out->mNumUVComponents[0] = 2;
    }
    for (size_t v = 0; uvs && v < count; v++) {
        const double x = (double)uvs[2 * v] * base.scale[0], y = (double)uvs[2 * v + 1] * base.scale[1];
        out->mTextureCoords[0][v].x = (float)(base.offset[0] + c * x + s * y);
        out->mTextureCoords[0][v].y = (float)(base.offset[1] - s * x + c * y);
    }

    const float *colors = read_own(p, "COLOR_0", GLTF_FLOAT | GLTF_UNORM, &width);
    if (!colors)
        return;
    if (width != 3 && width != 4)
        give_up(TH_ERR_INPUT, "%s are not three or four floats each", label(p, "COLOR_0"));
    out->mColors[0] = make(g->s, struct aiColor4D, count + 1);
    for (size_t v = 0; v < count; v++) {
        const float *in = colors + v * width;
        out->mColors[0][v] = (struct aiColor4D){in[0], in[1], in[2], width == 4 ? in[3] : 1};
    }
}

/* ---- triangles ---- */

enum { POINTS, LINES, LINE_LOOP, LINE_STRIP, TRIANGLES, TRIANGLE_STRIP, TRIANGLE_FAN };

static uint32_t *read_indices(const primitive *p, size_t *out_count)
{
    const char *what = label(p, "indices");
    const uint32_t accessor = gltf_link(p->g, p->json, "indices", "accessors", what);
    if (accessor != TH_NO_INDEX && !p->draco) {
        *out_count = gltf_count(p->g, accessor, what);
        return gltf_read_integers(p->g, accessor, 1, what);
    }
    *out_count = p->draco ? 3 * gltf_draco_triangles(p->draco) : p->out->mNumVertices;
    uint32_t *out = make(p->g->s, uint32_t, *out_count + 1);
    if (p->draco)
        gltf_draco_indices(p->draco, out);
    for (uint32_t i = 0; !p->draco && i < *out_count; i++)
        out[i] = i;
    return out;
}

static void read_faces(const primitive *p)
{
    scene *s = p->g->s;
    struct aiMesh *out = p->out;
    size_t count = 0;
    const size_t mode = p->draco ? TRIANGLES : gltf_size(p->json, "mode", TRIANGLES, label(p, "primitive"));
    const uint32_t *indices = read_indices(p, &count);
    if (mode > TRIANGLE_FAN)
        give_up(TH_ERR_INPUT, "%s is %zu, which the format does not know", label(p, "mode"), mode);
    if (mode < TRIANGLES) {
        const size_t pairs = mode == LINES ? count / 2 : mode == LINE_STRIP ? count - (count > 0) : count;
        out->mPrimitiveTypes = mode == POINTS ? aiPrimitiveType_POINT : aiPrimitiveType_LINE;
        warn(s, WARN_FACE_DROPPED, pairs, "mesh %s", out->mName.data);
        return;
    }
    const size_t faces = mode == TRIANGLES ? count / 3 : count < 3 ? 0 : count - 2;
    warn(s, WARN_FACE_DROPPED, mode == TRIANGLES && count % 3, "mesh %s", out->mName.data);
    uint32_t *corners = make(s, uint32_t, 3 * faces + 1);
    out->mFaces = make(s, struct aiFace, faces + 1);
    out->mNumFaces = (unsigned)faces;
    out->mPrimitiveTypes = aiPrimitiveType_TRIANGLE;
    for (size_t f = 0; f < faces; f++, corners += 3) {
        const size_t odd = f % 2;
        const size_t from[3][3] = {{3 * f, 3 * f + 1, 3 * f + 2}, {f, f + 1 + odd, f + 2 - odd}, {f + 1, f + 2, 0}};
        for (int i = 0; i < 3; i++)
            corners[i] = indices[from[mode - TRIANGLES][i]];
        out->mFaces[f] = (struct aiFace){3, corners};
    }
}

/* ---- morph targets (section 3.7.2.2), with differences where Assimp's aiAnimMesh has positions ---- */

static float weight_of(const json_t *owner, size_t index)
{
    return (float)json_number_value(json_array_get(json_object_get(owner, "weights"), index));
}

static void read_targets(const primitive *p, const json_t *mesh)
{
    scene *s = p->g->s;
    struct aiMesh *out = p->out;
    const json_t *list = json_object_get(p->json, "targets"), *attributes,
                 *names = json_object_get(json_object_get(mesh, "extras"), "targetNames");
    const size_t count = json_array_size(list);
    const bool many = count > TH_MAX_WEIGHTS;
    size_t i;
    warn(s, WARN_MORPH_MANY, many, "mesh %s", out->mName.data);
    if (count == 0 || many || out->mNumVertices == 0)
        return;
    struct aiAnimMesh *targets = make(s, struct aiAnimMesh, count);
    out->mAnimMeshes = make(s, struct aiAnimMesh *, count);
    out->mNumAnimMeshes = (unsigned)count;
    const char *positions = label(p, "POSITION of a morph target"), *normals = label(p, "NORMAL of a morph target");
    uint32_t three = 3;
    json_array_foreach(list, i, attributes)
    {
        const char *name = json_string_value(json_array_get(names, i));
        out->mAnimMeshes[i] = &targets[i];
        targets[i].mName = gltf_string(name ? name : "");
        targets[i].mWeight = weight_of(mesh, i);
        targets[i].mNumVertices = out->mNumVertices;
        targets[i].mVertices =
            read_attribute(p, attributes, "POSITION", TH_NO_INDEX, GLTF_FLOAT | p->integers, &three, positions);
        if (out->mNormals)
            targets[i].mNormals = read_attribute(p, attributes, "NORMAL", TH_NO_INDEX,
                                                 GLTF_FLOAT | (p->integers & GLTF_SNORM), &three, normals);
    }
}

float find_gltf_weight(const scene *s, uint32_t joint, uint32_t index, float otherwise)
{
    const json_t *node = gltf_at(gltf_list(s->gltf, "nodes"), s->gltf->drawing[joint]);
    return json_object_get(node, "weights") ? weight_of(node, index) : otherwise;
}

bool share_gltf_weights(const scene *s, const struct aiMesh *mesh, uint32_t a, uint32_t b)
{
    const gltf *g = s->gltf;
    bool same = mesh->mNumAnimMeshes == 0 || (!g->morphed[g->drawing[a]] && !g->morphed[g->drawing[b]]);
    for (unsigned t = 0; same && t < mesh->mNumAnimMeshes; t++) {
        const float otherwise = mesh->mAnimMeshes[t]->mWeight;
        same = find_gltf_weight(s, a, t, otherwise) == find_gltf_weight(s, b, t, otherwise);
    }
    return same;
}

/* ---- normals, where a mesh has none: at each place the mean of those of all triangles ---- */

/* A vertex, sorted by its place. */
typedef struct corner {
    float place[3];
    uint32_t vertex;
} corner;

static int compare_places(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(float[3]));
}

/* Adds the normal of a triangle, of unit length, to its vertices. */
static void add_normal(const struct aiMesh *mesh, const struct aiVector3D *positions, const unsigned *v,
                       struct aiVector3D *sums)
{
    if (v[0] >= mesh->mNumVertices || v[1] >= mesh->mNumVertices || v[2] >= mesh->mNumVertices)
        return; /* meshes.c drops it */
    const struct aiVector3D a = positions[v[0]], b = positions[v[1]], c = positions[v[2]];
    const float u[3] = {b.x - a.x, b.y - a.y, b.z - a.z}, w[3] = {c.x - a.x, c.y - a.y, c.z - a.z};
    const float n[3] = {u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]};
    const float length = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int i = 0; i < 3 && isnormal(length); i++) {
        sums[v[i]].x += n[0] / length;
        sums[v[i]].y += n[1] / length;
        sums[v[i]].z += n[2] / length;
    }
}

/* corners: sorted. positions: those of the mesh, or moved by a target; vertices at one place stay together. */
static void sum_normals(const struct aiMesh *mesh, const struct aiVector3D *positions, const corner *corners,
                        struct aiVector3D *out)
{
    for (unsigned f = 0; f < mesh->mNumFaces; f++)
        add_normal(mesh, positions, mesh->mFaces[f].mIndices, out);
    for (size_t first = 0, end; first < mesh->mNumVertices; first = end) {
        struct aiVector3D sum = {0, 0, 0};
        for (end = first; end < mesh->mNumVertices && compare_places(&corners[first], &corners[end]) == 0; end++) {
            const struct aiVector3D n = out[corners[end].vertex];
            sum = (struct aiVector3D){sum.x + n.x, sum.y + n.y, sum.z + n.z};
        }
        for (size_t i = first; i < end; i++)
            out[corners[i].vertex] = sum;
    }
}

static float length_of(struct aiVector3D v)
{
    const float length = sqrtf(v.x * v.x + v.y * v.y + v.z * v.z);
    return isnormal(length) ? length : 0;
}

/* Sets what the target adds to normals: with them a normal has the length that it has without. */
static void make_target_normals(scene *s, const struct aiMesh *mesh, const corner *corners, struct aiAnimMesh *target)
{
    const size_t count = mesh->mNumVertices;
    struct aiVector3D *moved = make(s, struct aiVector3D, count), *normals = make(s, struct aiVector3D, count);
    for (size_t v = 0; v < count; v++) {
        const struct aiVector3D p = mesh->mVertices[v], d = target->mVertices[v];
        moved[v] = (struct aiVector3D){p.x + d.x, p.y + d.y, p.z + d.z};
    }
    sum_normals(mesh, moved, corners, normals);
    for (size_t v = 0; v < count; v++) {
        const struct aiVector3D n = mesh->mNormals[v], m = normals[v];
        const float length = length_of(m), scale = length > 0 ? length_of(n) / length : 0;
        normals[v] = scale > 0 ? (struct aiVector3D){m.x * scale - n.x, m.y * scale - n.y, m.z * scale - n.z}
                               : (struct aiVector3D){0, 0, 0};
    }
    target->mNormals = normals;
}

/* Computes smooth normals of a mesh and of its morph targets if it has none. */
static void make_normals(scene *s, struct aiMesh *mesh)
{
    if (mesh->mNormals || !mesh->mVertices || mesh->mNumFaces == 0)
        return;
    const size_t count = mesh->mNumVertices;
    corner *corners = make(s, corner, count + 1);
    mesh->mNormals = make(s, struct aiVector3D, count + 1);
    for (uint32_t v = 0; v < count; v++) { /* adding 0 makes a negative 0 positive */
        const struct aiVector3D p = mesh->mVertices[v];
        corners[v] = (corner){{p.x + 0, p.y + 0, p.z + 0}, v};
    }
    qsort(corners, count, sizeof *corners, compare_places);
    sum_normals(mesh, mesh->mVertices, corners, mesh->mNormals);
    for (unsigned t = 0; t < mesh->mNumAnimMeshes; t++)
        if (mesh->mAnimMeshes[t]->mVertices)
            make_target_normals(s, mesh, corners, mesh->mAnimMeshes[t]);
}

/* ---- skins ---- */

/* Distributes the weights of one set, four a vertex, to the bones. count_only: counts them first. */
static void deal_weights(const primitive *p, const uint32_t *joints, const float *weights, bool count_only)
{
    for (size_t i = 0; i < 4 * (size_t)p->out->mNumVertices; i++) {
        if (weights[i] == 0)
            continue;
        if (joints[i] >= p->out->mNumBones)
            give_up(TH_ERR_INPUT, "%s: joint %u is not among the %u of skin %u", label(p, "JOINTS"), joints[i],
                    p->out->mNumBones, p->skin);
        struct aiBone *bone = p->out->mBones[joints[i]];
        if (!count_only)
            bone->mWeights[bone->mNumWeights] = (struct aiVertexWeight){(unsigned)(i / 4), weights[i]};
        bone->mNumWeights++;
    }
}

static void read_skin(const primitive *p)
{
    enum { SETS = 8 };
    gltf *g = p->g;
    const uint32_t *joints[SETS];
    const float *weights[SETS];
    uint32_t sets = 0, width = 4;
    for (; sets < SETS; sets++) {
        joints[sets] = read_own(p, make_string(g->s, "JOINTS_%u", sets), 0, &width);
        weights[sets] = read_own(p, make_string(g->s, "WEIGHTS_%u", sets), GLTF_FLOAT | GLTF_UNORM, &width);
        if (!joints[sets] || !weights[sets])
            break;
    }
    if (sets == 0)
        return;

    const json_t *skin = gltf_at(gltf_list(g, "skins"), p->skin), *list = json_object_get(skin, "joints");
    const char *what = make_string(g->s, "the inverse bind matrices of skin %u", p->skin);
    const uint32_t accessor = gltf_link(g, skin, "inverseBindMatrices", "accessors", what);
    const size_t count = json_array_size(list);
    const float *matrices = NULL;
    if (accessor != TH_NO_INDEX) {
        width = 16;
        matrices = gltf_read_floats(g, accessor, GLTF_FLOAT, &width, what);
        if (gltf_count(g, accessor, what) < count)
            give_up(TH_ERR_INPUT, "%s (accessor %u) are %zu, for %zu joints", what, accessor,
                    gltf_count(g, accessor, what), count);
    }
    p->out->mBones = make(g->s, struct aiBone *, count + 1);
    p->out->mNumBones = (unsigned)count;
    for (size_t b = 0; b < count; b++) {
        const uint32_t node = gltf_index_of(json_array_get(list, b));
        if (node >= json_array_size(gltf_list(g, "nodes")))
            give_up(TH_ERR_INPUT, "joint %zu of skin %u is out of bounds", b, p->skin);
        struct aiBone *bone = p->out->mBones[b] = make(g->s, struct aiBone, 1);
        bone->mNode = &g->ai->mRootNode[gltf_joint(g, node)];
        bone->mName = bone->mNode->mName;
        float rows[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
        for (size_t i = 0; i < 16 && matrices; i++)
            rows[i] = matrices[16 * b + i % 4 * 4 + i / 4];
        memcpy(&bone->mOffsetMatrix, rows, sizeof rows);
    }

    for (uint32_t set = 0; set < sets; set++)
        deal_weights(p, joints[set], weights[set], true);
    for (size_t b = 0; b < count; b++) {
        struct aiBone *bone = p->out->mBones[b];
        bone->mWeights = make(g->s, struct aiVertexWeight, bone->mNumWeights + 1);
        bone->mNumWeights = 0;
    }
    for (uint32_t set = 0; set < sets; set++)
        deal_weights(p, joints[set], weights[set], false);
}

/* ---- meshes, and which nodes use them ---- */

/* A mesh and skin, and a node that they stand at. */
typedef struct use {
    uint32_t mesh, skin;
    struct aiNode *node;
} use;

static int compare_uses(const void *a, const void *b)
{
    const use *x = a, *y = b;
    if (x->mesh != y->mesh)
        return x->mesh < y->mesh ? -1 : 1;
    if (x->skin != y->skin)
        return x->skin < y->skin ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* Lists those that are shown. A node with EXT_mesh_gpu_instancing lends its mesh to its instances, which are its last
 * children. Returns how many uses there are. */
static size_t list_uses(const gltf *g, use *out)
{
    size_t n, count = 0;
    const json_t *node;
    json_array_foreach(gltf_list(g, "nodes"), n, node)
    {
        const char *what = make_string(g->s, "node %zu", n);
        const uint32_t mesh = gltf_link(g, node, "mesh", "meshes", what),
                       skin = gltf_link(g, node, "skin", "skins", what);
        const size_t children = json_array_size(json_object_get(node, "children"));
        struct aiNode *ai = g->node ? g->node[n] : NULL;
        const size_t first = count;
        if (!ai || mesh == TH_NO_INDEX || ai - g->ai->mRootNode >= g->shown)
            continue;
        if (!gltf_extension(node, "EXT_mesh_gpu_instancing") || skin != TH_NO_INDEX)
            out[count++] = (use){mesh, skin, ai};
        else
            for (size_t c = children; c < ai->mNumChildren; c++)
                out[count++] = (use){mesh, skin, ai->mChildren[c]};
        for (size_t i = first; i < count; i++)
            g->drawing[out[i].node - g->ai->mRootNode] = (uint32_t)n;
    }
    qsort(out, count, sizeof *out, compare_uses);
    return count;
}

/* Reads the mesh with the skin of these uses, which is the same. */
static void read_mesh(gltf *g, uint32_t index, const use *uses, size_t use_count)
{
    scene *s = g->s;
    struct aiScene *ai = g->ai;
    const json_t *mesh = gltf_at(gltf_list(g, "meshes"), index), *list = json_object_get(mesh, "primitives"), *json;
    const size_t count = json_array_size(list);
    const char *name = json_string_value(json_object_get(mesh, "name"));
    if (!name || !name[0])
        name = make_string(s, "meshes[%u]", index);
    unsigned *indices = make(s, unsigned, count + 1);
    size_t i;
    json_array_foreach(list, i, json)
    {
        struct aiMesh *out = make(s, struct aiMesh, 1);
        primitive p = {.g = g, .json = json, .mesh = index, .skin = use_count ? uses[0].skin : TH_NO_INDEX, .out = out};
        if (gltf_names(g, "extensionsUsed", "KHR_mesh_quantization"))
            p.integers = GLTF_INTEGER | GLTF_UNORM | GLTF_SNORM;
        out->mName = gltf_string(count > 1 ? make_string(s, "%.1000s-%zu", name, i) : name);
        const uint32_t material = gltf_link(g, json, "material", "materials", label(&p, "material"));
        /* One for meshes without stands last. */
        out->mMaterialIndex = material == TH_NO_INDEX ? count_gltf_materials(s) - 1 : material;
        open_draco(&p);
        read_vertices(&p, material);
        read_faces(&p);
        read_targets(&p, mesh);
        if (p.skin != TH_NO_INDEX)
            read_skin(&p);

        if ((ai->mNumMeshes & (ai->mNumMeshes - 1)) == 0) { /* a power of two, or none: full */
            struct aiMesh **more = make(s, struct aiMesh *, 2 * (size_t)ai->mNumMeshes + 1);
            memcpy(more, ai->mMeshes ? ai->mMeshes : more, ai->mNumMeshes * sizeof(*more));
            ai->mMeshes = more;
        }
        indices[i] = ai->mNumMeshes;
        ai->mMeshes[ai->mNumMeshes++] = out;
        const bool is_bare = (out->mPrimitiveTypes & aiPrimitiveType_TRIANGLE) && !out->mNormals;
        warn(s, WARN_MESH_NO_NORMALS, is_bare, "mesh %s", label_mesh(s, indices[i]));
        make_normals(s, out);
    }
    for (i = 0; i < use_count; i++) {
        uses[i].node->mNumMeshes = (unsigned)count;
        uses[i].node->mMeshes = indices;
    }
}

void gltf_build_meshes(gltf *g)
{
    const uint32_t meshes = (uint32_t)json_array_size(gltf_list(g, "meshes"));
    g->drawing = make(g->s, uint32_t, TH_MAX_JOINTS);
    memset(g->drawing, 0xff, TH_MAX_JOINTS * sizeof *g->drawing); /* TH_NO_INDEX */
    use *uses = make(g->s, use, json_array_size(gltf_list(g, "nodes")) + TH_MAX_JOINTS + 1);
    const size_t count = list_uses(g, uses);
    size_t at = 0;
    for (uint32_t m = 0; m < meshes; m++) {
        if (at == count || uses[at].mesh != m)
            read_mesh(g, m, NULL, 0);
        while (at < count && uses[at].mesh == m) {
            size_t end = at;
            while (end < count && uses[end].mesh == m && uses[end].skin == uses[at].skin)
                end++;
            read_mesh(g, m, uses + at, end - at);
            at = end;
        }
    }
}

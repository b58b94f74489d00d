/* Meshes and skins (section 3.7): one of Assimp's meshes for each primitive, with each skin that it is used with. */
#include "gltf.h"
#include "gltf_draco.h"
#include "import/importer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A primitive while it is read. */
typedef struct primitive {
    gltf *g;
    const json_t *json;
    uint32_t mesh, skin;
    struct aiMesh *out;
    bool quantized; /* by KHR_mesh_quantization */
    gltf_draco *draco;
    const json_t *draco_ids; /* by attribute */
} primitive;

static const char *label(const primitive *p, const char *part)
{
    return make_string(p->g->s, "the %s of mesh %u", part, p->mesh);
}

/* ---- KHR_draco_mesh_compression ---- */

#ifdef TH_HAVE_DRACO
static const bool has_draco = true;
#else
static const bool has_draco = false;
#endif

/* A file that does not require the extension has the numbers uncompressed too. */
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

/* Returns floats, or integers if `kinds` is 0; NULL if the attribute is not compressed. */
static void *read_draco(const primitive *p, const char *name, uint32_t accessor, uint32_t kinds, uint32_t *width)
{
    const uint32_t id = gltf_index(p->draco_ids, name);
    if (!p->draco || id == TH_NO_INDEX)
        return NULL;
    const uint32_t there = gltf_draco_width(p->draco, id);
    if (there == 0 || (*width && *width != there))
        give_up(TH_ERR_INPUT, "%s: no such attribute is compressed", label(p, name));
    *width = there;
    void *out = make(p->g->s, float, gltf_draco_vertices(p->draco) * there + 1);
    const json_t *json = gltf_at(gltf_list(p->g, "accessors"), accessor);
    const bool normalized = json_is_true(json_object_get(json, "normalized"));
    if (!(kinds ? gltf_draco_floats(p->draco, id, normalized, out) : gltf_draco_integers(p->draco, id, out)))
        give_up(TH_ERR_INPUT, "%s cannot be decoded", label(p, name));
    return out;
}

/* ---- attributes ---- */

/* Returns an attribute of every vertex, as floats or, if `kinds` is 0, integers; NULL if the primitive has none. */
static void *read_attribute(const primitive *p, const char *name, uint32_t kinds, uint32_t *width)
{
    const char *what = label(p, name);
    const uint32_t accessor = gltf_link(p->g, json_object_get(p->json, "attributes"), name, "accessors", what);
    if (accessor == TH_NO_INDEX)
        return NULL;
    void *packed = read_draco(p, name, accessor, kinds, width);
    if (packed)
        return packed;
    const size_t count = gltf_count(p->g, accessor, what);
    if (count != p->out->mNumVertices)
        give_up(TH_ERR_INPUT, "%s (accessor %u) are %zu, for %u vertices", what, accessor, count, p->out->mNumVertices);
    return kinds ? (void *)gltf_read_floats(p->g, accessor, kinds, width, what)
                 : (void *)gltf_read_integers(p->g, accessor, *width, what);
}

static void count_vertices(primitive *p)
{
    const char *what = label(p, "POSITION");
    const uint32_t accessor = gltf_link(p->g, json_object_get(p->json, "attributes"), "POSITION", "accessors", what);
    const size_t count = accessor == TH_NO_INDEX ? 0
                         : p->draco              ? gltf_draco_vertices(p->draco)
                                                 : gltf_count(p->g, accessor, what);
    if (count > TH_MAX_VERTICES)
        give_up(TH_ERR_LIMIT, "more than %u vertices", TH_MAX_VERTICES);
    p->out->mNumVertices = (unsigned)count;
}

static void read_uvs(const primitive *p, uint32_t material)
{
    const gltf_uv base = gltf_base_uv(p->g, material);
    const uint32_t integers = p->quantized ? GLTF_INTEGER | GLTF_SNORM : 0;
    uint32_t width = 2;
    const float *uvs =
        read_attribute(p, make_string(p->g->s, "TEXCOORD_%u", base.set), GLTF_FLOAT | GLTF_UNORM | integers, &width);
    if (!uvs)
        return;
    struct aiVector3D *out = make(p->g->s, struct aiVector3D, p->out->mNumVertices + 1);
    const double c = cos(base.rotation), s = sin(base.rotation);
    for (uint32_t v = 0; v < p->out->mNumVertices; v++) {
        const double x = (double)uvs[2 * v] * base.scale[0], y = (double)uvs[2 * v + 1] * base.scale[1];
        out[v].x = (float)(base.offset[0] + c * x + s * y);
        out[v].y = (float)(base.offset[1] - s * x + c * y);
    }
    p->out->mTextureCoords[0] = out;
    p->out->mNumUVComponents[0] = 2;
}

static void read_colors(const primitive *p)
{
    uint32_t width = 0;
    const float *colors = read_attribute(p, "COLOR_0", GLTF_FLOAT | GLTF_UNORM, &width);
    if (!colors)
        return;
    if (width != 3 && width != 4)
        give_up(TH_ERR_INPUT, "%s are not three or four floats each", label(p, "COLOR_0"));
    p->out->mColors[0] = make(p->g->s, struct aiColor4D, p->out->mNumVertices + 1);
    for (uint32_t v = 0; v < p->out->mNumVertices; v++) {
        const float *in = colors + (size_t)v * width;
        p->out->mColors[0][v] = (struct aiColor4D){in[0], in[1], in[2], width == 4 ? in[3] : 1};
    }
}

static void read_attributes(const primitive *p, uint32_t material)
{
    _Static_assert(sizeof(struct aiVector3D) == 3 * sizeof(float), "read as three floats");
    const uint32_t integers = p->quantized ? GLTF_INTEGER | GLTF_UNORM | GLTF_SNORM : 0;
    uint32_t width = 3;
    p->out->mVertices = read_attribute(p, "POSITION", GLTF_FLOAT | integers, &width);
    p->out->mNormals = read_attribute(p, "NORMAL", GLTF_FLOAT | (integers & GLTF_SNORM), &width);
    read_uvs(p, material);
    read_colors(p);
}

/* ---- triangles ---- */

enum { POINTS, LINES, LINE_LOOP, LINE_STRIP, TRIANGLES, TRIANGLE_STRIP, TRIANGLE_FAN };

static uint32_t *read_indices(const primitive *p, size_t *out_count)
{
    const char *what = label(p, "indices");
    const uint32_t accessor = gltf_link(p->g, p->json, "indices", "accessors", what);
    if (p->draco) {
        *out_count = 3 * gltf_draco_triangles(p->draco);
        uint32_t *out = make(p->g->s, uint32_t, *out_count + 1);
        gltf_draco_indices(p->draco, out);
        return out;
    }
    if (accessor != TH_NO_INDEX) {
        *out_count = gltf_count(p->g, accessor, what);
        return gltf_read_integers(p->g, accessor, 1, what);
    }
    *out_count = p->out->mNumVertices;
    uint32_t *out = make(p->g->s, uint32_t, *out_count + 1);
    for (uint32_t i = 0; i < *out_count; i++)
        out[i] = i;
    return out;
}

/* Writes the corners of triangle f. */
static void write_corners(uint32_t mode, const uint32_t *in, size_t f, uint32_t out[3])
{
    const size_t odd = f % 2;
    const size_t corners[3][3] = {{3 * f, 3 * f + 1, 3 * f + 2}, {f, f + 1 + odd, f + 2 - odd}, {f + 1, f + 2, 0}};
    for (int i = 0; i < 3; i++)
        out[i] = in[corners[mode - TRIANGLES][i]];
}

static void read_faces(const primitive *p)
{
    size_t count = 0;
    const uint32_t given = gltf_index(p->json, "mode"), mode = given == TH_NO_INDEX || p->draco ? TRIANGLES : given;
    const uint32_t *indices = read_indices(p, &count);
    if (mode > TRIANGLE_FAN)
        give_up(TH_ERR_INPUT, "%s is %u, which the format does not know", label(p, "mode"), mode);
    if (mode < TRIANGLES) {
        const size_t pairs = mode == LINES ? count / 2 : mode == LINE_STRIP ? count - (count > 0) : count;
        p->out->mPrimitiveTypes = mode == POINTS ? aiPrimitiveType_POINT : aiPrimitiveType_LINE;
        warn(p->g->s, WARN_FACE_DROPPED, pairs, "mesh %s", p->out->mName.data);
        return;
    }
    const size_t faces = mode == TRIANGLES ? count / 3 : count < 3 ? 0 : count - 2;
    warn(p->g->s, WARN_FACE_DROPPED, mode == TRIANGLES && count % 3, "mesh %s", p->out->mName.data);
    uint32_t *corners = make(p->g->s, uint32_t, 3 * faces + 1);
    p->out->mFaces = make(p->g->s, struct aiFace, faces + 1);
    p->out->mNumFaces = (unsigned)faces;
    p->out->mPrimitiveTypes = aiPrimitiveType_TRIANGLE;
    for (size_t f = 0; f < faces; f++) {
        write_corners(mode, indices, f, corners + 3 * f);
        p->out->mFaces[f] = (struct aiFace){3, corners + 3 * f};
    }
}

/* ---- skins ---- */

static struct aiBone *make_bone(const primitive *p, const json_t *joints, size_t index, const float *matrices)
{
    const gltf *g = p->g;
    const uint32_t node = gltf_index_of(json_array_get(joints, index));
    if (node >= json_array_size(gltf_list(g, "nodes")))
        give_up(TH_ERR_INPUT, "joint %zu of skin %u is out of bounds", index, p->skin);
    struct aiBone *out = make(g->s, struct aiBone, 1);
    const char *name = json_string_value(json_object_get(gltf_at(gltf_list(g, "nodes"), node), "name"));
    out->mNode = g->node[node];
    out->mName = out->mNode ? out->mNode->mName : gltf_string(name ? name : "");
    float rows[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    for (size_t i = 0; i < 16 && matrices; i++)
        rows[i] = matrices[16 * index + i % 4 * 4 + i / 4];
    memcpy(&out->mOffsetMatrix, rows, sizeof rows);
    return out;
}

static void read_skin(const primitive *p)
{
    gltf *g = p->g;
    const json_t *skin = gltf_at(gltf_list(g, "skins"), p->skin), *joints = json_object_get(skin, "joints");
    const char *what = make_string(g->s, "the inverse bind matrices of skin %u", p->skin);
    const uint32_t accessor = gltf_link(g, skin, "inverseBindMatrices", "accessors", what);
    const size_t count = json_array_size(joints);
    const float *matrices = NULL;
    if (accessor != TH_NO_INDEX) {
        uint32_t width = 16;
        matrices = gltf_read_floats(g, accessor, GLTF_FLOAT, &width, what);
        if (gltf_count(g, accessor, what) < count)
            give_up(TH_ERR_INPUT, "%s (accessor %u) are %zu, for %zu joints", what, accessor,
                    gltf_count(g, accessor, what), count);
    }
    p->out->mBones = make(g->s, struct aiBone *, count + 1);
    p->out->mNumBones = (unsigned)count;
    for (size_t b = 0; b < count; b++)
        p->out->mBones[b] = make_bone(p, joints, b, matrices);
}

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

static void read_weights(const primitive *p)
{
    enum { SETS = 8 };
    const uint32_t *joints[SETS];
    const float *weights[SETS];
    uint32_t sets = 0, width = 4;
    for (; sets < SETS; sets++) {
        joints[sets] = read_attribute(p, make_string(p->g->s, "JOINTS_%u", sets), 0, &width);
        weights[sets] = read_attribute(p, make_string(p->g->s, "WEIGHTS_%u", sets), GLTF_FLOAT | GLTF_UNORM, &width);
        if (!joints[sets] || !weights[sets])
            break;
    }
    if (sets == 0)
        return;
    read_skin(p);
    for (uint32_t set = 0; set < sets; set++)
        deal_weights(p, joints[set], weights[set], true);
    for (unsigned b = 0; b < p->out->mNumBones; b++) {
        struct aiBone *bone = p->out->mBones[b];
        bone->mWeights = make(p->g->s, struct aiVertexWeight, bone->mNumWeights + 1);
        bone->mNumWeights = 0;
    }
    for (uint32_t set = 0; set < sets; set++)
        deal_weights(p, joints[set], weights[set], false);
}

/* ---- meshes ---- */

static struct aiString name_mesh(const gltf *g, const json_t *mesh, uint32_t index, size_t part, size_t parts)
{
    const char *name = json_string_value(json_object_get(mesh, "name"));
    if (!name || !name[0])
        name = make_string(g->s, "meshes[%u]", index);
    return gltf_string(parts > 1 ? make_string(g->s, "%.1000s-%zu", name, part) : name);
}

static struct aiMesh *read_primitive(gltf *g, uint32_t mesh, uint32_t skin, const json_t *json, struct aiString name)
{
    primitive p = {.g = g, .json = json, .mesh = mesh, .skin = skin};
    p.quantized = gltf_names(g, "extensionsUsed", "KHR_mesh_quantization");
    p.out = make(g->s, struct aiMesh, 1);
    p.out->mName = name;
    const uint32_t material = gltf_link(g, json, "material", "materials", label(&p, "material"));
    p.out->mMaterialIndex = material == TH_NO_INDEX ? g->ai->mNumMaterials - 1 : material;
    open_draco(&p);
    count_vertices(&p);
    read_attributes(&p, material);
    read_faces(&p);
    gltf_read_targets(g, gltf_at(gltf_list(g, "meshes"), mesh), mesh, json, p.out);
    if (skin != TH_NO_INDEX)
        read_weights(&p);
    return p.out;
}

/* ---- which nodes use them ---- */

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

/* A node with EXT_mesh_gpu_instancing lends its mesh to its instances, which are its last children. Returns how many
 * uses there are. */
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
        if (!ai || mesh == TH_NO_INDEX)
            continue;
        if (!gltf_extension(node, "EXT_mesh_gpu_instancing") || skin != TH_NO_INDEX)
            out[count++] = (use){mesh, skin, ai};
        else
            for (size_t c = children; c < ai->mNumChildren; c++)
                out[count++] = (use){mesh, skin, ai->mChildren[c]};
        for (size_t i = first; i < count; i++)
            g->drawing[out[i].node - g->ai->mRootNode] = node;
    }
    qsort(out, count, sizeof *out, compare_uses);
    return count;
}

static void append(gltf *g, struct aiMesh *mesh)
{
    struct aiScene *ai = g->ai;
    if ((ai->mNumMeshes & (ai->mNumMeshes - 1)) == 0) { /* a power of two, or none: full */
        struct aiMesh **more = make(g->s, struct aiMesh *, 2 * (size_t)ai->mNumMeshes + 1);
        memcpy(more, ai->mMeshes ? ai->mMeshes : more, ai->mNumMeshes * sizeof(*more));
        ai->mMeshes = more;
    }
    ai->mMeshes[ai->mNumMeshes++] = mesh;
}

/* Reads the mesh with the skin of these uses, which is the same. */
static void read_mesh(gltf *g, uint32_t index, const use *uses, size_t count)
{
    const json_t *mesh = gltf_at(gltf_list(g, "meshes"), index), *list = json_object_get(mesh, "primitives"), *json;
    const size_t primitives = json_array_size(list);
    const unsigned first = g->ai->mNumMeshes;
    size_t i;
    json_array_foreach(list, i, json) append(g, read_primitive(g, index, count ? uses[0].skin : TH_NO_INDEX, json,
                                                               name_mesh(g, mesh, index, i, primitives)));
    unsigned *indices = make(g->s, unsigned, primitives + 1);
    for (i = 0; i < primitives; i++)
        indices[i] = first + (unsigned)i;
    for (i = 0; i < count; i++) {
        uses[i].node->mNumMeshes = (unsigned)primitives;
        uses[i].node->mMeshes = indices;
    }
}

void gltf_build_meshes(gltf *g)
{
    const uint32_t meshes = (uint32_t)json_array_size(gltf_list(g, "meshes"));
    g->drawing = make(g->s, const json_t *, TH_MAX_JOINTS);
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

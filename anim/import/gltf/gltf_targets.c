/* Morph targets (section 3.7.2.2) as Assimp's aiAnimMesh, but with differences instead of positions. */
#include "gltf.h"
#include "import/importer.h"

#include <math.h>

/* A target while it is read. */
typedef struct target {
    gltf *g;
    const json_t *attributes;
    const char *mesh;
    uint32_t vertices;
} target;

/* Returns NULL if the target has no such attribute. */
static struct aiVector3D *read_deltas(const target *t, const char *name, uint32_t kinds)
{
    _Static_assert(sizeof(struct aiVector3D) == 3 * sizeof(float), "read as three floats");
    const char *what = make_string(t->g->s, "the %s of a morph target of %s", name, t->mesh);
    const uint32_t accessor = gltf_link(t->g, t->attributes, name, "accessors", what);
    uint32_t width = 3;
    if (accessor == TH_NO_INDEX)
        return NULL;
    const size_t count = gltf_count(t->g, accessor, what);
    if (count != t->vertices)
        give_up(TH_ERR_INPUT, "%s (accessor %u) are %zu, for %u vertices", what, accessor, count, t->vertices);
    return (void *)gltf_read_floats(t->g, accessor, kinds, &width, what);
}

static float weight_of(const json_t *owner, size_t index)
{
    return (float)json_number_value(json_array_get(json_object_get(owner, "weights"), index));
}

void gltf_read_targets(gltf *g, const json_t *mesh, uint32_t index, const json_t *primitive, struct aiMesh *out)
{
    const json_t *list = json_object_get(primitive, "targets"), *attributes,
                 *names = json_object_get(json_object_get(mesh, "extras"), "targetNames");
    const uint32_t integers =
        gltf_names(g, "extensionsUsed", "KHR_mesh_quantization") ? GLTF_INTEGER | GLTF_UNORM | GLTF_SNORM : 0;
    const size_t count = json_array_size(list);
    const bool many = count > TH_MAX_WEIGHTS;
    size_t i;
    warn(g->s, WARN_MORPH_MANY, many, "mesh %s", out->mName.data);
    if (count == 0 || many || out->mNumVertices == 0)
        return;
    struct aiAnimMesh *targets = make(g->s, struct aiAnimMesh, count);
    out->mAnimMeshes = make(g->s, struct aiAnimMesh *, count);
    out->mNumAnimMeshes = (unsigned)count;
    json_array_foreach(list, i, attributes)
    {
        const target t = {g, attributes, make_string(g->s, "mesh %u", index), out->mNumVertices};
        const char *name = json_string_value(json_array_get(names, i));
        out->mAnimMeshes[i] = &targets[i];
        targets[i].mName = gltf_string(name ? name : "");
        targets[i].mWeight = weight_of(mesh, i);
        targets[i].mNumVertices = out->mNumVertices;
        targets[i].mVertices = read_deltas(&t, "POSITION", GLTF_FLOAT | integers);
        if (out->mNormals)
            targets[i].mNormals = read_deltas(&t, "NORMAL", GLTF_FLOAT | (integers & GLTF_SNORM));
    }
}

/* ---- queries of morphs.c ---- */

float find_gltf_weight(const scene *s, uint32_t joint, uint32_t index, float otherwise)
{
    const json_t *node = s->gltf->drawing[joint];
    return json_object_get(node, "weights") ? weight_of(node, index) : otherwise;
}

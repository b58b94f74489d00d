/* The story of a file: it is read, with Assimp if it is not glTF, and becomes a model part by part. */
#include "scene.h"

#include "files.h"

#include <core/arena.h>

#include <assimp/cimport.h>
#include <assimp/postprocess.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN_FORMAT "is not a model of any format known here"

bool has_format(const scene *s, const char *name)
{
    const struct aiMetadata *about = s->ai->mMetaData;
    for (unsigned i = 0; about && i < about->mNumProperties; i++)
        if (strcmp(about->mKeys[i].data, "SourceAsset_Format") == 0 && about->mValues[i].mType == AI_AISTRING)
            return strncmp(((const struct aiString *)about->mValues[i].mData)->data, name, strlen(name)) == 0;
    return false;
}

/* ---- with Assimp ---- */

/* If no reader claims the file extension, Assimp picks the first reader that recognises anything, which may be a word
 * in any text file. Its error would be about an unrelated format. */
static bool is_guess(const char *path)
{
    const char *ending = strrchr(path + folder_length(path), '.');
    return !ending || !aiIsExtensionSupported(ending);
}

/* Assimp's message, reworded to follow a file name. */
static _Noreturn void give_up_with_assimp_error(const char *path)
{
    const char *text = aiGetErrorString();
    if (strstr(text, "bad_alloc") || strstr(text, "bad allocation"))
        give_up_memory();
    if (is_guess(path) || strncmp(text, "No suitable reader", 18) == 0)
        give_up(TH_ERR_INPUT, UNKNOWN_FORMAT);
    give_up(TH_ERR_INPUT, "%s", text[0] ? text : "cannot be read");
}

/* Without it a model looks plainer, but is whole. */
static bool is_material_library(const char *name)
{
    return has_ending(name, ".mtl") || has_ending(name, ".material") || has_ending(name, ".shader");
}

/* Half-Life's MDL: Assimp 5.2.5 makes all bones children of one node, although it composes bind poses by the real
 * parents, which each node still names. A parent stands before its children. */
static void reparent_mdl_bones(scene *s, const struct aiNode *root)
{
    struct aiNode *list = NULL;
    for (unsigned c = 0; c < root->mNumChildren && !list; c++)
        if (root->mChildren[c] && strcmp(root->mChildren[c]->mName.data, "<MDL_bones>") == 0)
            list = root->mChildren[c];
    const unsigned count = list ? list->mNumChildren : 0;
    struct aiNode **bones = list ? list->mChildren : NULL;
    unsigned *parent = make(s, unsigned, count), *children = make(s, unsigned, count + 1);
    for (unsigned b = 0; b < count; b++) {
        for (parent[b] = b; parent[b] > 0 && bones[parent[b] - 1] != bones[b]->mParent;)
            parent[b]--;
        parent[b] = parent[b] > 0 ? parent[b] - 1 : count; /* count: the list itself */
        children[parent[b]]++;
    }
    if (count == 0 || children[count] == count)
        return;
    for (unsigned p = 0; p <= count; p++) {
        struct aiNode *node = p < count ? bones[p] : list;
        node->mChildren = make(s, struct aiNode *, children[p]);
        node->mNumChildren = 0;
    }
    for (unsigned b = 0; b < count; b++) {
        struct aiNode *node = parent[b] < count ? bones[parent[b]] : list;
        node->mChildren[node->mNumChildren++] = bones[b];
    }
}

static void hear_assimp(const char *message, char *s)
{
    hear((scene *)(void *)s, message);
}

/* Frames of vertices in Quake's MDL, MD2 and MD3. Assimp gives the first alone. */
static uint32_t count_vertex_frames(const scene *s)
{
    static const struct {
        char magic[5];
        uint8_t count_at;
    } formats[] = {{"IDPO", 68}, {"IDP2", 40}, {"IDP3", 76}};
    size_t f = 0;
    while (f < 3 && (s->byte_count < 80 || memcmp(s->bytes, formats[f].magic, 4) != 0))
        f++;
    const uint8_t *at = (const uint8_t *)s->bytes + (f < 3 ? formats[f].count_at : 0);
    return f < 3 ? (uint32_t)(at[0] | at[1] << 8 | at[2] << 16) : 0;
}

/* In two passes, to see the file as it is in between.
 * Steps not used: JoinIdenticalVertices ignores weights (meshes.c merges instead), LimitBoneWeights does not
 * renormalise, ValidateDataStructure rejects equal names, MakeLeftHanded may flip twice. */
static const struct aiScene *read_with_assimp(scene *s)
{
    struct aiPropertyStore *options = aiCreatePropertyStore();
    if (!options)
        give_up_memory();
    aiSetImportPropertyInteger(options, "AI_CONFIG_IMPORT_FBX_IGNORE_UP_DIRECTION", 1); /* fbx_space.c does it */
    aiSetImportPropertyInteger(options, AI_CONFIG_IMPORT_FBX_PRESERVE_PIVOTS, 0);       /* fbx_nodes.c does it */
    struct aiFileIO *files = make(s, struct aiFileIO, 1);                               /* Assimp keeps it */
    *files = assimp_files(s);
    aiAttachLogStream(&(struct aiLogStream){hear_assimp, (char *)(void *)s});
    const struct aiScene *ai = s->ai = aiImportFileExWithProperties(s->path, 0, files, options);
    if (s->refused && (!ai || !is_material_library(s->refused)))
        give_up_outside(s->refused);
    if (!ai)
        give_up_with_assimp_error(s->path);
    if (!has_format(s, "Autodesk FBX"))
        s->fbx = NULL;
    if (!has_format(s, "Collada"))
        s->collada = NULL;
    else
        warn(s, WARN_CLIPS_STRAIGHT, s->collada ? 0 : ai->mNumAnimations, "%s", file_part(s->path));
    const bool may_move = ai->mNumAnimations > 0 || s->fbx || s->collada;
    if (is_guess(s->path) && ai->mNumMeshes == 0 && !may_move)
        give_up(TH_ERR_INPUT, UNKNOWN_FORMAT);
    if (!ai->mRootNode)
        give_up(TH_ERR_INPUT, "Assimp finds no node in it");
    warn(s, WARN_OPENGEX, has_format(s, "Open Game Engine Exchange"), "%s", file_part(s->path));
    const uint32_t frames = count_vertex_frames(s);
    warn(s, WARN_VERTEX_FRAME, frames > 1 ? frames - 1 : 0, "%s", file_part(s->path));
    warn(s, WARN_FILE_OUTSIDE, s->refused != NULL, "%s", s->refused);
    if (!s->fbx) /* whose records are in there */
        free(s->bytes);

    bool has_faces = false;
    for (unsigned m = 0; m < ai->mNumMeshes; m++) { /* what the second pass would hide */
        const struct aiMesh *mesh = ai->mMeshes[m];
        const char *label = label_mesh(s, m);
        const bool surface = (mesh->mPrimitiveTypes & (aiPrimitiveType_TRIANGLE | aiPrimitiveType_POLYGON)) != 0;
        uint64_t dropped = 0;
        for (unsigned f = 0; f < mesh->mNumFaces; f++)
            dropped += mesh->mFaces[f].mNumIndices < 3;
        warn(s, WARN_MESH_NO_NORMALS, surface && !mesh->mNormals, "mesh %s", label);
        warn(s, WARN_FACE_DROPPED, dropped, "mesh %s", label);
        has_faces |= mesh->mNumFaces > 0;
    }
    if (ai->mNumMeshes > 0 && !has_faces) { /* Assimp 5.2.5 crashes on it */
        if (!may_move)
            give_up(TH_ERR_INPUT, "has no faces");
    } else {
        ai = aiApplyPostProcessing(ai, aiProcess_Triangulate | aiProcess_SortByPType | aiProcess_GenSmoothNormals |
                                           aiProcess_FlipUVs);
        if (!ai || !ai->mRootNode)
            give_up_with_assimp_error(s->path);
    }
    reparent_mdl_bones(s, ai->mRootNode);
    settle_rates(s);
    return ai;
}

/* ---- any file ---- */

void finish_scene(scene *s)
{
    settle_fbx_nodes(s);
    settle_fbx_space(s);
    read_joints(s);
    read_materials(s);
    read_meshes(s);
    read_clips(s);
    say_fbx_limits(s);
    make_joint_names_unique(s);
    write_warnings(s);

    s->model->size = th_model_measure(s->model);
    th_error error;
    const th_result result = th_model_check(s->model, &error);
    if (result != TH_OK)
        give_up(result, "%s", error.text);
}

const th_model *read_scene(const char *path)
{
    th_arena *arena = th_arena_create();
    th_model *model = arena ? th_arena_new(arena, th_model, 1) : NULL;
    scene *s = arena ? th_arena_new(arena, scene, 1) : NULL;
    if (!model || !s)
        give_up_memory();
    model->arena = arena;
    s->model = model;
    s->path = path;
    read_model_file(s);

    if (!read_gltf(s)) {
        read_fbx(s);
        if (!s->fbx)
            read_collada(s);
        mend_bvh(s);
        s->ai = read_with_assimp(s);
    }
    model->name = make_string(s, "%s", path + folder_length(path));
    finish_scene(s);
    return model;
}

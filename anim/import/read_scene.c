/* Reads a file, with Assimp if it is not glTF, and runs the parts of the importer. */
#include "files.h"
#include "ipc.h"
#include "scene.h"

#include <core/arena.h>

#include <assimp/cimport.h>
#include <assimp/postprocess.h>
#include <string.h>
#include <strings.h>

/* If no reader claims the file extension, Assimp picks the first reader that recognises anything, which may be a word
 * in any text file. Its error would be about an unrelated format. */
static bool is_guess(const char *path)
{
    const char *slash = strrchr(path, '/'), *ending = strrchr(slash ? slash : path, '.');
    return !ending || !aiIsExtensionSupported(ending);
}

static _Noreturn void give_up_unknown(void)
{
    give_up(TH_ERR_INPUT, "is not a model of any format known here");
}

/* Assimp's message, reworded to follow a file name. */
static _Noreturn void give_up_with_assimp_error(const char *path)
{
    const char *text = aiGetErrorString();
    if (strstr(text, "bad_alloc") || strstr(text, "bad allocation"))
        give_up_memory();
    if (is_guess(path) || strncmp(text, "No suitable reader", 18) == 0)
        give_up_unknown();
    give_up(TH_ERR_INPUT, "%s", text[0] ? text : "cannot be read");
}

/* Records what the steps below would hide. */
static void count_before_processing(scene *s)
{
    for (unsigned m = 0; m < s->ai->mNumMeshes; m++) {
        const struct aiMesh *mesh = s->ai->mMeshes[m];
        const char *label = label_mesh(s, m);
        bool surface = (mesh->mPrimitiveTypes & (aiPrimitiveType_TRIANGLE | aiPrimitiveType_POLYGON)) != 0;
        warn(s, WARN_MESH_NO_NORMALS, surface && !mesh->mNormals, "mesh %s", label);
        uint64_t dropped = 0;
        for (unsigned f = 0; f < mesh->mNumFaces; f++)
            dropped += mesh->mFaces[f].mNumIndices < 3;
        warn(s, WARN_FACE_DROPPED, dropped, "mesh %s", label);
    }
}

/* Without it a model looks plainer, but is whole. */
static bool is_material_library(const char *name)
{
    const char *ending = strrchr(name, '.');
    return ending && (strcasecmp(ending, ".mtl") == 0 || strcasecmp(ending, ".material") == 0 ||
                      strcasecmp(ending, ".shader") == 0);
}

static const struct aiScene *import_file(scene *s)
{
    struct aiPropertyStore *options = aiCreatePropertyStore();
    if (!options)
        give_up_memory();
    aiSetImportPropertyInteger(options, "AI_CONFIG_IMPORT_FBX_IGNORE_UP_DIRECTION", 1); /* fbx_space.c does it */
    struct aiFileIO *files = make(s, struct aiFileIO, 1);                               /* Assimp keeps it */
    *files = assimp_files(s);
    return aiImportFileExWithProperties(s->path, 0, files, options);
}

static bool has_faces(const struct aiScene *ai)
{
    for (unsigned m = 0; m < ai->mNumMeshes; m++)
        if (ai->mMeshes[m]->mNumFaces > 0)
            return true;
    return false;
}

/* Two passes, to see the file as it is in between.
 * Steps not used: JoinIdenticalVertices ignores weights (meshes.c merges instead), LimitBoneWeights does not
 * renormalise, ValidateDataStructure rejects equal names, MakeLeftHanded may flip twice. */
static void load(scene *s)
{
    s->ai = read_gltf(s);
    if (!s->ai)
        s->ai = import_file(s);
    if (s->refused && (!s->ai || !is_material_library(s->refused)))
        give_up_outside(s->refused);
    if (!s->ai)
        give_up_with_assimp_error(s->path);
    if (!s->gltf && is_guess(s->path) && s->ai->mNumMeshes == 0 && s->ai->mNumAnimations == 0)
        give_up_unknown();
    if (!s->ai->mRootNode)
        give_up(TH_ERR_INPUT, "there is no node in it");
    warn(s, WARN_FILE_OUTSIDE, s->refused != NULL, "%s", s->refused);
    count_before_processing(s);
    for (unsigned m = 0; s->gltf && m < s->ai->mNumMeshes; m++)
        make_normals(s, s->ai->mMeshes[m]);
    if (s->gltf)
        return;
    if (s->ai->mNumMeshes > 0 && !has_faces(s->ai)) { /* Assimp 5.2.5 crashes on it */
        if (s->ai->mNumAnimations == 0)
            give_up(TH_ERR_INPUT, "has no faces");
        return;
    }
    s->ai = aiApplyPostProcessing(s->ai, aiProcess_Triangulate | aiProcess_SortByPType | aiProcess_GenSmoothNormals |
                                             aiProcess_FlipUVs);
    if (!s->ai || !s->ai->mRootNode)
        give_up_with_assimp_error(s->path);
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

    load(s);
    const char *slash = strrchr(path, '/');
    model->name = make_string(s, "%s", slash ? slash + 1 : path);
    reparent_mdl_bones(s);
    read_fbx(s);
    join_fbx_pivots(s);
    settle_fbx_space(s);
    read_joints(s);
    begin_bones(s);
    read_materials(s);
    read_meshes(s);
    if (model->mesh_count == 0)
        add_bone_for_each_joint(s);
    read_clips(s);
    say_fbx_limits(s);
    make_joint_names_unique(s);
    write_warnings(s);

    model->size = th_model_measure(model);
    th_error error;
    th_result result = th_model_check(model, &error);
    if (result != TH_OK)
        give_up(result, "%s", error.text);
    return model;
}

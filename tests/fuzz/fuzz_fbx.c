/* Inside, since the program around it has a process, which hides what is wrong. What we read of FBX files ourselves,
 * beside Assimp. */
#include "anim/import/fbx_records.h"

#include "fuzz.h"
#include "importer.h"

#include <core/arena.h>

static void import(const char *path)
{
    /* What Assimp would say of the file. */
    struct aiString key = {18, "SourceAsset_Format"}, format = {12, "Autodesk FBX"};
    struct aiMetadataEntry value = {AI_AISTRING, &format};
    struct aiMetadata about = {1, &key, &value};
    const struct aiScene ai = {.mMetaData = &about};
    th_model model = {.arena = th_arena_create()};
    scene s = {.ai = &ai, .model = &model, .path = path};
    if (!model.arena)
        return;
    read_fbx(&s);
    say_fbx_limits(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    importer_run(data, size, import);
    return 0;
}

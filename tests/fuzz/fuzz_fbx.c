/* Inside, since the program around it has a process, which hides what is wrong. What we read of FBX files ourselves,
 * beside Assimp, with the nodes that Assimp would make of them. */
#include "anim/import/fbx.h"

#include "cases.h"
#include "fuzz.h"
#include "importer.h"

#include <string.h>

void make_case(void)
{
    make_fbx();
}

static void add_children(scene *s, struct aiNode *node, const fbx_object *model, int depth, unsigned *left)
{
    const fbx_links links = fbx_into(s->fbx, model);
    node->mChildren = make(s, struct aiNode *, (size_t)(links.end - links.first));
    for (const fbx_link *l = links.first; l < links.end && depth < 20 && *left > 0; l++) {
        if (l->from->kind != FBX_MODEL)
            continue;
        struct aiNode *child = node->mChildren[node->mNumChildren++] = make(s, struct aiNode, 1);
        (*left)--;
        child->mParent = node;
        strncpy(child->mName.data, l->from->known, sizeof child->mName.data - 1);
        child->mName.length = (ai_uint32)strlen(child->mName.data);
        add_children(s, child, l->from, depth + 1, left);
    }
}

static bool import(scene *s)
{
    unsigned left = 100;
    read_fbx(s);
    if (!s->fbx)
        return false;
    add_children(s, s->ai->mRootNode, fbx_root(s->fbx), 0, &left);
    finish_scene(s);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    importer_run(data, size, import);
    return 0;
}

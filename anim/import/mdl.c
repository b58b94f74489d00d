/* Half-Life's MDL: Assimp 5.2.5 makes all bones children of one node, although it composes bind poses by the real
 * parents. Each node's metadata still names its parent. */
#include "scene.h"

#include <string.h>

static struct aiNode *find_child(const struct aiNode *node, const char *name)
{
    for (unsigned c = 0; c < node->mNumChildren; c++)
        if (node->mChildren[c] && strcmp(node->mChildren[c]->mName.data, name) == 0)
            return node->mChildren[c];
    return NULL;
}

/* Index of the parent that bone `b` names, if it is a bone before `b`, else `count`. */
static unsigned find_parent(struct aiNode *const *bones, unsigned count, unsigned b)
{
    for (unsigned p = b; p-- > 0;)
        if (bones[p] == bones[b]->mParent)
            return p;
    return count;
}

void reparent_mdl_bones(scene *s)
{
    struct aiNode *list = find_child(s->ai->mRootNode, "<MDL_bones>");
    const unsigned count = list ? list->mNumChildren : 0;
    struct aiNode **bones = list ? list->mChildren : NULL;
    unsigned *parent = make(s, unsigned, count), *children = make(s, unsigned, count + 1);
    for (unsigned b = 0; b < count; b++)
        children[parent[b] = find_parent(bones, count, b)]++;
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

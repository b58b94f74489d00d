/* Inside, since the program around it has a process, which hides what is wrong. What we read of Collada files
 * ourselves, beside Assimp, with the nodes that Assimp would make of them. */
#include "anim/import/collada.h"

#include "fuzz.h"
#include "importer.h"

#include <libxml/hash.h>
#include <string.h>

/* libxml2's own, which importer_run does not know. */
static struct collada document;

static void free_document(void)
{
    if (document.root) {
        xmlDoc *doc = document.root->doc;
        xmlFreeNode(document.animations);
        xmlHashFree(document.ids, NULL);
        xmlFreeDoc(doc);
    }
    document = (struct collada){0};
}

static void add_children(scene *s, struct aiNode *node, const xmlNode *of, int depth, unsigned *left)
{
    node->mChildren = make(s, struct aiNode *, xmlChildElementCount((xmlNode *)(uintptr_t)of));
    for (int instances = 0; instances < 2; instances++)
        for (const xmlNode *e = of->children; e && depth < 20 && *left > 0; e = e->next) {
            const xmlNode *found = !is_element(e, instances ? "instance_node" : "node") ? NULL
                                   : instances ? find_id(s->collada, read_attribute(e, "url"))
                                               : e;
            if (!found)
                continue;
            struct aiNode *child = node->mChildren[node->mNumChildren++] = make(s, struct aiNode, 1);
            const char *id = read_attribute(found, "id");
            (*left)--;
            child->mParent = node;
            strncpy(child->mName.data, *id ? id : read_attribute(found, "sid"), sizeof child->mName.data - 1);
            child->mName.length = (ai_uint32)strlen(child->mName.data);
            add_children(s, child, found, depth + 1, left);
        }
}

static bool import(scene *s)
{
    unsigned left = 100;
    read_collada(s);
    if (!s->collada)
        return false;
    document = *s->collada;
    xmlFree(s->bytes);
    const xmlNode *of = find_inside(find_inside(s->collada->root, "scene"), "instance_visual_scene");
    of = find_id(s->collada, read_attribute(of, "url"));
    if (of)
        add_children(s, s->ai->mRootNode, of, 0, &left);
    finish_scene(s);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    importer_run(data, size, import);
    free_document();
    return 0;
}

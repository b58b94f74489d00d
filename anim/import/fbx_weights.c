/* Weights of FBX morph targets at rest. Assimp 5.2.5 says 1 for every channel of one shape. */
#include "fbx_records.h"

#include <string.h>

/* Names are "SubDeformer::name" in text files and "name\0\1SubDeformer" in binary ones. */
static bool has_name(const fbx_record *record, const char *name)
{
    static const char prefix[] = "SubDeformer::";
    const size_t head = sizeof prefix - 1, length = strlen(name);
    if (record->value_count < 2 || record->values[1].type != FBX_TEXT)
        return false;
    const char *text = record->values[1].text;
    size_t size = strnlen(text, record->values[1].size);
    if (size >= head && memcmp(text, prefix, head) == 0) {
        text += head;
        size -= head;
    }
    return size == length && memcmp(text, name, length) == 0;
}

static double percent_of(const fbx_record *channel)
{
    const fbx_record *list = find_fbx_record(channel, NULL, "Properties70"), *p = NULL;
    while ((p = find_fbx_record(list, p, "P")))
        if (is_fbx_text(p, 0, "DeformPercent"))
            return fbx_number(p, 4, 0);
    return fbx_number(find_fbx_record(channel, NULL, "DeformPercent"), 0, 0);
}

float find_fbx_weight(const scene *s, const struct aiString *target, float otherwise)
{
    const fbx_record *objects = find_fbx_record(s->fbx, NULL, "Objects"), *record = NULL;
    const char *name = strncmp(target->data, "SubDeformer::", 13) == 0 ? target->data + 13 : target->data;
    while ((record = find_fbx_record(objects, record, "Deformer")))
        if (is_fbx_text(record, 2, "BlendShapeChannel") && has_name(record, name))
            return (float)(percent_of(record) / 100);
    return otherwise;
}

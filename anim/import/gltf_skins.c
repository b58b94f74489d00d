/* Skins without inverse bind matrices have identities (Khronos, glTF 2.0 Specification, 2021, section 3.7.3). Assimp
 * 5.2.5 crashes on such skins, so the patched file lists the identities. */
#include "gltf.h"
#include "ipc.h"

#include <stdlib.h>
#include <string.h>

static bool is_bare(const json_t *skin)
{
    return json_is_object(skin) && !json_object_get(skin, "inverseBindMatrices");
}

/* The largest joint count of a skin without matrices, but at least 1, because Assimp rejects empty accessors. *out_any:
 * such a skin exists. */
static size_t count_joints(const json_t *skins, bool *out_any)
{
    size_t i, most = 1;
    const json_t *skin;
    *out_any = false;
    json_array_foreach(skins, i, skin) if (is_bare(skin))
    {
        const size_t joints = json_array_size(json_object_get(skin, "joints"));
        most = joints > most ? joints : most;
        *out_any = true;
    }
    return most;
}

/* Appends to one of the file's lists and returns the index. Takes ownership of the item. */
static json_int_t append(json_t *file, const char *name, json_t *item)
{
    if (!json_is_array(json_object_get(file, name)))
        json_object_set_new(file, name, json_array());
    json_t *list = json_object_get(file, name);
    if (json_array_append_new(list, item) != 0)
        give_up_memory();
    return (json_int_t)json_array_size(list) - 1;
}

/* A one and four zeros, repeated, form a row of identities: each begins twenty numbers after the previous one. Fifteen
 * numbers fill whole base64 digits. */
enum { STRIDE = 20 * sizeof(float), TURN = 15 * sizeof(float) };
static const char turn[] = "AACAPwAAAAAAAAAAAAAAAAAAAAAAAIA/AAAAAAAA"
                           "AAAAAAAAAAAAAAAAgD8AAAAAAAAAAAAAAAAAAAAA";

/* Adds an accessor of `count` identities. */
static json_int_t append_identities(json_t *file, size_t count)
{
    static const char scheme[] = "data:application/octet-stream;base64,";
    const size_t turns = (count * STRIDE + TURN - 1) / TURN, bytes = turns * TURN;
    char *uri = malloc(sizeof scheme + turns * (sizeof turn - 1)), *end = uri;
    if (!uri)
        give_up_memory();
    end = stpcpy(end, scheme);
    for (size_t t = 0; t < turns; t++)
        end = stpcpy(end, turn);
    const json_int_t buffer =
        append(file, "buffers", json_pack("{s:I, s:s}", "byteLength", (json_int_t)bytes, "uri", uri));
    free(uri);
    const json_int_t view = append(
        file, "bufferViews",
        json_pack("{s:I, s:I, s:i}", "buffer", buffer, "byteLength", (json_int_t)bytes, "byteStride", (int)STRIDE));
    return append(file, "accessors",
                  json_pack("{s:I, s:i, s:I, s:s}", "bufferView", view, "componentType", 5126, "count",
                            (json_int_t)count, "type", "MAT4"));
}

bool complete_skins(json_t *file)
{
    size_t i;
    bool any;
    json_t *skin, *skins = json_object_get(file, "skins");
    const size_t joints = count_joints(skins, &any);
    if (!any)
        return false;
    const json_int_t identities = append_identities(file, joints);
    json_array_foreach(skins, i, skin) if (is_bare(skin))
        json_object_set_new(skin, "inverseBindMatrices", json_integer(identities));
    return true;
}

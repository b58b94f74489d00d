/* Checks that members of the JSON have the types and lengths that the format gives them, so that other code need not
 * tell a member of a wrong type from one that is missing. Indices and sizes are checked where they are used. */
#include "gltf.h"
#include "import/importer.h"

#include <string.h>

typedef struct member {
    const char *name;
    json_type type;
    size_t numbers; /* that the list has; 0: any list */
} member;

static const member members[] = {{"name", JSON_STRING, 0},
                                 {"uri", JSON_STRING, 0},
                                 {"path", JSON_STRING, 0},
                                 {"interpolation", JSON_STRING, 0},
                                 {"nodes", JSON_ARRAY, 0},
                                 {"meshes", JSON_ARRAY, 0},
                                 {"skins", JSON_ARRAY, 0},
                                 {"materials", JSON_ARRAY, 0},
                                 {"textures", JSON_ARRAY, 0},
                                 {"images", JSON_ARRAY, 0},
                                 {"accessors", JSON_ARRAY, 0},
                                 {"bufferViews", JSON_ARRAY, 0},
                                 {"buffers", JSON_ARRAY, 0},
                                 {"animations", JSON_ARRAY, 0},
                                 {"scenes", JSON_ARRAY, 0},
                                 {"children", JSON_ARRAY, 0},
                                 {"primitives", JSON_ARRAY, 0},
                                 {"joints", JSON_ARRAY, 0},
                                 {"channels", JSON_ARRAY, 0},
                                 {"samplers", JSON_ARRAY, 0},
                                 {"targets", JSON_ARRAY, 0},
                                 {"weights", JSON_ARRAY, 0},
                                 {"extensionsUsed", JSON_ARRAY, 0},
                                 {"translation", JSON_ARRAY, 3},
                                 {"rotation", JSON_ARRAY, 4},
                                 {"matrix", JSON_ARRAY, 16},
                                 {"baseColorFactor", JSON_ARRAY, 4},
                                 {"emissiveFactor", JSON_ARRAY, 3},
                                 {"alphaMode", JSON_STRING, 0},
                                 {"emissiveTexture", JSON_OBJECT, 0},
                                 {"asset", JSON_OBJECT, 0},
                                 {"attributes", JSON_OBJECT, 0},
                                 {"sparse", JSON_OBJECT, 0},
                                 {"extensions", JSON_OBJECT, 0},
                                 {"extensionsRequired", JSON_ARRAY, 0},
                                 {"pbrMetallicRoughness", JSON_OBJECT, 0},
                                 {"baseColorTexture", JSON_OBJECT, 0}};

static bool fits(const member *m, const json_t *value)
{
    size_t i;
    const json_t *number;
    if (json_typeof(value) != m->type || (m->numbers > 0 && json_array_size(value) != m->numbers))
        return false;
    if (m->numbers > 0)
        json_array_foreach(value, i, number) if (!json_is_number(number)) return false;
    return true;
}

/* what: which list of the file and which of its items, for messages. */
static void check(gltf *g, const json_t *json, const char *what)
{
    const char *name;
    json_t *value;
    size_t i;
    json_array_foreach((json_t *)json, i, value) check(g, value, what);
    json_object_foreach((json_t *)json, name, value)
    {
        for (i = 0; i < sizeof members / sizeof *members; i++)
            if (strcmp(name, members[i].name) == 0 && !fits(&members[i], value))
                give_up(TH_ERR_INPUT, "%s: its %s is not what the format says", what, name);
        if (strcmp(name, "extras") != 0 && strcmp(name, "extensions") != 0)
            check(g, value, what);
    }
}

void gltf_check_types(gltf *g)
{
    size_t i;
    for (const member *m = members; m < members + sizeof members / sizeof *members; m++) {
        json_t *value = json_object_get(g->file, m->name), *item;
        if (value && !fits(m, value))
            give_up(TH_ERR_INPUT, "the file: its %s is not what the format says", m->name);
        if (strncmp(m->name, "ext", 3) != 0)
            json_array_foreach(value, i, item) check(g, item, make_string(g->s, "%s %zu", m->name, i));
    }
}

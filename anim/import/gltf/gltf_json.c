#include "gltf.h"
#include "import/importer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JSON_MAX_BYTES ((size_t)256 << 20)

/* Converts Latin-1 to UTF-8 in the whole file, as names.c does for single names. NULL if out of memory. */
static char *from_latin1(const char *bytes, size_t *size)
{
    char *text = malloc(2 * *size + 1), *end = text;
    for (size_t i = 0; text && i < *size; i++) {
        const unsigned char c = (unsigned char)bytes[i];
        if (c >= 0x80)
            *end++ = (char)(0xc0 | c >> 6);
        *end++ = (char)(c < 0x80 ? c : 0x80 | (c & 0x3f));
    }
    *size = text ? (size_t)(end - text) : 0;
    return text;
}

json_t *parse_gltf_json(const char *bytes, size_t size, char *why, size_t why_size)
{
    json_error_t error = {0};
    strcpy(error.text, size > JSON_MAX_BYTES ? "it is too large" : "it is empty");
    size = size <= JSON_MAX_BYTES ? strnlen(bytes, size) : 0;
    json_t *json = size > 0 ? json_loadb(bytes, size, JSON_ALLOW_NUL, &error) : NULL;
    char *text = size > 0 && !json ? from_latin1(bytes, &size) : NULL;
    if (text)
        json = json_loadb(text, size, JSON_ALLOW_NUL, NULL);
    if (text && !json)
        json = json_loadb(text, size, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, NULL);
    free(text);
    snprintf(why, why_size, "%s (line %d)", error.text, error.line);
    return json;
}

uint32_t gltf_index_of(const json_t *number)
{
    double value = json_is_number(number) ? json_number_value(number) : -1;
    return value >= 0 && value < TH_NO_INDEX ? (uint32_t)value : TH_NO_INDEX;
}

uint32_t gltf_index(const json_t *object, const char *member)
{
    return gltf_index_of(json_object_get(object, member));
}

const json_t *gltf_at(const json_t *list, uint32_t index)
{
    return index == TH_NO_INDEX ? NULL : json_array_get(list, index);
}

uint32_t gltf_part(const json_t *channel)
{
    const char *path = json_string_value(json_object_get(json_object_get(channel, "target"), "path"));
    if (!path)
        return 0;
    return strcmp(path, "translation") == 0 ? TH_TRANSLATION
           : strcmp(path, "rotation") == 0  ? TH_ROTATION
           : strcmp(path, "scale") == 0     ? TH_SCALE
                                            : 0;
}

uint32_t gltf_link(const gltf *g, const json_t *object, const char *member, const char *list, const char *what)
{
    if (!json_object_get(object, member))
        return TH_NO_INDEX;
    const uint32_t index = gltf_index(object, member);
    if (index >= json_array_size(gltf_list(g, list)))
        give_up(TH_ERR_INPUT, "%s: its %s is out of bounds", what, member);
    return index;
}

size_t gltf_size(const json_t *object, const char *member, size_t otherwise, const char *what)
{
    const json_t *number = json_object_get(object, member);
    const double value = json_number_value(number);
    if (!number)
        return otherwise;
    if (!json_is_number(number) || !(value >= 0 && value < 0x1p40))
        give_up(TH_ERR_INPUT, "%s: its %s is no size", what, member);
    return (size_t)value;
}

const json_t *gltf_list(const gltf *g, const char *list)
{
    return json_object_get(g->file, list);
}

const json_t *gltf_extension(const json_t *object, const char *name)
{
    return json_object_get(json_object_get(object, "extensions"), name);
}

bool gltf_names(const gltf *g, const char *list, const char *name)
{
    size_t i;
    const json_t *each;
    json_array_foreach(gltf_list(g, list), i, each)
    {
        const char *text = json_string_value(each);
        if (text && strcmp(text, name) == 0)
            return true;
    }
    return false;
}

void gltf_numbers(const json_t *list, double out[], size_t count)
{
    for (size_t i = 0; i < count && json_array_size(list) == count; i++)
        out[i] = (double)(float)json_number_value(json_array_get(list, i));
}

struct aiString gltf_string(const char *text)
{
    struct aiString out = {0};
    out.length = (ai_uint32)strnlen(text, sizeof out.data - 1);
    memcpy(out.data, text, out.length);
    return out;
}

#include "gltf_json.h"

#include <throng/anim/model.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JSON_MAX_BYTES ((size_t)256 << 20)

/* A .glb file begins with a header of 12 bytes. The length and type of the first chunk, which is the JSON, follow
 * (Khronos, glTF 2.0 Specification, 2021, section 4.4). Any other file is JSON from the start. */
static size_t find_json(FILE *file)
{
    struct {
        char magic[4];
        uint32_t version, length, chunk_length, chunk_type;
    } head;
    if (fread(&head, sizeof head, 1, file) == 1 && memcmp(head.magic, "glTF", 4) == 0)
        return head.chunk_length;
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : 0;
    rewind(file);
    return size > 0 ? (size_t)size : 0;
}

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

/* Parses strictly first, so that names and numbers stay unchanged and indices stay integers where possible: the JSON
 * may go back to Assimp. */
static json_t *parse(const char *bytes, size_t size)
{
    size = strnlen(bytes, size);
    json_t *json = json_loadb(bytes, size, JSON_ALLOW_NUL, NULL);
    if (json)
        return json;
    char *text = from_latin1(bytes, &size);
    if (text)
        json = json_loadb(text, size, JSON_ALLOW_NUL, NULL);
    if (text && !json)
        json = json_loadb(text, size, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, NULL);
    free(text);
    return json;
}

/* Avoids reading models of other formats completely. */
static bool begins_as_json(FILE *file)
{
    const long begin = ftell(file);
    int c;
    do
        c = getc(file);
    while (c == ' ' || c == '\t' || c == '\r' || c == '\n');
    return c == '{' && fseek(file, begin, SEEK_SET) == 0;
}

json_t *load_gltf_json(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    size_t size = find_json(file);
    char *bytes = size > 0 && size <= JSON_MAX_BYTES && begins_as_json(file) ? malloc(size) : NULL;
    json_t *json = bytes && fread(bytes, 1, size, file) == size ? parse(bytes, size) : NULL;
    free(bytes);
    fclose(file);
    return json;
}

char *th_read_whole_file(const char *path, size_t *out_size)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : 0;
    rewind(file);
    char *bytes = size > 0 ? malloc((size_t)size) : NULL;
    *out_size = bytes ? fread(bytes, 1, (size_t)size, file) : 0;
    fclose(file);
    return bytes;
}

uint32_t gltf_index(const json_t *object, const char *member)
{
    const json_t *number = json_object_get(object, member);
    double value = json_is_number(number) ? json_number_value(number) : -1;
    return value >= 0 && value < TH_NO_INDEX ? (uint32_t)value : TH_NO_INDEX;
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

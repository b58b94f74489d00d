/* The bytes of a glTF file's buffers (Khronos, glTF 2.0 Specification, 2021, sections 3.6.1 and 4.4). */
#include "gltf.h"
#include "ipc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- base64 ---- */

static int digit_of(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* Decodes up to the first character that is not a base64 digit. */
static gltf_buffer decode_base64(const char *text, size_t length)
{
    gltf_buffer buffer = {.bytes = malloc(length + 1)};
    if (!buffer.bytes)
        give_up_memory();
    uint32_t bits = 0, count = 0;
    for (size_t i = 0; i < length && digit_of(text[i]) >= 0; i++) {
        bits = bits << 6 | (uint32_t)digit_of(text[i]);
        count += 6;
        if (count >= 8) {
            count -= 8;
            buffer.bytes[buffer.size++] = (char)(uint8_t)(bits >> count);
        }
    }
    return buffer;
}

/* ---- where buffers lie ---- */

/* The chunk behind the JSON of a .glb file. */
static gltf_buffer read_binary_chunk(const char *path)
{
    enum { HEAD = 12, CHUNK_HEAD = 8 };
    gltf_buffer file = {0};
    file.bytes = th_read_whole_file(path, &file.size);
    uint32_t json = 0, binary = 0;
    if (file.size >= HEAD + CHUNK_HEAD && memcmp(file.bytes, "glTF", 4) == 0)
        memcpy(&json, file.bytes + HEAD, sizeof json);
    size_t at = HEAD + CHUNK_HEAD + (json + 3ull) / 4 * 4;
    if (json == 0 || at + CHUNK_HEAD > file.size || memcmp(file.bytes + at + 4, "BIN", 4) != 0) {
        free(file.bytes);
        return (gltf_buffer){0};
    }
    memcpy(&binary, file.bytes + at, sizeof binary);
    at += CHUNK_HEAD;
    file.size = binary < file.size - at ? binary : file.size - at;
    memmove(file.bytes, file.bytes + at, file.size);
    return file;
}

/* Resolves the path like Assimp: the text unchanged, relative to the model's folder. */
static gltf_buffer read_beside(const char *model, const char *uri)
{
    const char *slash = strrchr(model, '/');
    int folder = slash ? (int)(slash + 1 - model) : 0;
    size_t size = (size_t)folder + strlen(uri) + 1;
    char *path = malloc(size);
    if (!path)
        give_up_memory();
    snprintf(path, size, "%.*s%s", folder, model, uri);
    gltf_buffer buffer = {0};
    buffer.bytes = th_read_whole_file(path, &buffer.size);
    free(path);
    return buffer;
}

static gltf_buffer read_uri(const char *model, const char *uri)
{
    if (strncmp(uri, "data:", 5) != 0)
        return read_beside(model, uri);
    const char *comma = strchr(uri, ',');
    if (!comma || comma - uri < 7 || memcmp(comma - 7, ";base64", 7) != 0)
        return (gltf_buffer){0};
    return decode_base64(comma + 1, strlen(comma + 1));
}

bool read_gltf_buffer(const scene *s, const json_t *file, uint32_t index, gltf_buffer *buffer)
{
    const json_t *json = gltf_at(json_object_get(file, "buffers"), index);
    const char *uri = json_string_value(json_object_get(json, "uri"));
    if (!buffer->bytes && json)
        *buffer = uri ? read_uri(s->path, uri) : index == 0 ? read_binary_chunk(s->path) : (gltf_buffer){0};
    return buffer->bytes != NULL;
}

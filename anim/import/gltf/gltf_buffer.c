/* The bytes of a glTF file's buffers and buffer views (sections 3.6.1 and 4.4). */
#include "gltf.h"
#include "import/files.h"
#include "import/importer.h"

#include <errno.h>
#include <meshoptimizer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- URIs ---- */

static int digit_of(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* Decodes up to the first character that is not a base64 digit. */
static gltf_bytes decode_base64(gltf *g, const char *text)
{
    uint8_t *out = make(g->s, uint8_t, strlen(text) + 1);
    size_t size = 0;
    uint32_t bits = 0, count = 0;
    for (; digit_of(*text) >= 0; text++) {
        bits = bits << 6 | (uint32_t)digit_of(*text);
        count += 6;
        if (count >= 8) {
            count -= 8;
            out[size++] = (uint8_t)(bits >> count);
        }
    }
    return (gltf_bytes){out, size, 0};
}

char *gltf_decode_percents(scene *s, const char *uri)
{
    char *text = (char *)make_string(s, "%s", uri), *out = text;
    for (const char *c = uri; *c; c++) {
        unsigned code;
        const bool escaped = c[0] == '%' && c[1] && c[2] && strspn(c + 1, "0123456789abcdefABCDEF") >= 2 &&
                             sscanf(c + 1, "%2x", &code) == 1 && code > 0;
        *out++ = escaped ? (char)code : *c;
        c += escaped ? 2 : 0;
    }
    *out = '\0';
    return text;
}

static gltf_bytes read_beside(scene *s, const char *name, const char *uri)
{
    gltf_bytes bytes = {0};
    const int file = open_beside(s, name);
    if (file < 0 && errno == EXDEV)
        give_up_outside(uri);
    bytes.at = (const uint8_t *)th_read_open_file(file, &bytes.size);
    return bytes;
}

gltf_bytes gltf_read_uri(gltf *g, const char *uri)
{
    if (strncmp(uri, "data:", 5) != 0) {
        gltf_bytes bytes = read_beside(g->s, gltf_decode_percents(g->s, uri), uri);
        return bytes.at ? bytes : read_beside(g->s, uri, uri);
    }
    const char *comma = strchr(uri, ',');
    if (!comma || comma - uri < 7 || memcmp(comma - 7, ";base64", 7) != 0)
        return (gltf_bytes){0};
    return decode_base64(g, comma + 1);
}

/* ---- buffers ---- */

static gltf_bytes read_buffer(gltf *g, uint32_t index)
{
    gltf_bytes *b = &g->buffers[index];
    if (b->at)
        return *b;
    const json_t *json = gltf_at(gltf_list(g, "buffers"), index);
    const char *uri = json_string_value(json_object_get(json, "uri"));
    const char *what = make_string(g->s, "buffer %u", index);
    const size_t length = gltf_size(json, "byteLength", 0, what);
    *b = uri ? gltf_read_uri(g, uri) : index == 0 ? g->chunk : (gltf_bytes){0};
    if (!b->at)
        give_up(TH_ERR_INPUT, "%s: could not open referenced file \"%.60s\"", what, uri ? uri : "");
    if (b->size < length)
        give_up(TH_ERR_INPUT, "%s: expected %zu bytes, but found %zu", what, length, b->size);
    b->size = length;
    return *b;
}

/* from: JSON object with a buffer and a place in it. */
static gltf_bytes find_bytes(gltf *g, const json_t *from, const char *what)
{
    const uint32_t index = gltf_link(g, from, "buffer", "buffers", what);
    if (index == TH_NO_INDEX)
        give_up(TH_ERR_INPUT, "%s has no buffer", what);
    const gltf_bytes buffer = read_buffer(g, index);
    const size_t start = gltf_size(from, "byteOffset", 0, what), length = gltf_size(from, "byteLength", 0, what);
    if (start > buffer.size || length > buffer.size - start)
        give_up(TH_ERR_INPUT, "%s lies outside of buffer %u", what, index);
    return (gltf_bytes){buffer.at + start, length, gltf_size(from, "byteStride", 0, what)};
}

/* ---- EXT_meshopt_compression ---- */

static bool is(const json_t *object, const char *member, const char *value)
{
    const char *text = json_string_value(json_object_get(object, member));
    return text && strcmp(text, value) == 0;
}

static bool decode(const json_t *json, gltf_bytes in, size_t count, uint8_t *out)
{
    const size_t stride = in.stride;
    const bool attributes = is(json, "mode", "ATTRIBUTES");
    if (attributes ? stride % 4 != 0 || stride > 256 : stride != 2 && stride != 4)
        return false;
    if (is(json, "mode", "TRIANGLES"))
        return count % 3 == 0 && meshopt_decodeIndexBuffer(out, count, stride, in.at, in.size) == 0;
    if (is(json, "mode", "INDICES"))
        return meshopt_decodeIndexSequence(out, count, stride, in.at, in.size) == 0;
    if (!attributes || meshopt_decodeVertexBuffer(out, count, stride, in.at, in.size) != 0)
        return false;
    const size_t whole = (count + 3) / 4 * 4; /* filters work on four at a time; there is room */
    if (is(json, "filter", "OCTAHEDRAL") && (stride == 4 || stride == 8))
        meshopt_decodeFilterOct(out, whole, stride);
    else if (is(json, "filter", "QUATERNION") && stride == 8)
        meshopt_decodeFilterQuat(out, whole, stride);
    else if (is(json, "filter", "EXPONENTIAL"))
        meshopt_decodeFilterExp(out, whole, stride);
    else
        return !json_object_get(json, "filter") || is(json, "filter", "NONE");
    return true;
}

static gltf_bytes decompress(gltf *g, const json_t *json, const char *what)
{
    const gltf_bytes in = find_bytes(g, json, what);
    const size_t count = gltf_size(json, "count", 0, what);
    if (in.stride == 0 || in.stride > 256 || count > (size_t)1 << 28)
        give_up(TH_ERR_INPUT, "%s: no such sizes of compressed elements", what);
    uint8_t *out = make(g->s, uint8_t, (count + 3) * in.stride);
    if (count > 0 && !decode(json, in, count, out))
        give_up(TH_ERR_INPUT, "%s: its EXT_meshopt_compression cannot be decoded", what);
    return (gltf_bytes){out, count * in.stride, in.stride};
}

gltf_bytes gltf_read_view(gltf *g, uint32_t view, const char *what)
{
    gltf_bytes *v = &g->views[view];
    if (v->at)
        return *v;
    const json_t *json = gltf_at(gltf_list(g, "bufferViews"), view);
    const json_t *packed = gltf_extension(json, "EXT_meshopt_compression");
    packed = packed ? packed : gltf_extension(json, "KHR_meshopt_compression");
    what = make_string(g->s, "%s: bufferView %u", what, view);
    *v = packed ? decompress(g, packed, what) : find_bytes(g, json, what);
    if (packed)
        v->stride = gltf_size(json, "byteStride", 0, what);
    return *v;
}
